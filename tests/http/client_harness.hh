// A client, with a server and a name server of its own.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "http_harness.hh"
#include "io/http/http_client.hh"
#include "listening_socket.hh"
#include "name_server.hh"

namespace bellwether::io::test {

struct ClientHarness : Harness {
  NameServer names{loop};
  Resolver resolver{loop, {.servers = names.servers()}};
  HttpClient client{loop, resolver};
  std::vector<HttpClientResult> results;

  std::string url(const std::string& path = "/", const std::string& host = "127.0.0.1") const {
    return "http://" + host + ":" + std::to_string(port) + path;
  }
  void send(const HttpClientRequest& request) {
    client.send(request, [this](HttpClientResult result) { results.push_back(std::move(result)); });
  }
  HttpClientResult result() {
    BOOST_REQUIRE(run_until([&] { return !results.empty(); }));
    HttpClientResult first = results.front();
    results.erase(results.begin());
    BOOST_TEST(!client.is_busy());
    return first;
  }
  HttpClientResult get(const std::string& url) {
    send({.url = url});
    return result();
  }
  // What the client makes of these bytes, sent by a server that closes then.
  HttpClientResult result_of(const std::string& answer, const std::string& method = "GET") {
    const ListeningSocket socket;
    send({.method = method, .url = "http://127.0.0.1:" + std::to_string(socket.port()) + "/"});
    socket.answer_once(loop, answer);
    return result();
  }
};

}  // namespace bellwether::io::test
