// Names, as the sidecar looks them up; /proc/net/tcp, and the ports and variables that the common
// meshes use.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "base/ascii.hh"
#include "doctor/looks.hh"
#include "io/loop/timer.hh"
#include "io/names/resolver.hh"
#include "io/names/socket_address.hh"

namespace bellwether::doctor {
namespace {

constexpr unsigned kEstablished = 1;
constexpr unsigned kListening = 10;
constexpr size_t kHexOfWord = 8;
constexpr int kHex = 16;

struct MeshPort {
  uint16_t port;
  const char* owner;
};
constexpr MeshPort kMeshPorts[] = {
    {15001, "Istio's proxy listens on port 15001"},
    {15006, "Istio's proxy listens on port 15006"},
    {4140, "Linkerd's proxy listens on port 4140"},
    {4143, "Linkerd's proxy listens on port 4143"},
};
constexpr const char* kMeshVariables[] = {"ISTIO_META_MESH_ID", "ISTIO_META_WORKLOAD_NAME",
                                          "LINKERD2_PROXY_LOG", "ENVOY_ADMIN_PORT"};

std::optional<uint32_t> parse_hex(std::string_view text) {
  return parse_number<uint32_t>(text, kHex);
}

// "0100007F:1F90": words in the byte order of this machine, as they lie in memory; the port.
std::optional<HostPort> parse_endpoint(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != kHexOfWord && colon != 4 * kHexOfWord) return std::nullopt;
  const auto port = parse_hex(text.substr(colon + 1));
  if (!port || *port > UINT16_MAX) return std::nullopt;
  in6_addr host{};
  for (size_t i = 0; i < colon / kHexOfWord; ++i) {
    const auto word = parse_hex(text.substr(i * kHexOfWord, kHexOfWord));
    if (!word) return std::nullopt;
    std::memcpy(host.s6_addr + i * sizeof *word, &*word, sizeof *word);
  }
  sockaddr_in6 address{
      .sin6_family = AF_INET6, .sin6_port = htons(static_cast<uint16_t>(*port)), .sin6_addr = host};
  sockaddr_in address_ipv4{.sin_family = AF_INET, .sin_port = address.sin6_port};
  std::memcpy(&address_ipv4.sin_addr, host.s6_addr, sizeof address_ipv4.sin_addr);
  const auto found = colon == kHexOfWord
                         ? io::SocketAddress::from(reinterpret_cast<const sockaddr&>(address_ipv4))
                         : io::SocketAddress::from(reinterpret_cast<const sockaddr&>(address));
  HostPort place;
  parse_host_port(found->text(), place);  // refuses port 0, which a listener's peer has
  return place;
}

std::string read_all(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::vector<SocketEntry> parse_socket_table(std::string_view text) {
  std::vector<SocketEntry> entries;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    words >> number >> local >> remote >> state;
    const auto local_place = parse_endpoint(local);
    const auto remote_place = parse_endpoint(remote);
    const auto state_number = parse_hex(state);
    if (!local_place || !remote_place || !state_number) continue;
    entries.push_back({.local = *local_place,
                       .remote = *remote_place,
                       .is_listening = *state_number == kListening,
                       .is_connected = *state_number == kEstablished});
  }
  return entries;
}

std::vector<SocketEntry> socket_table() {
  return parse_socket_table(read_all("/proc/net/tcp") + read_all("/proc/net/tcp6"));
}

std::vector<std::string> hosts_connected_to(uint16_t port,
                                            const std::vector<SocketEntry>& sockets) {
  std::set<std::string> hosts;
  for (const SocketEntry& socket : sockets) {
    if (socket.is_connected && socket.local.port == port) hosts.insert(socket.remote.host);
  }
  return {hosts.begin(), hosts.end()};
}

std::vector<std::string> signs_of_mesh(const Environment& environment,
                                       const std::vector<SocketEntry>& sockets) {
  std::vector<std::string> signs;
  for (const MeshPort& known : kMeshPorts) {
    const bool is_there = std::ranges::any_of(sockets, [&](const SocketEntry& socket) {
      return socket.is_listening && socket.local.port == known.port;
    });
    if (is_there) signs.emplace_back(known.owner);
  }
  for (const char* variable : kMeshVariables) {
    if (environment.variable(variable)) signs.push_back("the variable " + std::string(variable));
  }
  return signs;
}

void look_up(std::vector<NameFacts>& names, Duration limit) {
  io::Loop loop;
  io::Resolver resolver(loop);
  size_t open = 0;
  std::vector<io::Lookup> lookups;
  for (NameFacts& name : names) {
    if (const auto address = io::SocketAddress::from_numeric(name.place)) {
      name.addresses.push_back(address->text());
      continue;
    }
    ++open;
    name.error = "no answer in time";
    lookups.push_back(resolver.look_up(name.place, [&](const io::NameAnswer& answer) {
      name.error = answer.error;
      for (const io::SocketAddress& address : answer.addresses) {
        name.addresses.push_back(address.text());
      }
      if (--open == 0) loop.stop();
    }));
  }
  if (open == 0) return;
  io::LoopTimer patience(loop, [&loop] { loop.stop(); });
  patience.arm(limit);
  loop.run();
}

}  // namespace bellwether::doctor
