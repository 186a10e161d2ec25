// Hosts are compared without their port: a stranger's page cannot choose the name, and the port it
// got right already.
#include "api/trust.hh"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ascii.hh"

namespace bellwether::api {
namespace {

// Without brackets, port and the dot at the end of a full name; empty when it is not an authority.
std::string host_of(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  const bool has_port =
      colon != std::string_view::npos &&
      authority.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  if (has_port) authority = authority.substr(0, colon);
  if (authority.starts_with('[') && authority.ends_with(']')) {
    return to_lower(authority.substr(1, authority.size() - 2));
  }
  if (authority.find(':') != std::string_view::npos) return "";
  if (authority.ends_with('.')) authority.remove_suffix(1);
  return to_lower(authority);
}

bool is_own(const std::string& host, const Config& config) {
  if (host.empty()) return false;
  if (HostPort{.host = host}.is_loopback()) return true;
  // An address cannot be made to point elsewhere.
  if (config.api.listen.is_wildcard() && is_ip_address(host)) return true;
  const std::array own{host_of(config.node.name), to_lower(config.api.listen.host),
                       to_lower(config.node.advertise.host)};
  return std::find(own.begin(), own.end(), host) != own.end();
}

// A page of plain HTTP may be anybody's, whatever its name.  The other way round a proxy may have
// ended the TLS.
bool is_same_origin(const std::string& origin, const std::string* host, bool is_over_tls) {
  const size_t scheme_end = origin.find("://");
  if (scheme_end == std::string::npos || host == nullptr) return false;
  if (is_over_tls && to_lower(origin.substr(0, scheme_end)) != "https") return false;
  return to_lower(origin.substr(scheme_end + 3)) == to_lower(*host);
}

}  // namespace

std::string distrust(const io::HttpRequest& request, const Config& config) {
  const std::string* const host = request.header("host");
  const bool can_be_another = !request.is_over_unix_socket && !request.is_over_tls;
  if (host != nullptr && can_be_another && !is_own(host_of(*host), config)) {
    return "the Host header names none of this node's names; use its address, or " +
           config.node.name;
  }
  const bool is_reading = request.method == "GET" || request.method == "HEAD";
  if (is_reading) return "";
  const std::string* const site = request.header("sec-fetch-site");
  const std::string* const origin = request.header("origin");
  const bool is_another_site =
      (site != nullptr && to_lower(*site) == "cross-site") ||
      (origin != nullptr && !is_same_origin(*origin, host, request.is_over_tls));
  return is_another_site ? "commands are not taken from another site's page" : "";
}

}  // namespace bellwether::api
