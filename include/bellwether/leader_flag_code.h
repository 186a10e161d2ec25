/* The code behind leader_flag.h, which includes it; do not include it yourself.  Names that end in
 * _ are its own and may change. */
#ifndef BELLWETHER_LEADER_FLAG_CODE_H
#define BELLWETHER_LEADER_FLAG_CODE_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "leader_flag.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Where a flag was opened, and what is to be known to look there again. */
typedef struct leader_flag_place_ {
  /* Moves on by two with each look; odd while another file may take the place of the mapped one. */
  uint64_t generation;
  uint64_t next_look_ns; /* on CLOCK_BOOTTIME */
  dev_t device;          /* these two of the mapped file; whoever made generation odd uses them */
  ino_t inode;
  uid_t owner;      /* who may say that this replica leads, besides root */
  bool asks_folder; /* may the owner of the file's folder say so, too? */
  char* above;      /* the folder of the file's folder */
  char* folder;
  char* path; /* all three are in the same piece of memory as this */
} leader_flag_place_;

/* O_NONBLOCK: what is a pipe shall be refused, not waited for. */
static inline int leader_flag_open_file_(const char* path) {
#ifdef O_CLOEXEC
  return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
#else
  return open(path, O_RDONLY | O_NONBLOCK);
#endif
}

/* NULL: there is no memory for it. */
static inline leader_flag_place_* leader_flag_make_place_(const char* path, uid_t owner,
                                                          bool asks_folder) {
  const size_t length = strlen(path);
  const size_t texts = 3 * (length + sizeof "./..");
  void* const memory = calloc(1, sizeof(leader_flag_place_) + texts);
  leader_flag_place_* const place = LEADER_FLAG_CAST_(leader_flag_place_*, memory);
  if (place == NULL) return NULL;
  place->owner = owner;
  place->asks_folder = asks_folder;
  size_t folder_length = length;
  while (folder_length > 0 && path[folder_length - 1] != '/') --folder_length;
  place->path = LEADER_FLAG_CAST_(char*, memory) + sizeof(leader_flag_place_);
  memcpy(place->path, path, length);
  place->folder = place->path + length + 1;
  memcpy(place->folder, path, folder_length);
  memcpy(place->folder + folder_length, ".", 1);
  place->above = place->folder + folder_length + 2;
  memcpy(place->above, place->folder, folder_length);
  memcpy(place->above + folder_length, "..", 2);
  return place;
}

/* May this user say that this replica leads?  The owner of the file's folder may where nobody but
 * root can have given it to him, and nobody else can put a file there. */
static inline bool leader_flag_is_trusted_(const leader_flag_place_* place, uid_t user) {
  const mode_t of_others = 0022;
  struct stat folder;
  struct stat above;
  if (user == 0 || user == place->owner) return true;
  return place->asks_folder && stat(place->folder, &folder) == 0 && folder.st_uid == user &&
         (folder.st_mode & of_others) == 0 && stat(place->above, &above) == 0 &&
         above.st_uid == 0 && (above.st_mode & of_others) == 0;
}

/* Maps the line of an open file, after looking at what it is: at `address`, instead of what is
 * there, or anywhere if that is NULL. */
static inline int leader_flag_map_(int fd, leader_flag_place_* place, leader_flag_line* address,
                                   leader_flag_line** line) {
  struct stat status;
  if (fstat(fd, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return LEADER_FLAG_NOT_A_FLAG;
  if (!leader_flag_is_trusted_(place, status.st_uid)) return LEADER_FLAG_NOT_TRUSTED;
  if (status.st_size == 0) return LEADER_FLAG_NOT_READY;
  if (status.st_size != LEADER_FLAG_FILE_BYTES) return LEADER_FLAG_NOT_A_FLAG;
  uint8_t abi = 0;
  if (lseek(fd, offsetof(leader_flag_line, abi), SEEK_SET) < 0) return errno;
  if (read(fd, &abi, 1) != 1) return LEADER_FLAG_NOT_READY;
  if (abi == 0) return LEADER_FLAG_NOT_READY;
  if (abi != LEADER_FLAG_ABI) return LEADER_FLAG_UNKNOWN_VERSION;
  void* const mapping = mmap(address, sizeof(leader_flag_line), PROT_READ,
                             MAP_SHARED | (address == NULL ? 0 : MAP_FIXED), fd, 0);
  if (mapping == MAP_FAILED) return errno;
  *line = LEADER_FLAG_CAST_(leader_flag_line*, mapping);
  place->device = status.st_dev;
  place->inode = status.st_ino;
  return 0;
}

static inline int leader_flag_open_place_(leader_flag_place_* place, leader_flag* flag) {
  flag->line = NULL;
  flag->place = place;
  if (place == NULL) return ENOMEM;
  int error = leader_flag_boot_id_hash(&flag->boot_id_hash);
  if (error == 0) {
    const int fd = leader_flag_open_file_(place->path);
    error = fd < 0 ? errno : leader_flag_map_(fd, place, NULL, &flag->line);
    if (fd >= 0) close(fd);
  }
  if (error != 0) leader_flag_close(flag);
  return error;
}

static inline int leader_flag_open(const char* path, leader_flag* flag) {
  return leader_flag_open_place_(leader_flag_make_place_(path, geteuid(), true), flag);
}

static inline int leader_flag_open_of(const char* path, uid_t owner, leader_flag* flag) {
  return leader_flag_open_place_(leader_flag_make_place_(path, owner, false), flag);
}

static inline void leader_flag_close(leader_flag* flag) {
  if (flag->line != NULL) munmap(flag->line, sizeof(leader_flag_line));
  free(flag->place);
  flag->line = NULL;
  flag->place = NULL;
}

/* If another file is at the flag's path, maps that one where the old one was.  False: it is not, or
 * it is not a flag to believe. */
static inline bool leader_flag_follow_(const leader_flag* flag) {
  leader_flag_place_* const place = flag->place;
  struct stat status;
  if (stat(place->path, &status) != 0) return false;
  if (status.st_dev == place->device && status.st_ino == place->inode) return false;
  const int fd = leader_flag_open_file_(place->path);
  if (fd < 0) return false;
  leader_flag_line* line = flag->line;
  const bool is_mapped = leader_flag_map_(fd, place, line, &line) == 0;
  close(fd);
  return is_mapped;
}

/* Called when nobody vouches for the flag.  One thread looks at a time, and as long as it does, or
 * when it has just done so, nothing that others have read counts. */
static inline bool leader_flag_look_again_(const leader_flag* flag) {
  leader_flag_place_* const place = flag->place;
  if (place == NULL) return false;
  const uint64_t now_ns = leader_flag_now_ns();
  if (now_ns < __atomic_load_n(&place->next_look_ns, __ATOMIC_ACQUIRE)) return false;
  uint64_t generation = __atomic_load_n(&place->generation, __ATOMIC_ACQUIRE);
  if (generation % 2 != 0 ||
      !__atomic_compare_exchange_n(&place->generation, &generation, generation + 1, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return false;
  }
  const int errno_before = errno;
  __atomic_store_n(&place->next_look_ns, now_ns + LEADER_FLAG_LOOK_NS, __ATOMIC_RELEASE);
  const bool is_another = leader_flag_follow_(flag);
  __atomic_store_n(&place->generation, generation + 2, __ATOMIC_RELEASE);
  errno = errno_before;
  return is_another;
}

static inline uint64_t leader_flag_generation_(const leader_flag* flag) {
  return flag->place == NULL ? 0 : __atomic_load_n(&flag->place->generation, __ATOMIC_ACQUIRE);
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
 * next sidecar moves seq.  Around all of it, generation says whether it was one file. */
static inline bool leader_flag_try_read_(const leader_flag* flag, leader_flag_snapshot* snapshot) {
  const leader_flag_line* const line = flag->line;
  const uint64_t generation = leader_flag_generation_(flag);
  const uint32_t seq = __atomic_load_n(&line->seq, __ATOMIC_ACQUIRE);
  const uint64_t epoch = __atomic_load_n(&line->epoch, __ATOMIC_ACQUIRE);
  const uint64_t valid_until_ns = __atomic_load_n(&line->valid_until_ns, __ATOMIC_ACQUIRE);
  const uint64_t boot_id_hash = __atomic_load_n(&line->boot_id_hash, __ATOMIC_ACQUIRE);
  const uint8_t guard = __atomic_load_n(&line->guard, __ATOMIC_ACQUIRE);
  const uint8_t role = __atomic_load_n(&line->role, __ATOMIC_ACQUIRE);
  const uint8_t abi = __atomic_load_n(&line->abi, __ATOMIC_ACQUIRE);
  const uint8_t flags = __atomic_load_n(&line->flags, __ATOMIC_ACQUIRE);
  const uint64_t leader_id[2] = {__atomic_load_n(&line->leader_id[0], __ATOMIC_ACQUIRE),
                                 __atomic_load_n(&line->leader_id[1], __ATOMIC_ACQUIRE)};
  const uint64_t now_ns = leader_flag_now_ns();
  const uint32_t owner = __atomic_load_n(&line->owner, __ATOMIC_ACQUIRE);
  const bool is_whole = seq % 2 == 0 && __atomic_load_n(&line->seq, __ATOMIC_ACQUIRE) == seq &&
                        generation % 2 == 0 && leader_flag_generation_(flag) == generation;

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
    snapshot->is_draining = (flags & LEADER_FLAG_DRAINING) != 0;
  }
  snapshot->role = role;
  snapshot->epoch = epoch;
  memcpy(snapshot->leader_id, leader_id, sizeof leader_id);
  return true;
}

static inline void leader_flag_read_mapped_(const leader_flag* flag,
                                            leader_flag_snapshot* snapshot) {
  for (int tries = 0; tries < LEADER_FLAG_TRIES_; ++tries) {
    if (leader_flag_try_read_(flag, snapshot)) return;
  }
}

static inline void leader_flag_read(const leader_flag* flag, leader_flag_snapshot* snapshot) {
  leader_flag_read_mapped_(flag, snapshot);
  if (snapshot->is_sidecar_alive || !leader_flag_look_again_(flag)) return;
  leader_flag_read_mapped_(flag, snapshot);
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
  if (snapshot.role != LEADER_FLAG_LEADER || snapshot.is_draining) return false;
  if (now_ns >= snapshot.valid_until_ns) return false;
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
    case LEADER_FLAG_NOT_TRUSTED:
      return "the leader flag belongs to a user whom nothing vouches for; name the sidecar's user";
    default:
      return strerror(error);
  }
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BELLWETHER_LEADER_FLAG_CODE_H */
