// What the API server says is a Lease, or a Status that says why not.
#include "io/store/kubernetes_lease.hh"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/json.hh"
#include "io/http/http_url.hh"
#include "io/store/json_fields.hh"
#include "io/store/lease_object.hh"

namespace bellwether::io {
namespace {

// Whom a server takes those for who show neither token nor certificate.
constexpr const char* kAnonymous = "system:anonymous";
constexpr Duration kLongestRetryAfter = std::chrono::minutes(1);
// Servers end a watch after at most so long; without it they choose between 30 and 60 minutes.
constexpr int kWatchSeconds = 600;

enum StatusCode : unsigned {
  kStatusOk = 200,
  kStatusCreated = 201,
  kStatusUnauthorized = 401,
  kStatusForbidden = 403,
  kStatusNotFound = 404,
  kStatusConflict = 409,
  kStatusGone = 410,
  kStatusInvalid = 422,
  kStatusTooMany = 429,
};

// Why the API server did not do what it was asked for.
struct Status {
  std::string message;
  std::string reason;  // "NotFound"
  std::string kind;    // of what it is about: "leases"
  unsigned code = 0;
};

std::optional<Status> parse_status(const Json& json) {
  if (json_text(member(json, "kind")) != "Status") return std::nullopt;
  const auto code = json_whole(member(json, "code")).value_or(0);
  return Status{.message = json_text(member(json, "message")),
                .reason = json_text(member(json, "reason")),
                .kind = json_text(member(json, {"details", "kind"})),
                .code = code > 0 && code < 1000 ? static_cast<unsigned>(code) : 0};
}

class KubernetesLease final : public StoreDialect {
 public:
  explicit KubernetesLease(KubernetesSettings settings)
      : settings_(std::move(settings)),
        leases_(settings_.server + "/apis/coordination.k8s.io/v1/namespaces/" +
                percent_encode(settings_.namespace_name) + "/leases") {}

  std::string server() const override { return settings_.server; }
  void set_secret(const Secret& secret) override { token_ = secret; }

  HttpClientRequest read() override { return request("GET", url_of_lease()); }
  StoreReply on_read(const HttpAnswer& answer) override {
    if (answer.status != kStatusOk) {
      const std::optional<Status> status = status_of(answer);
      if (answer.status == kStatusNotFound && is_about_lease(status)) {
        last_.reset();
        return StoreSeen{};
      }
      return refusal_of("get", answer, status);
    }
    if (!take(parse_json(answer.body))) return no_lease();
    return StoreSeen{last_->sight};
  }

  HttpClientRequest write(const StoreVersion& expected, const StoreRecord& record,
                          WallTime now) override {
    is_creating_ = expected.empty();
    written_ = {record, now};
    if (is_creating_) {
      HttpClientRequest create = request("POST", leases_);
      create.headers.emplace_back("Content-Type", "application/json");
      create.body.assign(dump(new_lease(settings_.lease_name, record, now)));
      return create;
    }
    HttpClientRequest patch = request("PATCH", url_of_lease());
    patch.headers.emplace_back("Content-Type", "application/merge-patch+json");
    patch.body.assign(dump(lease_patch(expected, record, last_, now)));
    return patch;
  }
  HttpClientRequest rehearse(WallTime now) override {
    is_creating_ = !last_;
    HttpClientRequest request =
        is_creating_ ? write("", {}, now) : this->request("PATCH", url_of_lease());
    request.url += "?dryRun=All";
    if (is_creating_) return request;
    written_.reset();
    request.headers.emplace_back("Content-Type", "application/merge-patch+json");
    request.body = "{}";
    return request;
  }
  StoreReply on_write(const HttpAnswer& answer) override {
    if (answer.status == kStatusOk || answer.status == kStatusCreated) {
      if (!take(parse_json(answer.body))) return no_lease();
      if (written_ && !is_written(*last_, written_->record, written_->now)) {
        return answer_to_another_write(server());
      }
      return StoreWritten{last_->sight.version};
    }
    const std::optional<Status> status = status_of(answer);
    if (answer.status == kStatusConflict) return StoreConflict{};
    if (!is_creating_ && answer.status == kStatusNotFound && is_about_lease(status)) {
      last_.reset();
      return StoreConflict{StoreSight{}};
    }
    return refusal_of(is_creating_ ? "create" : "patch", answer, status);
  }

  bool must_read_to_watch() const override { return false; }

  // Without a version the server begins with what there is.
  HttpClientRequest watch() override {
    std::string url = leases_ + "?watch=1&allowWatchBookmarks=true&fieldSelector=" +
                      percent_encode("metadata.name=" + settings_.lease_name) +
                      fmt::format("&timeoutSeconds={}", kWatchSeconds);
    if (!position_.empty()) url += "&resourceVersion=" + percent_encode(position_);
    return request("GET", url);
  }
  void begin_watch() override { position_.clear(); }
  StoreReply on_watch_line(std::string_view line) override {
    const std::optional<Json> event = parse_json(line);
    const Json* object = event ? member(*event, "object") : nullptr;
    if (object == nullptr) return no_event();
    const std::string type = json_text(member(*event, "type"));
    if (type == "ERROR") return watch_refusal(parse_status(*object));
    const std::string version = json_text(member(*object, {"metadata", "resourceVersion"}));
    if (version.empty() || version.size() > kMaxStoreVersion) return no_event();
    position_ = version;
    if (type == "BOOKMARK") return StoreNothing{};
    if (json_text(member(*object, {"metadata", "name"})) != settings_.lease_name) return no_event();
    if (type == "DELETED") {
      last_.reset();
      return StoreSeen{};
    }
    if (!take(*object)) return no_event();
    return StoreSeen{last_->sight};
  }
  StoreReply on_watch_answer(const HttpAnswer& answer) override {
    const std::optional<Status> status = status_of(answer);
    if (answer.status == kStatusGone) return lose_position();
    return refusal_of("watch", answer, status);
  }

 private:
  std::string url_of_lease() const { return leases_ + "/" + percent_encode(settings_.lease_name); }

  HttpClientRequest request(const char* method, std::string url) const {
    HttpClientRequest request{
        .method = method,
        .url = std::move(url),
        .headers = {{"Accept", "application/json"}, {"User-Agent", settings_.user_agent}}};
    if (!token_.empty()) request.authorization.append("Bearer ").append(token_.text());
    return request;
  }

  bool take(const std::optional<Json>& json) {
    std::optional<LeaseObject> lease = json ? parse_lease(*json) : std::nullopt;
    const bool is_good = lease.has_value();
    if (is_good) last_ = std::move(lease);
    return is_good;
  }

  static std::optional<Status> status_of(const HttpAnswer& answer) {
    const std::optional<Json> json = parse_json(answer.body);
    return json ? parse_status(*json) : std::nullopt;
  }
  // Not about its namespace, which is missing then, nor about the whole API.
  static bool is_about_lease(const std::optional<Status>& status) {
    return status && status->kind == "leases";
  }

  StoreReply lose_position() {
    position_.clear();
    return StorePositionLost{};
  }
  StoreReply watch_refusal(const std::optional<Status>& status) {
    if (status && status->code == kStatusGone) return lose_position();
    HttpAnswer answer{.status = status ? status->code : 0};
    return refusal_of("watch", answer, status);
  }

  StoreRefusal no_lease() const { return malformed("answers with something that is not a Lease"); }
  StoreRefusal no_event() const {
    return malformed("sends something that is not an event of a watch");
  }
  StoreRefusal malformed(const std::string& what) const {
    return {.failure = StoreFailure::kMalformed,
            .words = settings_.server + " " + what +
                     "; is kubernetes.server the address of an API server?"};
  }

  // Why `verb` was not done.
  StoreRefusal refusal_of(const char* verb, const HttpAnswer& answer,
                          const std::optional<Status>& status) const {
    const auto wait = retry_after(answer, std::chrono::system_clock::now());
    StoreRefusal refusal{
        .words = settings_.server + " ",
        .retry_after = std::min(wait.value_or(Duration::zero()), kLongestRetryAfter)};
    constexpr size_t kMaxMessage = 300;
    const std::string message = status ? ": " + shown(status->message, kMaxMessage) : "";
    const auto is = [&](StoreFailure failure, const std::string& words) {
      refusal.failure = failure;
      refusal.words += words;
      return refusal;
    };
    switch (answer.status) {
      case kStatusUnauthorized:
        return is(StoreFailure::kUnauthorized, token_words());
      case kStatusForbidden:
        if (message.find(kAnonymous) != std::string::npos) {
          return is(StoreFailure::kUnauthorized, anonymous_words());
        }
        return is(StoreFailure::kForbidden, fmt::format("does not let us {} {}; {}{}", verb, what(),
                                                        needed_role(settings_), message));
      case kStatusInvalid:
        return is(StoreFailure::kForbidden,
                  fmt::format("takes no {} of {}{}", verb, what(), message));
      case kStatusTooMany:
        return is(StoreFailure::kThrottled, "is asked too often" + message);
      case kStatusNotFound:
        if (status && status->kind == "namespaces") {
          return is(StoreFailure::kUnavailable,
                    fmt::format("has no namespace {}; make it, or give kubernetes.namespace",
                                settings_.namespace_name));
        }
        break;
      default:
        break;
    }
    const std::string words =
        fmt::format("answers {} to a {} of {}{}", answer.status, verb, what(), message);
    if (answer.status >= 500) return is(StoreFailure::kUnavailable, words);
    return is(StoreFailure::kMalformed,
              words + "; is kubernetes.server the address of an API server?");
  }

  std::string what() const {
    return fmt::format("Lease {} in namespace {}", settings_.lease_name, settings_.namespace_name);
  }
  // A server may let in who does not say who it is, and then let it do nothing.
  std::string anonymous_words() const {
    const std::string taken = std::string("takes us for ") + kAnonymous;
    if (token_.empty()) return taken + ": give kubernetes.token_file, or cert and key";
    return taken + " in spite of the token of " + settings_.token_name +
           ": it is missing there or over, or something in between does not pass it on";
  }
  std::string token_words() const {
    if (token_.empty()) return "wants to know who asks; give kubernetes.token_file";
    return "does not believe the token of " + settings_.token_name +
           ": it is over, or of another cluster, or its account was deleted";
  }

  KubernetesSettings settings_;
  std::string leases_;  // URL
  Secret token_;
  struct Written {
    StoreRecord record;
    WallTime now;
  };

  // By the write that was asked for last.
  bool is_creating_ = false;
  std::optional<Written> written_;  // nothing: it changes nothing
  std::optional<LeaseObject> last_;
  StoreVersion position_;  // of the watch; empty: none
};

}  // namespace

std::unique_ptr<StoreDialect> kubernetes_lease(const KubernetesSettings& settings) {
  return std::make_unique<KubernetesLease>(settings);
}

std::string needed_role(const KubernetesSettings& settings) {
  return fmt::format(
      "the account needs a Role in namespace {} with two rules for apiGroups "
      "[\"coordination.k8s.io\"], resources [\"leases\"]: verbs [\"get\", \"patch\", \"watch\"] "
      "with resourceNames [\"{}\"], and verbs [\"create\"]",
      settings.namespace_name, settings.lease_name);
}

}  // namespace bellwether::io
