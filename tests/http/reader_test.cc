// Which bytes become which request.
#include <boost/test/unit_test.hpp>

#include "io/http/http_reader.hh"
#include "io/http/http_url.hh"

namespace bellwether::io::test {
namespace {

using Result = HttpReader::Result;

// The only request in `bytes`.
HttpRequest read(const std::string& bytes) {
  HttpReader reader({});
  reader.append(bytes);
  BOOST_REQUIRE((reader.next() == Result::kRequest));
  BOOST_TEST(reader.waiting_bytes() == 0u);
  return reader.request();
}

HttpFraming framing_of(const std::string& head) {
  HttpReader reader({});
  reader.append(head);
  BOOST_REQUIRE((reader.next() == Result::kRequest));
  return reader.framing();
}

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: here\r\n\r\n";
}

constexpr const char* kChunked =
    "POST /v1/elect HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
    "4\r\n{\"a\"\r\n3;why=so\r\n: 1\r\n1\r\n}\r\n0\r\nHost: elsewhere\r\n\r\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(reader)

BOOST_AUTO_TEST_CASE(a_request_has_method_path_query_headers_and_body) {
  const HttpRequest request = read(
      "POST /v1/leader?index=7&wait=30s HTTP/1.1\r\nHost: here:4040\r\nX-Some: thing \r\n"
      "Content-Length: 5\r\n\r\nhello");
  BOOST_TEST(request.method == "POST");
  BOOST_TEST(request.path == "/v1/leader");
  BOOST_TEST(request.query.size() == 2u);
  BOOST_TEST(request.query.at("index") == "7");
  BOOST_TEST(request.query.at("wait") == "30s");
  BOOST_TEST(request.headers.size() == 3u);
  BOOST_TEST(request.body == "hello");
  BOOST_REQUIRE(request.header("x-some"));
  BOOST_TEST(*request.header("x-some") == "thing");
  BOOST_TEST(!request.header("X-Som"));
}

BOOST_AUTO_TEST_CASE(chunks_become_one_body_and_trailers_are_dropped) {
  const HttpRequest request = read(kChunked);
  BOOST_TEST(request.body == "{\"a\": 1}");
  BOOST_TEST(request.headers.size() == 2u);
  BOOST_TEST(*request.header("Host") == "here");
}

BOOST_AUTO_TEST_CASE(how_the_bytes_are_cut_makes_no_difference) {
  const std::string bytes = "\r\n\r\n" + (kChunked + get("/a?b=c"));
  for (size_t piece = 1; piece < bytes.size(); ++piece) {
    HttpReader reader({});
    std::string found;
    for (size_t start = 0; start < bytes.size(); start += piece) {
      reader.append(std::string_view(bytes).substr(start, piece));
      while (reader.next() == Result::kRequest) {
        found += reader.request().path + " " + reader.request().body + ";";
      }
    }
    BOOST_TEST(found == "/v1/elect {\"a\": 1};/a ;");
  }
}

BOOST_AUTO_TEST_CASE(requests_sent_ahead_wait_for_their_turn) {
  HttpReader reader({});
  reader.append(get("/one") + get("/two") + "GET /thr");
  BOOST_REQUIRE((reader.next() == Result::kRequest));
  BOOST_TEST(reader.request().path == "/one");
  BOOST_TEST(reader.waiting_bytes() == get("/two").size() + 8);
  BOOST_REQUIRE((reader.next() == Result::kRequest));
  BOOST_TEST(reader.request().path == "/two");
  BOOST_TEST((reader.next() == Result::kMoreNeeded));
  BOOST_TEST(reader.is_within_request());
}

BOOST_AUTO_TEST_CASE(empty_lines_before_a_request_are_overlooked_and_begin_none) {
  HttpReader reader({});
  reader.append("\r\n\r\n");
  BOOST_TEST((reader.next() == Result::kMoreNeeded));
  BOOST_TEST(!reader.is_within_request());
  reader.append(get("/"));
  BOOST_TEST((reader.next() == Result::kRequest));
  BOOST_TEST((reader.next() == Result::kMoreNeeded));
  BOOST_TEST(!reader.is_within_request());
}

BOOST_AUTO_TEST_CASE(the_version_and_the_connection_header_decide_whether_more_can_follow) {
  BOOST_TEST(framing_of(get("/")).is_kept_alive);
  BOOST_TEST(!framing_of(get("/")).is_http_1_0);
  BOOST_TEST(!framing_of("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").is_kept_alive);
  BOOST_TEST(framing_of("GET / HTTP/1.0\r\n\r\n").is_http_1_0);
  BOOST_TEST(!framing_of("GET / HTTP/1.0\r\n\r\n").is_kept_alive);
  BOOST_TEST(framing_of("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").is_kept_alive);
}

BOOST_AUTO_TEST_CASE(a_client_that_expects_to_be_asked_for_its_body_is_asked_once) {
  const std::string head =
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
  HttpReader reader({});
  reader.append(head);
  BOOST_TEST((reader.next() == Result::kMoreNeeded));
  BOOST_TEST(reader.take_expectation());
  BOOST_TEST(!reader.take_expectation());
  reader.append("ab");
  BOOST_TEST((reader.next() == Result::kRequest));

  HttpReader impatient({});
  impatient.append(head + "a");
  BOOST_TEST((impatient.next() == Result::kMoreNeeded));
  BOOST_TEST(!impatient.take_expectation());
}

BOOST_AUTO_TEST_CASE(percent_signs_are_decoded_after_the_target_is_taken_apart) {
  const HttpRequest request = read(get("/a%2Fb%3F%c3%a9?k%26%3d=v%3D1%20+&&empty&k%26%3d=again"));
  BOOST_TEST(request.path == "/a%2Fb?\xC3\xA9");
  BOOST_TEST(read(get("/%2f%252F%41")).path == "/%2F%252FA");
  BOOST_TEST(request.query.size() == 2u);
  BOOST_TEST(request.query.at("k&=") == "v=1 +");
  BOOST_TEST(request.query.at("empty") == "");
}

BOOST_AUTO_TEST_CASE(what_is_encoded_is_decoded_to_the_same) {
  std::string text;
  for (int c = 0x20; c < 0x100; ++c) {
    if (c != 0x7F) text.push_back(static_cast<char>(c));
  }
  std::string decoded;
  BOOST_TEST(percent_decode(percent_encode(text), decoded));
  BOOST_TEST(decoded == text);
  BOOST_TEST(percent_encode("orders-1/a b") == "orders-1%2Fa%20b");
}

BOOST_AUTO_TEST_CASE(a_whole_url_is_a_target_too) {
  BOOST_TEST(read(get("HTTP://HERE/a?b=c")).path == "/a");
  BOOST_TEST(read(get("http://here?b=c")).path == "/");
  BOOST_TEST(read(get("http://here?b=c")).query.at("b") == "c");
}

BOOST_AUTO_TEST_CASE(an_asterisk_is_for_options) {
  BOOST_TEST(read("OPTIONS * HTTP/1.1\r\nHost: here\r\n\r\n").path == "*");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
