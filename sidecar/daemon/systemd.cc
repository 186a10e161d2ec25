// An address that starts with '@' is in the abstract namespace: its first byte is 0.
#include "daemon/systemd.hh"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/ascii.hh"

namespace bellwether::daemon {
namespace {

std::optional<uint64_t> number_in_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return parse_number<uint64_t>(text);
}

io::FileDescriptor connect_to(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof(address.sun_path)) return io::FileDescriptor();
  std::copy(path.begin(), path.end(), address.sun_path);
  if (path.front() == '@') address.sun_path[0] = '\0';
  io::FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return io::FileDescriptor();
  }
  return socket;
}

}  // namespace

Systemd::Systemd() {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr) return;
  socket_ = connect_to(path);
  const auto watchdog_us = number_in_environment("WATCHDOG_USEC");
  const auto watchdog_pid = number_in_environment("WATCHDOG_PID");
  const bool is_meant = !watchdog_pid || *watchdog_pid == static_cast<uint64_t>(::getpid());
  constexpr uint64_t kLongest = uint64_t{24} * 3600 * 1'000'000;
  if (!watchdog_us || *watchdog_us == 0 || !is_meant) return;
  watchdog_ = std::chrono::microseconds(std::min(*watchdog_us, kLongest));
}

bool Systemd::makes(const std::filesystem::path& folder) {
  const char* const list = std::getenv("STATE_DIRECTORY");
  if (list == nullptr) return false;
  const auto plain = [](const std::filesystem::path& path) {
    return (path / "").lexically_normal().string();  // ends with a slash
  };
  std::istringstream folders(list);
  for (std::string each; std::getline(folders, each, ':');) {
    if (!each.empty() && plain(folder).starts_with(plain(each))) return true;
  }
  return false;
}

// Twice as often, as systemd's own documentation advises.
std::optional<Duration> Systemd::watchdog_interval() const {
  if (!watchdog_) return std::nullopt;
  return *watchdog_ / 2;
}

void Systemd::ask_for(Duration patience) const {
  const auto us = std::chrono::ceil<std::chrono::microseconds>(patience).count();
  tell("EXTEND_TIMEOUT_USEC=" + std::to_string(us));
  // Where there is none this would make one.
  if (watchdog_) tell("WATCHDOG_USEC=" + std::to_string(us));
}

void Systemd::tell_alive() const {
  if (!watchdog_) return;
  tell("WATCHDOG_USEC=" + std::to_string(watchdog_->count()) + "\nWATCHDOG=1");
}

void Systemd::tell(std::string_view message) const {
  if (!socket_.is_open()) return;
  const auto sent = ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
  static_cast<void>(sent);  // the manager has its own timeouts
}

}  // namespace bellwether::daemon
