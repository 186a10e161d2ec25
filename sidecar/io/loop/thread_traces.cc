// The C library keeps the upper part of a stack when its thread has ended.  Memory is copied
// through vector registers, and the dynamic linker saves them on the stack when a function is
// called for the first time.
#include "io/loop/thread_traces.hh"

#include <openssl/crypto.h>
#include <sys/prctl.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace bellwether::io {

bool may_dump_core() { return ::prctl(PR_GET_DUMPABLE) != 0; }

// Not where AddressSanitizer would put its variables, but where others' have been.
[[gnu::noinline, gnu::no_sanitize_address]] void wipe_traces() {
  if (!may_dump_core()) return;
  std::array<char, size_t{64} << 10> zeros;  // NOLINT(*-member-init): cleansed next
  OPENSSL_cleanse(zeros.data(), zeros.size());
  // More than eight registers of 64 bytes hold, for which glibc uses as many as it ever does; and
  // less than what it leaves to an instruction (rep movsb) instead.
  const volatile size_t size = 1024;
  std::memcpy(zeros.data() + size, zeros.data(), size);
  OPENSSL_cleanse(zeros.data() + size, size);  // so that the compiler keeps the copy
}

}  // namespace bellwether::io
