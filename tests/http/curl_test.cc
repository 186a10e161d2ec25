// The server with a client that others wrote.  The machine that tests has curl.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>

#include "http_harness.hh"

namespace bellwether::io::test {
namespace {

struct CurlResult {
  int exit_status = -1;
  std::string output;
};

// Runs curl with `arguments` while the harness serves; `meanwhile` is asked again and again.
CurlResult curl(
    Harness& harness, std::vector<std::string> arguments,
    const std::function<void()>& meanwhile = [] {}) {
  const ScratchFolder folder;
  const std::string output = folder.path("output");
  arguments.insert(arguments.begin(), {"curl", "--silent", "--noproxy", "*", "--max-time", "9"});
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  // Not fork(): a thread of the loop may hold a lock of the sanitizer's at that moment.
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT,
                                     0600);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "curl", &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  BOOST_REQUIRE(error == 0);
  int status = 0;
  BOOST_REQUIRE(harness.run_until([&] {
    meanwhile();
    return ::waitpid(child, &status, WNOHANG) == child;
  }));
  std::ifstream file(output);
  return {.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .output = {std::istreambuf_iterator<char>(file), {}}};
}

std::string url(const Harness& harness, const std::string& path) {
  return "http://127.0.0.1:" + std::to_string(harness.port) + path;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(with_curl)

BOOST_AUTO_TEST_CASE(curl_gets_and_posts_over_one_connection) {
  Harness harness;
  const CurlResult result =
      curl(harness, {"--write-out", "%{num_connects};", url(harness, "/one"), "--next", "--silent",
                     "--noproxy", "*", "--write-out", "%{num_connects};", "--data", "body",
                     url(harness, "/two")});
  BOOST_TEST(result.exit_status == 0);
  BOOST_TEST(result.output == "GET /one \n1;POST /two body\n0;");
}

BOOST_AUTO_TEST_CASE(curl_waits_for_100_continue_and_uploads_in_chunks) {
  HttpLimits limits;
  limits.body_bytes = 1 << 20;
  Harness harness(limits);
  harness.handler = [](const HttpRequest& request, const HttpReply& reply) {
    reply.send({.body = std::to_string(request.body.size())});
  };
  const ScratchFolder folder;
  std::ofstream(folder.path("upload")) << std::string(300'000, 'x');
  for (const char* header : {"Expect: 100-continue", "Transfer-Encoding: chunked"}) {
    const CurlResult result =
        curl(harness, {"--header", header, "--data-binary", "@" + folder.path("upload"),
                       "--expect100-timeout", "9", url(harness, "/")});
    BOOST_TEST(result.exit_status == 0);
    BOOST_TEST(result.output == "300000");
  }
}

BOOST_AUTO_TEST_CASE(curl_reads_why_its_upload_is_refused) {
  Harness harness;
  const ScratchFolder folder;
  std::ofstream(folder.path("upload")) << std::string(3'000'000, 'x');
  const CurlResult result =
      curl(harness, {"--header", "Expect:", "--data-binary", "@" + folder.path("upload"),
                     "--write-out", "%{http_code}", url(harness, "/")});
  BOOST_TEST(result.output == "{\"error\":\"the body is too large\"}\n413");
}

BOOST_AUTO_TEST_CASE(curl_reads_a_stream_to_its_end) {
  Harness harness;
  harness.handler = [](const HttpRequest&, const HttpReply& reply) {
    reply.begin_stream("text/event-stream");
  };
  int pieces = 0;
  const CurlResult result = curl(harness, {"--no-buffer", url(harness, "/")}, [&] {
    if (harness.requests.empty() || !harness.requests.front().is_open()) return;
    harness.requests.front().write("data: " + std::to_string(pieces) + "\n\n");
    if (++pieces == 3) harness.requests.front().end_stream();
  });
  BOOST_TEST(result.exit_status == 0);
  BOOST_TEST(result.output == "data: 0\n\ndata: 1\n\ndata: 2\n\n");
}

BOOST_AUTO_TEST_CASE(curl_speaks_http_1_0_head_and_unix_sockets) {
  Harness harness;
  const ScratchFolder folder;
  harness.server->listen_on_socket(folder.path("api.sock"));
  BOOST_TEST(curl(harness, {"--http1.0", url(harness, "/old")}).output == "GET /old \n");
  const CurlResult head = curl(harness, {"--head", url(harness, "/x")});
  BOOST_TEST(head.exit_status == 0);
  BOOST_TEST(head.output.starts_with("HTTP/1.1 200 OK\r\n"));
  BOOST_TEST(
      curl(harness, {"--unix-socket", folder.path("api.sock"), "http://localhost/unix"}).output ==
      "GET /unix \n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
