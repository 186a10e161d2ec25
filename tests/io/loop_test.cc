// The idiom of handles, and the timers.
#include "io/loop/loop.hh"

#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "io/loop/timer.hh"
#include "loop_run.hh"

using bellwether::Instant;
using bellwether::kNever;
using bellwether::io::DeadlineTimer;
using bellwether::io::Loop;
using bellwether::io::LoopTimer;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(loop)

BOOST_AUTO_TEST_CASE(a_timer_calls_once_and_not_early) {
  Loop loop;
  const Instant armed = Loop::now();
  int calls = 0;
  Instant called{};
  LoopTimer timer(loop, [&] {
    ++calls;
    called = Loop::now();
  });
  timer.arm(milliseconds(5));
  BOOST_TEST(timer.is_armed());
  loop.run();
  BOOST_TEST(calls == 1);
  BOOST_TEST((called - armed >= milliseconds(5)));
  BOOST_TEST(!timer.is_armed());
}

// libuv's own clock has no fractions of a millisecond; ours has, and a call may not come before it.
BOOST_AUTO_TEST_CASE(a_timer_is_not_early_by_a_fraction_of_a_millisecond) {
  Loop loop;
  for (int i = 0; i < 20; ++i) {
    Instant called{};
    LoopTimer timer(loop, [&] { called = Loop::now(); });
    const Instant armed = Loop::now();
    timer.arm(milliseconds(1));
    loop.run();
    BOOST_TEST((called - armed >= milliseconds(1)));
  }
}

BOOST_AUTO_TEST_CASE(a_timer_that_is_disarmed_does_not_call) {
  Loop loop;
  LoopTimer timer(loop, [] { BOOST_ERROR("called"); });
  timer.arm(milliseconds(1));
  timer.disarm();
  loop.run();
}

BOOST_AUTO_TEST_CASE(a_timer_can_be_armed_again_by_its_own_call) {
  Loop loop;
  int calls = 0;
  LoopTimer* again = nullptr;
  LoopTimer timer(loop, [&] {
    if (++calls < 3) again->arm(milliseconds(1));
  });
  again = &timer;
  timer.arm(milliseconds(1));
  loop.run();
  BOOST_TEST(calls == 3);
}

BOOST_AUTO_TEST_CASE(a_handle_may_go_while_the_loop_runs) {
  Loop loop;
  auto doomed = std::make_unique<LoopTimer>(loop, [] { BOOST_ERROR("called"); });
  LoopTimer killer(loop, [&] { doomed.reset(); });
  killer.arm(milliseconds(1));
  doomed->arm(milliseconds(5));
  loop.run();
}

BOOST_AUTO_TEST_CASE(a_deadline_is_judged_once_and_not_early) {
  Loop loop;
  int calls = 0;
  Instant called{};
  DeadlineTimer timer(loop, [&] {
    ++calls;
    called = Loop::now();
  });
  const Instant deadline = Loop::now() + milliseconds(5);
  timer.arm(deadline);
  loop.run();
  BOOST_TEST(calls == 1);
  BOOST_TEST((called >= deadline));
}

BOOST_AUTO_TEST_CASE(a_deadline_in_the_past_is_judged_at_once) {
  Loop loop;
  int calls = 0;
  DeadlineTimer timer(loop, [&] { ++calls; });
  timer.arm(Instant{});
  loop.run();
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(the_last_deadline_counts) {
  Loop loop;
  int calls = 0;
  DeadlineTimer timer(loop, [&] { ++calls; });
  timer.arm(Loop::now() + milliseconds(1));
  timer.arm(kNever);
  loop.run();
  BOOST_TEST(calls == 0);
  timer.arm(Loop::now() + std::chrono::hours(1));
  timer.arm(Loop::now() + milliseconds(1));
  loop.run();
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(of_two_deadlines_that_are_due_the_first_may_end_the_other) {
  Loop loop;
  int calls = 0;
  std::unique_ptr<DeadlineTimer> one;
  std::unique_ptr<DeadlineTimer> other;
  one = std::make_unique<DeadlineTimer>(loop, [&] {
    ++calls;
    other.reset();
  });
  other = std::make_unique<DeadlineTimer>(loop, [&] {
    ++calls;
    one.reset();
  });
  one->arm(Instant{});
  other->arm(Instant{});
  loop.run();
  BOOST_TEST(calls == 1);
}

// A process that was stopped finds both its timer due and its socket full.
BOOST_AUTO_TEST_CASE(what_has_arrived_is_read_before_a_deadline_is_judged) {
  Loop loop;
  int ends[2];
  BOOST_REQUIRE(::pipe(ends) == 0);
  std::string order;
  auto pipe = bellwether::io::make_handle(loop.uv(), &order, uv_pipe_init, 0);
  BOOST_REQUIRE(uv_pipe_open(pipe.get(), ends[0]) == 0);
  static char buffer[16];
  uv_read_start(
      reinterpret_cast<uv_stream_t*>(pipe.get()),
      [](uv_handle_t*, size_t, uv_buf_t* room) { *room = uv_buf_init(buffer, sizeof buffer); },
      [](uv_stream_t* stream, ssize_t size, const uv_buf_t*) {
        if (size > 0) *static_cast<std::string*>(stream->data) += "read ";
      });
  DeadlineTimer timer(loop, [&] { order += "judged"; });
  timer.arm(Loop::now() + milliseconds(2));
  uv_update_time(loop.uv());
  while (Loop::now() < Instant{} || order.empty()) {
    // Stopped until the timer is long due; meanwhile something arrives.
    const Instant resumed = Loop::now() + milliseconds(20);
    while (Loop::now() < resumed) {
    }
    BOOST_REQUIRE(::write(ends[1], "x", 1) == 1);
    uv_run(loop.uv(), UV_RUN_ONCE);
  }
  BOOST_TEST(run_until(loop, [&] { return order.find("judged") != std::string::npos; }));
  BOOST_TEST(order.substr(0, 5) == "read ");
  ::close(ends[1]);
}

BOOST_AUTO_TEST_CASE(a_signal_is_an_event) {
  Loop loop;
  bool is_told = false;
  const bellwether::io::SignalWatch watch(loop, SIGUSR2, [&] { is_told = true; });
  BOOST_REQUIRE(::kill(::getpid(), SIGUSR2) == 0);
  BOOST_TEST(run_until(loop, [&] { return is_told; }));
}

BOOST_AUTO_TEST_SUITE_END()
