// Bytes are base64 and numbers of 64 bits texts, both ways; what is zero or empty is left out.
#include "io/store/etcd_record.hh"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/ascii.hh"
#include "base/check.hh"
#include "base/json.hh"
#include "base/undumped_memory.hh"
#include "io/store/json_fields.hh"
#include "io/tls/base64.hh"

namespace bellwether::io {
namespace {

using std::chrono::milliseconds;
using Holder = StoreRecord::Holder;

// Of the value; another one is a stranger's.
constexpr int64_t kValueFormat = 1;

// Status codes of gRPC, which the gateway passes on.
enum GrpcCode : int64_t {
  kInvalidArgument = 3,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnauthenticated = 16,
};

std::optional<Holder> holder_named(std::string_view word) {
  if (word == "member") return Holder::kMember;
  if (word == "released") return Holder::kReleased;
  return word == "unknown" ? std::optional(Holder::kUnknown) : std::nullopt;
}

std::optional<uint64_t> epoch_of(const Json* json) {
  if (json == nullptr || !json->is_number_unsigned()) return std::nullopt;
  return json->get<uint64_t>();
}

std::optional<uint64_t> hexadecimal(const Json* json) {
  return parse_number<uint64_t>(json_text(json), 16);
}

std::optional<StoreRecord> parse_record(const Json& json) {
  constexpr int64_t kMostMs = std::numeric_limits<int32_t>::max() * int64_t{1000};
  const auto holder = holder_named(json_text(member(json, "holder")));
  const auto lease_ms = json_whole(member(json, "lease_ms"));
  if (json_whole(member(json, "bellwether")) != kValueFormat || !holder || !lease_ms ||
      *lease_ms < 0 || *lease_ms > kMostMs) {
    return std::nullopt;
  }
  StoreRecord record{.holder = *holder, .lease = milliseconds(*lease_ms)};
  if (*holder == Holder::kUnknown) return record;
  const auto id = parse_uuid(json_text(member(json, "id")));
  const auto epoch = epoch_of(member(json, "epoch"));
  const auto home = hexadecimal(member(json, "home"));
  const auto boot = hexadecimal(member(json, "boot"));
  if (!id || !epoch || !home || !boot) return std::nullopt;
  record.id = *id;
  record.name = shown(json_text(member(json, "name")), kMaxStrangerName);
  record.home = *home;
  record.boot = *boot;
  record.epoch = *epoch;
  return record;
}

// As JSON, but not by way of a Json, whose memory is in core dumps.  All characters of a password
// can be seen (store_files.cc).
SecretText login_text(const std::string& user, const Secret& password) {
  SecretText text(dump({{"name", user}}));
  text.pop_back();
  text += R"(,"password":")";
  for (const char c : password.text()) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text += "\"}";
}

// What etcd says instead of an answer.
struct GatewayError {
  int64_t code = 0;  // GrpcCode
  std::string message;
};

class EtcdRecord final : public StoreDialect {
 public:
  explicit EtcdRecord(EtcdSettings settings)
      : settings_(std::move(settings)), key_(to_base64(settings_.key)) {
    check(!settings_.endpoints.empty(), "etcd is somewhere");
  }

  std::string server() const override { return settings_.endpoints[place_]; }
  void set_secret(const Secret& secret) override {
    if (std::exchange(password_, secret) != secret) log_out();
  }

  std::optional<HttpClientRequest> login() override {
    if (settings_.user.empty() || is_logged_in_) return std::nullopt;
    return post("/v3/auth/authenticate", login_text(settings_.user, password_));
  }
  StoreReply on_login(const HttpAnswer& answer) override {
    const std::optional<Json> json = parse_json(answer.body);
    const std::string token = json ? json_text(member(*json, "token")) : "";
    const bool is_fit = std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
    if (answer.status == 200 && !token.empty() && is_fit) {
      token_ = SecretText(token);
      is_logged_in_ = true;
      return StoreNothing{};
    }
    // Authentication is off: nobody need log in.
    if (json && json_whole(member(*json, "code")) == kFailedPrecondition) {
      is_logged_in_ = true;
      return StoreNothing{};
    }
    StoreRefusal refusal = refusal_of(answer, json);
    if (answer.status == 400) {
      refusal.failure = StoreFailure::kUnauthorized;
      refusal.words = fmt::format("{} does not believe user {} with the password of {}", server(),
                                  settings_.user, settings_.password_name);
    }
    return refusal;
  }

  HttpClientRequest read() override { return request("/v3/kv/range", {{"key", key_}}); }
  StoreReply on_read(const HttpAnswer& answer) override {
    const std::optional<Json> json = parse_json(answer.body);
    if (answer.status != 200 || !json) return refusal_of(answer, json);
    if (const auto foreign = judge_cluster(*json)) return *foreign;
    const auto revision = json_whole(member(*json, {"header", "revision"}));
    const auto sight = sight_of(*json);
    if (!revision || !sight) return malformed();
    position_ = *revision;
    return StoreSeen{*sight};
  }

  HttpClientRequest write(const StoreVersion& expected, const StoreRecord& record,
                          WallTime now) override {
    const Json compare = expected.empty()
                             ? Json{{"key", key_}, {"target", "CREATE"}, {"create_revision", "0"}}
                             : Json{{"key", key_}, {"target", "MOD"}, {"mod_revision", expected}};
    written_ = to_base64(to_etcd_value(record, now));
    const Json put{{"request_put", {{"key", key_}, {"value", written_}}}};
    const Json range{{"request_range", {{"key", key_}}}};
    return request("/v3/kv/txn", {{"compare", Json::array({compare})},
                                  {"success", Json::array({put, range})},
                                  {"failure", Json::array({range})}});
  }
  // Rights are looked at before conditions, and this one never holds.
  HttpClientRequest rehearse(WallTime now) override {
    return write(std::to_string(std::numeric_limits<int64_t>::max()), {}, now);
  }
  StoreReply on_write(const HttpAnswer& answer) override {
    const std::optional<Json> json = parse_json(answer.body);
    if (answer.status != 200 || !json) return refusal_of(answer, json);
    if (const auto foreign = judge_cluster(*json)) return *foreign;
    const auto revision = json_whole(member(*json, {"header", "revision"}));
    const Json* responses = member(*json, "responses");
    if (!revision || responses == nullptr || !responses->is_array() || responses->empty()) {
      return malformed();
    }
    const Json* range = member(responses->back(), "response_range");
    const Json* succeeded = member(*json, "succeeded");
    if (succeeded != nullptr && succeeded->is_boolean() && succeeded->get<bool>()) {
      return has_written(range) ? StoreReply(StoreWritten{std::to_string(*revision)})
                                : StoreReply(answer_to_another_write(server()));
    }
    return StoreConflict{range == nullptr ? std::nullopt : sight_of(*range)};
  }

  bool must_read_to_watch() const override { return true; }
  HttpClientRequest watch() override {
    return request(
        "/v3/watch",
        {{"create_request", {{"key", key_}, {"start_revision", std::to_string(position_ + 1)}}}});
  }
  void begin_watch() override {}  // each does, with a read
  StoreReply on_watch_line(std::string_view line) override {
    const std::optional<Json> json = parse_json(line);
    if (!json) return malformed();
    if (const Json* error = member(*json, "error")) {
      return refusal_by({json_whole(member(*error, "grpc_code")).value_or(0),
                         json_text(member(*error, "message"))});
    }
    const Json* result = member(*json, "result");
    if (result == nullptr) return malformed();
    if (const auto foreign = judge_cluster(*result)) return *foreign;
    if (const Json* canceled = member(*result, "canceled"); canceled != nullptr) {
      if (member(*result, "compact_revision") != nullptr) return StorePositionLost{};
      return refusal_by({.message = json_text(member(*result, "cancel_reason"))});
    }
    const Json* events = member(*result, "events");
    if (events == nullptr || !events->is_array() || events->empty()) return StoreNothing{};
    return event_of(events->back());
  }
  StoreReply on_watch_answer(const HttpAnswer& answer) override {
    return refusal_of(answer, parse_json(answer.body));
  }

  void on_failure(StoreFailure failure) override {
    if (failure == StoreFailure::kUnauthorized) return log_out();
    // All would say so; the failure of another one would hide it.
    if (failure == StoreFailure::kForbidden) return;
    place_ = (place_ + 1) % settings_.endpoints.size();
  }

 private:
  HttpClientRequest request(const char* path, const Json& body) const {
    return post(path, SecretText(dump(body)));
  }
  HttpClientRequest post(const char* path, SecretText body) const {
    return {.method = "POST",
            .url = server() + path,
            // A member that has lost its cluster says so at once, instead of waiting for it.
            .headers = {{"Content-Type", "application/json"}, {"Grpc-Metadata-hasleader", "true"}},
            .authorization = token_,
            .body = std::move(body)};
  }

  // Each answer names its cluster.  Two clusters have two records, and each of them a leader.
  std::optional<StoreRefusal> judge_cluster(const Json& answer) {
    const std::string cluster = json_text(member(answer, {"header", "cluster_id"}));
    if (cluster.empty() || cluster == cluster_) return std::nullopt;
    if (cluster_.empty()) {
      cluster_ = cluster;
      return std::nullopt;
    }
    constexpr size_t kMaxId = 20;
    return StoreRefusal{
        .failure = StoreFailure::kMalformed,
        .words = fmt::format("{} is of etcd cluster {}, and not of {}, which has answered first: "
                             "let etcd.endpoints name the members of one cluster; if it was made "
                             "anew, restart this sidecar",
                             server(), shown(cluster, kMaxId), shown(cluster_, kMaxId))};
  }

  void log_out() {
    token_.clear();
    is_logged_in_ = false;
  }

  // What the key was after the write: just what this one has written, its time included.
  bool has_written(const Json* range) const {
    const Json* all = range == nullptr ? nullptr : member(*range, "kvs");
    return all != nullptr && all->is_array() && all->size() == 1 &&
           json_text(member(all->front(), "value")) == written_;
  }

  // Of the answer to a range; nothing when it makes no sense.
  static std::optional<StoreSight> sight_of(const Json& range) {
    const Json* all = member(range, "kvs");
    if (all == nullptr) return StoreSight{};
    if (!all->is_array() || all->size() != 1) return std::nullopt;
    return sight_of_key(all->front());
  }
  static std::optional<StoreSight> sight_of_key(const Json& kv) {
    const auto revision = json_whole(member(kv, "mod_revision"));
    const auto value = from_base64(json_text(member(kv, "value")));
    if (!revision || *revision <= 0 || !value) return std::nullopt;
    return StoreSight{.version = std::to_string(*revision),
                      .record = from_etcd_value({value->data(), value->size()})};
  }

  StoreReply event_of(const Json& event) {
    const Json* kv = member(event, "kv");
    if (kv == nullptr || json_text(member(*kv, "key")) != key_) return malformed();
    position_ = std::max(position_, json_whole(member(*kv, "mod_revision")).value_or(0));
    if (json_text(member(event, "type")) == "DELETE") return StoreSeen{};
    const auto sight = sight_of_key(*kv);
    if (!sight) return malformed();
    return StoreSeen{*sight};
  }

  StoreRefusal refusal_of(const HttpAnswer& answer, const std::optional<Json>& json) const {
    const std::string message = json ? json_text(member(*json, "error")) : "";
    if (!message.empty() && answer.status != 404) {
      return refusal_by({json_whole(member(*json, "code")).value_or(0), message});
    }
    if (answer.status == 404) {
      return {.failure = StoreFailure::kMalformed,
              .words = server() +
                       " has no /v3 for JSON; etcd 3.4 and later have it, unless it was switched "
                       "off (enable-grpc-gateway)"};
    }
    if (answer.status == 200) return malformed();
    return {.failure = answer.status >= 500 ? StoreFailure::kUnavailable : StoreFailure::kMalformed,
            .words = fmt::format("{} answers {}", server(), answer.status)};
  }
  StoreRefusal refusal_by(const GatewayError& error) const {
    constexpr size_t kMaxMessage = 300;
    const std::string words =
        fmt::format("{} says \"{}\"", server(), shown(error.message, kMaxMessage));
    const auto says = [&](const char* part) {
      return error.message.find(part) != std::string::npos;
    };
    // Both are found before anything is done.
    if (error.code == kUnauthenticated || says("revision of auth store is old")) {
      return {.failure = StoreFailure::kUnauthorized, .words = words};
    }
    if (error.code == kInvalidArgument && says("user name is empty")) {
      return {.failure = StoreFailure::kUnauthorized,
              .words = server() + " wants to know who asks; give etcd.user and password_file"};
    }
    if (error.code == kPermissionDenied || says("permission denied")) {
      return {.failure = StoreFailure::kForbidden,
              .words = fmt::format("{}: {} needs a role that may read and write key {}", words,
                                   settings_.user.empty() ? "this client" : settings_.user,
                                   settings_.key)};
    }
    if (error.code == kResourceExhausted && says("too many requests")) {
      return {.failure = StoreFailure::kThrottled, .words = words};
    }
    if (error.code == kInvalidArgument) {
      return {.failure = StoreFailure::kMalformed, .words = words};
    }
    return {.failure = StoreFailure::kUnavailable, .words = words};
  }
  StoreRefusal malformed() const {
    return {.failure = StoreFailure::kMalformed,
            .words = server() + " answers with something that etcd does not say; is it one?"};
  }

  EtcdSettings settings_;
  std::string key_;      // in base64
  std::string written_;  // the value that was sent last, in base64
  std::string cluster_;  // that has answered first; "": none has
  size_t place_ = 0;
  Secret password_;
  SecretText token_;
  bool is_logged_in_ = false;
  int64_t position_ = 0;  // the revision that was seen last
};

}  // namespace

std::unique_ptr<StoreDialect> etcd_record(const EtcdSettings& settings) {
  return std::make_unique<EtcdRecord>(settings);
}

std::string to_etcd_value(const StoreRecord& record, WallTime now) {
  constexpr std::array kWords{"unknown", "released", "member"};
  check(record.holder != Holder::kStranger, "a record is written by a member");
  Json json{{"bellwether", kValueFormat},
            {"holder", kWords.at(static_cast<size_t>(record.holder))},
            {"lease_ms", std::chrono::ceil<milliseconds>(record.lease).count()}};
  if (record.holder != Holder::kUnknown) {
    json["name"] = record.name;
    json["id"] = to_string(record.id);
    json["home"] = fmt::format("{:016x}", record.home);
    json["boot"] = fmt::format("{:016x}", record.boot);
    json["epoch"] = record.epoch;
  }
  json["written"] = rfc3339_micro(now);
  return dump(json);
}

StoreRecord from_etcd_value(std::string_view value) {
  const std::optional<Json> json = parse_json(value);
  const std::optional<StoreRecord> record = json ? parse_record(*json) : std::nullopt;
  if (record) return *record;
  if (value.empty()) return {};
  return {.holder = Holder::kStranger, .name = shown(value, kMaxStrangerName)};
}

}  // namespace bellwether::io
