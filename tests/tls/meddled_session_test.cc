// Somebody stands between two members who can change what they say, but does not know it: every
// single bit of a session, and every place where it may stop.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "session_pair.hh"

namespace bellwether::io::test {
namespace {

// Members of one group, by certificates or by a secret.
struct Members {
  Context client;
  Context server;
};

Members by_certificates() {
  const Authority authority("one");
  return {member(authority, {.names = {"DNS:orders-0.orders.shop"}}),
          member(authority, {.names = {"DNS:orders-1.orders.shop"}})};
}

Members by_secret() {
  const Context context = with_secret(make_group_secret());
  return {context, context};
}

constexpr size_t kRecordHeader = 5;
// And what it is, and a checksum.
constexpr size_t kRecordOverhead = kRecordHeader + 1 + 16;

const char* name(TlsSide to) { return to == TlsSide::kServer ? "to the server" : "to the client"; }

// What goes in one direction, as its sender has sent it.
struct Direction {
  struct Words {
    std::string text;
    size_t end = 0;  // of their record
  };

  // All that was said before this byte.
  std::string said_before(size_t position) const {
    std::string text;
    for (const Words& words : said) text += words.end <= position ? words.text : "";
    return text;
  }
  // Where this byte lies: in a record that is encrypted or not, and how far into it.
  struct Place {
    bool is_encrypted = false;
    size_t offset = 0;
    // Nothing depends on the version of a record that is not encrypted.
    bool is_idle() const { return !is_encrypted && (offset == 1 || offset == 2); }
  };
  Place place_of(size_t position) const {
    constexpr char kEncrypted = 0x17;
    for (size_t start = 0; start + kRecordHeader <= sent.size();) {
      const auto byte = [&](size_t at) { return static_cast<unsigned char>(sent[start + at]); };
      const size_t end = start + kRecordHeader + byte(3) * size_t{256} + byte(4);
      if (position < end) return {sent[start] == kEncrypted, position - start};
      start = end;
    }
    return {};
  }

  std::string sent;
  std::vector<Words> said;
};

// A handshake, two words in each direction, and then so many that whoever still waits for the end
// of a record gets it.
class Conversation {
 public:
  // `meddler` is told at which byte of its direction the bytes begin.
  using Meddler = std::function<void(TlsSide to, size_t position, std::string& bytes)>;

  Conversation(const Members& members, Meddler meddler) : pair(members.client, members.server) {
    pair.meddler = [this, meddler = std::move(meddler)](TlsSide to, std::string& bytes) {
      const size_t position = directions[to].sent.size();
      directions[to].sent += bytes;
      meddler(to, position, bytes);
    };
  }

  void take_place() {
    say(TlsSide::kServer, "the first from the client");  // before the handshake
    say(TlsSide::kClient, "the first from the server");
    say(TlsSide::kServer, "the second from the client");
    say(TlsSide::kClient, "the second from the server");
  }
  // Three records.
  void go_on() {
    for (const TlsSide to : {TlsSide::kServer, TlsSide::kClient}) say(to, std::string(40000, '.'));
  }
  Side& side(TlsSide which) { return which == TlsSide::kServer ? pair.server : pair.client; }

  SessionPair pair;
  std::map<TlsSide, Direction> directions;

 private:
  void say(TlsSide to, const std::string& text) {
    side(to == TlsSide::kServer ? TlsSide::kClient : TlsSide::kServer).session.write(text);
    pair.run();
    directions[to].said.push_back({text, directions[to].sent.size()});
  }
};

std::map<TlsSide, Direction> undisturbed(const Members& members) {
  Conversation whole(members, [](TlsSide, size_t, const std::string&) {});
  whole.take_place();
  for (const TlsSide side : {TlsSide::kServer, TlsSide::kClient}) {
    BOOST_TEST_REQUIRE(whole.side(side).heard == whole.directions[side].said_before(SIZE_MAX));
  }
  return whole.directions;
}

// One bit on its way is another one.
void check_flip(const Members& members, TlsSide to, size_t byte, size_t bit) {
  bool is_flipped = false;  // the signatures of some sessions are a byte shorter
  Conversation damaged(members, [&](TlsSide direction, size_t position, std::string& bytes) {
    if (direction != to || byte < position || byte - position >= bytes.size()) return;
    char& damaged_byte = bytes[byte - position];
    damaged_byte = static_cast<char>(damaged_byte ^ (1 << bit));
    is_flipped = true;
  });
  damaged.take_place();
  SessionPair& pair = damaged.pair;
  const bool is_established =
      pair.client.session.is_established() || pair.server.session.is_established();
  if (is_established) damaged.go_on();
  const Direction& direction = damaged.directions[to];
  if (!is_flipped || direction.place_of(byte).is_idle()) return;
  const bool is_noticed = pair.client.session.flaw() || pair.server.session.flaw();
  // A handshake that waits for more is ended when its time is up.
  BOOST_TEST_REQUIRE((is_noticed || !is_established));
  BOOST_TEST_REQUIRE(damaged.side(to).heard == direction.said_before(byte));
}

void check_flips(const Members& members) {
  for (const auto& [to, direction] : undisturbed(members)) {
    for (size_t byte = 0; byte < direction.sent.size(); ++byte) {
      for (size_t bit = 0; bit < 8; ++bit) {
        BOOST_TEST_CONTEXT(name(to) << ", byte " << byte << ", bit " << bit)
        check_flip(members, to, byte, bit);
      }
    }
  }
}

// Only so many bytes arrive.
void check_stall(const Members& members, TlsSide to, size_t count) {
  Conversation stalled(members, [&](TlsSide direction, size_t position, std::string& bytes) {
    if (direction == to) bytes.resize(std::min(bytes.size(), count - std::min(count, position)));
  });
  stalled.take_place();
  SessionPair& pair = stalled.pair;
  BOOST_TEST_REQUIRE((!pair.client.session.flaw() && !pair.server.session.flaw()));
  Side& receiver = stalled.side(to);
  if (receiver.session.is_established()) {
    const Direction::Words& first = stalled.directions[to].said.front();
    BOOST_TEST_REQUIRE(count >= first.end - first.text.size() - kRecordOverhead);
    BOOST_TEST_REQUIRE(receiver.heard == stalled.directions[to].said_before(count));
    return;
  }
  BOOST_TEST_REQUIRE(receiver.heard.empty());
  // Nothing of what it would say has left it, and nothing does at its end.
  Side& other = stalled.side(to == TlsSide::kServer ? TlsSide::kClient : TlsSide::kServer);
  BOOST_TEST_REQUIRE(other.heard.empty());
  BOOST_TEST_REQUIRE(receiver.session.waiting_bytes() > 0U);
  receiver.session.finish();
  BOOST_TEST_REQUIRE(receiver.give().empty());
}

void check_stalls(const Members& members) {
  for (const auto& [to, direction] : undisturbed(members)) {
    for (size_t count = 0; count < direction.sent.size(); ++count) {
      BOOST_TEST_CONTEXT(name(to) << ", " << count << " bytes") check_stall(members, to, count);
    }
  }
}

BOOST_AUTO_TEST_SUITE(tls_meddled_session)

BOOST_AUTO_TEST_CASE(no_flipped_bit_goes_unnoticed_among_certificates) {
  check_flips(by_certificates());
}

BOOST_AUTO_TEST_CASE(no_flipped_bit_goes_unnoticed_among_holders_of_a_secret) {
  check_flips(by_secret());
}

BOOST_AUTO_TEST_CASE(a_session_that_stalls_at_any_byte_gives_nothing_away) {
  check_stalls(by_certificates());
  check_stalls(by_secret());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::io::test
