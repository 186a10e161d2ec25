// The sidecar: all parts of one process, and how they hang together.  It owns them, starts them in
// the order in which they need each other and stops them in the reverse one; it decides nothing.
//
//   start: state, flag (off) -> peers, clients, operators are heard -> the node looks for a group
//   stop:  the node hands over and leaves -> flag off -> its last words are sent -> state
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/authority.hh"
#include "api/backend.hh"
#include "config/effective.hh"
#include "config/parse.hh"
#include "daemon/application_watch.hh"
#include "daemon/config_file.hh"
#include "daemon/event_log.hh"
#include "daemon/front_door.hh"
#include "daemon/log.hh"
#include "daemon/member_tls.hh"
#include "daemon/participant.hh"
#include "daemon/systemd.hh"
#include "daemon/token_file.hh"
#include "io/flag/memory_keeper.hh"
#include "io/loop/files.hh"
#include "io/loop/loop.hh"

namespace bellwether::daemon {

struct SidecarSettings {
  std::string config_text;  // what parsed.file held
  ParsedConfig parsed;
  std::filesystem::path plugin_dir;
  std::string version;
  bool forget_promises = false;  // see StateSettings::forget_promises
  bool is_first_start = false;   // of the whole group: see Start (effects.hh)
  std::string flag_weakness{};   // robust_futex_flaw(), which must be asked before any thread runs
  io::Confinement confinement{};
  bool are_keys_dumped = false;                // keep_openssl_out_of_core_dumps() came too late
  uint64_t open_files = io::kEnoughOpenFiles;  // what raise_open_files() returned
};

// How run() ends.
enum class SidecarEnd : uint8_t {
  kInGoodOrder,      // it was asked to, and left its group
  kCutShort,         // it was asked to, and could not leave in time
  kFailed,           // nobody asked it to
  kStateRefused,     // it has left its group, for only its next start has a state folder again
  kBrokenInvariant,  // it was wrong about itself (self_check.hh), and left nobody a word
  kLast = kBrokenInvariant,
};

class Sidecar final : private ParticipantListener, private api::Backend {
 public:
  // Does all that can fail: throws PluginError, FileError, AddressError or std::system_error.
  //  `log` must outlive this object.
  Sidecar(SidecarSettings settings, Log& log);
  ~Sidecar() override;
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;

  // Takes part in the group until a signal asks it to leave, or it cannot go on.
  SidecarEnd run();

 private:
  // ParticipantListener
  void on_publish(const Publish& publish) override {
    application_.set_leading(publish.is_leader);
    front_door_.on_publish(publish);
  }
  void on_drain_begun(const DrainBegun& begun) override {
    application_.on_drain_begun(begun.drain);
  }
  void on_drain_ended(const DrainEnded& ended) override { application_.on_drain_ended(ended); }
  void on_election(const metrics::ElectionSummary& election) override;
  void on_left() override { finish(); }
  void on_failed(const Failed& failed) override;
  void on_broken() override;
  void leave(const char* signal);
  void depart();
  void finish();
  void await_last_words();
  void on_tls();
  void tell_tls(bool had_tls);
  void on_tokens(const TokenReading& reading);
  void tick();
  void look_at_flag();
  void look_at_state();
  void report_start();
  void tell_systemd();
  void note_vote();
  bool is_looking() const { return std::holds_alternative<Joining>(node().role()); }
  // The same as unready(), apart from its vote, from who turns it away, and from its start, which
  // passes by itself.
  std::optional<api::Unready> why_cannot_serve() const;
  void dump() const;

  // api::Backend
  const Node& node() const override { return participant_.node(); }
  const Config& config() const override { return in_force_; }
  const api::Identity& identity() const override { return identity_; }
  api::PeerInfo peer(const Uuid& id) const override { return participant_.peer(id); }
  Instant now() const override { return io::Loop::now(); }
  Instant started() const override { return started_; }
  std::optional<api::Unready> unready() const override;
  Duration loop_age() const override { return io::Loop::now() - last_tick_; }
  std::vector<std::string> pending_restart() const override;
  const api::Authority& authority() const override { return authority_; }
  api::TlsState tls(metrics::TlsUse use) const override;
  std::optional<api::StoreState> store() const override { return participant_.store(); }
  std::string storage_flaw() const override { return participant_.storage_flaw(); }
  std::vector<std::string> config_mismatches() const override;
  std::string metrics_text() override;
  const api::ApplicationState& application() const override { return application_.state(); }
  void on_attached(std::vector<api::Attached> applications) override {
    application_.set_attached(std::move(applications));
  }
  void on_score(int64_t score) override { application_.set_score(score); }
  api::DrainWord on_drained(const api::Finished& finished) override {
    return application_.on_drained(finished);
  }
  void command(const Input& input, std::function<void(Outcome::Kind)> done) override {
    done(is_started_ ? participant_.command(input) : Outcome::Kind::kNotLeader);
  }
  void reload(std::function<void(const api::ReloadResult&)> done) override;

  api::ReloadResult apply(const ConfigReading& reading);
  void apply(const Config& wanted, std::vector<ConfigChange>& changes);

  SidecarSettings settings_;
  Log& log_;
  std::optional<io::MemoryKeeper> memory_keeper_;
  const Instant started_ = io::Loop::now();
  const election_plugin& plugin_;
  api::Identity identity_;
  Config in_force_;  // of settings_.parsed, which is what the file says, all that is applied
  metrics::Metrics metrics_;
  Systemd systemd_;
  bool has_tls_ = false;          // [tls] is in force
  bool is_started_ = false;       // as a member: only once it can connect as it must
  bool has_new_options_ = false;  // since then, while it was not
  std::string tls_flaw_;          // as it was noted last
  bool is_leaving_ = false;
  bool is_told_to_leave_ = false;  // by a signal; it may leave without one
  bool is_finishing_ = false;
  SidecarEnd end_ = SidecarEnd::kInGoodOrder;
  bool is_announced_ = false;  // to systemd, as ready
  std::string status_;         // as systemd was told last
  Vote vote_ = Vote::kNone;    // as it was noted last
  Instant last_tick_ = started_;
  Instant next_tick_ = kNever;
  uint64_t unwritten_ = 0;  // lines of the log, as far as they are counted

  io::StateStore store_;
  io::Loop loop_;
  io::FlagWriter flag_;
  FileWatch flag_watch_;
  io::Resolver resolver_;
  MemberTls tls_;
  Participant participant_;
  ApplicationWatch application_;
  api::Authority authority_;
  std::optional<Reread<TokenReading>> token_file_;
  FrontDoor front_door_;
  api::ReloadResult last_reload_;  // of the latest reading
  ConfigFile config_file_;
  io::SignalWatch terminate_;
  io::SignalWatch interrupt_;
  io::SignalWatch hang_up_;
  io::SignalWatch look_;
  io::LoopTimer ticker_;
  io::DeadlineTimer patience_;  // with the departure
  io::LoopTimer last_words_;
};

}  // namespace bellwether::daemon
