// One watch for each place that is named anywhere.
#include "io/peers/address_book.hh"

namespace bellwether::io {

AddressBook::AddressBook(Loop& loop, Resolver& resolver, std::function<void()> on_changed)
    : loop_(loop), resolver_(resolver), on_changed_(std::move(on_changed)) {}

void AddressBook::set_configured(std::vector<HostPort> peers, HostPort dns) {
  configured_ = std::move(peers);
  dns_ = std::move(dns);
  update();
}

void AddressBook::set_advertised(std::unordered_map<Uuid, HostPort, UuidHash> advertised) {
  if (advertised == advertised_) return;
  advertised_ = std::move(advertised);
  update();
}

void AddressBook::set_relaxed(const Uuid& id, bool is_relaxed) {
  const auto place = advertised_.find(id);
  if (place == advertised_.end() || place->second == dns_) return;
  const auto watch = watches_.find(place->second);
  if (watch != watches_.end()) watch->second->set_relaxed(is_relaxed);
}

void AddressBook::clear() {
  set_configured({}, {});
  set_advertised({});
}

const NameWatch* AddressBook::find(const HostPort& place) const {
  const auto watch = watches_.find(place);
  return watch == watches_.end() ? nullptr : watch->second.get();
}

std::span<const SocketAddress> AddressBook::addresses(const HostPort& place) const {
  const NameWatch* watch = find(place);
  return watch == nullptr ? std::span<const SocketAddress>() : watch->addresses();
}

std::span<const SocketAddress> AddressBook::addresses(const Uuid& id) const {
  const auto place = advertised_.find(id);
  // A member that advertises the group's own DNS name has told us nothing.
  if (place == advertised_.end() || place->second == dns_) return {};
  return addresses(place->second);
}

std::vector<SocketAddress> AddressBook::all() const {
  std::vector<SocketAddress> result;
  for (const auto& [place, watch] : watches_) {
    result.insert(result.end(), watch->addresses().begin(), watch->addresses().end());
  }
  return result;
}

std::set<SocketAddress> AddressBook::all_configured() const {
  std::set<SocketAddress> result;
  const auto add = [&](const HostPort& place) {
    const auto known = addresses(place);
    result.insert(known.begin(), known.end());
  };
  for (const HostPort& peer : configured_) add(peer);
  add(dns_);
  return result;
}

std::vector<std::span<const SocketAddress>> AddressBook::alternatives() const {
  std::vector<std::span<const SocketAddress>> result;
  for (const auto& [place, watch] : watches_) {
    if (place != dns_ && watch->addresses().size() > 1) result.push_back(watch->addresses());
  }
  return result;
}

void AddressBook::update() {
  std::set<HostPort> places(configured_.begin(), configured_.end());
  if (!dns_.is_none()) places.insert(dns_);
  for (const auto& [id, place] : advertised_) {
    if (!place.is_none()) places.insert(place);
  }
  std::erase_if(watches_, [&](const auto& watch) { return !places.contains(watch.first); });
  for (const HostPort& place : places) {
    std::unique_ptr<NameWatch>& watch = watches_[place];
    if (watch == nullptr) {
      watch = std::make_unique<NameWatch>(loop_, resolver_, place, on_changed_);
    }
  }
}

}  // namespace bellwether::io
