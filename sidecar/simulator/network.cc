// How packets travel, stall, get lost, are doubled and are held back.
#include "simulator/network.hh"

#include <algorithm>

namespace bellwether::simulator {

Network::Network(const NetworkOptions& options, uint64_t seed, DeliverAt deliver_at)
    : options_(options), random_(seed), deliver_at_(std::move(deliver_at)) {}

void Network::resize(uint32_t processes) {
  std::vector<Direction> grown(size_t{processes} * processes);
  for (size_t from = 0; from < processes_; ++from) {
    for (size_t to = 0; to < processes_; ++to) {
      grown[from * processes + to] = directions_[from * processes_ + to];
    }
  }
  directions_ = std::move(grown);
  processes_ = processes;
  has_power_.resize(processes, true);
}

// A packet of an ended connection is never read; held ones are the exception that `hold` is for.
bool Network::is_current(const Packet& packet) const {
  const Direction& back = direction(packet.to, packet.from);
  return packet.connection == 0 || (back.is_open && back.generation == packet.connection);
}

uint32_t Network::connect(uint32_t a, uint32_t b) {
  ++generations_;
  for (const auto& [from, to] : {Pair{a, b}, Pair{b, a}}) {
    direction(from, to).is_open = true;
    direction(from, to).generation = generations_;
  }
  return generations_;
}

void Network::close(uint32_t at, uint32_t peer) {
  direction(at, peer).is_open = false;
  stalled_.erase({at, peer});
}

void Network::finish(Instant now, uint32_t at, uint32_t peer) {
  if (!direction(at, peer).is_open) return;
  close(at, peer);
  transmit(now, {.from = at,
                 .to = peer,
                 .connection = direction(at, peer).generation,
                 .content = LinkEvidence::kClosed});
}

void Network::answer_with_reset(Instant now, const Packet& packet) {
  if (std::holds_alternative<LinkEvidence>(packet.content)) return;
  transmit(now, {.from = packet.to,
                 .to = packet.from,
                 .connection = packet.connection,
                 .content = LinkEvidence::kClosed});
}

bool Network::send(Instant now, Packet&& packet) {
  const Pair pair{packet.from, packet.to};
  const Direction& way = direction(packet.from, packet.to);
  if (is_dropped(packet)) return true;
  if (way.is_held && std::holds_alternative<Frame>(packet.content)) {
    packet.connection = 0;
    held_[pair].push_back(std::move(packet));
    return true;
  }
  if (!way.is_open) return false;
  packet.connection = way.generation;
  transmit(now, std::move(packet));
  return true;
}

void Network::transmit(Instant now, Packet&& packet) {
  if (is_blocked(packet.from, packet.to)) {
    stalled_[{packet.from, packet.to}].push_back(std::move(packet));
  } else {
    put_on_the_way(now, std::move(packet));
  }
}

void Network::heal(Instant now, uint32_t from, uint32_t to) {
  direction(from, to).is_cut = false;
  flush(now, from, to);
}

void Network::set_power(Instant now, uint32_t process, bool has_power) {
  has_power_[process] = has_power;
  for (uint32_t peer = 0; has_power && peer < processes_; ++peer) {
    if (peer == process) continue;
    flush(now, process, peer);
    flush(now, peer, process);
  }
}

void Network::flush(Instant now, uint32_t from, uint32_t to) {
  if (is_blocked(from, to)) return;
  auto stalled = stalled_.extract({from, to});
  if (stalled.empty()) return;
  for (Packet& packet : stalled.mapped()) put_on_the_way(now, std::move(packet));
}

void Network::release(Instant now, uint32_t from, uint32_t to) {
  direction(from, to).is_held = false;
  auto held = held_.extract({from, to});
  if (held.empty()) return;
  for (Packet& packet : held.mapped()) put_on_the_way(now, std::move(packet));
}

bool Network::is_dropped(const Packet& packet) {
  const auto* frame = std::get_if<Frame>(&packet.content);
  if (frame == nullptr) return false;
  if (drops_.erase({{packet.from, packet.to}, type_of(*frame)}) != 0) return true;
  return options_.loss > 0 && random_.happens(options_.loss);
}

void Network::put_on_the_way(Instant now, Packet&& packet) {
  Direction& way = direction(packet.from, packet.to);
  const auto jitter = static_cast<uint64_t>(options_.jitter.count());
  const Duration delay =
      options_.latency +
      Duration(static_cast<Duration::rep>(jitter == 0 ? 0 : random_.below(jitter)));
  const Instant arrival = std::max(way.last_arrival, now + delay);
  way.last_arrival = arrival;
  const bool is_frame = std::holds_alternative<Frame>(packet.content);
  if (is_frame && options_.duplicate > 0 && random_.happens(options_.duplicate)) {
    deliver_at_(arrival + options_.latency * static_cast<Duration::rep>(random_.between(1, 50)),
                Packet(packet));
  }
  deliver_at_(arrival, std::move(packet));
}

}  // namespace bellwether::simulator
