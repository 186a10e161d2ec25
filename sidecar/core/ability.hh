// What a node's application is worth: whether it lets the node lead, and how well it would work.
// The shell makes it of attachments, probes and scores; the core takes its word.
#pragma once

#include <cstdint>

#include "base/names.hh"

namespace bellwether {

// Whether a node may lead, as far as its application is concerned.
enum class Ability : uint8_t {
  kAble,       // or nothing is asked of any application
  kAbsent,     // none is attached
  kUnhealthy,  // it does not answer, or says that it cannot work
  kLast = kUnhealthy,
};
// "able", "absent", "unhealthy".
inline const char* name(Ability ability) {
  static constexpr Names<Ability> kNames({"able", "absent", "unhealthy"});
  return kNames[ability];
}

// Scores are from -kMaxScore to kMaxScore: what every language's numbers and JSON can hold exactly,
// and whose differences fit.
inline constexpr int64_t kMaxScore = (int64_t{1} << 53) - 1;
inline constexpr bool is_score(int64_t score) { return score >= -kMaxScore && score <= kMaxScore; }

}  // namespace bellwether
