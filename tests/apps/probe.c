/* What a reader of the flag sees, for reader_test.py: commands on the input, a line of JSON each.
 *
 *   open FILE              {"error": ""} or what kind of error
 *   open_of USER FILE      the same, of a file that must be this user's
 *   read                   the snapshot
 *   begin NEED_MS          {"token": the fencing token, or null}
 *   still TOKEN            {"still": true or false}
 *   watch STATES READS     reads as fast as it can, until it has seen so many states with a leader
 *                          or has read so often; then counts
 *
 * A state is torn when its parts do not belong together as those of busy_writer.cc do.  There is a
 * probe in each language; this one, of the C reader, is the measure. */
#include <bellwether/leader_flag.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static leader_flag flag;

static const char* kind_of(int error) {
  switch (error) {
    case 0:
      return "";
    case ENOENT:
      return "missing";
    case LEADER_FLAG_NOT_READY:
      return "not ready";
    case LEADER_FLAG_NOT_A_FLAG:
      return "not a flag";
    case LEADER_FLAG_UNKNOWN_VERSION:
      return "unknown version";
    case LEADER_FLAG_NOT_TRUSTED:
      return "not trusted";
    default:
      return "another";
  }
}

static void print_snapshot(void) {
  leader_flag_snapshot seen;
  leader_flag_read(&flag, &seen);
  printf("{\"role\": %d, \"epoch\": %" PRIu64 ", \"fencing_token\": %" PRIu64
         ", \"valid_until_ns\": %" PRIu64 ", \"leader_id\": \"",
         seen.role, seen.epoch, seen.fencing_token, seen.valid_until_ns);
  for (int i = 0; i < 16; ++i) {
    printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", seen.leader_id[i]);
  }
  printf("\", \"guard\": %d, \"seq\": %" PRIu32 ", \"is_sidecar_alive\": %s}\n", seen.guard,
         seen.seq, seen.is_sidecar_alive ? "true" : "false");
}

static void begin(uint64_t need_ms) {
  uint64_t token = 0;
  if (leader_flag_begin(&flag, need_ms * 1000000, &token)) {
    printf("{\"token\": %" PRIu64 "}\n", token);
  } else {
    puts("{\"token\": null}");
  }
}

static bool is_torn(const leader_flag_snapshot* seen) {
  const uint64_t id[2] = {seen->epoch * 0x9e3779b97f4a7c15u, ~seen->epoch};
  const bool leads = seen->epoch % 2 == 1;
  return memcmp(id, seen->leader_id, sizeof id) != 0 ||
         (seen->role == LEADER_FLAG_LEADER) != leads ||
         seen->fencing_token != (leads ? seen->epoch : 0);
}

static void watch(long max_states, long max_reads) {
  long states = 0;
  long torn = 0;
  long reads = 0;
  while (states < max_states && reads < max_reads) {
    leader_flag_snapshot seen;
    leader_flag_read(&flag, &seen);
    ++reads;
    if (seen.role == LEADER_FLAG_UNKNOWN) continue;
    ++states;
    torn += is_torn(&seen);
  }
  printf("{\"states\": %ld, \"torn\": %ld, \"reads\": %ld}\n", states, torn, reads);
}

int main(void) {
  char command[512];
  while (fgets(command, sizeof command, stdin) != NULL) {
    command[strcspn(command, "\n")] = '\0';
    if (strncmp(command, "open ", 5) == 0) {
      printf("{\"error\": \"%s\"}\n", kind_of(leader_flag_open(command + 5, &flag)));
    } else if (strncmp(command, "open_of ", 8) == 0) {
      char* path = command;
      const uid_t owner = (uid_t)strtoul(command + 8, &path, 10);
      printf("{\"error\": \"%s\"}\n", kind_of(leader_flag_open_of(path + 1, owner, &flag)));
    } else if (strcmp(command, "read") == 0) {
      print_snapshot();
    } else if (strncmp(command, "begin ", 6) == 0) {
      begin(strtoull(command + 6, NULL, 10));
    } else if (strncmp(command, "still ", 6) == 0) {
      const uint64_t token = strtoull(command + 6, NULL, 10);
      printf("{\"still\": %s}\n", leader_flag_still(&flag, token) ? "true" : "false");
    } else if (strncmp(command, "watch ", 6) == 0) {
      char* end = command + 6;
      const long states = strtol(end, &end, 10);
      watch(states, strtol(end, NULL, 10));
    } else {
      return 2;
    }
    fflush(stdout);
  }
  return 0;
}
