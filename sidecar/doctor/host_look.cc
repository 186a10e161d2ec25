// adjtimex(2), prlimit(2) and control groups, version 2 and 1.
#include <sys/resource.h>
#include <sys/timex.h>

#include <fstream>
#include <map>

#include "doctor/looks.hh"
#include "io/loop/files.hh"
#include "io/loop/loop.hh"

namespace bellwether::doctor {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;
using std::chrono::system_clock;

constexpr double kFrequencyUnits = 65536;  // of timex.freq, in one ppm
constexpr int64_t kUsualTickUs = 10'000;
constexpr double kPpmPerTickUs = 100;
constexpr const char* kBootClock = "boottime";

// "name number" on each line, as in cpu.stat.
std::map<std::string, uint64_t> read_numbers(const fs::path& path) {
  std::map<std::string, uint64_t> numbers;
  std::ifstream file(path);
  std::string name;
  uint64_t number = 0;
  while (file >> name >> number) numbers[name] = number;
  return numbers;
}

// In each line "boottime SECONDS NANOSECONDS": how far this namespace's clock is from the
// machine's.
bool has_boot_offset() {
  std::ifstream file("/proc/self/timens_offsets");
  std::string clock;
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  while (file >> clock >> seconds >> nanoseconds) {
    if (clock == kBootClock && (seconds != 0 || nanoseconds != 0)) return true;
  }
  return false;
}

struct Quota {
  Duration time{};
  Duration period{};
};

std::optional<Quota> read_quota(std::istream& quota, std::istream& period) {
  int64_t quota_us = 0;
  int64_t period_us = 0;
  if (!(quota >> quota_us) || !(period >> period_us)) return std::nullopt;
  if (quota_us <= 0 || period_us <= 0) return std::nullopt;
  return Quota{microseconds(quota_us), microseconds(period_us)};
}

// In microseconds.  Version 2: cpu.max is "MAX PERIOD" or "max PERIOD".  Version 1: two files, and
// -1 for no quota.
std::optional<Quota> quota_of(const fs::path& folder) {
  std::ifstream both(folder / "cpu.max");
  if (both) return read_quota(both, both);
  std::ifstream quota(folder / "cpu.cfs_quota_us");
  std::ifstream period(folder / "cpu.cfs_period_us");
  return read_quota(quota, period);
}

// A quota binds all groups below it; the tightest one counts.
void look_upwards(fs::path folder, const fs::path& root, LimitFacts& facts) {
  std::error_code unused;
  // In a container, the path may be one of the host, of which only the root is to be seen.
  if (!fs::exists(folder, unused)) folder = root;
  for (;; folder = folder.parent_path()) {
    const std::optional<Quota> quota = quota_of(folder);
    const auto share = [](Duration time, Duration period) {
      return static_cast<double>(time.count()) / static_cast<double>(period.count());
    };
    if (quota && (!facts.cpu_quota ||
                  share(quota->time, quota->period) < share(*facts.cpu_quota, facts.cpu_period))) {
      facts.cpu_quota = quota->time;
      facts.cpu_period = quota->period;
      std::map<std::string, uint64_t> counts = read_numbers(folder / "cpu.stat");
      facts.cpu_periods = counts["nr_periods"];
      facts.throttled_periods = counts["nr_throttled"];
    }
    if (folder == root || !folder.has_relative_path()) return;
  }
}

}  // namespace

ClockWatch::ClockWatch() : boot_(io::Loop::now()), wall_(system_clock::now()) {}

ClockFacts ClockWatch::facts() const {
  const system_clock::time_point now = system_clock::now();
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(now));
  ClockFacts facts{.boot_elapsed = io::Loop::now() - boot_,
                   .wall_elapsed = now - wall_,
                   .year = static_cast<int>(date.year()),
                   .has_boot_offset = has_boot_offset()};
  timex state{};
  const int status = ::adjtimex(&state);
  if (status < 0) return facts;
  facts.is_synchronisation_known = true;
  facts.is_synchronised = status != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  facts.max_error = microseconds(state.maxerror);
  facts.rate_ppm = static_cast<double>(state.freq) / kFrequencyUnits +
                   static_cast<double>(state.tick - kUsualTickUs) * kPpmPerTickUs;
  return facts;
}

LimitFacts look_at_limits(pid_t process) {
  LimitFacts facts{.process = process};
  rlimit limit{};
  if (process == 0 || ::prlimit(process, RLIMIT_NOFILE, nullptr, &limit) != 0) {
    facts.process = 0;
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = io::raised_open_files(limit.rlim_cur, limit.rlim_max);  // as a sidecar does
  }
  facts.open_files = limit.rlim_cur;
  const std::string whose = facts.process == 0 ? "self" : std::to_string(facts.process);
  look_at_quota("/proc/" + whose + "/cgroup", "/sys/fs/cgroup", facts);
  return facts;
}

void look_at_quota(const fs::path& list, const fs::path& root, LimitFacts& facts) {
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);) {
    // "0::/path" of version 2; "4:cpu,cpuacct:/path" of version 1.
    const size_t controllers = line.find(':');
    const size_t path =
        controllers == std::string::npos ? controllers : line.find(':', controllers + 1);
    if (path == std::string::npos) continue;
    const std::string names = line.substr(controllers + 1, path - controllers - 1);
    const fs::path folder = fs::path(line.substr(path + 1)).relative_path();
    if (names.empty()) {
      look_upwards(folder.empty() ? root : root / folder, root, facts);
    } else if (("," + names + ",").find(",cpu,") != std::string::npos) {
      const fs::path branch = root / names;
      look_upwards(folder.empty() ? branch : branch / folder, branch, facts);
    }
  }
}

}  // namespace bellwether::doctor
