// Tokens are compared as digests, so that how long it takes tells nothing of them.
#include "api/authority.hh"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "base/ascii.hh"
#include "base/lines.hh"
#include "io/tls/guarded_file.hh"
#include "io/tls/openssl.hh"

namespace bellwether::api {
namespace {

constexpr size_t kMinTokenBytes = 16;
constexpr size_t kMaxTokens = 64;
constexpr unsigned kUnauthorized = 401;
constexpr unsigned kForbidden = 403;

// A group of thousands has a long entry: ERANGE asks for more room.
template <typename Entry>
std::optional<Entry> entry_of(const std::string& name,
                              int (*find)(const char*, Entry*, char*, size_t, Entry**)) {
  constexpr size_t kMostBytes = size_t{16} * 1024 * 1024;
  for (size_t bytes = 16384; bytes <= kMostBytes; bytes *= 4) {
    Entry found{};
    Entry* result = nullptr;
    std::vector<char> buffer(bytes);
    const int error = find(name.c_str(), &found, buffer.data(), buffer.size(), &result);
    if (result != nullptr) return found;  // its numbers; its texts go with the buffer
    if (error != ERANGE) break;
  }
  return std::nullopt;
}

// The numbers of users, or of groups, that are named so; a number stands for itself.  What stands
// for nobody here goes to `unknown`.
template <typename Entry, typename Id>
std::vector<Id> ids(const std::vector<std::string>& names, std::vector<std::string>& unknown,
                    int (*find)(const char*, Entry*, char*, size_t, Entry**), Id Entry::*number,
                    const char* kind) {
  std::vector<Id> found;
  const std::optional<uint32_t> overflow = names.empty() ? std::nullopt : io::overflow_id(kind);
  for (const std::string& name : names) {
    std::optional<Id> id = parse_number<Id>(name);
    if (!id) {
      if (const auto entry = entry_of(name, find)) id = (*entry).*number;
    }
    if (id && id != overflow) {
      found.push_back(*id);
    } else {
      unknown.push_back(name);
    }
  }
  return found;
}

template <typename Id>
bool contains(const std::vector<Id>& all, Id one) {
  return std::ranges::find(all, one) != all.end();
}

std::string digest_of(std::string_view token) { return io::fingerprint(std::span(&token, 1)); }

// RFC 6750, section 2.1.
std::optional<std::string_view> bearer_token(const io::HttpRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view text = request.authorization;
  if (text.size() <= kBearer.size() ||
      !equals_ignoring_case(text.substr(0, kBearer.size()), kBearer)) {
    return std::nullopt;
  }
  return trimmed(text.substr(kBearer.size()));
}

}  // namespace

std::vector<std::string> parse_tokens(std::string_view text) {
  std::vector<std::string> digests;
  for_each_line(text, [&](int number, std::string_view line) {
    const bool is_visible = std::ranges::all_of(line, [](char c) { return c > ' ' && c <= '~'; });
    if (!is_visible || line.size() < kMinTokenBytes) {
      throw io::TlsError(
          fmt::format("line {} is not a token of at least {} visible characters; "
                      "make one with \"bellwether keygen\"",
                      number, kMinTokenBytes));
    }
    if (digests.size() == kMaxTokens) {
      throw io::TlsError(fmt::format("holds more than {} tokens; take out old ones", kMaxTokens));
    }
    digests.push_back(digest_of(line));
  });
  if (digests.empty()) throw io::TlsError("holds no token; make one with \"bellwether keygen\"");
  return digests;
}

Authority::Authority(const ApiSettings& settings)
    : is_socket_only_(settings.writes == ApiWrites::kSocket),
      wants_token_(!settings.token_file.empty()),
      wants_certificate_(!settings.client_ca.empty()),
      wants_user_(!settings.allow_users.empty() || !settings.allow_groups.empty()),
      users_(ids(settings.allow_users, unknown_, ::getpwnam_r, &passwd::pw_uid, "uid")),
      groups_(ids(settings.allow_groups, unknown_, ::getgrnam_r, &group::gr_gid, "gid")) {}

void Authority::set_tokens(std::vector<std::string> digests, std::string flaw) {
  tokens_ = std::move(digests);
  token_flaw_ = std::move(flaw);
}

Permission Authority::judge(const io::HttpRequest& request) const {
  if (request.is_over_unix_socket) return judge_user(request.client);
  if (is_socket_only_) {
    return {kForbidden, "commands are taken on the unix socket alone ([api] writes)"};
  }
  if (wants_certificate_ && request.client.certificate) return {};
  if (wants_token_) return judge_token(request);
  if (!wants_certificate_) return {};
  return {kForbidden, "a command needs a certificate of [api] client_ca, and none was shown"};
}

bool Authority::is_in_force(const std::string& token) const {
  return token.empty() || !token_flaw_.empty() || contains(tokens_, token);
}

// Root, and whoever could end the sidecar anyway, may.
Permission Authority::judge_user(const io::HttpClientFacts& client) const {
  if (!wants_user_) return {};
  if (client.process) {
    const uid_t user = client.process->user;
    const bool is_in_group = std::ranges::any_of(
        client.process->groups, [this](gid_t group) { return contains(groups_, group); });
    const bool is_own = user == ::geteuid() && user != io::overflow_id("uid");
    if (user == 0 || is_own || contains(users_, user) || is_in_group) return {};
  }
  return {kForbidden, text_of(client) +
                          " may not command this sidecar; [api] allow_users and "
                          "allow_groups name who may"};
}

Permission Authority::judge_token(const io::HttpRequest& request) const {
  if (!token_flaw_.empty()) {
    return {kForbidden, "no token is accepted, because they cannot be read; the log says why"};
  }
  const auto token = bearer_token(request);
  if (!token) {
    return {kUnauthorized, std::string("a command needs a token: Authorization: Bearer ...") +
                               (wants_certificate_ ? ", or a certificate of [api] client_ca" : "")};
  }
  std::string digest = digest_of(*token);
  if (contains(tokens_, digest)) return {.token = std::move(digest)};
  return {kUnauthorized, "this token is not in [api] token_file"};
}

std::string text_of(const io::HttpClientFacts& client) {
  if (client.certificate) return client.address + ", certificate " + *client.certificate;
  if (!client.process) return client.address.empty() ? "?" : client.address;
  return fmt::format("user {}, process {}", client.process->user, client.process->process);
}

}  // namespace bellwether::api
