// The declarations.  A key's default is a value, or computed from keys that stand above it.
#include "config/keys.hh"

#include "config/key_table.hh"
#include "config/text_forms.hh"
#include "core/members.hh"

namespace bellwether {
namespace {

using enum TakesEffect;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kNameForm =
    "1 to 63 letters, digits, '-', '.' and '_', with a letter or a digit at both ends";
constexpr const char* kPathForm = "an absolute path";
constexpr size_t kMaxMemberNames = 100;
constexpr size_t kMaxAccounts = 100;

// Where others find this node if nobody says so.
HostPort default_advertise(const Config& config, const Environment& environment) {
  const auto own = config.voters.find(config.node.name);
  if (own != config.voters.end()) return own->second;
  if (!config.node.listen.is_wildcard()) return config.node.listen;
  return {environment.host_name, config.node.listen.port};
}

void add_group_keys(std::vector<ConfigKey<Config>>& keys) {
  Table group("group", &Config::group, keys);
  group.key("name", &GroupSettings::name, TextType{kNameForm, is_name}, Required{}, kAtRestart,
            "the processes of one group elect one leader; the same for all");
}

void add_node_keys(std::vector<ConfigKey<Config>>& keys) {
  Table node("node", &Config::node, keys);
  node.key("name", &NodeSettings::name, TextType{kNameForm, is_name},
           Computed<std::string>{
               "the host's name",
               [](const Config&, const Environment& environment) { return environment.host_name; }},
           kAtRestart, "this process; unique in the group");
  node.key("priority", &NodeSettings::priority, NumberType{0, 65535}, 100u, kAtRestart,
           "higher leads; of equal ones the higher UUID does; 0 never leads");
  node.key(
      "listen", &NodeSettings::listen, HostPortType{}, HostPort{"::", 7946}, kAtRestart,
      "where peers connect to; [::]: every address of both families, or of IPv4 where there is "
      "no IPv6");
  node.key("advertise", &NodeSettings::advertise, HostPortType{},
           Computed<HostPort>{"the voter's address, else listen, else the host's name",
                              default_advertise},
           kAtRestart, "the address that peers are told");
  node.key("state_dir", &NodeSettings::state_dir,
           TextType{"an absolute path, or \"\" to keep nothing", is_absolute_path_or_empty},
           std::string("/var/lib/bellwether"), kAtRestart,
           "holds the UUID, made on first start, and the epoch; \"\": a new UUID at every start, "
           "not with [voters]");
  node.key("memory_keeper", &NodeSettings::keeps_memory, on_or_off(), true, kAtRestart,
           "a second process that shares the sidecar's memory, so that a killed sidecar's peers "
           "learn of it before the kernel has taken its memory apart");
  node.key("core_dumps", &NodeSettings::dumps_core, off_or_on(), false, kAtRestart,
           "on: a crash leaves a core dump where the host wants one, and flag and connections stay "
           "until it is written; off: a crash is as fast as a kill, and debuggers need root");
  node.key("confine", &NodeSettings::is_confined, on_or_off(), true, kAtRestart,
           "on: the process starts no programs, writes no files but its own, and does without some "
           "system calls, as far as the kernel can see to it; off: for a plugin that needs more");
}

constexpr const char* kSharedFolderHelp =
    "on: accept files of other users, and a key that everybody can read, because nobody else has "
    "their folder mounted, as with a pod's emptyDir that Istio's agent fills; off: refuse them";

// Of a table whose address can be served by TLS.
template <typename Part>
void add_certificate_keys(Table<Part>& table) {
  table.key("cert", &Part::cert, kFile, std::string(), kAtRestart,
            "serves listen by TLS 1.2 or 1.3: the certificate for it, and those between it and the "
            "authority, in PEM; read again when it changes; \"\": plain HTTP");
  table.key("key", &Part::key, kFile, std::string(), kAtRestart,
            "the certificate's private key, in PEM, which others may not read");
}

void add_membership_keys(std::vector<ConfigKey<Config>>& keys) {
  Table membership("membership", &Config::membership, keys);
  membership.key("peers", &MembershipSettings::peers,
                 ListType<HostPortType>{kMaxMembers,
                                        "\"host:port\", with names, IPv4 addresses or "
                                        "[IPv6 addresses]"},
                 std::vector<HostPort>{}, kAtOnce,
                 "members to connect to, this one may be among them; they name the others");
  membership.key(
      "dns", &MembershipSettings::dns, HostPortType{.may_be_none = true}, HostPort{}, kAtOnce,
      "every address behind this name is a peer; looked up again and again; \"_name._tcp.\" in "
      "front: its SRV records give hosts and ports");
  membership.key("reap_after", &MembershipSettings::reap_after,
                 DurationType{seconds(1), hours(1000)}, hours(24), kAtOnce,
                 "a member that is silent, down or gone for this long is forgotten; the leader's "
                 "setting counts; one that comes back is a member again");
}

void add_api_keys(std::vector<ConfigKey<Config>>& keys) {
  Table api("api", &Config::api, keys);
  api.key("listen", &ApiSettings::listen, HostPortType{.may_be_none = true},
          HostPort{"127.0.0.1", 4040}, kAtRestart,
          "where the HTTP API is served; anybody who reaches it on loopback can make the leader "
          "step down; elsewhere it needs cert and key, and token_file, client_ca or "
          "writes = \"socket\"");
  api.key(
      "socket", &ApiSettings::socket,
      TextType{"an absolute path of at most 107 bytes, or \"\" for none", is_socket_path_or_empty},
      std::string(), kAtRestart, "also serve the API on this unix socket (mode 0660)");
  api.key(
      "token_file", &ApiSettings::token_file, kFile, std::string(), kAtRestart,
      "commands over TCP need one of the tokens in this file, a line each (`bellwether keygen`); "
      "read again when it changes");
  api.key("writes", &ApiSettings::writes, each_name_of<ApiWrites>(), ApiWrites::kAll, kAtRestart,
          "over which door commands are taken: all, or the unix socket alone");
  const ListType<TextType> accounts{
      kMaxAccounts, "names or numbers", {"a name or a number", is_account_name}};
  api.key("allow_users", &ApiSettings::allow_users, accounts, std::vector<std::string>{},
          kAtRestart,
          "who may command on the unix socket, beside root and the sidecar's own user; [] and no "
          "allow_groups: whoever can connect");
  api.key("allow_groups", &ApiSettings::allow_groups, accounts, std::vector<std::string>{},
          kAtRestart, "the same by groups");
  add_certificate_keys(api);
  api.key("client_ca", &ApiSettings::client_ca, kFile, std::string(), kAtRestart,
          "whoever has a certificate of these authorities, in PEM, may command over TCP, as may "
          "whoever has a token; without either one can look");
  api.key("shared_folder", &ApiSettings::is_folder_shared, off_or_on(), false, kAtRestart,
          kSharedFolderHelp);
  api.key("insecure", &ApiSettings::is_insecure, off_or_on(), false, kAtRestart,
          "on: listen elsewhere than on loopback without what that needs; a warning at each start");
}

void add_metrics_keys(std::vector<ConfigKey<Config>>& keys) {
  Table metrics("metrics", &Config::metrics, keys);
  metrics.key(
      "listen", &MetricsSettings::listen, HostPortType{.may_be_none = true}, HostPort{"::", 9464},
      kAtRestart,
      "where only /metrics, /livez and /readyz are served; \"\": on the API's address only");
  add_certificate_keys(metrics);
  metrics.key("client_ca", &MetricsSettings::client_ca, kFile, std::string(), kAtRestart,
              "only clients with a certificate of these authorities, in PEM, are served; no probe "
              "of Kubernetes has one");
  metrics.key("shared_folder", &MetricsSettings::is_folder_shared, off_or_on(), false, kAtRestart,
              kSharedFolderHelp);
}

void add_flag_keys(std::vector<ConfigKey<Config>>& keys) {
  Table flag("flag", &Config::flag, keys);
  // Before the path, whose default depends on it.
  flag.key("shared_folder", &FlagSettings::is_folder_shared, off_or_on(), false, kAtRestart,
           "on: accept a folder that others may write into, because nobody else has it mounted for "
           "writing, as with a pod's emptyDir; off: refuse it, because they could put another flag "
           "in its place");
  flag.key("path", &FlagSettings::path, TextType{kPathForm, is_absolute_path},
           Computed<std::string>{
               "the group's name in /run/bellwether, if the sidecar's user may write "
               "there and has no flag in /dev/shm/bellwether; otherwise in the latter",
               [](const Config& config, const Environment& environment) {
                 return environment.flag_folder(config.group.name, config.flag.is_folder_shared) +
                        "/" + config.group.name;
               }},
           kAtRestart, "the file that applications map to read the flag; on a tmpfs");
  flag.key("mode", &FlagSettings::mode, FileModeType{}, 0640u, kAtRestart,
           "its permissions; readers need no more than r");
}

void add_tls_keys(std::vector<ConfigKey<Config>>& keys) {
  Table tls("tls", &Config::tls, keys);
  tls.key("cert", &TlsSettings::cert, kFile, std::string(), kAtOnce,
          "this member's certificate, and those between it and the authority, in PEM; read again "
          "when it changes");
  tls.key("key", &TlsSettings::key, kFile, std::string(), kAtOnce,
          "the certificate's private key, in PEM, which others may not read");
  tls.key("ca", &TlsSettings::ca, kFile, std::string(), kAtOnce,
          "the authorities whose certificates members have, in PEM; several during a rotation");
  tls.key("members", &TlsSettings::members,
          ListType<TextType>{kMaxMemberNames,
                             "names: SPIFFE ids, DNS names, \"*.\" for one label before "
                             "two more, IP addresses",
                             {"a SPIFFE id, a DNS name or an IP address", is_member_name}},
          std::vector<std::string>{}, kAtOnce,
          "whose certificates are a member's; []: those for a host in peers, dns or [voters]");
  tls.key("secret_file", &TlsSettings::secret_file, kFile, std::string(), kAtOnce,
          "in place of certificates: the secret of the group, which `bellwether keygen` makes; the "
          "first line is offered, all are accepted");
  tls.key("shared_folder", &TlsSettings::is_folder_shared, off_or_on(), false, kAtOnce,
          kSharedFolderHelp);
  tls.key("mode", &TlsSettings::mode, each_name_of<TlsMode>(),
          Computed<TlsMode>{"strict, or off without cert and secret_file",
                            [](const Config& config, const Environment&) {
                              const bool has_any =
                                  config.tls.has_certificate() || !config.tls.secret_file.empty();
                              return has_any ? TlsMode::kStrict : TlsMode::kOff;
                            }},
          kAtOnce,
          "how members connect: strict: by TLS 1.3 alone; permissive: by TLS first, else plain, "
          "while a running group changes over; off: plain");
}

void add_application_keys(std::vector<ConfigKey<Config>>& keys) {
  Table application("application", &Config::application, keys);
  application.key(
      "attach", &ApplicationSettings::is_attachment_needed, off_or_on(), false, kAtOnce,
      "on: this node leads only while an application is attached (POST /v1/application/attach)");
  application.key("grace", &ApplicationSettings::grace, DurationType{{}, minutes(1)},
                  Duration::zero(), kAtOnce,
                  "how long a leader's last one may be away before leadership is given up, where "
                  "it restarts faster than a hand-over costs");
  application.key(
      "health", &ApplicationSettings::health,
      TextType{"http:// and a loopback address, unix:/PATH:/URL, or \"\" for none",
               is_local_url_or_empty},
      std::string(), kAtOnce,
      "what the application is asked again and again; this node leads only while it answers with "
      "200 to 299");
  application.key("health_interval", &ApplicationSettings::health_interval,
                  DurationType{milliseconds(10), minutes(1)}, kHealthInterval, kAtOnce,
                  "how often it is asked");
  application.key("health_timeout", &ApplicationSettings::health_timeout,
                  DurationType{milliseconds(1), minutes(1)}, kHealthTimeout, kAtOnce,
                  "how long its whole answer may take; at most health_interval");
  application.key("health_failures", &ApplicationSettings::health_failures, NumberType{1, 100},
                  kHealthFailures, kAtOnce, "so many failures in a row mean that it does not work");
  application.key("drain_timeout", &ApplicationSettings::drain_timeout,
                  DurationType{{}, kLongestDrain}, Duration::zero(), kAtOnce,
                  "how long an attached application may take to finish before this leader hands "
                  "over: it leads on meanwhile, and begins nothing; 0s: it is not asked");
  application.key("score_margin", &ApplicationSettings::score_margin, NumberType{0, UINT32_MAX}, 0u,
                  kAtOnce,
                  "of equal priorities, another node takes over from a working leader only if its "
                  "score is higher by more than this; 0: a higher UUID will do for equal scores");
}

void add_log_keys(std::vector<ConfigKey<Config>>& keys) {
  Table log("log", &Config::log, keys);
  log.key("level", &LogSettings::level, each_name_of<LogLevel>(), LogLevel::kInfo, kAtOnce,
          "this level and those after it are logged");
  log.key("format", &LogSettings::format,
          WordType<LogFormat>{{{"text", LogFormat::kText}, {"json", LogFormat::kJson}}},
          LogFormat::kText, kAtOnce, "lines for people, or one JSON object per line");
}

}  // namespace

bool is_used(const std::string& table, const Config& config) {
  if (table == kKubernetesTable) return config.kubernetes.is_used;
  return table != kEtcdTable || config.etcd.is_used;
}

const std::vector<ConfigKey<Config>>& config_keys() {
  static const std::vector<ConfigKey<Config>> kKeys = [] {
    std::vector<ConfigKey<Config>> keys;
    add_group_keys(keys);
    add_node_keys(keys);
    add_election_keys(keys);
    add_failure_detector_keys(keys);
    add_membership_keys(keys);
    add_kubernetes_keys(keys);
    add_etcd_keys(keys);
    add_api_keys(keys);
    add_metrics_keys(keys);
    add_flag_keys(keys);
    add_tls_keys(keys);
    add_application_keys(keys);
    add_log_keys(keys);
    return keys;
  }();
  return kKeys;
}

const std::vector<ConfigKey<HookSettings>>& hook_keys() {
  const auto key = [](const char* name, auto member, const auto& type, const auto& fallback,
                      const char* help) {
    const auto in = [member](auto& hook) -> auto& { return hook.*member; };
    return make_key<HookSettings>(kHookTable, name, in, type, fallback, kHookTakesEffect, help);
  };
  static const std::vector<ConfigKey<HookSettings>> kKeys{
      key("url", &HookSettings::url,
          TextType{"an http:// or https:// URL without user and #", is_http_url}, Required{},
          "where to POST to; an answer of 410 (gone) ends it until the configuration is read "
          "again"),
      key("timeout", &HookSettings::timeout, DurationType{milliseconds(10), minutes(1)}, seconds(2),
          "how long an answer may take before the next try"),
      key("ca", &HookSettings::ca, kFile, std::string(),
          "of https: the authorities that the receiver's certificate may be of, in PEM, read again "
          "when they change; \"\": those that this system believes"),
      key("cert", &HookSettings::cert, kFile, std::string(),
          "of https: the certificate to show to the receiver, and those between it and the "
          "authority, in PEM"),
      key("key", &HookSettings::key, kFile, std::string(),
          "the certificate's private key, in PEM, which others may not read"),
      key("secret_file", &HookSettings::secret_file, kFile, std::string(),
          "events are signed with each key of this file (Standard Webhooks): lines of \"whsec_\" "
          "and base64, as `bellwether keygen --webhook` makes one, or of 24 to 64 characters; read "
          "again when it changes"),
      key("shared_folder", &HookSettings::is_folder_shared, off_or_on(), false, kSharedFolderHelp)};
  return kKeys;
}

}  // namespace bellwether
