// A server on a loop that a test turns, with all that the server tells.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/http/http_server.hh"
#include "io/loop/loop.hh"
#include "loop_run.hh"
#include "raw_client.hh"

namespace bellwether::io::test {

using ::run_until;

class Harness : public HttpListener {
 public:
  using Handler = std::function<void(const HttpRequest& request, HttpReply reply)>;

  explicit Harness(const HttpLimits& limits = {});

  // Answers requests; at first, each with "METHOD PATH BODY\n".
  Handler handler;
  std::vector<HttpReply> requests;
  std::vector<HttpReply> gone;
  std::vector<unsigned> refused;
  std::vector<Limit> limits_hit;

  Loop loop;
  std::unique_ptr<HttpServer> server;
  uint16_t port = 0;  // of 127.0.0.1

  bool run_until(const std::function<bool()>& condition) {
    return test::run_until(loop, condition);
  }
  // What a client has received once it contains `part`; fails the test when that does not happen.
  std::string receive(RawClient& client, const std::string& part);
  // Runs until the server has closed the connection; what was received.
  std::string receive_all(RawClient& client);
  // Sends `bytes` as a new client and returns all that is received until the server closes.
  std::string exchange(const std::string& bytes);
  // Lets everything happen that is under way, as far as a client can see: until another client has
  // been answered twice.
  void settle();

  void on_request(const HttpRequest& request, HttpReply reply) override;
  void on_gone(HttpReply reply) override { gone.push_back(reply); }
  void on_refused(unsigned status) override { refused.push_back(status); }
  void on_limit(Limit limit) override { limits_hit.push_back(limit); }
};

// A GET as a client would send it.
std::string get(const std::string& path, const std::string& headers = "");

// Made empty, removed with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace bellwether::io::test
