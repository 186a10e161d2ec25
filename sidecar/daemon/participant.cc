// Both directions: effects of the node to the world, events of the world to the node.
#include "daemon/participant.hh"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

#include "base/duration_text.hh"
#include "config/core_options.hh"

namespace bellwether::daemon {
namespace {

uint64_t random_number() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    throw std::system_error(errno, std::generic_category(), "cannot get random bytes");
  }
  return number;
}

Options options_of(const Config& config) {
  Options options = to_options(config);
  options.seed = random_number();
  if (config.has_majority_guard()) options.epoch_seed = epoch_seed();
  return options;
}

std::vector<HostPort> other_voters(const Config& config) {
  std::vector<HostPort> addresses;
  for (const auto& [name, address] : config.voters) {
    if (name != config.node.name) addresses.push_back(address);
  }
  return addresses;
}

// Longer than until the peer is dialled again.
constexpr Duration kTurnedAwayFor = std::chrono::seconds(30);

// A process without a home has nobody's.
MemberEntry self_of(const Config& config, const io::StateStore& store) {
  const uint64_t boot = random_number();
  return {.id = store.identity(),
          .name = config.node.name,
          .address = config.node.advertise.text(),
          .priority = config.node.priority,
          .boot = boot,
          .home = store.home() != 0 ? store.home() : boot,
          .variant = config.election.variant};
}

io::TurnAwayReason reason_of(Unfit unfit) {
  using enum io::TurnAwayReason;
  static constexpr PerValue<Unfit, io::TurnAwayReason> kReasons(
      {kDuplicateId, kDuplicateId, kFarAhead, kGroupFull, kOtherVoters, kUnknown, kUnknown});
  return kReasons[unfit];
}

const char* text_of(ProofDoubt doubt) {
  static constexpr Names<ProofDoubt> kTexts({
      "somebody stands between this node and a peer: a refused connection does not prove that "
      "peer's death, its lease has to run out",
      "all peers have ended and refuse at once, which proves the death of none: look at this "
      "node's own proxy or tunnels",
      "the kernel does not tell this process who listens (NETLINK_SOCK_DIAG): a refused connection "
      "does not prove a peer's death, its lease has to run out",
      "connections to a peer are refused while somebody listens there, which proves no death: look "
      "for a firewall's rule that rejects or resets them",
  });
  return kTexts[doubt];
}

}  // namespace

Participant::Participant(const ParticipantParts& parts, const Config& config, std::string version,
                         ParticipantListener& listener)
    : parts_(parts),
      version_(std::move(version)),
      listener_(listener),
      voters_(other_voters(config)),
      node_(parts.plugin, options_of(config), self_of(config, parts.store), parts.store.record(),
            parts.store.members().value_or(MemberView{})),
      witness_(node_.members()),
      observer_(parts.metrics, node_.members(), node_.record(), node_.active_variant(),
                [this](const auto& election) { on_election(election); }),
      event_log_(parts.log, node_.members()),
      state_watch_(parts.log, "the state's file", config.node.state_dir),
      writer_(
          parts.loop, parts.store,
          [this](const Record& record, const auto& error) { on_record_stored(record, error); },
          [this](const auto& error) { on_members_stored(error); }),
      transport_(
          parts.loop, parts.resolver,
          {.group = config.group.name,
           .self = node_.members().self().id,
           .boot = node_.members().self().boot,
           .listen = config.node.listen,
           // Nobody waits for one without the guard.
           .death_proof = config.has_guard() ? config.election.death_proof : DeathProof::kNone,
           .limits = link_limits(node_.options()),
           // Nothing at all, until set_security().
           .security = {.takes_plain = config.tls.mode == TlsMode::kOff}},
          *this),
      driver_(parts.loop, node_, *this) {
  writer_.watch(
      [this](const io::FileLook& look) { state_watch_.on_look(io::Loop::now(), look, "", ""); });
  if (!config.has_store_guard()) return;
  store_link_.emplace(parts.loop, parts.resolver, config, node_.options().seed, parts.log,
                      parts.metrics, [this](const Input& input) { driver_.step(input); });
}

void Participant::start(const MembershipSettings& membership, bool is_first_start,
                        const Application& application) {
  driver_.step(
      Start{.is_state_lost = parts_.store.is_vote_lost(), .is_first_start = is_first_start});
  driver_.step(application);
  on(io::Loop::now(), MembersChanged{});  // those that an earlier life has stored
  set_membership(membership);
}

void Participant::reconfigure(const Options& options) {
  driver_.step(Reconfigure{options});
  transport_.set_limits(link_limits(node_.options()));
}

void Participant::set_membership(const MembershipSettings& membership) {
  std::vector<HostPort> peers = voters_;
  peers.insert(peers.end(), membership.peers.begin(), membership.peers.end());
  transport_.set_configured(std::move(peers), membership.dns);
}

// The flag first: peers may take the end of these connections for the end of this process.
void Participant::close() {
  is_over_ = true;
  parts_.flag.publish({});
  transport_.close();
}

// Whoever follows a leader, and asks the store nothing, knows nothing of how it is now.
std::optional<api::StoreState> Participant::store() const {
  if (!store_link_) return std::nullopt;
  const io::StoreCondition& condition = store_link_->condition();
  const StoreGuard& guard = *node_.store();
  const bool asks = guard.is_watching || guard.is_away || guard.request || node_.is_leading();
  return api::StoreState{.name = node_.options().store,
                         .server = condition.server,
                         .trouble = asks || !node_.leader() ? condition.trouble : ""};
}

// The member that has asked the store last knows at once.  The others know from the time that it
// takes when all is well.
std::string Participant::why_store_gives_no_leader(Instant now) const {
  const auto state = store();
  if (!state || node_.leader()) return "";
  if (!state->trouble.empty()) return state->trouble;
  const Duration most = 2 * node_.options().lease;
  if (now - leaderless_since_ <= most) return "";
  return "no member has led for more than two leases (" + duration_text(most) +
         "); `bellwether explain` says why none does";
}

void Participant::measure() {
  metrics::Metrics& metrics = parts_.metrics;
  const Instant now = io::Loop::now();
  metrics.vote.set_only(node_.vote(now));
  if (const StoreGuard* store = node_.store()) {
    metrics.store->up.set(this->store()->trouble.empty());
    const bool looks = store->is_watching || node_.is_leading();
    const std::chrono::duration<double> age = now - store->view.changed_at();
    metrics.store->record_age.set(looks ? age.count() : 0);
    const bool is_strange = store->view.record().holder == StoreRecord::Holder::kStranger;
    metrics.store->is_strange.set(looks && is_strange);
  }
  for (const Security security : {Security::kPlain, Security::kCertificate, Security::kSecret}) {
    metrics.peer_connections.of(security).Set(
        static_cast<double>(transport_.count_links(security)));
  }
}

// --- what the node wants ---

void Participant::carry_out(Instant now, const Effect& effect) {
  witness_.on_effect(effect);
  observer_.on_effect(now, effect);
  std::visit([&](const auto& what) { on(now, what); }, effect);
}

// The flag first: whatever is wrong, the application must not act on it.
void Participant::on_broken(const std::string& invariant, const SelfCheck& evidence) {
  is_over_ = true;
  parts_.flag.publish({});
  parts_.log.write(LogLevel::kError, "an invariant is broken; stopping at once",
                   {{"invariant", invariant},
                    {"before", evidence.state_before()},
                    {"after", evidence.state_after()},
                    {"wanted", evidence.wanted()},
                    {"inputs", evidence.last_inputs()}});
  listener_.on_broken();
}

void Participant::on(Instant now, const Send& send) {
  if (const auto* beat = std::get_if<Heartbeat>(&send.frame.body)) {
    peers_.on_beat(send.frame.header.epoch, beat->sequence, now);
  }
  const io::Sent sent = transport_.send(send.to, send.frame);
  observer_.on_sent(type_of(send.frame), sent.bytes, sent.is_delivered);
}

void Participant::on(Instant now, const Publish& publish) {
  if (publish.leader) leaderless_since_ = kNever;
  if (!publish.leader && leaderless_since_ == kNever) leaderless_since_ = now;
  if (is_over_) return;
  parts_.flag.publish(publish);
  parts_.metrics.flag_updates.count();
  listener_.on_publish(publish);
}

void Participant::on(Instant, const RefuseLink& refuse) {
  transport_.refuse(refuse.peer, reason_of(refuse.why));
}

void Participant::on(Instant, const Persist& persist) {
  const Majority* majority = node_.majority();
  writer_.store(persist.record, majority != nullptr && majority->voter.recall.is_lost());
}

void Participant::on(Instant, const MembersChanged&) {
  peers_.on_members_changed(node_.members());
  std::vector<io::PeerAddress> addresses;
  for (const Member& member : node_.members().all()) {
    if (member.entry.id == node_.members().self().id) continue;
    if (member.entry.liveness == Liveness::kLeft) continue;
    HostPort address;
    if (!parse_host_port(member.entry.address, address).empty()) continue;
    addresses.push_back({member.entry.id, std::move(address), member.entry.name});
  }
  transport_.set_members(std::move(addresses));
}

void Participant::on_election(const metrics::ElectionSummary& election) {
  listener_.on_election(election);
  if (election.result != metrics::Result::kWon || !has_prices(parts_.plugin)) return;
  const bool was_asked = election.trigger == metrics::Trigger::kAsked;
  count_prices(witness_.seen(was_asked, !node_.options().skip_suspected));
}

// Of all variants or of none, so that their sums are of the same elections.
void Participant::count_prices(const ElectionCase& election) {
  using metrics::ElectionType;
  const std::vector<std::string> variants = variants_of(parts_.plugin);
  std::vector<election_cost> prices;
  for (const std::string& variant : variants) {
    const auto price = price_of(parts_.plugin, variant, election);
    if (!price) return parts_.metrics.shadow_elections->count(metrics::ShadowResult::kOnHold);
    prices.push_back(*price);
  }
  parts_.metrics.shadow_elections->count(metrics::ShadowResult::kCounted);
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto& messages = parts_.metrics.shadow_messages.of(variants[i]);
    messages.add(prices[i].election, ElectionType::kElection);
    messages.add(prices[i].answer, ElectionType::kAnswer);
    messages.add(prices[i].handover, ElectionType::kHandover);
    messages.add(prices[i].coordinator, ElectionType::kCoordinator);
    messages.add(prices[i].private_messages, ElectionType::kPrivate);
  }
}

void Participant::on_record_stored(const Record& record,
                                   const std::optional<io::FileError>& error) {
  const bool was_broken = !storage_flaw().empty();
  const bool is_news = storage_flaw_.set(io::Loop::now(), error ? error->what() : "");
  is_state_refused_ = error && parts_.store.is_folder_refused();  // nothing is written meanwhile
  if (is_news && error) {
    parts_.log.write(LogLevel::kError, "the state could not be stored; trying again and again",
                     {{"error", error->what()}});
  } else if (is_news) {
    parts_.log.write(LogLevel::kInfo, "the state can be stored again");
  }
  if (error && was_broken) return;
  driver_.step(Persisted{.record = record, .is_ok = !error});
}

void Participant::on_members_stored(const std::optional<io::FileError>& error) {
  const bool is_news = members_flaw_.set(io::Loop::now(), error ? error->what() : "");
  if (!error || !is_news) return;
  parts_.log.write(LogLevel::kWarn, "the list of members could not be stored",
                   {{"error", error->what()}});
}

// --- what the world says ---

Outcome::Kind Participant::command(const Input& input) {
  const Outcome::Kind outcome = driver_.command(input);
  if (outcome == Outcome::Kind::kDone) event_log_.on_command(input);
  return outcome;
}

io::Greeting Participant::greeting() {
  return {.hello = node_.hello(),
          .is_flag_robust = parts_.is_flag_robust,
          .software = version_,
          .plugin = parts_.plugin.name};
}

void Participant::on_link_up(const io::Greeting& greeting, const io::LinkFacts& facts) {
  parts_.log.write(LogLevel::kDebug, "connected",
                   {{"peer", greeting.hello.self.name},
                    {"address", facts.remote},
                    {"security", name(facts.security)},
                    {"certificate", facts.certificate}});
  peers_.on_greeting(greeting, facts, io::Loop::now());
  driver_.step(LinkUp{.hello = greeting.hello, .told = facts.told});
}

void Participant::on_link_down(const Uuid& peer, LinkEvidence evidence, bool is_proof) {
  parts_.log.write(LogLevel::kDebug, "connection lost",
                   {{"peer", node_.members().name_of(peer)},
                    {"evidence", is_proof ? "proof of death" : name(evidence)}});
  driver_.step(LinkDown{peer, evidence, is_proof});
}

void Participant::on_doubt(const Uuid& peer, ProofDoubt doubt) {
  parts_.metrics.death_proofs_doubted.count(doubt);
  parts_.log.write(LogLevel::kWarn, text_of(doubt), {{"peer", node_.members().name_of(peer)}});
}

void Participant::on_frame(const Uuid& from, Frame frame, size_t bytes) {
  const Instant now = io::Loop::now();
  witness_.on_received(from, type_of(frame));
  observer_.on_received(type_of(frame), bytes);
  peers_.on_heard(from, now);
  if (const auto* ack = std::get_if<HeartbeatAck>(&frame.body)) {
    const auto rtt = peers_.on_acknowledgement(from, frame.header.epoch, ack->sequence, now);
    if (rtt) parts_.metrics.heartbeat_rtt.observe(*rtt);
  }
  driver_.step(FrameReceived{from, std::move(frame)});
}

void Participant::on_rejected(Rejection rejection, const std::string& remote,
                              const std::string& text) {
  parts_.metrics.rejected_frames.count(rejection);
  event_log_.on_rejected(io::Loop::now(), rejection, remote, text);
  if (rejection == Rejection::kTurnedAway) turned_away_ = {text, io::Loop::now()};
}

// Alone for want of trust is as far from the group as turned away by it.
void Participant::on_dial_rejected(Rejection rejection, const std::string& remote,
                                   const std::string& text) {
  on_rejected(rejection, remote, text);
  const bool is_tls = is_of_tls(rejection);
  if (!is_tls && rejection != Rejection::kBadMagic) return;
  turned_away_ = {
      (is_tls ? "no TLS with the peer at " : "no link to the peer at ") + remote + ": " + text,
      io::Loop::now()};
}

void Participant::on_limit(Limit limit) {
  parts_.metrics.limit_hits.count(limit);
  event_log_.on_limit(io::Loop::now(), limit);
}

std::string Participant::turned_away(Instant now) const {
  const bool is_recent = !turned_away_.text.empty() && now - turned_away_.at < kTurnedAwayFor;
  return is_recent && !node_.leader() ? turned_away_.text : "";
}

}  // namespace bellwether::daemon
