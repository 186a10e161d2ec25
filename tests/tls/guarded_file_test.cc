// Who else may read or write a file is asked before it is believed.
#include "io/tls/guarded_file.hh"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "io/tls/openssl.hh"
#include "state_folder.hh"

namespace bellwether::io::test {
namespace {

struct SecretFileFixture {
  TemporaryFolder folder;
  std::string path = (folder.path() / "key.pem").string();

  void write(const std::string& text, mode_t mode) const {
    std::filesystem::create_directories(folder.path());
    std::ofstream(path) << text;
    BOOST_TEST_REQUIRE(::chmod(path.c_str(), mode) == 0);
  }
  std::string flaw(Secrecy secrecy = Secrecy::kSecret) const {
    try {
      read_guarded_file(path, "tls.key", secrecy);
    } catch (const TlsError& error) {
      return error.what();
    }
    return "";
  }
};

BOOST_FIXTURE_TEST_SUITE(secret_file, SecretFileFixture)

BOOST_AUTO_TEST_CASE(of_its_owner_and_group_is_read) {
  for (const mode_t mode : {0400U, 0440U, 0600U, 0640U}) {
    write("text", mode);
    BOOST_TEST(read_guarded_file(path, "tls.key", Secrecy::kSecret) == "text");
  }
}

BOOST_AUTO_TEST_CASE(that_everybody_can_read_is_refused_unless_it_is_public) {
  write("text", 0644);
  BOOST_TEST(flaw() == "tls.key " + path +
                           " may be read by everybody; chmod go= (a Secret's defaultMode: 0440)");
  BOOST_TEST(flaw(Secrecy::kPublic).empty());
}

BOOST_AUTO_TEST_CASE(that_others_can_write_is_refused_also_when_it_is_public) {
  for (const mode_t mode : {0620U, 0602U, 0666U}) {
    write("text", mode);
    BOOST_TEST(flaw(Secrecy::kPublic).find("written by others") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(of_another_user_is_refused) {
  if (::geteuid() != 0) return;
  write("text", 0600);
  BOOST_TEST_REQUIRE(::chown(path.c_str(), 12345, 0) == 0);
  BOOST_TEST(flaw().find("belongs to user 12345") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(
    in_a_folder_that_is_answered_for_may_be_anybodys_and_readable_but_not_writable) {
  write("text", 0644);
  BOOST_TEST(flaw(Secrecy::kShared).empty());
  if (::geteuid() == 0) {
    BOOST_TEST_REQUIRE(::chown(path.c_str(), 12345, 0) == 0);
    BOOST_TEST(flaw(Secrecy::kShared).empty());
  }
  write("text", 0646);
  BOOST_TEST(flaw(Secrecy::kShared).find("written by others") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(that_is_missing_a_folder_or_a_pipe_is_refused_at_once) {
  BOOST_TEST(flaw().find("cannot be read: No such file or directory; put it there") !=
             std::string::npos);
  std::filesystem::create_directories(path);
  BOOST_TEST(flaw().find("is not a regular file") != std::string::npos);
  std::filesystem::remove(path);
  BOOST_TEST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  BOOST_TEST(flaw().find("is not a regular file") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(that_is_endless_is_refused) {
  write("", 0600);
  std::filesystem::resize_file(path, 2 << 20);
  BOOST_TEST(flaw().find("larger than 1 MiB") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_fingerprint_tells_where_a_part_ends) {
  const std::vector<std::string_view> one{"ab", "c"};
  const std::vector<std::string_view> other{"a", "bc"};
  BOOST_TEST(fingerprint(one) == fingerprint(one));
  BOOST_TEST(fingerprint(one) != fingerprint(other));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::io::test
