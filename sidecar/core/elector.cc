// Values to C structures and back, and what a plugin must not do.
#include "core/elector.hh"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hh"

namespace bellwether {
namespace {

uint64_t to_ns(Instant instant) {
  return static_cast<uint64_t>(instant.time_since_epoch().count());
}

Instant to_instant(uint64_t ns) {
  if (ns >= to_ns(kNever)) return kNever;
  return Instant(Duration(static_cast<Duration::rep>(ns)));
}

}  // namespace

const char* election_state_name(uint32_t state) {
  static constexpr std::array kNames{"idle", "collecting", "waiting", "halted", "claiming"};
  static_assert(kNames.size() == ELECTION_STATE_CLAIMING + 1);
  return state < kNames.size() ? kNames[state] : "other";
}

Elector::Setup::Setup(const Options& options, std::string variant_name)
    : variant(std::move(variant_name)),
      answer_timeout(options.answer_timeout),
      coordinator_timeout(options.coordinator_timeout),
      flags((options.sticky ? uint32_t{ELECTION_CONFIG_STICKY} : 0u) |
            (options.skip_suspected ? 0u : uint32_t{ELECTION_CONFIG_ASK_SUSPECTED})) {}

// Rounds of two lives of one process never meet: a life has 2^32 rounds.
Elector::Elector(const election_plugin& plugin, const Options& options, const Uuid& self)
    : plugin_(plugin),
      self_(self),
      setup_(options, options.variant),
      last_round_(options.seed << 32),
      instance_(nullptr, Destroy{&plugin}) {
  make_instance();
}

bool Elector::adopt(const Options& options, const std::string& variant) {
  check(is_idle(), "an election is not changed while it runs");
  Setup setup(options, variant);
  if (setup == setup_ || !is_working()) return false;
  setup_ = std::move(setup);
  make_instance();
  return true;
}

void Elector::make_instance() {
  election_config config{};
  config.size = sizeof config;
  config.flags = setup_.flags;
  config.self = to_election_id(self_);
  config.variant = setup_.variant.c_str();
  config.answer_timeout_ns = static_cast<uint64_t>(setup_.answer_timeout.count());
  config.coordinator_timeout_ns = static_cast<uint64_t>(setup_.coordinator_timeout.count());
  config.first_round = last_round_;
  instance_.reset(plugin_.create(&config));
  if (!instance_) flaw_ = "plugin made no instance of variant " + setup_.variant;
}

std::span<const election_action> Elector::message(const Situation& situation, uint32_t from,
                                                  const ElectionFrame& frame, uint32_t flags) {
  election_event event{};
  event.type = ELECTION_EVENT_MESSAGE;
  event.from = from;
  event.message.kind = frame.kind;
  event.message.flags = flags;
  event.message.round = frame.round;
  event.message.ids = frame.ids.data();
  event.message.id_count = static_cast<uint32_t>(frame.ids.size());
  return step(event, situation);
}

std::span<const election_action> Elector::event(const Situation& situation, uint32_t type,
                                                uint32_t reason) {
  election_event event{};
  event.type = type;
  event.reason = reason;
  event.from = ELECTION_NOBODY;
  return step(event, situation);
}

std::span<const election_action> Elector::step(election_event& event, const Situation& situation) {
  if (!is_working()) return {};
  event.now_ns = to_ns(situation.now);
  event.members = situation.members.ranked().data();
  event.member_count = static_cast<uint32_t>(situation.members.ranked().size());
  event.self = situation.members.self_index();
  event.leader = situation.leader;
  election_output output{};
  output.deadline_ns = ELECTION_NO_DEADLINE;
  const int32_t result = plugin_.step(instance_.get(), &event, &output);
  if (result < 0) {
    flaw_ = "plugin failed in step with " + std::to_string(result);
    return {};
  }
  deadline_ = to_instant(output.deadline_ns);
  if (output.actions == nullptr && output.action_count > 0) {
    flaw_ = "plugin counted actions that are not there";
    return {};
  }
  int claims = 0;
  const std::span actions(output.actions, output.action_count);
  for (const election_action& action : actions) {
    flaw_ = flaw_of(action, event);
    if (action.type == ELECTION_ACTION_CLAIM && ++claims > 1) flaw_ = "plugin claimed twice";
    if (!is_working()) return {};
    note_round(action);
  }
  return actions;
}

// An ANSWER echoes the round of another.
void Elector::note_round(const election_action& action) {
  const bool is_own =
      action.type == ELECTION_ACTION_SEND && action.message.kind != ELECTION_MESSAGE_ANSWER;
  if (is_own) last_round_ = std::max(last_round_, action.message.round);
}

std::string Elector::flaw_of(const election_action& action, const election_event& event) const {
  if (action.message.id_count > ELECTION_MESSAGE_MAX_IDS) return "plugin named too many ids";
  if (action.message.id_count > 0 && action.message.ids == nullptr) return "plugin named no ids";
  switch (action.type) {
    case ELECTION_ACTION_SEND:
      if (action.to >= event.member_count) return "plugin sent to a member that does not exist";
      if (action.to == event.self) return "plugin sent to its own process";
      if (!is_plugin_message(action.message.kind)) return "plugin sent a message of unknown kind";
      return "";
    case ELECTION_ACTION_CLAIM:
      return "";
    case ELECTION_ACTION_STATE:
      return action.text == nullptr ? "plugin gave no text for a state" : "";
    default:
      return "plugin asked for unknown action " + std::to_string(action.type);
  }
}

}  // namespace bellwether
