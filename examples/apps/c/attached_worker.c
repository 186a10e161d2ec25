/* An application that its sidecar depends on: attached to it, it says what it is worth, and works
 * in units that it begins only while its flag covers them.  Where `[application] attach` is on, the
 * node leads only while this process lives.  Before the node hands over, the unit that was begun is
 * finished, and the sidecar is told so; on SIGTERM it is finished, too, before the process ends.
 *
 *   attached_worker FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]
 *
 * PLACE is the path of the API's unix socket, or its address; where that asks for a token, the file
 * in the environment's BELLWETHER_TOKEN_FILE has it.  Prints a line whenever it begins or
 * ends to work, as worker.c does. */
#define _GNU_SOURCE
#include <bellwether/attachment.h>
#include <bellwether/leader_flag.h>
#include <signal.h>
#include <time.h>

enum { MS_IN_NS = 1000000 };

/* What this process is. */
typedef struct worker {
  leader_flag flag;
  const char* place;
  const char* name;
  attachment_token token;
  long unit_ms; /* of work; the pause stands for what an application really does */
} worker;

static volatile sig_atomic_t is_asked_to_end = 0;

static void on_signal(int signal_number) {
  (void)signal_number;
  is_asked_to_end = 1;
}

/* A signal does not cut it short: what was begun is finished. */
static void pause_for(long ms) {
  struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS_IN_NS};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

/* `cut`: units that the flag did not cover to their end, so that their results did not count. */
static void tell(const char* name, const char* what, uint64_t token, uint64_t pieces,
                 uint64_t cut) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t now_us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
  printf("%" PRIu64 " %s %s token=%" PRIu64 " pieces=%" PRIu64 " cut=%" PRIu64 "\n", now_us, name,
         what, token, pieces, cut);
  fflush(stdout);
}

/* Takes what the sidecar has said; nothing is under way.  Returns -EAGAIN, or why it is over. */
static int take_events(const worker* self, attachment* mine) {
  for (;;) {
    attachment_event event;
    const int result = attachment_next(mine, &event);
    if (result != 0) return result;
    if (event.type != ATTACHMENT_DRAIN) continue;
    attachment_drained_by(self->place, &event, &self->token);
  }
}

/* Until the sidecar, or this process, ends; returns why, as attachment_next() does. */
static int work(const worker* self, attachment* mine) {
  uint64_t working = 0;
  uint64_t pieces = 0;
  uint64_t cut = 0;
  int result = -EAGAIN;
  while (!is_asked_to_end && result == -EAGAIN) {
    uint64_t token = 0;
    if (leader_flag_begin(&self->flag, MS_IN_NS, &token)) {
      if (working != token) tell(self->name, "works", token, pieces, cut);
      working = token;
      pause_for(self->unit_ms);
      leader_flag_still(&self->flag, token) ? ++pieces : ++cut; /* does its result count? */
      continue;
    }
    if (working != 0) tell(self->name, "stopped", working, pieces, cut);
    working = 0;
    struct pollfd wait = {.fd = attachment_fd(mine), .events = POLLIN};
    poll(&wait, 1, 1000);
    result = take_events(self, mine);
  }
  if (working != 0) tell(self->name, "stopped", working, pieces, cut);
  return result;
}

/* A name must not be taken for 0, which is root. */
static int is_user_id(const char* text) {
  return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int open_flag(const char* path, const char* user, leader_flag* flag) {
  if (user == NULL) return leader_flag_open(path, flag);
  return leader_flag_open_of(path, (uid_t)strtoul(user, NULL, 10), flag);
}

int main(int argc, char** argv) {
  if (argc < 4 || argc > 7 || (argc == 7 && !is_user_id(argv[6]))) {
    fprintf(stderr, "usage: attached_worker FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]\n");
    return 2;
  }
  const struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  const int64_t score = argc >= 5 ? strtoll(argv[4], NULL, 10) : 0;
  worker self = {.place = argv[2], .name = argv[3], .unit_ms = 1};
  const char* token_file = getenv("BELLWETHER_TOKEN_FILE");
  if (token_file != NULL && *token_file != '\0') self.token.file = token_file;
  if (argc >= 6) self.unit_ms = strtol(argv[5], NULL, 10);
  const char* user = argc == 7 ? argv[6] : NULL;

  int error = open_flag(argv[1], user, &self.flag);
  while ((error == ENOENT || error == LEADER_FLAG_NOT_READY) && !is_asked_to_end) {
    pause_for(1);
    error = open_flag(argv[1], user, &self.flag);
  }
  if (is_asked_to_end) return 0;
  if (error != 0) {
    fprintf(stderr, "attached_worker: %s: %s\n", argv[1], leader_flag_strerror(error));
    return 1;
  }
  while (!is_asked_to_end) {
    static attachment mine;
    const int64_t* worth = argc >= 5 ? &score : NULL;
    int result = attachment_open_by(&mine, self.place, self.name, worth, &self.token);
    if (result == 0) result = work(&self, &mine);
    const int status = attachment_status(&mine);
    attachment_close(&mine);
    const int is_ours =
        result == -EACCES || result == -EINVAL || result == -ENOKEY || result == -ERANGE;
    if (is_ours || status == 400) {
      fprintf(stderr, "attached_worker: may not attach (%d): %s\n", status, strerror(-result));
      return 1;
    }
    if (!is_asked_to_end) pause_for(100); /* the sidecar starts, or starts again */
  }
  leader_flag_close(&self.flag);
  return 0;
}
