// The rules, in the order in which they apply.
#include "io/peers/link_rules.hh"

namespace bellwether {

LinkVerdict judge(const LinkSketch& newcomer, const PeerIdentity& self, const LinkSketch* existing,
                  bool has_namesake, Duration handshake) {
  const PeerIdentity& peer = newcomer.peer;
  if (peer.id == self.id) {
    return peer.boot == self.boot ? LinkVerdict::kSelf : LinkVerdict::kOwnId;
  }
  if (existing != nullptr && existing->peer.boot != peer.boot) return LinkVerdict::kDuplicateId;
  if (has_namesake || peer.name == self.name) return LinkVerdict::kDuplicateName;
  if (existing == nullptr) return LinkVerdict::kAccept;
  const bool is_same_side = existing->is_dialled_here == newcomer.is_dialled_here;
  if (existing->age >= handshake || is_same_side) {
    // Nobody dials a peer that it is linked to, so that side has lost the link that is still there
    // on this one; unless it did not know whom it dialled.
    return newcomer.is_tentative ? LinkVerdict::kKeepExisting : LinkVerdict::kReplace;
  }
  // Both have dialled: the connection that the higher id has dialled stays.
  const bool shall_be_dialled_here = self.id > peer.id;
  return newcomer.is_dialled_here == shall_be_dialled_here ? LinkVerdict::kReplace
                                                           : LinkVerdict::kKeepExisting;
}

Duration counted_lifetime(uint64_t ended_boot, uint64_t boot, Duration age) {
  return boot == ended_boot ? age : Duration::max();
}

}  // namespace bellwether
