/* Two applications that do all that one can do with the flag at `path`, in this order: open, read,
 * begin, still, wait for a nanosecond, close.  Each tells the fencing token; 0: does not lead;
 * UINT64_MAX: something was wrong. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
uint64_t token_seen_by_c11(const char* path);
uint64_t token_seen_by_cxx17(const char* path);
#ifdef __cplusplus
}
#endif
