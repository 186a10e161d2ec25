// The one secret that the members of a group may share in place of certificates.
//
// A TLS 1.3 external pre-shared key (RFC 8446, section 2.2; RFC 9257).  The file's 256 bits are not
// the key: key and identity are derived from them and the group's name (HKDF, RFC 5869), so that
// one file for two groups is two keys, and the identity, which is sent in the clear, tells nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/undumped_memory.hh"

namespace bellwether::io {

inline constexpr size_t kSecretBytes = 32;

// A key of one group.
struct GroupKey {
  std::string identity;         // printable
  UndumpedVector<uint8_t> key;  // kSecretBytes
};

// The keys of the file `text` for this group, in its order: the first is offered, all are accepted.
// A line is 64 hexadecimal digits, or empty, or a comment that begins with '#'.  Throws TlsError,
// which names the line but nothing of what it says.
std::vector<GroupKey> parse_group_secret(std::string_view text, const std::string& group);

// A new secret as a line of the file, without its end.  Throws TlsError.
std::string make_group_secret();

}  // namespace bellwether::io
