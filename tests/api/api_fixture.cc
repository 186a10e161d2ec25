// The recorder and the backend.
#include "api_fixture.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <sstream>

namespace bellwether {
namespace {

bool is_same_name(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

// "/v1/leader?index=1&wait=5s".
io::HttpRequest request_for(const std::string& target) {
  const size_t question = target.find('?');
  io::HttpRequest request{.path = target.substr(0, question)};
  std::istringstream query(question == std::string::npos ? "" : target.substr(question + 1));
  for (std::string pair; std::getline(query, pair, '&');) {
    const size_t equals = std::min(pair.find('='), pair.size());
    request.query[pair.substr(0, equals)] = pair.substr(std::min(equals + 1, pair.size()));
  }
  return request;
}

}  // namespace

namespace tests {

std::string Recorded::header(const std::string& name) const {
  if (!response) return "";
  for (const auto& [key, value] : response->headers) {
    if (is_same_name(key, name)) return value;
  }
  return "";
}

Json Recorded::json() const {
  BOOST_TEST_REQUIRE(response.has_value());
  const auto json = parse_json(response->body);
  BOOST_TEST_REQUIRE(json.has_value(), response->body);
  return *json;
}

std::string Recorded::error() const { return json().value("error", ""); }

void FakeAnswer::send(io::HttpResponse response) {
  BOOST_TEST(recorded_->is_open(), "an answer is sent once, to a client that is there");
  BOOST_TEST(recorded_->stream_type == "");
  recorded_->response = std::move(response);
}

void FakeAnswer::begin_stream(std::string_view content_type) {
  BOOST_TEST(recorded_->is_open());
  recorded_->stream_type = content_type;
}

bool FakeAnswer::write(std::string_view piece) {
  BOOST_TEST(recorded_->stream_type != "");
  if (recorded_->is_client_gone) return false;
  recorded_->stream += piece;
  return true;
}

WallTime wall_time(int64_t after) {
  using namespace std::chrono;
  return sys_days(year(2026) / January / 31) + hours(9) + std::chrono::seconds(after);
}

FakeBackend::FakeBackend(NodeHarness& harness, api::LeadershipFeed& feed)
    : harness_(harness), feed_(feed) {
  settings.group.name = "orders";
  settings.node.name = "node-3";
  settings.node.advertise = {.host = "10.0.0.3", .port = 7946};
  settings.api.listen = {.host = "127.0.0.1", .port = 4040};
}

api::PeerInfo FakeBackend::peer(const Uuid& id) const {
  const auto found = peers.find(id);
  return found == peers.end() ? api::PeerInfo{} : found->second;
}

void FakeBackend::command(const Input& input, std::function<void(Outcome::Kind)> done) {
  if (!holds_commands) return run(input, done);
  held_.emplace_back(input, std::move(done));
}

void FakeBackend::carry_out_held() {
  for (const auto& [input, done] : std::exchange(held_, {})) run(input, done);
}

void FakeBackend::run(const Input& input, const std::function<void(Outcome::Kind)>& done) {
  const Effects effects = harness_.step(input);
  publish(effects);
  for (const Effect& effect : effects) {
    if (const auto* outcome = std::get_if<Outcome>(&effect)) done(outcome->kind);
  }
}

void FakeBackend::publish(const Effects& effects) {
  for (const Effect& effect : effects) {
    const auto* publish = std::get_if<Publish>(&effect);
    if (publish != nullptr) {
      feed_.on_publish(*publish, node().members(), wall_time(wall_seconds));
    }
  }
}

ApiFixture::ApiFixture(const NodeSetup& setup)
    : node(setup),
      routes(loop, backend, feed, history,
             {.on_answered =
                  [this](size_t place, unsigned code) {
                    const metrics::HttpRoute route = api::counted_routes().at(place);
                    const std::string what = route.name + " " + std::to_string(code);
                    BOOST_TEST((std::ranges::count(route.codes, code) == 1), what);
                    answered.push_back(what);
                  },
              .on_limit = [this](Limit limit) { limits.push_back(limit); },
              .on_command =
                  [this](metrics::Command command, const io::HttpClientFacts& client,
                         const api::Permission& permission) {
                    asked.push_back(std::string(name(command)) + " by " + api::text_of(client) +
                                    " " + std::to_string(permission.status));
                  }}) {}

ApiFixture::Answered ApiFixture::request(io::HttpRequest request, api::Entrance entrance) {
  auto recorded = std::make_shared<Recorded>();
  routes.handle(request, std::make_unique<FakeAnswer>(recorded), entrance);
  return recorded;
}

ApiFixture::Answered ApiFixture::get(const std::string& target,
                                     std::vector<std::pair<std::string, std::string>> headers) {
  io::HttpRequest request = request_for(target);
  request.method = "GET";
  request.headers = std::move(headers);
  return this->request(std::move(request));
}

ApiFixture::Answered ApiFixture::post(const std::string& target, const std::string& body) {
  io::HttpRequest request = request_for(target);
  request.method = "POST";
  request.body = body;
  return this->request(std::move(request));
}

void ApiFixture::publish_state(const std::function<void()>& change) {
  change();
  const auto leader = node.node().leader();
  Publish publish{.is_leader = node.node().is_leading(), .why = Why::kClaimed};
  if (leader) {
    publish.epoch = leader->epoch;
    publish.leader = leader->id;
    if (!publish.is_leader) publish.why = Why::kAnnounced;
  }
  publish.valid_until = node.now() + milliseconds(800);
  feed.on_publish(publish, node.node().members(), wall_time(backend.wall_seconds));
}

}  // namespace tests
}  // namespace bellwether
