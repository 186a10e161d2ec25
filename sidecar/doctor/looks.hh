// What the doctor looks at, file by file; nothing is judged in here.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_port.hh"
#include "config/config.hh"
#include "config/environment.hh"
#include "doctor/facts.hh"
#include "io/names/socket_address.hh"
#include "io/store/store_client.hh"
#include "io/tls/tls_context.hh"

namespace bellwether::doctor {

// host_look.cc: the clock, and the limits of a process.

// Compares two clocks over the time from its making to facts().
class ClockWatch {
 public:
  ClockWatch();
  ClockFacts facts() const;

 private:
  Instant boot_;
  std::chrono::system_clock::time_point wall_;
};

// Of the process, or of this one when it is 0 or cannot be seen.
LimitFacts look_at_limits(pid_t process);

// The quota of processor time that binds the process which `list` (/proc/PID/cgroup) is about, or
// nothing; `root` is where the control groups are (/sys/fs/cgroup).
void look_at_quota(const std::filesystem::path& list, const std::filesystem::path& root,
                   LimitFacts& facts);

// network_look.cc: names, and the sockets of this network namespace, which in a pod are those of
// all its containers: who is connected to the sidecar, and whether the proxy of a service mesh
// listens.

// Looks names up, all at once, as the sidecar does: with its resolver.  Fills in addresses, or
// errors; waits for `limit` at most.  Throws as Resolver does.
void look_up(std::vector<NameFacts>& names, Duration limit);

struct SocketEntry {
  HostPort local;
  HostPort remote;
  bool is_listening = false;
  bool is_connected = false;
};

// From the text of /proc/net/tcp or /proc/net/tcp6; what is not an entry is skipped.
std::vector<SocketEntry> parse_socket_table(std::string_view text);

// That of this network namespace.
std::vector<SocketEntry> socket_table();

// The hosts that hold a connection to `port` here, each once.
std::vector<std::string> hosts_connected_to(uint16_t port, const std::vector<SocketEntry>& sockets);

// A phrase for each sign of a service mesh.
std::vector<std::string> signs_of_mesh(const Environment& environment,
                                       const std::vector<SocketEntry>& sockets);

// storage_look.cc: the state folder and the flag as they are; nothing is made, locked or changed.

// `folder` is not empty.
StateFacts look_at_state(const std::filesystem::path& folder);

FlagFacts look_at_flag(const std::filesystem::path& path, bool is_folder_shared = false);

// Whether logind's settings (logind.conf(5)) below `root` let it empty /dev/shm: RemoveIPC=.
bool does_logind_remove_ipc(const std::filesystem::path& root);

// store_look.cc: the record of the store that decides who leads, read once; nothing is written.

// `limit`: until it has failed.  Throws as io::Resolver does.
StoreFacts look_at_store(std::unique_ptr<io::StoreDialect> dialect, io::StoreSecurity security,
                         Duration limit);

// peer_probe.cc: connects to addresses and says HELLO as one who only asks: whoever listens answers
// and forgets it, so nobody's election notices.  Also knocks where nobody can listen, to see
// whether something answers for everybody.

struct ProbeOrder {
  std::vector<io::SocketAddress> addresses;
  std::vector<io::SocketAddress> decoy_hosts;  // their ports mean nothing
  io::TlsContextPtr tls{};                     // nullptr: plain
  bool takes_plain = false;  // with `tls`: once more plain where TLS is not spoken
  Duration limit{};          // for everything
};

struct ProbeReport {
  std::vector<ProbeFacts> probes;  // as order.addresses
  std::vector<DecoyFacts> decoys;  // as order.decoy_hosts
};

// All at the same time; as many descriptors as addresses and hosts.
ProbeReport probe_peers(const ProbeOrder& order, const Config& config);

}  // namespace bellwether::doctor
