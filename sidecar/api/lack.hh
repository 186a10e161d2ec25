// What a node that is not ready waits for, as a word: whoever shows several parts of /v1/status
// says each thing once by it.
#pragma once

#include <cstdint>

#include "base/names.hh"

namespace bellwether::api {

enum class Lack : uint8_t {
  kVote,   // its vote is worth nothing: `why` of the vote says the same
  kStore,  // the store does not answer it: `trouble` of the store says the same
  kOther,
  kLast = kOther,
};
inline const char* name(Lack lack) {
  static constexpr Names<Lack> kNames({"vote", "store", "other"});
  return kNames[lack];
}

}  // namespace bellwether::api
