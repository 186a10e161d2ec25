// The configuration says where to look; the sidecar, if one answers, who else there is.
#include "cli/doctor_facts.hh"

#include <algorithm>
#include <iterator>
#include <set>

#include "api/lack.hh"
#include "cli/api_client.hh"
#include "cli/plugin_dir.hh"
#include "cli/sidecar_answers.hh"
#include "cli/sidecars_user.hh"
#include "cli/text_file.hh"
#include "config/core_options.hh"
#include "config/keys.hh"
#include "config/parse.hh"
#include "core/link_limits.hh"
#include "daemon/hook_files.hh"
#include "daemon/member_tls.hh"
#include "daemon/server_tls.hh"
#include "daemon/store_files.hh"
#include "doctor/looks.hh"
#include "io/flag/robust_futex.hh"

namespace bellwether::cli {
namespace {

using doctor::Facts;
using doctor::NameFacts;
using doctor::Origin;
using Tell = std::function<void(std::string_view)>;

// The sum of all is ten seconds, and twelve with a store: the sidecar is asked twice, /readyz once.
constexpr auto kApiPatience = std::chrono::seconds(2);
constexpr auto kStorePatience = std::chrono::seconds(2);
constexpr auto kNamePatience = std::chrono::seconds(2);
// More would need more descriptors than a process may have by default.
constexpr size_t kMaxProbes = 256;
constexpr size_t kMaxDecoys = 64;

doctor::ConfigFacts read_config(const std::string& file) {
  doctor::ConfigFacts facts{.file = file};
  try {
    const ParsedConfig parsed =
        parse_config(read_text_file(file), file, environment_with_plugins());
    facts.config = parsed.config;
    facts.warnings = parsed.warnings;
  } catch (const ConfigErrors& errors) {
    facts.errors = errors.findings();
  } catch (const std::system_error& error) {
    facts.read_error = error.what();
  }
  return facts;
}

template <typename Number>
Number number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<Number>() : 0;
}

// Nothing where an older sidecar does not say it.
std::optional<doctor::ApplicationFacts> application_in(const Json& status) {
  const Json& application = object_in(status, "application");
  if (!application.contains("is_able")) return std::nullopt;
  return doctor::ApplicationFacts{.is_able = is_true(application, "is_able"),
                                  .attach = is_true(application, "attach"),
                                  .attached = texts_in(application, "attached"),
                                  .health = text_in(application, "health"),
                                  .is_healthy = is_true(application, "is_healthy"),
                                  .why_not_healthy = text_in(application, "why_not_healthy"),
                                  .score = number_in<int64_t>(application, "score")};
}

doctor::SidecarFacts ask_sidecar(const ApiAddress& address) {
  doctor::SidecarFacts facts{.where = address.text()};
  try {
    ApiClient client(address, kApiPatience);
    const Json status = get_status(client);
    const Json members = get_members(client);
    const Json& node = object_in(status, "node");
    const Json& plugin = object_in(status, "plugin");
    const Json& config = object_in(status, "config");
    facts.group = text_of(status, "group");
    facts.name = text_of(node, "name");
    facts.id = text_of(node, "id");
    facts.version = text_of(status, "version");
    facts.plugin = text_of(plugin, "name");
    facts.plugin_abi = text_of(plugin, "abi");
    facts.variant = text_of(status, "variant");
    if (!is_true(status, "is_ready")) facts.why_not_ready = text_of(status, "why_not_ready");
    facts.lacks_vote_alone = word_in<api::Lack>(status, "lacks") == api::Lack::kVote;
    facts.vote = word_in<Vote>(object_in(status, "vote"), "state");
    facts.why_no_vote = text_in(object_in(status, "vote"), "why");
    facts.pending_restart = texts_in(config, "pending_restart");
    const Json& tls = object_in(status, "tls");
    facts.why_tls_not_in_force = text_in(tls, "why_not_in_force");
    facts.why_no_token_counts = text_in(object_in(status, "commands"), "why_no_token_counts");
    for (const char* table : {"api", "metrics"}) {
      const std::string flaw = text_in(object_in(tls, table), "why_not_in_force");
      if (!flaw.empty()) facts.why_certificate_not_in_force[table] = flaw;
    }
    facts.why_not_confined = text_in(object_in(status, "confinement"), "why_not_whole");
    facts.store_trouble = text_in(object_in(status, "store"), "trouble");
    facts.application = application_in(status);
    facts.why_nobody_leads = text_in(status, "why_nobody_leads");
    for (const Json& member : objects_in(members, "members")) {
      facts.members.push_back({.name = text_of(member, "name"),
                               .id = text_of(member, "id"),
                               .address = text_of(member, "address"),
                               .state = word_in<Liveness>(member, "state"),
                               .is_self = is_true(member, "is_self"),
                               .security = word_in<Security>(member, "security"),
                               .priority = number_in<uint32_t>(member, "priority"),
                               .is_able = text_in(member, "why_not_able").empty()});
    }
  } catch (const ApiError& error) {
    facts.silence = error.what();
  }
  return facts;
}

doctor::MetricsFacts ask_for_readiness(const MetricsSettings& metrics) {
  const ApiAddress address = address_of(metrics);
  doctor::MetricsFacts facts{.where = address.text()};
  if (!metrics.client_ca.empty()) return facts;  // of which this program has no certificate
  try {
    facts.status = ApiClient(address, kApiPatience).get("/readyz").status;
  } catch (const ApiError& error) {
    facts.error = error.what();
  }
  return facts;
}

// All places where somebody may be, each once, by the first who names it.
std::vector<NameFacts> names_in(const Facts& facts) {
  const Config& config = *facts.config.config;
  std::vector<NameFacts> names;
  std::set<HostPort> known;
  const auto add = [&](Origin origin, const HostPort& place) {
    if (!place.is_none() && known.insert(place).second) names.push_back({origin, place});
  };
  names.push_back({Origin::kSelf, config.node.advertise});
  add(Origin::kDns, config.membership.dns);
  for (const HostPort& peer : config.membership.peers) add(Origin::kPeers, peer);
  for (const auto& [name, address] : config.voters) add(Origin::kVoters, address);
  if (!facts.has_sidecar()) return names;
  for (const doctor::MemberFacts& member : facts.sidecar->members) {
    HostPort place;
    const bool is_place = parse_host_port(member.address, place).empty();
    if (is_place && !member.is_self && member.state != Liveness::kLeft) add(Origin::kMember, place);
  }
  return names;
}

// Each address once, and each other host once; all are the same host on loopback.
doctor::ProbeOrder order_for(const Facts& facts, size_t& unprobed) {
  // As long as a sidecar would take.
  const LinkLimits limits = link_limits(to_options(*facts.config.config));
  doctor::ProbeOrder order{.limit = limits.connect + limits.handshake};
  std::set<io::SocketAddress> addresses;
  std::set<io::SocketAddress> hosts;
  std::set<io::SocketAddress> own_hosts;
  for (const NameFacts& name : facts.names) {
    for (const std::string& text : name.addresses) {
      HostPort place;
      if (!parse_host_port(text, place).empty()) continue;
      const auto address = io::SocketAddress::from_numeric(place);
      if (!address) continue;
      addresses.insert(*address);
      (name.origin == Origin::kSelf ? own_hosts : hosts).insert(address->with_port(0));
    }
  }
  for (const io::SocketAddress& own : own_hosts) {
    const bool is_loopback = own.with_port(1).is_loopback();  // 0 is no port that can be written
    if (!is_loopback) hosts.erase(own);
  }
  const size_t probes = std::min(addresses.size(), kMaxProbes);
  unprobed = addresses.size() - probes;
  std::copy_n(addresses.begin(), probes, std::back_inserter(order.addresses));
  std::copy_n(hosts.begin(), std::min(hosts.size(), kMaxDecoys),
              std::back_inserter(order.decoy_hosts));
  return order;
}

// The process that uses the state or the flag, as far as it can be seen.
pid_t process_of_sidecar(const Facts& facts) {
  if (facts.state && facts.state->lock.holder != 0) return facts.state->lock.holder;
  return facts.flag ? facts.flag->lock.holder : 0;
}

doctor::TlsFacts facts_of(const daemon::TlsReading& reading) {
  return {.flaw = reading.error,
          .refusal_by_members = reading.refusal_by_members,
          .names_of_any_voter = reading.names_of_any_voter,
          .begins = reading.tls ? reading.tls->beginning() : std::nullopt,
          .ends = reading.tls ? reading.tls->expiry() : std::nullopt,
          .now = std::time(nullptr)};
}

// All that needs a configuration.
void gather_configured(Facts& facts, const Tell& tell) {
  const Config& config = *facts.config.config;
  facts.config.plugin_flaw = plugin_flaw(config.election.plugin);
  tell("looking at files");
  if (!config.node.state_dir.empty()) facts.state = doctor::look_at_state(config.node.state_dir);
  facts.flag = doctor::look_at_flag(config.flag.path, config.flag.is_folder_shared);
  const ApiAddress api = address_of(config.api);
  if (!api.text().empty()) {
    tell("asking the sidecar at " + api.text());
    facts.sidecar = ask_sidecar(api);
  }
  if (facts.has_sidecar() && !config.metrics.listen.is_none()) {
    facts.metrics = ask_for_readiness(config.metrics);
  }
  if (config.api.has_tls()) {
    facts.certificates["api"] = facts_of(daemon::read_api_tls(config.api));
  }
  if (config.metrics.has_tls()) {
    facts.certificates["metrics"] = facts_of(daemon::read_metrics_tls(config.metrics));
  }
  for (size_t i = 0; i < config.hooks.size(); ++i) {
    if (!config.hooks[i].has_files()) continue;
    const std::string path = hook_path(i);
    facts.certificates[path] = facts_of(daemon::read_hook_files(config.hooks[i], path).files);
  }
  if (config.has_store_guard()) {
    tell("asking the store");
    facts.store = doctor::look_at_store(daemon::make_store_dialect(config),
                                        daemon::to_security(daemon::read_store_files(config)),
                                        kStorePatience);
  }
  tell("looking up names");
  facts.names = names_in(facts);
  doctor::look_up(facts.names, kNamePatience);
  tell("connecting to " + std::to_string(facts.names.size()) + " places");
  doctor::ProbeOrder order = order_for(facts, facts.unprobed);
  if (config.tls.mode != TlsMode::kOff) {
    const daemon::TlsReading tls = daemon::read_member_tls(config);
    facts.tls = facts_of(tls);
    order.tls = tls.tls;
    order.takes_plain = config.tls.mode == TlsMode::kPermissive;
  }
  if (facts.is_tls_unusable()) {
    order.addresses.clear();
    facts.unprobed = 0;
  }
  doctor::ProbeReport report = doctor::probe_peers(order, config);
  facts.probes = std::move(report.probes);
  facts.decoys = std::move(report.decoys);
}

}  // namespace

Facts gather_facts(const std::string& file, const std::string& user, const Tell& tell) {
  Facts facts{.version = BELLWETHER_VERSION};
  // Forks, so it comes before everything that might start a thread.
  if (const char* flaw = io::robust_futex_flaw()) facts.futex_flaw = flaw;
  const doctor::ClockWatch clock;
  facts.config = read_config(file);
  if (facts.config.config) {
    become_sidecars_user(user, facts.config.config->node.state_dir);
    gather_configured(facts, tell);
  }
  const std::vector<doctor::SocketEntry> sockets = doctor::socket_table();
  facts.mesh_signs = doctor::signs_of_mesh(process_environment(), sockets);
  for (const doctor::SocketEntry& socket : sockets) {
    if (socket.is_listening) facts.listeners.push_back(socket.local);
  }
  if (facts.config.config) {
    const uint16_t port = facts.config.config->node.listen.port;
    facts.inbound_hosts = doctor::hosts_connected_to(port, sockets);
  }
  facts.limits = doctor::look_at_limits(process_of_sidecar(facts));
  facts.clock = clock.facts();
  return facts;
}

}  // namespace bellwether::cli
