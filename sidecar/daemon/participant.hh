// This process as a member of its group: the node, and all that it acts through (connections, disk,
// flag, metrics, log).  Carries out what the node wants, in order, and tells it what happens.
#pragma once

#include <string>
#include <utility>

#include "config/config.hh"
#include "core/node.hh"
#include "daemon/election_witness.hh"
#include "daemon/event_log.hh"
#include "daemon/node_driver.hh"
#include "daemon/peer_notes.hh"
#include "daemon/store_link.hh"
#include "io/flag/flag_writer.hh"
#include "io/names/resolver.hh"
#include "io/peers/transport.hh"
#include "io/state/state_store.hh"
#include "io/state/state_writer.hh"
#include "metrics/core_observer.hh"
#include "metrics/metrics.hh"

namespace bellwether::daemon {

// What a participant acts through and does not own; all of it outlives the participant.
struct ParticipantParts {
  io::Loop& loop;
  const election_plugin& plugin;
  io::StateStore& store;  // must outlive the loop, too (StateWriter)
  io::FlagWriter& flag;
  metrics::Metrics& metrics;
  Log& log;
  io::Resolver& resolver;
  bool is_flag_robust = false;  // robust_futex_flaw() found none
};

// What the rest of the sidecar wants to know at once.  Called while an effect is carried out, so it
// must not lead back into the participant.
class ParticipantListener {
 public:
  virtual ~ParticipantListener() = default;
  virtual void on_publish(const Publish& publish) = 0;
  virtual void on_drain_begun(const DrainBegun& begun) = 0;
  virtual void on_drain_ended(const DrainEnded& ended) = 0;
  virtual void on_election(const metrics::ElectionSummary& election) = 0;
  // The node has left the group; what it said last is on its way.
  virtual void on_left() = 0;
  // The plugin broke its contract; the process must end.
  virtual void on_failed(const Failed& failed) = 0;
  // The node broke an invariant; its flag is off and the process must end at once.
  virtual void on_broken() = 0;
};

class Participant final : private EffectSink, private io::TransportListener {
 public:
  // Listens for peers; throws AddressError when that is impossible.  `version` is the
  // sidecar's, for the peers' operators.
  Participant(const ParticipantParts& parts, const Config& config, std::string version,
              ParticipantListener& listener);

  // By what peers are connected to; before start(), and again when it has changed.
  void set_security(io::LinkSecurity security) {
    turned_away_ = {};  // by the rules until now
    transport_.set_security(std::move(security));
  }
  // Begins to look for the group.  `is_first_start`: see Start (effects.hh).
  // `application`: what it is worth by now.
  void start(const MembershipSettings& membership, bool is_first_start,
             const Application& application);
  // It is worth something else; after start().
  void set_application(const Application& application) { driver_.step(application); }
  // It has finished, as it was asked to by this drain.
  void on_drained(uint64_t drain) { driver_.step(Drained{drain}); }
  // Whom to look for from now on, beside the voters, who do not change.
  void set_membership(const MembershipSettings& membership);
  // What a running node takes over of them (Reconfigure), and the connections with it.
  void reconfigure(const Options& options);
  // Elect, StepDown, Transfer or Forget.
  Outcome::Kind command(const Input& input);
  // Hands leadership over and says goodbye; ParticipantListener::on_left() follows.
  void leave() {
    driver_.step(LeaveGroup{});
    // The next life shall find what this one has stored; but the last words first.
    writer_.look();
  }
  // Turns the flag off for good, then ends the connections once what was said last is sent, or a
  // moment later; then is_closed().
  void close();
  bool is_closed() const { return transport_.is_closed(); }

  const Node& node() const { return node_; }
  api::PeerInfo peer(const Uuid& id) const { return peers_.of(id); }
  // Why what happens will not be remembered, with a remedy: a write has failed, and none succeeded
  // since.  "": the last one succeeded.
  const std::string& storage_flaw() const { return storage_flaw_.text(); }
  // The same, and as StateStore::is_folder_refused() has it.
  bool is_state_refused() const { return is_state_refused_; }
  // Why a peer has refused this process not long before `now`; "": none has, or there is a leader
  // all the same.
  std::string turned_away(Instant now) const;
  // Nothing: no store decides.
  std::optional<api::StoreState> store() const;
  // Why there is no leader, as far as the store has to do with it; "": there is one, or may be
  // soon.
  std::string why_store_gives_no_leader(Instant now) const;
  // Sets the metrics that are looked up when somebody asks for them.
  void measure();

 private:
  // EffectSink
  void carry_out(Instant now, const Effect& effect) override;
  void tell(const Effect& effect) override {
    observer_.on_carried_out();
    event_log_.on_effect(io::Loop::now(), effect);
  }
  void on_broken(const std::string& invariant, const SelfCheck& evidence) override;
  void on(Instant now, const Send& send);
  void on(Instant now, const Publish& publish);
  void on(Instant now, const RefuseLink& refuse);
  void on(Instant, const EndLink& link) { transport_.end_link(link.peer); }
  void on(Instant now, const Persist& persist);
  void on(Instant, const PersistMembers& persist) { writer_.store_members(persist.view); }
  void on(Instant now, const MembersChanged&);
  void on(Instant, const Left&) { listener_.on_left(); }
  void on(Instant, const Failed& failed) { listener_.on_failed(failed); }
  template <OneOf<StoreRead, StoreWrite, StoreWatch> Asked>
  void on(Instant, const Asked& asked) {
    store_link_->carry_out(asked);
  }
  void on(Instant, const DrainBegun& begun) { listener_.on_drain_begun(begun); }
  void on(Instant, const DrainEnded& ended) { listener_.on_drain_ended(ended); }
  // Only watched.
  template <OneOf<Progress, TimedOut, Stale, Rejected, Sighting, Remark, Outcome> Other>
  void on(Instant, const Other&) {}

  // TransportListener
  io::Greeting greeting() override;
  void on_link_up(const io::Greeting& greeting, const io::LinkFacts& facts) override;
  void on_link_down(const Uuid& peer, LinkEvidence evidence, bool is_proof) override;
  void on_doubt(const Uuid& peer, ProofDoubt doubt) override;
  void on_frame(const Uuid& from, Frame frame, size_t bytes) override;
  void on_all_answered() override { driver_.step(Joined{}); }
  void on_rejected(Rejection rejection, const std::string& remote,
                   const std::string& text) override;
  void on_dial_rejected(Rejection rejection, const std::string& remote,
                        const std::string& text) override;
  void on_limit(Limit limit) override;

  void on_election(const metrics::ElectionSummary& election);
  void count_prices(const ElectionCase& election);
  void on_record_stored(const Record& record, const std::optional<io::FileError>& error);
  void on_members_stored(const std::optional<io::FileError>& error);

  ParticipantParts parts_;
  std::string version_;
  ParticipantListener& listener_;
  std::vector<HostPort> voters_;  // where the other voters are
  LastingFlaw storage_flaw_{};
  LastingFlaw members_flaw_{};  // of their list
  bool is_state_refused_ = false;
  struct {
    std::string text;
    Instant at{};
  } turned_away_;
  bool is_over_ = false;  // close() was called
  Node node_;
  ElectionWitness witness_;
  metrics::CoreObserver observer_;
  EventLog event_log_;
  FileWatch state_watch_;
  PeerNotes peers_;
  io::StateWriter writer_;
  io::Transport transport_;
  NodeDriver driver_;
  std::optional<StoreLink> store_link_;         // of a guard on a store
  Instant leaderless_since_ = io::Loop::now();  // kNever: there is a leader
};

}  // namespace bellwether::daemon
