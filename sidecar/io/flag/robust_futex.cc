// The list that the kernel walks when a thread ends, and a dying child to see that it does.
#include "io/flag/robust_futex.hh"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

namespace bellwether::io {
namespace {

// Shared by the test and its child.
struct TestPage {
  RobustList list;
  uint32_t word;
};

constexpr uint32_t kRefused = ~uint32_t{0};

// The child: takes the word and waits for its end.
[[noreturn]] void hold(TestPage& page, pid_t parent) {
  // Whatever happens to the parent, no child is left behind.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const bool is_registered = register_robust_list(page.list, page.word);
  const auto thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  std::atomic_ref(page.word).store(is_registered ? thread : kRefused);
  for (;;) ::pause();
}

// False when `is_done` has not become true within 10 s: a starved machine must not look like one
// whose kernel is of no use.
template <typename Condition>
bool wait_until(Condition is_done) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(10);
  while (true) {
    // Looked at first: a process that was stopped has the time behind it, and the condition, too.
    const bool is_over = Clock::now() >= end;
    if (is_done()) return true;
    if (is_over) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

// When the parent learns of the child's end, the kernel has long been through its list.
const char* kill_and_look(pid_t child, TestPage& page) {
  const std::atomic_ref word(page.word);
  const bool has_answered = wait_until([&] { return word.load() != 0; });
  ::kill(child, SIGKILL);
  const bool has_ended = wait_until([&] {
    const pid_t ended = ::waitpid(child, nullptr, WNOHANG);
    // Where SIGCHLD is ignored, there is nobody to wait for.
    return ended == child || (ended < 0 && ::kill(child, 0) != 0);
  });
  if (!has_answered) return "a child process did not come up within 10 s";
  if (!has_ended) return "a killed child process did not end within 10 s";
  if (word.load() == kRefused) return "the kernel refuses the system call set_robust_list";
  if (word.load() != FUTEX_OWNER_DIED) return "the kernel does not mark the futexes of the dead";
  return nullptr;
}

}  // namespace

bool register_robust_list(RobustList& list, uint32_t& word) {
  // The entry is in the list before the word is taken and as long as the thread lives, so there is
  // no instant that list_op_pending would have to cover: the kernel looks at the thread id anyway.
  list.entry.next = &list.head.list;
  list.head.list.next = &list.entry;
  list.head.futex_offset = reinterpret_cast<char*>(&word) - reinterpret_cast<char*>(&list.entry);
  list.head.list_op_pending = nullptr;
  return ::syscall(SYS_set_robust_list, &list.head, sizeof list.head) == 0;
}

const char* robust_futex_flaw() {
  void* const mapping =
      ::mmap(nullptr, sizeof(TestPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return "there is no shared memory to test it with";
  const auto unmap = [](TestPage* page) { ::munmap(page, sizeof *page); };
  const std::unique_ptr<TestPage, decltype(unmap)> page(static_cast<TestPage*>(mapping), unmap);

  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return "there is no child process to test it with";
  if (child == 0) hold(*page, parent);
  return kill_and_look(child, *page);
}

}  // namespace bellwether::io
