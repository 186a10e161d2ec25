// What is judged is the open file, not the path: nobody can swap it in between.
#include "io/tls/guarded_file.hh"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>

#include "base/file_turn.hh"
#include "io/loop/files.hh"
#include "io/tls/openssl.hh"

namespace bellwether::io {
namespace {

constexpr size_t kMaxBytes = size_t{1024} * 1024;
// Debian and Alpine, Fedora, SUSE, what OpenSSL itself was made with.
constexpr std::array kSystemBundles{"/etc/ssl/certs/ca-certificates.crt",
                                    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                    "/etc/ssl/cert.pem"};
constexpr mode_t kWrittenByOthers = S_IWGRP | S_IWOTH;

std::string flaw_of(const struct stat& status, Secrecy secrecy) {
  if (!S_ISREG(status.st_mode)) return "is not a regular file; name one";
  const bool is_trusted = secrecy == Secrecy::kShared || status.st_uid == 0;
  if (!is_trusted && status.st_uid != ::geteuid()) {
    return fmt::format("belongs to user {}, who may change it; give it to user {}, who reads it",
                       status.st_uid, ::geteuid());
  }
  if ((status.st_mode & kWrittenByOthers) != 0) {
    return "may be written by others than its owner; chmod go-w";
  }
  if (secrecy == Secrecy::kSecret && (status.st_mode & S_IROTH) != 0) {
    return "may be read by everybody; chmod go= (a Secret's defaultMode: 0440)";
  }
  return "";
}

std::string remedy_for(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
      return "put it there, or correct the path";
    case EACCES:
    case EPERM:
      return fmt::format("let user {} read it, and enter the folders above", ::geteuid());
    case EMFILE:
    case ENFILE:
      return "allow more open files (ulimit -n, LimitNOFILE=)";
    default:
      return FileTurn::kLookAtDisk;
  }
}

}  // namespace

TlsTexts::~TlsTexts() {
  OPENSSL_cleanse(key.data(), key.size());
  OPENSSL_cleanse(secret.data(), secret.size());
}

FileMark mark_of(const struct stat& status) {
  const auto to_ns = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .written_ns = to_ns(status.st_mtim),
          .changed_ns = to_ns(status.st_ctim)};
}

SecretText read_guarded_file(const std::string& path, const std::string& key, Secrecy secrecy,
                             std::vector<FileMark>* marks) {
  const auto fail = [&](const std::string& what) { throw TlsError(key + " " + path + " " + what); };
  const auto fail_by_errno = [&] {
    const int error = errno;
    fail("cannot be read: " + std::generic_category().message(error) + "; " + remedy_for(error));
  };
  const FileTurn turn(path);
  if (!turn.is_ours()) fail(FileTurn::flaw());
  const FileDescriptor file(::open(path.c_str(), kOpenToRead));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) fail_by_errno();
  if (const std::string flaw = flaw_of(status, secrecy); !flaw.empty()) fail(flaw);
  if (static_cast<uint64_t>(status.st_size) > kMaxBytes) {
    fail("is larger than 1 MiB; name a file of PEM, or of a secret");
  }
  // With room for all of it from the start: a copy would stay in memory.
  SecretText text(static_cast<size_t>(status.st_size) + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count =
        ::pread(file.get(), text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (count < 0) fail_by_errno();
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  if (marks != nullptr) marks->push_back(mark_of(status));
  if (text.empty()) fail("is empty; see whether what writes it has done so");
  return text;
}

std::string system_authorities() {
  if (const char* file = std::getenv("SSL_CERT_FILE"); file != nullptr && *file != '\0')
    return file;
  for (const char* file : kSystemBundles) {
    if (::access(file, R_OK) == 0) return file;
  }
  return "";
}

std::string fingerprint(std::span<const std::string_view> parts) {
  using DigestPtr = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;
  const DigestPtr context(EVP_MD_CTX_new());
  // Two that could not be made must not pass for the same.
  const auto require = [](bool is_done) {
    if (!is_done) throw std::bad_alloc();
  };
  require(context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  for (const std::string_view part : parts) {
    const uint64_t size = part.size();
    require(EVP_DigestUpdate(context.get(), &size, sizeof size) == 1);
    require(EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned bytes = 0;
  require(EVP_DigestFinal_ex(context.get(), digest.data(), &bytes) == 1);
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + bytes, ""));
}

}  // namespace bellwether::io
