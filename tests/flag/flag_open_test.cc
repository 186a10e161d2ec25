// What a reader says to a file that is not there, not ready, or no flag.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "flag_harness.hh"

namespace bellwether::io::test {

BOOST_AUTO_TEST_SUITE(opening)

namespace {

int error_of(const std::filesystem::path& path) {
  leader_flag flag{};
  const int error = leader_flag_open(path.c_str(), &flag);
  BOOST_TEST((flag.line != nullptr) == (error == 0));
  leader_flag_close(&flag);
  return error;
}

void write_file(const std::filesystem::path& path, const std::string& contents) {
  std::ofstream(path) << contents;
}

std::string page_of_abi(uint8_t abi) {
  std::string page(LEADER_FLAG_FILE_BYTES, '\0');
  page[offsetof(leader_flag_line, abi)] = static_cast<char>(abi);
  return page;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_missing_file_is_just_that) {
  BOOST_TEST(error_of(ScratchFolder().file()) == ENOENT);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_being_made_is_not_ready) {
  const ScratchFolder folder;
  write_file(folder.file(), "");
  BOOST_TEST(error_of(folder.file()) == LEADER_FLAG_NOT_READY);
  write_file(folder.file(), page_of_abi(0));
  BOOST_TEST(error_of(folder.file()) == LEADER_FLAG_NOT_READY);
}

BOOST_AUTO_TEST_CASE(an_unknown_version_is_refused) {
  const ScratchFolder folder;
  write_file(folder.file(), page_of_abi(LEADER_FLAG_ABI));
  BOOST_TEST(error_of(folder.file()) == 0);
  write_file(folder.file(), page_of_abi(LEADER_FLAG_ABI + 1));
  BOOST_TEST(error_of(folder.file()) == LEADER_FLAG_UNKNOWN_VERSION);
}

BOOST_AUTO_TEST_CASE(what_is_no_file_of_the_right_length_is_no_flag) {
  const ScratchFolder folder;
  write_file(folder.file(), page_of_abi(LEADER_FLAG_ABI) + "x");
  BOOST_TEST(error_of(folder.file()) == LEADER_FLAG_NOT_A_FLAG);
  BOOST_TEST(error_of(folder.path()) == LEADER_FLAG_NOT_A_FLAG);
  BOOST_TEST(error_of("/dev/null") == LEADER_FLAG_NOT_A_FLAG);
}

BOOST_AUTO_TEST_CASE(a_pipe_is_refused_instead_of_waited_for) {
  const ScratchFolder folder;
  BOOST_REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
  BOOST_TEST(error_of(folder.file()) == LEADER_FLAG_NOT_A_FLAG);
}

BOOST_AUTO_TEST_CASE(every_error_has_its_words) {
  for (const int error : {LEADER_FLAG_NOT_READY, LEADER_FLAG_NOT_A_FLAG,
                          LEADER_FLAG_UNKNOWN_VERSION, LEADER_FLAG_NOT_TRUSTED}) {
    BOOST_TEST(std::string(leader_flag_strerror(error)).find("flag") != std::string::npos);
  }
  BOOST_TEST(leader_flag_strerror(ENOENT) == std::string("No such file or directory"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
