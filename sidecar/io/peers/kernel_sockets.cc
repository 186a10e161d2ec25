// sock_diag(7): one question for one socket, and the kernel's lookup is that for an incoming
// connection, without what stands before it.
#include "io/peers/kernel_sockets.hh"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace bellwether::io {
namespace {

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 about{};
};

// The far end is left open, as only that of a listening socket is.
Question question_of(const SocketAddress& place, uint32_t number) {
  Question question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.header.nlmsg_seq = number;
  inet_diag_req_v2& about = question.about;
  about.sdiag_family = static_cast<uint8_t>(place.family());
  about.sdiag_protocol = IPPROTO_TCP;
  inet_diag_sockid& id = about.id;
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (place.family() == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, place.get(), sizeof ipv4);
    id.idiag_sport = ipv4.sin_port;
    std::memcpy(id.idiag_src, &ipv4.sin_addr, sizeof ipv4.sin_addr);
  } else {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, place.get(), sizeof ipv6);
    id.idiag_sport = ipv6.sin6_port;
    std::memcpy(id.idiag_src, &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
    id.idiag_if = ipv6.sin6_scope_id;
  }
  return question;
}

// The kernel alone can write to a socket that is connected to it.
FileDescriptor connected_to_kernel() {
  FileDescriptor fd(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const bool is_connected =
      fd.is_open() &&
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) == 0;
  return is_connected ? std::move(fd) : FileDescriptor();
}

// What the kernel says to the question with this number.
KernelSockets::Answer answer_in(std::span<const std::byte> message, uint32_t number) {
  using Answer = KernelSockets::Answer;
  nlmsghdr header{};
  if (message.size() < sizeof header) return Answer::kSilent;
  std::memcpy(&header, message.data(), sizeof header);
  if (header.nlmsg_seq != number) return Answer::kSilent;
  if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY) return Answer::kListens;
  nlmsgerr failure{};
  if (header.nlmsg_type != NLMSG_ERROR || message.size() < sizeof header + sizeof failure) {
    return Answer::kSilent;
  }
  std::memcpy(&failure, message.data() + sizeof header, sizeof failure);
  return failure.error == -ENOENT ? Answer::kNobody : Answer::kSilent;
}

}  // namespace

KernelSockets::KernelSockets(const SocketAddress& own) : own_(own), socket_(connected_to_kernel()) {
  if (can_tell() && ask(own_) != Answer::kListens) socket_ = FileDescriptor();
}

KernelSockets::Answer KernelSockets::who_listens(const SocketAddress& place) {
  if (!can_tell() || ask(own_) != Answer::kListens) return Answer::kSilent;
  return ask(place);
}

KernelSockets::Answer KernelSockets::ask(const SocketAddress& place) {
  const Question question = question_of(place, ++asked_);
  if (::send(socket_.get(), &question, sizeof question, 0) != sizeof question) {
    return Answer::kSilent;
  }
  // What is of use comes first.
  std::array<std::byte, 1024> answer{};
  const ssize_t count = ::recv(socket_.get(), answer.data(), answer.size(), 0);
  if (count < 0) return Answer::kSilent;
  return answer_in(std::span(answer).first(static_cast<size_t>(count)), asked_);
}

}  // namespace bellwether::io
