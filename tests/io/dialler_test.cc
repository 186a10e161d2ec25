// What comes of dialling one address.
#include "io/peers/dialler.hh"

#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "io/names/socket_options.hh"
#include "transport_harness.hh"

namespace bellwether::io::test {
namespace {

struct Caller : Dialler::Owner {
  void on_connected(Dialler&, UvPtr<uv_tcp_t> connected) override { socket = std::move(connected); }
  void on_attempt_failed(Dialler&, int error) override { errors.push_back(error); }

  UvPtr<uv_tcp_t> socket;
  std::vector<int> errors;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(dialler)

BOOST_AUTO_TEST_CASE(a_connection_that_came_about_while_the_process_stood_still_is_in_time) {
  Loop loop;
  const RawListener listener;
  Caller caller;
  const LinkLimits limits;
  Dialler dialler(loop, *SocketAddress::from_numeric(listener.place()), limits, caller, 1);
  dialler.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(310));  // longer than a try may take
  BOOST_TEST(run_until(loop, [&] { return caller.socket || !caller.errors.empty(); }));
  BOOST_TEST(caller.errors.empty());
  BOOST_TEST(dialler.is_resting());
}

BOOST_AUTO_TEST_CASE(a_socket_that_is_connected_to_itself_is_recognised) {
  const HeldPort held;
  const auto here = SocketAddress::from_numeric(held.place());
  const FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  BOOST_REQUIRE(::bind(fd.get(), here->get(), sizeof(sockaddr_in)) == 0);
  BOOST_REQUIRE(::connect(fd.get(), here->get(), sizeof(sockaddr_in)) == 0);
  BOOST_TEST(is_connected_to_itself(fd.get()));
  const RawListener listener;
  const RawSocket other(listener.place().port);
  BOOST_TEST(!is_connected_to_itself(other.fd()));
}

BOOST_AUTO_TEST_CASE(an_address_is_of_this_host_or_of_another) {
  const auto is_here = [](const char* host) {
    return is_of_this_host(*SocketAddress::from_numeric({host, 7946}));
  };
  BOOST_TEST(is_here("127.0.0.1"));
  BOOST_TEST(!is_here("192.0.2.1"));  // RFC 5737: nobody's
  BOOST_TEST(!is_here("2001:db8::1"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
