// The worker of ../c/worker.c in C++17: one replica at a time may work, and asks the leader flag
// before every piece of work.
//
//   worker FLAG_FILE NAME [UID]
#include <bellwether/leader_flag.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

volatile std::sig_atomic_t is_asked_to_end = 0;

// An open flag that closes itself.
class LeaderFlag {
 public:
  // Waits for a sidecar that starts later than the application; throws when the file is not a flag.
  LeaderFlag(const char* path, std::optional<uid_t> user) {
    int error = open(path, user);
    while ((error == ENOENT || error == LEADER_FLAG_NOT_READY) && is_asked_to_end == 0) {
      std::this_thread::sleep_for(1ms);
      error = open(path, user);
    }
    if (error != 0 && is_asked_to_end == 0) {
      throw std::runtime_error(std::string(path) + ": " + leader_flag_strerror(error));
    }
  }
  ~LeaderFlag() { leader_flag_close(&flag_); }
  LeaderFlag(const LeaderFlag&) = delete;
  LeaderFlag& operator=(const LeaderFlag&) = delete;

  // The fencing token while this replica leads.
  std::optional<uint64_t> token() const {
    uint64_t epoch = 0;
    if (!leader_flag_is_leader(&flag_, &epoch)) return std::nullopt;
    return epoch;
  }

  // Returns when it leads, or after a second.
  void wait() const {
    leader_flag_snapshot seen;
    leader_flag_read(&flag_, &seen);
    constexpr std::chrono::nanoseconds kPatience = 1s;
    if (seen.role != LEADER_FLAG_LEADER) leader_flag_wait(&flag_, &seen, kPatience.count());
  }

 private:
  int open(const char* path, std::optional<uid_t> user) {
    return user ? leader_flag_open_of(path, *user, &flag_) : leader_flag_open(path, &flag_);
  }

  leader_flag flag_{};
};

void tell(const char* name, const char* what, uint64_t token, uint64_t pieces) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::cout << std::chrono::duration_cast<std::chrono::microseconds>(now).count() << ' ' << name
            << ' ' << what << " token=" << token << " pieces=" << pieces << std::endl;
}

// One piece of work; the pause stands for what an application really does.
void do_a_piece_of_work() { std::this_thread::sleep_for(100us); }

// Works for as long as the flag is on in this epoch; returns the pieces done.
uint64_t work(const LeaderFlag& flag, uint64_t token) {
  uint64_t pieces = 0;
  while (is_asked_to_end == 0 && flag.token() == token) {
    do_a_piece_of_work();
    ++pieces;
  }
  return pieces;
}

void run(const char* path, const char* name, std::optional<uid_t> user) {
  const LeaderFlag flag(path, user);
  while (is_asked_to_end == 0) {
    if (const auto token = flag.token()) {
      tell(name, "works", *token, 0);
      const uint64_t pieces = work(flag, *token);
      tell(name, "stopped", *token, pieces);
    } else {
      flag.wait();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string user_id = argc == 4 ? argv[3] : "0";
  const bool is_number = user_id.find_first_not_of("0123456789") == std::string::npos;
  if ((argc != 3 && argc != 4) || user_id.empty() || !is_number) {
    std::cerr << "usage: worker FLAG_FILE NAME [UID]\n";
    return 2;
  }
  for (const int number : {SIGTERM, SIGINT}) std::signal(number, [](int) { is_asked_to_end = 1; });
  try {
    std::optional<uid_t> user;
    if (argc == 4) user = static_cast<uid_t>(std::stoul(user_id));
    run(argv[1], argv[2], user);
  } catch (const std::exception& error) {
    std::cerr << "worker: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
