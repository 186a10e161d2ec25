// The virtual cluster: who there is, what can be done to it, how time passes, what can be seen.
#include "simulator/cluster.hh"

#include <algorithm>
#include <utility>

#include "core/link_limits.hh"

namespace bellwether::simulator {
namespace {

using std::chrono::milliseconds;

// What does not come to rest in this time never will.
constexpr Duration kSettleLimit = std::chrono::seconds(120);
// A wait that is longer than this (an operator's hold, a damped take-over) is rest.
constexpr Duration kLongWait = std::chrono::seconds(10);
// A host has been up for at most this long.
constexpr Duration kLongestUptime = std::chrono::days(400);

}  // namespace

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      clocks_(~options_.seed),
      network_(options_.network, random_.below(UINT64_MAX),
               [this](Instant at, Packet&& packet) { queue_.push(at, std::move(packet)); }),
      store_(options_.seed ^ 0x5703e5703e) {
  if (has_store()) queue_.push(now() + ForeignElector::kPeriod, StoreLook{});
  if (options_.detection == Detection::kScripted) {
    options_.node.suspect_after_min = std::chrono::hours(24);
    options_.node.suspect_after_max = std::chrono::hours(24);
  }
}

// --- who there is ---

void Cluster::add(uint32_t count) {
  const uint32_t first = size();
  grow_to(first + count);
  rewrite_configured();
}

void Cluster::set_voters(uint32_t count) {
  for (uint32_t voter = 0; voter < count; ++voter) {
    options_.node.voters.push_back(identity(voter).name);
  }
}

uint32_t Cluster::add_stranger(uint32_t contact) {
  grow_to(size() + 1);
  processes_.back().configured = std::make_shared<MemberView>();
  processes_.back().contacts = {contact};
  return size() - 1;
}

void Cluster::set_priority(uint32_t process, uint32_t priority) {
  processes_[process].self.priority = priority;
  rewrite_configured();
}

void Cluster::grow_to(uint32_t count) {
  for (uint32_t number = size(); number < count; ++number) {
    Process& process = processes_.emplace_back();
    process.self = identity(number);
    process.options = options_.node;
  }
  network_.resize(count);
  referee_.resize(count);
}

// Everybody that is not a stranger is in everybody's configuration.
void Cluster::rewrite_configured() {
  auto everybody = std::make_shared<MemberView>();
  for (const Process& process : processes_) {
    if (process.contacts.empty()) everybody->entries.push_back(process.self);
  }
  for (Process& process : processes_) {
    if (process.contacts.empty()) process.configured = everybody;
  }
}

// Ids rise with the number, so that in scenarios "5" outranks "4"; version and variant bits are set
// as in any UUIDv4.
MemberEntry Cluster::identity(uint32_t process) const {
  MemberEntry entry;
  for (size_t i = 0; i < 4; ++i) {
    entry.id.data[i] = static_cast<uint8_t>((process + 1) >> (8 * (3 - i)));
  }
  entry.id.data[6] = 0x40;
  entry.id.data[8] = 0x80;
  entry.name = "node-" + std::to_string(process);
  entry.address = entry.name + ":7946";
  entry.priority = 100;
  return entry;
}

uint32_t Cluster::index_of(const Uuid& id) const {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | id.data[i];
  return number == 0 || number > size() ? size() : number - 1;
}

std::string Cluster::name_of(uint32_t process) const {
  return std::to_string(process + first_number());
}

// --- faults and repairs ---

void Cluster::start(uint32_t process) {
  Process& starting = processes_[process];
  if (starting.node) return;
  network_.set_power(now(), process, true);
  ++starting.life;
  starting.self.boot = uint64_t{process + 1} << 32U | starting.life;
  starting.self.home = uint64_t{process + 1} << 32U | starting.machine_starts;
  // A node that has lost its state has lost its id as well.
  const bool is_state_lost = !starting.disk.is_written;
  const bool is_somebody_else = is_state_lost && starting.disk.was_lost;
  if (is_somebody_else && holds(Assumption::kNewIdentity)) {
    uint8_t* const identity = starting.self.id.data + 4;  // and then the next byte
    if (++identity[0] == 0) ++identity[1];
  }
  starting.is_paused = false;
  starting.is_watching = false;
  starting.dies_at.reset();
  starting.told.reset();
  starting.wake_at = kNever;
  starting.inbox.clear();
  starting.linked.assign(size(), Uuid{});
  starting.greeted.clear();
  starting.ended.clear();
  starting.members.clear();
  starting.disk.begin_life();
  // What one host's clock shows says nothing of another's, nor of its own before a crash.
  const auto uptime = clocks_.below(static_cast<uint64_t>(kLongestUptime.count()));
  starting.clock.show(Instant(Duration(static_cast<Duration::rep>(uptime))), now());
  Options node_options = starting.options;
  node_options.seed = random_.below(UINT32_MAX) + 1;
  // The wall clock, which is what makes epochs rise in a group that has forgotten all.
  const bool has_wall_clock = starting.disk.was_lost || starting.ahead != Duration::zero();
  if (has_wall_clock && !node_options.voters.empty()) {
    const Duration wall_clock = now().time_since_epoch() + starting.ahead;
    node_options.epoch_seed = static_cast<uint64_t>(wall_clock / milliseconds(1));
  }
  const MemberView& known = starting.disk.members ? *starting.disk.members : *starting.configured;
  starting.node = std::make_unique<Node>(*options_.plugin, node_options, starting.self,
                                         starting.disk.record, known);
  referee_.on_start(process, *starting.node);
  last_interest_ = now();
  trace(process, "starts");
  const bool is_vote_lost = is_state_lost || starting.disk.is_vote_lost;
  const bool is_first_start = is_state_lost && !starting.disk.was_lost;
  const Duration boot_wait = is_first_start ? Duration::zero() : starting.disk.boot_wait();
  audit_.on_start(process, starting.clock.local(now()) + boot_wait);
  step(process, Start{.is_state_lost = is_vote_lost, .is_first_start = is_first_start});
  if (starting.application) step(process, *starting.application);
  if (!starting.node) return;

  starting.unanswered.assign(size(), false);
  starting.unanswered_count = 0;
  std::vector<uint32_t> peers = starting.contacts;
  for (const Member& member : std::as_const(*starting.node).members().all()) {
    peers.push_back(index_of(member.entry.id));
    starting.members.insert(peers.back());
  }
  // The addresses in the configuration are tried as well, whatever the disk remembers.
  for (const MemberEntry& entry : starting.configured->entries) peers.push_back(index_of(entry.id));
  for (const uint32_t peer : peers) {
    if (peer == process || starting.unanswered[peer]) continue;
    starting.unanswered[peer] = true;
    ++starting.unanswered_count;
    dial(process, peer, 0, Duration::zero());
  }
  if (starting.unanswered_count == 0) step(process, Joined{});
}

void Cluster::kill(uint32_t process, bool silently) {
  if (!is_running(process)) return;
  disturb();
  trace(process, silently ? "loses power" : "is killed");
  const bool is_seen = !silently && options_.detection == Detection::kHeartbeats;
  for (uint32_t peer = 0; peer < size(); ++peer) {
    if (peer == process || !network_.is_open(process, peer)) continue;
    is_seen ? network_.finish(now(), process, peer) : network_.close(process, peer);
  }
  if (silently) {
    network_.set_power(now(), process, false);
    ++processes_[process].machine_starts;
  }
  for (uint32_t peer = 0; silently && peer < size(); ++peer) watch_idle(process, peer);
  end(process);
}

void Cluster::end(uint32_t process) {
  processes_[process].clock.go_on(now());
  processes_[process].node.reset();
  processes_[process].is_paused = false;
  processes_[process].dies_at.reset();
  if (holds(Assumption::kFlagEndsInTime)) referee_.on_end(process);
  last_interest_ = now();
}

void Cluster::pause(uint32_t process) {
  if (!is_running(process) || processes_[process].is_paused) return;
  disturb();
  processes_[process].is_paused = true;
  if (!holds(Assumption::kBootTime)) processes_[process].clock.stop(now());
  trace(process, "is paused");
}

// What arrived meanwhile is read before any timer is judged, as the event loop does it.
void Cluster::resume(uint32_t process) {
  Process& resumed = processes_[process];
  if (!resumed.is_paused) return;
  resumed.is_paused = false;
  resumed.clock.go_on(now());
  last_interest_ = now();
  trace(process, "is resumed");
  const auto inbox = std::exchange(resumed.inbox, {});
  const uint32_t life = resumed.life;
  resumed.is_catching_up = true;
  for (const auto& waiting : inbox) {
    if (!resumed.node || resumed.life != life) break;
    const auto* input = std::get_if<Input>(&waiting);
    input != nullptr ? step(process, *input) : greet(process, std::get<Greet>(waiting));
  }
  resumed.is_catching_up = false;
  if (!resumed.node) return;
  if (resumed.life == life) follow_members(process);
  wake_in_time(process);
}

void Cluster::cut(uint32_t from, uint32_t to) {
  disturb();
  network_.cut(from, to);
  watch_idle(from, to);
  last_interest_ = now();
}

void Cluster::heal(uint32_t from, uint32_t to) {
  disturb();
  network_.heal(now(), from, to);
  last_interest_ = now();
}

void Cluster::reset(uint32_t a, uint32_t b) {
  if (!network_.is_connected(a, b)) return;
  disturb();
  network_.finish(now(), a, b);  // the one end learns of it before the other
  lose_link(a, b, LinkEvidence::kClosed);
}

void Cluster::put_proxy(uint32_t process, Proxy proxy, bool is_down) {
  disturb();
  Process& behind = processes_[process];
  const bool is_new = behind.proxy != proxy;
  behind.proxy = proxy;
  behind.is_proxy_down = is_down;
  if (!is_new && !is_down) return;
  for (uint32_t peer = 0; peer < size(); ++peer) {
    if (!network_.is_open(process, peer)) continue;
    network_.finish(now(), process, peer);
    lose_link(process, peer, LinkEvidence::kClosed);
  }
}

void Cluster::detect(uint32_t a, uint32_t b, bool is_down) {
  if (!is_running(a)) return;
  disturb();
  trace(a, (is_down ? "learns of the end of " : "learns of the return of ") + name_of(b));
  if (is_down) return step(a, LinkDown{id_of(b), LinkEvidence::kRefused});
  if (is_running(b)) step(a, LinkUp{node(b).hello()});
}

void Cluster::command(uint32_t process, const Input& input) {
  if (is_running(process)) step(process, input);
}

void Cluster::set_application(uint32_t process, const Application& application) {
  processes_[process].application = application;
  trace(process, "has an application that is " + std::string(name(application.ability)) +
                     ", score " + std::to_string(application.score));
  command(process, application);
}

void Cluster::reconfigure(uint32_t process, const Options& options) {
  processes_[process].options = options;
  trace(process, "is reconfigured");
  command(process, Reconfigure{options});
}

void Cluster::set_clock_rate(uint32_t process, uint32_t permille) {
  disturb();
  processes_[process].clock.set_rate(permille, now());
  if (is_running(process)) {
    processes_[process].wake_at = kNever;
    wake_in_time(process);
  }
}

// --- time ---

void Cluster::run_until(Instant until) {
  while (queue_.next_at() <= until && !referee_.violation()) {
    queue_.pop([this](Event& event) { std::visit([this](auto& what) { on(what); }, event); });
  }
  queue_.advance_to(until);
}

bool Cluster::settle() {
  const Instant limit = now() + kSettleLimit;
  last_interest_ = now();
  while (now() < limit && !referee_.violation()) {
    const Instant quiet_at = last_interest_ + quiet_time();
    run_until(std::min(quiet_at, limit));
    const bool is_quiet = now() >= last_interest_ + quiet_time();
    const bool is_busy = std::any_of(processes_.begin(), processes_.end(),
                                     [this](const Process& p) { return this->is_busy(p); });
    if (is_quiet && !is_busy) return true;
    if (is_quiet) last_interest_ = now();
  }
  return false;
}

// Long enough for every silent fault to be noticed.
Duration Cluster::quiet_time() const {
  if (options_.detection == Detection::kScripted) return std::chrono::seconds(1);
  Duration longest{};
  for (const Process& process : processes_) {
    longest = std::max(longest, 2 * process.options.suspect_after_max +
                                    link_limits(process.options).unacknowledged);
  }
  return longest + kStallJitter;
}

bool Cluster::is_busy(const Process& process) const {
  if (!process.node || process.is_paused) return false;
  if (process.node->is_asking()) return true;
  for (const Timer timer : {Timer::kPlugin, Timer::kJoin, Timer::kElect, Timer::kPreempt,
                            Timer::kHandover, Timer::kDrain}) {
    if (!process.node->timers().is_armed(timer)) continue;
    const Instant due = process.clock.virtual_at(process.node->timers().deadline(timer));
    if (due < now() + kLongWait) return true;
  }
  return false;
}

// --- what there is to see ---

bool Cluster::is_flag_on(uint32_t process) const {
  const Publish& flag = referee_.flag(process);
  return flag.is_leader && processes_[process].clock.local(now()) < flag.valid_until;
}

Cluster::Agreement Cluster::agreement() const {
  Agreement agreement;
  for (uint32_t i = 0; i < size(); ++i) {
    if (!is_running(i)) continue;
    const auto leader = node(i).leader();
    if (!leader) {
      agreement.dissent = name_of(i) + " knows no leader";
      return {std::nullopt, agreement.dissent};
    }
    const uint32_t named = index_of(leader->id);
    if (is_running(named) && node(named).is_leading() &&
        node(named).leader()->epoch != leader->epoch) {
      return {std::nullopt, name_of(i) + " follows another epoch of " + name_of(named)};
    }
    if (!agreement.leader) agreement.leader = named;
    if (*agreement.leader != named) {
      return {std::nullopt, name_of(i) + " follows " + name_of(named) + ", another follows " +
                                name_of(*agreement.leader)};
    }
  }
  if (!agreement.leader) return {std::nullopt, "nobody runs"};
  if (!is_running(*agreement.leader) || !node(*agreement.leader).is_leading()) {
    return {std::nullopt, "all follow " + name_of(*agreement.leader) + ", which does not lead"};
  }
  return agreement;
}

}  // namespace bellwether::simulator
