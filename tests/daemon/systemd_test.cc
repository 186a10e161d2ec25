// The messages to systemd, as a socket of the test receives them.
#include "daemon/systemd.hh"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <filesystem>

using bellwether::daemon::Systemd;

namespace {

class Environment {
 public:
  Environment() { clear(); }
  ~Environment() { clear(); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void clear() {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
    ::unsetenv("WATCHDOG_PID");
    ::unsetenv("STATE_DIRECTORY");
  }
};

// Receives at a name in the abstract namespace, which starts with '@'.
class Receiver {
 public:
  Receiver() : name_("@bellwether-test-" + std::to_string(::getpid())) {
    socket_ = bellwether::io::FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name_.begin() + 1, name_.end(), address.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    BOOST_REQUIRE(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0);
  }
  const std::string& name() const { return name_; }
  std::string receive() const {
    std::array<char, 256> text{};
    const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), 0);
    return size < 0 ? "" : std::string(text.data(), static_cast<size_t>(size));
  }

 private:
  std::string name_;
  bellwether::io::FileDescriptor socket_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(systemd, Environment)

BOOST_AUTO_TEST_CASE(makes_the_state_folders_that_it_names) {
  BOOST_TEST(!Systemd::makes("/var/lib/bellwether"));
  ::setenv("STATE_DIRECTORY", "/var/lib/orders::/var/lib/bellwether", 1);
  for (const char* named : {"/var/lib/bellwether", "/var/lib/./bellwether/", "/var/lib/orders"}) {
    BOOST_TEST(Systemd::makes(named), named);
  }
  for (const char* other : {"/var/lib", "/var/lib/bellwether-2", "/var/lib/bellwether/../other",
                            "/var/lib/orders:", "/", ""}) {
    BOOST_TEST(!Systemd::makes(other), other);
  }
}

BOOST_AUTO_TEST_CASE(lets_the_next_start_make_those_below) {
  ::setenv("STATE_DIRECTORY", "/var/lib/bellwether", 1);
  for (const char* below : {"/var/lib/bellwether/orders", "/var/lib/bellwether/orders/1/"}) {
    BOOST_TEST(Systemd::makes(below), below);
  }
}

BOOST_AUTO_TEST_CASE(is_told_at_its_socket) {
  const Receiver receiver;
  ::setenv("NOTIFY_SOCKET", receiver.name().c_str(), 1);
  const Systemd manager;
  manager.tell("READY=1\nSTATUS=follows orders-2");
  BOOST_TEST(receiver.receive() == "READY=1\nSTATUS=follows orders-2");
}

BOOST_AUTO_TEST_CASE(that_does_not_exist_hears_nothing) {
  const Systemd without;
  without.tell("READY=1");
  ::setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
  const Systemd nowhere;
  nowhere.tell("READY=1");
  BOOST_TEST(!nowhere.watchdog_interval().has_value());
}

BOOST_AUTO_TEST_CASE(is_told_twice_within_its_watchdogs_time) {
  ::setenv("NOTIFY_SOCKET", "@x", 1);
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  BOOST_TEST((Systemd().watchdog_interval() == std::chrono::milliseconds(1500)));
}

BOOST_AUTO_TEST_CASE(is_asked_for_patience_and_told_when_that_is_over) {
  const Receiver receiver;
  ::setenv("NOTIFY_SOCKET", receiver.name().c_str(), 1);
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  const Systemd manager;
  manager.ask_for(std::chrono::minutes(1));
  BOOST_TEST(receiver.receive() == "EXTEND_TIMEOUT_USEC=60000000");
  BOOST_TEST(receiver.receive() == "WATCHDOG_USEC=60000000");
  manager.tell_alive();
  BOOST_TEST(receiver.receive() == "WATCHDOG_USEC=3000000\nWATCHDOG=1");
}

BOOST_AUTO_TEST_CASE(without_a_watchdog_is_not_given_one) {
  const Receiver receiver;
  ::setenv("NOTIFY_SOCKET", receiver.name().c_str(), 1);
  const Systemd manager;
  manager.ask_for(std::chrono::minutes(1));
  manager.tell_alive();
  BOOST_TEST(receiver.receive() == "EXTEND_TIMEOUT_USEC=60000000");
  BOOST_TEST(receiver.receive() == "");
}

BOOST_AUTO_TEST_CASE(with_a_watchdog_for_another_process_is_not_ours) {
  ::setenv("NOTIFY_SOCKET", "@x", 1);
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  BOOST_TEST(!Systemd().watchdog_interval().has_value());
}

BOOST_AUTO_TEST_CASE(with_a_watchdog_that_is_no_number_has_none) {
  ::setenv("NOTIFY_SOCKET", "@x", 1);
  for (const char* text : {"", "0", "-1", "3s", "99999999999999999999999"}) {
    ::setenv("WATCHDOG_USEC", text, 1);
    BOOST_TEST(!Systemd().watchdog_interval().has_value(), text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
