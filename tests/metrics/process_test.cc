// The numbers of /proc are this process's.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>
#include <vector>

#include "metrics/process_readings.hh"
#include "scrape.hh"

namespace bellwether::tests {
namespace {

metrics::ProcessReadings read() {
  metrics::ProcessReadings readings;
  metrics::update(readings);
  return readings;
}

double now_seconds() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(process)

BOOST_AUTO_TEST_CASE(work_shows_as_cpu_time) {
  const double before = read().cpu_seconds;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (read().cpu_seconds < before + 0.05) {
    BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
  }
}

BOOST_AUTO_TEST_CASE(memory_that_is_used_shows) {
  constexpr size_t kBytes = size_t{64} << 20;
  const uint64_t before = read().resident_memory_bytes;
  BOOST_TEST(before > 1'000'000u);
  const std::vector<char> memory(kBytes, 1);
  BOOST_TEST(read().resident_memory_bytes > before + kBytes / 2);
  BOOST_TEST(memory.back() == 1);
}

BOOST_AUTO_TEST_CASE(an_open_file_shows_as_one_descriptor) {
  const uint64_t before = read().open_fds;
  BOOST_TEST(before >= 1u);
  std::FILE* file = std::fopen("/dev/null", "r");
  BOOST_TEST(read().open_fds == before + 1);
  std::fclose(file);
  BOOST_TEST(read().open_fds == before);
}

BOOST_AUTO_TEST_CASE(the_process_started_a_moment_ago_and_only_once) {
  metrics::ProcessReadings readings = read();
  BOOST_TEST(readings.start_time_seconds < now_seconds() + 2);
  BOOST_TEST(readings.start_time_seconds > now_seconds() - 600);
  const double first = readings.start_time_seconds;
  metrics::update(readings);
  BOOST_TEST(readings.start_time_seconds == first);
}

BOOST_AUTO_TEST_CASE(a_scrape_has_them) {
  metrics::Metrics metrics(sample_identity());
  const Scrape first = scrape(metrics);
  BOOST_TEST(first.at("process_resident_memory_bytes") > 1'000'000);
  BOOST_TEST(first.at("process_open_fds") >= 1);
  BOOST_TEST(first.at("process_start_time_seconds") > 1'000'000'000);
  BOOST_TEST(scrape(metrics).at("process_cpu_seconds_total") >=
             first.at("process_cpu_seconds_total"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
