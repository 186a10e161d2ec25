// The node harness: words for effects, and the ways into each role.
#include "node_harness.hh"

#include <boost/test/unit_test.hpp>

namespace bellwether::tests {
namespace {

struct Words {
  std::string operator()(const Send& send) const {
    return std::string(name(type_of(send.frame))) + " to " + std::to_string(number_of(send.to));
  }
  std::string operator()(const RefuseLink& refuse) const {
    return "refuse " + std::to_string(number_of(refuse.peer));
  }
  std::string operator()(const EndLink& link) const {
    return "end the link to " + std::to_string(number_of(link.peer));
  }
  std::string operator()(const Persist& store) const {
    return "store " + std::to_string(store.record.max_epoch);
  }
  std::string operator()(const PersistMembers&) const { return "store members"; }
  std::string operator()(const StoreRead&) const { return "read"; }
  std::string operator()(const StoreWrite& write) const {
    using Holder = StoreRecord::Holder;
    const StoreRecord& record = write.record;
    const std::string to = record.holder == Holder::kMember ? std::to_string(number_of(record.id))
                           : record.holder == Holder::kReleased ? "nobody"
                                                                : "unknown";
    const std::string epoch = record.epoch == 0 ? "" : " in " + std::to_string(record.epoch);
    return "write " + to + epoch + (write.expected.empty() ? "" : " over " + write.expected);
  }
  std::string operator()(const StoreWatch& watch) const {
    return watch.is_wanted ? "watch" : "watch no longer";
  }
  std::string operator()(const Publish& publish) const {
    if (!publish.leader) return "no leader";
    const std::string epoch = " in " + std::to_string(publish.epoch);
    if (publish.is_leader) return "leads" + epoch;
    return "follows " + std::to_string(number_of(*publish.leader)) + epoch;
  }
  std::string operator()(const MembersChanged&) const { return "members changed"; }
  std::string operator()(const DrainBegun&) const { return "asks to finish"; }
  std::string operator()(const DrainEnded& ended) const { return name(ended.end); }
  std::string operator()(const Progress&) const { return ""; }
  std::string operator()(const TimedOut&) const { return ""; }
  std::string operator()(const Stale&) const { return ""; }
  std::string operator()(const Rejected&) const { return ""; }
  std::string operator()(const Sighting&) const { return ""; }
  std::string operator()(const Remark&) const { return ""; }
  std::string operator()(const Outcome& outcome) const {
    switch (outcome.kind) {
      case Outcome::Kind::kDone:
        return "done";
      case Outcome::Kind::kNotLeader:
        return "not leader";
      case Outcome::Kind::kUnknownMember:
        return "unknown member";
      case Outcome::Kind::kStillThere:
        return "still there";
      case Outcome::Kind::kNotEligible:
        return "not eligible";
    }
    return "?";
  }
  std::string operator()(const Left&) const { return "left"; }
  std::string operator()(const Failed& failed) const { return "failed: " + failed.text; }
};

struct Reported {
  std::string operator()(const TimedOut& timeout) const { return name(timeout.what); }
  std::string operator()(const Stale& stale) const { return name(stale.type); }
  std::string operator()(const Rejected& rejected) const { return words(rejected.why); }
  std::string operator()(const Remark& remark) const { return remark.text; }
};

void append(std::string& words, const std::string& more) {
  if (!more.empty()) words += (words.empty() ? "" : ", ") + more;
}

template <typename Wanted, typename Telling = Words>
std::string words_of(const Effects& effects) {
  std::string words;
  for (const Effect& effect : effects) {
    if (const auto* wanted = std::get_if<Wanted>(&effect)) append(words, Telling()(*wanted));
  }
  return words;
}

}  // namespace

Uuid uuid(uint32_t number) {
  Uuid id{};
  for (size_t i = 0; i < 4; ++i) id.data[12 + i] = static_cast<uint8_t>(number >> (8 * (3 - i)));
  return id;
}

uint32_t number_of(const Uuid& id) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | id.data[12 + i];
  return number;
}

MemberEntry member_entry(uint32_t number, uint32_t priority, uint64_t boot) {
  return {.id = uuid(number),
          .name = "node-" + std::to_string(number),
          .address = "10.0.0." + std::to_string(number) + ":7946",
          .priority = priority,
          .boot = boot,
          .home = home(number)};
}

std::string sent(const Effects& effects) { return words_of<Send>(effects); }
std::string outcome(const Effects& effects) { return words_of<Outcome>(effects); }

std::string published(const Effects& effects) {
  std::string words;
  for (const Effect& effect : effects) {
    const auto* publish = std::get_if<Publish>(&effect);
    if (publish != nullptr && publish->why) append(words, Words()(*publish));
  }
  return words;
}

std::string everything(const Effects& effects) {
  std::string words;
  for (const Effect& effect : effects) append(words, std::visit(Words(), effect));
  return words;
}

template <typename Report>
std::string reported(const Effects& effects) {
  return words_of<Report, Reported>(effects);
}
template std::string reported<TimedOut>(const Effects&);
template std::string reported<Stale>(const Effects&);
template std::string reported<Rejected>(const Effects&);
template std::string reported<Remark>(const Effects&);

std::optional<Publish> last_publish(const Effects& effects) {
  std::optional<Publish> last;
  for (const Effect& effect : effects) {
    if (const auto* publish = std::get_if<Publish>(&effect)) last = *publish;
  }
  return last;
}

NodeHarness::NodeHarness(const NodeSetup& setup)
    : node_(*setup.plugin, setup.options, member_entry(setup.self, setup.priority), setup.record,
            setup.known),
      start_(setup.start) {}

Effects NodeHarness::step(const Input& input) {
  self_check_.before_step(now_, input);
  Effects effects = node_.step(now_, input);
  broken_ = self_check_.broken_by_step(effects).value_or("");
  if (judges_) BOOST_TEST(broken_ == "");
  return effects;
}

Effects NodeHarness::run_for(Duration duration) {
  const Instant until = now_ + duration;
  Effects all;
  while (node_.deadline() <= until) {
    now_ = std::max(now_, node_.deadline());
    for (Effect& effect : step(Tick{})) all.push_back(std::move(effect));
  }
  now_ = until;
  return all;
}

Hello NodeHarness::hello_of(uint32_t number, uint64_t epoch, std::optional<LeaderHint> leader) {
  const bool leads = leader && leader->id == uuid(number);
  return {.header = {.epoch = epoch, .released = leads ? epoch - 1 : epoch},
          .self = member_entry(number),
          .leader = leader,
          .view = {}};
}

Effects NodeHarness::connect(uint32_t number, uint64_t epoch, std::optional<LeaderHint> leader) {
  Hello hello = hello_of(number, epoch, leader);
  hello.voters = node_.hello().voters;
  return connect(hello);
}

Effects NodeHarness::receive_answer(uint32_t from, bool is_electable,
                                    std::optional<LeaderHint> leader) {
  ElectionFrame answer{.kind = ELECTION_MESSAGE_ANSWER,
                       .flags = is_electable ? uint32_t{ELECTION_FLAG_ELECTABLE} : 0u};
  answer.leader = leader;
  return receive(from, max_epoch(), std::move(answer), max_epoch());
}

Effects NodeHarness::acknowledge(uint32_t from, bool is_electable,
                                 std::optional<ViewVersion> view) {
  const auto& leading = std::get<Leading>(node_.role());
  return receive(from, leading.epoch,
                 HeartbeatAck{.sequence = node_.sequence(),
                              .view = view.value_or(node_.members().version()),
                              .is_electable = is_electable},
                 leading.epoch);
}

Effects NodeHarness::connect_as_witness(uint32_t number) {
  Hello hello = hello_of(number);
  hello.self.is_electable = false;
  hello.voters = node_.hello().voters;
  return connect(hello);
}

NodeHarness& NodeHarness::join() {
  step(start_);
  for (uint32_t number = 1; number <= 5; ++number) {
    if (uuid(number) != node_.members().self().id) connect(number);
  }
  return *this;
}

NodeHarness& NodeHarness::follow(uint32_t leader, uint64_t epoch) {
  join();
  receive(leader, epoch, Coordinator{});
  return *this;
}

NodeHarness& NodeHarness::lead() {
  join();
  for (uint32_t number = 1; number <= 5; ++number) {
    if (node_.members().self().id < uuid(number)) disconnect(number, LinkEvidence::kRefused);
  }
  step(Joined{});
  run_for(Duration::zero());
  for (uint32_t number = 1; number <= 5; ++number) {
    if (node_.members().self().id < uuid(number)) {
      connect_as_witness(number);
    }
  }
  return *this;
}

std::string NodeHarness::role() const {
  if (node_.is_asking()) return "asks " + std::to_string(number_of(node_.leader()->id));
  if (std::holds_alternative<Joining>(node_.role())) return "joining";
  if (const auto* claiming = std::get_if<Claiming>(&node_.role())) {
    return "claims " + std::to_string(claiming->epoch);
  }
  const auto leader = node_.leader();
  if (!leader) return "leaderless";
  const std::string epoch = " in " + std::to_string(leader->epoch);
  const auto* following = std::get_if<Following>(&node_.role());
  if (following != nullptr && !following->is_effective) {
    return "granted " + std::to_string(number_of(leader->id)) + epoch;
  }
  return node_.is_leading() ? "leads" + epoch
                            : "follows " + std::to_string(number_of(leader->id)) + epoch;
}

std::string NodeHarness::liveness_of(uint32_t number) const {
  const Member* member = node_.members().find(uuid(number));
  return member == nullptr ? "unknown" : name(member->entry.liveness);
}

Duration NodeHarness::wait_of(Timer timer) const {
  const Instant deadline = node_.timers().deadline(timer);
  return deadline == kNever ? Duration::zero() : deadline - now_;
}

}  // namespace bellwether::tests
