// One scenario under way: its words become processes, directions and durations.
#include "simulator/scenario_runner.hh"

#include <cctype>

#include "simulator/scenario_verbs.hh"

namespace bellwether::simulator {

ScenarioRunner::ScenarioRunner(std::string file, ScenarioSettings settings, bool keeps_trace)
    : file_(std::move(file)),
      settings_(std::move(settings)),
      keeps_trace_(keeps_trace),
      variant_(settings_.variant) {}

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

void ScenarioRunner::begin_trace() {
  if (cluster_) cluster_->set_trace_origin(cluster_->now());
}

void ScenarioRunner::create(const GroupSettings& group, uint32_t count) {
  variant_ = group.variant.value_or(settings_.variant);
  ClusterOptions options = group.cluster;
  options.plugin = settings_.plugin;
  options.node.variant = variant_;
  options.node.broken_rules = settings_.broken_rules;
  first_number_ = group.first_number;
  cluster_ = std::make_unique<Cluster>(std::move(options));
  cluster_->set_first_number(first_number_);
  if (keeps_trace_ || settings_.trace) {
    cluster_->trace_to([this](const std::string& line) {
      if (keeps_trace_) trace_.push_back(line);
      if (settings_.trace) settings_.trace(line);
    });
  }
  if (group.is_guarded) {
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
  if (number < first_number_ || number >= first_number_ + uint64_t{cluster().size()}) {
    refuse("there is no node " + word);
  }
  return static_cast<uint32_t>(number - first_number_);
}

std::vector<uint32_t> ScenarioRunner::processes(Words& words) {
  std::vector<uint32_t> result;
  while (!words.is_empty() && std::isdigit(static_cast<unsigned char>(words.peek().front())) != 0) {
    add_processes(words.take("the nodes"), result);
  }
  if (result.empty()) throw std::invalid_argument("which nodes?");
  return result;
}

// "3", "3..5", or several of them with commas in between.
void ScenarioRunner::add_processes(const std::string& list, std::vector<uint32_t>& result) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    const size_t dots = item.find("..");
    const uint32_t from = process(item.substr(0, dots));
    const uint32_t to = dots == std::string::npos ? from : process(item.substr(dots + 2));
    if (to < from) throw std::invalid_argument("'" + item + "' names nobody");
    for (uint32_t number = from; number <= to; ++number) result.push_back(number);
  }
}

std::vector<Pair> ScenarioRunner::directions(Words& words) {
  std::vector<Pair> result;
  do {
    const std::string& word = words.take("the direction");
    const size_t arrow = word.find("->");
    if (arrow == std::string::npos || arrow == 0) {
      throw std::invalid_argument("'" + word + "' is no direction such as 1->2 or 1<->2");
    }
    const bool is_both = word[arrow - 1] == '<';
    const uint32_t from = process(word.substr(0, is_both ? arrow - 1 : arrow));
    const uint32_t to = process(word.substr(arrow + 2));
    if (from == to) throw std::invalid_argument("'" + word + "' leads nowhere");
    result.emplace_back(from, to);
    if (is_both) result.emplace_back(to, from);
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
  window_ = settled_;
  if (!cluster().settle() && !cluster().referee().violation()) {
    fail("the group to come to rest", "it is still busy after two minutes");
  }
  settled_ = here();
}

void ScenarioRunner::mark() { window_ = settled_ = here(); }

ScenarioRunner::Window ScenarioRunner::here() {
  return {.messages = cluster().messages(), .claims = cluster().referee().claims()};
}

uint64_t ScenarioRunner::messages_in_window(std::optional<FrameType> type) {
  uint64_t count = 0;
  for (size_t i = 0; i < kFrameTypes; ++i) {
    const auto candidate = static_cast<FrameType>(i);
    if (type ? candidate != *type : !is_election_type(candidate)) continue;
    count += cluster().messages()[i] - window_.messages[i];
  }
  return count;
}

uint64_t ScenarioRunner::claims_in_window() {
  return cluster().referee().claims() - window_.claims;
}

}  // namespace bellwether::simulator
