/* Makes some system calls of a program slow (LD_PRELOAD), as a busy machine or disk does, so that a
 * test can look at what happens between two of them.  Of the environment, both in milliseconds:
 *
 *   SLOW_SOCKET_CLOSE_MS   each close of a socket of the internet
 *   SLOW_SYNC_MS           each write of a file to its disk */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_ms(const char* name) {
  const char* const text = getenv(name);
  const long ms = text == NULL ? 0 : atol(text);
  const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  const int errno_before = errno;
  if (ms > 0) nanosleep(&pause, NULL);
  errno = errno_before;
}

static void wait_for_close(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  const int errno_before = errno;
  const int failed = getsockname(fd, (struct sockaddr*)&address, &length);
  errno = errno_before;
  if (failed == 0 && (address.ss_family == AF_INET || address.ss_family == AF_INET6)) {
    wait_ms("SLOW_SOCKET_CLOSE_MS");
  }
}

typedef int call_on_file(int);

static int on_file(const char* name, int fd) {
  call_on_file* call = NULL;
  *(void**)&call = dlsym(RTLD_NEXT, name);
  return call(fd);
}

int close(int fd) {
  wait_for_close(fd);
  return on_file("close", fd);
}

int fsync(int fd) {
  wait_ms("SLOW_SYNC_MS");
  return on_file("fsync", fd);
}

int fdatasync(int fd) {
  wait_ms("SLOW_SYNC_MS");
  return on_file("fdatasync", fd);
}

/* libuv closes so. */
long syscall(long number, ...) {
  static long (*call)(long, ...) = NULL;
  if (call == NULL) *(void**)&call = dlsym(RTLD_NEXT, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_close) wait_for_close((int)a[0]);
  return call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
