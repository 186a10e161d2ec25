// The subcommand, and its report: a line for each finding, what was seen, and below it the remedy.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "base/json.hh"
#include "cli/commands.hh"
#include "cli/doctor_facts.hh"
#include "cli/hang_watch.hh"
#include "cli/progress.hh"
#include "cli/sidecars_user.hh"
#include "cli/styled_text.hh"
#include "doctor/diagnosis.hh"
#include "doctor/phrases.hh"

namespace bellwether::cli {
namespace {

using doctor::Diagnoses;
using doctor::Diagnosis;
using doctor::Verdict;

struct DoctorOptions {
  std::string file = kUsualConfig;
  std::string user{};
  bool is_json = false;
  ColourChoice colour = ColourChoice::kAuto;
};

constexpr const char* kDoctorDescription =
    R"(Look for what may be wrong, and say what to do about it

Checks the configuration, state, flag, clock and limits of this host; whether names resolve, members
can be reached, both ways, and nothing on the way ends TCP; and whether all members agree.  Run it
where the sidecar runs (in its container), with its configuration, as its user or as root, who then
becomes that user.  Checks that need a running sidecar are skipped without one.  It changes nothing,
and disturbs no election.
)";

constexpr const char* kDoctorExamples = R"(Examples:
  bellwether doctor
      with /etc/bellwether/bellwether.toml
  bellwether doctor --config FILE --json
      the same for a program

Exit status: 0 all is well, or was skipped; 1 there are problems; 2 wrong usage; 3 the configuration
is invalid; 4 there are warnings, but no problem.)";

constexpr size_t kColumnGap = 2;

constexpr PerValue<Verdict, Style> kStyles({Style::kFaint, Style::kGood, Style::kDoubtful,
                                            Style::kBad});

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width + kColumnGap - text.size(), ' ');
}

size_t check_width() {
  size_t width = 0;
  for (const std::string_view check : doctor::check_names()) width = std::max(width, check.size());
  return width;
}

void add_lines(const Diagnosis& diagnosis, size_t width, std::vector<Line>& lines) {
  const size_t verdict_width = std::string_view(name(Verdict::kProblem)).size();
  const Span verdict(padded(name(diagnosis.verdict), verdict_width), kStyles[diagnosis.verdict]);
  const std::string check = padded(diagnosis.check, check_width());
  add_wrapped({verdict, check}, diagnosis.seen, width, lines);
  if (diagnosis.remedy.empty()) return;
  const std::string indent(verdict.text.size() + check.size(), ' ');
  add_wrapped({indent + "-> "}, {diagnosis.remedy, Style::kStrong}, width, lines);
}

size_t count(const Diagnoses& found, Verdict verdict) {
  return static_cast<size_t>(std::ranges::count(found, verdict, &Diagnosis::verdict));
}

std::string summary(const Diagnoses& found) {
  return fmt::format("{} ok, {}, {}, {} skipped", count(found, Verdict::kOk),
                     doctor::counted(count(found, Verdict::kWarning), "warning"),
                     doctor::counted(count(found, Verdict::kProblem), "problem"),
                     count(found, Verdict::kSkipped));
}

// Checks that were skipped for the same reason share a line.
void add_skipped(const Diagnoses& found, size_t width, std::vector<Line>& lines) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Diagnosis& each : found) {
    if (each.verdict != Verdict::kSkipped) continue;
    auto known = std::ranges::find(reasons, each.seen, [](const auto& pair) { return pair.first; });
    if (known == reasons.end()) known = reasons.insert(known, {each.seen, {}});
    known->second.push_back(each.check);
  }
  for (const auto& [reason, checks] : reasons) {
    const bool is_alone = checks.size() == 1;
    const std::string which = is_alone ? "" : ": " + doctor::listed(checks, checks.size());
    add_lines({.check = is_alone ? checks.front() : "",
               .verdict = Verdict::kSkipped,
               .seen = reason + which},
              width, lines);
  }
}

void print_text(const Diagnoses& found, bool is_coloured) {
  const size_t width = line_width();
  std::vector<Line> lines;
  for (const Diagnosis& diagnosis : found) {
    if (diagnosis.verdict != Verdict::kSkipped) add_lines(diagnosis, width, lines);
  }
  add_skipped(found, width, lines);
  lines.emplace_back();
  lines.push_back({{summary(found), Style::kStrong}});
  for (const Line& line : lines) std::cout << to_text(line, is_coloured) << "\n";
}

void print_json(const Diagnoses& found, const std::string& file) {
  Json checks = Json::array();
  for (const Diagnosis& each : found) {
    checks.push_back({{"check", each.check},
                      {"verdict", name(each.verdict)},
                      {"seen", each.seen},
                      {"remedy", each.remedy.empty() ? Json(nullptr) : Json(each.remedy)}});
  }
  const Json report{
      {"config", file}, {"verdict", name(verdict_of(found))}, {"checks", std::move(checks)}};
  std::cout << dump(report) << "\n";
}

constexpr PerValue<Verdict, ExitCode> kExitCodes({ExitCode::kOk, ExitCode::kOk, ExitCode::kDoubtful,
                                                  ExitCode::kFailure});

// Looks, prints the report, and returns what follows from it.
ExitCode run_doctor(const DoctorOptions& options) {
  const HangWatch watch;
  Progress progress;
  // Nobody reads in a log what a program of a few seconds is doing.
  const bool is_watched = ::isatty(STDERR_FILENO) == 1;
  const auto tell = [&](std::string_view what) {
    if (is_watched) progress.tell(what);
  };
  const doctor::Facts facts = gather_facts(options.file, options.user, tell);
  progress.clear();
  const Diagnoses found = diagnose(facts);
  if (options.is_json) {
    print_json(found, options.file);
  } else {
    print_text(found, has_colour(options.colour));
  }
  const bool is_refused = !facts.config.errors.empty();
  return is_refused ? ExitCode::kConfigInvalid : kExitCodes[verdict_of(found)];
}

}  // namespace

void add_doctor(CLI::App& program, Subcommand& chosen) {
  CLI::App& added = *program.add_subcommand("doctor", kDoctorDescription);
  added.footer(kDoctorExamples);
  const auto options = std::make_shared<DoctorOptions>();
  added.add_option("--config", options->file, "default: " + options->file)->option_text("FILE");
  added.add_flag("--json", options->is_json, "one JSON object instead of the lines");
  added.add_option("--user", options->user, kUserHelp)->option_text("USER");
  add_colour_option(added, options->colour);
  added.callback([&chosen, options] { chosen = [options] { return run_doctor(*options); }; });
}

}  // namespace bellwether::cli
