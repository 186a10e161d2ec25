// Dials as the sidecar does, each address once: connect, HELLO, its answer, end.
#include <array>
#include <boost/uuid/random_generator.hpp>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "config/core_options.hh"
#include "doctor/looks.hh"
#include "io/loop/signals_blocked.hh"
#include "io/peers/dialler.hh"
#include "io/peers/peer_connection.hh"

namespace bellwether::doctor {
namespace {

// Nobody can listen on it: to bind to it means "any free one".
constexpr uint16_t kDecoyPort = 0;

constexpr const char* kNoConnection = "no answer in time";
constexpr const char* kNoHello = "connected, but nothing came in time";
constexpr const char* kClosed =
    "it closed the connection without a word, as a sidecar of another group does, or a proxy";

std::vector<uint8_t> inquiry(const Config& config) {
  const io::Greeting greeting{.hello = {.self = {.id = boost::uuids::random_generator()(),
                                                 .name = config.node.name,
                                                 .address = config.node.advertise.text(),
                                                 .boot = 1},
                                        .voters = guard_hash(config)},
                              .is_inquiry = true};
  std::vector<uint8_t> bytes;
  io::Encoder(config.group.name).append(greeting, bytes);
  return bytes;
}

// Whether both sides speak TLS, but one does not believe the other.
bool is_distrust(Rejection flaw) { return is_of_tls(flaw) && flaw > Rejection::kTlsProtocol; }

GreetingFacts facts_of(const io::Greeting& greeting) {
  const Hello& hello = greeting.hello;
  GreetingFacts facts{.name = hello.self.name,
                      .id = to_string(hello.self.id),
                      .boot = hello.self.boot,
                      .address = hello.self.address,
                      .version = greeting.software,
                      .plugin = greeting.plugin,
                      .variant = hello.self.variant,
                      .voters = hello.voters,
                      .lease = hello.self.lease};
  if (hello.leader) {
    facts.leader_id = to_string(hello.leader->id);
    facts.leader_epoch = hello.leader->epoch;
  }
  return facts;
}

// What all callers share.
struct Line {
  explicit Line(Duration limit) : limits{.connect = 2 * limit, .handshake = 2 * limit} {}

  io::Loop loop;
  const LinkLimits limits;  // none ends before all does
  std::array<char, size_t{64} * 1024> buffer{};
  size_t open = 0;  // callers that still wait
};

// Dials one address.
class Caller : protected io::Dialler::Owner {
 public:
  Caller(Line& line, const io::SocketAddress& address)
      : line_(line), dialler_(line.loop, address, line.limits, *this, /*seed=*/0) {
    ++line_.open;
    dialler_.start();
  }

 protected:
  Line& line() { return line_; }
  Duration age() const { return io::Loop::now() - started_; }
  void dial_again() {
    started_ = io::Loop::now();
    dialler_.start();
  }
  // The last one stops the loop.
  void finish() {
    dialler_.stop();
    if (--line_.open == 0) line_.loop.stop();
  }

 private:
  Line& line_;
  Instant started_ = io::Loop::now();
  io::Dialler dialler_;
};

class Inquirer final : public Caller, public io::PeerConnection::Owner {
 public:
  Inquirer(Line& line, const io::SocketAddress& address, const std::vector<uint8_t>& words,
           const std::string& group, const ProbeOrder& order, ProbeFacts& facts)
      : Caller(line, address),
        words_(words),
        group_(group),
        tls_(order.tls),
        takes_plain_(order.takes_plain),
        facts_(facts) {
    facts_.address = address.text();
    facts_.connect_error = kNoConnection;
  }

 private:
  void on_attempt_failed(io::Dialler& /*dialler*/, int error) override {
    facts_.connect_error = io::error_text(error);
    facts_.is_refused = error == ECONNREFUSED;
    finish();
  }

  void on_connected(io::Dialler& dialler, io::UvPtr<uv_tcp_t> socket) override {
    facts_.connect_error.clear();
    facts_.hello_error = kNoHello;
    facts_.is_silent = true;
    facts_.connect_time = age();
    io::PeerConnection::Owner& owner = *this;
    connection_.emplace(
        line().loop, std::move(socket), owner, line().buffer,
        io::PeerConnection::Settings{
            .group = group_, .limits = line().limits, .dialled = dialler.address(), .tls = tls_});
    HostPort local;
    parse_host_port(connection_->ends().here, local);
    facts_.local_host = local.host;
    if (!connection_->write(words_)) fail(kClosed);
  }

  void on_greeting(io::PeerConnection& connection, const io::Greeting& greeting) override {
    facts_.greeting = facts_of(greeting);
    // An earlier release names none.
    facts_.is_between =
        greeting.ends != io::ConnectionEnds{} && !is_same_pair(connection.ends(), greeting.ends);
    facts_.hello_time = age() - facts_.connect_time;
    facts_.hello_error.clear();
    end();
  }
  void on_turned_away(io::PeerConnection& /*connection*/, io::TurnedAway words) override {
    fail(name(words.reason));
  }
  void on_flaw(io::PeerConnection& /*connection*/, const io::FrameError& error) override {
    if (is_distrust(error.flaw)) facts_.distrust = error.flaw;
    fail(error.text);
  }
  void on_end(io::PeerConnection& /*connection*/, int /*error*/) override { fail(kClosed); }
  void on_frame(io::PeerConnection& /*connection*/, Frame /*frame*/, size_t /*bytes*/) override {}
  void on_skipped(io::PeerConnection& /*connection*/) override {}
  void on_silence(io::PeerConnection& /*connection*/) override {}

  // A process that does not speak TLS is asked without it.
  void fail(const std::string& why) {
    facts_.hello_error = why;
    const bool has_tls = tls_ != nullptr && connection_->tls()->is_established();
    if (tls_ == nullptr || !takes_plain_ || has_tls || facts_.distrust) return end();
    tls_ = nullptr;
    connection_->close();
    dial_again();
  }
  void end() {
    facts_.is_silent = false;
    connection_->close();
    finish();
  }

  const std::vector<uint8_t>& words_;
  const std::string& group_;
  io::TlsContextPtr tls_;  // shared with the other inquirers
  bool takes_plain_;
  ProbeFacts& facts_;
  std::optional<io::PeerConnection> connection_;
};

class Knocker final : public Caller {
 public:
  Knocker(Line& line, const io::SocketAddress& host, DecoyFacts& facts)
      : Caller(line, host.with_port(kDecoyPort)), facts_(facts) {
    HostPort place;
    parse_host_port(host.with_port(1).text(), place);
    facts_.host = place.host;
  }

 private:
  void on_attempt_failed(io::Dialler& /*dialler*/, int error) override {
    if (error == ECONNREFUSED) facts_.outcome = Decoy::kRefused;
    finish();
  }
  void on_connected(io::Dialler& /*dialler*/, io::UvPtr<uv_tcp_t> /*socket*/) override {
    facts_.outcome = Decoy::kAccepted;
    finish();
  }

  DecoyFacts& facts_;
};

}  // namespace

ProbeReport probe_peers(const ProbeOrder& order, const Config& config) {
  const Instant deadline = io::Loop::now() + order.limit;
  const std::vector<uint8_t> words = inquiry(config);
  // The callers write into these; they do not move.
  ProbeReport report{.probes = std::vector<ProbeFacts>(order.addresses.size()),
                     .decoys = std::vector<DecoyFacts>(order.decoy_hosts.size())};
  const io::BrokenPipesIgnored while_it_writes;
  Line line(order.limit);
  std::vector<std::unique_ptr<Caller>> callers;
  for (size_t i = 0; i < order.addresses.size(); ++i) {
    callers.push_back(std::make_unique<Inquirer>(line, order.addresses[i], words, config.group.name,
                                                 order, report.probes[i]));
  }
  for (size_t i = 0; i < order.decoy_hosts.size(); ++i) {
    callers.push_back(std::make_unique<Knocker>(line, order.decoy_hosts[i], report.decoys[i]));
  }
  if (callers.empty()) return report;
  io::DeadlineTimer patience(line.loop, [&line] { line.loop.stop(); });
  patience.arm(deadline);
  line.loop.run();
  return report;
}

}  // namespace bellwether::doctor
