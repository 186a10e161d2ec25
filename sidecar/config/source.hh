// TOML text as a tree in which everything knows its place.  The rest of the configuration sees this
// tree alone; which library reads TOML is known to source.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/findings.hh"

namespace bellwether {

struct SourceEntry;

struct SourceNode {
  enum class Kind : uint8_t { kText, kNumber, kTruth, kList, kTable, kOther };

  Kind kind = Kind::kOther;
  SourcePosition position;
  const char* kind_name = "";  // what a user calls it, with its article: "a list"

  std::string text;                  // kText
  int64_t number = 0;                // kNumber
  bool is_true = false;              // kTruth
  std::vector<SourceNode> items;     // kList
  std::vector<SourceEntry> entries;  // kTable, by key

  // The entry of this key, or null; also null when this is not a table.
  const SourceEntry* find(std::string_view key) const;
};

struct SourceEntry {
  std::string key;
  SourcePosition position;  // of the key
  SourceNode value;
};

// No configuration is longer.
inline constexpr size_t kMaxConfigBytes = size_t{32} * 1024;

// The table that the whole text is, without what is nested deeper than any key.  Throws
// ConfigErrors when it is no TOML, or longer than 32 KiB.
SourceNode read_source(std::string_view text, const std::string& file);

}  // namespace bellwether
