/* Watches the flags of several sidecars as applications see them, for tests and benchmarks.
 *
 *   flag_observer [--pause-us N] FLAG_FILE...
 *
 * Prints a line for each flag that goes on or off: the time (CLOCK_BOOTTIME, ns) at which the look
 * began that saw it, the number of the flag (from 0), 1 or 0, and the epoch.  A line `double` names
 * two flags that were on at the same instant by the sandwich rule: A was on, then B was on, then A
 * was still on, in the same epoch; so at the look at B both were.  It looks as soon as anything but
 * a renewal is written to a flag, and after N us (50) at the latest, for that a sidecar died, or
 * that a flag ran out, is not written.  A line `gap` says that nobody looked for a millisecond
 * longer than that: when the look before it began, and how many ns went by.  Ends when its
 * input does, with a line `looks`: how many it made, in how many ns. */
#include <bellwether/leader_flag.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { MAX_FLAGS = 64, NS_PER_US = 1000, NS_PER_S = 1000000000, GAP_NS = 1000000 };

typedef struct observed_flag {
  const char* path;
  leader_flag flag;
  bool is_open;
  bool is_on;
  uint64_t epoch;
  uint32_t seq; /* before it was read */
} observed_flag;

static observed_flag flags[MAX_FLAGS];
static int flag_count = 0;

static void open_flag(observed_flag* observed) {
  const int error = leader_flag_open(observed->path, &observed->flag);
  observed->is_open = error == 0;
  if (error != 0 && error != ENOENT && error != LEADER_FLAG_NOT_READY) {
    fprintf(stderr, "flag_observer: %s: %s\n", observed->path, leader_flag_strerror(error));
    exit(1);
  }
}

static bool read_flag(const observed_flag* observed, uint64_t* epoch) {
  *epoch = 0;
  return observed->is_open && leader_flag_is_leader(&observed->flag, epoch);
}

/* Flag `a` was seen on before flag `b` was; is it still on in the same epoch? */
static void judge_pair(int a, int b, uint64_t now_ns) {
  uint64_t epoch = 0;
  if (read_flag(&flags[a], &epoch) && epoch == flags[a].epoch) {
    printf("double %" PRIu64 " %d %" PRIu64 " %d %" PRIu64 "\n", now_ns, a, epoch, b,
           flags[b].epoch);
  }
}

static void look(void) {
  for (int i = 0; i < flag_count; ++i) {
    observed_flag* observed = &flags[i];
    if (!observed->is_open) open_flag(observed);
    if (observed->is_open) {
      observed->seq = __atomic_load_n(&observed->flag.line->seq, __ATOMIC_ACQUIRE);
    }
    uint64_t epoch = 0;
    const bool is_on = read_flag(observed, &epoch);
    /* Not before: what is seen after an event must not be told as if it had been before. */
    const uint64_t now_ns = leader_flag_now_ns();
    if (is_on != observed->is_on || (is_on && epoch != observed->epoch)) {
      printf("%" PRIu64 " %d %d %" PRIu64 "\n", now_ns, i, is_on, epoch);
    }
    observed->is_on = is_on;
    observed->epoch = epoch;
    for (int other = 0; is_on && other < i; ++other) {
      if (flags[other].is_on) judge_pair(other, i, now_ns);
    }
  }
  fflush(stdout);
}

/* The machine had other things to do: what happened meanwhile was seen late, or not at all. */
static void tell_gap(uint64_t* last_ns, long pause_us) {
  const uint64_t now_ns = leader_flag_now_ns();
  if (*last_ns != 0 && now_ns - *last_ns > (uint64_t)pause_us * NS_PER_US + GAP_NS) {
    printf("gap %" PRIu64 " %" PRIu64 "\n", *last_ns, now_ns - *last_ns);
  }
  *last_ns = now_ns;
}

/* Until a flag is written to, for `pause_us` at most; and for so long where the kernel, or a
 * profile of system calls, does not know how to wait for several. */
static void await_writer(long pause_us) {
  struct futex_waitv words[MAX_FLAGS] = {{0}};
  unsigned count = 0;
  for (int i = 0; i < flag_count; ++i) {
    if (!flags[i].is_open) continue;
    words[count].val = flags[i].seq;
    words[count].uaddr = (uintptr_t)&flags[i].flag.line->seq;
    words[count].flags = FUTEX_32;
    ++count;
  }
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += pause_us * NS_PER_US;
  until.tv_sec += until.tv_nsec / NS_PER_S;
  until.tv_nsec %= NS_PER_S;
  if (count > 0 && syscall(SYS_futex_waitv, words, count, 0, &until, CLOCK_MONOTONIC) >= 0) return;
  if (count > 0 && (errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR)) return;
  static bool is_told = false;
  if (count > 0 && !is_told) {
    fprintf(stderr, "flag_observer: futex_waitv: %s; it looks every %ld us only\n", strerror(errno),
            pause_us);
    is_told = true;
  }
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static bool has_input_ended(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&input, 1, 0) > 0;
}

int main(int argc, char** argv) {
  long pause_us = 50;
  int first = 1;
  if (argc > 2 && strcmp(argv[1], "--pause-us") == 0) {
    pause_us = strtol(argv[2], NULL, 10);
    first = 3;
  }
  for (int i = first; i < argc && flag_count < MAX_FLAGS; ++i) flags[flag_count++].path = argv[i];
  if (flag_count == 0 || pause_us < 0 || pause_us > 1000000) {
    fprintf(stderr, "usage: flag_observer [--pause-us N] FLAG_FILE...\n");
    return 2;
  }
  /* Otherwise every pause is 50 us longer. */
  prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
  const uint64_t began_ns = leader_flag_now_ns();
  uint64_t last_ns = 0;
  uint64_t look_count = 0;
  while (!has_input_ended()) {
    tell_gap(&last_ns, pause_us);
    look();
    ++look_count;
    await_writer(pause_us);
  }
  printf("looks %" PRIu64 " %" PRIu64 "\n", look_count, leader_flag_now_ns() - began_ns);
  return 0;
}
