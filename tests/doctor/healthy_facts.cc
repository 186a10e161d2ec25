// Addresses, ids and names follow from a process's number.
#include "healthy_facts.hh"

namespace bellwether::doctor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kProcesses = 3;
constexpr uint16_t kPort = 7946;

std::string host_of(int number) { return "10.0.0." + std::to_string(number + 1); }

std::string name_of(int number) { return "orders-" + std::to_string(number); }

Config config() {
  Config config;
  config.group.name = "orders";
  config.node.name = name_of(0);
  config.node.listen = {"::", kPort};
  config.node.advertise = {host_of(0), kPort};
  config.node.state_dir = "/state";
  config.node.is_confined = true;
  config.election.plugin = "bully";
  config.election.variant = "modified";
  config.failure_detector.suspect_after = milliseconds(500);
  config.membership.dns = {"orders.shop", kPort};
  config.api.listen = {"127.0.0.1", 4040};
  config.metrics.listen = {"::", 9464};
  config.flag.path = "/flags/orders";
  config.flag.mode = 0640;
  config.tls.mode = TlsMode::kStrict;
  return config;
}

SidecarFacts sidecar() {
  SidecarFacts facts{.where = "127.0.0.1:4040",
                     .group = "orders",
                     .name = name_of(0),
                     .id = id_of(0),
                     .version = "0.1.0",
                     .plugin = "bully",
                     .plugin_abi = "1.0",
                     .variant = "modified",
                     .application = ApplicationFacts{}};
  for (int i = 0; i < kProcesses; ++i) {
    facts.members.push_back(
        {.name = name_of(i),
         .id = id_of(i),
         .address = address_of(i),
         .state = Liveness::kAlive,
         .is_self = i == 0,
         .security = i == 0 ? std::nullopt : std::optional(Security::kCertificate),
         .priority = 100});
  }
  return facts;
}

void add_network(Facts& facts) {
  facts.names = {{Origin::kSelf, {host_of(0), kPort}, {address_of(0)}, ""},
                 {Origin::kDns, {"orders.shop", kPort}, {}, ""}};
  for (int i = 0; i < kProcesses; ++i) {
    facts.names[1].addresses.push_back(address_of(i));
    facts.probes.push_back({.address = address_of(i),
                            .local_host = host_of(0),
                            .connect_time = microseconds(300),
                            .hello_time = microseconds(700),
                            .greeting = greeting_of(i)});
    if (i == 0) continue;
    facts.names.push_back({Origin::kMember, {host_of(i), kPort}, {address_of(i)}, ""});
    facts.decoys.push_back({host_of(i), Decoy::kRefused});
    facts.inbound_hosts.push_back(host_of(i));
  }
}

}  // namespace

std::string id_of(int number) { return "id-" + std::to_string(number); }

std::string address_of(int number) { return HostPort{host_of(number), kPort}.text(); }

GreetingFacts greeting_of(int number) {
  return {.name = name_of(number),
          .id = id_of(number),
          .boot = static_cast<uint64_t>(number) + 1,
          .address = address_of(number),
          .version = "0.1.0",
          .plugin = "bully",
          .variant = "modified",
          .leader_id = id_of(0),
          .leader_epoch = 7};
}

Facts healthy_facts() {
  Facts facts{.version = "0.1.0",
              .config = {.file = "b.toml", .config = config()},
              .clock = {.boot_elapsed = seconds(1),
                        .wall_elapsed = seconds(1),
                        .year = 2026,
                        .is_synchronisation_known = true,
                        .is_synchronised = true,
                        .max_error = milliseconds(4)},
              .limits = {.process = 12, .open_files = 4096},
              .state = StateFacts{.folder = "/state",
                                  .exists = true,
                                  .is_writable = true,
                                  .free_bytes = uint64_t{1} << 30,
                                  .lock = {.is_held = true, .holder = 12},
                                  .has_identity = true,
                                  .has_record = true,
                                  .is_record_good = true,
                                  .group = "orders",
                                  .epoch = 7},
              .flag = FlagFacts{.path = "/flags/orders",
                                .is_in_memory = true,
                                .exists = true,
                                .mode = 0640,
                                .lock = {.is_held = true, .holder = 12}},
              .tls = TlsFacts{},
              .sidecar = sidecar(),
              .metrics = MetricsFacts{.where = "127.0.0.1:9464", .status = 200}};
  add_network(facts);
  return facts;
}

Facts facts_without_sidecar() {
  Facts facts = healthy_facts();
  facts.sidecar->silence = "no sidecar answers at 127.0.0.1:4040";
  facts.sidecar->members.clear();
  facts.metrics.reset();
  facts.state->lock = {};
  facts.flag->lock = {};
  facts.names.resize(2);
  facts.probes.front().greeting.reset();
  facts.probes.front().connect_error = "connection refused";
  facts.inbound_hosts.clear();
  return facts;
}

std::string findings(const Facts& facts, const std::string& check) {
  std::string lines;
  for (const Diagnosis& each : diagnose(facts)) {
    if (each.check != check) continue;
    lines += std::string(name(each.verdict)) + ": " + each.seen;
    if (!each.remedy.empty()) lines += " -> " + each.remedy;
    lines += "\n";
  }
  return lines;
}

}  // namespace bellwether::doctor
