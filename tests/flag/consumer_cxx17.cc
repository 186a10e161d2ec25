// An application in C++17.
#include <bellwether/leader_flag.h>

#include <iostream>

#include "consumers.h"

uint64_t token_seen_by_cxx17(const char* path) {
  leader_flag flag{};
  if (const int error = leader_flag_open(path, &flag); error != 0) {
    std::cerr << path << ": " << leader_flag_strerror(error) << '\n';
    return UINT64_MAX;
  }
  leader_flag_snapshot snapshot{};
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
