// Reading and writing of each type.
#include "config/value_types.hh"

#include <fmt/format.h>

#include "base/duration_text.hh"
#include "config/environment.hh"
#include "config/text_forms.hh"

namespace bellwether {
namespace {

// Longer words are not misspelt keys; the distance takes time by their length.
constexpr size_t kMaxWord = 64;

// How many letters to insert, delete, replace, or swap with the next (Damerau, "A technique for
// computer detection and correction of spelling errors", 1964).
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

using Kind = SourceNode::Kind;

constexpr uint32_t kMaxMode = 0777;

// Complains of `node`, and stands for the value that it is not.
std::nullopt_t refuse(const SourceNode& node, const std::string& what, const std::string& expects,
                      const Complain& complain) {
  complain(node.position, what, "give " + expects);
  return std::nullopt;
}

// Whether `node` is of this kind; complains if it is not.
bool is_kind(const SourceNode& node, Kind kind, const char* kind_name, const std::string& expects,
             const Complain& complain) {
  if (node.kind == kind) return true;
  refuse(node, fmt::format("is {}, not {}", node.kind_name, kind_name), expects, complain);
  return false;
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

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string meant = nearest_word(word, candidates);
  return meant.empty() ? "" : "; did you mean " + toml_text(meant) + "?";
}

// A basic string of TOML.
std::string toml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : escape_variables(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string toml_text(const PlainValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_text(*text);
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* octal = std::get_if<Octal>(&value)) return fmt::format("0o{:03o}", octal->number);
  std::vector<std::string> items = std::get<std::vector<std::string>>(value);
  for (std::string& item : items) item = toml_text(item);
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string NumberType::expects() const {
  return fmt::format("a whole number from {} to {}", min, max);
}

std::optional<uint32_t> NumberType::read(const SourceNode& node, const Complain& complain) const {
  if (!is_kind(node, Kind::kNumber, "a whole number", expects(), complain)) return std::nullopt;
  if (node.number >= min && node.number <= max) return static_cast<uint32_t>(node.number);
  return refuse(node, fmt::format("{} is out of range", node.number), expects(), complain);
}

std::string FileModeType::expects() const { return "an octal number up to 0o777, like 0o640"; }

std::optional<uint32_t> FileModeType::read(const SourceNode& node, const Complain& complain) const {
  if (!is_kind(node, Kind::kNumber, "a number", expects(), complain)) return std::nullopt;
  if (node.number >= 0 && node.number <= kMaxMode) return static_cast<uint32_t>(node.number);
  return refuse(node, fmt::format("{} is not a file mode", node.number), expects(), complain);
}

std::string DurationType::expects() const {
  return fmt::format(R"(a duration from "{}" to "{}", a whole number with a unit: ms, s, m or h)",
                     duration_text(min), duration_text(max));
}

std::optional<Duration> DurationType::read(const SourceNode& node, const Complain& complain) const {
  if (!is_kind(node, Kind::kText, "a duration in quotes", expects(), complain)) return std::nullopt;
  const auto duration = parse_duration(node.text);
  if (duration && *duration >= min && *duration <= max) return duration;
  return refuse(node, toml_text(node.text) + (duration ? " is out of range" : " is not a duration"),
                expects(), complain);
}

PlainValue DurationType::write(Duration value) const { return duration_text(value); }

std::optional<std::string> TextType::read(const SourceNode& node, const Complain& complain) const {
  if (!is_kind(node, Kind::kText, "text", expects(), complain)) return std::nullopt;
  if (is_printable(node.text) && accepts(node.text)) return node.text;
  return refuse(node, toml_text(node.text) + " has the wrong form", expects(), complain);
}

std::string HostPortType::expects() const {
  return std::string("\"host:port\" with a name, an IPv4 address or an [IPv6 address]") +
         (may_be_none ? ", or \"\" for none" : "");
}

std::optional<HostPort> HostPortType::read(const SourceNode& node, const Complain& complain) const {
  if (may_be_none && node.kind == Kind::kText && node.text.empty()) return HostPort{};
  if (!is_kind(node, Kind::kText, "text", expects(), complain)) return std::nullopt;
  HostPort result;
  const std::string flaw = parse_host_port(node.text, result);
  if (flaw.empty()) return result;
  return refuse(node, toml_text(node.text) + " " + flaw, expects(), complain);
}

std::optional<std::vector<SourceNode>> read_list(const SourceNode& node, size_t max_items,
                                                 const std::string& expects,
                                                 const Complain& complain) {
  if (!is_kind(node, Kind::kList, "a list", expects, complain)) return std::nullopt;
  if (node.items.size() <= max_items) return node.items;
  return refuse(node, fmt::format("has {} entries", node.items.size()), expects, complain);
}

std::string any_of_words(const std::vector<std::string>& words) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " or " : ", ";
    list += toml_text(words[i]);
  }
  return list;
}

std::optional<std::string> read_word(const SourceNode& node, const std::vector<std::string>& words,
                                     const Complain& complain) {
  const auto is_word = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (node.kind == Kind::kTruth && is_word("on") && is_word("off")) {
    return node.is_true ? "on" : "off";
  }
  if (!is_kind(node, Kind::kText, "text", any_of_words(words), complain)) return std::nullopt;
  if (std::find(words.begin(), words.end(), node.text) != words.end()) return node.text;
  return refuse(node, toml_text(node.text) + " is not one of the words for it",
                any_of_words(words) + did_you_mean(node.text, words), complain);
}

}  // namespace bellwether
