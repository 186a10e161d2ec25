// The words of one command, read from the left to the right, each as what it means.  A verb reads
// what it understands; what is left over then is refused by the runner, so that no verb can ignore
// a word that it does not know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hh"
#include "base/names.hh"

namespace bellwether::simulator {

class Words {
 public:
  // `words` must outlive the reader.
  explicit Words(const std::vector<std::string>& words) : words_(&words), end_(words.size()) {}

  bool is_empty() const { return next_ == end_; }
  // What comes next without reading it; "" at the end.
  std::string_view peek() const { return is_empty() ? std::string_view() : (*words_)[next_]; }

  // The next word; throws std::invalid_argument, which says that `what` is missing.
  const std::string& take(const char* what);
  // The last word, for verbs whose list stands before it.
  const std::string& take_last(const char* what);
  // Reads the next word when it is this one, and says whether it was.
  bool skip(std::string_view word);
  // Reads the next word, which must be this one; throws std::invalid_argument.
  void require(std::string_view word);
  // Reads the next word when it is "key=value", and returns the value.
  std::optional<std::string> take_value(std::string_view key);

 private:
  const std::vector<std::string>* words_;
  size_t next_ = 0;
  size_t end_;
};

// More is a mistake: nothing in the protocol takes so long, and running it would take for ever.
inline constexpr Duration kLongestDuration = std::chrono::hours(7 * 24);

// "250", "250ms", "2s", up to kLongestDuration; throws std::invalid_argument.
Duration parse_duration(const std::string& word);
// A whole number; throws std::invalid_argument.
uint64_t parse_number(const std::string& word);
// A decimal fraction from `least` to `most`; nothing for anything else.
std::optional<double> parse_fraction(const std::string& word, double least, double most);

// Throws std::invalid_argument, which says what `what` can be.
[[noreturn]] void refuse_word(const char* what, std::string_view word,
                              const std::vector<const char*>& words);

// What one of a few words stands for; throws std::invalid_argument for any other.
template <typename Value, size_t kCount>
Value parse_choice(const char* what, std::string_view word,
                   const std::pair<const char*, Value> (&choices)[kCount]) {
  std::vector<const char*> words;
  for (const auto& [name, value] : choices) {
    if (word == name) return value;
    words.push_back(name);
  }
  refuse_word(what, word, words);
}

// The same of an enum with names.
template <typename Enum>
Enum parse_name(const char* what, std::string_view word) {
  if (const auto value = value_named<Enum>(word)) return *value;
  std::vector<const char*> words;
  for (const Enum value : all_values<Enum>()) words.push_back(name(value));
  refuse_word(what, word, words);
}

}  // namespace bellwether::simulator
