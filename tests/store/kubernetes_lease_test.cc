// What is asked of an API server, and what its answers mean.
#include "io/store/kubernetes_lease.hh"

#include <boost/test/unit_test.hpp>

#include "base/json.hh"
#include "io/store/json_fields.hh"
#include "io/store/lease_object.hh"

namespace bellwether::io::test {
namespace {

const KubernetesSettings kSettings{.server = "https://10.96.0.1:443",
                                   .namespace_name = "shop",
                                   .lease_name = "orders",
                                   .token_name = "kubernetes.token_file /t"};
constexpr const char* kLeases =
    "https://10.96.0.1:443/apis/coordination.k8s.io/v1/namespaces/shop/leases";
const std::string kLease = R"({"kind":"Lease","metadata":{"name":"orders","resourceVersion":"7"},)"
                           R"("spec":{"holderIdentity":"somebody","leaseDurationSeconds":15}})";

std::string status(int code, const std::string& reason, const std::string& message,
                   const std::string& kind = "leases") {
  return dump({{"kind", "Status"},
               {"status", "Failure"},
               {"message", message},
               {"reason", reason},
               {"details", {{"kind", kind}}},
               {"code", code}});
}

std::unique_ptr<StoreDialect> fresh() {
  auto dialect = kubernetes_lease(kSettings);
  dialect->set_secret(Secret("secret"));
  return dialect;
}

StoreReply read(unsigned code, const std::string& body) {
  const auto dialect = fresh();
  dialect->read();
  return dialect->on_read({.status = code, .body = body});
}

StoreReply written(const StoreVersion& expected, unsigned code, const std::string& body) {
  const auto dialect = fresh();
  dialect->write(expected, {}, {});
  return dialect->on_write({.status = code, .body = body});
}

// As the server has it after written().
std::string stored(const StoreRecord& record = {}) {
  Json json = new_lease("orders", record, {});
  json["kind"] = "Lease";
  json["metadata"]["resourceVersion"] = "7";
  return dump(json);
}

StoreRefusal refused(const StoreReply& reply) {
  BOOST_REQUIRE(std::holds_alternative<StoreRefusal>(reply));
  return std::get<StoreRefusal>(reply);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(store_kubernetes_lease)

BOOST_AUTO_TEST_CASE(requests_are_those_of_the_api) {
  const auto dialect = fresh();
  const HttpClientRequest get = dialect->read();
  BOOST_TEST(get.method == "GET");
  BOOST_TEST(get.url == kLeases + std::string("/orders"));
  BOOST_TEST(get.authorization == "Bearer secret");
  const HttpClientRequest create = dialect->write("", {}, {});
  BOOST_TEST(create.method == "POST");
  BOOST_TEST(create.url == kLeases);
  const HttpClientRequest patch = dialect->write("7", {}, {});
  BOOST_TEST(patch.method == "PATCH");
  BOOST_TEST(patch.url == kLeases + std::string("/orders"));
  BOOST_REQUIRE(find_header(patch.headers, "Content-Type"));
  BOOST_TEST(*find_header(patch.headers, "Content-Type") == "application/merge-patch+json");
  BOOST_TEST(json_text(member(*parse_json(patch.body), {"metadata", "resourceVersion"})) == "7");
}

BOOST_AUTO_TEST_CASE(without_a_token_none_is_shown) {
  BOOST_TEST(kubernetes_lease(kSettings)->read().authorization == "");
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_not_there_is_an_answer) {
  const StoreReply reply =
      read(404, status(404, "NotFound", "leases.coordination.k8s.io \"orders\" not found"));
  BOOST_REQUIRE(std::holds_alternative<StoreSeen>(reply));
  BOOST_TEST((std::get<StoreSeen>(reply).sight == StoreSight{}));
}

BOOST_AUTO_TEST_CASE(another_404_is_not_that) {
  BOOST_TEST((refused(read(404, "404 page not found")).failure == StoreFailure::kMalformed));
  BOOST_TEST((refused(read(404, "")).failure == StoreFailure::kMalformed));
  const StoreRefusal missing = refused(
      written("", 404, status(404, "NotFound", "namespaces \"shop\" not found", "namespaces")));
  BOOST_TEST((missing.failure == StoreFailure::kUnavailable));
  BOOST_TEST(missing.words ==
             "https://10.96.0.1:443 has no namespace shop; make it, or give kubernetes.namespace");
  BOOST_TEST((refused(written("", 404, status(404, "NotFound", "?"))).failure ==
              StoreFailure::kMalformed));
}

BOOST_AUTO_TEST_CASE(whoever_is_taken_for_anonymous_is_told_of_its_token) {
  const std::string answer = status(403, "Forbidden",
                                    "leases.coordination.k8s.io \"orders\" is forbidden: User "
                                    "\"system:anonymous\" cannot get resource \"leases\"");
  const StoreRefusal with = refused(read(403, answer));
  BOOST_TEST((with.failure == StoreFailure::kUnauthorized));
  BOOST_TEST(with.words.find("in spite of the token of kubernetes.token_file /t") !=
             std::string::npos);
  const auto dialect = kubernetes_lease(kSettings);
  dialect->read();
  const StoreRefusal without = refused(dialect->on_read({.status = 403, .body = answer}));
  BOOST_TEST(without.words == kSettings.server +
                                  " takes us for system:anonymous: give kubernetes.token_file, or "
                                  "cert and key");
}

BOOST_AUTO_TEST_CASE(an_answer_to_another_write_is_not_believed) {
  const StoreRecord ours{.holder = StoreRecord::Holder::kMember, .name = "orders-0", .epoch = 5};
  const auto now = WallTime(std::chrono::microseconds(1));
  Json later = new_lease("orders", {}, now);
  later["metadata"]["resourceVersion"] = "7";
  for (const std::string& body : {kLease, stored(ours), dump(later)}) {
    const StoreRefusal refusal = refused(written("6", 200, body));
    BOOST_TEST((refusal.failure == StoreFailure::kMalformed));
    BOOST_TEST(refusal.words.find("mixes answers up") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_write_ends_in_its_version_or_a_conflict) {
  BOOST_TEST(std::get<StoreWritten>(written("6", 200, stored())).version == "7");
  BOOST_TEST(std::get<StoreWritten>(written("", 201, stored())).version == "7");
  for (const char* expected : {"", "6"}) {
    const StoreReply reply = written(expected, 409, status(409, "Conflict", "changed"));
    BOOST_REQUIRE(std::holds_alternative<StoreConflict>(reply));
    BOOST_TEST(!std::get<StoreConflict>(reply).found.has_value());
  }
  const StoreReply gone = written("6", 404, status(404, "NotFound", "not found"));
  BOOST_REQUIRE(std::holds_alternative<StoreConflict>(gone));
  BOOST_TEST((std::get<StoreConflict>(gone).found == StoreSight{}));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_has_a_kind_and_a_sentence) {
  const StoreRefusal unknown = refused(read(401, status(401, "Unauthorized", "Unauthorized")));
  BOOST_TEST((unknown.failure == StoreFailure::kUnauthorized));
  BOOST_TEST(unknown.words ==
             "https://10.96.0.1:443 does not believe the token of kubernetes.token_file /t: it is "
             "over, or of another cluster, or its account was deleted");
  const StoreRefusal forbidden =
      refused(written("6", 403, status(403, "Forbidden", "User \"x\" cannot patch")));
  BOOST_TEST((forbidden.failure == StoreFailure::kForbidden));
  BOOST_TEST(
      forbidden.words ==
      "https://10.96.0.1:443 does not let us patch Lease orders in namespace shop; the "
      "account needs a Role in namespace shop with two rules for apiGroups "
      "[\"coordination.k8s.io\"], resources [\"leases\"]: verbs [\"get\", \"patch\", "
      "\"watch\"] with resourceNames [\"orders\"], and verbs [\"create\"]: User \"x\" cannot "
      "patch");
  const auto kind = [](unsigned code) { return refused(read(code, "")).failure; };
  BOOST_TEST((kind(422) == StoreFailure::kForbidden));
  BOOST_TEST((kind(429) == StoreFailure::kThrottled));
  for (const unsigned code : {500U, 502U, 503U, 504U}) {
    BOOST_TEST((kind(code) == StoreFailure::kUnavailable));
  }
  for (const unsigned code : {301U, 307U, 400U, 405U, 410U}) {
    BOOST_TEST((kind(code) == StoreFailure::kMalformed));
  }
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_no_lease_is_not_believed) {
  for (const std::string& body : {std::string(), std::string("<html>"), std::string("{}"),
                                  std::string("[]"), std::string(R"({"kind":"Lease"})"),
                                  kLease.substr(0, kLease.size() / 2), status(200, "", "")}) {
    BOOST_TEST((refused(read(200, body)).failure == StoreFailure::kMalformed), body);
    BOOST_TEST((refused(written("6", 200, body)).failure == StoreFailure::kMalformed), body);
  }
}

BOOST_AUTO_TEST_CASE(retry_after_is_passed_on_and_bounded) {
  const auto dialect = fresh();
  const auto asked = [&](const char* text) {
    return refused(dialect->on_read({.status = 429, .headers = {{"Retry-After", text}}}))
        .retry_after;
  };
  BOOST_TEST((asked("3") == std::chrono::seconds(3)));
  BOOST_TEST((asked("86400") == std::chrono::minutes(1)));
  BOOST_TEST((asked("soon") == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(a_watch_begins_with_what_there_is_and_goes_on_where_it_was) {
  const auto dialect = fresh();
  const std::string url =
      kLeases + std::string(
                    "?watch=1&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dorders"
                    "&timeoutSeconds=600");
  BOOST_TEST(!dialect->must_read_to_watch());
  BOOST_TEST(dialect->watch().url == url);
  const StoreReply added = dialect->on_watch_line(R"({"type":"ADDED","object":)" + kLease + "}");
  BOOST_REQUIRE(std::holds_alternative<StoreSeen>(added));
  BOOST_TEST(std::get<StoreSeen>(added).sight.version == "7");
  BOOST_TEST(std::get<StoreSeen>(added).sight.record.name == "somebody");
  BOOST_TEST(dialect->watch().url == url + "&resourceVersion=7");
  const StoreReply bookmark = dialect->on_watch_line(
      R"({"type":"BOOKMARK","object":{"kind":"Lease","metadata":{"resourceVersion":"90"}}})");
  BOOST_TEST(std::holds_alternative<StoreNothing>(bookmark));
  BOOST_TEST(dialect->watch().url == url + "&resourceVersion=90");
  dialect->begin_watch();
  BOOST_TEST(dialect->watch().url == url);
  const StoreReply gone = dialect->on_watch_line(R"({"type":"DELETED","object":)" + kLease + "}");
  BOOST_REQUIRE(std::holds_alternative<StoreSeen>(gone));
  BOOST_TEST((std::get<StoreSeen>(gone).sight == StoreSight{}));
}

BOOST_AUTO_TEST_CASE(a_version_that_is_gone_is_forgotten) {
  const auto dialect = fresh();
  const auto move_on = [&] {
    dialect->on_watch_line(R"({"type":"ADDED","object":)" + kLease + "}");
    BOOST_TEST(dialect->watch().url.find("resourceVersion=7") != std::string::npos);
  };
  move_on();
  const std::string gone = status(410, "Expired", "too old resource version: 7 (9)", "");
  BOOST_TEST(std::holds_alternative<StorePositionLost>(
      dialect->on_watch_line(R"({"type":"ERROR","object":)" + gone + "}")));
  BOOST_TEST(dialect->watch().url.find("resourceVersion") == std::string::npos);
  move_on();
  BOOST_TEST(std::holds_alternative<StorePositionLost>(
      dialect->on_watch_answer({.status = 410, .body = gone})));
  BOOST_TEST(dialect->watch().url.find("resourceVersion") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_watch_says_why_it_ends) {
  const auto dialect = fresh();
  const auto said = [&](const std::string& line) {
    return refused(dialect->on_watch_line(line)).failure;
  };
  BOOST_TEST((said(R"({"type":"ERROR","object":)" + status(500, "InternalError", "etcd") + "}") ==
              StoreFailure::kUnavailable));
  for (const std::string& line :
       {std::string("x"), std::string("{}"), std::string(R"({"type":"ADDED"})"),
        std::string(R"({"type":"ADDED","object":{}})"),
        std::string(R"({"type":"ERROR","object":{}})"),
        std::string(R"({"type":"ADDED","object":{"kind":"Lease","metadata":{"name":"other",)"
                    R"("resourceVersion":"1"}}})")}) {
    BOOST_TEST((said(line) == StoreFailure::kMalformed), line);
  }
  const StoreReply forbidden = dialect->on_watch_answer({.status = 403});
  BOOST_TEST((refused(forbidden).failure == StoreFailure::kForbidden));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
