// How a key is declared (keys.cc, election_keys.cc, store_keys.cc): what makes a row of the table
// of keys out of a member of the configuration, its type and its default.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/keys.hh"
#include "config/text_forms.hh"
#include "config/value_types.hh"

namespace bellwether {

// A default that follows from keys that stand above, as `words` say.
template <typename Value>
struct Computed {
  const char* words;
  std::function<Value(const Config&, const Environment&)> compute;
};

// There is no default.
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

// The default stands first.
inline WordType<bool> off_or_on() { return {{{"off", false}, {"on", true}}}; }
inline WordType<bool> on_or_off() { return {{{"on", true}, {"off", false}}}; }

// Of most files.
inline constexpr TextType kFile{"an absolute path, or \"\" for none", is_absolute_path_or_empty};

// In election_keys.cc.
void add_election_keys(std::vector<ConfigKey<Config>>& keys);
void add_failure_detector_keys(std::vector<ConfigKey<Config>>& keys);
// In store_keys.cc.
void add_kubernetes_keys(std::vector<ConfigKey<Config>>& keys);
void add_etcd_keys(std::vector<ConfigKey<Config>>& keys);

}  // namespace bellwether
