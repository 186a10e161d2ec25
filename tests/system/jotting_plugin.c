/* A plugin that keeps a file of its own and starts a program, and complains on stderr when it
 * cannot; elections it leaves to the example. */
#include <bellwether/election_plugin.h>

#define bellwether_election_plugin lowest_plugin
#include "../../examples/minimal_plugin/lowest.c"
#undef bellwether_election_plugin

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void jot(void) {
  const char* path = getenv("BELLWETHER_TEST_JOTTINGS");
  if (path == NULL) return;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) fprintf(stderr, "the plugin's file: %s\n", strerror(errno));
  char name[] = "/bin/true";
  char* arguments[] = {name, NULL};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, name, NULL, NULL, arguments, NULL);
  if (error != 0) {
    fprintf(stderr, "the plugin's program: %s\n", strerror(error));
  } else {
    waitpid(pid, NULL, 0);
  }
  if (fd < 0) return;
  if (error == 0 && write(fd, "jotted\n", 7) != 7) fprintf(stderr, "the plugin's file is full\n");
  close(fd);
}

static election_instance* create_jotting(const election_config* config) {
  jot();
  return create(config);
}

const election_plugin bellwether_election_plugin = {
    .abi_major = ELECTION_ABI_MAJOR,
    .abi_minor = ELECTION_ABI_MINOR,
    .size = sizeof(election_plugin),
    .name = "jotting",
    .version = "1",
    .variants = variants,
    .create = create_jotting,
    .destroy = destroy,
    .step = step,
    .extension = extension,
};
