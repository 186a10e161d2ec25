// The types of values that keys have.  Each knows what it takes, reads it from TOML, and gives it
// back as a plain value, so that what is printed can be read again.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hh"
#include "base/host_port.hh"
#include "base/names.hh"
#include "config/source.hh"

namespace bellwether {

// The candidate that `word` was probably meant to be: at most a third of it, and always one letter,
// may be wrong, missing, too many or swapped with its neighbour.  Empty when none is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);
// The same as the end of a remedy: "; did you mean \"lease\"?"
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// A value as TOML has it.
struct Octal {
  uint32_t number = 0;
  friend bool operator==(const Octal&, const Octal&) = default;
};
using PlainValue = std::variant<std::string, int64_t, Octal, std::vector<std::string>>;

// As it stands behind the = in a configuration.
std::string toml_text(const PlainValue& value);
std::string toml_text(const std::string& text);

// Takes what is wrong with a value, as a phrase, and the remedy.
using Complain = std::function<void(SourcePosition position, const std::string& what,
                                    const std::string& remedy)>;

// Every type has: Value; expects(), what it takes, as a phrase; read(), which complains and returns
// nothing when it gets anything else; and write().

struct NumberType {
  using Value = uint32_t;
  uint32_t min = 0;
  uint32_t max = 0;

  std::string expects() const;
  std::optional<Value> read(const SourceNode& node, const Complain& complain) const;
  PlainValue write(Value value) const { return int64_t{value}; }
};

// The permissions of a file.
struct FileModeType {
  using Value = uint32_t;

  std::string expects() const;
  std::optional<Value> read(const SourceNode& node, const Complain& complain) const;
  PlainValue write(Value value) const { return Octal{value}; }
};

struct DurationType {
  using Value = Duration;
  Duration min{};
  Duration max{};

  std::string expects() const;
  std::optional<Value> read(const SourceNode& node, const Complain& complain) const;
  PlainValue write(Value value) const;
};

struct TextType {
  using Value = std::string;
  const char* form = "";  // what `accepts` accepts, as a phrase
  bool (*accepts)(std::string_view) = nullptr;

  std::string expects() const { return form; }
  std::optional<Value> read(const SourceNode& node, const Complain& complain) const;
  PlainValue write(const Value& value) const { return value; }
};

struct HostPortType {
  using Value = HostPort;
  bool may_be_none = false;

  std::string expects() const;
  std::optional<Value> read(const SourceNode& node, const Complain& complain) const;
  PlainValue write(const Value& value) const { return value.text(); }
};

// The entries of a list; nothing, after a complaint, when it is not a list or too long.
std::optional<std::vector<SourceNode>> read_list(const SourceNode& node, size_t max_items,
                                                 const std::string& expects,
                                                 const Complain& complain);

template <typename Item>
struct ListType {
  using Value = std::vector<typename Item::Value>;
  size_t max_items = 0;
  const char* items = "";  // what they are, as a phrase
  Item item{};

  std::string expects() const {
    return "a list of at most " + std::to_string(max_items) + " " + items;
  }

  std::optional<Value> read(const SourceNode& node, const Complain& complain) const {
    const auto found = read_list(node, max_items, expects(), complain);
    if (!found) return std::nullopt;
    Value list;
    for (const SourceNode& each : *found) {
      // Every bad entry is told.
      if (auto value = item.read(each, complain)) list.push_back(std::move(*value));
    }
    if (list.size() < found->size()) return std::nullopt;
    return list;
  }

  PlainValue write(const Value& value) const {
    std::vector<std::string> list;
    for (const auto& each : value) list.push_back(std::get<std::string>(item.write(each)));
    return list;
  }
};

// The text of `node` if it is one of `words`; true and false are "on" and "off".  Complains
// otherwise.
std::optional<std::string> read_word(const SourceNode& node, const std::vector<std::string>& words,
                                     const Complain& complain);
// "a", "b" or "c"
std::string any_of_words(const std::vector<std::string>& words);

// One of a few words, each with its meaning.
template <typename Enum>
struct WordType {
  using Value = Enum;
  using Choice = std::pair<std::string, Enum>;
  std::vector<Choice> choices;

  std::string expects() const { return any_of_words(words()); }

  std::optional<Value> read(const SourceNode& node, const Complain& complain) const {
    const auto word = read_word(node, words(), complain);
    if (!word) return std::nullopt;
    return std::ranges::find(choices, *word, &Choice::first)->second;
  }

  PlainValue write(Value value) const {
    return std::ranges::find(choices, value, &Choice::second)->first;
  }

 private:
  std::vector<std::string> words() const {
    std::vector<std::string> names;
    for (const auto& choice : choices) names.push_back(choice.first);
    return names;
  }
};

// Each value of an enum, by its name().
template <typename Enum>
WordType<Enum> each_name_of() {
  WordType<Enum> type;
  for (const Enum value : all_values<Enum>()) type.choices.emplace_back(name(value), value);
  return type;
}

}  // namespace bellwether
