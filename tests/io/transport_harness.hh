// Transports of one process on one loop, and raw sockets that play peers who do not keep the rules.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "held_port.hh"
#include "io/loop/files.hh"
#include "io/peers/transport.hh"
#include "loop_run.hh"

namespace bellwether::io::test {

using Bytes = std::vector<uint8_t>;

using ::run_until;

// A process of the group "orders": it notes what its transport says.
class Process : public TransportListener {
 public:
  struct Down {
    Uuid peer{};
    LinkEvidence evidence{};
    bool is_proof = false;
  };
  struct Received {
    Uuid from{};
    Frame frame;
    size_t bytes = 0;
  };

  // Listens on `host`, at `port` or any free one.  Its id is 16 times `byte`.
  Process(Loop& loop, Resolver& resolver, uint8_t byte, uint64_t boot = 1, uint16_t port = 0,
          const std::string& host = "127.0.0.1");
  // The same with other settings; their group and id are filled in.
  Process(Loop& loop, Resolver& resolver, uint8_t byte, TransportSettings settings);

  Uuid id() const;
  HostPort place() const { return {host_, port_}; }
  PeerAddress address() const { return {id(), place()}; }
  Transport& transport() { return *transport_; }
  // Dials these, as its configuration would say.
  void look_for(const std::vector<HostPort>& peers, const HostPort& dns = {});
  Sent send(const Process& to, const Frame& frame) { return transport_->send(to.id(), frame); }
  // As if it was killed.  Its port refuses from now on, as long as this object lives: that of
  // another test which happened to be given it would answer.
  void end();

  bool is_linked_to(const Uuid& peer) const;
  bool is_linked_to(const Process& peer) const { return is_linked_to(peer.id()); }
  size_t count_down(LinkEvidence evidence) const;
  size_t count_rejected(Rejection rejection) const;

  Greeting greeting() override;
  void on_link_up(const Greeting& theirs, const LinkFacts& facts) override;
  void on_link_down(const Uuid& peer, LinkEvidence evidence, bool is_proof) override;
  void on_doubt(const Uuid& peer, ProofDoubt doubt) override { doubts.emplace_back(peer, doubt); }
  void on_frame(const Uuid& from, Frame frame, size_t bytes) override;
  void on_all_answered() override { ++all_answered; }
  void on_rejected(Rejection rejection, const std::string& remote,
                   const std::string& text) override;
  void on_limit(Limit limit) override { limits.push_back(limit); }

  std::string name;
  std::string advertised;  // in its greeting; where it listens unless set
  bool is_flag_robust = true;
  uint64_t revision = 0;
  std::vector<Greeting> ups;
  std::vector<LinkFacts> facts;  // of the same links
  std::vector<Down> downs;
  std::vector<std::pair<Uuid, ProofDoubt>> doubts;
  std::vector<Received> received;
  std::vector<std::pair<Rejection, std::string>> rejected;
  std::vector<Limit> limits;
  int all_answered = 0;
  int greetings = 0;                  // how many it was asked for
  std::function<void()> on_down;      // after it was noted
  std::function<void()> on_received;  // after it was noted

 private:
  uint8_t byte_;
  uint64_t boot_;
  std::string host_;
  std::vector<Uuid> linked_;
  std::unique_ptr<Transport> transport_;
  uint16_t port_ = 0;
  std::optional<HeldPort> held_{};  // after its end
};

// Two processes, 1 and 2, on one loop; that of most tests.
struct Pair {
  Loop loop;
  Resolver resolver{loop};
  Process a{loop, resolver, 1};
  Process b{loop, resolver, 2};

  bool run_until(const std::function<bool()>& condition) {
    return test::run_until(loop, condition);
  }
  // Waits until both know of the link, which somebody has to dial.
  bool are_linked() {
    return run_until([this] { return a.is_linked_to(b) && b.is_linked_to(a); });
  }
};

// The end of a TCP connection that says what a test wants it to say.
class RawSocket {
 public:
  // Connects to 127.0.0.1.
  explicit RawSocket(uint16_t port, int receive_buffer_bytes = 0);
  explicit RawSocket(FileDescriptor fd) : fd_(std::move(fd)) {}

  void write(const Bytes& bytes) const;
  // Reads what is there.  Returns whether the other side has ended the connection.
  bool has_ended();
  // The end of the connection is a RST.
  void abort();
  const Bytes& received() const { return received_; }
  int fd() const { return fd_.get(); }

 private:
  FileDescriptor fd_;
  Bytes received_;
};

// Listens on 127.0.0.1 and does nothing with what comes, unless it is asked to.
class RawListener {
 public:
  explicit RawListener(uint16_t port = 0);
  uint16_t port() const { return port_; }
  HostPort place() const { return {"127.0.0.1", port_}; }
  // nullopt: nobody waits.
  std::optional<RawSocket> accept() const;

 private:
  FileDescriptor fd_;
  uint16_t port_ = 0;
};

// A HELLO of the process with this id.
Bytes hello_of(uint8_t byte, uint64_t boot = 1, const std::string& name = "",
               const std::string& address = "");

Frame heartbeat(uint64_t sequence = 1);

// A frame of 16 bytes for each id, and a few more.
Frame long_frame(size_t ids = 1000);

}  // namespace bellwether::io::test
