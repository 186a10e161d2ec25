// The one timer, on a real event loop.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

// Time is the loop's here.
class LivingBackend : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  Instant now() const override { return io::Loop::now(); }
};

struct TimerFixture {
  std::shared_ptr<Recorded> poll(const std::string& wait) {
    auto recorded = std::make_shared<Recorded>();
    io::HttpRequest request{.method = "GET", .path = "/v1/leader"};
    request.query = {{"index", "1"}, {"wait", wait}};
    routes.handle(request, std::make_unique<FakeAnswer>(recorded), api::Entrance::kApi);
    return recorded;
  }

  NodeHarness node;
  api::LeadershipFeed feed{wall_time(0)};
  LivingBackend backend{node, feed};
  api::ElectionHistory history;
  io::Loop loop;
  api::Routes routes{
      loop,
      backend,
      feed,
      history,
      {.on_answered = [](size_t, unsigned) {}, .on_limit = [](Limit) {}, .on_command = {}}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(timer_of_the_api, TimerFixture)

// The loop ends when nothing is left to wait for; the longest wait is far from the test's limit.
BOOST_AUTO_TEST_CASE(ends_every_wait_and_then_rests) {
  const Instant begin = io::Loop::now();
  const auto late = poll("40ms");
  const auto early = poll("5ms");
  loop.run();
  BOOST_TEST(early->status() == 200u);
  BOOST_TEST(late->status() == 200u);
  BOOST_TEST((io::Loop::now() - begin >= 40ms));
}

BOOST_AUTO_TEST_CASE(does_not_keep_the_loop_alive_for_clients_that_have_gone) {
  const auto gone = poll("10m");
  gone->is_client_gone = true;
  routes.on_gone();
  const auto waiting = poll("1ms");
  loop.run();
  BOOST_TEST(waiting->status() == 200u);
  BOOST_TEST(!gone->response.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
