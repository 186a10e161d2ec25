// What the files of the store in use come to.
#include "daemon/store_files.hh"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "state_folder.hh"

namespace bellwether::daemon::test {
namespace {

struct Files {
  io::test::TemporaryFolder folder;
  std::string path = folder.path() / "secret";
  Config config;

  Files() {
    config.kubernetes.is_used = true;
    config.kubernetes.server = "http://127.0.0.1:1";
    config.kubernetes.namespace_name = "shop";
    config.kubernetes.lease_name = "orders";
    config.kubernetes.token_file = path;
  }
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(store_files, Files)

BOOST_AUTO_TEST_CASE(the_first_line_is_the_secret) {
  write("a.token-of/some_kind\nand a comment\n");
  const StoreReading reading = read_store_files(config);
  BOOST_TEST(reading.files.error == "");
  BOOST_TEST(reading.secret.text() == "a.token-of/some_kind");
  const io::StoreSecurity security = to_security(reading);
  BOOST_TEST(security.flaw == "");
  BOOST_TEST((security.secret == reading.secret));
  BOOST_TEST((security.tls == nullptr));  // the server does not speak it
}

BOOST_AUTO_TEST_CASE(another_secret_is_another_reading) {
  write("one");
  const StoreReading first = read_store_files(config);
  BOOST_TEST((read_store_files(config, first) == first));
  BOOST_TEST(read_store_files(config, first).secret.text() == "one");
  write("two");
  const StoreReading second = read_store_files(config, first);
  BOOST_TEST(!(second == first));
  BOOST_TEST(second.secret.text() == "two");
}

BOOST_AUTO_TEST_CASE(a_secret_that_is_none_is_told_without_what_is_in_it) {
  for (const char* text : {"\n", "  \nsecret", "secr\x01t", "s\xC3\xA4"}) {
    write(text);
    const std::string error = read_store_files(config).files.error;
    BOOST_TEST(error == "kubernetes.token_file " + path +
                            " has no line of visible characters at its beginning; write it there");
    BOOST_TEST(to_security(read_store_files(config)).flaw == error);
  }
}

BOOST_AUTO_TEST_CASE(a_secret_that_all_can_read_is_refused_by_the_key_that_names_it) {
  write("secret", 0644);
  BOOST_TEST(read_store_files(config).files.error.find("kubernetes.token_file " + path +
                                                       " may be read by everybody") == 0u);
  config.kubernetes.is_used = false;
  config.etcd.is_used = true;
  config.etcd.password_file = path;
  BOOST_TEST(read_store_files(config).files.error.find("etcd.password_file " + path) == 0u);
}

BOOST_AUTO_TEST_CASE(an_authority_that_is_missing_is_told) {
  write("secret");
  config.kubernetes.server = "https://127.0.0.1:1";
  config.kubernetes.ca = folder.path() / "ca.crt";
  BOOST_TEST(read_store_files(config).files.error.find("kubernetes.ca " + config.kubernetes.ca +
                                                       " cannot be read") == 0u);
}

BOOST_AUTO_TEST_CASE(who_has_no_secret_needs_no_file) {
  config.kubernetes.token_file = "";
  BOOST_TEST(to_security(read_store_files(config)).flaw == "");
}

BOOST_AUTO_TEST_CASE(the_table_in_use_says_whom_to_ask) {
  BOOST_TEST(make_store_dialect(config)->read().url ==
             "http://127.0.0.1:1/apis/coordination.k8s.io/v1/namespaces/shop/leases/orders");
  config.kubernetes.is_used = false;
  config.etcd = {.is_used = true, .endpoints = {"http://a:1"}, .prefix = "/p/"};
  config.group.name = "g";
  BOOST_TEST(make_store_dialect(config)->read().body == R"({"key":"L3AvZw=="})");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::daemon::test
