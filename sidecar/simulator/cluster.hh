// A whole group of sidecars in one thread and in virtual time: the real Node and the real plugin,
// with virtual clocks, disks and a network around them.  The same seed gives the same run, byte for
// byte.
//
// The cluster plays the shell's part: it connects processes, carries effects out in order and hands
// inputs in.  Scenarios and random schedules drive it; the referee watches every step.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/node.hh"
#include "simulator/audit.hh"
#include "simulator/disk.hh"
#include "simulator/event_queue.hh"
#include "simulator/network.hh"
#include "simulator/referee.hh"
#include "simulator/virtual_clock.hh"
#include "simulator/virtual_store.hh"

namespace bellwether::simulator {

// How processes find out about each other's end.
enum class Detection : uint8_t {
  kHeartbeats,  // as in production
  kScripted,    // nobody suspects anybody unless a script says so: the papers' starting position
};

// What guards take for granted of their world.  A test can break one, to show that it is needed,
// and that the checks notice.
enum class Assumption : uint8_t {
  kBootTime,        // a process's clock goes on while the process, or its host, is stopped
  kDurableDisk,     // what the disk says it has it still has after a crash
  kNewIdentity,     // whoever comes back without its state comes back under a new id
  kHonestRefusal,   // a host refuses connections to a process that has ended, and to no other
  kDirectProof,     // a refusal proves an end only where nobody stands between
  kProofApart,      // and only when not all peers are gone at once
  kFlagEndsInTime,  // a process's flag is off before its peers can learn of its end
  // A store writes only over the version that the writer has seen.
  kConditionalWrite,
};

struct ClusterOptions {
  const election_plugin* plugin = nullptr;
  Options node;
  Detection detection = Detection::kHeartbeats;
  bool is_refusal_proof = false;  // `death_proof`
  NetworkOptions network;
  StoreOptions store;
  uint64_t seed = 1;
  uint32_t first_number = 0;                      // of the first process, for people
  std::optional<Assumption> broken_assumption{};  // by a test
};

using MessageCounts = std::array<uint64_t, kFrameTypes>;

class Cluster {
 public:
  explicit Cluster(ClusterOptions options);

  // --- who there is; processes are numbered from 0 and ids rise with the number ---
  // Adds processes that know each other and everybody added so before.
  void add(uint32_t count);
  // The first of them, so many, are the voters of guard "majority"; before they are added.
  void set_voters(uint32_t count);
  // Adds one that knows nobody but the address of `contact`.
  uint32_t add_stranger(uint32_t contact);
  void set_priority(uint32_t process, uint32_t priority);
  uint32_t size() const { return static_cast<uint32_t>(processes_.size()); }

  // --- faults and repairs ---
  void start(uint32_t process);
  // Its connections end as by SIGKILL; `silently`: as by loss of power, until it is started again.
  void kill(uint32_t process, bool silently = false);
  // It dies at its next write: before the disk has it, or when the disk has it but the process does
  // not know.
  enum class AtStore : uint8_t { kBefore, kAfter };
  void kill_at_store(uint32_t process, AtStore when) {
    if (is_running(process)) processes_[process].dies_at = when;
  }
  void pause(uint32_t process);
  void resume(uint32_t process);
  void cut(uint32_t from, uint32_t to);
  void heal(uint32_t from, uint32_t to);
  // Ends a connection between two living processes, as a reset does.
  void reset(uint32_t a, uint32_t b);
  // What connects to or from the process goes through a proxy of its own.  While that is down, it
  // ends and refuses connections, on both sides, and all processes live.  `kUnseen`: no HELLO shows
  // that it is there.
  enum class Proxy : uint8_t { kNone, kSeen, kUnseen };
  void put_proxy(uint32_t process, Proxy proxy, bool is_down);
  // Process `a` learns that `b` is gone, or is back.
  void detect(uint32_t a, uint32_t b, bool is_down);
  void command(uint32_t process, const Input& input);
  // The process is told so now, if it runs, and at each of its starts.
  void set_application(uint32_t process, const Application& application);
  Application application_of(uint32_t process) const {
    return processes_[process].application.value_or(Application{});
  }
  // How long it takes to finish when it is asked to; nothing: it never says so.
  void set_drain(uint32_t process, std::optional<Duration> takes) {
    processes_[process].drain_takes = takes;
  }
  // The process has another configuration, which it reads at once when it runs, and at its start.
  void reconfigure(uint32_t process, const Options& options);
  const Options& options_of(uint32_t process) const { return processes_[process].options; }
  void set_clock_rate(uint32_t process, uint32_t permille);
  // Its wall clock shows so much more than those of all others, from its next start on.
  void set_wall_clock(uint32_t process, Duration ahead) { processes_[process].ahead = ahead; }
  Disk& disk(uint32_t process) { return processes_[process].disk; }
  Network& network() {
    disturb();
    return network_;
  }
  // Messages get through from now on: until the next fault no two flags are on, whatever the guard.
  void calm_down() { is_calm_ = true; }

  // --- the store of guard "store" ---
  void change_store(const std::function<void(VirtualStore&)>& change);
  // Somebody else's elector on the same record; or a copy of this process, which reaches the store
  // alone.
  void set_foreigner(bool is_on);
  void start_twin(uint32_t process) { foreigner_.start_as(processes_[process].self); }
  const VirtualStore& store() const { return store_; }
  // That were sent to it, whether it is reached or not; without watches.
  uint64_t store_requests() const { return store_requests_; }

  // --- time ---
  Instant now() const { return queue_.now(); }
  void run_for(Duration duration) { run_until(now() + duration); }
  // Until nothing but heartbeats has happened for a while; false when it does not come to rest.
  bool settle();

  // --- what there is to see ---
  bool is_running(uint32_t process) const { return processes_[process].node != nullptr; }
  bool is_paused(uint32_t process) const { return processes_[process].is_paused; }
  const Node& node(uint32_t process) const { return *processes_[process].node; }
  // It runs, and no other need wait for its vote.
  bool is_ready(uint32_t process) const {
    const Process& asked = processes_[process];
    return asked.node && !asked.node->waits_for_vote(asked.clock.local(now()));
  }
  // What the application reads from the flag now.
  bool is_flag_on(uint32_t process) const;
  // And whether it may begin anything.
  bool is_draining(uint32_t process) const {
    return is_flag_on(process) && referee_.flag(process).is_draining;
  }
  const Referee& referee() const { return referee_; }
  // Messages by type since the start: attempts, whether or not there was a connection.
  const MessageCounts& messages() const { return messages_; }
  uint64_t steps() const { return steps_; }
  // Which process this is; size() when none.
  uint32_t index_of(const Uuid& id) const;
  const Uuid& id_of(uint32_t process) const { return processes_[process].self.id; }
  // The one leader all running processes agree on, or why there is none.
  struct Agreement {
    std::optional<uint32_t> leader;
    std::string dissent;
  };
  Agreement agreement() const;

  // Everything worth reading is passed to `sink`, line by line; times count from `origin`.
  void trace_to(std::function<void(const std::string&)> sink) { trace_ = std::move(sink); }
  void set_trace_origin(Instant origin) { trace_origin_ = origin; }
  uint32_t first_number() const { return options_.first_number; }
  std::string name_of(uint32_t process) const;

 private:
  // The first words on a connection that the kernel has accepted already.
  struct Greet {
    uint32_t peer = 0;
    uint32_t connection = 0;
  };
  struct Process {
    MemberEntry self;
    Options options;
    // Whom it knows without a disk; shared by all who have this configuration.
    std::shared_ptr<const MemberView> configured;
    std::vector<uint32_t> contacts;  // addresses it is given besides
    std::unique_ptr<Node> node;
    VirtualClock clock;
    Disk disk;
    uint32_t life = 0;
    uint32_t machine_starts = 0;
    bool is_paused = false;
    bool is_watching = false;  // the store
    std::optional<AtStore> dies_at;
    std::optional<Application> application;  // nothing: none is configured
    std::optional<Application> told;         // in this life
    std::optional<Duration> drain_takes = Duration::zero();
    uint64_t drain = 0;         // for which it was asked last
    Instant drains_until{};     // on its own clock: so long it may
    bool has_finished = false;  // since it was asked to
    Duration ahead{};           // its wall clock of the others' clocks
    Instant wake_at = kNever;
    std::deque<std::variant<Input, Greet>> inbox;  // while paused
    // By peer: who it said it is, from its LinkUp to its LinkDown; nil else.  Who has lost its
    // state comes back as somebody else.
    std::vector<Uuid> linked;
    std::map<uint32_t, uint64_t> greeted;  // by peer: its revision in the HELLO there
    bool is_catching_up = false;           // reads what came while it was paused
    std::map<uint32_t, Instant> ended;     // when links to these were ended, as seen from here
    Proxy proxy = Proxy::kNone;
    bool is_proxy_down = false;
    std::vector<bool> unanswered;  // peers to be found at start
    uint32_t unanswered_count = 0;
    std::set<uint32_t> members;  // as the node last named them

    Uuid link_to(uint32_t peer) const { return peer < linked.size() ? linked[peer] : Uuid{}; }
  };
  // TCP_KEEPIDLE: the kernel's own questions find out what an idle connection would not.
  static constexpr Duration kKeepalive = std::chrono::seconds(1);
  // How much later than LinkLimits::unacknowledged the kernel notices is a matter of its
  // retransmissions.
  static constexpr Duration kStallJitter = std::chrono::milliseconds(500);

  // What comes of something that a process has begun: nothing, if it does not live to see it.
  struct OfLife {
    uint32_t process = 0;
    uint32_t life = 0;
  };
  struct Wake : OfLife {};
  struct Dial {
    uint32_t from = 0;
    uint32_t to = 0;
    uint32_t attempt = 0;
  };
  struct Establish {
    uint32_t a = 0;
    uint32_t b = 0;
  };
  struct Refuse {
    Dial dial;
  };
  // One end of a connection.
  struct End {
    Pair pair;  // whose, and to whom
    uint32_t connection = 0;
  };
  struct Keepalive {
    End end;
    bool is_last = false;  // nothing has come back since the one before
  };
  struct StallTimeout {
    End end;
  };
  struct DiskDone : OfLife {
    Kept kept;
    bool is_ok = true;
  };
  struct DiskAgain : OfLife {};
  struct StoreArrival : OfLife {
    std::variant<StoreRead, StoreWrite> request;
  };
  struct StoreReply : OfLife {
    Input input;
  };
  struct StoreLook {};
  struct Finished : OfLife {
    uint64_t drain = 0;
  };
  using Event = std::variant<Packet, Wake, Dial, Establish, Refuse, Keepalive, StallTimeout,
                             DiskDone, DiskAgain, StoreArrival, StoreReply, StoreLook, Finished>;

  void grow_to(uint32_t count);
  void rewrite_configured();
  MemberEntry identity(uint32_t process) const;
  void run_until(Instant until);
  void on(Packet& packet);
  void on(const Wake& wake);
  void on(const Dial& dial);
  void on(const Establish& establish);
  void on(const Refuse& refuse);
  void on(const Keepalive& keepalive);
  void on(const StallTimeout& timeout);
  void on(const DiskDone& done);
  void on(const DiskAgain& again);
  void on(const StoreArrival& arrival);
  void on(StoreReply& reply);
  void on(const StoreLook& look);
  void on(const Finished& finished);

  uint64_t wall_clock_ms(uint32_t process) const;
  template <typename Request>
  void ask_store(uint32_t process, const Request& request);
  void answer_store(uint32_t process, Input answer);
  void tell_watchers();
  void tell_watcher(uint32_t process);

  void step(uint32_t process, const Input& input);
  void carry_out(uint32_t process, const Effects& effects);
  void send(uint32_t process, const Send& send);
  void write(uint32_t process);
  void refuse_link(uint32_t process, uint32_t peer);
  void close_link(uint32_t process, uint32_t peer);
  void judge_reign(uint32_t process, uint64_t epoch);
  void ask_to_finish(uint32_t process, const Drain& drain);
  void judge_drain(uint32_t process, const DrainEnded& ended);
  void judge_memory(uint32_t process);
  void judge_flags();
  void disturb() { is_calm_ = false; }
  bool has_voters() const { return !options_.node.voters.empty(); }
  bool has_store() const { return !options_.node.store.empty(); }
  bool is_guarded() const { return has_voters() || has_store(); }
  void end(uint32_t process);
  void wake_in_time(uint32_t process);
  void follow_members(uint32_t process);
  bool is_configured(uint32_t process, uint32_t peer) const;
  void dial(uint32_t from, uint32_t to, uint32_t attempt, Duration delay);
  void greet(uint32_t process, const Greet& greet);
  void watch_for_stall(uint32_t from, uint32_t to);
  void watch_idle(uint32_t a, uint32_t b);
  OfLife life_of(uint32_t process) const { return {process, processes_[process].life}; }
  bool lives(const OfLife& begun) const {
    return is_running(begun.process) && processes_[begun.process].life == begun.life;
  }
  End end_of(Pair pair) const { return {pair, network_.generation(pair.first, pair.second)}; }
  bool is_open(const End& end) const;
  Duration stall_timeout(uint32_t process);
  bool is_proxy_down(uint32_t a, uint32_t b) const {
    return processes_[a].is_proxy_down || processes_[b].is_proxy_down;
  }
  bool is_proof_of_death(uint32_t process, uint32_t peer) const;
  void lose_link(uint32_t process, uint32_t peer, LinkEvidence evidence);
  void end_link(uint32_t process, uint32_t peer, LinkEvidence evidence);
  Uuid linked_id(uint32_t process, uint32_t peer) const;
  void note_answer(uint32_t process, uint32_t peer);
  bool is_busy(const Process& process) const;
  bool holds(Assumption assumption) const { return options_.broken_assumption != assumption; }
  Duration quiet_time() const;
  void trace(uint32_t process, const std::string& text);
  // "" for what is not for people.
  std::string words_of(const Effect& effect) const;
  void trace(uint32_t process, const Publish& publish);

  ClusterOptions options_;
  Random random_;
  Random clocks_;  // what they show at a start; dice of their own, so that all else stays the same
  EventQueue<Event> queue_;
  Network network_;
  VirtualStore store_;
  ForeignElector foreigner_;
  uint64_t store_requests_ = 0;
  Referee referee_;
  Audit audit_;
  std::vector<Process> processes_;
  std::set<Pair> dialling_;
  std::map<Pair, Instant> rested_until_;  // who was refused is dialled again rarely
  std::set<Pair> stalling_;               // process and connection
  MessageCounts messages_{};
  uint64_t steps_ = 0;
  Instant last_interest_{};
  bool is_calm_ = false;
  std::function<void(const std::string&)> trace_;
  Instant trace_origin_{};
};

}  // namespace bellwether::simulator
