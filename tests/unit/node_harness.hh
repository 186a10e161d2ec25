// Steps one Node by hand, with the real bully plugin inside and nothing around it.  Members are
// called by their number, a higher number is a higher rank.  What a step did comes back as Effects,
// and the functions below say in words what is in them.
//
// Every step is judged by the invariants, whatever the case is about.
#pragma once

#include <chrono>
#include <string>

#include "core/node.hh"
#include "core/self_check.hh"

namespace bellwether::tests {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The id of a number, and back.
Uuid uuid(uint32_t number);
uint32_t number_of(const Uuid& id);

// Where its process runs.
constexpr uint64_t home(uint32_t number) { return 100 + number; }

MemberEntry member_entry(uint32_t number, uint32_t priority = 100, uint64_t boot = 1);

// What was sent, in order: "COORDINATOR to 1, COORDINATOR to 2"; "" when nothing was.
std::string sent(const Effects& effects);
// What the application was told: "leads in 3", "follows 5 in 3", "no leader"; without beats.
std::string published(const Effects& effects);
// All of it but the reports, in order: "store 1, leads in 1, COORDINATOR to 1".
std::string everything(const Effects& effects);
// What each TimedOut, Stale, Rejected or Remark says.
template <typename Report>
std::string reported(const Effects& effects);
// The outcome of a command: "done", "not leader", "unknown member", "not eligible".
std::string outcome(const Effects& effects);

// A copy of the first frame of type Body that was sent; and the header of that frame.
template <typename Body>
std::optional<Body> find_sent(const Effects& effects) {
  for (const Effect& effect : effects) {
    const auto* send = std::get_if<Send>(&effect);
    if (send == nullptr) continue;
    if (const auto* body = std::get_if<Body>(&send->frame.body)) return *body;
  }
  return std::nullopt;
}
template <typename Body>
Header header_of_sent(const Effects& effects) {
  for (const Effect& effect : effects) {
    const auto* send = std::get_if<Send>(&effect);
    if (send != nullptr && std::holds_alternative<Body>(send->frame.body)) {
      return send->frame.header;
    }
  }
  return {};
}
std::optional<Publish> last_publish(const Effects& effects);

struct NodeSetup {
  uint32_t self = 3;
  uint32_t priority = 100;
  Record record{};
  Options options{};
  const election_plugin* plugin = &bellwether_election_plugin;
  MemberView known{};
  Start start{};
};

class NodeHarness {
 public:
  explicit NodeHarness(const NodeSetup& setup = {});

  // --- inputs ---
  Effects step(const Input& input);
  Effects tick() { return step(Tick{}); }
  // Time passes; every Tick comes at its moment.
  Effects run_for(Duration duration);
  // Time passes without a Tick, as if the process were stopped.
  void pass(Duration duration) { now_ += duration; }

  // The peer's hello; its epoch and what it has released are alike unless it leads, and its voters
  // are this node's.
  Effects connect(uint32_t number, uint64_t epoch = 0, std::optional<LeaderHint> leader = {});
  Effects connect(const Hello& hello) { return step(LinkUp{hello}); }
  static Hello hello_of(uint32_t number, uint64_t epoch = 0, std::optional<LeaderHint> leader = {});
  Effects disconnect(uint32_t number, LinkEvidence evidence) {
    return step(LinkDown{uuid(number), evidence});
  }
  // A frame; `released` is the epoch before the one it names unless it is given.
  template <typename Body>
  Effects receive(uint32_t from, uint64_t epoch, Body body,
                  std::optional<uint64_t> released = std::nullopt) {
    const Header header{.epoch = epoch, .released = released.value_or(epoch == 0 ? 0 : epoch - 1)};
    return step(FrameReceived{uuid(from), Frame{header, std::move(body)}});
  }
  Effects receive_beat(uint32_t from, uint64_t epoch) {
    return receive(from, epoch, Heartbeat{.sequence = ++beats_});
  }
  Effects receive_answer(uint32_t from, bool is_electable, std::optional<LeaderHint> leader = {});
  // The answer to the latest heartbeat of this node, which leads; its list is this node's own
  // unless `view` says which.
  Effects acknowledge(uint32_t from, bool is_electable = true,
                      std::optional<ViewVersion> view = {});
  // Connects anew, and says in the HELLO that it may not lead.
  Effects connect_as_witness(uint32_t number);

  // --- states to begin from ---
  // Started, connected with 1..5 but itself, and looking for a leader.
  NodeHarness& join();
  // ... and follows `leader` in `epoch`.
  NodeHarness& follow(uint32_t leader = 5, uint64_t epoch = 1);
  // ... and leads, with the next epoch.  The members of higher rank say that they may not lead.
  NodeHarness& lead();

  // --- what there is to see ---
  const Node& node() const { return node_; }
  Instant now() const { return now_; }
  // "joining", "leaderless", "follows 5 in 1", "leads in 1"; "asks 5" for its place; under guard
  // "majority" also "claims 1", and "granted 5 in 1" of a claim that is not effective yet.
  std::string role() const;
  uint64_t max_epoch() const { return node_.record().max_epoch; }
  std::string liveness_of(uint32_t number) const;
  // How long until this timer; zero when it is not armed.
  Duration wait_of(Timer timer) const;

  // A case that breaks a rule on purpose.
  void stop_judging() { judges_ = false; }
  // What the last step has broken; "" when nothing.
  const std::string& broken() const { return broken_; }
  const SelfCheck& self_check() const { return self_check_; }

 private:
  Node node_;
  SelfCheck self_check_{node_};
  Start start_;
  Instant now_{seconds(1000)};
  uint64_t beats_ = 0;
  bool judges_ = true;
  std::string broken_{};
};

}  // namespace bellwether::tests
