// The configuration of a sidecar as plain values.  keys.cc says of each what it is called, which
// values it takes, its default and what it is for; nothing here has a meaning of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.hh"
#include "base/death_proof.hh"
#include "base/host_port.hh"
#include "base/names.hh"
#include "core/options.hh"

namespace bellwether {

// Timers that fit together, chosen by one word.
enum class Profile : uint8_t {
  kDefault,   // one data centre, shared machines
  kLan,       // one data centre, machines with time to spare
  kWan,       // between regions
  kFast,      // sidecars with a reserved processor
  kTextbook,  // the papers' rules: the default's timers without the departures from the papers
  kLast = kTextbook
};

enum class LogLevel : uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kLast = kError };
inline const char* name(LogLevel level) {
  static constexpr Names<LogLevel> kNames({"trace", "debug", "info", "warn", "error"});
  return kNames[level];
}
enum class LogFormat : uint8_t { kText, kJson };

struct GroupSettings {
  std::string name;
  friend bool operator==(const GroupSettings&, const GroupSettings&) = default;
};

struct NodeSettings {
  std::string name;
  uint32_t priority = 0;
  HostPort listen;
  HostPort advertise;
  std::string state_dir;      // empty: nothing is kept
  bool keeps_memory = false;  // memory_keeper.hh
  bool dumps_core = false;    // when it crashes; the process can then be traced, too
  bool is_confined = false;   // confinement.hh
  friend bool operator==(const NodeSettings&, const NodeSettings&) = default;
};

struct ElectionSettings {
  std::string plugin;
  std::string variant;  // empty: the plugin's first
  Profile profile = Profile::kDefault;
  Duration answer_timeout{};
  Duration coordinator_timeout{};
  Preempt preempt = Preempt::kAlways;
  Duration preempt_delay{};
  Duration lease{};
  Duration renew_interval{};  // of a lease in a store; zero: there is none
  DeathProof death_proof = DeathProof::kAuto;
  friend bool operator==(const ElectionSettings&, const ElectionSettings&) = default;
};

struct FailureDetectorSettings {
  Duration heartbeat_interval{};
  Duration suspect_after{};
  friend bool operator==(const FailureDetectorSettings&, const FailureDetectorSettings&) = default;
};

struct MembershipSettings {
  std::vector<HostPort> peers;
  HostPort dns;  // none: no name to look up
  Duration reap_after{};
  friend bool operator==(const MembershipSettings&, const MembershipSettings&) = default;
};

// How members' connections are secured.
enum class TlsMode : uint8_t { kOff, kPermissive, kStrict, kLast = kStrict };
inline const char* name(TlsMode mode) {
  static constexpr Names<TlsMode> kNames({"off", "permissive", "strict"});
  return kNames[mode];
}

struct TlsSettings {
  std::string cert;  // with `key` and `ca`: files in PEM; empty: none
  std::string key;
  std::string ca;
  std::vector<std::string> members;  // member_rules.hh; empty: the hosts of peers and voters
  std::string secret_file;           // in place of certificates
  bool is_folder_shared = false;     // Secrecy::kShared, of all of them
  TlsMode mode = TlsMode::kOff;
  bool has_certificate() const { return !cert.empty() || !key.empty() || !ca.empty(); }
  friend bool operator==(const TlsSettings&, const TlsSettings&) = default;
};

// Over which door the API takes commands.
enum class ApiWrites : uint8_t { kAll, kSocket, kLast = kSocket };
inline const char* name(ApiWrites writes) {
  static constexpr Names<ApiWrites> kNames({"all", "socket"});
  return kNames[writes];
}

struct ApiSettings {
  HostPort listen;         // none: on the socket alone
  std::string socket;      // empty: no unix socket
  std::string token_file;  // empty: over TCP no token is needed
  ApiWrites writes = ApiWrites::kAll;
  std::vector<std::string>
      allow_users;  // who may command on the unix socket; both empty: everybody
  std::vector<std::string> allow_groups;
  std::string cert;  // with `key`: files in PEM, for TLS over TCP; empty: none
  std::string key;
  std::string client_ca;          // of clients that may command
  bool is_folder_shared = false;  // Secrecy::kShared, of all of these and of the tokens
  bool is_insecure = false;       // where it is not loopback: neither TLS nor proof is asked for
  bool has_tls() const { return !cert.empty() && !key.empty(); }
  // Others than those on this machine can connect.
  bool is_exposed() const { return !listen.is_none() && !listen.is_loopback(); }
  // Over TCP not everybody may command.
  bool is_guarded() const {
    return !token_file.empty() || !client_ca.empty() || writes == ApiWrites::kSocket;
  }
  friend bool operator==(const ApiSettings&, const ApiSettings&) = default;
};

struct MetricsSettings {
  HostPort listen;   // none: on the address of the API alone
  std::string cert;  // with `key`: files in PEM, for TLS; empty: none
  std::string key;
  std::string client_ca;          // of clients; no other is served
  bool is_folder_shared = false;  // Secrecy::kShared
  bool has_tls() const { return !cert.empty() && !key.empty(); }
  friend bool operator==(const MetricsSettings&, const MetricsSettings&) = default;
};

struct FlagSettings {
  std::string path;
  uint32_t mode = 0;
  bool is_folder_shared = false;  // flag_folder.hh
  friend bool operator==(const FlagSettings&, const FlagSettings&) = default;
};

struct HookSettings {
  std::string url;
  Duration timeout{};
  std::string ca;    // of an https receiver; empty: the system's authorities
  std::string cert;  // with `key`: shown to it; empty: none
  std::string key;
  std::string secret_file;        // that events are signed with; empty: they are not
  bool is_folder_shared = false;  // Secrecy::kShared, of all of them
  bool is_https() const { return url.starts_with("https://"); }
  bool has_files() const { return is_https() || !secret_file.empty(); }
  friend bool operator==(const HookSettings&, const HookSettings&) = default;
};

// What must hold of the application for this node to lead; by default nothing.
struct ApplicationSettings {
  bool is_attachment_needed = false;
  Duration grace{};
  std::string health;  // URL on this host; empty: it is not asked
  Duration health_interval{};
  Duration health_timeout{};
  uint32_t health_failures = 0;
  Duration drain_timeout{};
  uint32_t score_margin = 0;
  friend bool operator==(const ApplicationSettings&, const ApplicationSettings&) = default;
};

struct LogSettings {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

// A Lease in Kubernetes decides who may lead.
struct KubernetesSettings {
  bool is_used = false;  // its table is there, be it empty
  std::string lease_name;
  std::string namespace_name;
  std::string server;      // http[s]://host:port
  std::string ca;          // a file in PEM; empty: the system's authorities
  std::string token_file;  // empty: none
  std::string cert;        // with `key`: shown to the server; empty: none
  std::string key;
  bool is_insecure = false;  // http:// to elsewhere than loopback
  bool is_https() const { return server.starts_with("https://"); }
  friend bool operator==(const KubernetesSettings&, const KubernetesSettings&) = default;
};

// A key of etcd does.
struct EtcdSettings {
  bool is_used = false;                // its table is there
  std::vector<std::string> endpoints;  // http[s]://host:port
  std::string prefix;                  // the group's name behind it is the key
  std::string ca;                      // as above
  std::string cert;
  std::string key;
  std::string user;  // with a password; empty: none
  std::string password_file;
  bool is_insecure = false;
  bool is_https() const {
    return std::ranges::any_of(endpoints, [](const auto& url) { return url.starts_with("https"); });
  }
  friend bool operator==(const EtcdSettings&, const EtcdSettings&) = default;
};

// What keeps a second leader away.
enum class GuardKind : uint8_t { kNone, kMajority, kKubernetes, kEtcd, kLast = kEtcd };
inline const char* name(GuardKind guard) {
  static constexpr Names<GuardKind> kNames({"none", "majority", "kubernetes", "etcd"});
  return kNames[guard];
}

struct Config {
  GroupSettings group;
  NodeSettings node;
  ElectionSettings election;
  FailureDetectorSettings failure_detector;
  MembershipSettings membership;
  std::map<std::string, HostPort> voters;  // by name; empty: guard "majority" is not wanted
  KubernetesSettings kubernetes;
  EtcdSettings etcd;
  TlsSettings tls;
  ApiSettings api;
  MetricsSettings metrics;
  FlagSettings flag;
  std::vector<HookSettings> hooks;
  ApplicationSettings application;
  LogSettings log;

  // It follows from which table is there.
  GuardKind guard_kind() const {
    if (!voters.empty()) return GuardKind::kMajority;
    if (kubernetes.is_used) return GuardKind::kKubernetes;
    return etcd.is_used ? GuardKind::kEtcd : GuardKind::kNone;
  }
  const char* guard() const { return name(guard_kind()); }
  bool has_guard() const { return guard_kind() != GuardKind::kNone; }
  bool has_majority_guard() const { return guard_kind() == GuardKind::kMajority; }
  bool has_store_guard() const { return has_guard() && !has_majority_guard(); }

  std::vector<std::string> voter_names() const {
    std::vector<std::string> names;
    for (const auto& [name, address] : voters) names.push_back(name);
    return names;
  }

  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace bellwether
