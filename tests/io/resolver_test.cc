// Names become addresses, and stay up to date, with a name server of the tests' own.
#include "io/names/resolver.hh"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <fstream>
#include <sstream>

#include "io/names/name_watch.hh"
#include "name_server.hh"
#include "transport_harness.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::seconds;

struct World {
  Loop loop;
  NameServer server{loop};
  Resolver resolver{loop, {.servers = server.servers()}};

  bool run_until(const std::function<bool()>& condition) {
    return test::run_until(loop, condition);
  }

  NameAnswer look_up(const HostPort& place) {
    std::optional<NameAnswer> answer;
    const Lookup lookup = resolver.look_up(place, [&](const NameAnswer& found) { answer = found; });
    BOOST_TEST(!answer.has_value());  // it comes from the loop
    BOOST_REQUIRE(run_until([&] { return answer.has_value(); }));
    return *answer;
  }
};

std::vector<std::string> texts(std::span<const SocketAddress> addresses) {
  std::vector<std::string> result;
  for (const SocketAddress& address : addresses) result.push_back(address.text());
  return result;
}

using Texts = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(resolver, World)

BOOST_AUTO_TEST_CASE(a_name_has_addresses_of_both_families_and_the_port_that_was_asked_for) {
  server.add_ipv4("orders.test", "192.0.2.7", 30);
  server.add_ipv4("orders.test", "192.0.2.6", 20);
  server.add_ipv6("orders.test", "2001:db8::1", 40);
  const NameAnswer answer = look_up({"orders.test", 7946});
  BOOST_TEST(
      texts(answer.addresses) == (Texts{"192.0.2.6:7946", "192.0.2.7:7946", "[2001:db8::1]:7946"}),
      boost::test_tools::per_element());
  BOOST_TEST((answer.time_to_live == seconds(20)));
  BOOST_TEST(answer.error.empty());
}

BOOST_AUTO_TEST_CASE(a_service_names_hosts_and_ports) {
  server.add_service("_bellwether._tcp.orders.test", "a.orders.test", 7001);
  server.add_service("_bellwether._tcp.orders.test", "b.orders.test", 7002);
  server.add_ipv4("a.orders.test", "192.0.2.1", 9);
  server.add_ipv4("b.orders.test", "192.0.2.2");
  const NameAnswer answer = look_up({"_bellwether._tcp.orders.test", 7946});
  BOOST_TEST(texts(answer.addresses) == (Texts{"192.0.2.1:7001", "192.0.2.2:7002"}),
             boost::test_tools::per_element());
  BOOST_TEST((answer.time_to_live == seconds(9)));
}

BOOST_AUTO_TEST_CASE(a_service_is_found_even_when_one_of_its_hosts_is_not) {
  server.add_service("_bellwether._tcp.orders.test", "a.orders.test", 7001);
  server.add_service("_bellwether._tcp.orders.test", "gone.orders.test", 7002);
  server.add_ipv4("a.orders.test", "192.0.2.1");
  const NameAnswer answer = look_up({"_bellwether._tcp.orders.test", 7946});
  BOOST_TEST(texts(answer.addresses) == (Texts{"192.0.2.1:7001"}),
             boost::test_tools::per_element());
  BOOST_TEST(answer.error.empty());
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_there_is_a_failure_with_its_reason) {
  for (const char* host : {"nobody.test", "_nobody._tcp.test"}) {
    const NameAnswer answer = look_up({host, 7946});
    BOOST_TEST(answer.addresses.empty());
    BOOST_TEST(!answer.error.empty());
  }
}

BOOST_AUTO_TEST_CASE(the_hosts_file_needs_no_server) {
  server.set_silent(true);
  BOOST_TEST(texts(look_up({"localhost", 80}).addresses).at(0) == "127.0.0.1:80");
  // Every other name of an IPv4 address in there.
  std::ifstream file("/etc/hosts");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string address;
    std::string name;
    words >> address >> name;
    const auto expected = SocketAddress::from_numeric({address, 80});
    if (name.empty() || !expected || expected->family() != AF_INET) continue;
    const Texts found = texts(look_up({name, 80}).addresses);
    BOOST_TEST((std::ranges::find(found, expected->text()) != found.end()), name);
  }
}

BOOST_AUTO_TEST_CASE(a_lookup_that_was_let_go_of_is_not_answered) {
  server.add_ipv4("orders.test", "192.0.2.7");
  bool is_answered = false;
  {
    const Lookup lookup =
        resolver.look_up({"orders.test", 1}, [&](const auto&) { is_answered = true; });
  }
  look_up({"orders.test", 1});
  BOOST_TEST(!is_answered);
}

BOOST_AUTO_TEST_CASE(a_resolver_may_end_with_questions_open) {
  server.set_silent(true);
  bool is_answered = false;
  {
    Resolver other(loop, {.servers = server.servers()});
    const Lookup lookup =
        other.look_up({"orders.test", 1}, [&](const auto&) { is_answered = true; });
    uv_run(loop.uv(), UV_RUN_NOWAIT);
  }
  BOOST_TEST(run_until([&, turns = 0]() mutable { return ++turns > 5; }));
  BOOST_TEST(!is_answered);
}

BOOST_AUTO_TEST_CASE(servers_that_make_no_sense_are_an_error_at_start) {
  BOOST_CHECK_THROW(Resolver(loop, {.servers = "nonsense"}), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_name_is_looked_up_again_when_its_time_is_over) {
  server.add_ipv4("orders.test", "192.0.2.7", 1);
  server.add_ipv4("stable.test", "192.0.2.7", 3600);
  int changes = 0;
  NameWatch watch(loop, resolver, {"orders.test", 1}, [&] { ++changes; });
  const NameWatch stable(loop, resolver, {"stable.test", 1}, [] {});
  BOOST_REQUIRE(run_until([&] { return watch.is_answered() && stable.is_answered(); }));
  // More than one where the answer took so long that c-ares has sent the question again.
  const int asked = server.questions("stable.test");
  server.remove("orders.test");
  server.add_ipv4("orders.test", "192.0.2.8", 1);
  BOOST_TEST(run_until([&] { return texts(watch.addresses()) == Texts{"192.0.2.8:1"}; }));
  BOOST_TEST(changes == 2);
  BOOST_TEST(server.questions("stable.test") == asked);
}

BOOST_AUTO_TEST_CASE(nobody_is_told_when_the_addresses_are_still_the_same) {
  server.add_ipv4("orders.test", "192.0.2.7", 0);
  int changes = 0;
  const NameWatch watch(loop, resolver, {"orders.test", 1}, [&] { ++changes; });
  BOOST_TEST(run_until([&] { return server.questions("orders.test") >= 3; }));
  BOOST_TEST(changes == 1);
}

BOOST_AUTO_TEST_CASE(that_the_servers_fail_is_no_answer) {
  server.set_failing(true);
  int changes = 0;
  const NameWatch watch(loop, resolver, {"orders.test", 1}, [&] { ++changes; });
  BOOST_REQUIRE(run_until([&] { return server.questions("orders.test") > 4; }));
  BOOST_TEST(!watch.is_answered());
  BOOST_TEST(changes == 0);
  server.set_failing(false);
  BOOST_TEST(run_until([&] { return watch.is_answered(); }));
  BOOST_TEST(watch.addresses().empty());
  BOOST_TEST(changes == 1);
}

BOOST_AUTO_TEST_CASE(that_nobody_is_there_is_told_and_not_the_last_word) {
  int changes = 0;
  const NameWatch watch(loop, resolver, {"orders.test", 1}, [&] { ++changes; });
  BOOST_REQUIRE(run_until([&] { return watch.is_answered(); }));
  BOOST_TEST(changes == 1);
  BOOST_TEST(watch.addresses().empty());
  server.add_ipv4("orders.test", "192.0.2.7");
  BOOST_TEST(run_until([&] { return !watch.addresses().empty(); }));
  BOOST_TEST(changes == 2);
}

BOOST_AUTO_TEST_CASE(the_last_good_addresses_stay_while_the_servers_fail) {
  server.add_ipv4("orders.test", "192.0.2.7", 1);
  const NameWatch watch(loop, resolver, {"orders.test", 1}, [] {});
  BOOST_REQUIRE(run_until([&] { return watch.is_answered(); }));
  server.set_failing(true);
  const int before = server.questions("orders.test");
  BOOST_REQUIRE(run_until([&] { return server.questions("orders.test") > before + 3; }));
  BOOST_TEST(texts(watch.addresses()) == (Texts{"192.0.2.7:1"}), boost::test_tools::per_element());
  server.remove("orders.test");
  server.add_ipv4("orders.test", "192.0.2.8", 1);
  server.set_failing(false);
  BOOST_TEST(run_until([&] { return texts(watch.addresses()) == Texts{"192.0.2.8:1"}; }));
}

BOOST_AUTO_TEST_CASE(a_numeric_address_is_known_at_once) {
  const NameWatch watch(loop, resolver, {"::1", 1}, [] {});
  BOOST_TEST(watch.is_answered());
  BOOST_TEST(texts(watch.addresses()) == (Texts{"[::1]:1"}), boost::test_tools::per_element());
}

// Whoever has lost its vote waits for all, and those that have it may be behind the name.
BOOST_AUTO_TEST_CASE(a_name_that_no_server_can_tell_has_not_answered) {
  Process a(loop, resolver, 1);
  Process b(loop, resolver, 2);
  server.set_failing(true);
  b.look_for({a.place(), {"c.test", 1}});
  BOOST_REQUIRE(run_until([&] { return b.is_linked_to(a) && server.questions("c.test") > 4; }));
  BOOST_TEST(b.all_answered == 0);
  server.set_failing(false);  // there is no such name, as before a pod is there
  BOOST_TEST(run_until([&] { return b.all_answered == 1; }));
}

BOOST_AUTO_TEST_CASE(everybody_behind_a_name_is_dialled) {
  Process a(loop, resolver, 1);
  Process b(loop, resolver, 2);
  Process c(loop, resolver, 3);
  const char* service = "_bellwether._tcp.orders.test";
  for (const Process* process : {&a, &b, &c}) {
    server.add_service(service, "host.test", process->place().port);
  }
  server.add_ipv4("host.test", "127.0.0.1");
  a.look_for({}, {service, 1});
  BOOST_TEST(
      run_until([&] { return a.is_linked_to(b) && a.is_linked_to(c) && a.all_answered == 1; }));
  BOOST_TEST(a.ups.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_process_with_two_addresses_is_linked_once) {
  server.add_ipv4("both.test", "127.0.0.1");
  server.add_ipv6("both.test", "::1");
  Process a(loop, resolver, 1);
  Process c(loop, resolver, 3, 1, 0, "::");
  const HostPort both{"both.test", c.place().port};
  c.advertised = both.text();
  a.look_for({both});
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(c) && a.all_answered == 1; }));
  // Longer than the first tries of a second link would take.
  for (size_t i = 1; i <= 10; ++i) {
    a.send(c, heartbeat());
    BOOST_REQUIRE(run_until([&] { return c.received.size() == i; }));
  }
  BOOST_TEST(a.ups.size() == 1u);
  BOOST_TEST(c.ups.size() == 1u);
}

BOOST_AUTO_TEST_CASE(who_has_no_address_is_not_waited_for) {
  Process a(loop, resolver, 1);
  Process b(loop, resolver, 2);
  a.look_for({{"no-such-host.test", 7946}, b.place()});
  BOOST_TEST(run_until([&] { return a.all_answered == 1; }));
  BOOST_TEST(server.questions("no-such-host.test") > 0);
}

BOOST_AUTO_TEST_CASE(who_comes_to_a_name_later_is_dialled_then) {
  Process a(loop, resolver, 1);
  Process b(loop, resolver, 2);
  const HostPort name{"orders.test", b.place().port};
  a.look_for({}, name);
  BOOST_REQUIRE(run_until([&] { return a.all_answered == 1; }));
  server.add_ipv4("orders.test", "127.0.0.1");
  BOOST_TEST(run_until([&] { return a.is_linked_to(b); }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
