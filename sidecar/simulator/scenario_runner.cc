// One scenario under way: its words become processes, directions and durations.
#include "simulator/scenario_runner.hh"

#include <algorithm>
#include <cctype>

#include "core/plugin_facts.hh"
#include "simulator/scenario_verbs.hh"

namespace bellwether::simulator {

ScenarioRunner::ScenarioRunner(std::string file, ScenarioSettings settings, bool keeps_trace)
    : file_(std::move(file)),
      settings_(std::move(settings)),
      keeps_trace_(keeps_trace),
      variant_(chosen_variant(*settings_.plugin, settings_.variant)) {
  settings_.variant = variant_;
}

bool ScenarioRunner::run(const Command& command) {
  line_ = command.line;
  for (const Verb& verb : verbs()) {
    if (command.words.front() != verb.name) continue;
    try {
      Words words(command.words);
      words.require(verb.name);
      verb.run(*this, words);
      if (!words.is_empty()) {
        throw std::invalid_argument("'" + std::string(words.peek()) + "' was not expected");
      }
    } catch (const std::invalid_argument& error) {
      refuse(std::string(error.what()) + "; usage: " + verb.name + " " + verb.syntax);
    }
    if (cluster_ && cluster_->referee().violation() && !has_failed()) {
      const Referee::Violation& violation = *cluster_->referee().violation();
      fail("every invariant to hold", "node " + name_of(violation.process) + " " + violation.text);
    }
    return !has_failed();
  }
  refuse("unknown command '" + command.words.front() +
         "'; 'bellwether simulate --verbs' lists them");
}

void ScenarioRunner::create(const GroupSettings& group, uint32_t count) {
  variant_ = group.variant.value_or(settings_.variant);
  ClusterOptions options = group.cluster;
  options.plugin = settings_.plugin;
  options.node.variant = variant_;
  options.broken_assumption = settings_.broken_assumption;
  cluster_ = std::make_unique<Cluster>(std::move(options));
  if (keeps_trace_ || settings_.trace) {
    cluster_->trace_to([this](const std::string& line) {
      if (keeps_trace_) trace_.push_back(line);
      if (settings_.trace) settings_.trace(line);
    });
  }
  if (group.guard == GroupSettings::Guard::kMajority) {
    const uint32_t voters = group.voters.value_or(std::min<uint32_t>(count, kMaxVoters));
    if (voters > count) refuse("there are fewer nodes than voters");
    cluster_->set_voters(voters);
  }
  cluster_->add(count);
}

Cluster& ScenarioRunner::cluster() {
  if (!cluster_) refuse("there is no group yet; begin with 'nodes 1..5'");
  return *cluster_;
}

bool ScenarioRunner::is_variant(const std::string& word) const {
  const char* const* variant = settings_.plugin->variants;
  while (*variant != nullptr && word != *variant) ++variant;
  return *variant != nullptr;
}

uint32_t ScenarioRunner::process(const std::string& word) {
  const uint64_t number = parse_number(word);
  const uint64_t first = cluster().first_number();
  if (number < first || number >= first + cluster().size()) refuse("there is no node " + word);
  return static_cast<uint32_t>(number - first);
}

std::vector<uint32_t> ScenarioRunner::processes(Words& words) {
  const auto is_node = [](std::string_view word) {
    return std::isdigit(static_cast<unsigned char>(word.front())) != 0 ||
           is_part(word.substr(0, word.find(',')));
  };
  if (words.is_empty() || !is_node(words.peek())) throw std::invalid_argument("which nodes?");
  std::vector<uint32_t> result;
  while (!words.is_empty() && is_node(words.peek())) {
    add_processes(words.take("the nodes"), result);
  }
  return result;
}

bool ScenarioRunner::is_part(std::string_view word) {
  return word == "leader" || word == "next" || word == "others";
}

// Who plays this part now; nobody while nobody leads.
std::vector<uint32_t> ScenarioRunner::players(std::string_view part) {
  const auto epoch_led = [this](uint32_t process) -> uint64_t {
    const bool leads = cluster().is_running(process) && cluster().node(process).is_leading();
    return leads ? cluster().node(process).leader()->epoch : 0;
  };
  std::optional<uint32_t> leader;
  for (uint32_t process = 0; process < cluster().size(); ++process) {
    if (epoch_led(process) > (leader ? epoch_led(*leader) : 0)) leader = process;
  }
  if (!leader) return {};
  if (part == "leader") return {*leader};
  std::vector<uint32_t> others;
  std::optional<uint32_t> next;
  const auto rank_of = [this](uint32_t process) {
    return cluster().node(process).members().self().rank();
  };
  for (uint32_t process = 0; process < cluster().size(); ++process) {
    if (process == *leader) continue;
    others.push_back(process);
    const bool may_lead = cluster().is_running(process) && cluster().node(process).may_lead();
    if (may_lead && (!next || rank_of(*next) < rank_of(process))) next = process;
  }
  if (part == "others") return others;
  return next ? std::vector<uint32_t>{*next} : std::vector<uint32_t>{};
}

// "3", "3..5", "leader", or several of them with commas in between.
void ScenarioRunner::add_processes(const std::string& list, std::vector<uint32_t>& result) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    if (is_part(item)) {
      const std::vector<uint32_t> named = players(item);
      result.insert(result.end(), named.begin(), named.end());
      continue;
    }
    const size_t dots = item.find("..");
    const uint32_t from = process(item.substr(0, dots));
    const uint32_t to = dots == std::string::npos ? from : process(item.substr(dots + 2));
    if (to < from) throw std::invalid_argument("'" + item + "' names nobody");
    for (uint32_t number = from; number <= to; ++number) result.push_back(number);
  }
}

// Each end is one node, or a part; who plays both is left out.
std::vector<Pair> ScenarioRunner::pairs(const std::string& from, const std::string& to) {
  const auto end = [this](const std::string& word) {
    return is_part(word) ? players(word) : std::vector<uint32_t>{process(word)};
  };
  std::vector<Pair> result;
  for (const uint32_t source : end(from)) {
    for (const uint32_t target : end(to)) {
      if (source != target) result.emplace_back(source, target);
    }
  }
  return result;
}

std::vector<Pair> ScenarioRunner::directions(Words& words) {
  std::vector<Pair> result;
  do {
    const std::string& word = words.take("the direction");
    const size_t arrow = word.find("->");
    if (arrow == std::string::npos || arrow == 0) {
      throw std::invalid_argument("'" + word + "' is not a direction such as 1->2 or 1<->2");
    }
    const bool is_both = word[arrow - 1] == '<';
    const std::string from = word.substr(0, is_both ? arrow - 1 : arrow);
    const std::string to = word.substr(arrow + 2);
    if (from == to) throw std::invalid_argument("'" + word + "' leads nowhere");
    for (const auto& [source, target] : pairs(from, to)) {
      result.emplace_back(source, target);
      if (is_both) result.emplace_back(target, source);
    }
  } while (!words.is_empty());
  return result;
}

void ScenarioRunner::refuse(const std::string& text) const {
  throw ScenarioError(file_ + ":" + std::to_string(line_) + ": " + text);
}

void ScenarioRunner::fail(const std::string& expected, const std::string& found) {
  if (has_failed()) return;
  failure_ = file_ + ":" + std::to_string(line_) + ": expected " + expected + "; found: " + found;
}

void ScenarioRunner::settle() {
  counted_before_ = settled_;
  if (!cluster().settle() && !cluster().referee().violation()) {
    fail("the group to come to rest", "it is still busy after two minutes");
  }
  settled_ = counts_so_far();
}

ScenarioRunner::Counts ScenarioRunner::counts_so_far() {
  Counts counts{.messages = cluster().messages(),
                .claims = cluster().referee().claims(),
                .requests = cluster().store_requests()};
  for (uint32_t process = 0; process < cluster().size(); ++process) {
    if (!cluster().is_running(process)) continue;
    const size_t listed = cluster().node(process).members().all().size();
    counts.longest_list = std::max(counts.longest_list, listed);
  }
  return counts;
}

ScenarioRunner::Counts ScenarioRunner::counts() {
  Counts counts = counts_so_far();
  for (size_t i = 0; i < kFrameTypes; ++i) counts.messages[i] -= counted_before_.messages[i];
  counts.claims -= counted_before_.claims;
  counts.requests -= counted_before_.requests;
  counts.longest_list = std::max(counts.longest_list, counted_before_.longest_list);
  return counts;
}

}  // namespace bellwether::simulator
