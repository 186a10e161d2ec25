// What the verbs of the network do; each reads its own words.
#include <stdexcept>
#include <vector>

#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {
namespace {

// Those that the words name, or else all.
std::vector<Pair> directions_or_all(ScenarioRunner& runner, Words& words) {
  if (!words.is_empty()) return runner.directions(words);
  std::vector<Pair> all;
  for (uint32_t from = 0; from < runner.cluster().size(); ++from) {
    for (uint32_t to = 0; to < runner.cluster().size(); ++to) {
      if (from != to) all.emplace_back(from, to);
    }
  }
  return all;
}

}  // namespace

void run_link(ScenarioRunner& runner, Words& words) {
  GroupSettings group;
  group.cluster.network = runner.cluster().network().options();
  apply_link_settings(group, words);
  runner.cluster().network().set_options(group.cluster.network);
}

void run_partition(ScenarioRunner& runner, Words& words) {
  std::vector<std::vector<uint32_t>> sides;
  do {
    sides.push_back(runner.processes(words));
  } while (words.skip("|"));
  if (sides.size() < 2) throw std::invalid_argument("a partition has two sides");
  for (size_t left = 0; left < sides.size(); ++left) {
    for (size_t right = 0; right < sides.size(); ++right) {
      if (left == right) continue;
      for (const uint32_t from : sides[left]) {
        for (const uint32_t to : sides[right]) runner.cluster().cut(from, to);
      }
    }
  }
}

void run_cut(ScenarioRunner& runner, Words& words) {
  for (const auto& [from, to] : runner.directions(words)) runner.cluster().cut(from, to);
}

void run_heal(ScenarioRunner& runner, Words& words) {
  if (words.is_empty()) runner.cluster().network().drop_nothing();
  for (const auto& [from, to] : directions_or_all(runner, words)) runner.cluster().heal(from, to);
}

void run_reset(ScenarioRunner& runner, Words& words) {
  const uint32_t one = runner.process(words.take("a node"));
  const uint32_t other = runner.process(words.take("the other node"));
  if (one == other) throw std::invalid_argument("a connection has two ends");
  runner.cluster().reset(one, other);
}

void run_proxy(ScenarioRunner& runner, Words& words) {
  const std::vector<uint32_t> nodes = runner.processes(words);
  const std::string& state = words.take("up or down");
  const bool is_down = parse_choice<bool>("a proxy", state, {{"up", false}, {"down", true}});
  const auto proxy = words.skip("unseen") ? Cluster::Proxy::kUnseen : Cluster::Proxy::kSeen;
  for (const uint32_t process : nodes) runner.cluster().put_proxy(process, proxy, is_down);
}

void run_hold(ScenarioRunner& runner, Words& words) {
  for (const auto& [from, to] : runner.directions(words)) runner.cluster().network().hold(from, to);
}

void run_release(ScenarioRunner& runner, Words& words) {
  Cluster& cluster = runner.cluster();
  for (const auto& [from, to] : directions_or_all(runner, words)) {
    cluster.network().release(cluster.now(), from, to);
  }
}

void run_drop(ScenarioRunner& runner, Words& words) {
  const std::string& kind = words.take("the kind of message");
  for (size_t i = 0; i < kFrameTypes; ++i) {
    const auto type = static_cast<FrameType>(i);
    if (kind != name(type)) continue;
    for (const auto& [from, to] : runner.directions(words)) {
      runner.cluster().network().drop_next(type, from, to);
    }
    return;
  }
  throw std::invalid_argument("'" + kind + "' is not a kind of message such as ELECTION");
}

}  // namespace bellwether::simulator
