// Who listens, as the kernel says.
#include "io/peers/kernel_sockets.hh"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>

#include "held_port.hh"
#include "io/peers/listener_socket.hh"
#include "transport_harness.hh"

namespace bellwether::io::test {
namespace {

namespace data = boost::unit_test::data;
using Answer = KernelSockets::Answer;

SocketAddress place_at(const std::string& host, uint16_t port) {
  return *SocketAddress::from_numeric({host, port});
}

// A process that listens, and asks.
struct Asking {
  Loop loop;
  std::optional<ListenerSocket> other{};  // of a peer

  uint16_t listen_at(const std::string& host) {
    other.emplace(loop, HostPort{host, 0}, [](const auto&) {});
    return other->port();
  }
  Answer asked(const std::string& host, uint16_t port, const std::string& own_host = "127.0.0.1") {
    const ListenerSocket own(loop, {own_host, 0}, [](const auto&) {});
    KernelSockets kernel(own.address());
    BOOST_REQUIRE(kernel.can_tell());
    return kernel.who_listens(place_at(host, port));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_sockets)

BOOST_DATA_TEST_CASE_F(Asking, who_listens_at_the_very_address_is_found,
                       data::make({"127.0.0.1", "127.9.9.9", "::1"}), host) {
  BOOST_TEST((asked(host, listen_at(host)) == Answer::kListens));
}

BOOST_FIXTURE_TEST_CASE(who_listens_at_every_address_is_found_at_each, Asking) {
  const uint16_t ipv4 = listen_at("0.0.0.0");
  BOOST_TEST((asked("127.0.0.1", ipv4) == Answer::kListens));
  BOOST_TEST((asked("::1", ipv4) == Answer::kNobody));
  const uint16_t both = listen_at("::");
  BOOST_TEST((asked("127.0.0.1", both) == Answer::kListens));
  BOOST_TEST((asked("127.9.9.9", both) == Answer::kListens));
  BOOST_TEST((asked("::1", both) == Answer::kListens));
}

BOOST_DATA_TEST_CASE_F(Asking, wherever_this_process_listens_it_may_ask,
                       data::make({"127.0.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"}),
                       own_host) {
  const uint16_t port = listen_at("127.0.0.1");
  BOOST_TEST((asked("127.0.0.1", port, own_host) == Answer::kListens));
  BOOST_TEST((asked("::1", port, own_host) == Answer::kNobody));
}

BOOST_FIXTURE_TEST_CASE(who_has_stopped_to_listen_is_not_found, Asking) {
  const uint16_t port = listen_at("::");
  const RawSocket connection(port);  // it was not even accepted
  other.reset();
  BOOST_TEST((asked("127.0.0.1", port) == Answer::kNobody));
  BOOST_TEST((asked("::1", port) == Answer::kNobody));
}

BOOST_FIXTURE_TEST_CASE(who_listens_elsewhere_or_only_has_the_port_is_not_found, Asking) {
  const HeldPort held;
  BOOST_TEST((asked("127.0.0.1", held.port()) == Answer::kNobody));
  const uint16_t port = listen_at("127.0.0.1");
  BOOST_TEST((asked("127.0.0.2", port) == Answer::kNobody));
}

BOOST_FIXTURE_TEST_CASE(a_connection_is_nobody_who_listens, Asking) {
  const uint16_t port = listen_at("127.0.0.1");
  const RawSocket connection(port);
  sockaddr_in here{};
  socklen_t size = sizeof here;
  BOOST_REQUIRE(::getsockname(connection.fd(), reinterpret_cast<sockaddr*>(&here), &size) == 0);
  BOOST_TEST((asked("127.0.0.1", ntohs(here.sin_port)) == Answer::kNobody));
}

// As one that answers every question alike.
BOOST_FIXTURE_TEST_CASE(a_kernel_that_does_not_find_this_process_is_silent, Asking) {
  const HeldPort nobody;
  KernelSockets kernel(place_at("127.0.0.1", nobody.port()));
  BOOST_TEST(!kernel.can_tell());
  BOOST_TEST(
      (kernel.who_listens(place_at("127.0.0.1", listen_at("127.0.0.1"))) == Answer::kSilent));
}

BOOST_FIXTURE_TEST_CASE(a_kernel_that_ceases_to_find_this_process_is_silent, Asking) {
  const uint16_t port = listen_at("127.0.0.1");
  KernelSockets kernel(place_at("127.0.0.1", port));
  BOOST_TEST((kernel.who_listens(place_at("127.0.0.1", port)) == Answer::kListens));
  other.reset();
  BOOST_TEST((kernel.who_listens(place_at("127.0.0.1", port)) == Answer::kSilent));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
