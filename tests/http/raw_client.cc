// Plain sockets.
#include "raw_client.hh"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>

namespace bellwether::io::test {

size_t count(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

RawClient::RawClient(uint16_t port, int receive_bytes)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_bytes > 0) {
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
  }
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
                0);
}

RawClient::RawClient(uint16_t port, const char* from)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{.sin_family = AF_INET};
  BOOST_REQUIRE(::inet_pton(AF_INET, from, &address.sin_addr) == 1);
  BOOST_REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
                0);
}

RawClient::RawClient(const std::string& socket_path)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{.sun_family = AF_UNIX};
  socket_path.copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
  BOOST_REQUIRE(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
                0);
}

void RawClient::send(std::string_view bytes) const {
  const ssize_t sent =
      ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  BOOST_REQUIRE(sent == static_cast<ssize_t>(bytes.size()));
}

size_t RawClient::send_some(std::string_view bytes) const {
  const ssize_t sent =
      ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent > 0 ? static_cast<size_t>(sent) : 0;
}

const std::string& RawClient::received() {
  receive();
  return received_;
}

bool RawClient::has_ended() {
  receive();
  return has_ended_;
}

void RawClient::end_sending() const { ::shutdown(socket_.get(), SHUT_WR); }

void RawClient::close() { socket_ = FileDescriptor(); }

void RawClient::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close();
}

void RawClient::receive() {
  std::array<char, 65536> buffer{};
  while (!has_ended_) {
    const ssize_t bytes = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (bytes > 0) {
      received_.append(buffer.data(), static_cast<size_t>(bytes));
    } else if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    } else {
      is_reset_ = bytes < 0;
      has_ended_ = true;
    }
  }
}

}  // namespace bellwether::io::test
