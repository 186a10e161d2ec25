// Who may be linked to this process when a peer has said HELLO.  Pure: the transport asks, and does
// what the verdict says.
//
// Between two processes there is one connection.  As everybody dials everybody, two can come about
// at once, and both sides must then keep the same one without asking each other.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hh"
#include "core/identity.hh"

namespace bellwether::io {

// One life of a process, as its HELLO says.
struct PeerIdentity {
  Uuid id{};
  uint64_t boot = 0;
  std::string name{};
};

// A link, or what asks to become one.
struct LinkSketch {
  PeerIdentity peer;
  bool is_dialled_here = false;
  bool is_tentative = false;  // whoever dialled did not know who it would reach
  bool is_of_voter = false;   // its certificate is that of the voter whose name it uses
  bool is_another = false;    // its certificate has none of the names that the existing link's has
  Duration age{};             // since its HELLO
};

enum class LinkVerdict : uint8_t {
  kAccept,         // nobody else is there
  kReplace,        // the link to this process is to be closed for it
  kKeepExisting,   // it is to be closed for the link that is there
  kSelf,           // this process has dialled itself
  kOwnId,          // another process has the id of this one
  kDuplicateId,    // another living process has its id
  kDuplicateName,  // another living process, perhaps this one, has its name
};

// `existing`: the link to a process with the newcomer's id, or nullptr.  `has_namesake`: a process
// with another id, but with the newcomer's name, is linked.  `handshake`: as in LinkLimits.
inline LinkVerdict judge(const LinkSketch& newcomer, const PeerIdentity& self,
                         const LinkSketch* existing, bool has_namesake, Duration handshake) {
  const PeerIdentity& peer = newcomer.peer;
  if (peer.id == self.id) {
    return peer.boot == self.boot ? LinkVerdict::kSelf : LinkVerdict::kOwnId;
  }
  // An id is told to everybody, and whoever uses it under another name, or with the certificate of
  // another host, is somebody else.
  const bool is_same_name =
      existing == nullptr || (existing->peer.name == peer.name && !newcomer.is_another);
  const bool is_rightful = !is_same_name && newcomer.is_of_voter && !existing->is_of_voter;
  const bool is_same_life =
      is_same_name && (existing == nullptr || existing->peer.boot == peer.boot);
  if (!is_same_life && !is_rightful) return LinkVerdict::kDuplicateId;
  if (has_namesake || peer.name == self.name) return LinkVerdict::kDuplicateName;
  if (existing == nullptr) return LinkVerdict::kAccept;
  if (is_rightful) return LinkVerdict::kReplace;
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

// How long a link counts as having lasted, for the question of when to dial again.  Two lives that
// cannot stand each other end one short link after the other; a process that is killed again and
// again ends short links, too, but each in another life, and its death must be noticed at once.
// `ended_boot`: the life whose link to this peer ended before.
inline Duration counted_lifetime(uint64_t ended_boot, uint64_t boot, Duration age) {
  return boot == ended_boot ? age : Duration::max();
}

}  // namespace bellwether::io
