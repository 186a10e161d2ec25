// From the core's publications to the flag's line, and the thread that holds the flag.
#include "io/flag_writer.hh"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>

#include "core/check.hh"
#include "io/robust_futex.hh"
#include "io/signals_blocked.hh"

namespace bellwether {
namespace {

uint64_t hash_of_this_boot() {
  uint64_t hash = 0;
  if (const int error = leader_flag_boot_id_hash(&hash); error != 0) {
    throw FlagError(
        "/proc/sys/kernel/random/boot_id",
        std::string("cannot be read: ") + leader_flag_strerror(error),
        "mount /proc; without it a flag that an earlier boot has left would be believed");
  }
  return hash;
}

}  // namespace

FlagWriter::FlagWriter(const FlagWriterSettings& settings)
    : file_(settings.path, settings.mode),
      line_(file_.page().line),
      boot_id_hash_(hash_of_this_boot()),
      word_{.guard = settings.guard} {
  if (!file_.is_in_memory()) {
    warnings_.push_back(settings.path.string() +
                        ": lies on a disk, which may stop this process for as long as it takes to "
                        "write; set flag.path to a file on a tmpfs");
  }
  // Off first: with a living owner, all that is left from an earlier process would be believed.
  write(word_, 0);
  const SignalsBlocked signals_are_for_others;
  holder_ = std::thread([this] { hold(); });
  is_held_.wait();
}

FlagWriter::~FlagWriter() {
  write({.guard = word_.guard}, 0);
  std::atomic_ref(line_.owner).store(0, std::memory_order_release);
  wake_waiters();
  is_over_.count_down();
  holder_.join();
}

void FlagWriter::publish(const Publish& publication) {
  check(!publication.is_leader || publication.leader, "who leads has an id");
  const uint64_t valid_until_ns =
      publication.is_leader
          ? static_cast<uint64_t>(
                std::max(publication.valid_until, Instant{}).time_since_epoch().count())
          : 0;
  const FlagWord word{
      .role = static_cast<uint8_t>(publication.is_leader ? LEADER_FLAG_LEADER
                                   : publication.leader  ? LEADER_FLAG_FOLLOWER
                                                         : LEADER_FLAG_UNKNOWN),
      .guard = word_.guard,
      .epoch = publication.leader ? publication.epoch : 0,
      .leader = publication.leader.value_or(Uuid{}),
  };
  if (word == word_) {
    renew_flag_line(line_, valid_until_ns);
  } else {
    write(word, valid_until_ns);
  }
}

void FlagWriter::write(const FlagWord& word, uint64_t valid_until_ns) {
  word_ = word;
  write_flag_line(line_, word, valid_until_ns, boot_id_hash_);
  wake_waiters();
}

// Not the private kind of futex: who waits is another process.
void FlagWriter::wake_waiters() {
  ::syscall(SYS_futex, &line_.seq, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// The holder's whole life.
void FlagWriter::hold() {
  ::pthread_setname_np(::pthread_self(), "flag-holder");
  register_robust_list(file_.page().holder, line_.owner);
  const auto thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  std::atomic_ref(line_.owner).store(thread, std::memory_order_release);
  wake_waiters();
  is_held_.count_down();
  is_over_.wait();
}

}  // namespace bellwether
