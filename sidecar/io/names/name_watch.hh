// The addresses of one host, kept up to date: looked up again when they may have changed, for as
// long as anybody wants to know.  When the name servers fail, the last good addresses stay.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/backoff.hh"
#include "io/names/resolver.hh"

namespace bellwether::io {

class NameWatch {
 public:
  // A numeric host has its address at once and for ever.  `on_changed` is called from the loop,
  // when the addresses are others, and when it is known for the first time that there are none.
  NameWatch(Loop& loop, Resolver& resolver, HostPort place, std::function<void()> on_changed);

  std::span<const SocketAddress> addresses() const { return addresses_; }
  // Whether a name server has told the addresses, or that there are none; that the servers fail is
  // no word about those who may be there.
  bool is_answered() const { return is_answered_; }
  // While nobody is about to dial there, it is looked up once a minute at most.
  void set_relaxed(bool is_relaxed);

 private:
  void look_up();
  void on_answer(const NameAnswer& answer);

  Resolver& resolver_;
  HostPort place_;
  std::function<void()> on_changed_;
  std::vector<SocketAddress> addresses_;
  bool is_answered_ = false;
  bool is_relaxed_ = false;
  Instant expiry_ = kNever;  // of what is known
  Backoff retries_;
  LoopTimer due_;
  Lookup lookup_;
};

}  // namespace bellwether::io
