// The list as a program for the kernel (classic BPF), which runs at each system call; what it
// always allows the kernel remembers (since 5.11), so that its length costs nothing.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "base/check.hh"
#include "io/confinement/confinement.hh"

namespace bellwether::io {
namespace {

constexpr auto kRefusedEverywhere = std::to_array<uint32_t>({
    // Other programs, and other processes.
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_process_madvise,
    // Another identity.
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    SYS_capset,
    SYS_personality,
    // Another view of the machine.
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_unshare,
    SYS_setns,
    SYS_open_by_handle_at,
    SYS_mknodat,
    // Large parts of the kernel that an elector has no business with.
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_lookup_dcookie,
    SYS_fanotify_init,
    SYS_move_pages,
    SYS_mbind,
    SYS_migrate_pages,
    // The machine itself.
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_syslog,
});

// Where arguments lie, and what clone() takes, is not known of others.
#if defined(__x86_64__)
constexpr uint32_t kProcessor = AUDIT_ARCH_X86_64;
constexpr auto kRefusedHere = std::to_array<uint32_t>(
    {SYS_mknod, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_create_module});
#elif defined(__aarch64__)
constexpr uint32_t kProcessor = AUDIT_ARCH_AARCH64;
constexpr std::array<uint32_t, 0> kRefusedHere{};
#else
constexpr uint32_t kProcessor = 0;
constexpr std::array<uint32_t, 0> kRefusedHere{};
#endif

// On x86-64 the same calls once more, for processes with small pointers.
constexpr uint32_t kFirstOfX32 = 0x40000000;

constexpr uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME;
constexpr auto kFamilies = std::to_array<uint32_t>({AF_UNIX, AF_INET, AF_INET6, AF_NETLINK});

// Both processors have the lower half of an argument first.
constexpr size_t kFirstArgument = offsetof(seccomp_data, args);

// Steps, and steps that depend on what was loaded last; nobody counts them.
class Program {
 public:
  Program& load(size_t offset) {
    return add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  }
  Program& allow() { return end(SECCOMP_RET_ALLOW); }
  Program& fail(int error) { return end(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)); }
  // If what was loaded meets the condition (BPF_JEQ, BPF_JGE, BPF_JSET): these, too, at most 255.
  Program& when(uint16_t condition, uint32_t value, const Program& then) {
    return jump(condition, value, 0, then.size()).append(then);
  }
  Program& unless(uint16_t condition, uint32_t value, const Program& then) {
    return jump(condition, value, then.size(), 0).append(then);
  }
  sock_fprog text() {
    return {.len = static_cast<uint16_t>(steps_.size()), .filter = steps_.data()};
  }

 private:
  uint8_t size() const {
    check(steps_.size() <= UINT8_MAX, "a jump is at most 255 steps");
    return static_cast<uint8_t>(steps_.size());
  }
  // Relative to the next step.
  Program& jump(uint16_t condition, uint32_t value, uint8_t if_so, uint8_t if_not) {
    return add(BPF_JUMP(static_cast<uint16_t>(BPF_JMP | condition | BPF_K), value, if_so, if_not));
  }
  Program& end(uint32_t action) { return add(BPF_STMT(BPF_RET | BPF_K, action)); }
  Program& append(const Program& other) {
    steps_.insert(steps_.end(), other.steps_.begin(), other.steps_.end());
    return *this;
  }
  Program& add(sock_filter step) {
    steps_.push_back(step);
    return *this;
  }

  std::vector<sock_filter> steps_;
};

Program make_program() {
  const Program refused = Program().fail(EPERM);
  Program program;
  program.load(offsetof(seccomp_data, arch)).unless(BPF_JEQ, kProcessor, refused);
  program.load(offsetof(seccomp_data, nr)).when(BPF_JGE, kFirstOfX32, refused);
  for (const uint32_t call : refused_system_calls()) program.when(BPF_JEQ, call, refused);
  program.when(BPF_JEQ, SYS_clone3, Program().fail(ENOSYS));
  program.when(BPF_JEQ, SYS_clone,
               Program().load(kFirstArgument).when(BPF_JSET, kNamespaces, refused).allow());
  Program socket;
  socket.load(kFirstArgument);
  for (const uint32_t family : kFamilies) socket.when(BPF_JEQ, family, Program().allow());
  program.when(BPF_JEQ, SYS_socket, socket.fail(EAFNOSUPPORT));
  return program.allow();
}

}  // namespace

std::vector<uint32_t> refused_system_calls() {
  std::vector<uint32_t> calls(kRefusedEverywhere.begin(), kRefusedEverywhere.end());
  calls.insert(calls.end(), kRefusedHere.begin(), kRefusedHere.end());
  return calls;
}

bool refuse_system_calls() {
  if (kProcessor == 0) {
    errno = ENOSYS;
    return false;
  }
  Program program = make_program();
  const sock_fprog text = program.text();
  const long result =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &text);
  if (result > 0) errno = EBUSY;  // a thread that has a filter of its own
  return result == 0;
}

}  // namespace bellwether::io
