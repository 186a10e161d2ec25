// A server on a unix socket, and what it finds in its place.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "http_harness.hh"
#include "io/names/listening.hh"

namespace bellwether::io::test {
namespace {

struct stat status_of(const std::string& path) {
  struct stat status {};
  BOOST_REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// That listening fails, saying both.
void check_refused(const std::string& path, const std::string& why) {
  Harness harness;
  BOOST_CHECK_EXCEPTION(
      harness.server->listen_on_socket(path), AddressError, [&](const AddressError& error) {
        const std::string text = error.what();
        return text.find(path) != std::string::npos && text.find(why) != std::string::npos;
      });
}

// As a process leaves it that was killed.
void leave_stale_socket(const std::string& path) {
  const std::string elsewhere = path + ".moved";
  {
    const UnixSocketFile made(path);
    BOOST_REQUIRE(::rename(path.c_str(), elsewhere.c_str()) == 0);
  }
  BOOST_REQUIRE(::rename(elsewhere.c_str(), path.c_str()) == 0);
}

// As the sidecar does every second.
FileLook look_at(HttpServer& server) {
  const MadeFile* const file = server.socket_file();
  return file == nullptr ? FileLook{} : server.make_good(file->loss());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unix_socket)

BOOST_AUTO_TEST_CASE(requests_over_the_socket_say_so) {
  const ScratchFolder folder;
  const std::string path = folder.path("api.sock");
  Harness harness;
  harness.server->listen_on_socket(path);
  harness.handler = [](const HttpRequest& request, const HttpReply& reply) {
    reply.send({.body = request.is_over_unix_socket ? "unix" : "tcp"});
  };
  RawClient client(path);
  client.send(get("/"));
  BOOST_TEST(harness.receive(client, "\r\n\r\n").ends_with("unix"));
  RawClient other(harness.port);
  other.send(get("/"));
  BOOST_TEST(harness.receive(other, "\r\n\r\n").ends_with("tcp"));
}

BOOST_AUTO_TEST_CASE(owner_and_group_may_use_it_whatever_the_umask) {
  const ScratchFolder folder;
  for (const mode_t mask : {0U, 022U, 077U}) {
    const mode_t usual = ::umask(mask);
    const UnixSocketFile made(folder.path("api.sock"));
    ::umask(usual);
    BOOST_TEST((status_of(folder.path("api.sock")).st_mode & 07777) == 0660u);
  }
}

BOOST_AUTO_TEST_CASE(it_is_removed_when_the_server_stops_listening) {
  const ScratchFolder folder;
  const std::string path = folder.path("api.sock");
  Harness harness;
  harness.server->listen_on_socket(path);
  RawClient client(path);
  client.send(get("/"));
  harness.receive(client, "GET / \n");
  harness.server->stop_listening();
  BOOST_TEST(!exists(path));
}

BOOST_AUTO_TEST_CASE(a_stale_one_is_replaced) {
  const ScratchFolder folder;
  const std::string path = folder.path("api.sock");
  leave_stale_socket(path);
  Harness harness;
  harness.server->listen_on_socket(path);
  BOOST_TEST(exists(path));
  RawClient client(path);
  client.send(get("/"));
  harness.receive(client, "GET / \n");
}

BOOST_AUTO_TEST_CASE(one_in_use_is_left_alone) {
  const ScratchFolder folder;
  const std::string path = folder.path("api.sock");
  Harness harness;
  harness.server->listen_on_socket(path);
  check_refused(path, "in use");
  RawClient client(path);
  client.send(get("/"));
  harness.receive(client, "GET / \n");
}

BOOST_AUTO_TEST_CASE(another_kind_of_file_is_left_alone) {
  const ScratchFolder folder;
  const std::string path = folder.path("precious");
  std::ofstream(path) << "data";
  check_refused(path, "another kind of file");
  BOOST_TEST(status_of(path).st_size == 4);
  const std::string link = folder.path("link");
  leave_stale_socket(folder.path("stale"));
  BOOST_REQUIRE(::symlink(folder.path("stale").c_str(), link.c_str()) == 0);
  check_refused(link, "another kind of file");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_made_is_named) {
  const ScratchFolder folder;
  check_refused(folder.path("missing/api.sock"), "No such file");
  check_refused(folder.path(std::string(200, 'x')), "too long a path");
}

BOOST_AUTO_TEST_CASE(one_that_is_gone_is_made_again) {
  const ScratchFolder folder;
  const std::string path = folder.path("api.sock");
  Harness harness;
  BOOST_TEST(look_at(*harness.server).loss == "", "there is none");
  harness.server->listen_on_socket(path);
  BOOST_TEST(look_at(*harness.server).loss == "");
  RawClient old(path);
  for (int again = 0; again < 2; ++again) {
    BOOST_REQUIRE(::unlink(path.c_str()) == 0);
    const FileLook look = look_at(*harness.server);
    BOOST_TEST(look.loss == "was removed");
    BOOST_TEST(look.flaw == "");
    BOOST_TEST(look_at(*harness.server).loss == "");
    RawClient client(path);
    client.send(get("/"));
    harness.receive(client, "GET / \n");
  }
  harness.server->stop_listening();
  BOOST_TEST(!exists(path));
  BOOST_TEST(look_at(*harness.server).loss == "");
}

BOOST_AUTO_TEST_CASE(what_has_taken_its_place_is_left_alone) {
  const ScratchFolder folder;
  const std::string path = folder.path("api.sock");
  Harness harness;
  harness.server->listen_on_socket(path);
  BOOST_REQUIRE(::rename(path.c_str(), folder.path("away").c_str()) == 0);
  std::ofstream(path) << "data";
  for (int again = 0; again < 2; ++again) {
    const FileLook look = look_at(*harness.server);
    BOOST_TEST(look.loss == "was replaced by another file");
    BOOST_TEST(look.flaw.find("is another kind of file") != std::string::npos, look.flaw);
  }
  RawClient client(folder.path("away"));
  client.send(get("/"));
  harness.receive(client, "GET / \n");
  BOOST_REQUIRE(::unlink(path.c_str()) == 0);
  BOOST_TEST(look_at(*harness.server).flaw == "");
  BOOST_TEST(exists(path));
}

BOOST_AUTO_TEST_CASE(a_successors_socket_is_not_removed) {
  const ScratchFolder folder;
  const std::string path = folder.path("api.sock");
  Harness harness;
  harness.server->listen_on_socket(path);
  BOOST_REQUIRE(::unlink(path.c_str()) == 0);
  std::ofstream(folder.path("so that the inode is another one"));
  Harness successor;
  successor.server->listen_on_socket(path);
  harness.server->stop_listening();
  BOOST_TEST(exists(path));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
