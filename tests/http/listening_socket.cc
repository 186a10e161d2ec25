// Plain sockets, as raw_client.cc has them for the other side.
#include "listening_socket.hh"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <boost/test/unit_test.hpp>

#include "http_harness.hh"

namespace bellwether::io::test {

ListeningSocket::ListeningSocket()
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in address{.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  BOOST_REQUIRE(::bind(socket_.get(), plain, size) == 0);
  BOOST_REQUIRE(::listen(socket_.get(), 8) == 0);
  BOOST_REQUIRE(::getsockname(socket_.get(), plain, &size) == 0);
  port_ = ntohs(address.sin_port);
}

FileDescriptor ListeningSocket::accepted(Loop& loop) const {
  FileDescriptor client;
  BOOST_REQUIRE(run_until(loop, [&] {
    client = FileDescriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return client.is_open();
  }));
  return client;
}

// With bytes unread it would be a reset.
void ListeningSocket::hang_up_once(Loop& loop) const {
  const FileDescriptor client = accepted(loop);
  std::array<char, 4096> buffer{};
  BOOST_REQUIRE(run_until(
      loop, [&] { return ::recv(client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0; }));
}

FileDescriptor ListeningSocket::answer_and_keep(Loop& loop, const std::string& answer) const {
  FileDescriptor client = accepted(loop);
  std::string request;
  BOOST_REQUIRE(run_until(loop, [&] {
    std::array<char, 4096> buffer{};
    const ssize_t bytes = ::recv(client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (bytes > 0) request.append(buffer.data(), static_cast<size_t>(bytes));
    return request.find("\r\n\r\n") != std::string::npos;
  }));
  BOOST_REQUIRE(::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(answer.size()));
  return client;
}

}  // namespace bellwether::io::test
