// Who may command this sidecar.  Whoever reaches the API may look, as probes and balancers do; a
// command needs the right door, and where it is asked for, a token, a certificate or the right
// user.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "config/config.hh"
#include "io/http/http_message.hh"

namespace bellwether::api {

// The tokens of a file, as digests.  A line is a token of at least 16 visible characters, or empty,
// or a comment that begins with '#'.  Throws TlsError, which names a line but nothing of it.
std::vector<std::string> parse_tokens(std::string_view text);

// What became of the wish to command.
struct Permission {
  unsigned status = 200;  // or 401, 403
  std::string reason{};   // a sentence for the client, when it is refused
  std::string token{};    // the digest of the one by which it is given; empty: by something else

  bool is_given() const { return status == 200; }
  bool asks_for_token() const { return status == 401; }
};

class Authority {
 public:
  // Reads /etc/passwd and whatever else nsswitch.conf(5) names, so it may block.
  explicit Authority(const ApiSettings& settings);

  // Nobody else has a token from now on.  `flaw`: why there are none; "": there are.
  void set_tokens(std::vector<std::string> digests, std::string flaw);

  Permission judge(const io::HttpRequest& request) const;
  // Whether what a token's digest gave is given still.  Tokens that cannot be read end nothing.
  bool is_in_force(const std::string& token) const;
  // Why no token is accepted; "": they are, or none is asked for.
  std::string token_flaw() const { return wants_token_ ? token_flaw_ : ""; }
  // Names of users and groups that [api] has and this host does not know, and numbers that stand
  // for everybody of other user namespaces.
  const std::vector<std::string>& unknown_names() const { return unknown_; }

 private:
  Permission judge_user(const io::HttpClientFacts& client) const;
  Permission judge_token(const io::HttpRequest& request) const;

  bool is_socket_only_;
  bool wants_token_;
  bool wants_certificate_;  // or a token
  bool wants_user_;
  std::vector<std::string> unknown_;
  std::vector<uid_t> users_;
  std::vector<gid_t> groups_;
  std::vector<std::string> tokens_;  // digests
  std::string token_flaw_ = "its tokens have not been read yet";
};

// Who asks, for the log: "127.0.0.1:50210", "127.0.0.1:50210, certificate ops.example.org",
// "user 1000, process 4711".
std::string text_of(const io::HttpClientFacts& client);

}  // namespace bellwether::api
