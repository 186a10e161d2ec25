// What must hold, or had better hold, between keys: impossible combinations are errors
// (config_rules.cc), risky ones are warnings (config_warnings.cc).  One rule, one reason.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/parse.hh"

namespace bellwether {

// Takes what rules have against a configuration.
class Judge {
 public:
  // `broken`: the keys, also tables, that have an error; rules about them are not applied.
  // `findings`: what is found already.
  Judge(const ParsedConfig& parsed, const std::set<std::string>& broken,
        std::vector<Finding> findings)
      : parsed_(parsed), broken_(broken), findings_(std::move(findings)) {}

  const Config& config() const { return parsed_.config; }
  // The variants that the plugin has; none: nobody knows.
  const std::vector<std::string>& variants() const { return parsed_.variants; }
  bool is_given(const std::string& key) const { return parsed_.given.contains(key); }

  // `keys`: what the rule looks at; the first that is given is to blame, or else the very first.
  void object(std::initializer_list<const char*> keys, const std::string& what,
              const std::string& remedy);
  // The same, and `culprit` is to blame.
  void object_to(const std::string& culprit, std::initializer_list<const char*> keys,
                 const std::string& what, const std::string& remedy);

  // By position; what was found first stays first.
  std::vector<Finding> findings() const;

 private:
  const ParsedConfig& parsed_;
  const std::set<std::string>& broken_;
  std::vector<Finding> findings_;
};

void judge_errors(Judge& judge);
// Those of the guard's tables, and of what hangs on the guard (store_rules.cc).
void judge_guard(Judge& judge);
void judge_risks(Judge& judge);

}  // namespace bellwether
