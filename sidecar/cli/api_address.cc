// What the user says, else the configuration, else the default.
#include "cli/api_address.hh"

#include <filesystem>
#include <string_view>

#include "cli/commands.hh"
#include "cli/text_file.hh"
#include "config/parse.hh"

namespace bellwether::cli {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr uint16_t kPort = 4040;

ApiAddress parse_api(const std::string& text) {
  constexpr std::string_view kHttp = "http://";
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with('/')) return {.host = {}, .socket = text};
  if (text.starts_with(kUnix)) return {.host = {}, .socket = text.substr(kUnix.size())};
  std::string authority = text.starts_with(kHttp) ? text.substr(kHttp.size()) : text;
  if (authority.ends_with('/')) authority.pop_back();
  ApiAddress address;
  const std::string flaw = parse_host_port(authority, address.host);
  if (!flaw.empty()) {
    throw UsageError("--api: \"" + text + "\" " + flaw +
                     "; give http://HOST:PORT or the path of a unix socket");
  }
  return address;
}

}  // namespace

HostPort to_connect_to(const HostPort& listen) {
  if (!listen.is_wildcard()) return listen;
  const bool is_ipv6 = listen.host.find(':') != std::string::npos;
  return {.host = is_ipv6 ? "::1" : kLoopback, .port = listen.port};
}

ApiAddress address_of(const ApiSettings& api) {
  if (api.listen.is_none()) return {.host = {}, .socket = api.socket};
  return {.host = to_connect_to(api.listen), .socket = ""};
}

ApiAddress find_api(const ApiOptions& options) {
  if (!options.api.empty()) return parse_api(options.api);
  std::string file = options.config;
  if (file.empty()) {
    std::error_code unused;
    if (!std::filesystem::exists(kUsualConfig, unused)) {
      return {.host = {.host = kLoopback, .port = kPort}, .socket = ""};
    }
    file = kUsualConfig;
  }
  ApiAddress address =
      address_of(parse_config(read_text_file(file), file, process_environment()).config.api);
  if (address.text().empty()) {
    throw std::runtime_error(file +
                             " has no [api] listen and no socket, so there is nobody to ask");
  }
  return address;
}

}  // namespace bellwether::cli
