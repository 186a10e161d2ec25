// What the doctor hears from those it connects to, which here are threads with a listening socket.
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/assert.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

#include "doctor/looks.hh"
#include "io/loop/files.hh"
#include "io/tls/group_secret.hh"
#include "io/wire/codec.hh"

namespace bellwether::doctor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kPatience = seconds(10);

Config config() {
  Config config;
  config.group.name = "orders";
  config.node.name = "orders-0";
  config.node.advertise = {"127.0.0.1", 7946};
  return config;
}

// Listens on loopback; `serve` gets the first connection, on a thread of its own.
class Server {
 public:
  // One after the other, so many clients.
  explicit Server(std::function<void(int)> serve, int clients = 1)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    BOOST_REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
    BOOST_REQUIRE(::listen(listener_.get(), 1) == 0);
    thread_ = std::thread([this, serve, clients] {
      for (int number = 0; number < clients; ++number) {
        const io::FileDescriptor client(::accept(listener_.get(), nullptr, nullptr));
        if (client.is_open()) serve(client.get());
      }
    });
  }
  ~Server() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  io::SocketAddress address() const {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&name), &size);
    return *io::SocketAddress::from(reinterpret_cast<const sockaddr&>(name));
  }

 private:
  io::FileDescriptor listener_;
  std::thread thread_;
};

// Reads until a HELLO has come, or the connection has ended.
std::optional<io::Greeting> read_greeting(int fd) {
  io::Decoder decoder("orders");
  std::array<uint8_t, 4096> buffer{};
  for (ssize_t count = 0; (count = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
    std::span<const uint8_t> bytes(buffer.data(), static_cast<size_t>(count));
    const io::Decoded decoded = decoder.next(bytes);
    if (const auto* greeting = std::get_if<io::Greeting>(&decoded)) return *greeting;
  }
  return std::nullopt;
}

void say(int fd, const std::vector<uint8_t>& bytes) {
  BOOST_REQUIRE(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(bytes.size()));
}

// A HELLO of a member of `group`.
std::vector<uint8_t> hello(const std::string& group) {
  const Uuid id{{1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16}};
  std::vector<uint8_t> bytes;
  io::Encoder(group).append(io::Greeting{.hello = {.header = {.epoch = 7},
                                                   .self = {.id = id,
                                                            .name = "orders-1",
                                                            .address = "127.0.0.1:7946",
                                                            .boot = 3,
                                                            .variant = "classic"},
                                                   .leader = LeaderHint{.id = id, .epoch = 7}},
                                         .software = "0.1.0",
                                         .plugin = "bully"},
                            bytes);
  return bytes;
}

ProbeFacts probe(const io::SocketAddress& address, Duration limit = kPatience) {
  const ProbeReport report =
      probe_peers({.addresses = {address}, .decoy_hosts = {}, .limit = limit}, config());
  BOOST_REQUIRE(report.probes.size() == 1);
  return report.probes.front();
}

// Lets another thread make this one stand still, wherever it is, as the scheduler could.
class Pause {
 public:
  Pause() {
    BOOST_REQUIRE(::pipe(begun) == 0);
    BOOST_REQUIRE(::pipe(ended) == 0);
    std::signal(SIGUSR1, [](int) {
      const int error = errno;
      pass_on(begun[1]);
      wait_at(ended[0]);
      errno = error;
    });
  }
  ~Pause() {
    std::signal(SIGUSR1, SIG_DFL);
    for (const int fd : {begun[0], begun[1], ended[0], ended[1]}) ::close(fd);
  }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

  // Returns when it stands still.
  void begin() const {
    ::pthread_kill(thread_, SIGUSR1);
    wait_at(begun[0]);
  }
  static void end() { pass_on(ended[1]); }

 private:
  static void pass_on(int pipe) { BOOST_VERIFY(::write(pipe, "", 1) == 1); }
  static void wait_at(int pipe) {
    char byte = 0;
    while (::read(pipe, &byte, 1) < 0 && errno == EINTR) continue;
  }

  static inline int begun[2];
  static inline int ended[2];
  const pthread_t thread_ = ::pthread_self();
};

BOOST_AUTO_TEST_SUITE(peer_probe)

BOOST_AUTO_TEST_CASE(only_asks_and_learns_what_a_member_says_of_itself) {
  std::optional<io::Greeting> question;
  ProbeFacts facts;
  {
    const Server server([&](int fd) {
      question = read_greeting(fd);
      say(fd, hello("orders"));
    });
    facts = probe(server.address());
  }
  BOOST_REQUIRE(question.has_value());
  BOOST_TEST(question->is_inquiry);
  BOOST_REQUIRE(facts.greeting.has_value());
  BOOST_TEST(facts.connect_error == "");
  BOOST_TEST(facts.hello_error == "");
  BOOST_TEST(facts.local_host == "127.0.0.1");
  BOOST_TEST(facts.greeting->name == "orders-1");
  BOOST_TEST(facts.greeting->boot == 3);
  BOOST_TEST(facts.greeting->version == "0.1.0");
  BOOST_TEST(facts.greeting->plugin == "bully");
  BOOST_TEST(facts.greeting->variant == "classic");
  BOOST_TEST(facts.greeting->voters == 0);
  BOOST_TEST(facts.greeting->leader_id == facts.greeting->id);
  BOOST_TEST(facts.greeting->leader_epoch == 7);
}

BOOST_AUTO_TEST_CASE(tells_that_nobody_listens) {
  std::optional<io::SocketAddress> address;
  {
    const Server server([](int) {});
    address = server.address();
  }
  const ProbeFacts facts = probe(*address);
  BOOST_TEST(facts.connect_error == "connection refused");
  BOOST_TEST(!facts.greeting.has_value());
}

BOOST_AUTO_TEST_CASE(tells_that_nothing_comes) {
  const Server server([](int fd) {
    while (read_greeting(fd)) continue;  // until the doctor has given up
  });
  const ProbeFacts facts = probe(server.address(), milliseconds(200));
  BOOST_TEST(facts.connect_error == "");
  BOOST_TEST(facts.hello_error == "connected, but nothing came in time");
  BOOST_TEST(facts.is_silent);
}

BOOST_AUTO_TEST_CASE(tells_that_the_connection_was_closed_without_a_word) {
  const Server server([](int fd) { read_greeting(fd); });
  BOOST_TEST(probe(server.address()).hello_error.starts_with("it closed the connection"));
}

BOOST_AUTO_TEST_CASE(tells_that_another_group_answers) {
  const Server server([](int fd) {
    read_greeting(fd);
    say(fd, hello("payments"));
  });
  BOOST_TEST(probe(server.address()).hello_error ==
             "belongs to group \"payments\", this process to \"orders\"");
}

BOOST_AUTO_TEST_CASE(tells_that_something_else_speaks) {
  const Server server([](int fd) {
    const std::string words = "220 mail.example ESMTP, at your service, and for hours\r\n";
    say(fd, {words.begin(), words.end()});
    read_greeting(fd);
  });
  const ProbeFacts facts = probe(server.address());
  BOOST_TEST(facts.hello_error != "");
  BOOST_TEST(!facts.greeting.has_value());
}

BOOST_AUTO_TEST_CASE(who_speaks_no_tls_is_asked_plain_where_that_is_taken) {
  const auto answer = [](int fd) {
    std::array<uint8_t, 1> first{};
    // As a plain member ends what begins like TLS.
    if (::recv(fd, first.data(), 1, MSG_PEEK) == 1 && first.front() == 0x16) return;
    read_greeting(fd);
    say(fd, hello("orders"));
  };
  const Server strict(answer);
  const Server permissive(answer, 2);
  const auto keys = io::parse_group_secret(io::make_group_secret() + "\n", "orders");
  ProbeOrder order{.addresses = {strict.address()},
                   .decoy_hosts = {},
                   .tls = io::TlsContext::of_members(keys),
                   .limit = kPatience};
  BOOST_TEST(!probe_peers(order, config()).probes.front().greeting.has_value());
  order.addresses = {permissive.address()};
  order.takes_plain = true;
  BOOST_TEST(probe_peers(order, config()).probes.front().greeting.has_value());
}

BOOST_AUTO_TEST_CASE(tells_those_who_do_not_believe_from_those_who_speak_no_tls) {
  const auto answered_by = [](const std::vector<uint8_t>& answer) {
    const Server server([&](int fd) {
      std::array<uint8_t, 4096> buffer{};
      BOOST_TEST(::recv(fd, buffer.data(), buffer.size(), 0) > 0);
      say(fd, answer);
      read_greeting(fd);
    });
    const auto keys = io::parse_group_secret(io::make_group_secret() + "\n", "orders");
    return probe_peers({.addresses = {server.address()},
                        .decoy_hosts = {},
                        .tls = io::TlsContext::of_members(keys),
                        .limit = kPatience},
                       config())
        .probes.front();
  };
  const std::vector<uint8_t> bad_certificate{0x15, 3, 3, 0, 2, 2, 42};  // a fatal alert
  const ProbeFacts refused = answered_by(bad_certificate);
  BOOST_TEST(refused.hello_error.starts_with("the peer refused this side ("), refused.hello_error);
  BOOST_CHECK(refused.distrust == Rejection::kTlsRefused);
  const ProbeFacts plain = answered_by(hello("orders"));
  BOOST_TEST(plain.hello_error.starts_with("the peer does not speak TLS"), plain.hello_error);
  BOOST_CHECK(!plain.distrust);
}

BOOST_AUTO_TEST_CASE(what_came_while_this_process_stood_still_came_in_time) {
  constexpr auto kLimit = seconds(2);  // until it stands still, it must not be over
  const Pause pause;
  const Server member([&](int fd) {
    read_greeting(fd);
    pause.begin();
    say(fd, hello("orders"));
    std::this_thread::sleep_for(kLimit);
    Pause::end();
  });
  const ProbeFacts facts = probe(member.address(), kLimit);
  BOOST_TEST(facts.hello_error == "");
  BOOST_TEST(facts.greeting.has_value());
}

BOOST_AUTO_TEST_CASE(takes_the_time_of_the_slowest_for_all) {
  const Server silent([](int fd) {
    while (read_greeting(fd)) continue;
  });
  const Server member([](int fd) {
    read_greeting(fd);
    say(fd, hello("orders"));
  });
  const ProbeReport report = probe_peers({.addresses = {silent.address(), member.address()},
                                          .decoy_hosts = {},
                                          .limit = milliseconds(500)},
                                         config());
  BOOST_TEST(!report.probes[0].greeting.has_value());
  BOOST_TEST(report.probes[1].greeting.has_value());
}

BOOST_AUTO_TEST_CASE(knocks_where_nobody_can_listen_and_is_refused) {
  const Server server([](int) {});
  const ProbeReport report = probe_peers(
      {.addresses = {}, .decoy_hosts = {server.address()}, .limit = kPatience}, config());
  BOOST_REQUIRE(report.decoys.size() == 1);
  BOOST_TEST(report.decoys[0].host == "127.0.0.1");
  BOOST_TEST((report.decoys[0].outcome == Decoy::kRefused));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
