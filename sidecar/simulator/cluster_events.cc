// What happens in the virtual cluster by itself: packets arrive, timers run out, connections are
// made and break.
#include <algorithm>
#include <utility>

#include "core/link_limits.hh"
#include "core/shared_end.hh"
#include "simulator/cluster.hh"

namespace bellwether::simulator {
namespace {

// As the transport does: a first try at once, then ever more slowly.
constexpr Duration kFirstRetry = std::chrono::milliseconds(50);
constexpr Duration kLastRetry = std::chrono::seconds(1);
constexpr Duration kAfterRefusal = std::chrono::seconds(5);

}  // namespace

void Cluster::on(Packet& packet) {
  if (!network_.is_current(packet)) {
    // Nobody learns anything of the network's when a script says who learns what.
    if (options_.detection == Detection::kScripted) return;
    return network_.answer_with_reset(now(), packet);
  }
  if (const auto* evidence = std::get_if<LinkEvidence>(&packet.content)) {
    return lose_link(packet.to, packet.from, *evidence);
  }
  if (auto* hello = std::get_if<Hello>(&packet.content)) {
    Process& process = processes_[packet.to];
    process.linked.resize(size());  // somebody may be new
    process.linked[packet.from] = hello->self.id;
    step(packet.to, LinkUp{.hello = std::move(*hello), .told = process.greeted[packet.from]});
    return note_answer(packet.to, packet.from);
  }
  // What was held back may arrive on a later connection, but not as the word of somebody else: who
  // has lost its state is another process.
  if (linked_id(packet.to, packet.from) != packet.sender) return;
  step(packet.to, FrameReceived{packet.sender, std::move(std::get<Frame>(packet.content))});
}

void Cluster::on(const Wake& wake) {
  if (!lives(wake)) return;
  Process& process = processes_[wake.process];
  if (now() < process.wake_at) return;  // it was to wake at another time, too
  process.wake_at = kNever;
  if (process.is_paused) return;
  if (process.node->deadline() <= process.clock.local(now())) return step(wake.process, Tick{});
  wake_in_time(wake.process);
}

void Cluster::on(const Dial& dial) {
  const Process& from = processes_[dial.from];
  const bool is_running_there = is_running(dial.to);
  const bool is_over = !from.node || network_.is_open(dial.from, dial.to) ||
                       (!is_running_there && options_.detection == Detection::kScripted);
  if (is_over) {
    dialling_.erase({dial.from, dial.to});
    return;
  }
  Dial again = dial;
  ++again.attempt;
  const bool is_path_open =
      network_.is_path_open(dial.from, dial.to) && network_.is_path_open(dial.to, dial.from);
  const bool is_shut = is_proxy_down(dial.from, dial.to);
  if (from.is_paused) {
    queue_.push(now() + kFirstRetry, dial);
  } else if (!is_path_open && !is_shut && holds(Assumption::kHonestRefusal)) {
    queue_.push(now() + link_limits(from.options).connect, again);
  } else if (!is_running_there || !is_path_open || is_shut) {
    queue_.push(now() + 2 * options_.network.latency, Refuse{again});
  } else {
    dialling_.erase({dial.from, dial.to});
    queue_.push(now() + options_.network.latency * 3 / 2, Establish{dial.from, dial.to});
  }
}

void Cluster::on(const Establish& establish) {
  const auto [a, b] = establish;
  if (network_.is_open(a, b)) return;  // the other's attempt was faster
  const bool is_path_open =
      network_.is_path_open(a, b) && network_.is_path_open(b, a) && !is_proxy_down(a, b);
  if (!is_running(a) || !is_running(b) || !is_path_open) {
    dial(a, b, 1, kFirstRetry);
    return dial(b, a, 1, kFirstRetry);
  }
  // A node that still has an end of an earlier connection closes it before it reads the new one.
  if (network_.is_open(b, a)) {
    network_.close(b, a);
    end_link(b, a, LinkEvidence::kClosed);
    if (!is_running(b)) return;
  }
  const uint32_t connection = network_.connect(a, b);
  greet(a, {.peer = b, .connection = connection});
  greet(b, {.peer = a, .connection = connection});
}

// The kernel of a paused process accepts; its first words come when it runs again.
void Cluster::greet(uint32_t process, const Greet& greet) {
  Process& greeting = processes_[process];
  if (greeting.is_paused) {
    greeting.inbox.emplace_back(greet);
    return;
  }
  if (!is_open({{process, greet.peer}, greet.connection})) return;
  Hello hello = node(process).hello();
  greeting.greeted[greet.peer] = hello.self.revision;
  network_.send(now(), {.from = process, .to = greet.peer, .content = std::move(hello)});
  watch_for_stall(process, greet.peer);
}

void Cluster::on(const Refuse& refuse) {
  const Dial& again = refuse.dial;
  Process& from = processes_[again.from];
  if (!from.node || network_.is_open(again.from, again.to)) {
    dialling_.erase({again.from, again.to});
    return;
  }
  const Duration wait = std::min(kFirstRetry * (1 << std::min(again.attempt - 1, 5u)), kLastRetry);
  queue_.push(now() + wait, again);
  const Member* member = std::as_const(*from.node).members().find(id_of(again.to));
  const bool is_news =
      member != nullptr && !member->is_connected && member->entry.liveness < Liveness::kDown;
  if (is_news) {
    step(again.from, LinkDown{id_of(again.to), LinkEvidence::kRefused,
                              is_proof_of_death(again.from, again.to)});
  }
  note_answer(again.from, again.to);
}

// As the transport judges it (io/peers/death_proof.hh).
bool Cluster::is_proof_of_death(uint32_t process, uint32_t peer) const {
  if (!options_.is_refusal_proof) return false;
  const bool is_between =
      processes_[process].proxy == Proxy::kSeen || processes_[peer].proxy == Proxy::kSeen;
  if (is_between && holds(Assumption::kDirectProof)) return false;
  const auto& ended = processes_[process].ended;
  const auto ended_at = ended.find(peer);
  if (ended_at == ended.end() || !holds(Assumption::kProofApart)) return true;
  std::vector<LinkHistory> others;
  for (uint32_t other = 0; other < size(); ++other) {
    if (other == process || other == peer) continue;
    const auto found = ended.find(other);
    others.push_back(
        {.is_up = network_.is_open(process, other),
         .ended_at = found == ended.end() ? std::nullopt : std::optional(found->second)});
  }
  return !has_ended_with_all(ended_at->second, others,
                             link_limits(processes_[process].options).moment);
}

// The kernel asks over an idle connection, and an answer must come back.
void Cluster::on(const Keepalive& keepalive) {
  const auto [from, to] = keepalive.end.pair;
  if (!is_open(keepalive.end)) return;
  const bool is_way_open = network_.is_path_open(from, to) && network_.is_path_open(to, from);
  if (is_way_open) {
    // The answer is a reset when the other end is gone.
    if (!network_.is_connected(from, to)) lose_link(from, to, LinkEvidence::kClosed);
  } else if (keepalive.is_last) {
    lose_link(from, to, LinkEvidence::kTimeout);
  } else {
    queue_.push(now() + stall_timeout(from), Keepalive{keepalive.end, /*is_last=*/true});
  }
}

void Cluster::on(const StallTimeout& timeout) {
  const auto [from, to] = timeout.end.pair;
  stalling_.erase({from, timeout.end.connection});
  if (!is_open(timeout.end) || !network_.is_stalled(from, to)) return;
  lose_link(from, to, LinkEvidence::kTimeout);
  watch_idle(from, to);  // the other end finds out by itself
}

// One end of a connection is at its end.
void Cluster::lose_link(uint32_t process, uint32_t peer, LinkEvidence evidence) {
  if (network_.is_open(process, peer)) network_.close(process, peer);
  if (!is_running(process)) return;
  if (evidence == LinkEvidence::kClosed) processes_[process].ended[peer] = now();
  end_link(process, peer, evidence);
  dial(process, peer, 0, Duration::zero());
}

void Cluster::end_link(uint32_t process, uint32_t peer, LinkEvidence evidence) {
  const Uuid link = processes_[process].link_to(peer);
  if (link == Uuid{}) return;
  processes_[process].linked[peer] = Uuid{};
  step(process, LinkDown{link, evidence});
}

void Cluster::refuse_link(uint32_t process, uint32_t peer) {
  if (!is_running(process) || !network_.is_open(process, peer)) return;
  rested_until_[{process, peer}] = rested_until_[{peer, process}] = now() + kAfterRefusal;
  close_link(process, peer);
}

void Cluster::close_link(uint32_t process, uint32_t peer) {
  if (!is_running(process) || !network_.is_open(process, peer)) return;
  network_.finish(now(), process, peer);
  end_link(process, peer, LinkEvidence::kClosed);
  dial(process, peer, 0, Duration::zero());
}

Uuid Cluster::linked_id(uint32_t process, uint32_t peer) const {
  const Uuid link = processes_[process].link_to(peer);
  return link == Uuid{} ? id_of(peer) : link;
}

void Cluster::watch_for_stall(uint32_t from, uint32_t to) {
  if (options_.detection == Detection::kScripted) return;
  if (!network_.is_open(from, to) || !network_.is_stalled(from, to)) return;
  const End end = end_of({from, to});
  if (!stalling_.insert({from, end.connection}).second) return;
  queue_.push(now() + stall_timeout(from), StallTimeout{end});
}

// A way between the two, or one end, has just closed: what is open finds out for itself.
void Cluster::watch_idle(uint32_t a, uint32_t b) {
  if (options_.detection == Detection::kScripted) return;
  for (const auto& [from, to] : {Pair{a, b}, Pair{b, a}}) {
    if (network_.is_open(from, to)) queue_.push(now() + kKeepalive, Keepalive{end_of({from, to})});
  }
}

bool Cluster::is_open(const End& end) const {
  return network_.is_open(end.pair.first, end.pair.second) &&
         network_.generation(end.pair.first, end.pair.second) == end.connection;
}

Duration Cluster::stall_timeout(uint32_t process) {
  const auto jitter = static_cast<uint64_t>(kStallJitter.count());
  return link_limits(processes_[process].options).unacknowledged +
         Duration(static_cast<Duration::rep>(random_.below(jitter)));
}

void Cluster::wake_in_time(uint32_t process) {
  Process& waiting = processes_[process];
  if (waiting.is_paused) return;
  const Instant deadline = waiting.clock.virtual_at(waiting.node->deadline());
  if (deadline >= waiting.wake_at) return;
  waiting.wake_at = deadline;
  queue_.push(deadline, Wake{life_of(process)});
}

// Connects to who is a member now, and ends the connection with who is not any more.
void Cluster::follow_members(uint32_t process) {
  Process& following = processes_[process];
  if (following.is_catching_up) return;  // its links are newer than what it has read
  std::set<uint32_t> members;
  for (const Member& member : std::as_const(*following.node).members().all()) {
    members.insert(index_of(member.entry.id));
  }
  for (const uint32_t peer : members) {
    if (peer != process) dial(process, peer, 0, Duration::zero());
  }
  const Members& known = std::as_const(*following.node).members();
  for (const uint32_t peer : following.members) {
    // It may still be a member as who it was before it lost its state; and while it has not said
    // who it is, it may be anybody.
    const Uuid link = following.link_to(peer);
    if (link == Uuid{} || known.find(link) != nullptr) continue;
    network_.finish(now(), process, peer);
    following.linked[peer] = Uuid{};
    if (is_configured(process, peer)) dial(process, peer, 0, Duration::zero());
  }
  following.members = std::move(members);
}

// Whose address a process has in its configuration it looks for, member or not.
bool Cluster::is_configured(uint32_t process, uint32_t peer) const {
  const Process& looking = processes_[process];
  return std::ranges::find(looking.contacts, peer) != looking.contacts.end() ||
         std::ranges::any_of(looking.configured->entries,
                             [&](const MemberEntry& entry) { return index_of(entry.id) == peer; });
}

void Cluster::dial(uint32_t from, uint32_t to, uint32_t attempt, Duration delay) {
  if (!is_running(from) || network_.is_open(from, to)) return;
  if (!dialling_.insert({from, to}).second) return;
  const auto rest = rested_until_.find({from, to});
  const Instant at = now() + delay;
  queue_.push(rest == rested_until_.end() ? at : std::max(at, rest->second),
              Dial{from, to, attempt});
}

void Cluster::note_answer(uint32_t process, uint32_t peer) {
  Process& joining = processes_[process];
  if (!joining.node || peer >= joining.unanswered.size() || !joining.unanswered[peer]) return;
  joining.unanswered[peer] = false;
  if (--joining.unanswered_count == 0) step(process, Joined{});
}

}  // namespace bellwether::simulator
