// Who leads, as everybody outside is told: the present state, the last changes, and who wants to
// hear of the next one.  Fed with what the node publishes; answers, events and webhooks all come
// from here, so they cannot contradict each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_time.hh"
#include "core/effects.hh"
#include "core/members.hh"

namespace bellwether::api {

struct NamedLeader {
  Uuid id{};
  std::string name;
  std::string address;  // host:port
};

// One state of affairs, from one change to the next.
struct Leadership {
  std::optional<NamedLeader> leader{};  // nullopt: none is known
  bool is_self = false;                 // the leader is this node
  uint64_t epoch = 0;                   // without a leader: of the last one, so it never falls
  WallTime since{};
  uint64_t index = 1;  // one more with each change, while this process lives
  std::string reason;  // for which the leader changed, or was lost: then
  bool is_draining =
      false;           // this node leads, and lets its application finish before it hands over
  WallTime changed{};  // when it became so; `since`: when the leader changed
};

class LeadershipListener {
 public:
  virtual ~LeadershipListener() = default;
  // Must not subscribe or unsubscribe anybody.
  virtual void on_change(const Leadership& leadership) = 0;
};

class LeadershipFeed {
 public:
  // How many changes are kept for those who were away.
  static constexpr size_t kMaxKept = 256;

  // Nobody leads yet; that is the state with index 1.
  explicit LeadershipFeed(WallTime now);

  // Each Publish of the node, in order.  `members` is the node's: it names the leader.  Listeners
  // are told of a change before this returns.
  void on_publish(const Publish& publish, const Members& members, WallTime now);

  const Leadership& current() const { return changes_.back(); }
  // The last kMaxKept, oldest first.
  const std::deque<Leadership>& changes() const { return changes_; }

  // Whether this node leads, and for how much longer unless it is renewed; zero when it does not.
  // A node that did not get to renew leads no longer, though it was not published yet.
  bool is_leading(Instant now) const { return current().is_self && now < valid_until_; }
  Duration valid_for(Instant now) const {
    return is_leading(now) ? valid_until_ - now : Duration::zero();
  }

  // The changes after the one with this epoch and index, oldest first; none when that one is not
  // known here (it is too old, or of an earlier process).
  std::vector<Leadership> changes_after(uint64_t epoch, uint64_t index) const;

  // A listener must unsubscribe before its end.
  void subscribe(LeadershipListener& listener) { listeners_.push_back(&listener); }
  void unsubscribe(const LeadershipListener& listener) { std::erase(listeners_, &listener); }

 private:
  std::deque<Leadership> changes_;  // never empty
  Instant valid_until_{};
  std::vector<LeadershipListener*> listeners_;
};

}  // namespace bellwether::api
