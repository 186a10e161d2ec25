// c-ares on the loop: it says which sockets it waits for and until when; the loop says when they
// are ready.
#include <ares.h>

#include <chrono>
#include <stdexcept>
#include <system_error>

#include "io/names/resolver.hh"

namespace bellwether {
namespace {

// Per server; every further round waits twice as long.
constexpr int kTimeoutMs = 1000;
constexpr int kTries = 3;

void throw_on_failure(int status, const char* what) {
  if (status == ARES_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": " + ares_strerror(status));
}

// Once per process, before anything else of c-ares.
void prepare_library() {
  static const int kStatus = ares_library_init(ARES_LIB_INIT_ALL);
  throw_on_failure(kStatus, "cannot prepare c-ares");
}

}  // namespace

void Resolver::open_channel() {
  prepare_library();
  ares_options options{};
  options.timeout = kTimeoutMs;
  options.tries = kTries;
  options.sock_state_cb_data = this;
  options.sock_state_cb = [](void* resolver, ares_socket_t fd, int is_reading, int is_writing) {
    static_cast<Resolver*>(resolver)->watch(fd, is_reading != 0, is_writing != 0);
  };
  throw_on_failure(ares_init_options(&channel_, &options,
                                     ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB),
                   "cannot prepare name resolution");
  is_channel_stale_ = false;
  if (settings_.servers.empty()) return;
  const int status = ares_set_servers_ports_csv(channel_, settings_.servers.c_str());
  if (status == ARES_SUCCESS) return;
  close_channel();
  throw_on_failure(status, "the list of name servers is of no use");
}

void Resolver::close_channel() {
  if (channel_ != nullptr) ares_destroy(channel_);
  channel_ = nullptr;
}

void Resolver::watch(int fd, bool is_reading, bool is_writing) {
  if (!is_reading && !is_writing) return void(polls_.erase(fd));
  auto poll = polls_.find(fd);
  if (poll == polls_.end()) {
    try {
      poll = polls_
                 .emplace(fd, make_handle<uv_poll_t>(this,
                                                     [&](uv_poll_t* handle) {
                                                       return uv_poll_init_socket(loop_.uv(),
                                                                                  handle, fd);
                                                     }))
                 .first;
    } catch (const std::system_error&) {
      return;  // the query runs into its timeout
    }
  }
  const int events = (is_reading ? UV_READABLE : 0) | (is_writing ? UV_WRITABLE : 0);
  uv_poll_start(poll->second.get(), events, [](uv_poll_t* handle, int status, int ready) {
    uv_os_fd_t ready_fd = -1;
    uv_fileno(reinterpret_cast<uv_handle_t*>(handle), &ready_fd);
    // After an error c-ares shall see it itself, whichever way it looks.
    const bool is_readable = status != 0 || (ready & UV_READABLE) != 0;
    const bool is_writable = status != 0 || (ready & UV_WRITABLE) != 0;
    static_cast<Resolver*>(handle->data)
        ->process(is_readable ? ready_fd : ARES_SOCKET_BAD,
                  is_writable ? ready_fd : ARES_SOCKET_BAD);
  });
}

void Resolver::process(int readable_fd, int writable_fd) {
  ares_process_fd(channel_, readable_fd, writable_fd);
  arm_timeout();
}

void Resolver::arm_timeout() {
  timeval left{};
  if (ares_timeout(channel_, nullptr, &left) == nullptr) return timeout_.disarm();
  timeout_.arm(std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec));
}

}  // namespace bellwether
