// Everything that can be wrong at the start ends the program with its own exit code, in one line
// that names the file and the remedy; what comes after that is the log's.
#include <fmt/core.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands.hh"
#include "cli/hang_watch.hh"
#include "cli/plugin_dir.hh"
#include "cli/start_turn.hh"
#include "cli/text_file.hh"
#include "config/keys.hh"
#include "daemon/sidecar.hh"
#include "io/confinement/confinement.hh"
#include "io/flag/robust_futex.hh"
#include "io/loop/files.hh"
#include "io/loop/job.hh"
#include "io/loop/loop.hh"
#include "io/loop/signals_blocked.hh"
#include "io/names/listening.hh"
#include "io/tls/openssl.hh"

namespace bellwether::cli {
namespace {

struct RunOptions {
  std::string file = kUsualConfig;
  bool forget_promises = false;
  bool is_first_start = false;
};

constexpr const char* kRunDescription = R"(Run the sidecar

Takes part in the group's elections until SIGTERM or SIGINT, then hands leadership over and leaves.
SIGHUP reads the configuration again (as does a change of the file); SIGUSR1 logs the state.

Started again and again, each time soon after the last, it waits before it begins, 16 s at most, and
says so; it counts in $RUNTIME_DIRECTORY, which systemd sets, and without it never waits.

With [voters], a voter whose state is gone, damaged or put back to an older one does not know what
it has granted.  It has no vote until it has waited 10 s and then asked the others: enough of those
that remember to make a majority, or else all.
  --bootstrap        skips the wait.  Only for a new group, in which nothing was promised in the
                     last 10 s; later it could bring a second leader while the first one's lease
                     runs.
  --forget-promises  asks nobody; a voter that remembers ignores it.  Only when a voter that would
                     have to answer is gone for good and cannot be replaced, or when [voters] have
                     changed: stop all that ran before, then start each voter with it once.  If a
                     forgotten vote counts after all, an epoch gets a second leader, and its fencing
                     token is worth nothing.
)";

constexpr const char* kRunExamples = R"(Examples:
  bellwether run --config /etc/bellwether/bellwether.toml
  bellwether check /etc/bellwether/bellwether.toml
      first see all values, and what they mean

Exit status: 0 left in good order; 1 failed while running, or cannot start for now (the
configuration or the plugin cannot be opened, too few files may be open or threads be started);
2 wrong usage; 3 the configuration is invalid; 5 the plugin was refused; 6 an address cannot be
used; 7 the flag or the state cannot be used until somebody does what the message says; 8 it was
wrong about itself (a bug, ours or the plugin's): the log says how, and the flag was turned off
first; 9 the flag or the state cannot be used now (the disk is full or fails, another process
has the lock; the state's folder was deleted, and only systemd can make it): the same start may
succeed later.)";

// Five that stay beside the loop's, and seven that read files.
constexpr size_t kThreads = 12;
// Twice as much as the deepest start takes.
constexpr size_t kStackBytes = size_t{384} << 10;

// How many threads a process may have depends on its user (ulimit -u), its control group and its
// address space (ulimit -v), and is not to be asked for: it is tried.  Throws std::runtime_error,
// with a remedy, unless this process may have `count` more at this moment; libuv ends a process
// without a word when it cannot make those of its pool.
void require_threads(size_t count) {
  std::vector<std::thread> threads;
  std::latch over(1);
  try {
    while (threads.size() < count) threads.emplace_back([&over] { over.wait(); });
  } catch (const std::system_error&) {
    // As many as there are.
  }
  over.count_down();
  for (std::thread& thread : threads) thread.join();
  if (threads.size() == count) return;
  throw std::runtime_error(
      fmt::format("only {} threads more may be started, and it takes {}; allow more (ulimit -u, "
                  "TasksMax=, pids.max; or memory: ulimit -v)",
                  threads.size(), count));
}

// The same of the stack, which threads have, too: one that is too small ends the process without a
// word.
void require_stack(size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= bytes) return;
  throw std::runtime_error(
      fmt::format("the stack may have {} KiB, and it takes {}; allow more (ulimit -s, LimitSTACK=)",
                  limit.rlim_cur / 1024, bytes / 1024));
}

ExitCode exit_code_of(daemon::SidecarEnd end) {
  static constexpr PerValue<daemon::SidecarEnd, ExitCode> kCodes(
      {ExitCode::kOk, ExitCode::kFailure, ExitCode::kFailure, ExitCode::kStateUnavailable,
       ExitCode::kInvariantBroken});
  return kCodes[end];
}

bool was_asked_for(daemon::SidecarEnd end) {
  return end == daemon::SidecarEnd::kInGoodOrder || end == daemon::SidecarEnd::kCutShort;
}

daemon::SidecarEnd run_with_signals(daemon::Sidecar& sidecar) {
  const io::SignalsTaken while_it_runs;
  return sidecar.run();
}

// How long the process may take for its end once the sidecar has said all it had to say.
constexpr unsigned kSecondsToEnd = 1;

// What hangs in a thread, because a disk or a network file system does not answer, cannot be called
// back, and the ends of the loop and of the process would wait for it.  By a signal, for there may
// be no thread to wait with.
ExitCode end_in_time(ExitCode code) {
  static volatile std::sig_atomic_t status;
  status = static_cast<int>(code);
  std::signal(SIGALRM, [](int /*signal*/) { ::_exit(status); });
  sigset_t alarms;
  ::sigemptyset(&alarms);
  ::sigaddset(&alarms, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  ::alarm(kSecondsToEnd);
  return code;
}

// Before there is a thread that stays, and anything that somebody else has said.
io::Confinement confined(const Config& config) {
  if (!config.node.is_confined) return {.lack = "node.confine is \"off\""};
  io::ConfinementSettings settings;
  std::vector<std::filesystem::path> made_again{config.flag.path};
  if (!config.api.socket.empty()) made_again.emplace_back(config.api.socket);
  if (!config.node.state_dir.empty()) {
    made_again.push_back(std::filesystem::path(config.node.state_dir) / "state");
  }
  settings.writable = io::folders_of(made_again);
  if (config.node.dumps_core) {
    settings.why_writing_is_free =
        "node.core_dumps is \"on\", and the process itself writes the dump, wherever that goes";
  }
  return io::confine(settings);
}

// Before readings take the threads that require_threads() has found: libuv makes its pool for the
// first job, and ends a process that cannot have it.
void make_pool() {
  io::Loop loop;
  const auto job = io::run_in_pool(
      loop, [] { return true; }, [](bool /*is_done*/) {});
  loop.run();
}

// Runs until a signal ends it.  Has much of the stack on its own, which must be there before.
[[gnu::noinline]] ExitCode run_sidecar(const RunOptions& options, const StartTurn& turn) {
  const bool are_keys_dumped = !io::keep_openssl_out_of_core_dumps();
  // Peers and clients go away at any time; that is an error of a write, not the end of everything.
  std::signal(SIGPIPE, SIG_IGN);
  require_threads(kThreads);
  // Forks a child, so it comes before all threads that stay.
  const char* const flag_weakness = io::robust_futex_flaw();
  std::optional<HangWatch> watch(std::in_place, "cannot start yet: ", [&] { turn.forget(); });
  // The first process of a container inherits the orphans of all others; nobody has to wait for
  // them.
  if (::getpid() == 1) std::signal(SIGCHLD, SIG_IGN);
  const std::string text =
      read_configuration(options.file, [&] { return daemon::read_config_text(options.file); });
  daemon::SidecarSettings settings{.config_text = text,
                                   .plugin_dir = installed_plugin_dir(),
                                   .version = BELLWETHER_VERSION,
                                   .forget_promises = options.forget_promises,
                                   .is_first_start = options.is_first_start,
                                   .flag_weakness = flag_weakness != nullptr ? flag_weakness : "",
                                   .are_keys_dumped = are_keys_dumped};
  try {
    settings.parsed =
        parse_config(settings.config_text, options.file, environment_with_plugins(Onlooker::kNo));
  } catch (const ConfigErrors& errors) {
    write_to_stderr(std::string(errors.what()) + "\n");
    return ExitCode::kConfigInvalid;
  }
  // The kernel marks the flag, and ends the connections, only when the dump is written.
  if (!settings.parsed.config.node.dumps_core) ::prctl(PR_SET_DUMPABLE, 0);
  // Before all that opens files.
  settings.open_files = io::raise_open_files();
  settings.confinement = confined(settings.parsed.config);
  make_pool();
  const auto refuse = [](const std::exception& error, ExitCode code) {
    write_to_stderr("bellwether: " + std::string(error.what()) + "\n");
    return code;
  };
  try {
    const Config& config = settings.parsed.config;
    daemon::Log log(config.log);
    log.set_node(config.node.name);
    daemon::Sidecar sidecar(std::move(settings), log);
    watch.reset();
    const daemon::SidecarEnd end = run_with_signals(sidecar);
    if (was_asked_for(end)) turn.forget();
    return end_in_time(exit_code_of(end));
  } catch (const io::FileError& error) {
    return refuse(error, error.may_pass() ? ExitCode::kStateUnavailable : ExitCode::kStateUnusable);
  } catch (const io::AddressError& error) {
    return refuse(io::AddressError(options.file + ": " + error.what()), ExitCode::kAddressUnusable);
  }
}

ExitCode run_in_its_turn(const RunOptions& options) {
  // One heap for all threads: each further one takes 64 MiB of the address space, which
  // require_threads() does not see, for the threads that it tries allocate nothing.
  ::mallopt(M_ARENA_MAX, 1);
  // Every further thread delays the end of a process that is killed.
  ::setenv(io::kPoolSizeVariable, io::kPoolSize, 1);
  // Until somebody takes them signals wait, and what comes after it is too late to count: the first
  // process of a container would never learn of one for which it has no handler yet.
  io::block_signals();
  const StartTurn turn(options.file);
  if (!turn.comes()) return ExitCode::kOk;
  require_stack(kStackBytes);
  return run_sidecar(options, turn);
}

}  // namespace

void add_run(CLI::App& program, Subcommand& chosen) {
  CLI::App& run = *program.add_subcommand("run", kRunDescription);
  run.footer(kRunExamples);
  // Shared by what fills it and what reads it, as with all commands.
  const auto options = std::make_shared<RunOptions>();
  run.add_option("--config", options->file, "default: " + options->file)->option_text("FILE");
  run.add_flag("--bootstrap", options->is_first_start)
      ->description("the very first start of a group with [voters]: it need not wait 10 s");
  run.add_flag("--forget-promises", options->forget_promises)
      ->description("DANGER: vote although this voter does not know what it has granted");
  run.callback([&chosen, options] { chosen = [options] { return run_in_its_turn(*options); }; });
}

}  // namespace bellwether::cli
