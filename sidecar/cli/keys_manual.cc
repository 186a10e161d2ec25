// Makes the manual page of the configuration: copies a template, and puts what the program itself
// knows in the place of two lines: @KEYS@ becomes a description of every key, from the table by
// which the sidecar reads them, @PROFILES@ the timers of the profiles.  Run by the build.
#include <array>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/duration_text.hh"
#include "config/keys.hh"

namespace bellwether {
namespace {

// A line of text: no backslash escapes, and no dot or quote at its start makes a macro of it.
std::string roff_text(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '\\' ? "\\e" : std::string(1, c);
  const bool is_like_a_macro = line.starts_with('.') || line.starts_with('\'');
  return (is_like_a_macro ? "\\&" : "") + line + "\n";
}

void open_table(std::ostream& out, const std::string& heading) { out << ".Ss " << heading << "\n"; }

template <typename Owner>
void describe(std::ostream& out, const ConfigKey<Owner>& key) {
  out << ".It Li " << key.name << "\n"
      << roff_text(key.help) << ".br\n"
      << roff_text("takes " + key.expects) << ".br\n"
      << roff_text(key.default_and_effect());
}

// What the default "of the profile" is.
void describe_profiles(std::ostream& out) {
  constexpr std::array<std::pair<const char*, Profile>, 4> kProfiles{
      {{"default", Profile::kDefault},
       {"lan", Profile::kLan},
       {"wan", Profile::kWan},
       {"fast", Profile::kFast}}};
  out << ".Bl -column profile heartbeat_interval suspect_after lease answer_timeout\n"
         ".It profile Ta heartbeat_interval Ta suspect_after Ta lease Ta answer_timeout\n";
  for (const auto& [name, profile] : kProfiles) {
    const ProfileTimers timers = timers_of(profile);
    out << ".It " << name;
    for (const Duration timer :
         {timers.heartbeat_interval, timers.suspect_after, timers.lease, timers.answer_timeout}) {
      out << " Ta " << duration_text(timer);
    }
    out << "\n";
  }
  out << ".El\n";
}

void describe_keys(std::ostream& out) {
  std::string table;
  for (const auto& key : config_keys()) {
    if (key.table != table) {
      if (!table.empty()) out << ".El\n";
      table = key.table;
      open_table(out, "[" + table + "]");
      out << ".Bl -tag -width Ds\n";
    }
    describe(out, key);
  }
  out << ".El\n";

  open_table(out, std::string("[") + kVotersTable + "]");
  out << roff_text(std::string(kVotersHelp) + "; " + words(kVotersTakeEffect));
  open_table(out, std::string("[[") + kHookTable + "]]");
  out << roff_text(std::string(kHookHelp) + "; " + words(kHookTakesEffect))
      << ".Bl -tag -width Ds\n";
  for (const auto& key : hook_keys()) describe(out, key);
  out << ".El\n";
}

void make_manual(std::istream& page, std::ostream& out) {
  int places = 0;
  for (std::string line; std::getline(page, line);) {
    if (line == "@KEYS@") {
      describe_keys(out);
      ++places;
    } else if (line == "@PROFILES@") {
      describe_profiles(out);
      ++places;
    } else {
      out << line << "\n";
    }
  }
  if (places != 2) throw std::runtime_error("the template lacks @KEYS@ or @PROFILES@");
  if (!out.flush()) throw std::runtime_error("cannot write the page");
}

}  // namespace
}  // namespace bellwether

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: keys_manual TEMPLATE");
    std::ifstream page(argv[1]);
    bellwether::make_manual(page, std::cout);
  } catch (const std::exception& error) {
    std::cerr << "keys_manual: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
