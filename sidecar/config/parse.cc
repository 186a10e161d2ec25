// Walks through the table of keys, never through the text: what the text has beyond the table is
// unknown.  A key with an error keeps its default, and rules about it are not applied, so that one
// mistake is told once.
#include "config/parse.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "config/config_rules.hh"
#include "config/keys.hh"
#include "config/text_forms.hh"

namespace bellwether {
namespace {

using Kind = SourceNode::Kind;

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const auto& key : config_keys()) {
    if (names.empty() || names.back() != key.table) names.push_back(key.table);
  }
  names.insert(names.end(), {kVotersTable, kHookTable});
  return names;
}

template <typename Owner>
std::vector<std::string> names_in(const std::string& table,
                                  const std::vector<ConfigKey<Owner>>& keys) {
  std::vector<std::string> names;
  for (const auto& key : keys) {
    if (key.table == table) names.push_back(key.name);
  }
  return names;
}

// Where else a key of this name is at home.
std::string tables_with(const std::string& name) {
  std::vector<std::string> paths;
  for (const auto& key : config_keys()) {
    if (key.name == name) paths.push_back(key.path());
  }
  return join(paths);
}

class Parser {
 public:
  Parser(const SourceNode& root, const std::string& file, const Environment& environment)
      : root_(root), environment_(environment) {
    parsed_.file = file;
  }

  ParsedConfig run() {
    read_tables();
    read_voters();  // first: defaults depend on the guard
    config().kubernetes.is_used = is_there(kKubernetesTable);
    config().etcd.is_used = is_there(kEtcdTable);
    for (const auto& key : config_keys()) read_key(key, section(key.table), key.path(), config());
    read_hooks();
    parsed_.variants = environment_.variants(config().election.plugin);
    Judge errors(parsed_, broken_, std::move(errors_));
    judge_errors(errors);
    if (!errors.findings().empty()) throw ConfigErrors(parsed_.file, errors.findings());
    Judge risks(parsed_, broken_, {});
    judge_risks(risks);
    parsed_.warnings = risks.findings();
    return std::move(parsed_);
  }

 private:
  Config& config() { return parsed_.config; }

  void add_error(SourcePosition position, const std::string& key, const std::string& what,
                 const std::string& remedy) {
    errors_.push_back({position, key, what, remedy});
    broken_.insert(key);
  }

  // The table's node, or null when the text does not have it, or has something else there.
  const SourceNode* section(const std::string& table) const {
    const SourceEntry* entry = root_.find(table);
    return entry == nullptr || entry->value.kind != Kind::kTable ? nullptr : &entry->value;
  }

  bool is_there(const char* table) {
    const SourceNode* const found = section(table);
    if (found != nullptr) parsed_.given[table] = found->position;
    return found != nullptr;
  }

  void read_tables() {
    const std::vector<std::string> known = table_names();
    for (const SourceEntry& entry : root_.entries) {
      const bool is_known = std::find(known.begin(), known.end(), entry.key) != known.end();
      if (!is_known) {
        refuse_unknown_at_top(entry, known);
      } else if (entry.key != kHookTable) {
        read_table(entry);
      }
    }
  }

  void refuse_unknown_at_top(const SourceEntry& entry, const std::vector<std::string>& known) {
    const std::string homes = entry.value.kind == Kind::kTable ? "" : tables_with(entry.key);
    if (!homes.empty()) {
      return add_error(entry.position, entry.key, "stands outside of any table",
                       "move it to its table: " + homes);
    }
    const std::string meant = nearest_word(entry.key, known);
    add_error(entry.position, entry.key, "is unknown",
              meant.empty() ? "known tables are " + join(known) : "did you mean [" + meant + "]?");
  }

  void read_table(const SourceEntry& entry) {
    if (entry.value.kind != Kind::kTable) {
      return add_error(entry.position, entry.key,
                       std::string("is ") + entry.value.kind_name + ", not a table",
                       "write [" + entry.key + "], once");
    }
    if (entry.key == kVotersTable) return;
    refuse_unknown_in(entry.value, entry.key, names_in(entry.key, config_keys()));
  }

  void refuse_unknown_in(const SourceNode& table, const std::string& path,
                         const std::vector<std::string>& known) {
    for (const SourceEntry& entry : table.entries) {
      if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
      std::string meant = nearest_word(entry.key, known);
      if (meant.empty()) meant = tables_with(entry.key);
      add_error(entry.position, path + "." + entry.key, "is unknown",
                meant.empty() ? "known keys of this table are " + join(known)
                              : "did you mean " + meant + "?");
    }
  }

  template <typename Owner>
  void read_key(const ConfigKey<Owner>& key, const SourceNode* table, const std::string& path,
                Owner& owner) {
    key.set_default(owner, environment_);
    const SourceEntry* entry = table == nullptr ? nullptr : table->find(key.name);
    if (entry != nullptr) {
      if (read_value(entry->value, path, [&](const SourceNode& node, const Complain& complain) {
            return key.read(node, owner, complain);
          })) {
        parsed_.given[path] = entry->value.position;
      }
    } else if (key.is_required()) {
      add_error(table == nullptr ? SourcePosition{} : table->position, path, "is required",
                "give " + key.expects);
    }
  }

  template <typename Read>
  bool read_value(SourceNode node, const std::string& path, const Read& read) {
    const Complain complain = [&](SourcePosition position, const std::string& what,
                                  const std::string& remedy) {
      add_error(position, path, what, remedy);
    };
    return expand_all(node, complain) && read(node, complain);
  }

  bool expand_all(SourceNode& node, const Complain& complain) {
    bool is_good = true;
    if (node.kind == Kind::kText) {
      std::string flaw;
      const auto expanded = expand_variables(node.text, environment_, flaw);
      if (!expanded) {
        complain(node.position, flaw, "set it, or write $${ for ${ itself");
        return false;
      }
      node.text = *expanded;
    }
    for (SourceNode& item : node.items) is_good = expand_all(item, complain) && is_good;
    return is_good;
  }

  void read_voters() {
    const SourceNode* const table = section(kVotersTable);
    if (table == nullptr) return;
    parsed_.given[kVotersTable] = table->position;
    const HostPortType type;
    for (const SourceEntry& entry : table->entries) {
      const std::string path = std::string(kVotersTable) + "." + entry.key;
      if (!is_name(entry.key)) {
        add_error(entry.position, path, "is not the name of a node",
                  "name it as its own node.name does");
        broken_.insert(kVotersTable);
        continue;
      }
      HostPort address;
      const bool is_good =
          read_value(entry.value, path, [&](const SourceNode& node, const Complain& complain) {
            const auto value = type.read(node, complain);
            if (value) address = *value;
            return value.has_value();
          });
      if (!is_good) broken_.insert(kVotersTable);
      config().voters[entry.key] = address;
      parsed_.given[path] = entry.value.position;
    }
  }

  void read_hooks() {
    const SourceEntry* const entry = root_.find(kHookTable);
    if (entry == nullptr) return;
    if (entry->value.kind != Kind::kList) {
      return add_error(entry->position, kHookTable,
                       std::string("is ") + entry->value.kind_name + ", not a list of tables",
                       "write [[hook]], in two pairs of brackets");
    }
    for (const SourceNode& node : entry->value.items) {
      const std::string path = hook_path(config().hooks.size());
      HookSettings& hook = config().hooks.emplace_back();
      if (node.kind != Kind::kTable) {
        add_error(node.position, path, std::string("is ") + node.kind_name + ", not a table",
                  "write [[hook]], in two pairs of brackets");
        continue;
      }
      refuse_unknown_in(node, path, names_in(kHookTable, hook_keys()));
      for (const auto& key : hook_keys()) read_key(key, &node, path + "." + key.name, hook);
    }
    parsed_.given[kHookTable] = entry->position;
  }

  const SourceNode& root_;
  const Environment& environment_;
  ParsedConfig parsed_;
  std::vector<Finding> errors_;
  std::set<std::string> broken_;  // the keys, also tables, that have an error
};

}  // namespace

ParsedConfig parse_config(std::string_view text, const std::string& file,
                          const Environment& environment) {
  const SourceNode root = read_source(text, file);
  return Parser(root, file, environment).run();
}

}  // namespace bellwether
