// proc(5): /proc/self/stat, /proc/self/fd and, for the time of the boot, /proc/stat.
#include "metrics/process_readings.hh"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace bellwether::metrics {
namespace {

struct Stat {
  uint64_t user_ticks = 0;
  uint64_t system_ticks = 0;
  uint64_t start_ticks = 0;  // after the boot
  uint64_t resident_pages = 0;
};

std::optional<Stat> read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The second field is the program's name in brackets, in which anything can stand.
  const size_t bracket = line.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(bracket + 1));
  const auto skip = [&fields](int count) {
    std::string ignored;
    for (int i = 0; i < count; ++i) fields >> ignored;
  };
  Stat stat;
  skip(11);  // fields 3 to 13
  fields >> stat.user_ticks >> stat.system_ticks;
  skip(6);  // fields 16 to 21
  fields >> stat.start_ticks;
  skip(1);
  fields >> stat.resident_pages;
  if (!fields) return std::nullopt;
  return stat;
}

std::optional<double> read_boot_time_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

std::optional<uint64_t> count_open_fds() {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  uint64_t count = 0;
  while (!error && entry != std::filesystem::directory_iterator()) {
    ++count;
    entry.increment(error);
  }
  if (error || count == 0) return std::nullopt;
  return count - 1;  // without the one that the folder was read with
}

}  // namespace

void update(ProcessReadings& readings) {
  static const auto kTicksPerSecond = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const auto kPageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (const auto stat = read_stat()) {
    readings.cpu_seconds =
        static_cast<double>(stat->user_ticks + stat->system_ticks) / kTicksPerSecond;
    readings.resident_memory_bytes = stat->resident_pages * kPageBytes;
    if (readings.start_time_seconds == 0) {
      const auto boot_time_seconds = read_boot_time_seconds();
      if (boot_time_seconds) {
        readings.start_time_seconds =
            *boot_time_seconds + static_cast<double>(stat->start_ticks) / kTicksPerSecond;
      }
    }
  }
  if (const auto count = count_open_fds()) readings.open_fds = *count;
}

}  // namespace bellwether::metrics
