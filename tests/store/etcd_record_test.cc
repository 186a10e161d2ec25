// What is asked of etcd's gateway, and what its answers mean.
#include "io/store/etcd_record.hh"

#include <boost/test/unit_test.hpp>
#include <boost/uuid/string_generator.hpp>

#include "base/json.hh"
#include "io/store/json_fields.hh"
#include "io/tls/base64.hh"

namespace bellwether::io::test {

BOOST_AUTO_TEST_SUITE(store_etcd_record)

namespace {

using Holder = StoreRecord::Holder;
using std::chrono::milliseconds;

const Uuid kId = boost::uuids::string_generator()("6f1c0f0e-8f5b-4b7e-9d59-0a1b2c3d4e5f");
constexpr const char* kKey = "L2JlbGx3ZXRoZXIvZw==";

StoreRecord ours(Holder holder) {
  return {.holder = holder,
          .id = kId,
          .name = "orders-0",
          .home = 0xfedcba9876543210,
          .boot = 0xabc,
          .epoch = 1'769'850'300'250,
          .lease = milliseconds(2500)};
}

struct Asked {
  std::unique_ptr<StoreDialect> dialect =
      etcd_record({.endpoints = {"http://a:1", "http://b:2"}, .key = "/bellwether/g"});

  StoreReply written(const std::string& body, unsigned status = 200) {
    dialect->write("5", ours(Holder::kMember), {});
    return dialect->on_write({.status = status, .body = body});
  }
  StoreReply read(const std::string& body, unsigned status = 200) {
    dialect->read();
    return dialect->on_read({.status = status, .body = body});
  }
};

std::string kv(const std::string& value, const std::string& revision) {
  return std::string(R"({"key":")") + kKey + R"(","mod_revision":")" + revision + R"(","value":")" +
         to_base64(value) + "\"}";
}

// What etcd says to Asked::written().
std::string done(const std::string& value = to_etcd_value(ours(Holder::kMember), {})) {
  return R"(,"succeeded":true,"responses":[{"response_put":{}},{"response_range":{"kvs":[)" +
         kv(value, "6") + "]}}]}";
}

StoreFailure failure_of(const StoreReply& reply) {
  BOOST_REQUIRE(std::holds_alternative<StoreRefusal>(reply));
  return std::get<StoreRefusal>(reply).failure;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const Holder holder : {Holder::kMember, Holder::kReleased}) {
    BOOST_TEST((from_etcd_value(to_etcd_value(ours(holder), {})) == ours(holder)));
  }
  const StoreRecord unknown{.lease = milliseconds(2500)};
  BOOST_TEST((from_etcd_value(to_etcd_value(unknown, {})) == unknown));
}

BOOST_AUTO_TEST_CASE(what_is_not_ours_is_a_strangers) {
  const std::string good = to_etcd_value(ours(Holder::kMember), {});
  const auto with = [&](const char* key, const Json& value) {
    Json json = *parse_json(good);
    json[key] = value;
    return dump(json);
  };
  for (const std::string& value :
       {std::string("hello"), std::string("{}"), std::string("null"), with("bellwether", 2),
        with("holder", "stranger"), with("holder", 1), with("id", "x"), with("epoch", -1),
        with("epoch", "1"), with("lease_ms", -1), with("lease_ms", 1e30)}) {
    BOOST_TEST((from_etcd_value(value).holder == Holder::kStranger), value);
    BOOST_TEST(from_etcd_value(value).name == value.substr(0, 64));
    BOOST_TEST(from_etcd_value(value).epoch == 0u);
  }
}

BOOST_AUTO_TEST_CASE(an_empty_value_is_a_record_of_nobody_not_none) {
  BOOST_TEST((from_etcd_value("") == StoreRecord{}));
  Asked asked;
  const StoreReply reply = asked.read(std::string(R"({"header":{"revision":"9"},"kvs":[{"key":")") +
                                      kKey + R"(","mod_revision":"9"}],"count":"1"})");
  BOOST_REQUIRE(std::holds_alternative<StoreSeen>(reply));
  BOOST_TEST((std::get<StoreSeen>(reply).sight == StoreSight{.version = "9"}));
}

BOOST_AUTO_TEST_CASE(a_write_compares_the_version) {
  Asked asked;
  const HttpClientRequest over = asked.dialect->write("5", ours(Holder::kMember), {});
  BOOST_TEST(over.method == "POST");
  BOOST_TEST(over.url == "http://a:1/v3/kv/txn");
  const Json json = *parse_json(over.body);
  BOOST_TEST(dump(json["compare"]) ==
             std::string(R"([{"key":")") + kKey + R"(","target":"MOD","mod_revision":"5"}])");
  const Json create = *parse_json(asked.dialect->write("", {}, {}).body);
  BOOST_TEST(dump(create["compare"]) ==
             std::string(R"([{"key":")") + kKey + R"(","target":"CREATE","create_revision":"0"}])");
}

BOOST_AUTO_TEST_CASE(a_write_has_the_version_of_its_revision) {
  const StoreReply reply = Asked().written(R"({"header":{"revision":"6"})" + done());
  BOOST_REQUIRE(std::holds_alternative<StoreWritten>(reply));
  BOOST_TEST(std::get<StoreWritten>(reply).version == "6");
}

BOOST_AUTO_TEST_CASE(an_answer_to_another_write_is_not_believed) {
  const auto now = WallTime(std::chrono::microseconds(1));
  for (const std::string& value : {std::string(), to_etcd_value(ours(Holder::kReleased), {}),
                                   to_etcd_value(ours(Holder::kMember), now)}) {
    const StoreReply reply = Asked().written(R"({"header":{"revision":"6"})" + done(value));
    BOOST_TEST((failure_of(reply) == StoreFailure::kMalformed));
  }
}

BOOST_AUTO_TEST_CASE(a_conflict_says_what_there_is) {
  const StoreReply reply =
      Asked().written(R"({"header":{"revision":"8"},"responses":[{"response_range":{"kvs":[)" +
                      kv(to_etcd_value(ours(Holder::kReleased), {}), "7") + R"(]}}]})");
  BOOST_REQUIRE(std::holds_alternative<StoreConflict>(reply));
  const auto& found = std::get<StoreConflict>(reply).found;
  BOOST_REQUIRE(found);
  BOOST_TEST((*found == StoreSight{"7", ours(Holder::kReleased)}));
  const StoreReply none =
      Asked().written(R"({"header":{"revision":"8"},"responses":[{"response_range":{}}]})");
  BOOST_TEST((std::get<StoreConflict>(none).found == StoreSight{}));
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_not_believed) {
  for (const char* body :
       {"", "x", "[]", "{}", R"({"header":{}})", R"({"header":{"revision":"6"},"succeeded":true})",
        R"({"succeeded":true,"responses":[{}]})",
        R"({"header":{"revision":"x"},"succeeded":true,"responses":[{}]})"}) {
    BOOST_TEST((failure_of(Asked().written(body)) == StoreFailure::kMalformed), body);
  }
  for (const char* body :
       {"", "{}", R"({"header":{"revision":"6"},"kvs":5})",
        R"({"header":{"revision":"6"},"kvs":[]})",
        R"({"header":{"revision":"6"},"kvs":[{"mod_revision":"0"}]})",
        R"({"header":{"revision":"6"},"kvs":[{"mod_revision":"1","value":"*"}]})"}) {
    BOOST_TEST((failure_of(Asked().read(body)) == StoreFailure::kMalformed), body);
  }
}

BOOST_AUTO_TEST_CASE(what_etcd_says_is_wrong_has_a_kind) {
  const auto kind = [](const std::string& message, int code, unsigned status) {
    return failure_of(Asked().written(R"({"error":")" + message + R"(","message":")" + message +
                                          R"(","code":)" + std::to_string(code) + "}",
                                      status));
  };
  BOOST_TEST((kind("etcdserver: no leader", 14, 503) == StoreFailure::kUnavailable));
  BOOST_TEST((kind("etcdserver: request timed out", 14, 503) == StoreFailure::kUnavailable));
  BOOST_TEST(
      (kind("etcdserver: mvcc: database space exceeded", 8, 429) == StoreFailure::kUnavailable));
  BOOST_TEST((kind("etcdserver: too many requests", 8, 429) == StoreFailure::kThrottled));
  BOOST_TEST((kind("etcdserver: invalid auth token", 16, 401) == StoreFailure::kUnauthorized));
  BOOST_TEST((kind("etcdserver: user name is empty", 3, 400) == StoreFailure::kUnauthorized));
  BOOST_TEST((kind("etcdserver: permission denied", 7, 403) == StoreFailure::kForbidden));
  BOOST_TEST((failure_of(Asked().written("Not Found", 404)) == StoreFailure::kMalformed));
  BOOST_TEST((failure_of(Asked().written("oops", 502)) == StoreFailure::kUnavailable));
}

BOOST_AUTO_TEST_CASE(endpoints_are_asked_in_turn) {
  Asked asked;
  BOOST_TEST(asked.dialect->server() == "http://a:1");
  asked.dialect->on_failure(StoreFailure::kTimeout);
  BOOST_TEST(asked.dialect->read().url == "http://b:2/v3/kv/range");
  asked.dialect->on_failure(StoreFailure::kForbidden);
  BOOST_TEST(asked.dialect->server() == "http://b:2");
  asked.dialect->on_failure(StoreFailure::kUnavailable);
  BOOST_TEST(asked.dialect->server() == "http://a:1");
}

BOOST_AUTO_TEST_CASE(another_cluster_than_the_first_is_not_believed) {
  const auto header = [](const char* cluster) {
    return std::string(R"({"header":{"cluster_id":")") + cluster + R"(","revision":"6"})";
  };
  const std::string written = done();
  Asked asked;
  BOOST_TEST(std::holds_alternative<StoreSeen>(asked.read(header("17") + "}")));
  BOOST_TEST(std::holds_alternative<StoreWritten>(asked.written(header("17") + written)));
  const StoreReply other = asked.read(header("18") + "}");
  BOOST_TEST((failure_of(other) == StoreFailure::kMalformed));
  BOOST_TEST(std::get<StoreRefusal>(other).words.find("is of etcd cluster 18, and not of 17") !=
             std::string::npos);
  BOOST_TEST((failure_of(asked.written(header("18") + written)) == StoreFailure::kMalformed));
  BOOST_TEST((failure_of(asked.dialect->on_watch_line(R"({"result":)" + header("18") + "}}")) ==
              StoreFailure::kMalformed));
  BOOST_TEST(std::holds_alternative<StoreSeen>(asked.read(header("17") + "}")));
}

BOOST_AUTO_TEST_CASE(who_has_a_user_logs_in_until_the_token_is_refused) {
  const auto dialect =
      etcd_record({.endpoints = {"http://a:1"}, .key = "k", .user = "u", .password_name = "file"});
  dialect->set_secret(Secret("secret"));
  const auto login = dialect->login();
  BOOST_REQUIRE(login);
  BOOST_TEST(login->body == R"({"name":"u","password":"secret"})");
  dialect->set_secret(Secret(R"(a"b\c)"));
  BOOST_TEST(dialect->login()->body == R"({"name":"u","password":"a\"b\\c"})");
  dialect->set_secret(Secret("secret"));
  dialect->on_login({.status = 200, .body = R"({"token":"abc.7"})"});
  BOOST_TEST(!dialect->login().has_value());
  BOOST_TEST(dialect->read().authorization == "abc.7");
  dialect->set_secret(Secret("secret"));  // read again, and the same
  BOOST_TEST(!dialect->login().has_value());
  dialect->on_failure(StoreFailure::kUnauthorized);
  BOOST_TEST(dialect->login().has_value());
  BOOST_TEST(dialect->read().authorization == "");
  const StoreReply wrong = dialect->on_login(
      {.status = 400,
       .body = R"({"error":"etcdserver: authentication failed, invalid user ID or password",)"
               R"("code":3})"});
  BOOST_TEST((failure_of(wrong) == StoreFailure::kUnauthorized));
  BOOST_TEST(std::get<StoreRefusal>(wrong).words ==
             "http://a:1 does not believe user u with the password of file");
  const StoreReply bad_token =
      dialect->on_login({.status = 200, .body = R"({"token":"a\r\nX: y"})"});
  BOOST_TEST((failure_of(bad_token) == StoreFailure::kMalformed));
}

BOOST_AUTO_TEST_CASE(where_authentication_is_off_nobody_need_log_in) {
  const auto dialect = etcd_record({.endpoints = {"http://a:1"}, .key = "k", .user = "u"});
  dialect->on_login(
      {.status = 412, .body = R"({"error":"etcdserver: authentication is not enabled","code":9})"});
  BOOST_TEST(!dialect->login().has_value());
}

BOOST_AUTO_TEST_CASE(a_watch_goes_on_behind_what_was_read) {
  Asked asked;
  BOOST_TEST(asked.dialect->must_read_to_watch());
  asked.read(R"({"header":{"revision":"41"}})");
  BOOST_TEST(std::string_view(asked.dialect->watch().body) ==
             std::string(R"({"create_request":{"key":")") + kKey + R"(","start_revision":"42"}})");
  const auto line = [&](const std::string& result) {
    return asked.dialect->on_watch_line(R"({"result":)" + result + "}");
  };
  BOOST_TEST(std::holds_alternative<StoreNothing>(line(R"({"header":{},"created":true})")));
  const StoreReply put =
      line(R"({"events":[{"kv":)" + kv("a", "42") + R"(},{"kv":)" + kv("b", "43") + "}]}");
  BOOST_TEST(std::get<StoreSeen>(put).sight.version == "43");
  BOOST_TEST(std::get<StoreSeen>(put).sight.record.name == "b");
  const StoreReply gone = line(R"({"events":[{"type":"DELETE","kv":)" + kv("", "44") + "}]}");
  BOOST_TEST((std::get<StoreSeen>(gone).sight == StoreSight{}));
  BOOST_TEST(std::holds_alternative<StorePositionLost>(
      line(R"({"canceled":true,"compact_revision":"50"})")));
  BOOST_TEST((failure_of(line(R"({"canceled":true,"cancel_reason":"permission denied"})")) ==
              StoreFailure::kForbidden));
  BOOST_TEST(
      (failure_of(asked.dialect->on_watch_line(
           R"({"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}})")) ==
       StoreFailure::kUnavailable));
  BOOST_TEST((failure_of(asked.dialect->on_watch_line("x")) == StoreFailure::kMalformed));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
