// From the tree of toml++ to ours.  Its parser gives up at the first error.  It, and whatever walks
// through its tree, calls itself once a level: so the levels are bounded, lest a small stack
// overflow.  It bounds those of brackets itself; a dotted key makes one of two characters.
#include "config/source.hh"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>

namespace bellwether {
namespace {

// Nothing that has a meaning lies deeper; what does is cut off.
constexpr int kMaxDepth = 8;
// In a line, outside of quotes.
constexpr int kMaxDots = 2 * kMaxDepth;

SourcePosition position_of(const toml::source_region& region) {
  return {region.begin.line, region.begin.column};
}

const char* name_of(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or a time";
  }
}

SourceNode convert(const toml::node& node, int depth = 0) {
  SourceNode result;
  result.position = position_of(node.source());
  result.kind_name = name_of(node.type());
  if (depth > kMaxDepth) return result;
  if (const auto* text = node.as_string()) {
    result.kind = SourceNode::Kind::kText;
    result.text = text->get();
  } else if (const auto* number = node.as_integer()) {
    result.kind = SourceNode::Kind::kNumber;
    result.number = number->get();
  } else if (const auto* truth = node.as_boolean()) {
    result.kind = SourceNode::Kind::kTruth;
    result.is_true = truth->get();
  } else if (const auto* list = node.as_array()) {
    result.kind = SourceNode::Kind::kList;
    for (const toml::node& item : *list) result.items.push_back(convert(item, depth + 1));
  } else if (const auto* table = node.as_table()) {
    result.kind = SourceNode::Kind::kTable;
    for (const auto& [key, value] : *table) {
      result.entries.push_back(
          {std::string(key.str()), position_of(key.source()), convert(value, depth + 1)});
    }
  }
  return result;
}

// The first line with a key that has too many parts.  Quotes are read as TOML reads them but for
// those of texts with several lines, which no key takes.
std::optional<SourcePosition> find_deep_key(std::string_view text) {
  uint32_t line = 1;
  size_t line_start = 0;
  int dots = 0;
  char quote = 0;
  bool is_comment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '\n') {
      ++line;
      line_start = i + 1;
      dots = 0;
      quote = 0;
      is_comment = false;
    } else if (quote != 0) {
      const bool is_escape = letter == '\\' && quote == '"';
      if (is_escape) ++i;
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = is_comment ? 0 : letter;
    } else if (letter == '#') {
      is_comment = true;
    } else if (letter == '.' && !is_comment && ++dots > kMaxDots) {
      return SourcePosition{line, static_cast<uint32_t>(i - line_start + 1)};
    }
  }
  return std::nullopt;
}

}  // namespace

const SourceEntry* SourceNode::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &SourceEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

SourceNode read_source(std::string_view text, const std::string& file) {
  if (text.size() > kMaxConfigBytes) {
    throw ConfigErrors(
        file,
        {{.what = fmt::format("has {} bytes", text.size()),
          .remedy = fmt::format("a configuration has at most {}; name fewer peers, or one name "
                                "for all (membership.dns)",
                                kMaxConfigBytes)}});
  }
  if (const auto deep = find_deep_key(text)) {
    throw ConfigErrors(file, {{.position = *deep,
                               .what = fmt::format("has more than {} dots in a line", kMaxDots),
                               .remedy = "repair the key: none has more than three parts"}});
  }
  try {
    return convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    throw ConfigErrors(file, {{.position = position_of(error.source()),
                               .what = std::string(error.description()),
                               .remedy = "repair the TOML syntax"}});
  }
}

}  // namespace bellwether
