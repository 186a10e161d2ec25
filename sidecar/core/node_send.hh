// How the node's parts send; private to node*.cc.
#pragma once

#include <utility>

#include "core/node.hh"

namespace bellwether {

template <typename Body>
void Node::send(const Uuid& to, Body&& body) {
  effects_.push_back(Send{to, Frame{header(), std::forward<Body>(body)}});
}

template <typename Body>
void Node::send_to_connected(const Body& body) {
  for (const Member& member : std::as_const(members_).all()) {
    if (member.is_connected) send(member.entry.id, body);
  }
}

}  // namespace bellwether
