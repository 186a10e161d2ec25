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
 * resource, leader_flag_begin() and leader_flag_still() make the gap smaller: see what they promise
 * and what they do not.  Under the guard "none" two replicas may lead at once, in a partition even
 * with the same epoch; there a token is unique only together with the leader's id.
 *
 * Reader and sidecar share a kernel and its CLOCK_BOOTTIME (no time namespace with an offset
 * between them).  The PID namespaces may differ.  The sidecar never truncates the file, nor does it
 * remove or replace one that is in order, so a mapping stays good across its restarts.  Where
 * somebody else removes, replaces or spoils it, the sidecar makes it anew within a second, and
 * readers find the new one by themselves: while nobody vouches for the flag, they look once a
 * second whether another file is at its path.  But to cut the file short ends, by SIGBUS, a process
 * that reads a mapping of it then; only the file's owner and root can do so.
 *
 * A file is only believed when it belongs to somebody who may say it: to root, to this process's
 * own user, to the user that leader_flag_open_of() names; or to the owner of its folder, if nobody
 * else may write into that and root alone into the folder above (/run/bellwether of the systemd
 * unit is such a folder; in /dev/shm anybody may make one, and into a pod's emptyDir write). */
#ifndef BELLWETHER_LEADER_FLAG_H
#define BELLWETHER_LEADER_FLAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
  LEADER_FLAG_GUARD_NONE = 0,     /* as in the papers: two leaders are possible in a partition */
  LEADER_FLAG_GUARD_MAJORITY = 1, /* one leader at any instant, one reign per epoch */
  LEADER_FLAG_GUARD_STORE = 2     /* the same, as long as nobody edits the store's record */
};

/* Flags. */
enum {
  /* This replica leads, and is to hand over: it finishes what it has begun, and begins nothing. */
  LEADER_FLAG_DRAINING = 1
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
 *       35      1  flags: LEADER_FLAG_DRAINING; the others are reserved
 *       36      4  reserved
 *       40     16  leader_id: the leader's UUID in the order in which it is printed; declared as
 *                  two words because it is read as such
 *       56      8  reserved
 *
 * How to read it in another language, with atomic loads of whole fields, in this order, each an
 * acquire:
 *   seq; epoch, valid_until_ns, boot_id_hash, role, abi, flags; clock_gettime(CLOCK_BOOTTIME);
 * owner; seq. The replica leads, in `epoch`, if seq was even and the same both times, owner is
 * neither 0 nor has LEADER_FLAG_OWNER_DIED, boot_id_hash is this boot's, abi is known, role is
 * LEADER_FLAG_LEADER and the clock is before valid_until_ns.  If seq says that the line was being
 * written, try again a few times; then the flag counts as off.  Never lock `owner`, and wait on
 * `seq` alone. */
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
  leader_flag_line* line;           /* mapped read-only; the address stays when the file changes */
  uint64_t boot_id_hash;            /* of this boot */
  struct leader_flag_place_* place; /* where it was opened; NULL: it is never looked for again */
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
  bool is_draining; /* this replica leads, and shall begin nothing new */
} leader_flag_snapshot;

/* Errors: 0 is success, a positive number an errno, and these. */
enum {
  LEADER_FLAG_NOT_READY = -1,       /* the sidecar is just making the file; try again */
  LEADER_FLAG_NOT_A_FLAG = -2,      /* not a regular file of the right length */
  LEADER_FLAG_UNKNOWN_VERSION = -3, /* of another abi: this program needs the newer header */
  LEADER_FLAG_NOT_TRUSTED = -4      /* of a user who has no say here; see leader_flag_open_of() */
};

/* How long leader_flag_wait() may take to notice that the sidecar has died; the waiting thread
 * wakes this often. */
#define LEADER_FLAG_POLL_NS 20000000u

/* How often a reader looks whether another file is at the flag's path, while nobody vouches for the
 * one that it has. */
#define LEADER_FLAG_LOOK_NS 1000000000u

/* Opens the flag in the file `path` and fills `flag`.  Returns 0 or an error; ENOENT and
 * LEADER_FLAG_NOT_READY mean that the sidecar has not come up yet. */
static inline int leader_flag_open(const char* path, leader_flag* flag);

/* The same, and believes only a file of the user `owner`, the sidecar's, or of root, whatever its
 * folder is like. */
static inline int leader_flag_open_of(const char* path, uid_t owner, leader_flag* flag);

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

/* Call this before work that takes `need_ns`.  True: this replica leads, may begin new work, and
 * its leadership, as the sidecar last wrote it, is valid for at least that long; then `token` is
 * set, for the resource and for leader_flag_still().  A leader that is about to hand over may not
 * begin anything; it has `[application] drain_timeout` to finish what it has begun.
 *
 * The leadership is never valid for longer than 4/5 of the lease, and for less between two
 * renewals: a `need_ns` that is not well below is never granted.  For longer work pass a small one,
 * set drain_timeout above its length, and let leader_flag_still() decide whether the result counts.
 *
 * After true, under every guard but "none", no other replica leads before that time is up, even if
 * the sidecar hangs, gets no processor time, or is cut off.  There are two exceptions: the leader
 * gives up leadership without a drain, or after one (a step-down, a transfer, a planned take-over,
 * SIGTERM), or its sidecar is known to be dead.  Then another replica may lead a millisecond later,
 * while this one is still working. */
static inline bool leader_flag_begin(const leader_flag* flag, uint64_t need_ns, uint64_t* token);

/* Call this after the work, before its result counts.  True: this replica leads, in the same epoch
 * as at leader_flag_begin(); under every guard but "none", no other replica has led since then. */
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "leader_flag_code.h"

#endif /* BELLWETHER_LEADER_FLAG_H */
