// Its memory, and the phrases of its errors.
#include "io/tls/openssl.hh"

#include <openssl/crypto.h>
#include <openssl/err.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "base/undumped_memory.hh"

namespace bellwether::io {
namespace {

// How much it is, in front of what OpenSSL asks for: it does not say when it gives that back.
constexpr size_t kSizeBytes = alignof(std::max_align_t);

size_t size_of(const void* memory) {
  size_t bytes = 0;
  std::memcpy(&bytes, static_cast<const char*>(memory) - kSizeBytes, sizeof bytes);
  return bytes;
}

// None of them throws, for their callers are in C.
void* allocate(size_t bytes, const char* /*file*/, int /*line*/) {
  if (bytes == 0 || bytes > SIZE_MAX - 2 * kSizeBytes) return nullptr;
  try {
    auto* const whole = static_cast<char*>(allocate_undumped(bytes + kSizeBytes));
    std::memcpy(whole, &bytes, sizeof bytes);
    return whole + kSizeBytes;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void free(void* memory, const char* /*file*/, int /*line*/) {
  if (memory == nullptr) return;
  free_undumped(static_cast<char*>(memory) - kSizeBytes, size_of(memory) + kSizeBytes);
}

void* reallocate(void* memory, size_t bytes, const char* file, int line) {
  void* const moved = allocate(bytes, file, line);
  if (memory == nullptr || (moved == nullptr && bytes != 0)) return moved;
  if (moved != nullptr) std::memcpy(moved, memory, std::min(bytes, size_of(memory)));
  free(memory, file, line);
  return moved;
}

}  // namespace

bool keep_openssl_out_of_core_dumps() {
  return CRYPTO_set_mem_functions(allocate, reallocate, free) == 1;
}

std::string take_openssl_error() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "";
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "error " + std::to_string(ERR_GET_REASON(error));
}

BioPtr reader_of(std::string_view text) {
  BioPtr reader(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (reader == nullptr) throw std::bad_alloc();
  return reader;
}

}  // namespace bellwether::io
