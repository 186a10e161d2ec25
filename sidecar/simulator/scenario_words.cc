// Words become numbers and durations here.
#include "simulator/scenario_words.hh"

#include <fmt/ranges.h>

#include <charconv>

namespace bellwether::simulator {

const std::string& Words::take(const char* what) {
  if (is_empty()) throw std::invalid_argument(std::string("missing ") + what);
  return (*words_)[next_++];
}

const std::string& Words::take_last(const char* what) {
  if (is_empty()) throw std::invalid_argument(std::string("missing ") + what);
  return (*words_)[--end_];
}

bool Words::skip(std::string_view word) {
  if (is_empty() || (*words_)[next_] != word) return false;
  ++next_;
  return true;
}

void Words::require(std::string_view word) {
  if (skip(word)) return;
  throw std::invalid_argument("'" + std::string(word) + "' was expected" +
                              (is_empty() ? "" : " instead of '" + (*words_)[next_] + "'"));
}

std::optional<std::string> Words::take_value(std::string_view key) {
  if (is_empty()) return std::nullopt;
  const std::string& word = (*words_)[next_];
  const bool is_asked_for =
      word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=';
  if (!is_asked_for) return std::nullopt;
  ++next_;
  return word.substr(key.size() + 1);
}

uint64_t parse_number(const std::string& word) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) {
    throw std::invalid_argument("'" + word + "' is not a number");
  }
  return number;
}

Duration parse_duration(const std::string& word) {
  const size_t digits = word.find_first_not_of("0123456789");
  const std::string unit = digits == std::string::npos ? "ms" : word.substr(digits);
  const uint64_t number = parse_number(word.substr(0, digits));
  Duration one{};
  if (unit == "us") one = std::chrono::microseconds(1);
  if (unit == "ms") one = std::chrono::milliseconds(1);
  if (unit == "s") one = std::chrono::seconds(1);
  if (one == Duration::zero()) {
    throw std::invalid_argument("'" + word + "' is not a duration such as 250ms or 2s");
  }
  if (number > static_cast<uint64_t>(kLongestDuration / one)) {
    throw std::invalid_argument("'" + word + "' is longer than 7 days");
  }
  return one * static_cast<Duration::rep>(number);
}

std::optional<double> parse_fraction(const std::string& word, double least, double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = error == std::errc{} && end == word.data() + word.size();
  // A NaN is neither below nor above anything.
  if (!is_number || !(number >= least && number <= most)) return std::nullopt;
  return number;
}

void refuse_word(const char* what, std::string_view word, const std::vector<const char*>& words) {
  throw std::invalid_argument(
      fmt::format("{} is {}, not '{}'", what, fmt::join(words, " or "), word));
}

}  // namespace bellwether::simulator
