// A new secret, for a group or for a webhook.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "api/webhook_signature.hh"
#include "cli/commands.hh"
#include "io/loop/files.hh"
#include "io/tls/group_secret.hh"

namespace bellwether::cli {
namespace {

constexpr const char* kKeygenDescription =
    R"(Make a secret for the members of a group, a token for commands, or a key for a webhook

Prints one line: 256 random bits, for the file that tls.secret_file names.  Give every member the same
file, which nobody else can read.  Lines that begin with # are comments.  During a rotation the file has
several lines: the first is offered, all are accepted.

The same makes a token for the file that api.token_file names: a line for each client that may command.

With --webhook the line is for the file that secret_file of a [[hook]] names, and for the receiver of its
events, which knows the sidecar by it ("whsec_" and base64, as Standard Webhooks has it).
)";

constexpr const char* kKeygenExamples = R"(Examples:
  bellwether keygen --output /etc/bellwether/secret
      a new file that only its owner can read; one that is there stays
  bellwether keygen >> /etc/bellwether/tokens
      one more token in a file that is there
  bellwether keygen --webhook --output /etc/bellwether/hook/secret
      the same for a webhook

Exit status: 0 done; 1 the file is there already, or cannot be written; 2 wrong usage.)";

constexpr mode_t kOwnerOnly = 0600;

void write_new_file(const std::string& path, const std::string& text) {
  const auto fail = [&](const char* what, int error, const char* remedy) {
    throw std::runtime_error(path + " " + what + ": " + std::generic_category().message(error) +
                             "; " + remedy);
  };
  const io::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
  if (!file.is_open()) {
    fail("cannot be made", errno,
         errno == EEXIST ? "it may be in use: give another name, or remove it"
                         : "give the name of a file in a folder that this user may write");
  }
  const ssize_t count = ::write(file.get(), text.data(), text.size());
  const bool is_whole = count == static_cast<ssize_t>(text.size());
  if (is_whole && ::fsync(file.get()) == 0) return;
  const int error = count >= 0 && !is_whole ? ENOSPC : errno;
  ::unlink(path.c_str());
  fail("cannot be written", error, "make room there, or give another name");
}

struct KeygenOptions {
  std::optional<std::string> output;  // a file; nothing: standard output
  bool is_for_webhook = false;
};

ExitCode keygen(const KeygenOptions& options) {
  if (options.output && options.output->empty()) {
    throw UsageError("--output wants the name of a file; see 'bellwether keygen --help'");
  }
  const std::string secret =
      options.is_for_webhook ? api::make_signing_key() : io::make_group_secret();
  if (!options.output) {
    std::cout << secret << "\n";
  } else {
    write_new_file(*options.output, secret + "\n");
  }
  return ExitCode::kOk;
}

}  // namespace

void add_keygen(CLI::App& program, Subcommand& chosen) {
  auto options = std::make_shared<KeygenOptions>();
  CLI::App& command = *program.add_subcommand("keygen", kKeygenDescription);
  command.footer(kKeygenExamples);
  command.add_flag("--webhook", options->is_for_webhook, "Make one that events are signed with");
  command.add_option("--output", options->output, "Write it into a new file, of mode 0600")
      ->type_name("FILE");
  command.callback([&chosen, options] { chosen = [options] { return keygen(*options); }; });
}

}  // namespace bellwether::cli
