// "Did you mean …?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bellwether {

// The candidate that `word` was probably meant to be: at most a third of it, and always one letter,
// may be wrong, missing, too many or swapped with its neighbour.  Empty when none is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace bellwether
