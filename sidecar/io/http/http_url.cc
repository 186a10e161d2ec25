// Taking a URL apart.
#include "io/http/http_url.hh"

#include <algorithm>

#include "base/host_port.hh"
#include "io/http/http_target.hh"

namespace bellwether {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kUnix = "http+unix://";
constexpr uint16_t kDefaultPort = 80;

bool is_visible(char c) { return c > ' ' && c < 0x7F; }

std::string read_socket_path(std::string_view text, HttpUrl& url) {
  url.host = "localhost";
  if (!percent_decode(text, url.socket_path) || !url.socket_path.starts_with('/')) {
    return "lacks a percent-encoded absolute path of a socket (http+unix://%2Frun%2Fname.sock/)";
  }
  return "";
}

std::string read_host(std::string_view text, HttpUrl& url) {
  if (text.find('@') != std::string_view::npos) return "has a user name, which is not supported";
  const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  const bool has_port = text.find(':', std::min(bracket, text.size())) != std::string_view::npos;
  HostPort address;
  const std::string complete =
      has_port ? std::string(text) : std::string(text) + ":" + std::to_string(kDefaultPort);
  if (std::string flaw = parse_host_port(complete, address); !flaw.empty()) return flaw;
  url.host = address.host;
  url.port = address.port;
  return "";
}

}  // namespace

std::string HttpUrl::host_header() const {
  if (!socket_path.empty()) return host;
  std::string text = HostPort{host, port}.text();
  if (port == kDefaultPort) text.resize(text.rfind(':'));
  return text;
}

std::string parse_http_url(std::string_view text, HttpUrl& url) {
  url = {};
  if (!std::all_of(text.begin(), text.end(), is_visible)) {
    return "has characters that must be percent-encoded";
  }
  if (text.starts_with(kHttps)) {
    return "is an https URL; this program speaks no TLS, a local proxy can do it";
  }
  const bool is_unix = text.starts_with(kUnix);
  if (!is_unix && !text.starts_with(kHttp)) return "does not start with http://";
  if (text.find('#') != std::string_view::npos) return "has a fragment";
  text.remove_prefix(is_unix ? kUnix.size() : kHttp.size());
  const size_t end = std::min(text.find_first_of("/?"), text.size());
  const std::string_view host = text.substr(0, end);
  url.target = text.substr(end);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return is_unix ? read_socket_path(host, url) : read_host(host, url);
}

}  // namespace bellwether
