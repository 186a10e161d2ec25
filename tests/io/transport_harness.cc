// The processes and sockets of the transport's tests.
#include "transport_harness.hh"

#include <arpa/inet.h>
#include <bellwether/election_plugin.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/check.hh"
#include "io/names/socket_options.hh"
#include "sample_frames.hh"

namespace bellwether::io::test {
namespace {

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  check(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0, "has a port");
  return ntohs(address.sin_port);
}

Greeting greeting_of(uint8_t byte, uint64_t boot, const std::string& name,
                     const std::string& address) {
  Greeting greeting = sample_greeting();
  greeting.hello.self = {.id = id_of(byte),
                         .name = name.empty() ? "node " + std::to_string(byte) : name,
                         .address = address,
                         .boot = boot};
  greeting.ends = {};  // the transport's own business
  return greeting;
}

}  // namespace

Process::Process(Loop& loop, Resolver& resolver, uint8_t byte, uint64_t boot, uint16_t port,
                 const std::string& host)
    : Process(loop, resolver, byte, TransportSettings{.boot = boot, .listen = {host, port}}) {}

Process::Process(Loop& loop, Resolver& resolver, uint8_t byte, TransportSettings settings)
    : name("node " + std::to_string(byte)),
      byte_(byte),
      boot_(settings.boot),
      host_(settings.listen.host) {
  settings.group = kGroup;
  settings.self = id_of(byte);
  transport_ = std::make_unique<Transport>(loop, resolver, std::move(settings), *this);
  port_ = transport_->port();
  advertised = place().text();
}

void Process::end() {
  transport_.reset();
  held_.emplace(place());
}

Uuid Process::id() const { return id_of(byte_); }

void Process::look_for(const std::vector<HostPort>& peers, const HostPort& dns) {
  transport_->set_configured(peers, dns);
}

bool Process::is_linked_to(const Uuid& peer) const {
  return std::ranges::find(linked_, peer) != linked_.end();
}

size_t Process::count_down(LinkEvidence evidence) const {
  return static_cast<size_t>(std::ranges::count(downs, evidence, &Down::evidence));
}

size_t Process::count_rejected(Rejection rejection) const {
  return static_cast<size_t>(
      std::ranges::count_if(rejected, [&](const auto& noted) { return noted.first == rejection; }));
}

Greeting Process::greeting() {
  ++greetings;
  Greeting greeting = greeting_of(byte_, boot_, name, advertised);
  greeting.is_flag_robust = is_flag_robust;
  greeting.hello.self.revision = revision;
  return greeting;
}

void Process::on_link_up(const Greeting& theirs, const LinkFacts& known) {
  check(!is_linked_to(theirs.hello.self.id), "a link comes up that is down");
  linked_.push_back(theirs.hello.self.id);
  ups.push_back(theirs);
  facts.push_back(known);
}

void Process::on_link_down(const Uuid& peer, LinkEvidence evidence, bool is_proof) {
  check(is_linked_to(peer) == (evidence != LinkEvidence::kRefused),
        "a link ends that is up, and a peer refuses to whom there is none");
  std::erase(linked_, peer);
  downs.push_back({peer, evidence, is_proof});
  if (on_down) on_down();
}

void Process::on_frame(const Uuid& from, Frame frame, size_t bytes) {
  check(is_linked_to(from), "frames come over links");
  received.push_back({from, std::move(frame), bytes});
  if (on_received) on_received();
}

void Process::on_rejected(Rejection rejection, const std::string&, const std::string& text) {
  rejected.emplace_back(rejection, text);
}

RawSocket::RawSocket(uint16_t port, int receive_buffer_bytes)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer_bytes > 0) {
    ::setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  }
  const sockaddr_in address = loopback(port);
  if (::connect(fd(), generic(address), sizeof address) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot connect");
  }
}

void RawSocket::write(const Bytes& bytes) const {
  check(
      ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()),
      "a test's bytes find room");
}

bool RawSocket::has_ended() {
  std::array<uint8_t, 65536> buffer{};
  while (true) {
    const ssize_t count = ::recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0) return errno != EAGAIN;
    if (count == 0) return true;
    received_.insert(received_.end(), buffer.begin(), buffer.begin() + count);
  }
}

void RawSocket::abort() {
  abort_on_close(fd());
  fd_ = FileDescriptor();
}

RawListener::RawListener(uint16_t port)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  const int on = 1;
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  const bool is_listening = ::bind(fd_.get(), generic(address), sizeof address) == 0 &&
                            ::listen(fd_.get(), SOMAXCONN) == 0;
  if (!is_listening) throw std::system_error(errno, std::generic_category(), "cannot listen");
  port_ = port_of(fd_.get());
}

std::optional<RawSocket> RawListener::accept() const {
  FileDescriptor fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd.is_open()) return std::nullopt;
  return RawSocket(std::move(fd));
}

Bytes hello_of(uint8_t byte, uint64_t boot, const std::string& name, const std::string& address) {
  return encoded(greeting_of(byte, boot, name, address));
}

Frame heartbeat(uint64_t sequence) { return {{.epoch = 7}, Heartbeat{.sequence = sequence}}; }

Frame long_frame(size_t ids) {
  return {{},
          ElectionFrame{.kind = ELECTION_MESSAGE_HANDOVER, .ids = std::vector<election_id>(ids)}};
}

}  // namespace bellwether::io::test
