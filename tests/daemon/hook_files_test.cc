// What the files of a webhook come to.
#include "daemon/hook_files.hh"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "state_folder.hh"

namespace bellwether::daemon::test {
namespace {

struct Hook {
  io::test::TemporaryFolder folder;
  HookSettings hook;

  Hook() {
    hook.url = "http://127.0.0.1:9/";
    hook.secret_file = folder.path() / "secret";
  }
  void write(const std::string& text) const {
    std::ofstream(hook.secret_file) << text;
    ::chmod(hook.secret_file.c_str(), 0600);
  }
  HookReading read(const HookReading& last = {}) const {
    return read_hook_files(hook, "hook[1]", last);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hook_files, Hook)

// What decodes a key leaves traces of it.
BOOST_AUTO_TEST_CASE(a_secret_is_decoded_only_when_it_has_changed) {
  write("the-first-secret-of-a-webhook");
  const HookReading first = read();
  BOOST_TEST(first.files.error == "");
  BOOST_TEST((first.keys != nullptr));
  BOOST_TEST((read(first).keys == first.keys));
  write("another-secret-of-the-webhook");
  const HookReading second = read(first);
  BOOST_TEST((second.keys != first.keys));
  BOOST_TEST((read(second).keys == second.keys));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_read_again) {
  const HookReading none = read();
  BOOST_TEST(none.files.error != "");
  write("the-first-secret-of-a-webhook");
  const HookReading first = read(none);
  BOOST_TEST(first.files.error == "");
  BOOST_TEST((first.keys != nullptr));
  ::unlink(hook.secret_file.c_str());
  BOOST_TEST(read(first).files.error != "");
  write("the-first-secret-of-a-webhook");
  BOOST_TEST(read(read(first)).files.error == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::daemon::test
