// A Lease by the API server of Kubernetes: GET, POST where there is none, PATCH over the one that
// was seen, and a watch of that one name.
//
// It is a PATCH, not a PUT: a PUT of a Lease that was deleted meanwhile makes a new one, in spite
// of the version that it names, and nobody may lead by a record that he has made.  It also leaves
// alone what others have attached to the object, without having to read that first.
#pragma once

#include <memory>
#include <string>

#include "io/store/store_dialect.hh"

namespace bellwether::io {

struct KubernetesSettings {
  std::string server;  // http[s]://host[:port], without a path
  std::string namespace_name;
  std::string lease_name;
  std::string token_name;  // where the token is from, for people: "kubernetes.token_file /path"
  std::string user_agent = "bellwether";
};

std::unique_ptr<StoreDialect> kubernetes_lease(const KubernetesSettings& settings);

// The rules that the account of the sidecars needs, as one line of words.
std::string needed_role(const KubernetesSettings& settings);

}  // namespace bellwether::io
