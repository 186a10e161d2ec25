// Who may live where: the addresses of the configuration, those behind names, and those that
// members say of themselves.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/identity.hh"
#include "io/names/name_watch.hh"

namespace bellwether::io {

// Where a member says that it can be reached.
struct PeerAddress {
  Uuid id{};
  HostPort address{};  // none: it does not say
  std::string name{};
};

class AddressBook {
 public:
  // `on_changed` is called from the loop when a name has got other addresses.
  AddressBook(Loop& loop, Resolver& resolver, std::function<void()> on_changed);

  // At each of `peers` there is one process, however many addresses it has; behind `dns` (which may
  // be none) each address is a process.
  void set_configured(std::vector<HostPort> peers, HostPort dns);
  // What is not there any more is forgotten.
  void set_advertised(std::unordered_map<Uuid, HostPort, UuidHash> advertised);
  // Nobody is about to dial this member.
  void set_relaxed(const Uuid& id, bool is_relaxed);
  // Looks up nothing any more, and knows nothing.
  void clear();

  const std::vector<HostPort>& configured() const { return configured_; }
  const HostPort& dns() const { return dns_; }
  // nullptr for a place that was never set.
  const NameWatch* find(const HostPort& place) const;

  // Of one place or member, as far as they are known now.
  std::span<const SocketAddress> addresses(const HostPort& place) const;
  std::span<const SocketAddress> addresses(const Uuid& id) const;
  // Of all.
  std::vector<SocketAddress> all() const;
  // Of those that the configuration names.
  std::set<SocketAddress> all_configured() const;
  // For each place of one process that has several addresses: these.
  std::vector<std::span<const SocketAddress>> alternatives() const;

 private:
  void update();

  Loop& loop_;
  Resolver& resolver_;
  std::function<void()> on_changed_;
  std::vector<HostPort> configured_;
  HostPort dns_;
  std::unordered_map<Uuid, HostPort, UuidHash> advertised_;
  std::map<HostPort, std::unique_ptr<NameWatch>> watches_;
};

}  // namespace bellwether::io
