// What the owner calls, and how it all ends.
#include "io/peers/transport.hh"

#include <algorithm>

#include "io/names/listening.hh"

namespace bellwether::io {
namespace {

bool is_heartbeat(const Frame& frame) {
  return std::holds_alternative<Heartbeat>(frame.body) ||
         std::holds_alternative<HeartbeatAck>(frame.body);
}

}  // namespace

Transport::Transport(Loop& loop, Resolver& resolver, TransportSettings settings,
                     TransportListener& listener)
    : loop_(loop),
      settings_(std::move(settings)),
      listener_(listener),
      encoder_(settings_.group),
      book_(loop, resolver, [this] { due_.arm(Duration::zero()); }),
      due_(loop, [this] { catch_up(); }),
      renewal_(loop, [this] { renew_links(); }),
      burial_(loop, [this] { ended_.clear(); }),
      strangers_{.resume = LoopTimer(loop, [this] { resume_silent(false); })},
      members_{.resume = LoopTimer(loop, [this] { resume_silent(true); })},
      socket_(listen_by_key("node.listen", [&] {
        return std::make_unique<ListenerSocket>(
            loop, settings_.listen,
            [this](UvPtr<uv_tcp_t> socket) { on_accepted(std::move(socket)); });
      })) {
  port_ = socket_->port();
  if (settings_.death_proof == DeathProof::kAuto) kernel_.emplace(socket_->address());
}

void Transport::set_configured(std::vector<HostPort> peers, HostPort dns) {
  if (stage_ != Stage::kOpen) return;
  book_.set_configured(std::move(peers), std::move(dns));
  is_configured_ = true;
  due_.arm(Duration::zero());
}

void Transport::set_members(std::vector<PeerAddress> members) {
  if (stage_ != Stage::kOpen) return;
  new_members_ = std::move(members);
  due_.arm(Duration::zero());
}

void Transport::set_limits(const LinkLimits& limits) {
  settings_.limits = limits;
  for (const auto& connection : connections_) connection->set_patience(limits.unacknowledged);
}

Sent Transport::send(const Uuid& to, const Frame& frame) {
  const auto found = peers_.find(to);
  if (stage_ != Stage::kOpen || found == peers_.end() || found->second.link == nullptr) return {};
  PeerConnection& link = *found->second.link;
  const size_t unsent_bytes = link.unsent_bytes();
  if (unsent_bytes > kMaxUnsentBeforeHeartbeat && is_heartbeat(frame)) {
    ++dropped_heartbeats_;
    due_.arm(Duration::zero());
    return {};
  }
  encoded_.clear();
  encoder_.append(frame, encoded_);
  if (unsent_bytes + encoded_.size() > kMaxUnsent) {
    if (std::ranges::find(overflowed_, &link) == overflowed_.end()) overflowed_.push_back(&link);
    due_.arm(Duration::zero());
    return {};
  }
  if (!link.write(encoded_)) return {};
  return {.bytes = encoded_.size(), .is_delivered = true};
}

void Transport::end_soon(const Uuid& peer, std::optional<TurnAwayReason> refusal) {
  if (stage_ != Stage::kOpen) return;
  unwanted_.emplace_back(peer, refusal);
  due_.arm(Duration::zero());
}

void Transport::close() {
  if (stage_ != Stage::kOpen) return;
  stage_ = Stage::kClosing;
  due_.arm(Duration::zero());
}

void Transport::catch_up() {
  if (stage_ == Stage::kClosing) return begin_flushing();
  if (stage_ != Stage::kOpen) return end_flushing();
  for (; dropped_heartbeats_ > 0 && stage_ == Stage::kOpen; --dropped_heartbeats_) {
    listener_.on_limit(Limit::kSendQueue);
  }
  close_overflowed();
  close_unwanted();
  if (stage_ == Stage::kOpen) refresh();
}

// The listening socket first: who is told that this process leaves, or sees its end, finds nobody
// here any more.
void Transport::begin_flushing() {
  stage_ = Stage::kFlushing;
  renewal_.disarm();
  strangers_.resume.disarm();
  members_.resume.disarm();
  socket_.reset();
  targets_.clear();
  book_.clear();
  std::erase_if(connections_, [](const auto& connection) { return !connection->is_link(); });
  for (const auto& connection : connections_) connection->finish();
  due_.arm(connections_.empty() ? Duration::zero() : settings_.limits.flush);
}

void Transport::end_flushing() {
  stage_ = Stage::kClosed;
  peers_.clear();
  connections_.clear();
}

}  // namespace bellwether::io
