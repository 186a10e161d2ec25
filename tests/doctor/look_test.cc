// What the doctor sees of real files, folders, locks and tables.
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "doctor/looks.hh"
#include "io/flag/flag_writer.hh"
#include "io/state/state_store.hh"

namespace bellwether::doctor {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;
using std::chrono::milliseconds;

// On a tmpfs, as flags are.
struct Folder {
  Folder() {
    std::string pattern = "/dev/shm/bellwether-doctor.XXXXXX";
    BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((path / file).parent_path());
    std::ofstream(path / file) << text;
  }

  fs::path path;
};

// --- state ---

BOOST_FIXTURE_TEST_SUITE(state_look, Folder)

BOOST_AUTO_TEST_CASE(sees_a_folder_that_is_still_to_be_made) {
  const StateFacts facts = look_at_state(path / "a" / "b");
  BOOST_TEST(!facts.exists);
  BOOST_TEST(facts.is_writable);
  BOOST_TEST(facts.free_bytes > 0);
  BOOST_TEST(!fs::exists(path / "a"), "looking makes nothing");
}

BOOST_AUTO_TEST_CASE(sees_what_a_running_process_keeps_and_that_it_runs) {
  io::StateStore store({.folder = path / "state", .group = "orders"});
  BOOST_REQUIRE(!store.store(Record{.max_epoch = 7}));
  const StateFacts facts = look_at_state(path / "state");
  BOOST_TEST(facts.flaw == "");
  BOOST_TEST(facts.is_record_good);
  BOOST_TEST(facts.has_identity);
  BOOST_TEST(facts.group == "orders");
  BOOST_TEST((facts.id == store.identity()));
  BOOST_TEST(facts.epoch == 7);
  BOOST_TEST(facts.lock.is_held);
  BOOST_TEST(facts.lock.holder == ::getpid());
  BOOST_TEST(facts.is_in_memory);
}

BOOST_AUTO_TEST_CASE(sees_that_nobody_uses_it_and_does_not_take_it) {
  { const io::StateStore store({.folder = path / "state", .group = "orders"}); }
  const StateFacts facts = look_at_state(path / "state");
  BOOST_TEST(!facts.lock.is_held);
  BOOST_TEST(facts.is_record_good);
  BOOST_CHECK_NO_THROW(io::StateStore({.folder = path / "state", .group = "orders"}));
}

BOOST_AUTO_TEST_CASE(sees_damage) {
  { const io::StateStore store({.folder = path / "state", .group = "orders"}); }
  std::fstream(path / "state" / "state").write("damage", 6);
  BOOST_TEST(!look_at_state(path / "state").is_record_good, "one slot is enough");
  write("state/state", "short");
  BOOST_TEST(!look_at_state(path / "state").is_record_good);
  fs::remove(path / "state" / "state");
  const StateFacts none = look_at_state(path / "state");
  BOOST_TEST(!none.has_record);
  BOOST_TEST(none.has_identity);
}

BOOST_AUTO_TEST_CASE(sees_that_it_is_another_users) {
  if (::geteuid() != 0) {
    std::cout << "cannot be judged here: only root can be somebody else\n";
    return;
  }
  { const io::StateStore store({.folder = path / "state", .group = "orders"}); }
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  const io::FlagWriter writer({.path = path / "flag", .mode = 0600});
  BOOST_REQUIRE(::seteuid(kNobody) == 0);
  const StateFacts state = look_at_state(path / "state");
  const StateFacts hidden = look_at_state(path / "state" / "deeper");
  const FlagFacts flag = look_at_flag(path / "flag");
  const FlagFacts hidden_flag = look_at_flag(path / "state" / "flag");
  BOOST_REQUIRE(::seteuid(0) == 0);
  BOOST_TEST(state.exists);
  BOOST_TEST(state.owner == 0u);
  for (const StateFacts& facts : {state, hidden}) {
    BOOST_TEST(facts.flaw == "");
    BOOST_TEST(!facts.is_writable);
    BOOST_TEST(!facts.has_record, "nothing is said of what could not be read");
  }
  BOOST_TEST(flag.file_flaw == "");
  BOOST_TEST(flag.denial == "belongs to user 0, this process to user 65534");
  BOOST_TEST(hidden_flag.folder_flaw == "");
  BOOST_TEST(hidden_flag.denial == "cannot be looked at: Permission denied");
}

BOOST_AUTO_TEST_CASE(sees_a_file_in_place_of_the_folder) {
  write("state", "text");
  BOOST_TEST(look_at_state(path / "state").flaw == "is not a folder");
}

BOOST_AUTO_TEST_SUITE_END()

// --- flag ---

BOOST_FIXTURE_TEST_SUITE(flag_look, Folder)

BOOST_AUTO_TEST_CASE(sees_a_flag_in_use) {
  const io::FlagWriter writer({.path = path / "flag", .mode = 0644});
  const FlagFacts facts = look_at_flag(path / "flag");
  BOOST_TEST(facts.exists);
  BOOST_TEST(facts.file_flaw == "");
  BOOST_TEST(facts.folder_flaw == "");
  BOOST_TEST((facts.mode & 0777u) == 0644u);
  BOOST_TEST(facts.lock.is_held);
  BOOST_TEST(facts.lock.holder == ::getpid());
  BOOST_TEST(facts.is_in_memory);
  BOOST_TEST(facts.is_folder_closed_to_others, "mkdtemp makes folders of mode 0700");
}

BOOST_AUTO_TEST_CASE(sees_one_that_can_be_made_with_its_folder) {
  const FlagFacts facts = look_at_flag(path / "flags" / "orders");
  BOOST_TEST(!facts.exists);
  BOOST_TEST(facts.folder_flaw == "");
  BOOST_TEST(facts.is_in_memory);
  BOOST_TEST(!facts.is_folder_closed_to_others);
  BOOST_TEST(!fs::exists(path / "flags"), "looking makes nothing");
}

BOOST_AUTO_TEST_CASE(sees_that_the_sidecar_makes_one_folder_only) {
  BOOST_TEST(look_at_flag(path / "a" / "b" / "orders").folder_flaw ==
             "the folder above its folder does not exist");
}

BOOST_AUTO_TEST_CASE(sees_a_folder_that_others_can_write) {
  const fs::path folder = path / "open";
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all);
  BOOST_TEST(look_at_flag(folder / "orders").distrust == "");
  fs::permissions(folder, fs::perms::all);
  BOOST_TEST(look_at_flag(folder / "orders").distrust != "");
  BOOST_TEST(look_at_flag(folder / "orders", true).distrust == "");
  fs::create_directory_symlink("open", path / "link");
  BOOST_TEST(look_at_flag(path / "link" / "orders").distrust == "its folder is a symbolic link");
}

BOOST_AUTO_TEST_CASE(sees_what_is_no_flag) {
  write("flag", "text");
  BOOST_TEST(look_at_flag(path / "flag").file_flaw == "has 4 bytes, which no leader flag has");
  fs::create_symlink("flag", path / "link");
  BOOST_TEST(look_at_flag(path / "link").file_flaw == "is a symbolic link");
  fs::create_directory(path / "folder");
  BOOST_TEST(look_at_flag(path / "folder").file_flaw == "is not a regular file");
  fs::create_hard_link(path / "flag", path / "name");
  BOOST_TEST(look_at_flag(path / "name").file_flaw == "has several names (hard links)");
}

BOOST_AUTO_TEST_CASE(reads_what_logind_is_told) {
  BOOST_TEST(does_logind_remove_ipc(path));
  write("etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
  BOOST_TEST(does_logind_remove_ipc(path));
  write("etc/systemd/logind.conf", "[Login]\n#RemoveIPC=yes\nRemoveIPC = no\n");
  BOOST_TEST(!does_logind_remove_ipc(path));
  write("usr/lib/systemd/logind.conf.d/50-site.conf", "[Login]\nRemoveIPC=yes\n");
  BOOST_TEST(does_logind_remove_ipc(path), "a drop-in counts more");
  write("etc/systemd/logind.conf.d/50-site.conf", "[Login]\nRemoveIPC=perhaps\n");
  BOOST_TEST(!does_logind_remove_ipc(path), "that one is hidden, and this one no answer");
  write("run/systemd/logind.conf.d/60-more.conf", "[Login]\nRemoveIPC=on\n");
  BOOST_TEST(does_logind_remove_ipc(path), "the last one counts");
}

BOOST_AUTO_TEST_SUITE_END()

// --- limits ---

BOOST_FIXTURE_TEST_SUITE(quota_look, Folder)

BOOST_AUTO_TEST_CASE(finds_the_tightest_quota_on_the_way_up) {
  write("cgroup", "0::/pod/sidecar\n");
  write("root/pod/cpu.max", "20000 100000\n");
  write("root/pod/cpu.stat", "usage_usec 5\nnr_periods 40\nnr_throttled 3\n");
  write("root/pod/sidecar/cpu.max", "50000 100000\n");
  LimitFacts facts;
  look_at_quota(path / "cgroup", path / "root", facts);
  BOOST_REQUIRE(facts.cpu_quota.has_value());
  BOOST_TEST((*facts.cpu_quota == milliseconds(20)));
  BOOST_TEST((facts.cpu_period == milliseconds(100)));
  BOOST_TEST(facts.cpu_periods == 40);
  BOOST_TEST(facts.throttled_periods == 3);
}

BOOST_AUTO_TEST_CASE(finds_none_where_it_is_max) {
  write("cgroup", "0::/pod\n");
  write("root/pod/cpu.max", "max 100000\n");
  LimitFacts facts;
  look_at_quota(path / "cgroup", path / "root", facts);
  BOOST_TEST(!facts.cpu_quota.has_value());
}

BOOST_AUTO_TEST_CASE(looks_at_the_root_where_the_path_is_the_hosts) {
  write("cgroup", "0::/kubepods/pod7/sidecar\n");
  write("root/cpu.max", "10000 100000\n");
  LimitFacts facts;
  look_at_quota(path / "cgroup", path / "root", facts);
  BOOST_TEST((facts.cpu_quota == Duration(milliseconds(10))));
}

BOOST_AUTO_TEST_CASE(reads_version_1_too) {
  write("cgroup", "12:memory:/x\n4:cpu,cpuacct:/pod\n");
  write("root/cpu,cpuacct/pod/cpu.cfs_quota_us", "30000\n");
  write("root/cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n");
  write("root/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("root/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  LimitFacts facts;
  look_at_quota(path / "cgroup", path / "root", facts);
  BOOST_TEST((facts.cpu_quota == Duration(milliseconds(30))));
}

BOOST_AUTO_TEST_CASE(of_a_process_that_is_not_there_is_one_at_this_process) {
  const LimitFacts facts = look_at_limits(0);
  BOOST_TEST(facts.process == 0);
  BOOST_TEST(facts.open_files > 0);
}

BOOST_AUTO_TEST_CASE(clocks_are_compared_from_the_beginning_on) {
  const ClockWatch watch;
  const ClockFacts facts = watch.facts();
  BOOST_TEST((facts.boot_elapsed >= Duration::zero()));
  BOOST_TEST((facts.boot_elapsed < std::chrono::hours(1)));
  BOOST_TEST(facts.year > 2020);
}

BOOST_AUTO_TEST_SUITE_END()

// --- sockets and names ---

BOOST_AUTO_TEST_SUITE(network_look)

constexpr const char* kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
    "   0: 00000000:1F0A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
    "   1: 0100000A:1F0A 0200000A:C350 01 00000000:00000000 00:00000000 00000000     0\n"
    "   2: 0100000A:C350 0300000A:1F0A 01 00000000:00000000 00:00000000 00000000     0\n"
    "   3: 0100000A:1F0A 0400000A:C350 06 00000000:00000000 00:00000000 00000000     0\n"
    "   4: nonsense\n";

constexpr const char* kTableOfIpv6 =
    "   0: 0000000000000000FFFF00000100000A:1F0A 0000000000000000FFFF00000500000A:C350 01 0\n"
    "   1: B80D0120000000000000000001000000:1F0A B80D0120000000000000000002000000:C351 01 0\n";

BOOST_AUTO_TEST_CASE(tells_who_is_connected_to_a_port) {
  std::vector<SocketEntry> sockets = parse_socket_table(kTable);
  BOOST_TEST(sockets.size() == 4);
  BOOST_TEST(sockets.front().is_listening);
  // Neither whom this host has connected nor whose connection has ended (06).
  BOOST_TEST(hosts_connected_to(7946, sockets) == std::vector<std::string>{"10.0.0.2"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(tells_it_in_ipv6_and_unwraps_ipv4) {
  const std::vector<SocketEntry> sockets = parse_socket_table(kTableOfIpv6);
  const std::vector<std::string> expected{"10.0.0.5", "2001:db8::2"};
  BOOST_TEST(hosts_connected_to(7946, sockets) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(tells_signs_of_a_service_mesh) {
  const Environment bare{.variable = [](const std::string&) { return std::nullopt; },
                         .host_name = ""};
  const Environment meshed{.variable = [](const std::string& name) -> std::optional<std::string> {
                             return name == "ISTIO_META_MESH_ID" ? std::optional<std::string>("x")
                                                                 : std::nullopt;
                           },
                           .host_name = ""};
  const SocketEntry proxy{.local = {"0.0.0.0", 15001}, .remote = {}, .is_listening = true};
  BOOST_TEST(signs_of_mesh(bare, {}).empty());
  BOOST_TEST(signs_of_mesh(bare, {proxy}).size() == 1);
  BOOST_TEST(signs_of_mesh(meshed, {proxy}).size() == 2);
}

BOOST_AUTO_TEST_CASE(takes_numbers_as_they_are_and_looks_names_up) {
  std::vector<NameFacts> names{{Origin::kPeers, {"10.0.0.1", 7946}, {}, ""},
                               {Origin::kPeers, {"localhost", 7946}, {}, ""},
                               {Origin::kDns, {"nobody.invalid", 7946}, {}, ""}};
  look_up(names, std::chrono::seconds(10));
  BOOST_TEST(names[0].addresses == std::vector<std::string>{"10.0.0.1:7946"},
             boost::test_tools::per_element());
  BOOST_TEST(!names[1].addresses.empty());
  BOOST_TEST(names[1].error == "");
  BOOST_TEST(names[2].addresses.empty());
  BOOST_TEST(names[2].error != "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
