// Non-blocking sockets and poll(2): connect, HELLO, its answer, end.
#include "doctor/peer_probe.hh"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/uuid/random_generator.hpp>
#include <cctype>
#include <cerrno>
#include <memory>
#include <system_error>

#include "core/electorate.hh"
#include "io/loop/file_descriptor.hh"
#include "io/loop/loop.hh"
#include "io/wire/codec.hh"

namespace bellwether::doctor {
namespace {

// Nobody can listen on it: to bind to it means "any free one".
constexpr uint16_t kDecoyPort = 0;

constexpr const char* kNoConnection = "no answer in time";
constexpr const char* kNoHello = "connected, but nothing came in time";
constexpr const char* kClosed =
    "it closed the connection without a word, as a sidecar of another group does, or a proxy";

std::string because(int error) {
  std::string text = std::generic_category().message(error);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::vector<uint8_t> inquiry(const Config& config) {
  std::vector<std::string> voters;
  for (const auto& [name, address] : config.voters) voters.push_back(name);
  const Greeting greeting{.hello = {.self = {.id = boost::uuids::random_generator()(),
                                             .name = config.node.name,
                                             .address = config.node.advertise.text(),
                                             .boot = 1},
                                    .voters = voters.empty() ? 0 : Electorate(voters).hash()},
                          .is_inquiry = true};
  std::vector<uint8_t> bytes;
  Encoder(config.group.name).append(greeting, bytes);
  return bytes;
}

GreetingFacts facts_of(const Greeting& greeting) {
  const Hello& hello = greeting.hello;
  GreetingFacts facts{.name = hello.self.name,
                      .id = to_string(hello.self.id),
                      .boot = hello.self.boot,
                      .address = hello.self.address,
                      .version = greeting.software,
                      .plugin = greeting.plugin,
                      .variant = hello.self.variant,
                      .voters = hello.voters};
  if (hello.leader) {
    facts.leader_id = to_string(hello.leader->id);
    facts.leader_epoch = hello.leader->epoch;
  }
  return facts;
}

// An attempt to connect.
class Attempt {
 public:
  explicit Attempt(const SocketAddress& address) : started_(Loop::now()) {
    fd_ = FileDescriptor(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd_.is_open() || ::connect(fd_.get(), address.get(), sizeof(sockaddr_in6)) != 0) {
      if (errno != EINPROGRESS) error_ = errno;
    }
  }

  int fd() const { return fd_.get(); }
  bool has_failed() const { return error_ != 0; }
  int error() const { return error_; }
  Duration age() const { return Loop::now() - started_; }

  // After poll(2) has said that the socket can be written to, or is broken.
  void finish() {
    socklen_t size = sizeof error_;
    ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error_, &size);
    // Both ends may have got the same port by chance: then nobody else is there.
    if (error_ == 0 && ends().here == ends().there) error_ = ECONNREFUSED;
  }

  ConnectionEnds ends() const { return ends_of(fd_.get()); }
  std::string local_host() const {
    HostPort place;
    parse_host_port(ends().here, place);
    return place.host;
  }

 private:
  FileDescriptor fd_;
  int error_ = 0;
  Instant started_;
};

// Something that waits for its socket.
class Waiter {
 public:
  explicit Waiter(const SocketAddress& address) : attempt_(address) {}
  virtual ~Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  bool is_done() const { return is_done_; }
  int fd() const { return attempt_.fd(); }
  virtual short events() const = 0;
  virtual void on_ready() = 0;

 protected:
  void finish() { is_done_ = true; }
  Attempt& attempt() { return attempt_; }

 private:
  Attempt attempt_;
  bool is_done_ = false;
};

class Inquirer final : public Waiter {
 public:
  Inquirer(const SocketAddress& address, const std::vector<uint8_t>& words,
           const std::string& group, ProbeFacts& facts)
      : Waiter(address), words_(words), decoder_(group), facts_(facts) {
    facts_.address = address.text();
    facts_.connect_error = kNoConnection;
    if (attempt().has_failed()) on_connected();
  }

  short events() const override { return is_connected_ ? POLLIN : POLLOUT; }

  void on_ready() override {
    if (is_connected_) return on_bytes();
    attempt().finish();
    on_connected();
  }

 private:
  void on_connected() {
    if (attempt().has_failed()) {
      facts_.connect_error = because(attempt().error());
      facts_.is_refused = attempt().error() == ECONNREFUSED;
      return finish();
    }
    is_connected_ = true;
    facts_.connect_error.clear();
    facts_.hello_error = kNoHello;
    facts_.is_silent = true;
    facts_.connect_time = attempt().age();
    facts_.local_host = attempt().local_host();
    // A new connection has room for a HELLO.
    const ssize_t count = ::send(fd(), words_.data(), words_.size(), MSG_NOSIGNAL);
    if (count != static_cast<ssize_t>(words_.size())) fail(kClosed);
  }

  void on_bytes() {
    std::array<uint8_t, kMaxFrameBytes> buffer{};
    const ssize_t count = ::recv(fd(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return fail(kClosed);
    facts_.is_silent = false;
    std::span<const uint8_t> bytes(buffer.data(), static_cast<size_t>(count));
    const Decoded decoded = decoder_.next(bytes);
    if (const auto* greeting = std::get_if<Greeting>(&decoded)) {
      facts_.greeting = facts_of(*greeting);
      // An earlier release names none.
      facts_.is_between =
          greeting->ends != ConnectionEnds{} && !is_same_pair(attempt().ends(), greeting->ends);
      facts_.hello_time = attempt().age() - facts_.connect_time;
      facts_.hello_error.clear();
      return finish();
    }
    if (const auto* error = std::get_if<FrameError>(&decoded)) return fail(error->text);
    if (const auto* words = std::get_if<TurnedAway>(&decoded)) return fail(name(words->reason));
  }

  void fail(const std::string& why) {
    facts_.hello_error = why;
    facts_.is_silent = false;
    finish();
  }

  const std::vector<uint8_t>& words_;
  Decoder decoder_;
  ProbeFacts& facts_;
  bool is_connected_ = false;
};

class Knocker final : public Waiter {
 public:
  Knocker(const SocketAddress& address, DecoyFacts& facts) : Waiter(address), facts_(facts) {
    HostPort place;
    parse_host_port(address.with_port(1).text(), place);
    facts_.host = place.host;
    if (attempt().has_failed()) on_outcome();
  }

  short events() const override { return POLLOUT; }

  void on_ready() override {
    attempt().finish();
    on_outcome();
  }

 private:
  void on_outcome() {
    if (!attempt().has_failed()) facts_.outcome = Decoy::kAccepted;
    if (attempt().error() == ECONNREFUSED) facts_.outcome = Decoy::kRefused;
    finish();
  }

  DecoyFacts& facts_;
};

// Polls once more when the time is over: what came while this process stood still came in time.
void run(const std::vector<std::unique_ptr<Waiter>>& waiters, Instant deadline) {
  using std::chrono::milliseconds;
  for (bool is_over = false; !is_over;) {
    std::vector<pollfd> polled;
    std::vector<Waiter*> polling;
    for (const auto& waiter : waiters) {
      if (waiter->is_done()) continue;
      polled.push_back({.fd = waiter->fd(), .events = waiter->events(), .revents = 0});
      polling.push_back(waiter.get());
    }
    if (polled.empty()) return;
    const auto left = std::max(std::chrono::ceil<milliseconds>(deadline - Loop::now()), {});
    is_over = left == milliseconds::zero();
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "cannot poll");
    }
    for (size_t i = 0; ready > 0 && i < polled.size(); ++i) {
      if (polled[i].revents != 0) polling[i]->on_ready();
    }
  }
}

}  // namespace

ProbeReport probe_peers(const ProbeOrder& order, const Config& config) {
  const Instant deadline = Loop::now() + order.limit;
  const std::vector<uint8_t> words = inquiry(config);
  // Who waits writes into these; they do not move.
  ProbeReport report{.probes = std::vector<ProbeFacts>(order.addresses.size()),
                     .decoys = std::vector<DecoyFacts>(order.decoy_hosts.size())};
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (size_t i = 0; i < order.addresses.size(); ++i) {
    waiters.push_back(
        std::make_unique<Inquirer>(order.addresses[i], words, config.group.name, report.probes[i]));
  }
  for (size_t i = 0; i < order.decoy_hosts.size(); ++i) {
    waiters.push_back(
        std::make_unique<Knocker>(order.decoy_hosts[i].with_port(kDecoyPort), report.decoys[i]));
  }
  run(waiters, deadline);
  return report;
}

}  // namespace bellwether::doctor
