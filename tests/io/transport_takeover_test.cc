// What failing over costs here: what a killed process leaves behind, how fast its end is proven,
// and what a heartbeat takes.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <vector>

#include "allocation_count.hh"
#include "base/check.hh"
#include "io/loop/timer.hh"
#include "io/names/socket_options.hh"
#include "sample_frames.hh"
#include "transport_harness.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

// A process of its own with a transport that dials whom it is told to; it lives until it is killed.
// To be made before there is a thread, which a process that forks must not have.
class Child {
 public:
  explicit Child(uint8_t byte) {
    std::array<int, 2> pipe{};
    check(::pipe2(pipe.data(), O_CLOEXEC) == 0, "a child can be told something");
    const FileDescriptor from(pipe[0]);
    to_ = FileDescriptor(pipe[1]);
    pid_ = ::fork();
    if (pid_ == 0) live(byte, from);
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  void dial(const HostPort& peer) const {
    check(::write(to_.get(), &peer.port, sizeof peer.port) == sizeof peer.port, "it is told");
  }
  // Without waiting for its end.
  void begin_kill() const { ::kill(pid_, SIGKILL); }

 private:
  [[noreturn]] static void live(uint8_t byte, const FileDescriptor& from) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // its siblings would keep its pipe open
    uint16_t port = 0;
    if (::read(from.get(), &port, sizeof port) != sizeof port) ::_exit(1);
    Loop loop;
    Resolver resolver(loop);
    Process process(loop, resolver, byte);
    process.look_for({{"127.0.0.1", port}});
    loop.run();
    ::_exit(0);
  }

  FileDescriptor to_;
  pid_t pid_ = -1;
};

// Notes when it heard of the ends of links.
struct Ends {
  Instant closed{};
  Instant refused{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(transport_takeover)

BOOST_AUTO_TEST_CASE(a_killed_process_is_told_as_closed_and_then_as_refused) {
  constexpr int kKills = 20;
  std::vector<microseconds> gaps;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kKills; ++i) children.push_back(std::make_unique<Child>(2));
  for (const auto& child : children) {
    Loop loop;
    Resolver resolver(loop);
    Process watcher(loop, resolver, 1);
    child->dial(watcher.place());
    Ends ends;
    watcher.on_down = [&] {
      const bool is_refused = watcher.downs.back().evidence == LinkEvidence::kRefused;
      (is_refused ? ends.refused : ends.closed) = Loop::now();
    };
    BOOST_REQUIRE(run_until(loop, [&] { return watcher.is_linked_to(id_of(2)); }));
    HostPort place;
    parse_host_port(watcher.ups[0].hello.self.address, place);
    watcher.transport().set_members({{id_of(2), place}});
    for (int turn = 0; turn < 3; ++turn) uv_run(loop.uv(), UV_RUN_NOWAIT);
    child->begin_kill();
    BOOST_REQUIRE(run_until(loop, [&] { return watcher.downs.size() == 2; }));
    BOOST_TEST((watcher.downs[0].evidence == LinkEvidence::kClosed));
    BOOST_TEST((watcher.downs[1].evidence == LinkEvidence::kRefused));
    gaps.push_back(duration_cast<microseconds>(ends.refused - ends.closed));
  }
  std::ranges::sort(gaps);
  // A look at the machine, not a promise; 1 ms and more means that the first try was accepted.
  const auto at_once =
      std::ranges::count_if(gaps, [](microseconds gap) { return gap < microseconds(900); });
  BOOST_TEST_MESSAGE("end of link to proof of death: median "
                     << gaps[kKills / 2].count() << " us, longest " << gaps.back().count()
                     << " us, " << at_once << " of " << kKills << " at the first try");
}

BOOST_AUTO_TEST_CASE(a_listening_socket_has_a_higher_descriptor_than_connections) {
  const RawListener ordinary;
  const FileDescriptor high =
      move_to_high_descriptor(FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  rlimit limit{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlim_t lowest = std::min<rlim_t>(2000, limit.rlim_cur - 16);
  BOOST_TEST(static_cast<rlim_t>(high.get()) >= lowest);
  BOOST_TEST(::fcntl(high.get(), F_GETFD) == FD_CLOEXEC);

  const rlimit low{.rlim_cur = 200, .rlim_max = limit.rlim_max};
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  const FileDescriptor lower =
      move_to_high_descriptor(FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  BOOST_TEST(lower.get() >= 184);
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

BOOST_AUTO_TEST_CASE(a_peer_socket_sends_at_once_and_gives_a_silent_peer_up_when_it_is_told_to) {
  const FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto option = [&](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    BOOST_REQUIRE(::getsockopt(fd.get(), IPPROTO_TCP, name, &value, &size) == 0);
    return value;
  };
  BOOST_TEST(option(TCP_NODELAY) == 0);
  BOOST_TEST(option(TCP_USER_TIMEOUT) == 0);
  prepare_peer_socket(fd.get());
  set_user_timeout(fd.get(), std::chrono::milliseconds(4800));
  BOOST_TEST(option(TCP_NODELAY) == 1);
  BOOST_TEST(option(TCP_USER_TIMEOUT) == 4800);
}

BOOST_FIXTURE_TEST_CASE(a_heartbeat_allocates_nothing_on_its_way, Pair) {
  a.look_for({b.place()});
  BOOST_REQUIRE(are_linked());
  constexpr size_t kBeats = 100;
  b.received.reserve(2 * kBeats + 1);
  const auto beat = [&] {
    for (size_t i = 0; i < kBeats; ++i) {
      const size_t before = b.received.size();
      a.send(b, heartbeat());
      while (b.received.size() == before) uv_run(loop.uv(), UV_RUN_NOWAIT);
    }
  };
  beat();
  const size_t before = allocation_count();
  beat();
  BOOST_TEST(allocation_count() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
