// setsockopt(2) and fcntl(2), with our numbers.
#include "io/names/socket_options.hh"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>

namespace bellwether::io {
namespace {

// A probe each second over a silent connection.  Probes end nothing by themselves: what is not
// acknowledged for longer than the user timeout, probe or data, does, with ETIMEDOUT.
constexpr int kProbeAfterSeconds = 1;
constexpr int kProbeIntervalSeconds = 1;

// As much as the kernel takes beyond what the peer's window lets out; without a limit it buffers
// megabytes, in which heartbeats grow old.
constexpr unsigned kUnsentBytesInKernel = 4096;

// More than all connections and files of this process.
constexpr rlim_t kHighDescriptor = 4000;
// How far below the limit of open files, where that is lower.
constexpr rlim_t kDescriptorsAbove = 16;

template <typename Value>
void set_option(int fd, int level, int option, Value value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

}  // namespace

void probe_silence(int fd) {
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kProbeAfterSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kProbeIntervalSeconds);
}

void prepare_peer_socket(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  probe_silence(fd);
  set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kUnsentBytesInKernel);
}

void set_user_timeout(int fd, Duration unacknowledged) {
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(unacknowledged);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<unsigned>(timeout.count()));
}

void keep_network_errors(int fd, bool are_kept) {
  const int value = are_kept ? 1 : 0;
  set_option(fd, IPPROTO_IP, IP_RECVERR, value);
  set_option(fd, IPPROTO_IPV6, IPV6_RECVERR, value);  // fails on a socket of IPv4
}

bool was_refused_by_network(int fd) {
  msghdr message{};
  return ::recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0;
}

bool is_connected_to_itself(int fd) {
  const auto here = SocketAddress::local_of(fd);
  return here && here == SocketAddress::remote_of(fd);
}

// Datagrams are connected without one being sent.
bool is_of_this_host(const SocketAddress& address) {
  const FileDescriptor fd(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open() || ::connect(fd.get(), address.get(), sizeof(sockaddr_in6)) != 0) return false;
  const auto here = SocketAddress::local_of(fd.get());
  return here && here->with_port(address.port()) == address;
}

void abort_on_close(int fd) {
  set_option(fd, SOL_SOCKET, SO_LINGER, linger{.l_onoff = 1, .l_linger = 0});
}

FileDescriptor move_to_high_descriptor(FileDescriptor fd) {
  rlimit limit{};
  rlim_t lowest = kHighDescriptor;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const rlim_t highest =
        limit.rlim_cur > kDescriptorsAbove ? limit.rlim_cur - kDescriptorsAbove : 0;
    lowest = std::min(lowest, highest);
  }
  FileDescriptor high(::fcntl(fd.get(), F_DUPFD_CLOEXEC, static_cast<int>(lowest)));
  return high.is_open() ? std::move(high) : std::move(fd);
}

}  // namespace bellwether::io
