// Files with keys and certificates: read with care for who else may read or write them.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/undumped_memory.hh"

namespace bellwether::io {

// What the file system says of a file: two that are equal are of one file, which nobody has
// changed, as far as times tell.
struct FileMark {
  uint64_t device;
  uint64_t inode;
  int64_t size;
  int64_t written_ns;  // since 1970
  int64_t changed_ns;  // the same, of rights and owner, too

  friend bool operator==(const FileMark&, const FileMark&) = default;
};
FileMark mark_of(const struct stat& status);

// What such files hold; empty: there is none.  Wiped when it goes.
struct TlsTexts {
  std::string cert;  // the certificate, and those between it and the authority
  SecretText key;
  std::string ca;
  SecretText secret;            // of the group
  std::vector<FileMark> marks;  // of the files, as they were read

  TlsTexts() = default;
  TlsTexts(const TlsTexts&) = delete;
  TlsTexts& operator=(const TlsTexts&) = delete;
  ~TlsTexts();
};

enum class Secrecy : uint8_t {
  kPublic,  // nobody but its owner may write it
  kSecret,  // besides, nobody but its owner and its group may read it
  kShared,  // of any owner, and readable by all: the operator answers for who has its folder
};

// Of what nobody else may read, unless the operator answers for its folder.
constexpr Secrecy secret_in(bool is_folder_shared) {
  return is_folder_shared ? Secrecy::kShared : Secrecy::kSecret;
}

// The text of a file; a link to one is followed, for so Kubernetes swaps them.  Throws TlsError,
// which begins with `key`, that names the file in the configuration, and says what is wrong and
// what to do.  Blocks for as long as the disk does.  `marks`, if given, gets that of the file.
SecretText read_guarded_file(const std::string& path, const std::string& key, Secrecy secrecy,
                             std::vector<FileMark>* marks = nullptr);

// The file with the authorities that this system believes: SSL_CERT_FILE, or the first of the usual
// places; "" when there is none.
std::string system_authorities();

// Different for different parts (SHA-256); printable.  Throws std::bad_alloc.
std::string fingerprint(std::span<const std::string_view> parts);

}  // namespace bellwether::io
