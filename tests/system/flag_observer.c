/* Watches the flags of several sidecars as applications see them, for tests and benchmarks.
 *
 *   flag_observer [--pause-us N] FLAG_FILE...
 *
 * Prints a line for each flag that goes on or off: the time (CLOCK_BOOTTIME, ns) at which the look
 * began that saw it, the number of the flag (from 0), 1 or 0, and the epoch.  A line `double` names
 * two flags that were on at the same instant by the sandwich rule: A was on, then B was on, then A
 * was still on, in the same epoch; so at the look at B both were.  A line `gap` says that nobody
 * looked for longer than a millisecond: when the look before it began, and how many ns went by.
 * Ends when its input does, with a line `looks`: how many it made, in how many ns. */
#include <bellwether/leader_flag.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

/* Looks that are further apart than GAP_NS are worth a line. */
enum { MAX_FLAGS = 64, GAP_NS = 1000000 };

typedef struct observed_flag {
  const char* path;
  leader_flag flag;
  bool is_open;
  bool is_on;
  uint64_t epoch;
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
static void tell_gap(uint64_t* last_ns) {
  const uint64_t now_ns = leader_flag_now_ns();
  if (*last_ns != 0 && now_ns - *last_ns > GAP_NS) {
    printf("gap %" PRIu64 " %" PRIu64 "\n", *last_ns, now_ns - *last_ns);
  }
  *last_ns = now_ns;
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
  const struct timespec pause = {.tv_sec = pause_us / 1000000,
                                 .tv_nsec = (pause_us % 1000000) * 1000};
  const uint64_t began_ns = leader_flag_now_ns();
  uint64_t last_ns = 0;
  uint64_t look_count = 0;
  while (!has_input_ended()) {
    tell_gap(&last_ns);
    look();
    ++look_count;
    nanosleep(&pause, NULL);
  }
  printf("looks %" PRIu64 " %" PRIu64 "\n", look_count, leader_flag_now_ns() - began_ns);
  return 0;
}
