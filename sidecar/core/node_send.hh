// How the node's parts send; private to node*.cc.
#pragma once

#include <type_traits>
#include <utility>

#include "core/node.hh"

namespace bellwether {

template <typename Body>
void Node::send(const Uuid& to, Body&& body) {
  using Bare = std::decay_t<Body>;
  constexpr bool kTellsHandover =
      std::is_same_v<Bare, PlannedHandover> || std::is_same_v<Bare, Resign>;
  effects_.push_back(Send{to, Frame{header(kTellsHandover), std::forward<Body>(body)}});
}

template <typename Body>
void Node::send_to_connected(const Body& body) {
  for (const Member& member : std::as_const(members_).all()) {
    if (member.is_connected) send(member.entry.id, body);
  }
}

}  // namespace bellwether
