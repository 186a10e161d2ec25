// The writer's order of stores: seq odd, the fields, seq even.
#include "io/flag/flag_line.hh"

#include <atomic>
#include <cstring>

namespace bellwether {
namespace {

// A release, so that a reader who sees the value also sees the odd seq that was stored before it
// (leader_flag.h names the source).
template <typename Value>
void store(Value& place, Value value) {
  std::atomic_ref(place).store(value, std::memory_order_release);
}

}  // namespace

void write_flag_line(leader_flag_line& line, const FlagWord& word, uint64_t valid_until_ns,
                     uint64_t boot_id_hash) {
  static_assert(sizeof line.leader_id == sizeof word.leader.data);
  uint64_t leader_id[2];
  std::memcpy(leader_id, word.leader.data, sizeof leader_id);

  // The next odd number, also when a dead writer has left an odd one.
  const uint32_t odd = (std::atomic_ref(line.seq).load(std::memory_order_relaxed) + 1) | 1;
  store(line.seq, odd);
  store(line.valid_until_ns, valid_until_ns);
  store(line.epoch, word.epoch);
  store(line.boot_id_hash, boot_id_hash);
  store(line.guard, word.guard);
  store(line.role, word.role);
  store(line.leader_id[0], leader_id[0]);
  store(line.leader_id[1], leader_id[1]);
  store(line.abi, static_cast<uint8_t>(LEADER_FLAG_ABI));
  store(line.seq, odd + 1);
}

void renew_flag_line(leader_flag_line& line, uint64_t valid_until_ns) {
  store(line.valid_until_ns, valid_until_ns);
}

}  // namespace bellwether
