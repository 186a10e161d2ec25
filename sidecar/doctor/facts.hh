// What `bellwether doctor` has seen, as plain values.  Whoever gathers them judges nothing, and
// whoever judges them looks at nothing else.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hh"
#include "base/counted.hh"
#include "base/names.hh"
#include "config/config.hh"
#include "config/findings.hh"
#include "core/guard.hh"
#include "core/identity.hh"
#include "core/member_view.hh"
#include "core/store_record.hh"
#include "core/why.hh"

namespace bellwether::doctor {

struct ConfigFacts {
  std::string file;
  std::string read_error{};  // empty: it could be read
  std::vector<Finding> errors{};
  std::vector<Finding> warnings{};
  std::string plugin_flaw{};       // why the plugin, or its variant, cannot be loaded
  std::optional<Config> config{};  // nothing unless it is valid
};

// The lock by which a sidecar keeps a file for itself.
struct LockFacts {
  bool is_held = false;
  pid_t holder = 0;  // 0: not to be seen from here
};

struct StateFacts {
  std::string folder;
  std::string flaw{};  // why it could not be looked at
  bool exists = false;
  bool is_writable = false;  // by this user; where it does not exist: it could be made
  uid_t owner = 0;
  std::string weakness{};  // who else may write to it, as who_else_may_write() has it
  bool is_in_memory = false;
  uint64_t free_bytes = 0;
  LockFacts lock{};
  bool has_identity = false;  // its file is there
  bool has_record = false;    // its file is there
  // Of the record:
  bool is_record_good = false;
  std::string group{};
  Uuid id{};
  uint64_t epoch = 0;
  uint64_t voters = 0;  // Slot::voters
};

struct FlagFacts {
  std::string path;
  std::string folder_flaw{};  // why the file could not be made in it
  std::string distrust{};     // why no sidecar may keep it there: flag_folder_flaw()
  bool is_emptied_at_logout = false;
  bool is_folder_closed_to_others = false;
  bool is_in_memory = false;
  bool exists = false;
  std::string file_flaw{};  // why no sidecar could take the file
  std::string denial{};     // why none of this user could
  uid_t owner = 0;
  mode_t mode = 0;
  LockFacts lock{};
};

struct ClockFacts {
  Duration boot_elapsed{};  // while the doctor was at work
  Duration wall_elapsed{};
  int year = 0;  // of the wall clock
  bool is_synchronisation_known = false;
  bool is_synchronised = false;
  Duration max_error{};
  double rate_ppm = 0;           // how much the kernel makes the clock run faster
  bool has_boot_offset = false;  // a time namespace in which CLOCK_BOOTTIME is another one
};

struct LimitFacts {
  pid_t process = 0;  // whose; 0: of the doctor itself
  uint64_t open_files = 0;
  std::optional<Duration> cpu_quota{};  // in each cpu_period
  Duration cpu_period{};
  uint64_t cpu_periods = 0;
  uint64_t throttled_periods = 0;
};

struct MemberFacts {
  std::string name;
  std::string id;
  std::string address;
  std::optional<Liveness> state;  // nothing: a word that this release does not know
  bool is_self = false;
  std::optional<Security> security{};  // nothing: no connection of its own
  uint32_t priority = 0;
  bool is_able = true;  // its application
};

// Of the application beside the sidecar, as it says.
struct ApplicationFacts {
  bool is_able = true;
  bool attach = false;  // it has to be attached
  std::vector<std::string> attached{};
  std::string health{};  // where it is asked; empty: it is not
  bool is_healthy = false;
  std::string why_not_healthy{};  // of the last check; empty: it passed, or there was none
  int64_t score = 0;

  bool is_checked() const { return !health.empty(); }
};

// What the sidecar on this machine says.
struct SidecarFacts {
  std::string where;
  std::string silence{};  // why it says nothing
  std::string group{};
  std::string name{};
  std::string id{};
  std::string version{};
  std::string plugin{};
  std::string plugin_abi{};
  std::string variant{};
  std::string why_not_ready{};         // empty: it is
  bool lacks_vote_alone = false;       // which why_no_vote says
  std::optional<Vote> vote{};          // nothing: this is not a voter
  std::string why_no_vote{};           // empty: it is in force, or this is not a voter
  std::string why_tls_not_in_force{};  // empty: it is, or is off
  std::string why_no_token_counts{};   // empty: they do, or none is asked for
  // The same of [api] and [metrics], by these names.
  std::map<std::string, std::string> why_certificate_not_in_force{};
  std::string why_not_confined{};                 // empty: it is, or does not say
  std::string store_trouble{};                    // empty: the store answers it, or there is none
  std::optional<ApplicationFacts> application{};  // nothing: it does not say
  std::string why_nobody_leads{};                 // empty: no reason that all share
  std::vector<std::string> pending_restart{};
  std::vector<MemberFacts> members{};
};

// Who says that there is somebody.
enum class Origin : uint8_t { kDns, kPeers, kVoters, kMember, kSelf, kLast = kSelf };

// A place, as an address or by name, and what it stands for here.
struct NameFacts {
  Origin origin{};
  HostPort place;
  std::vector<std::string> addresses{};  // in numbers
  std::string error{};
};

// What a process says of itself in its HELLO.
struct GreetingFacts {
  std::string name;
  std::string id;
  uint64_t boot = 0;
  std::string address{};
  std::string version{};
  std::string plugin{};
  std::string variant{};
  uint64_t voters = 0;  // Electorate::hash()
  Duration lease{};     // MemberEntry::lease
  std::string leader_id{};
  uint64_t leader_epoch = 0;
};

// What came of a connection to an address, and of a HELLO over it.
struct ProbeFacts {
  std::string address;  // in numbers
  std::string connect_error{};
  bool is_refused = false;   // which is why
  std::string local_host{};  // from which the connection came
  Duration connect_time{};
  std::string hello_error{};            // connected, but no HELLO has come
  bool is_silent = false;               // nor anything else
  std::optional<Rejection> distrust{};  // of the other's certificate or secret, by either side
  Duration hello_time{};                // from the connection to its answer
  std::optional<GreetingFacts> greeting{};
  bool is_between = false;  // the HELLO names other sockets than are seen here

  bool is_connected() const { return connect_error.empty(); }
  bool is_from(const std::string& id) const { return greeting && greeting->id == id; }
};

// Whether a host accepts a connection to a port on which nobody can listen.
enum class Decoy : uint8_t { kRefused, kAccepted, kUnanswered };
struct DecoyFacts {
  std::string host;
  Decoy outcome = Decoy::kUnanswered;
};

// The files that [tls], or another table, names, as this process reads them.
struct TlsFacts {
  std::string flaw{};                   // why they are of no use
  std::string refusal_by_members{};     // why members like this one would refuse it
  std::string names_of_any_voter{};     // the certificate's names, if all voters could have them
  std::optional<std::time_t> begins{};  // of the certificate, in seconds since 1970
  std::optional<std::time_t> ends{};
  std::time_t now = 0;
};

// What the store says that decides who leads, when it is read from here.
struct StoreFacts {
  std::string server{};
  std::string trouble{};                  // why it could not be read
  std::optional<StoreFailure> failure{};  // of what kind that is
  bool has_record = false;
  StoreRecord record{};
};

struct MetricsFacts {
  std::string where;
  std::string error{};
  unsigned status = 0;  // of /readyz
};

struct Facts {
  std::string version;  // of this program
  ConfigFacts config;
  std::string futex_flaw{};  // robust_futex_flaw()
  ClockFacts clock{};
  LimitFacts limits{};
  std::vector<std::string> mesh_signs{};  // of a service mesh, a phrase each
  // What follows from a valid configuration; nothing where that, or the key, is missing.
  std::optional<StateFacts> state{};
  std::optional<FlagFacts> flag{};
  std::optional<TlsFacts> tls{};                   // nothing: tls.mode is "off"
  std::map<std::string, TlsFacts> certificates{};  // of "api" and "metrics", if they have one
  std::optional<SidecarFacts> sidecar{};
  std::optional<MetricsFacts> metrics{};
  std::optional<StoreFacts> store{};  // nothing: none decides
  std::vector<NameFacts> names{};
  std::vector<ProbeFacts> probes{};
  std::vector<DecoyFacts> decoys{};
  std::vector<HostPort> listeners{};         // the places on this host where anybody listens
  std::vector<std::string> inbound_hosts{};  // that hold a connection to node.listen
  size_t unprobed = 0;                       // addresses beyond the bound

  bool has_sidecar() const { return sidecar && sidecar->silence.empty(); }
  // Then nobody is probed: peers would take this process for one without [tls].
  bool is_tls_unusable() const { return tls && !tls->flaw.empty(); }
};

}  // namespace bellwether::doctor
