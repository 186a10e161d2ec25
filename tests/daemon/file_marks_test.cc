// What the marks of files show, and what is not read for their sake.
#include "daemon/file_marks.hh"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "daemon/member_tls.hh"
#include "daemon/tls_reading.hh"
#include "state_folder.hh"

namespace bellwether::daemon::test {
namespace {

namespace fs = std::filesystem;

// Nobody has changed it for long.
const std::string kOld = "/bin/sh";

struct MarkedFiles {
  io::test::TemporaryFolder folder;

  std::string path(const std::string& name) const { return folder.path() / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  // Until whatever happens to it is seen.
  static FileMarks settled(const std::string& file) {
    FileMarks marks({file});
    for (int i = 0; i < 1000 && !FileMarks({file}).show_no_change_since(marks); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      marks = FileMarks({file});
    }
    BOOST_TEST(FileMarks({file}).show_no_change_since(marks));
    return marks;
  }
};

struct Readings : MarkedFiles {
  int reads = 0;
  int makes = 0;
  std::function<void()> before_reading = [] {};

  TlsReading read(const TlsReading& last, const TlsSource& source) {
    return read_tls(
        last, source,
        [&](io::TlsTexts& texts) {
          ++reads;
          before_reading();
          for (const std::string& file : source.files) {
            io::read_guarded_file(file, "tls.cert", io::Secrecy::kPublic, &texts.marks);
          }
        },
        [this](const io::TlsTexts&, TlsReading&) { ++makes; });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(file_marks, MarkedFiles)

BOOST_AUTO_TEST_CASE(a_file_that_nobody_has_changed_is_the_same) {
  const FileMarks earlier({kOld});
  BOOST_TEST(FileMarks({kOld}).show_no_change_since(earlier));
  BOOST_TEST(!FileMarks({kOld, kOld}).show_no_change_since(earlier));
  BOOST_TEST(!FileMarks({kOld}).show_no_change_since({}));
}

// A second write in the same moment has the same time.
BOOST_AUTO_TEST_CASE(of_one_that_has_just_changed_nothing_can_be_told) {
  const std::string file = write("file", "text");
  const FileMarks earlier({file});
  BOOST_TEST(!FileMarks({file}).show_no_change_since(earlier));
}

BOOST_AUTO_TEST_CASE(of_one_that_is_missing_nothing_can_be_told) {
  const FileMarks earlier({path("none")});
  BOOST_TEST(!FileMarks({path("none")}).show_no_change_since(earlier));
}

BOOST_AUTO_TEST_CASE(every_change_is_seen) {
  const std::vector<std::string> names{"written", "given rights", "replaced", "linked", "removed"};
  for (const std::string& name : names) write(name, "text");
  const std::string other = write("other", "text");
  const std::string link = path("link");
  fs::create_symlink(path("linked"), link);
  settled(other);
  settled(link);
  std::vector<FileMarks> before;
  for (const std::string& name : names) before.push_back(settled(path(name)));
  const FileMarks before_link = settled(link);

  write("written", "TEXT");
  ::chmod(path("given rights").c_str(), 0600);
  fs::rename(other, path("replaced"));
  fs::remove(path("removed"));
  fs::remove(link);
  fs::create_symlink(path("replaced"), link);
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_same = FileMarks({path(names[i])}).show_no_change_since(before[i]);
    BOOST_TEST(is_same == (names[i] == "linked"), names[i]);
  }
  BOOST_TEST(!FileMarks({link}).show_no_change_since(before_link));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(tls_readings, Readings)

BOOST_AUTO_TEST_CASE(files_that_have_not_changed_are_not_read) {
  const TlsReading first = read({}, {.files = {kOld}});
  TlsReading second = read(first, {.files = {kOld}});
  BOOST_TEST(reads == 1);
  BOOST_TEST(makes == 1);
  BOOST_TEST((second == first));
}

BOOST_AUTO_TEST_CASE(other_settings_have_them_read_and_made_anew) {
  const TlsReading first = read({}, {.files = {kOld}, .settings = "one"});
  const TlsReading second = read(first, {.files = {kOld}, .settings = "two"});
  BOOST_TEST(reads == 2);
  BOOST_TEST(makes == 2);
  BOOST_TEST(!(second == first));
}

// Between a look and a reading there is a moment, in which a link can be swapped.
BOOST_AUTO_TEST_CASE(marks_are_those_of_the_file_that_was_read) {
  const std::string link = path("link");
  const auto link_to = [&](const std::string& file) {
    fs::remove(link);
    fs::create_symlink(file, link);
  };
  link_to(kOld);
  before_reading = [&] { link_to("/bin/ls"); };
  const TlsReading first = read({}, {.files = {link}});
  before_reading = [] {};
  read(first, {.files = {link}});
  BOOST_TEST(reads == 1);
  link_to(kOld);
  read(first, {.files = {link}});
  BOOST_TEST(reads == 2);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_answered_for_no_more_has_its_files_judged_again) {
  Config config;
  config.group.name = "orders";
  config.tls.mode = TlsMode::kStrict;
  config.tls.secret_file = write("secret", std::string(64, 'a') + "\n");
  config.tls.is_folder_shared = true;
  ::chmod(config.tls.secret_file.c_str(), 0644);
  settled(config.tls.secret_file);
  const TlsReading shared = read_member_tls(config);
  BOOST_TEST(shared.error == "");
  BOOST_TEST((read_member_tls(config, shared).tls == shared.tls));
  config.tls.is_folder_shared = false;
  BOOST_TEST(read_member_tls(config, shared).error.find("may be read by everybody") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_was_of_no_use_is_read_again) {
  before_reading = [] { throw std::runtime_error("no"); };
  const TlsReading first = read({}, {.files = {kOld}});
  BOOST_TEST(first.error == "no");
  before_reading = [] {};
  BOOST_TEST(read(first, {.files = {kOld}}).error == "");
  BOOST_TEST(reads == 2);
}

// What was just written is read until it has been still for a while, and made once.
BOOST_AUTO_TEST_CASE(one_that_has_just_changed_is_read_until_a_later_change_would_show) {
  const TlsSource source{.files = {write("file", "text")}};
  TlsReading last = read({}, source);
  last = read(last, source);
  BOOST_TEST(reads == 2);
  settled(source.files.front());
  last = read(last, source);
  BOOST_TEST(reads == 3);
  last = read(last, source);
  BOOST_TEST(reads == 3);
  BOOST_TEST(makes == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::daemon::test
