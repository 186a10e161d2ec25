/* The leader flag: does this replica lead, right now?  A reader for applications, C11 and C++17.
 *
 * The sidecar keeps one 64-byte line in a file on a tmpfs.  An application maps it read-only and
 * asks as often as it likes: no system call, no lock, nothing that could block or be blocked.
 *
 *   leader_flag flag;
 *   int error = leader_flag_open("/dev/shm/bellwether/orders", &flag);
 *   if (error != 0) ... leader_flag_strerror(error) ...
 *   uint64_t epoch;
 *   if (leader_flag_is_leader(&flag, &epoch)) ... act, and pass the epoch on as fencing token ...
 *
 * It says "leader" only while all three hold:
 *   - the sidecar says so;
 *   - it said so recently: the validity it wrote has not passed on this reader's own clock, so the
 *     flag of a sidecar that is stopped, starved or cut off runs out by itself;
 *   - the sidecar lives: the line holds a robust futex that the kernel marks when its process dies,
 *     however it dies, and before its sockets close, so no peer can know of the death earlier.
 * What an earlier process, or an earlier boot, has left in the file is never believed.  Whenever in
 * doubt, the flag is off.
 *
 * What it does not promise: anything about the time after the answer.  Between reading the flag and
 * acting on it, this process may be paused for as long as it takes to elect another leader.  Only
 * the resource that is acted on can close this gap: hand it the epoch (the fencing token) with each
 * request, and let it refuse a token lower than the highest that it has seen.  Without such a
 * resource, use leader_flag_begin() and leader_flag_still(), and stop by the validity's end, not
 * when you notice it.  Under the guard "none" two replicas may lead at once, in a partition even
 * with the same epoch; there a token is unique only together with the leader's id.
 *
 * Reader and sidecar share a kernel and its CLOCK_BOOTTIME (no time namespace with an offset
 * between them), and nobody else may write to the file or truncate it; the sidecar never does, nor
 * replaces it, so a mapping stays good across restarts of the sidecar.
 * The PID namespaces may differ. */
#ifndef BELLWETHER_LEADER_FLAG_H
#define BELLWETHER_LEADER_FLAG_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the line's layout; a reader refuses any other.  Raised with every change but the
 * use of what is reserved. */
#define LEADER_FLAG_ABI 1u

/* The length of the file.  Behind the line is the sidecar's own; do not read it. */
#define LEADER_FLAG_FILE_BYTES 4096

/* In `owner`: the thread that held the word has died without clearing it (the kernel's
 * FUTEX_OWNER_DIED). */
#define LEADER_FLAG_OWNER_DIED 0x40000000u

/* Roles. */
enum {
  LEADER_FLAG_UNKNOWN = 0,  /* no leader is known, or nobody vouches for what is */
  LEADER_FLAG_FOLLOWER = 1, /* another replica leads */
  LEADER_FLAG_LEADER = 2    /* this replica leads */
};

/* Guards: what a leader's epoch is worth. */
enum {
  LEADER_FLAG_GUARD_NONE = 0,    /* as in the papers: two leaders are possible in a partition */
  LEADER_FLAG_GUARD_MAJORITY = 1 /* one leader at any instant, one reign per epoch */
};

/* The line, at offset 0 of the file, in the machine's byte order; 64 bytes, frozen within one abi.
 *
 *   offset  bytes
 *        0      4  owner: thread id of the living holder; 0 or LEADER_FLAG_OWNER_DIED: off
 *        4      4  seq: odd while the line is written; moves with every change but a renewal
 *        8      8  epoch of the leadership
 *       16      8  valid_until_ns: on CLOCK_BOOTTIME; 0 unless this replica leads
 *       24      8  boot_id_hash: leader_flag_boot_id_hash() of the boot that it was written in
 *       32      1  guard
 *       33      1  role
 *       34      1  abi: 0 as long as the file was never set up; stays at this place in every abi
 *       35      1  flags, reserved
 *       36      4  reserved
 *       40     16  leader_id: the leader's UUID in the order in which it is printed; declared as
 *                  two words because it is read as such
 *       56      8  reserved
 *
 * How to read it in another language, with atomic loads of whole fields, in this order, each an
 * acquire:
 *   seq; epoch, valid_until_ns, boot_id_hash, role, abi; clock_gettime(CLOCK_BOOTTIME); owner; seq.
 * The replica leads, in `epoch`, if seq was even and the same both times, owner is neither 0 nor
 * has LEADER_FLAG_OWNER_DIED, boot_id_hash is this boot's, abi is known, role is LEADER_FLAG_LEADER
 * and the clock is before valid_until_ns.  If seq says that the line was being written, try again a
 * few times; then the flag counts as off.  Never lock `owner`, and wait on `seq` alone. */
typedef struct leader_flag_line {
  uint32_t owner;
  uint32_t seq;
  uint64_t epoch;
  uint64_t valid_until_ns;
  uint64_t boot_id_hash;
  uint8_t guard;
  uint8_t role;
  uint8_t abi;
  uint8_t flags;
  uint8_t reserved0[4];
  uint64_t leader_id[2];
  uint64_t reserved1;
} leader_flag_line;

/* An open flag.  Any number of threads may read one; closing it is one thread's business. */
typedef struct leader_flag {
  leader_flag_line* line; /* mapped read-only */
  uint64_t boot_id_hash;  /* of this boot */
} leader_flag;

/* All that the flag says, at one instant.  A flag that nobody vouches for (no living sidecar, a
 * leadership that has run out, a line that is just being written) has the role LEADER_FLAG_UNKNOWN
 * and names no leader. */
typedef struct leader_flag_snapshot {
  uint64_t epoch;          /* of the leadership; 0: no leader is known */
  uint64_t fencing_token;  /* the epoch while this replica leads, otherwise 0 */
  uint64_t valid_until_ns; /* while this replica leads: when that ends, on CLOCK_BOOTTIME, unless
                              the sidecar renews it; otherwise 0 */
  uint8_t leader_id[16];   /* the leader's UUID in the order in which it is printed; of another
                              replica it is a hint, as old as the sidecar's last word; zeros: none */
  uint32_t seq;            /* differs when something but valid_until_ns was written */
  uint8_t role;            /* LEADER_FLAG_UNKNOWN, _FOLLOWER or _LEADER */
  uint8_t guard;           /* LEADER_FLAG_GUARD_*, when the sidecar is alive */
  bool is_sidecar_alive;
} leader_flag_snapshot;

/* Errors: 0 is success, a positive number an errno, and these. */
enum {
  LEADER_FLAG_NOT_READY = -1,      /* the sidecar is just making the file; try again */
  LEADER_FLAG_NOT_A_FLAG = -2,     /* not a regular file of the right length */
  LEADER_FLAG_UNKNOWN_VERSION = -3 /* of another abi: this program needs the newer header */
};

/* How long leader_flag_wait() may take to notice that the sidecar has died; the waiting thread
 * wakes this often. */
#define LEADER_FLAG_POLL_NS 20000000u

/* Opens the flag in the file `path` and fills `flag`.  Returns 0 or an error; ENOENT and
 * LEADER_FLAG_NOT_READY mean that the sidecar has not come up yet. */
static inline int leader_flag_open(const char* path, leader_flag* flag);

/* Unmaps an open flag. */
static inline void leader_flag_close(leader_flag* flag);

/* Does this replica lead?  If so, `epoch` (may be NULL) is set: the fencing token. */
static inline bool leader_flag_is_leader(const leader_flag* flag, uint64_t* epoch);

/* Reads all that the flag says. */
static inline void leader_flag_read(const leader_flag* flag, leader_flag_snapshot* snapshot);

/* Waits until a read would differ from `seen` in more than valid_until_ns.  Returns 0 when it does,
 * at once if it does already; ETIMEDOUT after `timeout_ns` (UINT64_MAX: never); another errno when
 * the kernel refuses to wait.  Signals do not end it.  A change that the sidecar writes, and the
 * end of the validity, wake it at once; the sidecar's death, or a renewal that comes too late,
 * changes nothing that one could wait on, and is noticed within LEADER_FLAG_POLL_NS. */
static inline int leader_flag_wait(const leader_flag* flag, const leader_flag_snapshot* seen,
                                   uint64_t timeout_ns);

/* Before work that takes `need_ns`: does this replica lead, and is that certain for so long even if
 * the sidecar never renews it?  If so, `token` is set, for the resource and leader_flag_still(). */
static inline bool leader_flag_begin(const leader_flag* flag, uint64_t need_ns, uint64_t* token);

/* After the work, before its result counts: does this replica lead in the same epoch as then? */
static inline bool leader_flag_still(const leader_flag* flag, uint64_t token);

/* The clock of valid_until_ns, CLOCK_BOOTTIME: it goes on while the machine is suspended. */
static inline uint64_t leader_flag_now_ns(void);

/* The hash that names this boot: 64-bit FNV-1a of the 36 characters in
 * /proc/sys/kernel/random/boot_id.  Returns 0 or an errno. */
static inline int leader_flag_boot_id_hash(uint64_t* hash);

/* An error in words; static, or as long-lived as what strerror() returns. */
static inline const char* leader_flag_strerror(int error);

/* The layout, so that no compiler and no edit can change it unnoticed. */
#ifdef __cplusplus
#define LEADER_FLAG_ASSERT_(condition, text) static_assert(condition, text)
#else
#define LEADER_FLAG_ASSERT_(condition, text) _Static_assert(condition, text)
#endif
#define LEADER_FLAG_ASSERT_OFFSET_(field, offset)                    \
  LEADER_FLAG_ASSERT_(offsetof(leader_flag_line, field) == (offset), \
                      "leader_flag_line." #field " has moved")

LEADER_FLAG_ASSERT_(sizeof(void*) == 8 && __GCC_ATOMIC_LLONG_LOCK_FREE == 2,
                    "the flag is defined for machines of 64 bits");
LEADER_FLAG_ASSERT_(sizeof(leader_flag_line) == 64, "leader_flag_line has another size");
LEADER_FLAG_ASSERT_OFFSET_(owner, 0);
LEADER_FLAG_ASSERT_OFFSET_(seq, 4);
LEADER_FLAG_ASSERT_OFFSET_(epoch, 8);
LEADER_FLAG_ASSERT_OFFSET_(valid_until_ns, 16);
LEADER_FLAG_ASSERT_OFFSET_(boot_id_hash, 24);
LEADER_FLAG_ASSERT_OFFSET_(guard, 32);
LEADER_FLAG_ASSERT_OFFSET_(role, 33);
LEADER_FLAG_ASSERT_OFFSET_(abi, 34);
LEADER_FLAG_ASSERT_OFFSET_(flags, 35);
LEADER_FLAG_ASSERT_OFFSET_(reserved0, 36);
LEADER_FLAG_ASSERT_OFFSET_(leader_id, 40);
LEADER_FLAG_ASSERT_OFFSET_(reserved1, 56);
#undef LEADER_FLAG_ASSERT_
#undef LEADER_FLAG_ASSERT_OFFSET_

/* ---- The code.  Names that end in _ are its own and may change. ---- */

#ifdef __cplusplus
#define LEADER_FLAG_CAST_(type, value) static_cast<type>(value)
#else
#define LEADER_FLAG_CAST_(type, value) ((type)(value))
#endif

/* Under plain -std=c11 the headers of the C library hide these two.  A name of our own for their
 * symbol depends on nobody's feature macros, nor on the order of includes. */
extern int leader_flag_clock_gettime_(int clock, struct timespec* time) __asm__("clock_gettime");
extern long leader_flag_syscall_(long number, ...) __asm__("syscall");

/* What they are called with, fixed by the kernel for ever. */
enum { LEADER_FLAG_CLOCK_BOOTTIME_ = 7, LEADER_FLAG_FUTEX_WAIT_ = 0 };

enum {
  LEADER_FLAG_NS_PER_S_ = 1000000000,
  LEADER_FLAG_BOOT_ID_CHARACTERS_ = 36,
  /* An update takes nanoseconds; a writer that is stopped in the middle of one may take for ever.
   */
  LEADER_FLAG_TRIES_ = 1000
};

/* O_NONBLOCK: what is a pipe shall be refused, not waited for. */
static inline int leader_flag_open_file_(const char* path) {
#ifdef O_CLOEXEC
  return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
#else
  return open(path, O_RDONLY | O_NONBLOCK);
#endif
}

/* Maps the line of an open file, after looking at what it is. */
static inline int leader_flag_map_(int fd, leader_flag* flag) {
  struct stat status;
  if (fstat(fd, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return LEADER_FLAG_NOT_A_FLAG;
  if (status.st_size == 0) return LEADER_FLAG_NOT_READY;
  if (status.st_size != LEADER_FLAG_FILE_BYTES) return LEADER_FLAG_NOT_A_FLAG;
  void* const mapping = mmap(NULL, sizeof(leader_flag_line), PROT_READ, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED) return errno;
  flag->line = LEADER_FLAG_CAST_(leader_flag_line*, mapping);
  const uint8_t abi = __atomic_load_n(&flag->line->abi, __ATOMIC_ACQUIRE);
  if (abi == LEADER_FLAG_ABI) return 0;
  leader_flag_close(flag);
  return abi == 0 ? LEADER_FLAG_NOT_READY : LEADER_FLAG_UNKNOWN_VERSION;
}

static inline int leader_flag_open(const char* path, leader_flag* flag) {
  flag->line = NULL;
  int error = leader_flag_boot_id_hash(&flag->boot_id_hash);
  if (error != 0) return error;
  const int fd = leader_flag_open_file_(path);
  if (fd < 0) return errno;
  error = leader_flag_map_(fd, flag);
  close(fd);
  return error;
}

static inline void leader_flag_close(leader_flag* flag) {
  if (flag->line != NULL) munmap(flag->line, sizeof(leader_flag_line));
  flag->line = NULL;
}

static inline bool leader_flag_is_leader(const leader_flag* flag, uint64_t* epoch) {
  leader_flag_snapshot snapshot;
  leader_flag_read(flag, &snapshot);
  if (snapshot.role != LEADER_FLAG_LEADER) return false;
  if (epoch != NULL) *epoch = snapshot.fencing_token;
  return true;
}

/* One try; false when the line is being written, and then only snapshot->seq is of use.
 *
 * The line is a seqlock: what was read belongs together if seq was even and is still the same.  The
 * loads are acquires and the writer's stores releases, instead of fences around relaxed ones: who
 * sees a part of an update then also sees the seq that announced it.  On x86 they cost nothing.
 * (H.-J. Boehm, "Can Seqlocks Get Along with Programming Language Memory Models?", MSPC 2012.)
 *
 * The clock and the owner are read inside, and last: at the instant when the clock was read, all
 * that is told held.  The kernel marks the owner outside of the seqlock, but only once, until the
 * next sidecar moves seq. */
static inline bool leader_flag_try_read_(const leader_flag* flag, leader_flag_snapshot* snapshot) {
  const leader_flag_line* const line = flag->line;
  const uint32_t seq = __atomic_load_n(&line->seq, __ATOMIC_ACQUIRE);
  const uint64_t epoch = __atomic_load_n(&line->epoch, __ATOMIC_ACQUIRE);
  const uint64_t valid_until_ns = __atomic_load_n(&line->valid_until_ns, __ATOMIC_ACQUIRE);
  const uint64_t boot_id_hash = __atomic_load_n(&line->boot_id_hash, __ATOMIC_ACQUIRE);
  const uint8_t guard = __atomic_load_n(&line->guard, __ATOMIC_ACQUIRE);
  const uint8_t role = __atomic_load_n(&line->role, __ATOMIC_ACQUIRE);
  const uint8_t abi = __atomic_load_n(&line->abi, __ATOMIC_ACQUIRE);
  const uint64_t leader_id[2] = {__atomic_load_n(&line->leader_id[0], __ATOMIC_ACQUIRE),
                                 __atomic_load_n(&line->leader_id[1], __ATOMIC_ACQUIRE)};
  const uint64_t now_ns = leader_flag_now_ns();
  const uint32_t owner = __atomic_load_n(&line->owner, __ATOMIC_ACQUIRE);
  const bool is_whole = seq % 2 == 0 && __atomic_load_n(&line->seq, __ATOMIC_ACQUIRE) == seq;

  memset(snapshot, 0, sizeof *snapshot);
  snapshot->seq = seq;
  if (!is_whole) return false;
  snapshot->is_sidecar_alive = owner != 0 && (owner & LEADER_FLAG_OWNER_DIED) == 0 &&
                               boot_id_hash == flag->boot_id_hash && abi == LEADER_FLAG_ABI;
  if (!snapshot->is_sidecar_alive) return true;
  snapshot->guard = guard;
  if (role == LEADER_FLAG_LEADER) {
    if (now_ns >= valid_until_ns) return true;
    snapshot->fencing_token = epoch;
    snapshot->valid_until_ns = valid_until_ns;
  }
  snapshot->role = role;
  snapshot->epoch = epoch;
  memcpy(snapshot->leader_id, leader_id, sizeof leader_id);
  return true;
}

static inline void leader_flag_read(const leader_flag* flag, leader_flag_snapshot* snapshot) {
  for (int tries = 0; tries < LEADER_FLAG_TRIES_; ++tries) {
    if (leader_flag_try_read_(flag, snapshot)) return;
  }
}

static inline uint64_t leader_flag_min_(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Sleeps until seq, if it is still `seq`, is written to, at most for `sleep_ns`. */
static inline int leader_flag_sleep_(const leader_flag* flag, uint32_t seq, uint64_t sleep_ns) {
  struct timespec time;
  time.tv_sec = LEADER_FLAG_CAST_(time_t, sleep_ns / LEADER_FLAG_NS_PER_S_);
  time.tv_nsec = LEADER_FLAG_CAST_(long, sleep_ns % LEADER_FLAG_NS_PER_S_);
  if (leader_flag_syscall_(SYS_futex, &flag->line->seq, LEADER_FLAG_FUTEX_WAIT_, seq, &time, NULL,
                           0) == 0) {
    return 0;
  }
  /* It was written to before, a signal came, or the time is over: look again. */
  return errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT ? 0 : errno;
}

static inline int leader_flag_wait(const leader_flag* flag, const leader_flag_snapshot* seen,
                                   uint64_t timeout_ns) {
  const uint64_t start_ns = leader_flag_now_ns();
  for (;;) {
    leader_flag_snapshot snapshot;
    leader_flag_read(flag, &snapshot);
    if (snapshot.seq != seen->seq || snapshot.role != seen->role ||
        snapshot.is_sidecar_alive != seen->is_sidecar_alive) {
      return 0;
    }
    const uint64_t now_ns = leader_flag_now_ns();
    if (now_ns - start_ns >= timeout_ns) return ETIMEDOUT;
    uint64_t sleep_ns = timeout_ns - (now_ns - start_ns);
    sleep_ns = leader_flag_min_(sleep_ns, LEADER_FLAG_POLL_NS);
    if (snapshot.role == LEADER_FLAG_LEADER) {
      if (now_ns >= snapshot.valid_until_ns) continue;
      sleep_ns = leader_flag_min_(sleep_ns, snapshot.valid_until_ns - now_ns);
    }
    const int error = leader_flag_sleep_(flag, snapshot.seq, sleep_ns);
    if (error != 0) return error;
  }
}

static inline bool leader_flag_begin(const leader_flag* flag, uint64_t need_ns, uint64_t* token) {
  leader_flag_snapshot snapshot;
  leader_flag_read(flag, &snapshot);
  const uint64_t now_ns = leader_flag_now_ns();
  if (snapshot.role != LEADER_FLAG_LEADER || now_ns >= snapshot.valid_until_ns) return false;
  if (snapshot.valid_until_ns - now_ns < need_ns) return false;
  *token = snapshot.fencing_token;
  return true;
}

static inline bool leader_flag_still(const leader_flag* flag, uint64_t token) {
  uint64_t epoch = 0;
  return leader_flag_is_leader(flag, &epoch) && epoch == token;
}

static inline uint64_t leader_flag_now_ns(void) {
  struct timespec time;
  /* Without a clock every validity is over. */
  if (leader_flag_clock_gettime_(LEADER_FLAG_CLOCK_BOOTTIME_, &time) != 0) return UINT64_MAX;
  return LEADER_FLAG_CAST_(uint64_t, time.tv_sec) * LEADER_FLAG_NS_PER_S_ +
         LEADER_FLAG_CAST_(uint64_t, time.tv_nsec);
}

static inline int leader_flag_boot_id_hash(uint64_t* hash) {
  char text[LEADER_FLAG_BOOT_ID_CHARACTERS_];
  const int fd = leader_flag_open_file_("/proc/sys/kernel/random/boot_id");
  if (fd < 0) return errno;
  const ssize_t count = read(fd, text, sizeof text);
  const int error = count < 0 ? errno : EIO;
  close(fd);
  if (count != LEADER_FLAG_BOOT_ID_CHARACTERS_) return error;
  *hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < sizeof text; ++i) {
    *hash = (*hash ^ LEADER_FLAG_CAST_(uint8_t, text[i])) * 0x100000001b3u;
  }
  return 0;
}

static inline const char* leader_flag_strerror(int error) {
  switch (error) {
    case 0:
      return "no error";
    case LEADER_FLAG_NOT_READY:
      return "the sidecar has not set up the leader flag yet";
    case LEADER_FLAG_NOT_A_FLAG:
      return "the file is not a leader flag";
    case LEADER_FLAG_UNKNOWN_VERSION:
      return "the leader flag is of a version that this program does not know";
    default:
      return strerror(error);
  }
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BELLWETHER_LEADER_FLAG_H */
