// Addresses: whom to dial, and who was found there.
#include <algorithm>
#include <functional>
#include <utility>

#include "io/names/socket_options.hh"
#include "io/peers/transport.hh"

namespace bellwether::io {
namespace {

// More addresses than that are not dialled.
constexpr size_t kMaxTargets = 2 * kMaxMembers;

// Where only a peer says that there is somebody, that is not true of most if there are many: all of
// them together are not dialled more often than this.
constexpr Duration kBetweenHearsays = std::chrono::milliseconds(100);

}  // namespace

// Brings the diallers in line with what is known now.
void Transport::refresh() {
  refresh_peers();
  refresh_targets();
  const auto [detours, taken] = found();
  const AddressSet asked = inquiries();
  for (auto& [address, target] : targets_) {
    if (target.connection != nullptr) continue;
    // Also detours: a forward that leads astray is put right one day, and behind one address there
    // may be several processes.
    const bool is_asked = asked.contains(address) || detours.contains(address);
    if (taken.contains(address) && !is_asked) {
      target.dialler->stop();
    } else {
      target.dialler->start();
    }
  }
  hasten_inquiries(asked);
  if (is_all_answered_told_ || !is_configured_ || !has_everybody_answered(taken)) return;
  is_all_answered_told_ = true;
  listener_.on_all_answered();
}

void Transport::refresh_peers() {
  if (new_members_) {
    for (auto& [id, peer] : peers_) peer.is_member = false;
    for (const PeerAddress& member : *new_members_) {
      if (member.id == settings_.self) continue;
      Peer& peer = peers_[member.id];
      peer.is_member = true;
      peer.name = member.name;
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

void Transport::refresh_targets() {
  const std::vector<SocketAddress> known = book_.all();
  AddressSet wanted(known.begin(), known.end());
  for (const auto& [id, peer] : peers_) {
    if (peer.proven) wanted.insert(*peer.proven);
  }
  std::erase_if(targets_, [&](const auto& entry) {
    return entry.second.connection == nullptr && !wanted.contains(entry.first);
  });
  const AddressSet configured = book_.all_configured();
  for (const SocketAddress& address : wanted) {
    if (targets_.size() >= kMaxTargets && !targets_.contains(address)) continue;
    Target& target = targets_[address];
    if (target.dialler == nullptr) {
      const uint64_t seed = settings_.boot ^ std::hash<std::string>()(address.text());
      Dialler::Owner& owner = *this;
      target.dialler = std::make_unique<Dialler>(loop_, address, settings_.limits, owner, seed);
    }
  }
  const auto is_hearsay = [&](const auto& entry) {
    return !configured.contains(entry.first) && !entry.second.has_been_home;
  };
  const auto hearsays = std::ranges::count_if(targets_, is_hearsay);
  for (auto& entry : targets_) {
    entry.second.dialler->set_longest_wait(is_hearsay(entry) ? hearsays * kBetweenHearsays
                                                             : Duration::zero());
  }
}

// --- what comes of dialling ---

void Transport::on_connected(Dialler& dialler, UvPtr<uv_tcp_t> socket) {
  if (stage_ != Stage::kOpen) return;
  const SocketAddress& address = dialler.address();
  Target& target = targets_.at(address);
  target.is_refusing = false;
  for (auto& [id, peer] : peers_) peer.proof.death.on_accepted(address);
  target.is_inquiry = inquiries().contains(address);
  target.is_tentative = !is_awaited_at(address);
  // While it connected, its process may have been linked in another way, or be about to be.
  const auto [detours, taken] = found();
  const bool is_needless = !target.is_inquiry && !detours.contains(address) &&
                           (taken.contains(address) || has_dialled_alternative(address));
  if (is_needless || !has_room()) return dialler.start_after_failure();
  target.connection = &add(std::move(socket), address);
  Greeting greeting = listener_.greeting();
  greeting.is_inquiry = target.is_inquiry;
  greeting.is_tentative = target.is_tentative;
  greet(*target.connection, std::move(greeting));
}

// What led straight to this process still does while this host has the address, and this process
// the port: a look that costs microseconds, where both ends of a handshake take milliseconds.
bool Transport::is_needless(const Dialler& dialler) {
  const SocketAddress& address = dialler.address();
  const Target& target = targets_.at(address);
  if (!target.is_straight_here || !target.missed_voter.empty()) return false;
  const bool is_listening_there =
      settings_.listen.is_wildcard()
          ? address.port() == port_
          : SocketAddress::from_numeric({settings_.listen.host, port_}) == address;
  return is_listening_there && is_of_this_host(address);
}

void Transport::note_answer(const PeerConnection& connection, const Greeting& greeting,
                            LinkVerdict verdict) {
  const Uuid& id = greeting.hello.self.id;
  Target* target = target_of(connection);
  if (target == nullptr) return;
  target->has_answered = true;
  target->answered_by = id;
  const SocketAddress& address = *connection.dialled();
  target->is_self = verdict == LinkVerdict::kSelf;
  target->missed_voter =
      target->is_self ? other_voter_at(address, greeting.hello.self.name) : std::string();
  target->is_straight_here =
      target->is_self && is_direct(connection.ends(), greeting.ends, DeathProof::kAuto);
  for (auto& [other_id, peer] : peers_) {
    if (other_id == id) continue;
    if (peer.proven == address) peer.proven.reset();
    peer.proof.death.forget(address);
  }
  const bool is_peer = verdict == LinkVerdict::kAccept || verdict == LinkVerdict::kReplace ||
                       verdict == LinkVerdict::kKeepExisting;
  if (!is_peer) return;
  Peer& peer = peers_[id];
  if (!is_itself(peer, greeting)) return;
  const auto said = book_.addresses(id);
  const bool is_home = said.empty() || std::ranges::find(said, address) != said.end();
  if (verdict == LinkVerdict::kKeepExisting && !is_home) return;
  target->has_been_home = true;
  peer.proven = address;
  peer.proof.is_place_indirect = is_indirect(connection.ends(), greeting.ends);
  if (may_prove(connection, greeting) && is_place_known(address)) {
    peer.proof.death.on_answer(address, life_of(greeting));
  } else {
    peer.proof.death.forget(address);
  }
}

// Nobody else can see that a configured address is wrong in this way.
void Transport::tell_missed_voter(const PeerConnection& connection) {
  const Target* target = target_of(connection);
  if (target == nullptr || target->missed_voter.empty()) return;
  tell_rejection(connection, Rejection::kOwnId,
                 "by [voters] this is the address of " + target->missed_voter +
                     ", but this process itself has answered there");
}

// --- after a link ---

void Transport::dial_after_link(const Uuid& id, const Peer& peer, AfterLink next,
                                Duration lifetime) {
  for (const SocketAddress& address : addresses_of(id, peer)) {
    const auto target = targets_.find(address);
    if (target == targets_.end() || target->second.connection != nullptr) continue;
    if (next == AfterLink::kDialRarely) {
      target->second.dialler->start_after_rejection();
    } else {
      target->second.is_refusing = false;  // what it did before proves nothing now
      target->second.dialler->start_after_link(lifetime);
    }
  }
}

// Where the peer has answered; if it has always dialled us, where it says that it is.
std::vector<SocketAddress> Transport::addresses_of(const Uuid& id, const Peer& peer) const {
  if (peer.proven) return {*peer.proven};
  const auto said = book_.addresses(id);
  return {said.begin(), said.end()};
}

// --- who is where ---

// Where the processes live that are linked: as they say, or else where they were found.
Transport::AddressSet Transport::homes() const {
  AddressSet result;
  for (const auto& [id, peer] : peers_) {
    if (peer.link == nullptr) continue;
    const auto said = book_.addresses(id);
    result.insert(said.begin(), said.end());
    if (said.empty() && peer.proven) result.insert(*peer.proven);
  }
  add_alternatives(result);
  return result;
}

// Detours: where one of them, or this process itself, has answered when it was dialled, though it
// does not live there.
Transport::Found Transport::found() const {
  Found result{.detours = {}, .occupied = homes()};
  for (const auto& [address, target] : targets_) {
    if (!target.answered_by || result.occupied.contains(address)) continue;
    const auto peer = peers_.find(*target.answered_by);
    const bool is_linked = peer != peers_.end() && peer->second.link != nullptr;
    if (is_linked || target.is_self) result.detours.insert(address);
  }
  result.occupied.insert(result.detours.begin(), result.detours.end());
  add_alternatives(result.occupied);
  for (const SocketAddress& address : places_of_absent_voters()) result.occupied.erase(address);
  return result;
}

// Whoever else says, or lets a name say, that it is there: the voter is looked for.
Transport::AddressSet Transport::places_of_absent_voters() const {
  AddressSet result;
  for (const auto& voter : settings_.security.voters) {
    const bool is_linked = std::ranges::any_of(peers_, [&](const auto& entry) {
      const PeerConnection* link = entry.second.link;
      return link != nullptr && link->peer().name == voter.first;
    });
    const auto known = book_.addresses(voter.second);
    if (!is_linked) result.insert(known.begin(), known.end());
  }
  return result;
}

// Empty: none.
std::string Transport::other_voter_at(const SocketAddress& address,
                                      const std::string& own_name) const {
  for (const auto& [name, place] : settings_.security.voters) {
    const auto known = book_.addresses(place);
    const bool is_there = std::ranges::find(known, address) != known.end();
    if (name != own_name && is_there) return name;
  }
  return "";
}

// Whether a peer that is to be linked is looked for there.
bool Transport::is_awaited_at(const SocketAddress& address) const {
  return std::ranges::any_of(peers_, [&](const auto& entry) {
    const auto& [id, peer] = entry;
    if (peer.link != nullptr) return false;
    const auto said = book_.addresses(id);
    return peer.proven == address || std::ranges::find(said, address) != said.end();
  });
}

void Transport::add_alternatives(AddressSet& addresses) const {
  for (const auto& place : book_.alternatives()) {
    const bool is_taken = std::ranges::any_of(
        place, [&](const SocketAddress& address) { return addresses.contains(address); });
    if (is_taken) addresses.insert(place.begin(), place.end());
  }
}

// Whether the process at this address is being greeted at another one that it has.
bool Transport::has_dialled_alternative(const SocketAddress& address) const {
  return std::ranges::any_of(book_.alternatives(), [&](const auto& addresses) {
    if (std::ranges::find(addresses, address) == addresses.end()) return false;
    return std::ranges::any_of(addresses, [this](const SocketAddress& other) {
      const auto target = targets_.find(other);
      return target != targets_.end() && target->second.connection != nullptr;
    });
  });
}

bool Transport::has_everybody_answered(const AddressSet& occupied) const {
  const auto is_at = [&](const SocketAddress& address, bool Target::*what) {
    const auto target = targets_.find(address);
    return target != targets_.end() && target->second.missed_voter.empty() && target->second.*what;
  };
  const auto is_found = [&](const SocketAddress& address) {
    return occupied.contains(address) || is_at(address, &Target::is_self);
  };
  const auto has_answered = [&](const SocketAddress& address) {
    return is_found(address) || is_at(address, &Target::has_answered);
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

Transport::Target* Transport::target_of(const PeerConnection& connection) {
  if (!connection.dialled()) return nullptr;
  const auto target = targets_.find(*connection.dialled());
  return target == targets_.end() ? nullptr : &target->second;
}

}  // namespace bellwether::io
