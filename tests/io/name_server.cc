// As much of RFC 1035 as one question and its answer take.
#include "name_server.hh"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/check.hh"

namespace bellwether::io::test {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kHeaderBytes = 12;
constexpr uint16_t kTypeIpv4 = 1;
constexpr uint16_t kTypeIpv6 = 28;
constexpr uint16_t kTypeService = 33;
constexpr uint8_t kServerFailure = 2;
constexpr uint8_t kNoSuchName = 3;

void append16(Bytes& bytes, uint16_t value) {
  bytes.push_back(static_cast<uint8_t>(value >> 8));
  bytes.push_back(static_cast<uint8_t>(value));
}

void append_name(Bytes& bytes, const std::string& name) {
  size_t start = 0;
  while (start < name.size()) {
    const size_t end = std::min(name.find('.', start), name.size());
    bytes.push_back(static_cast<uint8_t>(end - start));
    for (size_t i = start; i < end; ++i) bytes.push_back(static_cast<uint8_t>(name[i]));
    start = end + 1;
  }
  bytes.push_back(0);
}

// Moves `place` behind the name.
std::string read_name(const Bytes& bytes, size_t& place) {
  std::string name;
  while (const uint8_t length = bytes.at(place++)) {
    if (!name.empty()) name += '.';
    for (int i = 0; i < length; ++i) name += static_cast<char>(bytes.at(place++));
  }
  return name;
}

}  // namespace

NameServer::NameServer(Loop& loop)
    : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "listens");
  poll_ = make_handle(loop.uv(), this, uv_poll_init_socket, fd_);
  uv_poll_start(poll_.get(), UV_READABLE, [](uv_poll_t* poll, int, int) {
    static_cast<NameServer*>(poll->data)->on_ready();
  });
}

NameServer::~NameServer() {
  poll_.reset();
  ::close(fd_);
}

std::string NameServer::servers() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

void NameServer::add_ipv4(const std::string& name, const std::string& address,
                          uint32_t ttl_seconds) {
  Bytes data(sizeof(in_addr));
  check(::inet_pton(AF_INET, address.c_str(), data.data()) == 1, "an address");
  records_[name].push_back({kTypeIpv4, ttl_seconds, data});
}

void NameServer::add_ipv6(const std::string& name, const std::string& address,
                          uint32_t ttl_seconds) {
  Bytes data(sizeof(in6_addr));
  check(::inet_pton(AF_INET6, address.c_str(), data.data()) == 1, "an address");
  records_[name].push_back({kTypeIpv6, ttl_seconds, data});
}

void NameServer::add_service(const std::string& name, const std::string& host, uint16_t port) {
  Bytes data;
  append16(data, 10);  // priority
  append16(data, 0);   // weight
  append16(data, port);
  append_name(data, host);
  records_[name].push_back({kTypeService, 300, data});
}

void NameServer::remove(const std::string& name) { records_.erase(name); }

int NameServer::questions(const std::string& name) const {
  const auto count = questions_.find(name);
  return count == questions_.end() ? 0 : count->second;
}

void NameServer::on_ready() {
  std::array<uint8_t, 512> buffer{};
  sockaddr_in from{};
  socklen_t size = sizeof from;
  while (true) {
    const ssize_t count =
        ::recvfrom(fd_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (count < static_cast<ssize_t>(kHeaderBytes)) return;
    const Bytes reply = reply_to(Bytes(buffer.begin(), buffer.begin() + count));
    if (is_silent_) continue;
    ::sendto(fd_, reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&from), size);
  }
}

NameServer::Bytes NameServer::reply_to(const Bytes& question) {
  size_t end = kHeaderBytes;
  const std::string name = read_name(question, end);
  const auto type = static_cast<uint16_t>(question.at(end) << 8 | question.at(end + 1));
  end += 4;
  if (type == kTypeIpv4) ++questions_[name];

  const auto found = records_.find(name);
  uint16_t answers = 0;
  Bytes records;
  if (found != records_.end() && !is_failing_) {
    for (const Record& record : found->second) {
      if (record.type != type) continue;
      ++answers;
      append16(records, 0xc000 | kHeaderBytes);  // the name in the question
      append16(records, type);
      append16(records, 1);
      append16(records, static_cast<uint16_t>(record.ttl_seconds >> 16));
      append16(records, static_cast<uint16_t>(record.ttl_seconds));
      append16(records, static_cast<uint16_t>(record.data.size()));
      records.insert(records.end(), record.data.begin(), record.data.end());
    }
  }
  uint8_t status = found == records_.end() ? kNoSuchName : 0;
  if (is_failing_) status = kServerFailure;
  Bytes reply{question[0], question[1], 0x85, static_cast<uint8_t>(0x80 | status), 0, 1};
  append16(reply, answers);
  append16(reply, 0);
  append16(reply, 0);
  reply.insert(reply.end(), question.begin() + kHeaderBytes,
               question.begin() + static_cast<ptrdiff_t>(end));
  reply.insert(reply.end(), records.begin(), records.end());
  return reply;
}

}  // namespace bellwether::io::test
