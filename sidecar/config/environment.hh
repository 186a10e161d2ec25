// What a configuration may take from around it: environment variables, the host's name, a folder,
// and what the plugin can do.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bellwether {

struct Environment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::string host_name;
  // The variants that a plugin has, in its order; none: nobody knows.
  std::function<std::vector<std::string>(const std::string& plugin)> variants =
      [](const std::string&) { return std::vector<std::string>{}; };
  // The namespace of the pod that this process is in; "": nobody knows.
  std::function<std::string()> pod_namespace = [] { return std::string(); };
  // Where the flag lies unless a path is given; `is_shared`: flag.shared_folder.
  std::function<std::string(const std::string& group, bool is_shared)> flag_folder =
      [](const std::string&, bool) { return "/dev/shm/bellwether"; };
};

// Where a pod finds what its service account is: token, ca.crt, namespace.
inline constexpr const char* kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

// The API server of the pod that this process is in, as a URL; "": it is in none.
std::string pod_api_server(const Environment& environment);

// Whether this process is the sidecar, or looks at one, perhaps as another user.
enum class Onlooker : bool { kNo, kYes };

// That of this process.
Environment process_environment(Onlooker onlooker = Onlooker::kYes);

// `text` with every ${NAME} replaced by the variable's value; $${ stands for ${ itself, and any
// other $ for itself.  Where a variable holds an IPv6 address and stands as the host of a URL or in
// front of a port, brackets are put around it, so that ${POD_IP}:7946 is right for both families.
// On failure returns nothing and says in `flaw` what is wrong, as a phrase.
std::optional<std::string> expand_variables(const std::string& text, const Environment& environment,
                                            std::string& flaw);

// The inverse for text that is meant as it stands.
std::string escape_variables(const std::string& text);

}  // namespace bellwether
