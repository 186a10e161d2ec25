/* A machine with flaws (LD_PRELOAD).  Of the environment:
 *
 *   CLOCK_AHEAD_S    by how many seconds its wall clock is ahead
 *   BROKEN_DISK      while this file exists, nothing reaches the disk (EIO)
 *   HANGING_DISK     while this file exists, no fdatasync ends
 *   UNOPENED_FILE    cannot be opened, as if the host had too many open files (ENFILE)
 *   HANGING_FILE     while its name with .hangs exists, it is neither opened nor refused
 *   DIES_AFTER_SYNC  the process is killed when the fdatasync with this number, from 1 on, is done
 *   SILENT_KERNEL    while this is set, nobody may ask the kernel for sockets
 *   EARLY_OPENSSL    while this is set, OpenSSL is used before main()
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long number_of(const char* name) {
  const char* const text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void use_openssl(void) {
  if (getenv("EARLY_OPENSSL") == NULL) return;
  void* (*allocate)(size_t, const char*, int) = NULL;
  *(void**)&allocate = dlsym(RTLD_DEFAULT, "CRYPTO_malloc");
  if (allocate != NULL) (void)allocate(1, __FILE__, __LINE__);
}

static int is_disk_broken(void) {
  const char* const path = getenv("BROKEN_DISK");
  const int errno_before = errno;
  const int is_there = path != NULL && access(path, F_OK) == 0;
  errno = is_there ? EIO : errno_before;
  return is_there;
}

static void hang_while_there_is(const char* path) {
  const struct timespec pause = {.tv_nsec = 10000000};
  const int errno_before = errno;
  while (path != NULL && access(path, F_OK) == 0) nanosleep(&pause, NULL);
  errno = errno_before;
}

static void hang_at(const char* path) {
  const char* const hanging = getenv("HANGING_FILE");
  if (hanging == NULL || strcmp(path, hanging) != 0) return;
  char marker[PATH_MAX];
  snprintf(marker, sizeof marker, "%s.hangs", path);
  hang_while_there_is(marker);
}

int open(const char* path, int flags, ...) {
  static int (*call)(const char*, int, ...) = NULL;
  if (call == NULL) *(void**)&call = dlsym(RTLD_NEXT, "open");
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  const char* const unopened = getenv("UNOPENED_FILE");
  if (unopened != NULL && strcmp(path, unopened) == 0) {
    errno = ENFILE;
    return -1;
  }
  hang_at(path);
  return call(path, flags, mode);
}

int lstat(const char* path, struct stat* status) {
  static int (*call)(const char*, struct stat*) = NULL;
  if (call == NULL) *(void**)&call = dlsym(RTLD_NEXT, "lstat");
  hang_at(path);
  return call(path, status);
}

typedef int call_on_file(int);

static int on_file(const char* name, int fd) {
  call_on_file* call = NULL;
  *(void**)&call = dlsym(RTLD_NEXT, name);
  return call(fd);
}

int fsync(int fd) { return is_disk_broken() ? -1 : on_file("fsync", fd); }

int fdatasync(int fd) {
  static atomic_long count;
  if (is_disk_broken()) return -1;
  hang_while_there_is(getenv("HANGING_DISK"));
  const int result = on_file("fdatasync", fd);
  if (++count == number_of("DIES_AFTER_SYNC")) kill(getpid(), SIGKILL);
  return result;
}

int socket(int domain, int type, int protocol) {
  static int (*call)(int, int, int) = NULL;
  if (call == NULL) *(void**)&call = dlsym(RTLD_NEXT, "socket");
  if (domain == AF_NETLINK && protocol == NETLINK_SOCK_DIAG && getenv("SILENT_KERNEL") != NULL) {
    errno = EAFNOSUPPORT;
    return -1;
  }
  return call(domain, type, protocol);
}

/* Which the C library answers without the former. */
time_t time(time_t* seconds) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*call)(clockid_t, struct timespec*) = NULL;
  if (call == NULL) *(void**)&call = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = call(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += number_of("CLOCK_AHEAD_S");
  return result;
}
