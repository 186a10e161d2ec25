// The line's life in one file, and the thread that holds it.
#include "io/flag/held_flag.hh"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "io/flag/robust_futex.hh"
#include "io/loop/signals_blocked.hh"

namespace bellwether::io {
namespace {

// A release, so that a reader who sees the value also sees the odd seq that was stored before it
// (leader_flag.h names the source).
template <typename Value>
void store(Value& place, Value value) {
  std::atomic_ref(place).store(value, std::memory_order_release);
}

constexpr uint64_t kNsPerMs = 1'000'000;

uint64_t hash_of_this_boot() {
  uint64_t hash = 0;
  if (const int error = leader_flag_boot_id_hash(&hash); error != 0) {
    throw FileError(
        "/proc/sys/kernel/random/boot_id",
        std::string("cannot be read: ") + leader_flag_strerror(error),
        "mount /proc; without it a flag that an earlier boot has left would be believed",
        error != ENOENT && may_pass(error));
  }
  return hash;
}

// A file that was never used counts on from where none that was here in this boot can be.
uint32_t first_seq() { return static_cast<uint32_t>(leader_flag_now_ns() / kNsPerMs); }

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
  store(line.flags, word.flags);
  store(line.leader_id[0], leader_id[0]);
  store(line.leader_id[1], leader_id[1]);
  store(line.abi, static_cast<uint8_t>(LEADER_FLAG_ABI));
  store(line.seq, odd + 1);
}

void renew_flag_line(leader_flag_line& line, uint64_t valid_until_ns) {
  store(line.valid_until_ns, valid_until_ns);
}

HeldFlag::HeldFlag(const FlagFileSettings& settings, std::optional<uint32_t> seq_before)
    : file_(settings),
      line_(file_.page().line),
      boot_id_hash_(hash_of_this_boot()),
      guard_(settings.guard) {
  if (seq_before || line_.abi == 0) {
    std::atomic_ref(line_.seq).store(seq_before.value_or(first_seq()), std::memory_order_relaxed);
  }
  // Off first: with a living owner, all that is left from an earlier process would be believed.
  write({.guard = guard_}, 0);
  const SignalsBlocked signals_are_for_others;
  holder_ = std::thread([this] { hold(); });
  is_held_.wait();
  std::memcpy(static_cast<void*>(&written_), &file_.page(), sizeof written_);
}

HeldFlag::~HeldFlag() {
  write({.guard = guard_}, 0);
  std::atomic_ref(line_.owner).store(0, std::memory_order_release);
  wake_waiters();
  is_over_.count_down();
  holder_.join();
}

void HeldFlag::write(const FlagWord& word, uint64_t valid_until_ns) {
  write_flag_line(line_, word, valid_until_ns, boot_id_hash_);
  write_flag_line(written_.line, word, valid_until_ns, boot_id_hash_);
  wake_waiters();
}

void HeldFlag::renew(uint64_t valid_until_ns) {
  renew_flag_line(line_, valid_until_ns);
  renew_flag_line(written_.line, valid_until_ns);
}

// Not the private kind of futex: who waits is another process.
void HeldFlag::wake_waiters() {
  ::syscall(SYS_futex, &line_.seq, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// The holder's whole life.
void HeldFlag::hold() {
  ::pthread_setname_np(::pthread_self(), "flag-holder");
  register_robust_list(file_.page().holder, line_.owner);
  const auto thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  std::atomic_ref(line_.owner).store(thread, std::memory_order_release);
  wake_waiters();
  is_held_.count_down();
  is_over_.wait();
}

}  // namespace bellwether::io
