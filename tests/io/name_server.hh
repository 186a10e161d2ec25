// A name server for tests: answers on UDP, on the loop of those who ask, from records that a test
// sets.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/loop/loop.hh"

namespace bellwether::io::test {

class NameServer {
 public:
  // Listens on 127.0.0.1, at a free port.
  explicit NameServer(Loop& loop);
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  // For ResolverSettings::servers.
  std::string servers() const;

  void add_ipv4(const std::string& name, const std::string& address, uint32_t ttl_seconds = 300);
  void add_ipv6(const std::string& name, const std::string& address, uint32_t ttl_seconds = 300);
  void add_service(const std::string& name, const std::string& host, uint16_t port);
  void remove(const std::string& name);
  // Answers every question with SERVFAIL, or nothing at all.
  void set_failing(bool is_failing) { is_failing_ = is_failing; }
  void set_silent(bool is_silent) { is_silent_ = is_silent; }

  // How many questions for A records of this name came.
  int questions(const std::string& name) const;

 private:
  using Bytes = std::vector<uint8_t>;
  struct Record {
    uint16_t type = 0;
    uint32_t ttl_seconds = 0;
    Bytes data;
  };

  void on_ready();
  Bytes reply_to(const Bytes& question);

  std::map<std::string, std::vector<Record>> records_;
  std::map<std::string, int> questions_;
  bool is_failing_ = false;
  bool is_silent_ = false;
  int fd_ = -1;
  UvPtr<uv_poll_t> poll_;
};

}  // namespace bellwether::io::test
