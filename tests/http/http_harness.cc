// Turning the loop, and the answers of a server that nobody taught better ones.
#include "http_harness.hh"

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace bellwether::io::test {

Harness::Harness(const HttpLimits& limits) {
  std::signal(SIGPIPE, SIG_IGN);
  handler = [](const HttpRequest& request, const HttpReply& reply) {
    reply.send({.content_type = "text/plain",
                .body = request.method + " " + request.path + " " + request.body + "\n"});
  };
  server = std::make_unique<HttpServer>(loop, *this, limits);
  port = server->listen({"127.0.0.1", 0});
}

std::string Harness::receive(RawClient& client, const std::string& part) {
  const bool is_there =
      run_until([&] { return client.received().find(part) != std::string::npos; });
  BOOST_REQUIRE_MESSAGE(is_there, "no \"" << part << "\" in: " << client.received());
  return client.received();
}

std::string Harness::receive_all(RawClient& client) {
  BOOST_REQUIRE(run_until([&] { return client.has_ended(); }));
  return client.received();
}

std::string Harness::exchange(const std::string& bytes) {
  RawClient client(port);
  client.send(bytes);
  return receive_all(client);
}

void Harness::settle() {
  const Handler usual = std::exchange(
      handler, [](const HttpRequest&, const HttpReply& reply) { reply.send({.status = 204}); });
  const size_t known = requests.size();
  RawClient client(port);
  for (size_t answers = 1; answers <= 2; ++answers) {
    client.send(get("/settle"));
    BOOST_REQUIRE(run_until([&] { return count(client.received(), "204") == answers; }));
  }
  requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(known), requests.end());
  handler = usual;
}

void Harness::on_request(const HttpRequest& request, HttpReply reply) {
  requests.push_back(reply);
  handler(request, reply);
}

std::string get(const std::string& path, const std::string& headers) {
  return "GET " + path + " HTTP/1.1\r\nHost: here\r\n" + headers + "\r\n";
}

ScratchFolder::ScratchFolder() {
  std::string name = std::filesystem::temp_directory_path() / "bellwether-http-XXXXXX";
  BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code unused;
  std::filesystem::remove_all(path_, unused);
}

}  // namespace bellwether::io::test
