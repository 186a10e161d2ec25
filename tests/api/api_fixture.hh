// The API around a real node that is stepped by hand: requests are values, answers are recorded,
// time passes when told.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/routes.hh"
#include "base/json.hh"
#include "node_harness.hh"

namespace bellwether::tests {

// What became of one request; outlives the answer.
struct Recorded {
  std::optional<io::HttpResponse> response;  // nullopt: not answered
  std::string stream;                        // what was written to it
  std::string stream_type;                   // empty: it is not a stream
  bool is_client_gone = false;

  bool is_open() const { return !is_client_gone && !response; }
  unsigned status() const { return response ? response->status : 0; }
  // The first header of this name; "" when there is none.
  std::string header(const std::string& name) const;
  Json json() const;
  std::string error() const;
  bool is_ended = false;  // a stream, by this side
  // Takes what was written since the last time.
  std::string take() { return std::exchange(stream, ""); }
};

class FakeAnswer : public api::Answer {
 public:
  explicit FakeAnswer(std::shared_ptr<Recorded> recorded) : recorded_(std::move(recorded)) {}

  bool is_open() const override { return recorded_->is_open(); }
  void send(io::HttpResponse response) override;
  void begin_stream(std::string_view content_type) override;
  bool write(std::string_view piece) override;
  void end_stream() override { recorded_->is_ended = true; }

 private:
  std::shared_ptr<Recorded> recorded_;  // shared with the test
};

// 2026-01-31T09:00:00Z and so many seconds.
WallTime wall_time(int64_t after);

// The sidecar as the API sees it; a test sets what it wants to be seen.
class FakeBackend : public api::Backend {
 public:
  FakeBackend(NodeHarness& harness, api::LeadershipFeed& feed);

  const Node& node() const override { return harness_.node(); }
  const Config& config() const override { return settings; }
  const api::Identity& identity() const override { return who; }
  api::PeerInfo peer(const Uuid& id) const override;
  Instant now() const override { return harness_.now(); }
  Instant started() const override { return Instant{seconds(940)}; }
  std::optional<api::Unready> unready() const override {
    return not_ready.empty() ? std::nullopt : std::optional(api::Unready{not_ready, lack});
  }
  Duration loop_age() const override { return age; }
  std::vector<std::string> pending_restart() const override { return {"node.listen"}; }
  std::vector<std::string> config_mismatches() const override { return mismatches; }
  const api::Authority& authority() const override { return commands; }
  std::optional<api::StoreState> store() const override { return std::nullopt; }
  std::string storage_flaw() const override { return disk_flaw; }
  api::TlsState tls(metrics::TlsUse use) const override {
    const auto found = tls_states.find(use);
    return found == tls_states.end() ? api::TlsState{} : found->second;
  }
  const api::ApplicationState& application() const override { return application_state; }
  void on_attached(std::vector<api::Attached> applications) override {
    application_state.attached = std::move(applications);
  }
  void on_score(int64_t score) override { scores.push_back(score); }
  api::DrainWord on_drained(const api::Finished& word) override {
    finished.push_back(word.name + " in " + std::to_string(word.epoch));
    if (word.drain) finished.back() += "/" + std::to_string(*word.drain);
    if (word.attachment) finished.back() += " as " + std::to_string(*word.attachment);
    return drain_word;
  }
  std::string metrics_text() override { return "bellwether_is_leader 1\n"; }
  // Done at once, unless commands are held back.
  void command(const Input& input, std::function<void(Outcome::Kind)> done) override;
  void reload(std::function<void(const api::ReloadResult&)> done) override { done(reloaded); }

  // What the node published goes to the feed.
  void publish(const Effects& effects);
  void carry_out_held();

  Config settings;
  api::Identity who{
      .version = "0.1.0",
      .plugin = "bully",
      .plugin_version = "0.1.0",
      .plugin_abi = "1.0",
      .confinement = {
          .has_no_new_privileges = true, .has_system_call_filter = true, .lack = "no Landlock"}};
  std::map<Uuid, api::PeerInfo> peers;
  std::string not_ready;
  api::Lack lack = api::Lack::kOther;
  Duration age = std::chrono::milliseconds(700);
  std::vector<std::string> mismatches;
  std::string disk_flaw;
  api::Authority commands{ApiSettings{}};
  std::map<metrics::TlsUse, api::TlsState> tls_states;
  api::ReloadResult reloaded;
  api::ApplicationState application_state;
  std::vector<int64_t> scores;        // that applications have told
  std::vector<std::string> finished;  // "worker in 7 as 4711"
  api::DrainWord drain_word = api::DrainWord::kTaken;
  bool holds_commands = false;
  int64_t wall_seconds = 0;

 private:
  void run(const Input& input, const std::function<void(Outcome::Kind)>& done);

  NodeHarness& harness_;
  api::LeadershipFeed& feed_;
  std::vector<std::pair<Input, std::function<void(Outcome::Kind)>>> held_;
};

struct ApiFixture {
  explicit ApiFixture(const NodeSetup& setup = {});

  using Answered = std::shared_ptr<Recorded>;
  Answered request(io::HttpRequest request, api::Entrance entrance = api::Entrance::kApi);
  // "/v1/leader?index=1&wait=5s"; with these headers.
  Answered get(const std::string& target,
               std::vector<std::pair<std::string, std::string>> headers = {});
  Answered post(const std::string& target, const std::string& body = "");

  // The harness's inputs, with what they publish.
  void lead() {
    publish_state([&] { node.lead(); });
  }
  void follow(uint32_t leader = 5, uint64_t epoch = 1) {
    publish_state([&] { node.follow(leader, epoch); });
  }
  void step(Effects effects) { backend.publish(effects); }
  void run_for(Duration duration) { step(node.run_for(duration)); }

  // Requests that were counted, in order: "/v1/leader 200".
  std::vector<std::string> answered;
  std::vector<Limit> limits;
  // Commands that were asked for: "elect by 127.0.0.1:5 200".
  std::vector<std::string> asked;

  NodeHarness node;
  api::LeadershipFeed feed{wall_time(0)};
  FakeBackend backend{node, feed};
  api::ElectionHistory history;
  io::Loop loop;  // does not run: time passes when told
  api::Routes routes;

 private:
  // The harness keeps the effects of several steps to itself: what they led to is published.
  void publish_state(const std::function<void()>& change);
};

}  // namespace bellwether::tests
