/* An application in C11.  <stdio.h> comes first on purpose: in strict C11 it has the C library hide
 * most of POSIX from every header behind it. */
#include <bellwether/leader_flag.h>
#include <stdio.h>

#include "consumers.h"

uint64_t token_seen_by_c11(const char* path) {
  leader_flag flag;
  const int error = leader_flag_open(path, &flag);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", path, leader_flag_strerror(error));
    return UINT64_MAX;
  }
  leader_flag_snapshot snapshot;
  leader_flag_read(&flag, &snapshot);
  uint64_t token = 0;
  uint64_t epoch = 0;
  const bool has_begun = leader_flag_begin(&flag, 1000, &token);
  const bool leads = leader_flag_is_leader(&flag, &epoch);
  const bool still_leads = leader_flag_still(&flag, token);
  const int waited = leader_flag_wait(&flag, &snapshot, 1);
  leader_flag_close(&flag);
  const bool is_consistent = has_begun == leads && leads == still_leads && token == epoch &&
                             token == snapshot.fencing_token && waited == ETIMEDOUT;
  return is_consistent ? token : UINT64_MAX;
}
