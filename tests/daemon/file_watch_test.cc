// What the log says of a file that others find by its path, and that is gone.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>

#include "daemon/event_log.hh"
#include "stderr_file.hh"

namespace bellwether::test {
namespace {

using daemon::FileWatch;
using std::chrono::seconds;

std::string log_of(const std::function<void(FileWatch&)>& action) {
  const StderrFile written;
  {
    daemon::Log log({.level = LogLevel::kInfo});
    FileWatch watch(log, "the state's file", "/state");
    action(watch);
  }
  return written.text();
}

size_t lines_with(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool look(FileWatch& watch, seconds after, const std::string& flaw) {
  return watch.on_look(Instant{after}, {.loss = "was removed", .flaw = flaw}, "", "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(file_watch)

BOOST_AUTO_TEST_CASE(a_loss_is_told_once_and_so_is_its_end) {
  const std::string text = log_of([](FileWatch& watch) {
    BOOST_TEST(look(watch, seconds(0), "no room; make room"));
    for (int i = 1; i < 100; ++i) BOOST_TEST(!look(watch, seconds(i), "no room; make room"));
    BOOST_TEST(watch.flaw() == "no room; make room");
    BOOST_TEST(!watch.on_look(Instant{seconds(100)}, {}, "", ""));
    BOOST_TEST(!watch.on_look(Instant{seconds(101)}, {}, "", ""));
  });
  BOOST_TEST(lines_with(text, "\n") == 2u);
  BOOST_TEST(lines_with(text, "the state's file was removed file=/state") == 1u);
  BOOST_TEST(lines_with(text, "the state's file is in its place again file=/state") == 1u);
}

// With it, what is to be done.
BOOST_AUTO_TEST_CASE(another_reason_is_told_as_well) {
  const std::string text = log_of([](FileWatch& watch) {
    BOOST_TEST(look(watch, seconds(0), "cannot be made; make it"));
    BOOST_TEST(!look(watch, seconds(1), "is a stranger's; delete it"));
  });
  BOOST_TEST(lines_with(text, "\n") == 2u);
  BOOST_TEST(lines_with(text, "is still not in its place file=/state now=\"is a stranger's; ") ==
             1u);
}

BOOST_AUTO_TEST_CASE(reasons_that_take_turns_do_not_flood_the_log) {
  const std::string text = log_of([](FileWatch& watch) {
    for (int i = 0; i < 60; ++i) look(watch, seconds(i), i % 2 == 0 ? "one" : "the other");
  });
  BOOST_TEST(lines_with(text, "\n") == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::test
