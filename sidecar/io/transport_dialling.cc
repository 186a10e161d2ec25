// Addresses: whom to dial, who was found there, and what a refusal proves.
#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "io/transport_state.hh"

namespace bellwether {
namespace {

// More addresses than that are not dialled.
constexpr size_t kMaxTargets = 2 * kMaxMembers;

}  // namespace

// Brings the diallers in line with what is known now.
void Transport::Implementation::refresh() {
  refresh_peers();
  refresh_targets();
  const AddressSet taken = occupied();
  for (auto& [address, target] : targets_) {
    if (target.connection != nullptr) continue;
    if (target.is_self || taken.contains(address)) {
      target.dialler->stop();
    } else {
      target.dialler->start();
    }
  }
  if (is_all_answered_told_ || !is_configured_ || !has_everybody_answered(taken)) return;
  is_all_answered_told_ = true;
  listener_.on_all_answered();
}

void Transport::Implementation::refresh_peers() {
  if (new_members_) {
    for (auto& [id, peer] : peers_) peer.is_member = false;
    for (const PeerAddress& member : *new_members_) {
      if (member.id == settings_.self) continue;
      Peer& peer = peers_[member.id];
      peer.is_member = true;
      if (peer.link == nullptr && !member.address.is_wildcard()) peer.advertised = member.address;
    }
    new_members_.reset();
  }
  std::erase_if(peers_, [](const auto& entry) {
    return !entry.second.is_member && entry.second.link == nullptr;
  });
  std::unordered_map<Uuid, HostPort, UuidHash> advertised;
  for (const auto& [id, peer] : peers_) {
    if (!peer.advertised.is_none()) advertised[id] = peer.advertised;
  }
  book_.set_advertised(std::move(advertised));
  for (const auto& [id, peer] : peers_) book_.set_relaxed(id, peer.link != nullptr);
}

void Transport::Implementation::refresh_targets() {
  const std::vector<SocketAddress> known = book_.all();
  AddressSet wanted(known.begin(), known.end());
  for (const auto& [id, peer] : peers_) {
    if (peer.proven) wanted.insert(*peer.proven);
  }
  std::erase_if(targets_, [&](const auto& entry) {
    return entry.second.connection == nullptr && !wanted.contains(entry.first);
  });
  for (const SocketAddress& address : wanted) {
    if (targets_.size() >= kMaxTargets) return;
    Target& target = targets_[address];
    if (target.dialler != nullptr) continue;
    const uint64_t seed = settings_.boot ^ std::hash<std::string>()(address.text());
    target.dialler = std::make_unique<Dialler>(loop_, address, *this, seed);
  }
}

// --- what comes of dialling ---

void Transport::Implementation::on_connected(Dialler& dialler, UvPtr<uv_tcp_t> socket) {
  if (stage_ != Stage::kOpen) return;
  const SocketAddress& address = dialler.address();
  Target& target = targets_.at(address);
  target.is_refusing = false;
  // While it connected, its process may have been linked in another way, or be about to be.
  if (occupied().contains(address) || has_dialled_alternative(address) || !has_room()) {
    return dialler.start_after_failure();
  }
  target.connection = &add(std::move(socket), address);
  say(*target.connection, listener_.greeting());
}

void Transport::Implementation::on_attempt_failed(Dialler& dialler, int error) {
  if (stage_ != Stage::kOpen) return;
  Target& target = targets_.at(dialler.address());
  // That a host or network cannot be reached proves nothing.
  target.is_refusing = error == ECONNREFUSED;
  if (!target.is_refusing) return;
  target.has_answered = true;
  if (!is_all_answered_told_) due_.arm(Duration::zero());
  tell_refusals(dialler.address());
}

void Transport::Implementation::note_answer(const PeerConnection& connection, const Uuid& id,
                                            LinkVerdict verdict) {
  Target* target = target_of(connection);
  if (target == nullptr) return;
  target->has_answered = true;
  target->answered_by = id;
  target->is_self = verdict == LinkVerdict::kSelf;
  const SocketAddress& address = *connection.dialled();
  for (auto& [other_id, peer] : peers_) {
    if (other_id != id && peer.proven == address) peer.proven.reset();
  }
  const bool is_peer = verdict == LinkVerdict::kAccept || verdict == LinkVerdict::kReplace ||
                       verdict == LinkVerdict::kKeepExisting;
  if (is_peer) peers_[id].proven = address;
}

// --- after a link ---

void Transport::Implementation::dial_again(const Uuid& id, const Peer& peer, Duration lifetime) {
  for (const SocketAddress& address : addresses_of(id, peer)) {
    const auto target = targets_.find(address);
    if (target == targets_.end() || target->second.connection != nullptr) continue;
    target->second.is_refusing = false;  // what it did before proves nothing now
    target->second.dialler->start_after_link(lifetime);
  }
}

void Transport::Implementation::dial_rarely(const Uuid& id, const Peer& peer) {
  for (const SocketAddress& address : addresses_of(id, peer)) {
    const auto target = targets_.find(address);
    if (target == targets_.end() || target->second.connection != nullptr) continue;
    target->second.dialler->start_after_rejection();
  }
}

// Where the peer has answered; if it has always dialled us, where it says that it is.
std::vector<SocketAddress> Transport::Implementation::addresses_of(const Uuid& id,
                                                                   const Peer& peer) const {
  if (peer.proven) return {*peer.proven};
  const auto said = book_.addresses(id);
  return {said.begin(), said.end()};
}

// --- evidence ---

void Transport::Implementation::tell_refusals(const SocketAddress& address) {
  std::vector<Uuid> gone;
  for (auto& [id, peer] : peers_) {
    if (peer.link != nullptr || peer.is_refusal_told || !is_refused(id, peer, address)) continue;
    peer.is_refusal_told = true;
    gone.push_back(id);
  }
  for (const Uuid& id : gone) {
    if (stage_ == Stage::kOpen) listener_.on_link_down(id, LinkEvidence::kRefused);
  }
}

// A refusal proves the end of the process that was there: at the address where the peer has
// answered, or, where only its name for itself is known, at all that the name stands for.
bool Transport::Implementation::is_refused(const Uuid& id, const Peer& peer,
                                           const SocketAddress& address) const {
  const std::vector<SocketAddress> addresses = addresses_of(id, peer);
  return std::ranges::find(addresses, address) != addresses.end() &&
         std::ranges::all_of(addresses, [this](const SocketAddress& each) {
           const auto target = targets_.find(each);
           return target != targets_.end() && target->second.is_refusing;
         });
}

// --- who is where ---

// Where the processes live that are linked: nobody else can be found there.
Transport::Implementation::AddressSet Transport::Implementation::occupied() const {
  AddressSet result;
  for (const auto& [id, peer] : peers_) {
    if (peer.link == nullptr) continue;
    for (const SocketAddress& address : book_.addresses(id)) result.insert(address);
    if (peer.proven) result.insert(*peer.proven);
  }
  for (const auto& [address, target] : targets_) {
    if (!target.answered_by) continue;
    const auto peer = peers_.find(*target.answered_by);
    if (peer != peers_.end() && peer->second.link != nullptr) result.insert(address);
  }
  for (const auto& addresses : book_.alternatives()) {
    const bool is_taken = std::ranges::any_of(
        addresses, [&](const SocketAddress& address) { return result.contains(address); });
    if (is_taken) result.insert(addresses.begin(), addresses.end());
  }
  return result;
}

// Whether the process at this address is being greeted at another one that it has.
bool Transport::Implementation::has_dialled_alternative(const SocketAddress& address) const {
  return std::ranges::any_of(book_.alternatives(), [&](const auto& addresses) {
    if (std::ranges::find(addresses, address) == addresses.end()) return false;
    return std::ranges::any_of(addresses, [this](const SocketAddress& other) {
      const auto target = targets_.find(other);
      return target != targets_.end() && target->second.connection != nullptr;
    });
  });
}

bool Transport::Implementation::has_everybody_answered(const AddressSet& occupied) const {
  const auto is_found = [&](const SocketAddress& address) {
    const auto target = targets_.find(address);
    return occupied.contains(address) || (target != targets_.end() && target->second.is_self);
  };
  const auto has_answered = [&](const SocketAddress& address) {
    const auto target = targets_.find(address);
    return is_found(address) || (target != targets_.end() && target->second.has_answered);
  };
  const auto is_known = [&](const HostPort& place) {
    const NameWatch* watch = book_.find(place);
    return watch == nullptr || watch->is_answered();
  };
  for (const HostPort& peer : book_.configured()) {
    const auto addresses = book_.addresses(peer);
    if (!is_known(peer)) return false;
    if (!std::ranges::any_of(addresses, is_found) &&
        !std::ranges::all_of(addresses, has_answered)) {
      return false;
    }
  }
  return is_known(book_.dns()) && std::ranges::all_of(book_.addresses(book_.dns()), has_answered);
}

Transport::Implementation::Target* Transport::Implementation::target_of(
    const PeerConnection& connection) {
  if (!connection.dialled()) return nullptr;
  const auto target = targets_.find(*connection.dialled());
  return target == targets_.end() ? nullptr : &target->second;
}

}  // namespace bellwether
