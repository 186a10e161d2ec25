// README.md has one row for each metric of the registry, with the same name, type, labels and help;
// and the labels are bounded.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/metrics.hh"
#include "scrape.hh"

namespace bellwether::tests {
namespace {

using metrics::Metrics;

// A table without a leader would lack the metric of the leader.
std::vector<prometheus::MetricFamily> all_families() {
  Metrics table(sample_identity());
  table.leader_info.Add({{"leader", "orders-0"}});
  return table.registry.Collect();
}

std::string type_name(prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return "counter";
    case prometheus::MetricType::Gauge:
      return "gauge";
    case prometheus::MetricType::Histogram:
      return "histogram";
    default:
      return "another";
  }
}

// The row, without its last column, that a metric should have: | name | type | labels | help |
std::string row_of(const prometheus::MetricFamily& family) {
  std::string labels;
  std::set<std::string> names;
  for (const auto& label : family.metric.front().label) names.insert(label.name);
  for (const std::string& name : names) labels += (labels.empty() ? "`" : ", `") + name + "`";
  return "| `" + family.name + "` | " + type_name(family.type) + " | " + labels +
         (labels.empty() ? "| " : " | ") + family.help + " |";
}

std::vector<std::string> rows_of_registry() {
  std::vector<std::string> rows;
  for (const auto& family : all_families()) rows.push_back(row_of(family));
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::string> lines_of_readme() {
  std::ifstream file(BELLWETHER_METRICS_README);
  BOOST_REQUIRE_MESSAGE(file, "README.md is there");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> rows_of_readme() {
  std::vector<std::string> rows;
  for (const std::string& line : lines_of_readme()) {
    if (!line.starts_with("| `") || !line.ends_with(" |")) continue;
    const size_t last_column = line.rfind('|', line.size() - 2);
    BOOST_TEST(line.size() - last_column > 4, "says what to look at it for: " + line);
    rows.push_back(line.substr(0, last_column + 1));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

// What the tests of this folder say.
std::string text_of_tests() {
  std::ostringstream text;
  for (const auto& file : std::filesystem::directory_iterator(BELLWETHER_METRICS_TESTS)) {
    if (file.path().extension() == ".cc") text << std::ifstream(file.path()).rdbuf();
  }
  return text.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(table)

// By its name in full, or up to the ending of a histogram's series.
BOOST_AUTO_TEST_CASE(every_metric_is_in_a_test) {
  const std::string tests = text_of_tests();
  for (const auto& family : all_families()) {
    bool is_named = false;
    for (const char* end : {"\"", "{", "_sum", "_count", "_bucket"}) {
      is_named |= tests.find(family.name + end) != std::string::npos;
    }
    BOOST_TEST(is_named, family.name + ": add a case, to counting_test.cc for instance");
  }
}

BOOST_AUTO_TEST_CASE(the_readme_has_the_same_rows) {
  BOOST_TEST(rows_of_readme() == rows_of_registry(), boost::test_tools::per_element());
}

// A line "- `label`:" and those that belong to it have each value of the label, in backticks.
BOOST_AUTO_TEST_CASE(the_readme_explains_the_values_of_the_labels) {
  const std::set<std::string> free_texts = {"variant", "leader", "version", "plugin",
                                            "abi",     "name",   "code"};
  std::map<std::string, std::string> explanations;
  std::string label;
  for (const std::string& line : lines_of_readme()) {
    if (line.starts_with("- `")) label = line.substr(3, line.find('`', 3) - 3);
    explanations[label] += line + "\n";
  }
  for (const auto& family : all_families()) {
    for (const auto& metric : family.metric) {
      for (const auto& [name, value] : metric.label) {
        if (free_texts.contains(name)) continue;
        const bool is_explained = explanations[name].find("`" + value + "`") != std::string::npos;
        BOOST_TEST(is_explained, family.name + ": " + name + "=" + value);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_metric_has_the_same_labels_on_all_series) {
  for (const auto& family : all_families()) {
    const auto names = [](const prometheus::ClientMetric& metric) {
      std::multiset<std::string> found;
      for (const auto& label : metric.label) found.insert(label.name);
      return found;
    };
    for (const auto& metric : family.metric) {
      BOOST_TEST((names(metric) == names(family.metric.front())), family.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_follow_the_conventions) {
  const std::set<std::string> foreign = {
      "leader_election_master_status", "process_cpu_seconds_total", "process_open_fds",
      "process_resident_memory_bytes", "process_start_time_seconds"};
  for (const auto& family : all_families()) {
    BOOST_TEST((family.name.starts_with("bellwether_") || foreign.contains(family.name)),
               family.name);
    const bool is_counter = family.type == prometheus::MetricType::Counter;
    BOOST_TEST(family.name.ends_with("_total") == is_counter, family.name);
    BOOST_TEST(family.help.ends_with("."), family.name);
  }
}

// A scrape of one process stays small, whatever is added.
BOOST_AUTO_TEST_CASE(there_is_a_bounded_number_of_series) {
  size_t series = 0;
  size_t of_the_store = 0;  // which most groups have not
  for (const auto& family : all_families()) {
    const bool is_stores = family.name.starts_with("bellwether_store_");
    (is_stores ? of_the_store : series) += family.metric.size();
  }
  BOOST_TEST(series < 450u);
  BOOST_TEST(series + of_the_store < 470u);
}

BOOST_AUTO_TEST_CASE(every_combination_of_values_has_a_series_of_its_own) {
  const Metrics table(sample_identity());
  std::set<const void*> found;
  for (size_t i = 0; i < kValues<metrics::Direction>; ++i) {
    for (size_t j = 0; j < kFrameTypes; ++j) {
      found.insert(
          &table.messages.of(static_cast<metrics::Direction>(i), static_cast<FrameType>(j)));
    }
  }
  BOOST_TEST(found.size() == kValues<metrics::Direction> * kFrameTypes);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
