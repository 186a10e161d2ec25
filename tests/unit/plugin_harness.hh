// Drives one instance of the bully plugin by hand, through the C interface that the sidecar uses.
// Members are called by their number, a higher number is a higher rank, and what the plugin answers
// comes back as one line of words:  "collecting, ELECTION to 4, ELECTION to 5".
#pragma once

#include <bellwether/election_plugin.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::tests {

class PluginHarness {
 public:
  static constexpr uint64_t kAnswerTimeoutMs = 100;
  static constexpr uint64_t kCoordinatorTimeoutMs = 350;
  static constexpr uint32_t kNobody = 0;
  // What wait_ms() says when the plugin wants no TIMEOUT.
  static constexpr uint64_t kNoDeadline = UINT64_MAX;

  struct Setup {
    const char* variant = "classic";
    uint32_t members = 5;  // numbered from 1
    uint32_t self = 3;
    bool sticky = true;
    bool ask_suspected = false;
    uint64_t first_round = 0;
  };

  explicit PluginHarness(const Setup& setup) : self_(setup.self) {
    election_config config{};
    config.size = sizeof config;
    config.flags = (setup.sticky ? uint32_t{ELECTION_CONFIG_STICKY} : 0u) |
                   (setup.ask_suspected ? uint32_t{ELECTION_CONFIG_ASK_SUSPECTED} : 0u);
    config.self = id(setup.self);
    config.variant = setup.variant;
    config.answer_timeout_ns = kAnswerTimeoutMs * kMs;
    config.coordinator_timeout_ns = kCoordinatorTimeoutMs * kMs;
    config.first_round = setup.first_round;
    instance_ = plugin().create(&config);
    for (uint32_t number = 1; number <= setup.members; ++number) add(number);
  }
  ~PluginHarness() { plugin().destroy(instance_); }
  PluginHarness(const PluginHarness&) = delete;
  PluginHarness& operator=(const PluginHarness&) = delete;

  static const election_plugin& plugin() { return bellwether_election_plugin; }
  static election_id id(uint32_t number) {
    election_id result{};
    result.bytes[14] = static_cast<uint8_t>(number >> 8);
    result.bytes[15] = static_cast<uint8_t>(number);
    return result;
  }
  static uint32_t number(const election_id& id) {
    return (uint32_t{id.bytes[14]} << 8) | id.bytes[15];
  }

  // --- what the host knows; the plugin sees it with the next event ---
  void add(uint32_t number) {
    election_member member{};
    member.id = id(number);
    member.priority = 100;
    member.marks = ELECTION_MEMBER_ELECTABLE;
    members_.insert(members_.begin() + index_of_at_least(number), member);
  }
  void remove(uint32_t number) { members_.erase(members_.begin() + index(number)); }
  void mark_suspect(uint32_t number) { at(number).marks |= uint32_t{ELECTION_MEMBER_SUSPECT}; }
  void mark_alive(uint32_t number) { at(number).marks &= ~uint32_t{ELECTION_MEMBER_SUSPECT}; }
  void mark_not_electable(uint32_t number) {
    at(number).marks &= ~uint32_t{ELECTION_MEMBER_ELECTABLE};
  }
  void know_leader(uint32_t number) { leader_ = number; }
  void pass_ms(uint64_t ms) { now_ns_ += ms * kMs; }

  // --- events; each returns the plugin's actions ---
  std::string elect(uint32_t reason = ELECTION_REASON_LEADER_LOST) {
    return event(ELECTION_EVENT_ELECT, reason);
  }
  std::string stand_down() { return event(ELECTION_EVENT_STAND_DOWN); }
  // The deadline passes.
  std::string time_out() {
    now_ns_ = std::max(now_ns_, deadline_ns_);
    return event(ELECTION_EVENT_TIMEOUT);
  }
  std::string tell_members() { return event(ELECTION_EVENT_MEMBERS); }
  std::string suspect(uint32_t number) {
    mark_suspect(number);
    return tell_members();
  }
  std::string tell_leader(uint32_t number, uint32_t reason = ELECTION_REASON_ANNOUNCED) {
    leader_ = number;
    return event(ELECTION_EVENT_LEADER, reason);
  }
  std::string receive_election(uint32_t from, bool is_called = false, uint64_t round = 77) {
    return message(from, ELECTION_MESSAGE_ELECTION, is_called ? ELECTION_FLAG_CALLED : 0, round);
  }
  // An answer to the round that this process holds.
  std::string receive_answer(uint32_t from) { return receive_answer_to(round_, from); }
  std::string receive_answer_to(uint64_t round, uint32_t from) {
    return message(from, ELECTION_MESSAGE_ANSWER,
                   uint32_t{ELECTION_FLAG_ELECTABLE} | uint32_t{ELECTION_FLAG_TAKES_PART}, round);
  }
  std::string receive_unelectable_answer(uint32_t from) {
    return message(from, ELECTION_MESSAGE_ANSWER, ELECTION_FLAG_TAKES_PART, round_);
  }
  std::string receive_handover(uint32_t from, const std::vector<uint32_t>& asked,
                               bool is_called = false) {
    std::vector<election_id> ids;
    for (const uint32_t number : asked) ids.push_back(id(number));
    return message(from, ELECTION_MESSAGE_HANDOVER, is_called ? ELECTION_FLAG_CALLED : 0, 77, ids);
  }
  std::string message(uint32_t from, uint32_t kind, uint32_t flags, uint64_t round,
                      const std::vector<election_id>& ids = {}) {
    election_event event{};
    event.type = ELECTION_EVENT_MESSAGE;
    event.from = static_cast<uint32_t>(index(from));
    event.message.kind = kind;
    event.message.flags = flags;
    event.message.round = round;
    event.message.ids = ids.empty() ? nullptr : ids.data();
    event.message.id_count = static_cast<uint32_t>(ids.size());
    return step(event);
  }
  std::string event(uint32_t type, uint32_t reason = ELECTION_REASON_NONE) {
    election_event event{};
    event.type = type;
    event.reason = reason;
    event.from = ELECTION_NOBODY;
    return step(event);
  }

  // --- what it answered besides ---
  // How long until TIMEOUT, as the last step stated it.
  uint64_t wait_ms() const {
    return deadline_ns_ == ELECTION_NO_DEADLINE ? kNoDeadline : (deadline_ns_ - now_ns_) / kMs;
  }
  // The round of the last ELECTION or HANDOVER it sent.
  uint64_t round() const { return round_; }
  // The round of the last ANSWER it sent.
  uint64_t answered_round() const { return answered_round_; }
  // The text of the last state it entered.
  const std::string& reason() const { return reason_; }
  bool has_instance() const { return instance_ != nullptr; }

 private:
  static constexpr uint64_t kMs = 1'000'000;

  std::ptrdiff_t index_of_at_least(uint32_t wanted) const {
    return std::count_if(members_.begin(), members_.end(),
                         [&](const election_member& member) { return number(member.id) < wanted; });
  }
  std::ptrdiff_t index(uint32_t number) const { return index_of_at_least(number); }
  election_member& at(uint32_t number) { return members_[static_cast<size_t>(index(number))]; }

  std::string step(election_event& event) {
    event.now_ns = now_ns_;
    event.members = members_.data();
    event.member_count = static_cast<uint32_t>(members_.size());
    event.self = static_cast<uint32_t>(index(self_));
    event.leader = leader_ == kNobody ? ELECTION_NOBODY : static_cast<uint32_t>(index(leader_));
    election_output output{};
    output.deadline_ns = ELECTION_NO_DEADLINE;
    if (plugin().step(instance_, &event, &output) != 0) return "failed";
    deadline_ns_ = output.deadline_ns;
    std::string words;
    for (uint32_t i = 0; i < output.action_count; ++i) {
      words += (words.empty() ? "" : ", ") + describe(output.actions[i]);
    }
    return words;
  }

  std::string describe(const election_action& action) {
    if (action.type == ELECTION_ACTION_STATE) {
      reason_ = action.text;
      return state_name(action.state);
    }
    std::string ids;
    for (uint32_t i = 0; i < action.message.id_count; ++i) {
      ids += " " + std::to_string(number(action.message.ids[i]));
    }
    if (action.type == ELECTION_ACTION_CLAIM) return ids.empty() ? "CLAIM" : "CLAIM silent" + ids;
    const uint32_t kind = action.message.kind;
    (kind == ELECTION_MESSAGE_ANSWER ? answered_round_ : round_) = action.message.round;
    return kind_name(kind) + " to " + std::to_string(number(members_[action.to].id)) +
           flag_names(action.message.flags) + (ids.empty() ? "" : " asked" + ids);
  }

  static std::string state_name(uint32_t state) {
    static constexpr const char* kNames[] = {"idle", "collecting", "waiting", "halted", "claiming"};
    return kNames[state];
  }
  static std::string kind_name(uint32_t kind) {
    static constexpr const char* kNames[] = {"?", "ELECTION", "ANSWER", "HANDOVER"};
    return kNames[kind];
  }
  static std::string flag_names(uint32_t flags) {
    std::string words;
    if ((flags & ELECTION_FLAG_ELECTABLE) != 0) words += " electable";
    if ((flags & ELECTION_FLAG_TAKES_PART) != 0) words += " in";
    if ((flags & ELECTION_FLAG_CALLED) != 0) words += " called";
    return words;
  }

  uint32_t self_;
  election_instance* instance_ = nullptr;
  std::vector<election_member> members_;
  uint32_t leader_ = kNobody;
  uint64_t now_ns_ = 1'000 * kMs;
  uint64_t deadline_ns_ = ELECTION_NO_DEADLINE;
  uint64_t round_ = 0;
  uint64_t answered_round_ = 0;
  std::string reason_;
};

}  // namespace bellwether::tests
