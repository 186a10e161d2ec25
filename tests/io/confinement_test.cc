// What a confined process can no longer do, and what it still can.  Each case confines a child, for
// nobody gets out of it again.
#include "io/confinement/confinement.hh"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "state_folder.hh"

namespace bellwether::io {
namespace {

namespace fs = std::filesystem;

// What `act` says, in a child without new privileges.
template <typename Act>
std::string in_child(Act act) {
  int ends[2];
  BOOST_REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const std::string said = act();
    const ssize_t written = ::write(ends[1], said.data(), said.size());
    ::_exit(written == std::ssize(said) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  const FileDescriptor end(ends[0]);
  BOOST_TEST(read_to_end(end, 65536, said));
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  return said;
}

std::string failure(long result) {
  return result >= 0 ? "done " : std::strerror(errno) + std::string(" ");
}

// Of a write, a rename, a cut and a removal.
std::string writing_in(const fs::path& folder) {
  const fs::path file = folder / "a";
  const fs::path other = folder / "b";
  std::string said = failure(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  said += failure(::rename(file.c_str(), other.c_str()));
  said += failure(::truncate(other.c_str(), 0));
  said += failure(::unlink(other.c_str()));
  return said;
}

void put(const fs::path& file) { std::ofstream(file) << "text"; }

struct Landlocked {
  Landlocked() {
    fs::create_directories(own);
    fs::create_directories(foreign);
    put(foreign / "a");
    put(foreign / "b");
  }
  test::TemporaryFolder folder;
  fs::path own = folder.path() / "own";
  fs::path foreign = folder.path() / "foreign";
};

boost::test_tools::assertion_result has_landlock(boost::unit_test::test_unit_id /*id*/) {
  return landlock_abi() >= 3;  // with truncate()
}

boost::test_tools::assertion_result has_list(boost::unit_test::test_unit_id /*id*/) {
#if defined(__x86_64__) || defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

}  // namespace

BOOST_AUTO_TEST_SUITE(confinement)

BOOST_FIXTURE_TEST_CASE(files_are_written_in_the_named_folders_alone, Landlocked,
                        *boost::unit_test::precondition(has_landlock)) {
  const std::string refused = "Permission denied ";
  BOOST_TEST(in_child([&] {
               if (!forbid_writing_outside({own})) return failure(-1);
               std::string said = writing_in(own) + "| " + writing_in(foreign);
               // In threads, too, and by another name.
               std::thread([&] { said += "| " + writing_in(own / ".." / "foreign"); }).join();
               return said;
             }) == "done done done done | " + refused + refused + refused + refused + "| " +
                       refused + refused + refused + refused);
}

BOOST_FIXTURE_TEST_CASE(reading_is_free, Landlocked,
                        *boost::unit_test::precondition(has_landlock)) {
  BOOST_TEST(in_child([&] {
               if (!forbid_writing_outside({own})) return failure(-1);
               return failure(::open((foreign / "a").c_str(), O_RDONLY | O_CLOEXEC)) +
                      failure(::open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
             }) == "done done ");
}

BOOST_FIXTURE_TEST_CASE(nothing_is_executed_and_no_device_is_made, Landlocked,
                        *boost::unit_test::precondition(has_landlock)) {
  BOOST_TEST(in_child([&] {
               if (!forbid_writing_outside({own})) return failure(-1);
               return failure(::execl("/bin/true", "true", nullptr)) +
                      failure(::mkfifo((own / "fifo").c_str(), 0600)) +
                      failure(::symlink("/etc", (own / "link").c_str()));
             }) == "Permission denied Permission denied Permission denied ");
}

BOOST_FIXTURE_TEST_CASE(a_folder_that_was_removed_is_made_again, Landlocked,
                        *boost::unit_test::precondition(has_landlock)) {
  const fs::path flag = own / "folder" / "flag";
  fs::create_directory(flag.parent_path());
  BOOST_TEST(in_child([&] {
               const std::vector<fs::path> folders = folders_of({flag});
               fs::remove(flag.parent_path());
               if (!forbid_writing_outside(folders)) return failure(-1);
               std::string said = failure(::mkdir(flag.parent_path().c_str(), 0755));
               return said += writing_in(flag.parent_path());
             }) == "done done done done done ");
}

BOOST_FIXTURE_TEST_CASE(a_socket_is_bound_in_a_named_folder, Landlocked,
                        *boost::unit_test::precondition(has_landlock)) {
  const auto bind_in = [](const fs::path& where) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = where / "socket";
    name.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return failure(
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  };
  BOOST_TEST(in_child([&] {
               if (!forbid_writing_outside({own})) return failure(-1);
               return bind_in(own) + bind_in(foreign);
             }) == "done Permission denied ");
}

BOOST_AUTO_TEST_CASE(what_is_mounted_needs_no_folder_above) {
  BOOST_TEST(folders_of({"/proc/x"}) == std::vector<fs::path>{"/proc"},
             boost::test_tools::per_element());
  BOOST_TEST(folders_of({"/nowhere/x"}) == std::vector<fs::path>{"/nowhere"},
             boost::test_tools::per_element());
  BOOST_TEST(folders_of({"/nowhere/y/x"}) == (std::vector<fs::path>{"/nowhere/y", "/nowhere"}),
             boost::test_tools::per_element());
}

// With arguments that would change nothing if the call came about.
BOOST_AUTO_TEST_CASE(each_call_of_the_list_is_refused, *boost::unit_test::precondition(has_list)) {
  BOOST_TEST(in_child([] {
               if (!refuse_system_calls()) return failure(-1);
               std::string passed;
               for (const uint32_t call : refused_system_calls()) {
                 const bool is_refused =
                     ::syscall(call, -1, -1, -1, -1, -1, -1) < 0 && errno == EPERM;
                 if (!is_refused) passed += std::to_string(call) + " ";
               }
               return "passed: " + passed;
             }) == "passed: ");
}

BOOST_AUTO_TEST_CASE(threads_come_and_namespaces_do_not,
                     *boost::unit_test::precondition(has_list)) {
  BOOST_TEST(in_child([] {
               if (!refuse_system_calls()) return failure(-1);
               std::string said;
               std::thread([&] { said = failure(::syscall(SYS_setuid, -1)); }).join();
               said += failure(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr,
                                         nullptr, nullptr));
               said += failure(::syscall(SYS_clone3, nullptr, 0));
               return said;
             }) == "Operation not permitted Operation not permitted Function not implemented ");
}

BOOST_AUTO_TEST_CASE(all_threads_that_run_already_are_bound,
                     *boost::unit_test::precondition(has_list)) {
  BOOST_TEST(in_child([] {
               std::atomic<bool> is_confined = false;
               std::string said;
               std::thread earlier([&] {
                 is_confined.wait(false);
                 said = failure(::syscall(SYS_setuid, -1));
               });
               if (!refuse_system_calls()) said = "not confined";
               is_confined = true;
               is_confined.notify_all();
               earlier.join();
               return said;
             }) == "Operation not permitted ");
}

BOOST_AUTO_TEST_CASE(sockets_are_of_the_families_that_are_used,
                     *boost::unit_test::precondition(has_list)) {
  BOOST_TEST(
      in_child([] {
        if (!refuse_system_calls()) return failure(-1);
        std::string said;
        for (const int family : {AF_UNIX, AF_INET, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK}) {
          said += failure(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        }
        return said;
      }) ==
      "done done done Address family not supported by protocol Address family not "
      "supported by protocol Address family not supported by protocol ");
}

#if defined(__x86_64__)
BOOST_AUTO_TEST_CASE(the_same_calls_by_another_number_are_refused) {
  constexpr long kX32 = 0x40000000;
  BOOST_TEST(in_child([] {
               if (!refuse_system_calls()) return failure(-1);
               return failure(::syscall(kX32 | SYS_getpid));
             }) == "Operation not permitted ");
}
#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io
