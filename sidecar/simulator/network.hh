// The network of the virtual cluster: one connection per pair of processes, each direction first in
// first out, with latency, loss, duplicates, one-way cuts, and frames that are held back at will.
//
// Connections behave like TCP as the sidecar uses it: each end is open or not by itself, and learns
// of the other's end only from what arrives, or does not.  What cannot get through stalls, and
// breaks the sender's end after a while; what comes to an end that is not there is answered by a
// reset. Loss and duplicates of single frames are harsher than TCP on purpose.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hh"
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
  Uuid sender{};  // of a frame: who `from` was when it said so
};

class Network {
 public:
  // `deliver_at`: hands a packet over at a moment of virtual time.
  using DeliverAt = std::function<void(Instant, Packet&&)>;

  Network(const NetworkOptions& options, uint64_t seed, DeliverAt deliver_at);

  void resize(uint32_t processes);
  void set_options(const NetworkOptions& options) { options_ = options; }
  const NetworkOptions& options() const { return options_; }

  // Whether the end at `at` of a connection to `peer` is open.
  bool is_open(uint32_t at, uint32_t peer) const { return direction(at, peer).is_open; }
  // Whether both ends of one connection are.
  bool is_connected(uint32_t a, uint32_t b) const {
    const Direction& there = direction(a, b);
    const Direction& back = direction(b, a);
    return there.is_open && back.is_open && there.generation == back.generation;
  }
  bool is_path_open(uint32_t from, uint32_t to) const { return !is_blocked(from, to); }
  // Whether the end that a packet comes to is there to read it.
  bool is_current(const Packet& packet) const;

  // A new connection between two processes whose ends are not open; returns its generation.
  uint32_t connect(uint32_t a, uint32_t b);
  // The generation of the connection whose end at `at` is, or was last, open.
  uint32_t generation(uint32_t at, uint32_t peer) const { return direction(at, peer).generation; }
  // Closes the end at `at`, and tells nobody; what it had not put on the way is lost.
  void close(uint32_t at, uint32_t peer);
  // Closes the end at `at`; the other end reads what is in flight, and then of the end.
  void finish(Instant now, uint32_t at, uint32_t peer);
  // Tells the sender of a packet that came to an end that is not open.
  void answer_with_reset(Instant now, const Packet& packet);

  // Puts a packet on the way.  False when there is no connection: the attempt goes nowhere.
  bool send(Instant now, Packet&& packet);

  void cut(uint32_t from, uint32_t to) { direction(from, to).is_cut = true; }
  // Everything that stalled goes on its way.
  void heal(Instant now, uint32_t from, uint32_t to);
  // A host without power neither receives nor answers; with it what stalled goes on its way.
  void set_power(Instant now, uint32_t process, bool has_power);
  bool has_power(uint32_t process) const { return has_power_[process]; }
  // True when something waits that cannot get through.
  bool is_stalled(uint32_t from, uint32_t to) const { return stalled_.contains({from, to}); }

  // Frames are kept back, whatever becomes of the connection, until released: late messages.
  void hold(uint32_t from, uint32_t to) { direction(from, to).is_held = true; }
  void release(Instant now, uint32_t from, uint32_t to);

  // The next frame of this type is lost.
  void drop_next(FrameType type, uint32_t from, uint32_t to) { drops_.insert({{from, to}, type}); }
  // What was to be lost next is not.
  void drop_nothing() { drops_.clear(); }

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
  bool is_blocked(uint32_t from, uint32_t to) const {
    return direction(from, to).is_cut || !has_power_[from] || !has_power_[to];
  }
  bool is_dropped(const Packet& packet);
  void transmit(Instant now, Packet&& packet);
  void put_on_the_way(Instant now, Packet&& packet);
  void flush(Instant now, uint32_t from, uint32_t to);

  NetworkOptions options_;
  Random random_;
  DeliverAt deliver_at_;
  size_t processes_ = 0;
  uint32_t generations_ = 0;
  std::vector<Direction> directions_;
  std::vector<bool> has_power_;
  std::map<Pair, std::deque<Packet>> stalled_;
  std::map<Pair, std::deque<Packet>> held_;
  std::set<std::pair<Pair, FrameType>> drops_;
};

}  // namespace bellwether::simulator
