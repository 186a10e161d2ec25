// The questions, and c-ares on the loop.
#include "io/names/resolver.hh"

#include <ares.h>
#include <arpa/nameser.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace bellwether::io {

// What c-ares gives back with an answer.
struct Resolver::Query {
  Resolver* resolver = nullptr;
  uint64_t id = 0;    // of the question
  uint16_t port = 0;  // for the addresses
};

namespace {

template <typename Type>
Duration shortest(Duration so_far, const Type* records, int Type::*time_to_live,
                  Type* Type::*next) {
  for (const Type* record = records; record != nullptr; record = record->*next) {
    so_far = std::min<Duration>(so_far, std::chrono::seconds(record->*time_to_live));
  }
  return so_far;
}

// That of a server is worth another try with the servers that are configured by then.
bool is_servers_fault(int status) {
  return status == ARES_ETIMEOUT || status == ARES_ECONNREFUSED || status == ARES_ESERVFAIL ||
         status == ARES_EREFUSED;
}

// A word about the name, and not about the servers.
bool is_answer(int status) {
  return status == ARES_SUCCESS || status == ARES_ENOTFOUND || status == ARES_ENODATA;
}

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

Lookup::~Lookup() {
  if (resolver_ != nullptr) resolver_->forget(id_);
}

Lookup::Lookup(Lookup&& other) noexcept
    : resolver_(std::exchange(other.resolver_, nullptr)), id_(other.id_) {}

Lookup& Lookup::operator=(Lookup&& other) noexcept {
  std::swap(resolver_, other.resolver_);
  std::swap(id_, other.id_);
  return *this;
}

Resolver::Resolver(Loop& loop, ResolverSettings settings)
    : loop_(loop),
      settings_(std::move(settings)),
      timeout_(loop, [this] { process(ARES_SOCKET_BAD, ARES_SOCKET_BAD); }),
      delivery_(loop, [this] { deliver(); }) {
  open_channel();
}

Resolver::~Resolver() {
  for (auto& [id, question] : questions_) question.on_answer = nullptr;
  close_channel();
}

Lookup Resolver::look_up(const HostPort& place, OnAnswer on_answer) {
  if (is_channel_stale_ && open_queries_ == 0) {
    close_channel();
    open_channel();
  }
  const uint64_t id = ++last_id_;
  questions_[id] = {.on_answer = std::move(on_answer), .answer = {.time_to_live = Duration::max()}};
  if (place.host.starts_with('_')) {
    ask_services(id, place.host);
  } else {
    ask_addresses(id, place.host, place.port);
  }
  arm_timeout();
  return {*this, id};
}

void Resolver::forget(uint64_t id) {
  const auto question = questions_.find(id);
  if (question != questions_.end()) question->second.on_answer = nullptr;
}

void Resolver::ask_addresses(uint64_t id, const std::string& host, uint16_t port) {
  ++open_queries_;
  ++questions_[id].open_queries;
  ares_addrinfo_hints hints{};
  hints.ai_flags = ARES_AI_NOSORT;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  auto query = std::make_unique<Query>(Query{this, id, port});
  ares_getaddrinfo(
      channel_, host.c_str(), nullptr, &hints,
      [](void* raw_query, int status, int, ares_addrinfo* found) {
        const std::unique_ptr<Query> ended(static_cast<Query*>(raw_query));
        ended->resolver->on_addresses(*ended, status, found);
      },
      query.release());
}

void Resolver::ask_services(uint64_t id, const std::string& service) {
  ++open_queries_;
  ++questions_[id].open_queries;
  auto query = std::make_unique<Query>(Query{this, id, 0});
  ares_search(
      channel_, service.c_str(), ns_c_in, ns_t_srv,
      [](void* raw_query, int status, int, unsigned char* reply, int size) {
        const std::unique_ptr<Query> ended(static_cast<Query*>(raw_query));
        ended->resolver->on_services(*ended, status, reply, size);
      },
      query.release());
}

void Resolver::on_addresses(const Query& query, int status, ares_addrinfo* found) {
  if (status == ARES_SUCCESS) {
    NameAnswer& answer = questions_[query.id].answer;
    answer.time_to_live = shortest(answer.time_to_live, found->nodes, &ares_addrinfo_node::ai_ttl,
                                   &ares_addrinfo_node::ai_next);
    answer.time_to_live = shortest(answer.time_to_live, found->cnames, &ares_addrinfo_cname::ttl,
                                   &ares_addrinfo_cname::next);
    for (const ares_addrinfo_node* node = found->nodes; node != nullptr; node = node->ai_next) {
      const auto address = SocketAddress::from(*node->ai_addr);
      const bool has_room = answer.addresses.size() < NameAnswer::kMaxAddresses;
      if (address && has_room) answer.addresses.push_back(address->with_port(query.port));
    }
    ares_freeaddrinfo(found);
  }
  end_query(query.id, status);
}

void Resolver::on_services(const Query& query, int status, const unsigned char* reply, int size) {
  ares_srv_reply* services = nullptr;
  if (status == ARES_SUCCESS) status = ares_parse_srv_reply(reply, size, &services);
  size_t room = NameAnswer::kMaxAddresses;
  for (const ares_srv_reply* service = services; service != nullptr; service = service->next) {
    // The host "." means that there is no such service.
    const std::string host = service->host;
    if (!host.empty() && room-- > 0) ask_addresses(query.id, host, service->port);
    if (room == 0) break;
  }
  if (services != nullptr) ares_free_data(services);
  end_query(query.id, status);
}

void Resolver::end_query(uint64_t id, int status) {
  --open_queries_;
  if (status == ARES_EDESTRUCTION) return;
  is_channel_stale_ = is_channel_stale_ || is_servers_fault(status);
  Question& question = questions_[id];
  if (status != ARES_SUCCESS) question.answer.error = ares_strerror(status);
  question.answer.is_certain = question.answer.is_certain && is_answer(status);
  if (--question.open_queries > 0) return;
  answered_.push_back(id);
  delivery_.arm(Duration::zero());
}

void Resolver::deliver() {
  for (const uint64_t id : std::exchange(answered_, {})) {
    // Taken out first: whoever is told may ask again.
    Question question = std::move(questions_.extract(id).mapped());
    NameAnswer& answer = question.answer;
    std::ranges::sort(answer.addresses);
    answer.addresses.erase(std::unique(answer.addresses.begin(), answer.addresses.end()),
                           answer.addresses.end());
    if (answer.addresses.empty() && answer.error.empty()) answer.error = "there is no address";
    if (!answer.addresses.empty()) answer.error.clear();  // that of one host of a service
    if (question.on_answer) question.on_answer(answer);
  }
}

// --- c-ares on the loop: it says which sockets it waits for and until when ---

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
      poll = polls_.emplace(fd, make_handle(loop_.uv(), this, uv_poll_init_socket, fd)).first;
    } catch (const std::system_error&) {
      return;  // the query runs into its timeout
    }
  }
  const int events = (is_reading ? UV_READABLE : 0) | (is_writing ? UV_WRITABLE : 0);
  uv_poll_start(poll->second.get(), events, [](uv_poll_t* handle, int status, int ready) {
    const int ready_fd = descriptor_of(*handle);
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

}  // namespace bellwether::io
