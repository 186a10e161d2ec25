// What comes of dialling one address.
#include "io/peers/dialler.hh"

#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
