// The published result: the table of the literature cell by cell, and its closed forms.  One cell
// is ours: for 28 processes the classic variant takes 28*28-28-1 = 755 messages, not 775 as
// printed.
#include "simulator/message_table.hh"

#include <boost/test/unit_test.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace {

using bellwether::simulator::closed_form;
using bellwether::simulator::Initiator;
using bellwether::simulator::measure;
using bellwether::simulator::TableRow;

// processes, election, answer, handover, coordinator, total
using Cells = std::tuple<uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>;

const std::vector<Cells> kClassic{
    {4, 6, 3, 0, 2, 11},        {6, 15, 10, 0, 4, 29},      {10, 45, 36, 0, 8, 89},
    {14, 91, 78, 0, 12, 181},   {18, 153, 136, 0, 16, 305}, {22, 231, 210, 0, 20, 461},
    {24, 276, 253, 0, 22, 551}, {28, 378, 351, 0, 26, 755},
};
const std::vector<Cells> kModified{
    {4, 3, 2, 1, 2, 8},      {6, 5, 4, 1, 4, 14},     {10, 9, 8, 1, 8, 26},
    {14, 13, 12, 1, 12, 38}, {18, 17, 16, 1, 16, 50}, {22, 21, 20, 1, 20, 62},
    {24, 23, 22, 1, 22, 68}, {28, 27, 26, 1, 26, 80},
};

TableRow count(const std::string& variant, uint32_t processes,
               Initiator initiator = Initiator::kLowest, uint64_t seed = 1) {
  return measure({.plugin = &bellwether_election_plugin,
                  .variant = variant,
                  .processes = processes,
                  .initiator = initiator,
                  .seed = seed,
                  .progress = nullptr});
}

Cells cells_of(const TableRow& row) {
  return {row.processes, row.election, row.answer, row.handover, row.coordinator, row.total()};
}

void check_table(const std::string& variant, const std::vector<Cells>& table) {
  for (const Cells& cells : table) {
    const auto& [processes, election, answer, handover, coordinator, total] = cells;
    BOOST_TEST_CONTEXT(variant << ", " << processes << " processes") {
      const TableRow row = count(variant, processes);
      BOOST_TEST(row.variant == variant);
      BOOST_TEST(row.processes == processes);
      BOOST_TEST(row.election == election);
      BOOST_TEST(row.answer == answer);
      BOOST_TEST(row.handover == handover);
      BOOST_TEST(row.coordinator == coordinator);
      BOOST_TEST(row.total() == total);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(message_table)

BOOST_AUTO_TEST_CASE(the_classic_variant_gives_the_published_table) {
  check_table("classic", kClassic);
}

BOOST_AUTO_TEST_CASE(the_modified_variant_gives_the_published_table) {
  check_table("modified", kModified);
}

BOOST_AUTO_TEST_CASE(the_classic_count_is_its_closed_form_for_every_size) {
  for (uint32_t n = 2; n <= 40; ++n) {
    BOOST_TEST_CONTEXT(n << " processes") {
      const TableRow row = count("classic", n);
      BOOST_TEST(row.total() == uint64_t{n} * n - n - 1);
      BOOST_TEST((row.expected == row.total()));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_modified_count_is_its_closed_form_for_every_size) {
  for (uint32_t n = 3; n <= 40; ++n) {
    BOOST_TEST_CONTEXT(n << " processes") {
      const TableRow row = count("modified", n);
      BOOST_TEST(row.total() == 3 * uint64_t{n} - 4);
      BOOST_TEST((row.expected == row.total()));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_only_survivor_asks_the_dead_one_and_leads) {
  // Nobody is there to hand over to, which 3N-4 takes for granted.
  for (const std::string variant : {"classic", "modified"}) {
    BOOST_TEST((cells_of(count(variant, 2)) == Cells{2, 1, 0, 0, 0, 1}), variant);
  }
}

BOOST_AUTO_TEST_CASE(at_best_the_next_in_line_asks_the_dead_one_and_announces_itself) {
  for (const std::string variant : {"classic", "modified"}) {
    for (const uint32_t n : {3u, 4u, 10u, 28u, 40u}) {
      BOOST_TEST_CONTEXT(variant << ", " << n << " processes") {
        const TableRow row = count(variant, n, Initiator::kHighest);
        BOOST_TEST((cells_of(row) == Cells{n, 1, 0, 0, n - 2, n - 1}));
        BOOST_TEST((row.expected == n - 1));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(when_all_notice_at_once_everybody_asks_all_above) {
  for (const std::string variant : {"classic", "modified"}) {
    BOOST_TEST_CONTEXT(variant) {
      BOOST_TEST((cells_of(count(variant, 10, Initiator::kAll)) == Cells{10, 45, 36, 0, 8, 89}));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_seed_gives_the_same_row_every_time_and_the_counts_depend_on_no_seed) {
  for (const std::string variant : {"classic", "modified"}) {
    const Cells first = cells_of(count(variant, 14, Initiator::kLowest, 1));
    for (const uint64_t seed : {1u, 2u, 77u, 1u}) {
      BOOST_TEST((cells_of(count(variant, 14, Initiator::kLowest, seed)) == first));
    }
  }
}

BOOST_AUTO_TEST_CASE(progress_says_what_is_being_counted) {
  std::vector<std::string> told;
  measure({.plugin = &bellwether_election_plugin,
           .variant = "classic",
           .processes = 4,
           .initiator = Initiator::kLowest,
           .seed = 1,
           .progress = [&](const std::string& what) { told.push_back(what); }});
  BOOST_TEST(!told.empty());
  for (const std::string& what : told) BOOST_TEST(what.starts_with("classic, 4 processes"));
}

BOOST_AUTO_TEST_CASE(there_is_a_closed_form_where_one_notices_and_the_plugin_has_it) {
  const auto expected = [](const char* variant, Initiator initiator) {
    return closed_form(bellwether_election_plugin, variant, 28, initiator);
  };
  BOOST_TEST((expected("classic", Initiator::kLowest) == 755u));
  BOOST_TEST((expected("modified", Initiator::kLowest) == 80u));
  BOOST_TEST((expected("classic", Initiator::kHighest) == 27u));
  BOOST_TEST((expected("modified", Initiator::kHighest) == 27u));
  BOOST_TEST(!expected("modified", Initiator::kAll).has_value());
  BOOST_TEST(!expected("another", Initiator::kLowest).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
