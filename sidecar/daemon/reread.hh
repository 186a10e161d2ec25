// What is on a disk and may change there: read by a thread of its own, once a second.
//
// To be told of changes by inotify instead, one would have to watch each folder on the way to a
// file (an editor's save, the swap of a ConfigMap's or a Secret's link, a link into another folder,
// a folder that is made anew), and a user has 128 instances of it for all containers of a machine.
// A look is some ten microseconds, of a thread that waits for the next one, and sees them all.
//
// A reading that differs from the one before is done again until two are the same, since the files
// may just be written.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_turn.hh"
#include "io/loop/job.hh"
#include "io/loop/timer.hh"

namespace bellwether::daemon {

// Why a reading comes to nothing.
struct Unread {
  static constexpr const char* kNoAnswer = "the disk, or the network file system, does not answer";
  static constexpr const char* kNoThread =
      "there is no thread to read with; allow more (ulimit -u, TasksMax=, pids.max)";
  static constexpr const char* kAllHang =
      "so many other files do not answer that no thread is left; look at their disks";

  const char* why;   // one of these
  std::string file;  // that does not answer; "": unknown
};

// A Reading can be copied, and compared: equal ones are no change.
template <typename Reading>
class Reread {
 public:
  // In a thread of its own; throws nothing, and blocks for as long as the disk does.
  using Read = std::function<Reading(const Reading& last)>;
  // What a reading comes to that has not ended in time, or not begun; made of the last one.
  using GiveUp = std::function<Reading(const Reading& last, const Unread& unread)>;
  using OnReading = std::function<void(const Reading&)>;
  using OnDone = std::function<void()>;

  // Reads that hang for longer are given up.  The command line waits for an answer for longer.
  static constexpr Duration kPatience = std::chrono::seconds(2);

  // `last` is what was read last.  Calls `on_reading` within a moment when it has become another;
  // once for each change.
  Reread(io::Loop& loop, Reading last, Read read, GiveUp when_given_up, OnReading on_reading)
      : loop_(loop),
        last_(std::move(last)),
        read_(std::move(read)),
        when_given_up_(std::move(when_given_up)),
        on_reading_(std::move(on_reading)),
        next_look_(loop, [this] { look(); }),
        patience_(loop, [this] { lose_patience(); }) {
    next_look_.arm(kInterval);
  }
  Reread(const Reread&) = delete;
  Reread& operator=(const Reread&) = delete;
  ~Reread() = default;

  // Reads it again and calls `on_reading`, changed or not, then `then`: when it is read, when that
  // has taken kPatience, or at once while a reading hangs or no thread is to be had.  Those who ask
  // while it is being read share the next reading, so any number of them costs one.
  void read(OnDone then) { queue(std::move(then)); }

  // What was read last.
  const Reading& last() const { return last_; }

  // From now on that is read.
  void set_read(Read read) { read_ = std::move(read); }

 private:
  static constexpr Duration kInterval = std::chrono::seconds(1);
  static constexpr Duration kSettleTime = std::chrono::milliseconds(100);
  static constexpr Duration kForAnother = std::chrono::milliseconds(20);
  static constexpr int kPatienceSteps = 4;

  // An empty one: the look that is done by itself.
  using Asked = std::vector<OnDone>;

  // Several files need only one thread if their looks come one after the other: they stay so once
  // they are.
  void look() {
    const bool is_put_off = std::exchange(is_put_off_, false);
    if (is_put_off || loop_.threads() == 0) return queue({});
    is_put_off_ = true;
    next_look_.arm(kForAnother);
  }

  void queue(OnDone asked) {
    if (is_hanging_) return take(without_answer(), {std::move(asked)});
    waiting_.push_back(std::move(asked));
    if (running_ == nullptr) start();
  }

  void start() {
    told_ = std::exchange(waiting_, {});
    reader_ = std::make_shared<std::atomic<std::thread::id>>();
    running_ = run_in_thread(
        loop_,
        [read = read_, last = last_, reader = reader_] {
          *reader = std::this_thread::get_id();
          return read(last);
        },
        [this](const Reading& reading) { finish(reading); });
    if (running_ != nullptr) {
      patience_steps_ = kPatienceSteps;
      return patience_.arm(kPatience / kPatienceSteps);
    }
    // Nothing is wrong with the file, so a look by itself is only put off.
    const Asked asked = std::exchange(told_, {});
    if (is_demanded(asked)) {
      const bool do_all_hang = loop_.threads() >= io::kMaxThreads;
      const char* const why = do_all_hang ? Unread::kAllHang : Unread::kNoThread;
      take(when_given_up_(last_, {.why = why, .file = ""}), asked);
    }
    next_look_.arm(kInterval);
  }

  // In steps, because this process may have been stopped, or the machine: that ends one step, and
  // the reading has the others.
  void lose_patience() {
    --patience_steps_ == 0 ? give_up() : patience_.arm(kPatience / kPatienceSteps);
  }

  // The reading itself cannot be called back: it goes on, and nobody waits for it any more.
  void give_up() {
    is_hanging_ = true;
    Asked all = std::exchange(told_, {});
    for (auto& asked : std::exchange(waiting_, {})) all.push_back(std::move(asked));
    take(without_answer(), all);
  }

  Reading without_answer() const {
    return when_given_up_(last_, {.why = Unread::kNoAnswer, .file = FileTurn::path_of(*reader_)});
  }

  void finish(const Reading& reading) {
    running_.reset();
    is_hanging_ = false;
    patience_.disarm();
    take(reading, std::exchange(told_, {}));
    if (!waiting_.empty()) start();
  }

  static bool is_demanded(const Asked& asked) {
    return std::any_of(asked.begin(), asked.end(), [](const OnDone& then) { return bool(then); });
  }

  // What is made of it may take milliseconds of the loop, so it is done once for all.
  void take(const Reading& reading, const Asked& asked) {
    if (is_demanded(asked)) {
      last_ = reading;
      on_reading_(reading);
    }
    for (const OnDone& then : asked) then ? then() : settle(reading);
  }

  // What a look by itself has found.
  void settle(const Reading& reading) {
    const bool is_changed = !(reading == last_);
    const bool is_settling = is_changed && !(settling_ && *settling_ == reading);
    settling_ = is_settling ? std::optional(reading) : std::nullopt;
    next_look_.arm(is_settling ? kSettleTime : kInterval);
    if (is_settling) return;
    last_ = reading;  // an equal one may know more recent things that are not compared
    if (is_changed) on_reading_(reading);
  }

  io::Loop& loop_;
  Reading last_;
  Read read_;
  GiveUp when_given_up_;
  OnReading on_reading_;
  std::shared_ptr<void> running_{};  // what is being read; shared with nobody (job.hh)
  std::shared_ptr<std::atomic<std::thread::id>> reader_{};  // of that; shared with it
  Asked told_{};                                            // of that one
  Asked waiting_{};                                         // for the next reading
  std::optional<Reading> settling_{};  // has changed, and is looked at once more
  bool is_hanging_ = false;            // nobody waits for the reading that runs
  bool is_put_off_ = false;            // the next look, for the thread that reads another file
  io::LoopTimer next_look_;
  io::LoopTimer patience_;
  int patience_steps_ = 0;  // left
};

}  // namespace bellwether::daemon
