// The network of the virtual cluster: one connection per pair of processes, each direction first in
// first out, with latency, loss, duplicates, one-way cuts, and frames that are held back at will.
//
// Connections behave like TCP as the sidecar uses it: what cannot get through stalls and breaks the
// connection after a while; a connection that is gone takes what was in flight with it.  Loss and
// duplicates of single frames are harsher than TCP on purpose.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "core/clock.hh"
#include "core/effects.hh"
#include "core/frames.hh"
#include "simulator/random.hh"

namespace bellwether::simulator {

struct NetworkOptions {
  Duration latency = std::chrono::milliseconds(1);
  Duration jitter{};
  double loss = 0;
  double duplicate = 0;
};

using Pair = std::pair<uint32_t, uint32_t>;  // from, to

// Something that travels in one direction of a connection.
struct Packet {
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t connection = 0;  // generation of the connection it travels on
  std::variant<Frame, Hello, LinkEvidence> content;
};

class Network {
 public:
  // `deliver_at`: hands a packet over at a moment of virtual time.
  using DeliverAt = std::function<void(Instant, Packet)>;

  Network(const NetworkOptions& options, uint64_t seed, DeliverAt deliver_at);

  void resize(uint32_t processes);
  void set_options(const NetworkOptions& options) { options_ = options; }
  const NetworkOptions& options() const { return options_; }

  // True as long as either end believes so.
  bool is_connected(uint32_t a, uint32_t b) const {
    return direction(a, b).is_open || direction(b, a).is_open;
  }
  bool is_path_open(uint32_t from, uint32_t to) const { return !direction(from, to).is_cut; }
  bool is_current(const Packet& packet) const;

  // A new connection between two processes; returns its generation.
  uint32_t connect(uint32_t a, uint32_t b);
  // Ends it; what is in flight or stalled is lost.
  void disconnect(uint32_t a, uint32_t b);

  // One end is gone: the other will read what is in flight, and then the end of the connection.
  void finish(Instant now, uint32_t from, uint32_t to);

  // Puts a packet on the way.  False when there is no connection: the attempt goes nowhere.
  bool send(Instant now, Packet packet);

  void cut(uint32_t from, uint32_t to) { direction(from, to).is_cut = true; }
  // Everything that stalled goes on its way.
  void heal(Instant now, uint32_t from, uint32_t to);
  // True when something waits behind a cut.
  bool is_stalled(uint32_t from, uint32_t to) const { return stalled_.contains({from, to}); }

  // Frames are kept back, whatever becomes of the connection, until released: late messages.
  void hold(uint32_t from, uint32_t to) { direction(from, to).is_held = true; }
  void release(Instant now, uint32_t from, uint32_t to);

  // The next frame of this type is lost.
  void drop_next(FrameType type, uint32_t from, uint32_t to) { drops_.insert({{from, to}, type}); }

 private:
  struct Direction {
    Instant last_arrival{};
    uint32_t generation = 0;
    bool is_open = false;
    bool is_cut = false;
    bool is_held = false;
  };

  Direction& direction(uint32_t from, uint32_t to) { return directions_[from * processes_ + to]; }
  const Direction& direction(uint32_t from, uint32_t to) const {
    return directions_[from * processes_ + to];
  }
  bool is_dropped(const Packet& packet);
  void put_on_the_way(Instant now, Packet packet);

  NetworkOptions options_;
  Random random_;
  DeliverAt deliver_at_;
  size_t processes_ = 0;
  uint32_t generations_ = 0;
  std::vector<Direction> directions_;
  std::map<Pair, std::deque<Packet>> stalled_;
  std::map<Pair, std::deque<Packet>> held_;
  std::set<std::pair<Pair, FrameType>> drops_;
};

}  // namespace bellwether::simulator
