// Checks of the two things on a file system: the state folder and the flag.
#include <fmt/core.h>

#include "doctor/checks.hh"
#include "doctor/phrases.hh"
#include "io/flag/flag_folder.hh"
#include "io/state/state_files.hh"

namespace bellwether::doctor {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kTooLittleSpace = kMiB;
constexpr uint64_t kLittleSpace = 16 * kMiB;
constexpr mode_t kReadableByOthers = 0044;
// A copy from before may promise again what was promised to another: that alone makes two leaders.
constexpr const char* kLostRemedy =
    "do not restore a copy: empty the folder and start the sidecar; a voter then asks the others";

// Of a sidecar that answers, to somebody who may not look at what it uses.
void leave_to(const std::string& seen, bool is_owner_known, uid_t owner, Findings& found) {
  const std::string user = is_owner_known ? fmt::format("user {}", owner) : "the sidecar's user";
  found.skipped(fmt::format("{}: run the doctor as {}", seen, user));
}

std::string holder_text(const LockFacts& lock) {
  return lock.holder != 0 ? fmt::format("process {}", lock.holder)
                          : "a process that cannot be seen from here";
}

// A sidecar runs, but has not locked what this configuration names; or the other way round.
void judge_lock(const Facts& facts, const LockFacts& lock, const std::string& what,
                Findings& found) {
  if (lock.is_held && !facts.has_sidecar()) {
    found.warning(what + " is used by " + holder_text(lock) + ", but no sidecar answers",
                  "look whether that process hangs, or runs with another [api]; its log says "
                  "whether somebody has removed its socket");
  }
  if (!lock.is_held && facts.has_sidecar()) {
    found.warning("a sidecar answers, but nobody uses " + what,
                  "run the doctor where that sidecar runs, with its configuration");
  }
}

void judge_record(const Facts& facts, const StateFacts& state, Findings& found) {
  const Config& config = *facts.config.config;
  if (!state.has_record && state.has_identity) {
    const std::string missing = state.folder + "/state is missing beside identity";
    if (state.lock.is_held) {  // by a sidecar that has all of it, whether or not it answers
      found.warning(
          missing + ": the sidecar that uses the folder knows what was in it, and makes it anew",
          "look again in some seconds, and do not stop the sidecar before it is there; its "
          "log says if it cannot be written");
    } else {
      found.problem(missing + ": what this process has promised is lost", kLostRemedy);
    }
  }
  if (!state.has_record) return;
  if (!state.is_record_good) {
    found.problem(state.folder + "/state is damaged, or of a later release", kLostRemedy);
  } else if (state.group != config.group.name) {
    found.problem(state.folder + " belongs to group " + state.group + ", not " + config.group.name,
                  "give this group a state_dir of its own");
  }
}

// The sidecar that runs has taken it; the file may name other [voters] since.
void judge_votes(const Facts& facts, const StateFacts& state, Findings& found) {
  const uint64_t voters = io::vote_tag(facts.config.config->node.name, facts.config.config->voters);
  if (facts.has_sidecar() || !state.is_record_good) return;
  if (!io::is_vote_of_others(state.voters, state.epoch, voters)) return;
  found.problem(state.folder +
                    " was written under another name, among other [voters], or without a vote: no "
                    "sidecar starts with it",
                "if it was copied from another voter, empty it; otherwise see More or fewer voters "
                "in the operations guide");
}

void judge_folder(const Facts& facts, const StateFacts& state, Findings& found) {
  if (!state.flaw.empty()) {
    found.problem(state.folder + ": " + state.flaw,
                  "set node.state_dir to a folder of the sidecar's user");
    return;
  }
  if (!state.is_writable) {
    found.problem(state.exists
                      ? fmt::format("{} cannot be written by this user; it belongs to user {}",
                                    state.folder, state.owner)
                      : state.folder + " does not exist and cannot be made by this user",
                  "run the doctor as the sidecar's user; if that is this one, give it the folder");
  }
  if (!state.weakness.empty()) {
    found.warning(state.folder + " " + state.weakness +
                      ": who can put an older state there can make two leaders",
                  "give it to the sidecar's user, with mode 0700");
  }
  if (state.free_bytes < kTooLittleSpace) {
    found.problem("only " + size_text(state.free_bytes) + " are free for " + state.folder,
                  "free some space: a vote that cannot be stored is not given");
  } else if (state.free_bytes < kLittleSpace) {
    found.warning("only " + size_text(state.free_bytes) + " are free for " + state.folder,
                  "free some space before there is none");
  }
  if (state.is_in_memory && facts.config.config->has_majority_guard()) {
    found.warning(state.folder + " is in memory: after a reboot the votes are forgotten",
                  "set node.state_dir to a folder on a disk");
  }
}

}  // namespace

void check_state(const Facts& facts, Findings& found) {
  if (!facts.state)
    return found.ok("nothing is kept (node.state_dir is empty): a new id at each start");
  const StateFacts& state = *facts.state;
  if (facts.has_sidecar() && state.flaw.empty() && !state.is_writable) {
    return leave_to(state.folder + " is in use by the sidecar, and this user may not write to it",
                    state.exists, state.owner, found);
  }
  judge_folder(facts, state, found);
  if (state.flaw.empty() && state.exists) {
    judge_record(facts, state, found);
    judge_votes(facts, state, found);
    judge_lock(facts, state.lock, state.folder, found);
  }
  if (!found.is_empty()) return;
  std::string seen = state.folder;
  if (!state.exists) {
    seen += " can be made";
  } else if (!state.has_record) {
    seen += " is there and empty";
  } else {
    seen += fmt::format(": id {}, epoch {}", to_string(state.id), state.epoch);
  }
  if (state.lock.is_held) seen += ", in use by " + holder_text(state.lock);
  found.ok(seen + ", " + size_text(state.free_bytes) + " free");
}

void check_flag(const Facts& facts, Findings& found) {
  const FlagFacts& flag = *facts.flag;
  if (facts.has_sidecar() && flag.file_flaw.empty() && !flag.denial.empty()) {
    return leave_to(flag.path + " " + flag.denial, flag.exists, flag.owner, found);
  }
  if (!flag.denial.empty()) {
    found.problem(
        flag.path + " " + flag.denial,
        "run the doctor as the sidecar's user; if that is this one, set flag.path to another file");
  }
  if (!flag.folder_flaw.empty()) {
    found.problem(flag.path + ": " + flag.folder_flaw,
                  "run the doctor as the sidecar's user; if that is this one, set flag.path to a "
                  "file in a folder that it may write");
    return;
  }
  if (!flag.distrust.empty()) {
    found.problem(flag.path + ": " + flag.distrust, io::kFlagFolderRemedy);
  }
  if (!flag.exists && facts.has_sidecar()) {
    found.problem(flag.path + " does not exist, but a sidecar answers",
                  "run the doctor with that sidecar's configuration; if it is, `bellwether status` "
                  "says why it cannot make the file again");
  }
  if (flag.is_emptied_at_logout) {
    found.warning(fmt::format("at the last logout of user {}, systemd-logind removes {}",
                              flag.owner, flag.path),
                  "set flag.path to a file below /run; or RemoveIPC=no in "
                  "/etc/systemd/logind.conf, and restart systemd-logind; or run the sidecar as a "
                  "system user");
  }
  if (!flag.file_flaw.empty()) {
    found.problem(flag.path + " " + flag.file_flaw, "remove it, or set flag.path to another file");
  }
  if (!flag.is_in_memory) {
    found.warning(flag.path + " is not on a tmpfs: a busy disk can stop the sidecar",
                  "set flag.path to a file below /dev/shm, or in an emptyDir with medium Memory");
  }
  const mode_t mode = flag.exists ? flag.mode : facts.config.config->flag.mode;
  if ((mode & kReadableByOthers) == 0 || flag.is_folder_closed_to_others) {
    found.warning(flag.is_folder_closed_to_others
                      ? "only its owner can enter the folder of " + flag.path
                      : fmt::format("only user {} can read {} (mode {})", flag.owner, flag.path,
                                    io::mode_text(mode)),
                  "fine if the application runs as the same user; otherwise open folder and "
                  "flag.mode to its group");
  }
  if (flag.exists && flag.file_flaw.empty()) judge_lock(facts, flag.lock, flag.path, found);
  if (!found.is_empty()) return;
  if (!flag.exists) return found.ok(flag.path + " can be made, on a tmpfs");
  std::string seen = flag.path + ", mode " + io::mode_text(flag.mode) + ", on a tmpfs";
  if (flag.lock.is_held) seen += ", in use by " + holder_text(flag.lock);
  found.ok(seen);
}

}  // namespace bellwether::doctor
