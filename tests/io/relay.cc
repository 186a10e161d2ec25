// Bytes from one socket to the other, in turns.
#include "relay.hh"

#include <sys/socket.h>

#include <chrono>
#include <system_error>

namespace bellwether::io::test {
namespace {

// Returns false when one of them has ended.
bool pass(RawSocket& from, size_t& passed, const RawSocket& to) {
  const bool has_ended = from.has_ended();
  const Bytes& all = from.received();
  const size_t left = all.size() - passed;
  if (left > 0) {
    const ssize_t count = ::send(to.fd(), all.data() + passed, left, MSG_NOSIGNAL);
    if (count < 0) return false;
    passed += static_cast<size_t>(count);
  }
  return !has_ended;
}

}  // namespace

Relay::Relay(uint16_t target) : target_(target), thread_([this] { run(); }) {}

void Relay::end() {
  if (!thread_.joinable()) return;
  is_over_ = true;
  thread_.join();
  listener_.reset();
  held_.emplace(place_);
  carried_.clear();
}

void Relay::run() {
  while (!is_over_) {
    while (auto here = listener_->accept()) {
      try {
        carried_.push_back({.here = std::move(*here), .there = RawSocket(target_)});
      } catch (const std::system_error&) {
        // Nobody listens there: the connection was taken, and ends.
      }
    }
    std::erase_if(carried_, [](Carried& carried) {
      return !pass(carried.here, carried.passed_there, carried.there) ||
             !pass(carried.there, carried.passed_here, carried.here);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace bellwether::io::test
