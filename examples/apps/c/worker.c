/* An application of which one replica at a time may work: it asks the leader flag before every
 * piece of work, and sleeps while another replica leads.
 *
 *   worker FLAG_FILE NAME [UID]
 *
 * Prints a line whenever it begins or ends to work, with the time of day in microseconds and the
 * fencing token that it would hand to whatever it works on.  UID is the id of the sidecar's user, a
 * number, where the flag's folder does not tell whose word counts (leader_flag.h). */
#define _GNU_SOURCE
#include <bellwether/leader_flag.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t is_asked_to_end = 0;

static void on_signal(int signal_number) {
  (void)signal_number;
  is_asked_to_end = 1;
}

static void tell(const char* name, const char* what, uint64_t token, uint64_t pieces) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t now_us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
  printf("%" PRIu64 " %s %s token=%" PRIu64 " pieces=%" PRIu64 "\n", now_us, name, what, token,
         pieces);
  fflush(stdout);
}

/* One piece of work; the pause stands for what an application really does. */
static void do_a_piece_of_work(void) {
  const struct timespec pause = {.tv_sec = 0, .tv_nsec = 100000};
  nanosleep(&pause, NULL);
}

/* Works for as long as the flag is on; returns the pieces done. */
static uint64_t work(const leader_flag* flag, uint64_t token) {
  uint64_t pieces = 0;
  uint64_t epoch = 0;
  while (!is_asked_to_end && leader_flag_is_leader(flag, &epoch) && epoch == token) {
    do_a_piece_of_work();
    ++pieces;
  }
  return pieces;
}

/* A name must not be taken for 0, which is root. */
static int is_user_id(const char* text) {
  return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int open_flag(const char* path, const char* user, leader_flag* flag) {
  if (user == NULL) return leader_flag_open(path, flag);
  return leader_flag_open_of(path, (uid_t)strtoul(user, NULL, 10), flag);
}

/* The sidecar may start later than the application. */
static int wait_for_flag_file(const char* path, const char* user, leader_flag* flag) {
  int error = open_flag(path, user, flag);
  while ((error == ENOENT || error == LEADER_FLAG_NOT_READY) && !is_asked_to_end) {
    do_a_piece_of_work();
    error = open_flag(path, user, flag);
  }
  return error;
}

int main(int argc, char** argv) {
  if ((argc != 3 && argc != 4) || (argc == 4 && !is_user_id(argv[3]))) {
    fprintf(stderr, "usage: worker FLAG_FILE NAME [UID]\n");
    return 2;
  }
  const struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);

  leader_flag flag;
  const int error = wait_for_flag_file(argv[1], argc == 4 ? argv[3] : NULL, &flag);
  if (is_asked_to_end) return 0;
  if (error != 0) {
    fprintf(stderr, "worker: %s: %s\n", argv[1], leader_flag_strerror(error));
    return 1;
  }
  while (!is_asked_to_end) {
    leader_flag_snapshot seen;
    leader_flag_read(&flag, &seen);
    if (seen.role == LEADER_FLAG_LEADER) {
      tell(argv[2], "works", seen.fencing_token, 0);
      const uint64_t pieces = work(&flag, seen.fencing_token);
      tell(argv[2], "stopped", seen.fencing_token, pieces);
    } else {
      leader_flag_wait(&flag, &seen, 1000000000u);
    }
  }
  leader_flag_close(&flag);
  return 0;
}
