// How a key is made: from its type, its default and the member that holds its value.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/keys.hh"
#include "config/value_types.hh"

namespace bellwether {

template <typename Value>
struct Computed {
  const char* words;
  std::function<Value(const Config&, const Environment&)> compute;
};

struct Required {};

// The key whose value is `in(owner)`.
template <typename Owner, typename Type, typename Default, typename In>
ConfigKey<Owner> make_key(const char* table, const char* name, In in, const Type& type,
                          const Default& fallback, TakesEffect takes_effect, const char* help) {
  ConfigKey<Owner> key{.table = table,
                       .name = name,
                       .expects = type.expects(),
                       .takes_effect = takes_effect,
                       .help = help};
  key.read = [=](const SourceNode& node, Owner& owner, const Complain& complain) {
    auto value = type.read(node, complain);
    if (value) in(owner) = std::move(*value);
    return value.has_value();
  };
  key.write = [=](const Owner& owner) { return type.write(in(owner)); };
  key.copy = [=](const Owner& from, Owner& to) { in(to) = in(from); };
  if constexpr (std::is_same_v<Default, Required>) {
    key.set_default = [](Owner&, const Environment&) {};
  } else if constexpr (std::is_convertible_v<Default, typename Type::Value>) {
    key.default_words = toml_text(type.write(fallback));
    key.set_default = [=](Owner& owner, const Environment&) { in(owner) = fallback; };
  } else {
    key.default_words = fallback.words;
    key.set_default = [=](Owner& owner, const Environment& environment) {
      in(owner) = fallback.compute(owner, environment);
    };
  }
  return key;
}

// The keys of one table, which are the members of one part of the configuration.
template <typename Part>
class Table {
 public:
  Table(const char* name, Part Config::*part, std::vector<ConfigKey<Config>>& keys)
      : name_(name), part_(part), keys_(keys) {}

  template <typename Type, typename Default>
  void key(const char* name, typename Type::Value Part::*member, const Type& type,
           const Default& fallback, TakesEffect takes_effect, const char* help) {
    const auto in = [ part = part_, member ](auto& config) -> auto& {
      return config.*part.*member;
    };
    keys_.push_back(make_key<Config>(name_, name, in, type, fallback, takes_effect, help));
  }

 private:
  const char* name_;
  Part Config::*part_;
  std::vector<ConfigKey<Config>>& keys_;
};

}  // namespace bellwether
