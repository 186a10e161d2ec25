/* An application that its sidecar depends on: attached to it, it says what it is worth, and works
 * in units that it begins only while its flag covers them.  Where `[application] attach` is on, the
 * node leads only while this process lives.
 *
 *   attached_worker FLAG_FILE PLACE NAME [SCORE]
 *
 * PLACE is the path of the API's unix socket, or its address.  Prints a line whenever it begins or
 * ends to work, as worker.c does. */
#define _GNU_SOURCE
#include <bellwether/attachment.h>
#include <bellwether/leader_flag.h>
#include <signal.h>
#include <time.h>

enum { UNIT_NS = 1000000 }; /* of work; the pause stands for what an application really does */

static volatile sig_atomic_t is_asked_to_end = 0;

static void on_signal(int signal_number) {
  (void)signal_number;
  is_asked_to_end = 1;
}

static void pause_for(long ns) {
  const struct timespec pause = {.tv_sec = 0, .tv_nsec = ns};
  nanosleep(&pause, NULL);
}

static void tell(const char* name, const char* what, uint64_t token, uint64_t pieces) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t now_us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
  printf("%" PRIu64 " %s %s token=%" PRIu64 " pieces=%" PRIu64 "\n", now_us, name, what, token,
         pieces);
  fflush(stdout);
}

/* Takes what the sidecar has said; it only wakes this process.  Returns -EAGAIN, or why it is over.
 */
static int take_events(attachment* mine) {
  attachment_event event;
  int result = 0;
  while (result == 0) result = attachment_next(mine, &event);
  return result;
}

/* Until the sidecar, or this process, ends; returns why, as attachment_next() does. */
static int work(const leader_flag* flag, attachment* mine, const char* name) {
  uint64_t working = 0;
  uint64_t pieces = 0;
  int result = -EAGAIN;
  while (!is_asked_to_end && result == -EAGAIN) {
    uint64_t token = 0;
    if (leader_flag_begin(flag, UNIT_NS, &token)) {
      if (working != token) tell(name, "works", token, pieces);
      working = token;
      pause_for(UNIT_NS);
      if (leader_flag_still(flag, token)) ++pieces; /* its result counts */
      continue;
    }
    if (working != 0) tell(name, "stopped", working, pieces);
    working = 0;
    struct pollfd wait = {.fd = attachment_fd(mine), .events = POLLIN};
    poll(&wait, 1, 1000);
    result = take_events(mine);
  }
  if (working != 0) tell(name, "stopped", working, pieces);
  return result;
}

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    fprintf(stderr, "usage: attached_worker FLAG_FILE PLACE NAME [SCORE]\n");
    return 2;
  }
  const struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  const int64_t score = argc == 5 ? strtoll(argv[4], NULL, 10) : 0;

  leader_flag flag;
  int error = leader_flag_open(argv[1], &flag);
  while ((error == ENOENT || error == LEADER_FLAG_NOT_READY) && !is_asked_to_end) {
    pause_for(UNIT_NS);
    error = leader_flag_open(argv[1], &flag);
  }
  if (is_asked_to_end) return 0;
  if (error != 0) {
    fprintf(stderr, "attached_worker: %s: %s\n", argv[1], leader_flag_strerror(error));
    return 1;
  }
  while (!is_asked_to_end) {
    static attachment mine;
    int result = attachment_open(&mine, argv[2], argv[3], argc == 5 ? &score : NULL);
    if (result == 0) result = work(&flag, &mine, argv[3]);
    const int status = attachment_status(&mine);
    attachment_close(&mine);
    if (result == -EACCES || result == -EINVAL || status == 400) {
      fprintf(stderr, "attached_worker: may not attach (%d): %s\n", status, strerror(-result));
      return 1;
    }
    if (!is_asked_to_end) pause_for(100000000); /* the sidecar starts, or starts again */
  }
  leader_flag_close(&flag);
  return 0;
}
