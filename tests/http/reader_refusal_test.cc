// Which bytes become no request: what is broken, too large, or could smuggle a second request past
// a proxy.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <string>

#include "io/http/http_reader.hh"

namespace bellwether::io::test {

BOOST_AUTO_TEST_SUITE(reader_refusal)

namespace {

using Result = HttpReader::Result;
namespace data = boost::unit_test::data;

constexpr HttpLimits kSmall{.header_bytes = 200, .body_bytes = 20};

// The same, however the bytes are cut.
HttpRefusal refusal_of(const std::string& bytes, const HttpLimits& limits = {}) {
  HttpReader whole(limits);
  whole.append(bytes);
  BOOST_REQUIRE_MESSAGE(whole.next() == Result::kRefused, bytes);
  HttpReader cut(limits);
  Result result = Result::kMoreNeeded;
  for (size_t i = 0; i < bytes.size() && result == Result::kMoreNeeded; ++i) {
    cut.append(bytes.substr(i, 1));
    result = cut.next();
  }
  BOOST_REQUIRE_MESSAGE(result == Result::kRefused, bytes);
  BOOST_TEST(cut.refusal().status == whole.refusal().status);
  BOOST_TEST(cut.refusal().reason == whole.refusal().reason);
  // For good.
  whole.append("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  BOOST_TEST((whole.next() == Result::kRefused));
  return whole.refusal();
}

std::string with(const std::string& headers, const std::string& body = "") {
  return "POST / HTTP/1.1\r\nHost: here\r\n" + headers + "\r\n" + body;
}

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: here\r\n\r\n";
}

const std::string kAmbiguous[] = {
    with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nGET /"),
    with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\nGET /"),
    with("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"),
    with("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
    with("Content-Length: 5, 5\r\n", "hello"),
    with("Content-Length: +5\r\n", "hello"),
    with("Content-Length: -1\r\n", "hello"),
    with("Content-Length: 0x5\r\n", "hello"),
    with("Content-Length: 5 5\r\n", "hello"),
    with("Content-Length:\r\n", "hello"),
    with("Content-Length: 99999999999999999999\r\n", "hello"),
    with("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
    with("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
    with("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
    with("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "hello"),
    with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
    with("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
    with("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
    with(" Transfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "5\nhello\r\n0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "0x5\r\nhello\r\n0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "-5\r\nhello\r\n0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "g\r\nhello\r\n0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "\r\nhello\r\n0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "5\r\nhelloXX0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "5 \r\nhello\r\n0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "11111111111111111\r\nhello\r\n0\r\n\r\n"),
    with("Transfer-Encoding: chunked\r\n", "0\r\nContent-Length: 9\r\n\r\n"),
    "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
};

const std::string kMalformed[] = {
    "\x16\x03\x01\x02",  // a TLS client
    "GET\r\n\r\n",
    "GET /\r\n\r\n",
    "GET  / HTTP/1.1\r\nHost: here\r\n\r\n",
    "GET / HTTP/1.1 \r\nHost: here\r\n\r\n",
    "GET / HTTP/1.2\r\nHost: here\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "GET / http/1.1\r\nHost: here\r\n\r\n",
    "G(T / HTTP/1.1\r\nHost: here\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: here\rX: y\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: here\r\nHost: here\r\n\r\n",
    "GET / HTTP/1.0\r\nHost: here\r\nHost: there\r\n\r\n",
    with("X: a\r\n b\r\n"),
    with("X: a\r\n\tb\r\n"),
    with("X:\r\n \r\n"),
    with(": a\r\n"),
    with("X\r\n"),
    with("X y: a\r\n"),
    with(std::string("X: a\0b\r\n", 8)),
    with("X: a\x01z\r\n"),
    with("X: a\x7Fz\r\n"),
    with("Connection: (\r\n"),
};

const std::string kBadTargets[] = {
    "*",        "here",      "here:80",    "ftp://here/", "https://here/", "http://elsewhere/",
    "http:///", "/%",        "/%4",        "/%4g",        "/%zz",          "/a%00b",
    "/a%0ab",   "/a%7f",     "/a\xC3\xA9", "/a#b",        "/?a=%",         "/?a=%00",
    "/?%0d=1",  "//here/%1",
};

}  // namespace

BOOST_DATA_TEST_CASE(a_body_whose_end_is_doubtful_is_refused, data::make(kAmbiguous), bytes) {
  BOOST_TEST(refusal_of(bytes).status == 400u);
}

BOOST_DATA_TEST_CASE(what_is_no_http_is_refused, data::make(kMalformed), bytes) {
  BOOST_TEST(refusal_of(bytes).status == 400u);
  BOOST_TEST(!refusal_of(bytes).limit.has_value());
}

// One that comes in pieces is waited for, like any header without an end.
BOOST_AUTO_TEST_CASE(a_line_feed_alone_ends_no_line) {
  for (const std::string bytes :
       {"GET / HTTP/1.1\nHost: here\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n"}) {
    HttpReader whole({});
    whole.append(bytes);
    BOOST_TEST((whole.next() == Result::kRefused));
    HttpReader cut({});
    for (const char c : bytes) {
      cut.append({&c, 1});
      BOOST_TEST((cut.next() != Result::kRequest));
    }
  }
}

BOOST_DATA_TEST_CASE(bad_targets_are_refused, data::make(kBadTargets), target) {
  BOOST_TEST(refusal_of(get(target)).status == 400u);
}

BOOST_AUTO_TEST_CASE(a_long_header_is_refused_at_its_limit_exactly) {
  const std::string frame = with("X: \r\n");
  const std::string fits = with("X: " + std::string(200 - frame.size(), 'a') + "\r\n");
  HttpReader reader(kSmall);
  reader.append(fits);
  BOOST_TEST((reader.next() == Result::kRequest));
  const HttpRefusal refusal =
      refusal_of(with("X: " + std::string(201 - frame.size(), 'a') + "\r\n"), kSmall);
  BOOST_TEST(refusal.status == 431u);
  BOOST_TEST((refusal.limit == Limit::kHttpHeader));
}

BOOST_AUTO_TEST_CASE(a_header_without_end_is_refused_before_it_ends) {
  BOOST_TEST(refusal_of("GET /" + std::string(400, 'a'), kSmall).status == 431u);
  BOOST_TEST(refusal_of("GET / HTTP/1.1\r\nX: " + std::string(400, 'a'), kSmall).status == 431u);
  BOOST_TEST(refusal_of(std::string(400, 'A'), kSmall).status == 431u);
}

BOOST_AUTO_TEST_CASE(a_large_body_is_refused_before_it_comes) {
  HttpReader reader(kSmall);
  reader.append(with("Content-Length: 20\r\n", std::string(20, 'a')));
  BOOST_TEST((reader.next() == Result::kRequest));
  const HttpRefusal refusal = refusal_of(with("Content-Length: 21\r\n"), kSmall);
  BOOST_TEST(refusal.status == 413u);
  BOOST_TEST((refusal.limit == Limit::kHttpBody));
}

BOOST_AUTO_TEST_CASE(chunks_count_together) {
  const std::string head = with("Transfer-Encoding: chunked\r\n");
  HttpReader reader(kSmall);
  reader.append(head + "a\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n");
  BOOST_TEST((reader.next() == Result::kRequest));
  BOOST_TEST(refusal_of(head + "a\r\n0123456789\r\nb\r\n", kSmall).status == 413u);
}

BOOST_AUTO_TEST_CASE(chunk_extensions_and_trailers_have_the_limit_of_headers) {
  const std::string head = with("Transfer-Encoding: chunked\r\n");
  BOOST_TEST(refusal_of(head + "1;" + std::string(300, 'a'), kSmall).status == 431u);
  BOOST_TEST(refusal_of(head + "0\r\nX: " + std::string(300, 'a'), kSmall).status == 431u);
  std::string extended = head;
  for (int i = 0; i < 10; ++i) extended += "1;" + std::string(30, 'a') + "\r\nx\r\n";
  BOOST_TEST(refusal_of(extended, kSmall).status == 431u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
