// The tables [kubernetes] and [etcd].
#include "config/key_table.hh"

namespace bellwether {
namespace {

using enum TakesEffect;

constexpr const char* kServerForm = "http[s]://host[:port]";
constexpr size_t kMaxEndpoints = 9;

// Of a table whose server can be spoken to by TLS.
template <typename Part>
void add_client_certificate_keys(Table<Part>& table) {
  table.key("cert", &Part::cert, kFile, std::string(), kAtRestart,
            "the certificate to show to the server, and those between it and the authority, in "
            "PEM; read again when it changes");
  table.key("key", &Part::key, kFile, std::string(), kAtRestart,
            "the certificate's private key, in PEM, which others may not read");
  table.key("insecure", &Part::is_insecure, off_or_on(), false, kAtRestart,
            "on: http:// to a server that is not on this host, where everybody on the way can read "
            "and change what is said");
}

// Where a server is given that is not that of the pod, the service account's files are of no use.
Computed<std::string> of_service_account(const char* file, const char* words) {
  return {words, [file](const Config& config, const Environment& environment) -> std::string {
            const std::string& server = config.kubernetes.server;
            const bool is_pods = !server.empty() && server == pod_api_server(environment);
            return is_pods ? std::string(kServiceAccount) + file : "";
          }};
}

}  // namespace

void add_kubernetes_keys(std::vector<ConfigKey<Config>>& keys) {
  Table kubernetes(kKubernetesTable, &Config::kubernetes, keys);
  kubernetes.key(
      "lease_name", &KubernetesSettings::lease_name,
      TextType{"1 to 253 lower-case letters, digits, '-' and '.', as Kubernetes names objects",
               is_object_name},
      Computed<std::string>{"the group's name",
                            [](const Config& config, const Environment&) {
                              return config.kubernetes.is_used ? config.group.name : std::string();
                            }},
      kAtRestart,
      "the Lease (coordination.k8s.io/v1) that decides who leads: guard = kubernetes; "
      "an empty table is enough in a pod whose account may get, watch, patch and create it; the "
      "same for all members");
  kubernetes.key("namespace", &KubernetesSettings::namespace_name,
                 TextType{"1 to 63 lower-case letters, digits and '-'", is_namespace_name},
                 Computed<std::string>{"the pod's",
                                       [](const Config& config, const Environment& environment) {
                                         return config.kubernetes.is_used
                                                    ? environment.pod_namespace()
                                                    : std::string();
                                       }},
                 kAtRestart, "where the Lease is");
  kubernetes.key("server", &KubernetesSettings::server, TextType{kServerForm, is_server_url},
                 Computed<std::string>{"the pod's, from KUBERNETES_SERVICE_HOST and ..._PORT",
                                       [](const Config& config, const Environment& environment) {
                                         return config.kubernetes.is_used
                                                    ? pod_api_server(environment)
                                                    : std::string();
                                       }},
                 kAtRestart, "the API server");
  kubernetes.key(
      "ca", &KubernetesSettings::ca, kFile,
      of_service_account("ca.crt", "the service account's, if the server is the pod's; else \"\""),
      kAtRestart,
      "the authorities that the server's certificate may be of, in PEM, read again when "
      "they change; \"\": those that this system believes");
  kubernetes.key(
      "token_file", &KubernetesSettings::token_file, kFile,
      of_service_account("token", "the service account's, if the server is the pod's; else \"\""),
      kAtRestart,
      "the token that the API server knows this process by, read again when it changes");
  add_client_certificate_keys(kubernetes);
}

void add_etcd_keys(std::vector<ConfigKey<Config>>& keys) {
  Table etcd(kEtcdTable, &Config::etcd, keys);
  etcd.key(
      "endpoints", &EtcdSettings::endpoints,
      ListType<TextType>{
          kMaxEndpoints, "URLs, http[s]://host[:port]", {kServerForm, is_server_url}},
      std::vector<std::string>{}, kAtRestart,
      "the members of an etcd cluster (3.4 or later), one of which is asked and the next if it "
      "fails: guard = etcd; the same cluster for all members");
  etcd.key("prefix", &EtcdSettings::prefix,
           TextType{"1 to 200 printable characters", is_key_prefix}, std::string("/bellwether/"),
           kAtRestart, "with the group's name behind it, the key that decides who leads");
  etcd.key("ca", &EtcdSettings::ca, kFile, std::string(), kAtRestart,
           "the authorities that the servers' certificates may be of, in PEM, read again when they "
           "change; \"\": those that this system believes");
  add_client_certificate_keys(etcd);
  etcd.key("user", &EtcdSettings::user,
           TextType{"1 to 100 visible characters, or \"\" for none", is_user_or_empty},
           std::string(), kAtRestart,
           "as whom to log in; needs no more than to read and write the one key");
  etcd.key("password_file", &EtcdSettings::password_file, kFile, std::string(), kAtRestart,
           "its first line is the user's password; read again when it changes");
}

}  // namespace bellwether
