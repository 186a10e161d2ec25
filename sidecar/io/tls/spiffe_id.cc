// The rules of SPIFFE-ID.md, section 2.
#include "io/tls/spiffe_id.hh"

#include <algorithm>

namespace bellwether::io {
namespace {

constexpr std::string_view kScheme = "spiffe://";
constexpr size_t kMaxIdBytes = 2048;
constexpr size_t kMaxTrustDomainBytes = 255;

bool is_of_trust_domain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '.' ||
         letter == '-' || letter == '_';
}

bool is_of_path(char letter) {
  return is_of_trust_domain(letter) || (letter >= 'A' && letter <= 'Z');
}

std::string path_flaw(std::string_view path) {
  if (path.empty() || path == "/") return "has no path";
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment.empty()) return "has an empty part in its path";
    if (segment == "." || segment == "..") return "has a part in its path that is only dots";
    if (!std::ranges::all_of(segment, is_of_path)) {
      return "has something in its path that is not a letter, a digit, '-', '.' or '_'";
    }
    path.remove_prefix(segment.size());
  }
  return "";
}

}  // namespace

std::string parse_spiffe_id(std::string_view text, SpiffeId& result) {
  if (!text.starts_with(kScheme)) return "does not begin with spiffe://";
  if (text.size() > kMaxIdBytes) return "is longer than 2048 bytes";
  const std::string_view rest = text.substr(kScheme.size());
  const std::string_view trust_domain = rest.substr(0, rest.find('/'));
  const std::string_view path = rest.substr(trust_domain.size());
  if (trust_domain.empty()) return "has no trust domain";
  if (trust_domain.size() > kMaxTrustDomainBytes) return "has a trust domain above 255 bytes";
  if (!std::ranges::all_of(trust_domain, is_of_trust_domain)) {
    return "has something in its trust domain that is not a small letter, a digit, '-', '.' or '_'";
  }
  if (std::string flaw = path_flaw(path); !flaw.empty()) return flaw;
  result = {.trust_domain = std::string(trust_domain), .path = std::string(path)};
  return "";
}

}  // namespace bellwether::io
