// Names to addresses, by c-ares on the event loop: no thread waits for a name server, and the
// answer says how long it holds.
//
// A host is looked up as A and AAAA.  One that begins with "_" is a service (RFC 2782,
// "_bellwether._tcp.orders.example"): its SRV records name hosts and ports, and each of the hosts
// is looked up; priorities and weights mean nothing here, for everybody is dialled.  /etc/hosts and
// the search list of /etc/resolv.conf are honoured.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/host_port.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/socket_address.hh"

struct ares_channeldata;
struct ares_addrinfo;

namespace bellwether::io {

struct ResolverSettings {
  // Instead of those of /etc/resolv.conf: "127.0.0.1:5353,[::1]:53"; empty: those.
  std::string servers{};
};

// What became of a look-up.  Without addresses it has failed.
struct NameAnswer {
  std::vector<SocketAddress> addresses{};  // in ascending order; no more than kMaxAddresses
  Duration time_to_live{};                 // the shortest of all address records
  std::string error{};                     // of a failure, for the log
  // The name servers have told all of it, be it that there is nothing; otherwise one was not there,
  // or could not tell.
  bool is_certain = true;

  static constexpr size_t kMaxAddresses = 1000;
};

class Resolver;

// A question that is under way; letting go of it forgets it.
class Lookup {
 public:
  Lookup() = default;
  ~Lookup();
  Lookup(Lookup&& other) noexcept;
  Lookup& operator=(Lookup&& other) noexcept;
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  friend class Resolver;
  Lookup(Resolver& resolver, uint64_t id) : resolver_(&resolver), id_(id) {}

  Resolver* resolver_ = nullptr;
  uint64_t id_ = 0;
};

class Resolver {
 public:
  using OnAnswer = std::function<void(const NameAnswer&)>;

  // Throws std::system_error or std::runtime_error when the settings, or those of the system, are
  // of no use.
  explicit Resolver(Loop& loop, ResolverSettings settings = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Looks up the host of `place`; the addresses have its port, or that of their SRV record.
  // `on_answer` is called once, from the loop.  The resolver must outlive what is returned.
  [[nodiscard]] Lookup look_up(const HostPort& place, OnAnswer on_answer);

 private:
  friend class Lookup;

  struct Question {
    OnAnswer on_answer;  // empty: forgotten
    NameAnswer answer{};
    size_t open_queries = 0;
  };
  struct Query;

  void forget(uint64_t id);
  void open_channel();
  void close_channel();
  void ask_addresses(uint64_t id, const std::string& host, uint16_t port);
  void ask_services(uint64_t id, const std::string& service);
  void on_addresses(const Query& query, int status, ares_addrinfo* found);
  void on_services(const Query& query, int status, const unsigned char* reply, int size);
  void end_query(uint64_t id, int status);
  void deliver();

  void watch(int fd, bool is_reading, bool is_writing);
  void process(int readable_fd, int writable_fd);
  void arm_timeout();

  Loop& loop_;
  ResolverSettings settings_;
  ares_channeldata* channel_ = nullptr;
  bool is_channel_stale_ = false;  // its servers did not answer; they may be others by now
  uint64_t last_id_ = 0;
  size_t open_queries_ = 0;
  std::map<uint64_t, Question> questions_;
  std::vector<uint64_t> answered_;  // to be delivered in the next turn
  LoopTimer timeout_;
  LoopTimer delivery_;
  std::map<int, UvPtr<uv_poll_t>> polls_;
};

}  // namespace bellwether::io
