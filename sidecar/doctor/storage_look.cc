// stat(2), statfs(2), F_OFD_GETLK, and /proc for who holds a lock.
#include <bellwether/leader_flag.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/ascii.hh"
#include "doctor/looks.hh"
#include "io/flag/flag_folder.hh"
#include "io/loop/files.hh"
#include "io/state/locked_folder.hh"
#include "io/state/state_files.hh"

namespace bellwether::doctor {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kEnterableByOthers = 0011;
// Debian's login.defs: those above are people, whose shared memory logind removes (RemoveIPC=).
constexpr uid_t kLastSystemUser = 999;
constexpr uid_t kNobody = 65534;
// Of each process; who has more is not looked through to the end.
constexpr int kMaxDescriptors = 4096;
constexpr std::chrono::milliseconds kWriteOfASlot(10);

std::string error_text(int error) { return std::generic_category().message(error); }

bool may_use(const fs::path& path, int how) {
  return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0;
}

// The folder itself or, where it is missing, the next one above it that is there.
fs::path nearest_existing(fs::path path) {
  std::error_code unused;
  while (!fs::exists(path, unused) && path.has_relative_path()) path = path.parent_path();
  return path;
}

bool is_in_memory(const fs::path& path) {
  struct statfs status {};
  return ::statfs(path.c_str(), &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

uint64_t free_bytes(const fs::path& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) return 0;
  return static_cast<uint64_t>(status.f_bavail) * static_cast<uint64_t>(status.f_bsize);
}

// Whether this open file of a process (/proc/PID/fd/N) is `file`, and locked through it.
bool is_locked_through(const fs::path& descriptor, const struct stat& file) {
  struct stat status {};
  if (::stat(descriptor.c_str(), &status) != 0) return false;
  if (status.st_dev != file.st_dev || status.st_ino != file.st_ino) return false;
  const fs::path process = descriptor.parent_path().parent_path();
  const io::FileDescriptor notes(
      ::open((process / "fdinfo" / descriptor.filename()).c_str(), O_RDONLY | O_CLOEXEC));
  constexpr size_t kLongestNotes = 1024;
  std::string text;
  return read_to_end(notes, kLongestNotes, text) && text.find("OFDLCK") != std::string::npos;
}

// An OFD lock belongs to no process, so all that can be looked into are searched; 0: none of them.
pid_t find_holder(const struct stat& file) {
  std::error_code unused;
  for (fs::directory_iterator process("/proc", unused); process != fs::directory_iterator();
       process.increment(unused)) {
    const auto id = parse_number<pid_t>(process->path().filename().native());
    if (!id) continue;
    int left = kMaxDescriptors;
    fs::directory_iterator open_file(process->path() / "fd", unused);
    for (; left > 0 && open_file != fs::directory_iterator(); open_file.increment(unused), --left) {
      if (is_locked_through(open_file->path(), file)) return *id;
    }
  }
  return 0;
}

LockFacts lock_of(const fs::path& path) {
  const io::FileDescriptor fd(::open(path.c_str(), O_RDONLY | io::kCautiousOpen));
  if (!fd.is_open()) return {};
  struct flock whole_file {};
  whole_file.l_type = F_WRLCK;
  whole_file.l_whence = SEEK_SET;
  if (::fcntl(fd.get(), F_OFD_GETLK, &whole_file) != 0 || whole_file.l_type == F_UNLCK) return {};
  struct stat status {};
  const bool is_known = ::fstat(fd.get(), &status) == 0;
  return {.is_held = true, .holder = is_known ? find_holder(status) : 0};
}

io::StateFileContents read_slots(int fd) {
  std::array<uint8_t, io::kStateFileBytes> bytes{};
  const ssize_t count = ::pread(fd, bytes.data(), bytes.size(), 0);
  return io::read_state_file(
      std::span(bytes).first(static_cast<size_t>(std::max<ssize_t>(count, 0))));
}

void read_record(const fs::path& path, StateFacts& facts) {
  const io::FileDescriptor fd(::open(path.c_str(), O_RDONLY | io::kCautiousOpen));
  facts.has_record = fd.is_open() || errno != ENOENT;
  if (!fd.is_open()) return;
  io::StateFileContents contents = read_slots(fd.get());
  if (contents.has_damaged_slot) {
    // The sidecar may just be writing it.
    std::this_thread::sleep_for(kWriteOfASlot);
    contents = read_slots(fd.get());
  }
  facts.is_record_good = contents.is_good();
  if (!contents.newest) return;
  facts.group = contents.newest->group;
  facts.id = contents.newest->identity;
  facts.epoch = contents.newest->record.max_epoch;
  facts.voters = contents.newest->voters;
}

// Why no sidecar could take it.
std::string file_flaw(const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return "is a symbolic link";
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (status.st_nlink != 1) return "has several names (hard links)";
  if (status.st_size != 0 && status.st_size != LEADER_FLAG_FILE_BYTES) {
    return fmt::format("has {} bytes, which no leader flag has", status.st_size);
  }
  return "";
}

// Why none of this user could; one that has it already shows that one can.
std::string denial(const fs::path& path, const struct stat& status, bool is_taken) {
  if (is_taken) return "";
  if (status.st_uid != ::geteuid()) {
    return fmt::format("belongs to user {}, this process to user {}", status.st_uid, ::geteuid());
  }
  return may_use(path, R_OK | W_OK) ? "" : "cannot be written: " + error_text(errno);
}

// logind, if it runs, removes what a person has in /dev/shm when the last session of that ends.
bool is_emptied_at_logout(const fs::path& path, uid_t owner) {
  std::error_code unused;
  return owner > kLastSystemUser && owner != kNobody && path.string().starts_with("/dev/shm/") &&
         fs::is_directory("/run/systemd/users", unused) && does_logind_remove_ipc("/");
}

// A line of it that says so, if there is one; what is no answer is left out, as logind does.
void read_remove_ipc(const fs::path& file, bool& removes) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::erase_if(line, [](char letter) { return letter == ' ' || letter == '\t'; });
    constexpr std::string_view kKey = "RemoveIPC=";
    if (!line.starts_with(kKey)) continue;
    const std::string value = line.substr(kKey.size());
    const auto is_one_of = [&value](std::initializer_list<const char*> words) {
      return std::find(words.begin(), words.end(), value) != words.end();
    };
    if (is_one_of({"no", "n", "false", "f", "off", "0"})) removes = false;
    if (is_one_of({"yes", "y", "true", "t", "on", "1"})) removes = true;
  }
}

// The sidecar's user, as far as the file and the folder tell it to root, who may look at all.
uid_t user_of_sidecar(const FlagFacts& facts, const struct stat& folder) {
  return facts.exists || ::geteuid() != 0 ? facts.owner : folder.st_uid;
}

}  // namespace

bool does_logind_remove_ipc(const fs::path& root) {
  std::map<std::string, fs::path> drop_ins;  // one in /etc hides those of its name elsewhere
  for (const char* folder : {"etc", "run", "usr/local/lib", "usr/lib"}) {
    std::error_code unused;
    for (const auto& entry :
         fs::directory_iterator(root / folder / "systemd/logind.conf.d", unused)) {
      if (entry.path().extension() == ".conf") {
        drop_ins.emplace(entry.path().filename().string(), entry.path());
      }
    }
  }
  bool removes = true;  // by default
  read_remove_ipc(root / "etc/systemd/logind.conf", removes);
  for (const auto& [name, file] : drop_ins) read_remove_ipc(file, removes);
  return removes;
}

StateFacts look_at_state(const fs::path& folder) {
  StateFacts facts{.folder = folder};
  struct stat status {};
  facts.exists = ::stat(folder.c_str(), &status) == 0;
  const bool is_hidden = !facts.exists && errno == EACCES;
  if (!facts.exists && !is_hidden && errno != ENOENT) facts.flaw = error_text(errno);
  if (facts.exists && !S_ISDIR(status.st_mode)) facts.flaw = "is not a folder";
  if (!facts.flaw.empty()) return facts;
  const fs::path there = nearest_existing(folder);
  facts.is_writable = !is_hidden && may_use(there, R_OK | W_OK | X_OK);
  facts.owner = status.st_uid;
  facts.is_in_memory = is_in_memory(there);
  facts.free_bytes = free_bytes(there);
  if (!facts.exists || !may_use(folder, R_OK | X_OK)) return facts;
  // Root looks for somebody else, most likely for the owner.
  const uid_t self = ::geteuid() == 0 ? status.st_uid : ::geteuid();
  facts.weakness = io::who_else_may_write(status.st_mode, status.st_uid, self);
  facts.lock = lock_of(folder / "lock");
  facts.has_identity = may_use(folder / "identity", F_OK);
  read_record(folder / "state", facts);
  return facts;
}

FlagFacts look_at_flag(const fs::path& path, bool is_folder_shared) {
  FlagFacts facts{.path = path, .owner = ::geteuid()};
  const fs::path folder = path.parent_path();
  const fs::path there = nearest_existing(folder);
  facts.is_in_memory = is_in_memory(there);
  struct stat status {};
  facts.exists = ::lstat(path.c_str(), &status) == 0;
  const int error = errno;
  if (facts.exists) {
    facts.owner = status.st_uid;
    facts.mode = status.st_mode;
    if (S_ISREG(status.st_mode)) facts.lock = lock_of(path);
    facts.file_flaw = file_flaw(status);
    facts.denial = denial(path, status, facts.lock.is_held);
  } else if (error == EACCES) {
    facts.denial = "cannot be looked at: " + error_text(error);
  } else if (error != ENOENT) {
    facts.folder_flaw = error_text(error);
  } else if (there != folder && there != folder.parent_path()) {
    facts.folder_flaw = "the folder above its folder does not exist";
  } else if (!may_use(there, W_OK | X_OK)) {
    facts.folder_flaw = "it cannot be made: " + error_text(errno);
  }
  struct stat folder_status {};
  // One that the sidecar has still to make can be entered by all.
  if (::stat(folder.c_str(), &folder_status) == 0) {
    facts.is_folder_closed_to_others = (folder_status.st_mode & kEnterableByOthers) == 0;
    const uid_t user = user_of_sidecar(facts, folder_status);
    facts.distrust = fs::is_symlink(folder)
                         ? "its folder is a symbolic link"
                         : io::flag_folder_flaw(folder_status, user, is_folder_shared);
  }
  facts.is_emptied_at_logout = is_emptied_at_logout(path, facts.owner);
  return facts;
}

}  // namespace bellwether::doctor
