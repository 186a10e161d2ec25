// The configuration's file as it changes under a running sidecar.
#include "daemon/config_file.hh"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "config/source.hh"
#include "loop_run.hh"
#include "state_folder.hh"

namespace fs = std::filesystem;
using bellwether::daemon::ConfigFile;
using bellwether::daemon::ConfigReading;
using bellwether::daemon::watch_config;
using bellwether::io::test::write_file;
using namespace std::chrono_literals;

namespace {

struct ConfigFileFixture {
  bellwether::io::test::TemporaryFolder folder;
  bellwether::io::Loop loop;
  std::vector<ConfigReading> changes;

  auto note() {
    return [this](const ConfigReading& reading) { changes.push_back(reading); };
  }
  // As a whole: one that is just being written may be read.
  void replace(const char* text) const {
    write_file(folder.path() / "a.toml.new", text);
    fs::rename(folder.path() / "a.toml.new", folder.path() / "a.toml");
  }
  bool has_gone() const { return !changes.empty() && !changes.back().error.empty(); }
  bool await_change() {
    return run_until(loop, [this] { return !changes.empty(); });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(config_file, ConfigFileFixture)

BOOST_AUTO_TEST_CASE(a_file_that_is_written_anew_is_a_change) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  write_file(folder.path() / "a.toml", "new");
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).text == "new");
}

// It would be waited for, and could keep the process from its end.
BOOST_AUTO_TEST_CASE(what_is_no_regular_file_is_refused_and_not_waited_for) {
  const fs::path path = folder.path() / "a.toml";
  write_file(path, "old");
  ConfigFile file = watch_config(loop, path, "old", note());
  BOOST_REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  fs::rename(folder.path() / "pipe", path);
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).error.find("a.toml: it is a folder, a pipe or a device; put") !=
             std::string::npos);
  BOOST_TEST(!changes.at(0).is_unread);
  changes.clear();
  replace("new");
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).text == "new");
}

// Half of it may be a valid configuration that means something else.
BOOST_AUTO_TEST_CASE(a_file_that_is_still_being_written_is_not_taken) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  constexpr int kParts = 100;
  int parts = 0;
  std::string text;
  bellwether::io::LoopTimer writer(loop, [&] {
    if (parts == kParts) return;
    text += "# part " + std::to_string(++parts) + "\n";
    write_file(folder.path() / "a.toml", text);
    // Within the time in which the file is looked at once more, on the same loop.
    writer.arm(std::chrono::milliseconds(20));
  });
  writer.arm({});
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(parts == kParts);
  BOOST_TEST(changes.at(0).text == text);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_renamed_over_it_is_a_change) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  replace("new");
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).text == "new");
}

// As the kubelet does it: the file is a link into a folder that is itself a link, and that one is
// replaced.
BOOST_AUTO_TEST_CASE(the_swap_of_a_config_maps_link_is_a_change) {
  fs::create_directory(folder.path() / "..1");
  fs::create_directory(folder.path() / "..2");
  write_file(folder.path() / "..1" / "a.toml", "old");
  write_file(folder.path() / "..2" / "a.toml", "new");
  fs::create_symlink("..1", folder.path() / "..data");
  fs::create_symlink("..data/a.toml", folder.path() / "a.toml");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  fs::create_symlink("..2", folder.path() / "..data_tmp");
  fs::rename(folder.path() / "..data_tmp", folder.path() / "..data");
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).text == "new");
}

BOOST_AUTO_TEST_CASE(a_change_behind_a_link_into_another_folder_is_a_change) {
  fs::create_directory(folder.path() / "elsewhere");
  write_file(folder.path() / "elsewhere" / "a.toml", "old");
  fs::create_symlink("elsewhere/a.toml", folder.path() / "a.toml");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  write_file(folder.path() / "elsewhere" / "a.toml", "new");
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).text == "new");
}

BOOST_AUTO_TEST_CASE(a_change_in_a_folder_that_is_made_anew_is_a_change) {
  const fs::path home = folder.path() / "home";
  fs::create_directory(home);
  write_file(home / "a.toml", "old");
  ConfigFile file = watch_config(loop, home / "a.toml", "old", note());
  for (const char* text : {"new", "newer"}) {
    fs::remove_all(home);
    BOOST_TEST_REQUIRE(run_until(loop, [this] { return has_gone(); }));
    fs::create_directory(home);
    write_file(home / "a.toml", text);
    BOOST_TEST_REQUIRE(run_until(loop, [&] { return changes.back().text == text; }));
  }
}

// It is told of once, and so is that all is as it was.
BOOST_AUTO_TEST_CASE(a_file_that_is_gone_for_long_is_one_change_and_its_return_another) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  fs::remove(folder.path() / "a.toml");
  BOOST_TEST_REQUIRE(run_until(loop, [this] { return has_gone(); }));
  const auto three_looks_later = bellwether::io::Loop::now() + 3500ms;
  run_until(loop, [&] { return bellwether::io::Loop::now() > three_looks_later; });
  BOOST_TEST(changes.size() == 1u);
  replace("old");
  BOOST_TEST_REQUIRE(run_until(loop, [this] { return changes.size() == 2; }));
  BOOST_TEST(changes.at(1).text == "old");
  BOOST_TEST(changes.at(1).error == "");
}

// A thousand clients that ask for a reload would else keep the loop from its heartbeats.
BOOST_AUTO_TEST_CASE(those_who_ask_while_it_is_being_read_share_the_next_reading) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  int done = 0;
  for (int i = 0; i < 1000; ++i) file.read([&] { ++done; });
  BOOST_TEST_REQUIRE(run_until(loop, [&] { return done == 1000; }));
  BOOST_TEST(changes.size() == 2u);
}

// Of those a user has 128 on one machine, with all containers of this user.
BOOST_AUTO_TEST_CASE(to_see_changes_takes_no_inotify_instance) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code unused;
    BOOST_TEST(fs::read_symlink(entry, unused) != "anon_inode:inotify");
  }
}

// A log in the folder of the configuration, say.
BOOST_AUTO_TEST_CASE(a_file_beside_it_that_is_never_left_alone_hides_no_change) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  const std::jthread writer([this](const std::stop_token& is_over) {
    std::ofstream log(folder.path() / "log");
    while (!is_over.stop_requested()) log << "a line\n" << std::flush;
  });
  replace("new");
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).text == "new");
  changes.clear();
  replace("newer");
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).text == "newer");
}

BOOST_AUTO_TEST_CASE(the_same_text_again_is_no_change) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  write_file(folder.path() / "a.toml", "old");
  const auto a_look_later = bellwether::io::Loop::now() + 1500ms;
  run_until(loop, [&] { return bellwether::io::Loop::now() > a_look_later; });
  BOOST_TEST(changes.empty());
}

BOOST_AUTO_TEST_CASE(who_asks_is_answered_when_it_is_read_changed_or_not) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  bool is_read = false;
  file.read([&] {
    is_read = true;
    BOOST_TEST(changes.size() == 1u);
  });
  BOOST_TEST(run_until(loop, [&] { return is_read; }));
  BOOST_TEST(changes.at(0).text == "old");
}

BOOST_AUTO_TEST_CASE(a_file_that_has_gone_is_an_error_that_names_it) {
  write_file(folder.path() / "a.toml", "old");
  ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
  fs::remove(folder.path() / "a.toml");
  BOOST_TEST_REQUIRE(await_change());
  BOOST_TEST(changes.at(0).error.find("a.toml") != std::string::npos);
  BOOST_TEST(changes.at(0).error.find("No such file") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_a_huge_file_no_more_is_read_than_the_parser_refuses) {
  write_file(folder.path() / "a.toml", std::string(1 << 20, '#'));
  BOOST_TEST(bellwether::daemon::read_config_text(folder.path() / "a.toml").size() ==
             bellwether::kMaxConfigBytes + 1);
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_read_as_a_file_is_an_error) {
  BOOST_CHECK_THROW(bellwether::daemon::read_config_text(fs::temp_directory_path()),
                    std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_reader_that_goes_while_its_file_is_read_is_not_called) {
  write_file(folder.path() / "a.toml", "old");
  {
    ConfigFile file = watch_config(loop, folder.path() / "a.toml", "old", note());
    file.read([] { BOOST_ERROR("it is gone"); });
  }
  uv_run(loop.uv(), UV_RUN_DEFAULT);
  BOOST_TEST(changes.empty());
}

BOOST_AUTO_TEST_SUITE_END()
