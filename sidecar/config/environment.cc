// ${NAME} in text.  What a variable holds is taken as it is: it is not expanded again.
#include "config/environment.hh"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/ascii.hh"
#include "base/host_port.hh"
#include "config/text_forms.hh"
#include "io/flag/flag_folder.hh"

namespace bellwether {
namespace {

bool is_variable_name(const std::string& name) {
  const auto is_part = [](char c) { return is_alphanumeric(c) || c == '_'; };
  return !name.empty() && (name.front() < '0' || name.front() > '9') &&
         std::all_of(name.begin(), name.end(), is_part);
}

bool is_ipv6(const std::string& value) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, value.c_str(), &address) == 1;
}

// `before` and `after`: what stands on both sides of the variable.
bool needs_brackets(std::string_view before, const std::string& value, std::string_view after) {
  const bool is_host = after.starts_with(':') || before.ends_with("//");
  return is_host && !before.ends_with('[') && is_ipv6(value);
}

}  // namespace

std::string pod_api_server(const Environment& environment) {
  const auto host = environment.variable("KUBERNETES_SERVICE_HOST");
  const auto port =
      parse_number<uint16_t>(environment.variable("KUBERNETES_SERVICE_PORT").value_or("443"));
  if (!host || host->empty() || !port) return "";
  return "https://" + HostPort{*host, *port}.text();
}

Environment process_environment(Onlooker onlooker) {
  Environment environment;
  environment.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) environment.host_name = name.data();
  environment.pod_namespace = [] {
    std::string path = kServiceAccount;
    path += "namespace";
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
  };
  environment.flag_folder = [onlooker](const std::string& group, bool is_shared) {
    const uid_t self = ::geteuid();
    const uid_t user = onlooker == Onlooker::kYes ? io::user_of_sidecar(group, self) : self;
    return io::default_flag_folder(group, user, is_shared);
  };
  return environment;
}

std::optional<std::string> expand_variables(const std::string& text, const Environment& environment,
                                            std::string& flaw) {
  std::string expanded;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 3, "$${") == 0) {
      expanded += "${";
      i += 3;
    } else if (text.compare(i, 2, "${") == 0) {
      const size_t end = text.find('}', i);
      const std::string name = text.substr(i + 2, end == std::string::npos ? end : end - i - 2);
      if (end == std::string::npos || !is_variable_name(name)) {
        flaw = "has a ${ without the name of a variable and }";
        return std::nullopt;
      }
      const auto value = environment.variable(name);
      if (!value || !is_printable(*value)) {
        flaw = "needs the environment variable " + name +
               (value ? ", which holds control characters or no UTF-8" : ", which is not set");
        return std::nullopt;
      }
      i = end + 1;
      const bool is_bracketed = needs_brackets(expanded, *value, std::string_view(text).substr(i));
      expanded += is_bracketed ? "[" + *value + "]" : *value;
    } else {
      expanded += text[i++];
    }
  }
  return expanded;
}

std::string escape_variables(const std::string& text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "${") == 0) escaped += '$';
    escaped += text[i];
  }
  return escaped;
}

}  // namespace bellwether
