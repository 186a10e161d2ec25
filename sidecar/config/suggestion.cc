// The distance of two words: how many letters to insert, delete, replace, or swap with the next
// (Damerau, "A technique for computer detection and correction of spelling errors", 1964).
#include "config/suggestion.hh"

#include <algorithm>

namespace bellwether {
namespace {

// Longer words are no misspelt keys; the distance takes time by their length.
constexpr size_t kMaxWord = 64;

size_t distance(std::string_view left, std::string_view right) {
  const size_t width = right.size() + 1;
  std::vector<std::vector<size_t>> rows(left.size() + 1, std::vector<size_t>(width));
  for (size_t i = 0; i <= left.size(); ++i) rows[i][0] = i;
  for (size_t j = 0; j < width; ++j) rows[0][j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    for (size_t j = 1; j < width; ++j) {
      const size_t replaced = rows[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      const bool is_swapped =
          i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (is_swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[left.size()][right.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kMaxWord) return "";
  std::string nearest;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t wrong = distance(word, candidate);
    if (wrong >= least || wrong >= candidate.size()) continue;
    least = wrong;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace bellwether
