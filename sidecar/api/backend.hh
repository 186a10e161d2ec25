// What the API needs of the sidecar: to look at it, and to hand commands to it.  The sidecar
// implements it; tests of the API do, too.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/authority.hh"
#include "api/lack.hh"
#include "base/counted.hh"
#include "config/config.hh"
#include "config/effective.hh"
#include "core/effects.hh"
#include "core/node.hh"
#include "io/confinement/confinement.hh"
#include "metrics/labels.hh"

namespace bellwether::api {

// What a reload did.
struct ReloadResult {
  std::vector<std::string> errors;    // each a line with file:line:column; then nothing has changed
  std::vector<std::string> warnings;  // the same form
  std::vector<ConfigChange> changes;
  bool is_file_unread = false;  // an error that says nothing of the file: it could not be read now
};

// What does not change while the process lives.
struct Identity {
  std::string version;  // of the sidecar
  std::string plugin;   // its name
  std::string plugin_version;
  std::string plugin_abi;  // "major.minor"
  io::Confinement confinement{};
};

// What is known of a peer beyond what the core knows.
struct PeerInfo {
  std::string software;  // version of its sidecar; empty: not known
  std::string plugin;
  std::optional<Security> security{};  // of the last connection to it; nothing: there was none
  std::string certificate;             // the names in its certificate; empty: it showed none
  Instant heard{};                     // last; the beginning of time: never
  Duration rtt{};                      // of the last heartbeat between us; zero: not known
};

// The files of one use of TLS.
struct TlsState {
  std::string flaw{};  // why they are not in force as they are; "": they are, or there are none
  // When the certificate that is in force is over, in seconds since 1970; nothing: there is none.
  std::optional<std::time_t> expiry{};
};

// The store that decides who leads.
struct StoreState {
  std::string name;     // which, and which record in it
  std::string server;   // in use
  std::string trouble;  // one sentence; "": the last requests were answered
};

// An application that is attached, and its connection by a number that no other has.
struct Attached {
  uint64_t id = 0;
  std::string name;
  friend bool operator==(const Attached&, const Attached&) = default;
};

inline std::vector<std::string> names_of(const std::vector<Attached>& applications) {
  std::vector<std::string> names;
  names.reserve(applications.size());
  for (const Attached& application : applications) names.push_back(application.name);
  return names;
}

// An application's word that it has finished, as it was asked to in this epoch.
struct Finished {
  uint64_t epoch = 0;
  std::optional<uint64_t> drain{};       // nothing: whichever is under way
  std::optional<uint64_t> attachment{};  // nothing: it says its name alone
  std::string name{};
};

// What came of it.
enum class DrainWord : uint8_t {
  kTaken,
  kNotAsked,    // no leader waits here
  kOtherEpoch,  // one does, but it speaks of another reign
  kOtherDrain,  // ... or of one that was called off, in the same reign
  kUnknown,     // this attachment was not asked, or none of this name
  kAmbiguous,   // more than one has this name, and it says no more
};

// What is known of the application beside this sidecar.
struct ApplicationState {
  Application worth{};               // as the node is told
  std::vector<Attached> attached{};  // in the order in which they came
  bool is_checked = false;           // by health checks
  bool is_healthy = false;           // by the last checks
  std::string health_flaw{};         // why the last check failed; "": it passed, or there was none
  // Of a leader that lets its application finish: those that have not said so yet.
  std::vector<Attached> waiting_for{};
};

// What keeps a node from being ready.
struct Unready {
  std::string why;
  Lack lack = Lack::kOther;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const Node& node() const = 0;
  virtual const Config& config() const = 0;
  virtual const Identity& identity() const = 0;
  virtual PeerInfo peer(const Uuid& id) const = 0;
  virtual Instant now() const = 0;
  virtual Instant started() const = 0;
  // What is missing until the node is past its search for a leader, with storage and flag usable;
  // nothing: it is ready.
  virtual std::optional<Unready> unready() const = 0;
  // How long ago the event loop last ran its own timer, which it does every second.
  virtual Duration loop_age() const = 0;
  // Keys whose configured value waits for a restart.
  virtual std::vector<std::string> pending_restart() const = 0;
  virtual const Authority& authority() const = 0;
  virtual TlsState tls(metrics::TlsUse use) const = 0;
  // Nothing: no store decides.
  virtual std::optional<StoreState> store() const = 0;
  // Why this node's state is not kept, with a remedy; "": it is, or its disk does not answer.
  virtual std::string storage_flaw() const = 0;
  // Members whose configuration does not fit this node's, one sentence each.
  virtual std::vector<std::string> config_mismatches() const = 0;
  virtual std::string metrics_text() = 0;
  virtual const ApplicationState& application() const = 0;

  // These are attached from now on; and what the application says that it is worth.
  virtual void on_attached(std::vector<Attached> applications) = 0;
  virtual void on_score(int64_t score) = 0;
  virtual DrainWord on_drained(const Finished& finished) = 0;

  // Hands a command (Elect, StepDown, Transfer, Forget) to the node; `done` is called once, now or
  // later.
  virtual void command(const Input& input, std::function<void(Outcome::Kind)> done) = 0;
  // Reads the configuration again; `done` is called once, now or later.
  virtual void reload(std::function<void(const ReloadResult&)> done) = 0;
};

}  // namespace bellwether::api
