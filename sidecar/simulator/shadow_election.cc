// Brings the virtual group to the brink of the election, and counts from there.
#include "simulator/shadow_election.hh"

#include "base/check.hh"
#include "simulator/cluster.hh"

namespace bellwether::simulator {
namespace {

// It ranks lowest and is never there, so nobody asks it and nobody tells it anything.  But the
// others have not met all members, so they go on looking for a leader and hold no election by
// themselves.
constexpr uint32_t kAbsentee = 0;

// The process that plays a member.
uint32_t process_of(size_t member) { return kAbsentee + 1 + static_cast<uint32_t>(member); }

// Only what makes the election of these facts another one is as it was.  Who was asked took part,
// so here nobody stays with a leader; one begins, so nobody takes turns with it.
ClusterOptions options_of(const election_plugin& plugin, const std::string& variant,
                          bool asks_suspected) {
  ClusterOptions options;
  options.plugin = &plugin;
  options.detection = Detection::kScripted;
  options.node.variant = variant;
  options.node.sticky = false;
  options.node.stagger = false;
  options.node.preempt = Preempt::kOff;
  options.node.skip_suspected = !asks_suspected;
  options.node.join_timeout = std::chrono::hours(24);
  return options;
}

// Everybody is connected with all who live; nobody leads.  Who has never been heard is nobody to
// hope for.  False: they do not come to rest.
bool gather(Cluster& cluster, const ElectionFacts& facts) {
  cluster.add(process_of(facts.members.size()));
  for (size_t member = 0; member < facts.members.size(); ++member) {
    const bool is_there = !facts.members[member].is_gone || member == facts.lost_leader;
    if (is_there) cluster.start(process_of(member));
  }
  return cluster.settle();
}

}  // namespace

// Who never may lead, by its priority, ranks below all who may: nobody above the initiator does.
std::optional<ShadowFlaw> shadow_flaw_of(const ElectionFacts& facts) {
  if (facts.members.size() > kMaxShadowMembers) return ShadowFlaw::kTooLarge;
  for (size_t member = facts.initiator; member < facts.members.size(); ++member) {
    const bool is_held = !facts.members[member].may_lead && !facts.members[member].is_gone;
    if (is_held) return ShadowFlaw::kHeld;
  }
  return std::nullopt;
}

std::optional<ShadowCounts> hold_shadow_election(const election_plugin& plugin,
                                                 const std::string& variant,
                                                 const ElectionFacts& facts) {
  check(!shadow_flaw_of(facts), "only what the virtual cluster can show is held again");
  check(facts.initiator < facts.members.size() && !facts.members[facts.initiator].is_gone,
        "who begins an election is there");
  Cluster cluster(options_of(plugin, variant, facts.asks_suspected));
  if (!gather(cluster, facts)) return std::nullopt;

  const MessageCounts before = cluster.messages();
  const uint32_t initiator = process_of(facts.initiator);
  if (facts.lost_leader) {
    cluster.kill(process_of(*facts.lost_leader));
    cluster.detect(initiator, process_of(*facts.lost_leader), true);
  }
  cluster.command(initiator, Joined{});
  if (!cluster.settle() || !cluster.agreement().leader) return std::nullopt;
  ShadowCounts counts = cluster.messages();
  for (size_t type = 0; type < counts.size(); ++type) counts[type] -= before[type];
  return counts;
}

}  // namespace bellwether::simulator
