// The program `bellwether`: chooses the subcommand, and turns whatever goes wrong into one line on
// stderr and the exit code that belongs to it.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>

#include "base/json.hh"
#include "cli/commands.hh"
#include "cli/exit_code.hh"
#include "config/findings.hh"
#include "config/value_types.hh"
#include "plugin_loader.hh"

#ifndef BELLWETHER_VERSION
#error "the build passes the project's version as BELLWETHER_VERSION"
#endif

namespace bellwether::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  bellwether run --config FILE         the sidecar itself
  bellwether check FILE                is a configuration right, and what does it mean?
  bellwether status                    who leads, and how the members are
  bellwether doctor                    what may be wrong, and what to do about it
  bellwether simulate                  count the messages of an election, as the papers do
  bellwether simulate --help           what else the simulator can do
  bellwether version                   the versions of the program and of its plugin interface)";

std::string version_text() {
  return fmt::format("bellwether {}\nplugin ABI {}.{}", BELLWETHER_VERSION, ELECTION_ABI_MAJOR,
                     ELECTION_ABI_MINOR);
}

// In the list of subcommands each has one line; all of its description stands in its own help.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(28); }

  // The base class leaves two empty lines between groups.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
    return CLI::detail::find_and_replace(help, "\n\n\n", "\n\n");
  }

  std::string make_subcommand(const CLI::App* subcommand) const override {
    const std::string description = subcommand->get_description();
    std::ostringstream out;
    CLI::detail::format_help(out, subcommand->get_name(),
                             description.substr(0, description.find('\n')), get_column_width());
    return out.str();
  }
};

// The subcommand that was being read; the program itself when there is none.
const CLI::App& chosen(const CLI::App& program) {
  const auto subcommands = program.get_subcommands();
  return subcommands.empty() ? program : *subcommands.back();
}

std::string parent_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? "" : app.get_parent()->get_name();
}

// The first word that is neither an option nor a subcommand, and which one may have been meant; "":
// there is none, or a subcommand has seen it.
std::string unknown_word(const CLI::App& program) {
  const auto unknown = program.remaining();
  if (&chosen(program) != &program || unknown.empty()) return "";
  const std::string& word = unknown.front();
  if (word.starts_with('-')) return word + " is not an option";
  std::vector<std::string> known;
  for (const CLI::App* each : program.get_subcommands({})) known.push_back(each->get_name());
  const std::string meant = nearest_word(word, known);
  return word + " is not a subcommand" + (meant.empty() ? "" : "; did you mean " + meant + "?");
}

std::string describe(const std::string& flaw, const CLI::App& program) {
  const CLI::App& app = chosen(program);
  return flaw + (flaw.ends_with('?') ? " See '" : "; see '") + parent_name(app) +
         (&app == &program ? "" : " ") + app.get_name() + " --help'";
}

ExitCode print_versions() {
  std::cout << dump({{"version", BELLWETHER_VERSION},
                     {"plugin_abi", fmt::format("{}.{}", ELECTION_ABI_MAJOR, ELECTION_ABI_MINOR)}})
            << "\n";
  return ExitCode::kOk;
}

ExitCode print_version() {
  std::cout << version_text() << "\n";
  return ExitCode::kOk;
}

ExitCode run(int argc, char** argv) {
  CLI::App program("Leader election sidecar", "bellwether");
  program.formatter(std::make_shared<HelpFormatter>());
  program.footer(kExamples);
  program.set_version_flag("--version", version_text(), "Print the versions and exit");
  program.require_subcommand(1);
  Subcommand subcommand;
  add_run(program, subcommand);
  add_check(program, subcommand);
  add_doctor(program, subcommand);
  add_sidecar_commands(program, subcommand);
  add_keygen(program, subcommand);
  add_simulate(program, subcommand);
  CLI::App& version = *program.add_subcommand(
      "version", "Print the versions of the program and of its plugin interface");
  version.footer("Example:\n  bellwether version");
  bool is_json = false;
  version.add_flag("--json", is_json, "one JSON object instead of the lines");
  version.callback(
      [&] { subcommand = [&] { return is_json ? print_versions() : print_version(); }; });

  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const std::string unknown = unknown_word(program);  // of which there is no help
    if (!unknown.empty()) throw UsageError(describe(unknown, program));
    const CLI::App& app = chosen(program);
    std::cout << app.help(parent_name(app));
    return ExitCode::kOk;
  } catch (const CLI::CallForVersion&) {
    return print_version();
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_word(program);
    throw UsageError(describe(unknown.empty() ? error.what() : unknown, program));
  }
  return subcommand();
}

ExitCode run_and_flush(int argc, char** argv) {
  const ExitCode code = run(argc, argv);
  std::cout.flush();
  if (!std::cout) throw std::runtime_error("cannot write the output; is the disk full?");
  return code;
}

// A file that got the number of stdout or stderr, say the voter's memory, would be written over by
// the next line of the log.  So no number of the three stays free; to read and to write fails as if
// it were.  False when there is nothing to take their places.
bool fill_standard_descriptors() {
  constexpr std::array kStandard{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  return std::ranges::all_of(kStandard, [](int fd) {
    const int useless = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    return ::fcntl(fd, F_GETFD) >= 0 || ::open("/dev/null", useless) == fd;
  });
}

ExitCode complain(const std::exception& error, ExitCode code) {
  std::cout.flush();
  write_to_stderr("bellwether: " + std::string(error.what()) + "\n");
  return code;
}

}  // namespace
}  // namespace bellwether::cli

int main(int argc, char** argv) {
  using bellwether::cli::complain;
  using bellwether::cli::ExitCode;
  ExitCode code = ExitCode::kOk;
  // Nobody could be told why.
  if (!bellwether::cli::fill_standard_descriptors()) return static_cast<int>(ExitCode::kFailure);
  try {
    code = bellwether::cli::run_and_flush(argc, argv);
  } catch (const bellwether::cli::UsageError& error) {
    code = complain(error, ExitCode::kUsage);
  } catch (const bellwether::ConfigErrors& error) {
    code = complain(error, ExitCode::kConfigInvalid);
  } catch (const bellwether::PluginError& error) {
    code = complain(error, error.may_pass() ? ExitCode::kFailure : ExitCode::kPluginRefused);
  } catch (const std::exception& error) {
    code = complain(error, ExitCode::kFailure);
  }
  return static_cast<int>(code);
}
