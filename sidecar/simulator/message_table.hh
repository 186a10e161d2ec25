// The published result, measured: how many messages one election costs after the highest process
// has died, by kind, for each size of group.  Nothing is computed by formula; the closed forms
// stand beside the counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "simulator/cluster.hh"

namespace bellwether::simulator {

// Who misses the leader.
enum class Initiator : uint8_t {
  kLowest,   // the lowest process alone: the worst case
  kHighest,  // the highest living one alone: the best case
  kAll,      // everybody at once
};

// "the lowest noticed", ...
const char* name(Initiator initiator);

struct TableRow {
  std::string variant;
  uint32_t processes = 0;  // the dead one counts
  uint64_t election = 0;
  uint64_t answer = 0;
  uint64_t handover = 0;
  uint64_t coordinator = 0;
  std::optional<uint64_t> expected;  // the closed form, where there is one

  uint64_t total() const { return election + answer + handover + coordinator; }
};

struct TableQuery {
  const election_plugin* plugin = nullptr;
  std::string variant;
  uint32_t processes = 0;
  Initiator initiator = Initiator::kLowest;
  uint64_t seed = 1;
  // Called now and then with what is being done, for people who wait.
  std::function<void(const std::string& what)> progress;
};

// Starts a group, kills the highest process, lets the initiator notice, and counts until it is at
// rest.  Throws std::runtime_error when no election comes to its end.
TableRow measure(const TableQuery& query);

// What such an election should cost, as the plugin says; nullopt: it does not, or all notice.
std::optional<uint64_t> closed_form(const election_plugin& plugin, const std::string& variant,
                                    uint32_t processes, Initiator initiator);

}  // namespace bellwether::simulator
