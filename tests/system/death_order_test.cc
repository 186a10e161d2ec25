// A process that dies tells its peers before anything else could: their connections end.  So its
// flag must be off by then, and this is asked 500 times: a peer that holds a TCP connection to the
// flag's holder reads the flag as soon as it sees the connection end, and must not read "leader".
//
// The flags here are valid for an hour, so nothing but the kernel's mark on the robust futex can
// switch them off.  The last case has a holder without one, and shows that the check can fail.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "flag_harness.hh"
#include "io/flag/flag_file.hh"
#include "io/flag/flag_writer.hh"
#include "io/flag/memory_keeper.hh"
#include "io/loop/files.hh"

extern char** environ;

namespace bellwether::io::test {
namespace {

namespace fs = std::filesystem;

constexpr int kKills = 500;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSidecarKills = 20;  // they start slowly
#else
constexpr int kSidecarKills = 100;
#endif
constexpr int kMemoryKills = 20;
constexpr int kUnmarkedKills = 5;
constexpr size_t kMemoryLimitBytes = 32 << 20;
constexpr size_t kPageBytes = 4096;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Listens on a port that the kernel chooses.  Nothing but system calls: the holders inherit it.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    BOOST_REQUIRE(::bind(socket_.get(), generic, length) == 0);
    BOOST_REQUIRE(::listen(socket_.get(), 1) == 0);
    BOOST_REQUIRE(::getsockname(socket_.get(), generic, &length) == 0);
    port_ = ntohs(address.sin_port);
  }

  uint16_t port() const { return port_; }
  int accept() const { return ::accept(socket_.get(), nullptr, nullptr); }

 private:
  FileDescriptor socket_;
  uint16_t port_ = 0;
};

// The peer's end of a connection to the holder of a flag.
class Peer {
 public:
  explicit Peer(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = loopback(port);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    BOOST_REQUIRE(::connect(socket_.get(), generic, sizeof address) == 0);
  }

  void say(std::string_view words) const {
    BOOST_REQUIRE(::send(socket_.get(), words.data(), words.size(), MSG_NOSIGNAL) ==
                  static_cast<ssize_t>(words.size()));
  }

  // Whoever answers has accepted the connection: it is the process that ends it.
  void await_answer() const {
    std::array<char, 1 << 14> answer{};
    BOOST_REQUIRE(::recv(socket_.get(), answer.data(), answer.size(), 0) > 0);
  }

  // Looks again and again, so as to see the end (FIN or RST) as early as anybody could.
  void await_end() const {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    std::array<char, 1 << 14> rest{};
    for (;;) {
      const ssize_t count = ::recv(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return;
      if (std::chrono::steady_clock::now() > deadline) BOOST_FAIL("the connection does not end");
    }
  }

 private:
  FileDescriptor socket_;
};

// ---- The holders. ----

// The sidecar's own writer; the memory is kept, too, or the connection would end later.
void hold_flag(const fs::path& path, uint64_t epoch) {
  static const MemoryKeeper keeper;
  static std::optional<FlagWriter> writer;
  writer.emplace(FlagFileSettings{.path = path});
  writer->publish(leading(epoch));
}

// A holder that writes its thread into the line, as it should, but not the list for the kernel.
void hold_flag_unmarked(const fs::path& path, uint64_t epoch) {
  static std::optional<FlagFile> file;
  file.emplace(FlagFileSettings{.path = path});
  leader_flag_line& line = file->page().line;
  uint64_t boot_id_hash = 0;
  leader_flag_boot_id_hash(&boot_id_hash);
  const auto for_ever = static_cast<uint64_t>(from_now(1h).time_since_epoch().count());
  write_flag_line(line, {.role = LEADER_FLAG_LEADER, .epoch = epoch, .leader = id_of(epoch)},
                  for_ever, boot_id_hash);
  line.owner = static_cast<uint32_t>(::syscall(SYS_gettid));
}

// Accepts the peer, and says so; returns when the peer has answered.
void serve(const Listener& listener) {
  const int peer = listener.accept();
  char word = '!';
  if (::send(peer, &word, 1, MSG_NOSIGNAL) != 1 || ::recv(peer, &word, 1, 0) != 1) ::_exit(1);
}

void touch_memory_for_ever() {
  for (;;) {
    void* const page =
        ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) ::_exit(1);
    std::memset(page, 1, kPageBytes);
  }
}

// ---- A cgroup with little memory, made for one test. ----

class MemoryGroup {
 public:
  // nullptr where none can be made: `reason` says why.
  static std::unique_ptr<MemoryGroup> make(std::string& reason) {
    // The older interface first: where both are mounted, the controller belongs to it.
    for (const auto& [parent, limit] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                                        std::pair{"/sys/fs/cgroup", "memory.max"}}) {
      const fs::path folder = fs::path(parent) / ("bellwether-test-" + std::to_string(::getpid()));
      std::error_code error;
      if (!fs::create_directory(folder, error)) {
        reason = folder.string() + " cannot be made: " + error.message();
        continue;
      }
      auto group = std::unique_ptr<MemoryGroup>(new MemoryGroup(folder));
      if (fs::exists(folder / limit) && group->write(limit, kMemoryLimitBytes)) return group;
      reason = folder.string() + " cannot limit memory";
    }
    return nullptr;
  }

  ~MemoryGroup() {
    await_empty();
    BOOST_CHECK(::rmdir(folder_.c_str()) == 0);
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  // Who shared a dead process's memory may give it back for a moment longer.
  void await_empty() const {
    BOOST_CHECK(eventually([this] {
      std::ifstream processes(folder_ / "cgroup.procs");
      return processes.peek() == std::ifstream::traits_type::eof();
    }));
  }
  bool join() const { return write("cgroup.procs", static_cast<size_t>(::getpid())); }

 private:
  explicit MemoryGroup(fs::path folder) : folder_(std::move(folder)) {}

  bool write(const char* file, size_t value) const {
    std::ofstream out(folder_ / file);
    out << value << std::flush;
    return out.good();
  }

  fs::path folder_;
};

// ---- A whole sidecar, alone in its group. ----

// Ports that no other test has, nor the kernel gives to who connects, as own_ports() in ports.py
// has them: free again whenever the sidecar is dead.  Names are taken within one type of sockets.
class PortBlock {
 public:
  PortBlock() : holder_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    uint16_t first_ephemeral = 0;
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first_ephemeral;
    for (; first_ + kPorts < first_ephemeral; first_ += kPorts) {
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      const std::string text = "bellwether-test-ports-" + std::to_string(first_);
      text.copy(name.sun_path + 1, text.size());
      const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
      if (::bind(holder_.get(), reinterpret_cast<sockaddr*>(&name), length) == 0) return;
    }
    BOOST_FAIL("every block of ports is in use by a test");
  }

  std::string place(uint16_t index) const {
    return "\"127.0.0.1:" + std::to_string(port(index)) + "\"";
  }
  uint16_t port(uint16_t index) const { return static_cast<uint16_t>(first_ + index); }

 private:
  static constexpr uint16_t kPorts = 64;

  FileDescriptor holder_;
  uint16_t first_ = 10000;
};

class LoneSidecar {
 public:
  explicit LoneSidecar(const fs::path& folder)
      : config_(folder / "config.toml"), log_(folder / "log") {
    std::ofstream(config_) << "[group]\nname = \"death\"\n[node]\nname = \"n0\"\nlisten = "
                           << ports_.place(0) << "\nstate_dir = \"" << (folder / "state").string()
                           << "\"\n[membership]\npeers = []\n[metrics]\nlisten = \"\"\n"
                           << "[api]\nlisten = " << ports_.place(1) << "\nsocket = \""
                           << (folder / "api.sock").string() << "\"\n[flag]\npath = \""
                           << (folder / "flag").string() << "\"\n";
  }
  ~LoneSidecar() { kill(); }
  LoneSidecar(const LoneSidecar&) = delete;
  LoneSidecar& operator=(const LoneSidecar&) = delete;

  uint16_t api_port() const { return ports_.port(1); }

  // All that it has logged, for the report of a test that failed.
  std::string said() const {
    std::ifstream in(log_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void start() {
    std::array<std::string, 4> words{BELLWETHER_PROGRAM, "run", "--config", config_};
    std::array<char*, 5> arguments{words[0].data(), words[1].data(), words[2].data(),
                                   words[3].data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    const int error =
        ::posix_spawn(&id_, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    BOOST_REQUIRE_EQUAL(error, 0);
  }

  // SIGKILL; does not wait.
  void kill_only() const { ::kill(id_, SIGKILL); }

  void kill() {
    if (id_ <= 0) return;
    kill_only();
    ::waitpid(id_, nullptr, 0);
    id_ = 0;
  }

 private:
  std::string config_;
  std::string log_;
  PortBlock ports_;
  pid_t id_ = 0;
};

// How often the flag of a killed holder still read "leader" when its connection had ended.
using Hold = void (*)(const fs::path& path, uint64_t epoch);
int count_late_flags(Hold hold, int kills) {
  const ScratchFolder folder;
  make_flag(folder.file());
  const Reader reader(folder.file());
  int late = 0;
  for (uint64_t epoch = 1; epoch <= static_cast<uint64_t>(kills); ++epoch) {
    auto listener = std::make_unique<Listener>();
    const Child child([&] {
      hold(folder.file(), epoch);
      serve(*listener);
    });
    const Peer peer(listener->port());
    listener.reset();  // from here on it is the child's alone
    peer.await_answer();
    BOOST_REQUIRE(reader.epoch() == epoch);
    child.kill();
    peer.await_end();
    late += reader.is_leader();
  }
  return late;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(death_order)

BOOST_AUTO_TEST_CASE(who_sees_a_killed_holders_connection_end_never_reads_leader) {
  BOOST_TEST(count_late_flags(&hold_flag, kKills) == 0);
}

BOOST_AUTO_TEST_CASE(who_sees_a_killed_sidecars_connection_end_never_reads_leader) {
  const ScratchFolder folder;
  make_flag(folder.file());
  const Reader reader(folder.file());
  LoneSidecar sidecar(folder.path());
  for (int kill = 0; kill < kSidecarKills; ++kill) {
    sidecar.start();
    if (!eventually([&] { return reader.is_leader(); })) BOOST_FAIL(sidecar.said());
    const Peer peer(sidecar.api_port());
    peer.say("GET /v1/leader HTTP/1.1\r\nHost: localhost\r\n\r\n");
    peer.await_answer();
    if (!eventually([&] { return reader.is_leader(); })) BOOST_FAIL(sidecar.said());
    sidecar.kill_only();
    peer.await_end();
    BOOST_REQUIRE(!reader.is_leader());
    sidecar.kill();
  }
}

// Under memory pressure the kernel takes a dying process's memory before it looks at its futexes.
BOOST_AUTO_TEST_CASE(who_sees_the_connection_of_a_holder_without_memory_end_never_reads_leader) {
  std::string reason;
  const std::unique_ptr<MemoryGroup> group = MemoryGroup::make(reason);
  if (!group) {
    std::cout << "cannot be judged here: there is no memory cgroup: " << reason << "\n";
    return;
  }
  const ScratchFolder folder;
  make_flag(folder.file());
  const Reader reader(folder.file());
  for (uint64_t epoch = 1; epoch <= kMemoryKills; ++epoch) {
    auto listener = std::make_unique<Listener>();
    Child child([&] {
      if (!group->join()) ::_exit(1);
      hold_flag(folder.file(), epoch);
      serve(*listener);
      touch_memory_for_ever();
    });
    const Peer peer(listener->port());
    listener.reset();
    peer.await_answer();
    BOOST_REQUIRE(reader.epoch() == epoch);
    peer.say("!");
    peer.await_end();
    BOOST_REQUIRE(!reader.is_leader());
    BOOST_REQUIRE(child.wait() < 0);  // it was killed, and by nobody here
    group->await_empty();
  }
}

BOOST_AUTO_TEST_CASE(a_holder_without_the_kernels_mark_is_caught) {
  BOOST_TEST(count_late_flags(&hold_flag_unmarked, kUnmarkedKills) == kUnmarkedKills);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
