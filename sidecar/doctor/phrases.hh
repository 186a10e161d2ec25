// Words for findings.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/clock.hh"

namespace bellwether::doctor {

// "a", "a and b", "a, b and c"; of more than `limit`: "a, b and 7 others".
std::string listed(const std::vector<std::string>& words, size_t limit = 5);
inline std::string listed(const std::set<std::string>& words) {
  return listed(std::vector<std::string>(words.begin(), words.end()));
}

// "1 member", "3 members"
std::string counted(size_t count, const std::string& noun);

// "0.31ms", "12ms", "2.5s"
std::string time_text(Duration duration);

// "12 KiB", "3 GiB"
std::string size_text(uint64_t bytes);

}  // namespace bellwether::doctor
