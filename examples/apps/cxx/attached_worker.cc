// The worker of ../c/attached_worker.c in C++17: attached to its sidecar, it says what it is worth,
// works in units that it begins only while its flag covers them, and finishes what it has begun
// before its node hands over, or itself is asked to end.
//
//   attached_worker FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]
//
// Where the API asks for a token, the file in the environment's BELLWETHER_TOKEN_FILE has it.
#include <bellwether/attachment.h>
#include <bellwether/leader_flag.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kNeed = 1ms;  // so long the flag has to hold for a unit to begin

volatile std::sig_atomic_t is_asked_to_end = 0;

// What this process was asked to be.
struct Settings {
  const char* flag_file;
  const char* place;
  const char* name;
  std::optional<int64_t> score = {};
  std::chrono::milliseconds unit{1};  // of work; the pause stands for what is really done
  std::optional<uid_t> user = {};
  attachment_token token{};
};

// An open flag that closes itself.
class LeaderFlag {
 public:
  // Waits for a sidecar that starts later than the application; throws when the file is not a flag.
  explicit LeaderFlag(const Settings& settings) {
    int error = open(settings);
    while ((error == ENOENT || error == LEADER_FLAG_NOT_READY) && is_asked_to_end == 0) {
      std::this_thread::sleep_for(1ms);
      error = open(settings);
    }
    if (error != 0 && is_asked_to_end == 0) {
      throw std::runtime_error(std::string(settings.flag_file) + ": " +
                               leader_flag_strerror(error));
    }
  }
  ~LeaderFlag() { leader_flag_close(&flag_); }
  LeaderFlag(const LeaderFlag&) = delete;
  LeaderFlag& operator=(const LeaderFlag&) = delete;

  // The token by which a unit may begin.
  std::optional<uint64_t> begin() const {
    uint64_t token = 0;
    if (!leader_flag_begin(&flag_, kNeed.count(), &token)) return std::nullopt;
    return token;
  }
  // Whether the unit that was begun by it counts.
  bool still(uint64_t token) const { return leader_flag_still(&flag_, token); }

 private:
  int open(const Settings& settings) {
    return settings.user ? leader_flag_open_of(settings.flag_file, *settings.user, &flag_)
                         : leader_flag_open(settings.flag_file, &flag_);
  }

  leader_flag flag_{};
};

// An attachment that closes itself.
class Attachment {
 public:
  // Throws when another try would fail as well; one without a sidecar ends at once.
  explicit Attachment(const Settings& settings) : settings_(settings) {
    const int64_t* score = settings.score ? &*settings.score : nullptr;
    end_ = attachment_open_by(&mine_, settings.place, settings.name, score, &settings.token);
    throw_if_refused();
  }
  ~Attachment() { attachment_close(&mine_); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  bool is_open() const { return end_ == 0; }

  // Takes what the sidecar has said, or says within a second; nothing is under way.
  void wait() {
    pollfd ready{attachment_fd(&mine_), POLLIN, 0};
    poll(&ready, 1, 1000);
    attachment_event event{};
    int result = 0;
    while ((result = attachment_next(&mine_, &event)) == 0) {
      if (event.type != ATTACHMENT_DRAIN) continue;
      attachment_drained_by(settings_.place, &event, &settings_.token);
    }
    if (result != -EAGAIN) end_ = result;
    throw_if_refused();
  }

 private:
  void throw_if_refused() const {
    const int status = attachment_status(&mine_);
    const bool is_ours = end_ == -EACCES || end_ == -EINVAL || end_ == -ENOKEY || end_ == -ERANGE;
    if (is_ours || status == 400) {
      throw std::system_error(-end_, std::generic_category(),
                              "may not attach (" + std::to_string(status) + ")");
    }
  }

  const Settings& settings_;
  attachment mine_{};
  int end_ = 0;  // why it is over, as attachment_next() says
};

// How much was done; `cut`: units that the flag did not cover to their end.
struct Tally {
  uint64_t pieces = 0;
  uint64_t cut = 0;
};

void tell(const char* name, const char* what, uint64_t token, const Tally& tally) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::cout << std::chrono::duration_cast<std::chrono::microseconds>(now).count() << ' ' << name
            << ' ' << what << " token=" << token << " pieces=" << tally.pieces
            << " cut=" << tally.cut << std::endl;
}

// Until the sidecar, or this process, ends.
void work(const Settings& settings, const LeaderFlag& flag, Attachment& mine) {
  uint64_t working = 0;  // by this token; 0: not
  Tally tally;
  while (is_asked_to_end == 0 && mine.is_open()) {
    if (const auto token = flag.begin()) {
      if (working != *token) tell(settings.name, "works", *token, tally);
      working = *token;
      std::this_thread::sleep_for(settings.unit);  // a signal does not cut it short
      flag.still(*token) ? ++tally.pieces : ++tally.cut;
      continue;
    }
    if (working != 0) tell(settings.name, "stopped", working, tally);
    working = 0;
    mine.wait();
  }
  if (working != 0) tell(settings.name, "stopped", working, tally);
}

void run(const Settings& settings) {
  const LeaderFlag flag(settings);
  while (is_asked_to_end == 0) {
    {
      Attachment mine(settings);
      work(settings, flag, mine);
    }
    if (is_asked_to_end == 0) std::this_thread::sleep_for(100ms);  // the sidecar starts again
  }
}

std::optional<Settings> settings_of(int count, char** arguments) {
  if (count < 4 || count > 7) return std::nullopt;
  Settings settings{arguments[1], arguments[2], arguments[3]};
  if (count >= 5) settings.score = std::stoll(arguments[4]);
  if (count >= 6) settings.unit = std::chrono::milliseconds(std::stol(arguments[5]));
  if (count == 7) {
    const std::string id = arguments[6];
    const bool is_number = id.find_first_not_of("0123456789") == std::string::npos;
    if (id.empty() || !is_number) return std::nullopt;  // a name must not be taken for root
    settings.user = static_cast<uid_t>(std::stoul(id));
  }
  const char* file = std::getenv("BELLWETHER_TOKEN_FILE");
  if (file != nullptr && *file != '\0') settings.token.file = file;
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int number : {SIGTERM, SIGINT}) std::signal(number, [](int) { is_asked_to_end = 1; });
  try {
    const auto settings = settings_of(argc, argv);
    if (!settings) {
      std::cerr << "usage: attached_worker FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]\n";
      return 2;
    }
    run(*settings);
  } catch (const std::exception& error) {
    std::cerr << "attached_worker: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
