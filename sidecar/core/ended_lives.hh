// Which lives of processes have ended, as this one has proof of or has been told by themselves: the
// last few, for the record names one that held it lately.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace bellwether {

class EndedLives {
 public:
  // `boot`: MemberEntry::boot, by which no other life of any process is known.
  void add(uint64_t boot) {
    if (has(boot)) return;
    boots_[next_] = boot;
    next_ = (next_ + 1) % boots_.size();
  }
  // 0 is nobody's.
  bool has(uint64_t boot) const {
    return boot != 0 && std::ranges::find(boots_, boot) != boots_.end();
  }

 private:
  std::array<uint64_t, 64> boots_{};  // more than end before a record is written again
  size_t next_ = 0;
};

}  // namespace bellwether
