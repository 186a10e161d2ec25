// Counts one election's messages by running it.
#include "simulator/message_table.hh"

#include <stdexcept>

#include "core/plugin_facts.hh"

namespace bellwether::simulator {
namespace {

std::string wrong_leader(const Cluster& cluster, uint32_t expected) {
  const Cluster::Agreement agreement = cluster.agreement();
  const std::string found =
      agreement.leader ? cluster.name_of(*agreement.leader) + " leads" : agreement.dissent;
  return found + " instead of " + cluster.name_of(expected) + " leading";
}

}  // namespace

const char* name(Initiator initiator) {
  switch (initiator) {
    case Initiator::kLowest:
      return "the lowest noticed";
    case Initiator::kHighest:
      return "the next in line noticed";
    case Initiator::kAll:
      return "all noticed at once";
  }
  return "?";
}

TableRow measure(const TableQuery& query) {
  const uint32_t size = query.processes;
  const auto tell = [&](const char* what) {
    if (query.progress)
      query.progress(query.variant + ", " + std::to_string(size) + " processes: " + what);
  };
  // The papers' own setting; only that the group is brought up without needless elections.
  ClusterOptions options;
  options.plugin = query.plugin;
  options.node = textbook_options();
  options.node.variant = query.variant;
  options.node.query_first = true;
  options.detection = Detection::kScripted;
  options.seed = query.seed;
  Cluster cluster(options);
  cluster.add(size);
  const uint32_t highest = size - 1;
  tell("the group starts");
  for (uint32_t process = 0; process < size; ++process) cluster.start(process);
  if (!cluster.settle() || cluster.agreement().leader != highest) {
    throw std::runtime_error("at the start, " + wrong_leader(cluster, highest));
  }

  tell("the leader is dead, the election runs");
  const MessageCounts before = cluster.messages();
  cluster.kill(highest);
  const bool lowest_sees = query.initiator != Initiator::kHighest;
  const bool highest_sees = query.initiator != Initiator::kLowest;
  for (uint32_t process = 0; process < highest; ++process) {
    const bool sees = (process == 0 && lowest_sees) || (process + 1 == highest && highest_sees) ||
                      query.initiator == Initiator::kAll;
    if (sees) cluster.detect(process, highest, true);
  }
  if (!cluster.settle() || cluster.agreement().leader != highest - 1) {
    throw std::runtime_error("after the election, " + wrong_leader(cluster, highest - 1));
  }
  const auto count_of = [&](FrameType type) {
    return cluster.messages()[static_cast<size_t>(type)] - before[static_cast<size_t>(type)];
  };
  return {.variant = query.variant,
          .processes = size,
          .election = count_of(FrameType::kElection),
          .answer = count_of(FrameType::kAnswer),
          .handover = count_of(FrameType::kHandover),
          .coordinator = count_of(FrameType::kCoordinator),
          .expected = closed_form(*query.plugin, query.variant, size, query.initiator)};
}

std::optional<uint64_t> closed_form(const election_plugin& plugin, const std::string& variant,
                                    uint32_t processes, Initiator initiator) {
  if (initiator == Initiator::kAll) return std::nullopt;
  const uint32_t highest = processes - 1;
  ElectionCase election{.initiator = initiator == Initiator::kLowest ? 0 : highest - 1,
                        .lost = highest,
                        .asks_suspected = true};
  election.members.resize(processes, {.marks = ELECTION_MEMBER_ELECTABLE});
  election.members[highest].marks = ELECTION_MEMBER_SUSPECT;
  const auto price = price_of(plugin, variant, election);
  if (!price) return std::nullopt;
  return price->election + price->answer + price->handover + price->coordinator;
}

}  // namespace bellwether::simulator
