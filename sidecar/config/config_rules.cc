// The rules whose violation makes a configuration unusable.
#include "config/config_rules.hh"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/duration_text.hh"
#include "config/core_options.hh"
#include "config/keys.hh"
#include "config/text_forms.hh"
#include "core/electorate.hh"

namespace bellwether {
namespace {

constexpr uint32_t kOwnerReadWrite = 0600;
constexpr uint32_t kOthersWrite = 0022;

// The host's name, of which the defaults are made, may be unusable.
void judge_node(Judge& judge) {
  const NodeSettings& node = judge.config().node;
  if (!is_name(node.name)) {
    judge.object({"node.name"},
                 "the host's name, " + toml_text(node.name) + ", cannot be a node's name",
                 "give node.name, for example \"node-1\"");
  }
  constexpr const char* kReachable = "give the address where peers reach this node";
  HostPort unused;
  if (!judge.is_given("node.advertise")) {
    if (!parse_host_port(node.advertise.text(), unused).empty()) {
      judge.object({"node.advertise"}, "cannot be made of the host's name", kReachable);
    }
  } else if (node.advertise.is_wildcard()) {
    judge.object({"node.advertise"},
                 node.advertise.text() + " is every address of a host; nobody can connect to it",
                 kReachable);
  }
}

void judge_number_of_voters(Judge& judge) {
  const size_t count = judge.config().voters.size();
  if (count == 0 && judge.is_given(kVotersTable)) {
    judge.object({kVotersTable}, "names nobody",
                 "name 1 voter or at least 3, or leave the table out");
  }
  if (count == 2) {
    judge.object({kVotersTable},
                 "2 voters are no better than 1: a majority of 2 is both, so either one's end "
                 "leaves the group without a leader",
                 "name 1 voter or at least 3");
  }
  if (count > kMaxVoters) {
    judge.object(
        {kVotersTable},
        fmt::format("{} voters are too many, for every change waits for a majority", count),
        "name at most 9; further members follow without a vote");
  }
}

void judge_each_voter(Judge& judge) {
  const Config& config = judge.config();
  std::map<HostPort, std::string> owners;
  for (const auto& [name, address] : config.voters) {
    const std::string key = std::string(kVotersTable) + "." + name;
    const auto [owner, is_new] = owners.emplace(address, name);
    if (address.is_wildcard()) {
      judge.object_to(key, {kVotersTable},
                      address.text() + " is every address of a host; nobody can connect to it",
                      "give the address where others reach this voter");
    } else if (!is_new) {
      judge.object_to(key, {kVotersTable},
                      address.text() + " is the address of " + owner->second + ", too",
                      "give each voter its own");
    }
  }
  if (config.voters.contains(config.node.name) && config.node.state_dir.empty()) {
    judge.object({"node.state_dir", kVotersTable},
                 "a voter that forgets its vote at a restart can vote twice",
                 "give a folder that outlives the process, or leave [voters] out");
  }
}

void judge_variant(Judge& judge) {
  const ElectionSettings& election = judge.config().election;
  const std::vector<std::string>& known = judge.variants();
  if (known.empty() || std::ranges::find(known, election.variant) != known.end()) return;
  judge.object(
      {"election.variant", "election.plugin"},
      "plugin " + toml_text(election.plugin) + " has no variant " + toml_text(election.variant),
      "give " + any_of_words(known) + did_you_mean(election.variant, known));
}

void judge_timers(Judge& judge) {
  const ElectionSettings& election = judge.config().election;
  const FailureDetectorSettings& detector = judge.config().failure_detector;
  if (detector.suspect_after < 2 * detector.heartbeat_interval) {
    judge.object({"failure_detector.suspect_after", "failure_detector.heartbeat_interval",
                  "election.profile"},
                 fmt::format("suspect_after {} is less than two heartbeat_interval, so one late "
                             "beat deposes a leader",
                             duration_text(detector.suspect_after)),
                 fmt::format("give suspect_after at least {}, better five intervals",
                             duration_text(2 * detector.heartbeat_interval)));
  }
  if (longest_silence(election.lease) < detector.suspect_after) {
    using std::chrono::milliseconds;
    const Duration least = std::chrono::ceil<milliseconds>(detector.suspect_after / 4 * 5);
    judge.object(
        {"election.lease", "failure_detector.suspect_after", "election.profile"},
        fmt::format("4/5 of lease {} is less than suspect_after {}, so leadership would run out "
                    "before anybody looks for a successor",
                    duration_text(election.lease), duration_text(detector.suspect_after)),
        fmt::format("give lease at least {}, or shorten suspect_after", duration_text(least)));
  }
  if (election.coordinator_timeout <= election.answer_timeout) {
    judge.object({"election.coordinator_timeout", "election.answer_timeout", "election.profile"},
                 fmt::format("coordinator_timeout {} is not longer than answer_timeout {}, which "
                             "the winner may have to wait itself before it announces",
                             duration_text(election.coordinator_timeout),
                             duration_text(election.answer_timeout)),
                 "give coordinator_timeout more than answer_timeout, or leave it out");
  }
}

bool would_collide(const HostPort& left, const HostPort& right) {
  if (left.is_none() || right.is_none() || left.port != right.port) return false;
  return left.host == right.host || left.is_wildcard() || right.is_wildcard();
}

void judge_listeners(Judge& judge) {
  const Config& config = judge.config();
  const std::vector<std::pair<std::string, HostPort>> listeners{
      {"node.listen", config.node.listen},
      {"api.listen", config.api.listen},
      {"metrics.listen", config.metrics.listen}};
  for (size_t i = 0; i < listeners.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const auto& [key, place] = listeners[i];
      const auto& [other, other_place] = listeners[j];
      if (!would_collide(place, other_place)) continue;
      judge.object_to(judge.is_given(key) ? key : other,
                      {"node.listen", "api.listen", "metrics.listen"},
                      fmt::format("{} {} and {} {} want the same port", other, other_place.text(),
                                  key, place.text()),
                      "give them different ports");
    }
  }
  if (config.api.listen.is_none() && config.api.socket.empty()) {
    judge.object({"api.listen", "api.socket"},
                 "the API would be nowhere, and the leader could not be made to step down",
                 "give api.listen, api.socket or both");
  }
}

void judge_commands(Judge& judge) {
  const ApiSettings& api = judge.config().api;
  if (!api.socket.empty()) return;
  const char* key = api.writes == ApiWrites::kSocket ? "api.writes"
                    : !api.allow_users.empty()       ? "api.allow_users"
                    : !api.allow_groups.empty()      ? "api.allow_groups"
                                                     : nullptr;
  if (key == nullptr) return;
  judge.object({key, "api.socket"}, "is about the unix socket, of which there is none",
               "give api.socket");
}

// Those of one table, which serve its address.
struct ListenerKeys {
  const char* listen;
  const char* cert;
  const char* key;
  const char* client_ca;
};
constexpr ListenerKeys kApiKeys{"api.listen", "api.cert", "api.key", "api.client_ca"};
constexpr ListenerKeys kMetricsKeys{"metrics.listen", "metrics.cert", "metrics.key",
                                    "metrics.client_ca"};

template <typename Settings>
void judge_certificate(Judge& judge, const Settings& settings, const ListenerKeys& keys) {
  const bool has_any =
      !settings.cert.empty() || !settings.key.empty() || !settings.client_ca.empty();
  if (!has_any) return;
  if (!settings.has_tls()) {
    return judge.object({keys.cert, keys.key, keys.client_ca},
                        fmt::format("{} and {} belong together", keys.cert, keys.key),
                        fmt::format("give {}, or none of {}, {} and {}",
                                    settings.cert.empty() ? keys.cert : keys.key, keys.cert,
                                    keys.key, keys.client_ca));
  }
  if (!settings.listen.is_none()) return;
  judge.object({keys.cert, keys.key, keys.client_ca, keys.listen},
               fmt::format("is about {}, which is \"\"", keys.listen),
               fmt::format("remove it, or give {}", keys.listen));
}

// Whoever is on the way reads tokens, and whoever reaches the API can command.
void judge_exposure(Judge& judge) {
  const ApiSettings& api = judge.config().api;
  if (!api.is_exposed() || api.is_insecure) return;
  constexpr const char* kOtherwise =
      "listen on 127.0.0.1 or on api.socket alone, or give api.insecure = \"on\"";
  if (!api.has_tls()) {
    judge.object({"api.listen", "api.cert", "api.key", "api.insecure"},
                 api.listen.text() +
                     " is not loopback, and what is said there can be read and "
                     "changed on the way: there is no TLS",
                 fmt::format("give api.cert and api.key, {}", kOtherwise));
  }
  if (api.is_guarded()) return;
  judge.object(
      {"api.listen", "api.token_file", "api.client_ca", "api.writes", "api.insecure"},
      api.listen.text() + " is not loopback, and whoever reaches it can make the leader step down",
      fmt::format("give api.token_file, api.client_ca or api.writes = \"socket\", {}", kOtherwise));
}

void judge_tls(Judge& judge) {
  const TlsSettings& tls = judge.config().tls;
  const bool is_whole = !tls.cert.empty() && !tls.key.empty() && !tls.ca.empty();
  if (tls.has_certificate() && !is_whole) {
    const char* missing = tls.cert.empty() ? "cert" : tls.key.empty() ? "key" : "ca";
    judge.object({"tls.cert", "tls.key", "tls.ca"},
                 fmt::format("[tls] lacks {}: cert, key and ca belong together", missing),
                 fmt::format("give tls.{}, or none of the three", missing));
  }
  if (tls.has_certificate() && !tls.secret_file.empty()) {
    judge.object({"tls.secret_file", "tls.cert"},
                 "members know each other by certificates or by a secret, not by both",
                 "remove one of them");
  }
  if (tls.mode != TlsMode::kOff && !tls.has_certificate() && tls.secret_file.empty()) {
    judge.object({"tls.mode"}, "there is neither a certificate nor a secret to use",
                 "give tls.cert, tls.key and tls.ca, or tls.secret_file");
  }
  if (!tls.members.empty() && !tls.has_certificate()) {
    judge.object({"tls.members"}, "names whose certificates are a member's, but there are none",
                 "remove it, or give tls.cert, tls.key and tls.ca");
  }
}

void judge_flag(Judge& judge) {
  const uint32_t mode = judge.config().flag.mode;
  if ((mode & kOwnerReadWrite) != kOwnerReadWrite) {
    judge.object({"flag.mode"}, "the sidecar itself could not open the flag again",
                 "give 0o600 and more, like 0o640");
  } else if ((mode & kOthersWrite) != 0) {
    judge.object({"flag.mode"}, "others than the sidecar could write that they lead",
                 "give 0o640 or 0o644");
  }
}

// What is advised about a file that is not a flag would end what lies there.
void judge_place_of_flag(Judge& judge) {
  const Config& config = judge.config();
  const auto folder_of = [](const std::filesystem::path& file) {
    return file.lexically_normal().parent_path();
  };
  const std::string& state = config.node.state_dir;
  if (!state.empty() && folder_of(config.flag.path) == folder_of(state + "/state")) {
    judge.object({"flag.path", "node.state_dir"},
                 "the flag would lie among the files of the state, which nobody else may read",
                 "give it a folder of its own");
  }
  if (config.flag.path == config.api.socket) {
    judge.object({"flag.path", "api.socket"}, "are the same file", "give each its own");
  }
}

void judge_hook_files(Judge& judge, const HookSettings& hook, const std::string& path) {
  const char* about_tls = !hook.ca.empty()     ? ".ca"
                          : !hook.cert.empty() ? ".cert"
                          : !hook.key.empty()  ? ".key"
                                               : nullptr;
  if (about_tls != nullptr && !hook.url.empty() && !hook.is_https()) {
    judge.object_to(path + about_tls, {kHookTable}, "is about TLS, and the url is not https",
                    "remove it, or give an https:// url");
  }
  if (hook.cert.empty() != hook.key.empty()) {
    judge.object_to(path + (hook.cert.empty() ? ".key" : ".cert"), {kHookTable},
                    "cert and key belong together",
                    std::string("give ") + (hook.cert.empty() ? "cert" : "key") + ", or neither");
  }
}

void judge_hooks(Judge& judge) {
  const std::vector<HookSettings>& hooks = judge.config().hooks;
  if (hooks.size() > kMaxHooks) {
    judge.object({kHookTable}, fmt::format("{} hooks are too many", hooks.size()),
                 fmt::format("give at most {}", kMaxHooks));
  }
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < hooks.size(); ++i) {
    judge_hook_files(judge, hooks[i], hook_path(i));
    if (hooks[i].url.empty()) continue;  // has an error of its own
    const auto [first, is_new] = seen.emplace(hooks[i].url, i + 1);
    if (is_new) continue;
    judge.object_to(hook_path(i) + ".url", {kHookTable},
                    fmt::format("hook {} has the same url", first->second), "remove one of them");
  }
}

// Where it listens itself nobody else does.
bool is_served_by(const HostPort& listener, const HostPort& asked) {
  const std::string host = asked.host == "localhost" ? "127.0.0.1" : asked.host;
  const std::string own = listener.host == "localhost" ? "127.0.0.1" : listener.host;
  return !listener.is_none() && listener.port == asked.port &&
         (own == host || listener.is_wildcard());
}

void judge_whom_health_asks(Judge& judge) {
  const Config& config = judge.config();
  const std::string& url = config.application.health;
  if (url.empty()) return;
  const std::string_view socket = socket_of_url(url);
  const HostPort asked = socket.empty() ? place_of_url(url) : HostPort{};
  const char* const key = socket.empty() && is_served_by(config.api.listen, asked) ? "api.listen"
                          : socket.empty() && is_served_by(config.metrics.listen, asked)
                              ? "metrics.listen"
                          : !socket.empty() && socket == config.api.socket ? "api.socket"
                                                                           : nullptr;
  if (key == nullptr) return;
  judge.object({"application.health", key},
               fmt::format("this sidecar itself answers there ({}), whatever becomes of the "
                           "application",
                           key),
               "give the application's address, or leave health out and let it attach");
}

}  // namespace

void Judge::object(std::initializer_list<const char*> keys, const std::string& what,
                   const std::string& remedy) {
  const auto* const given =
      std::ranges::find_if(keys, [&](const char* key) { return is_given(key); });
  object_to(given == keys.end() ? *keys.begin() : *given, keys, what, remedy);
}

void Judge::object_to(const std::string& culprit, std::initializer_list<const char*> keys,
                      const std::string& what, const std::string& remedy) {
  if (std::ranges::any_of(keys, [&](const char* key) { return broken_.contains(key); })) return;
  const auto position = parsed_.given.find(culprit);
  findings_.push_back({position == parsed_.given.end() ? SourcePosition{} : position->second,
                       culprit, what, remedy});
}

std::vector<Finding> Judge::findings() const {
  std::vector<Finding> sorted = findings_;
  std::ranges::stable_sort(sorted, {}, &Finding::position);
  return sorted;
}

void judge_application(Judge& judge) {
  const ApplicationSettings& application = judge.config().application;
  if (application.health_timeout > application.health_interval) {
    judge.object({"application.health_timeout", "application.health_interval"},
                 fmt::format("health_timeout {} is longer than health_interval {}, so a question "
                             "would come before the answer to the last one",
                             duration_text(application.health_timeout),
                             duration_text(application.health_interval)),
                 "give health_timeout at most health_interval");
  }
  judge_whom_health_asks(judge);
}

void judge_errors(Judge& judge) {
  judge_node(judge);
  judge_number_of_voters(judge);
  judge_each_voter(judge);
  judge_guard(judge);
  judge_variant(judge);
  judge_timers(judge);
  judge_listeners(judge);
  judge_commands(judge);
  judge_certificate(judge, judge.config().api, kApiKeys);
  judge_certificate(judge, judge.config().metrics, kMetricsKeys);
  judge_exposure(judge);
  judge_tls(judge);
  judge_flag(judge);
  judge_place_of_flag(judge);
  judge_hooks(judge);
  judge_application(judge);
}

}  // namespace bellwether
