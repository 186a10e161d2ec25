/* Lets ThreadSanitizer see how libuv closes a file descriptor: by syscall(SYS_close), which it does
 * not look into (uv__close_nocancel() in libuv's src/unix/core.c, 1.44.2 and later).  Otherwise it
 * takes whoever is given the same number next for somebody who races with whoever had it.  Such a
 * report can be suppressed, but only by its functions' names, and while an external program looks
 * those up all threads stand still: for seconds, where many processes do that at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) long syscall(long number, ...) {
  static long (*next)(long number, ...);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "syscall");
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; ++i) {
    arguments[i] = va_arg(list, long);
  }
  va_end(list);
  if (number == SYS_close) return close((int)arguments[0]);
  return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
              arguments[5]);
}
