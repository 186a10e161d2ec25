// Which of two connections stays, and who is refused; and how long dialling waits.
#include "io/peers/link_rules.hh"

#include <boost/test/unit_test.hpp>

#include "io/peers/dial_backoff.hh"
#include "sample_frames.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const PeerIdentity kSelf{.id = id_of(5), .boot = 50, .name = "five"};

LinkSketch link(uint8_t byte, bool is_dialled_here, Duration age = {}, uint64_t boot = 1) {
  return {.peer = {.id = id_of(byte), .boot = boot, .name = "peer"},
          .is_dialled_here = is_dialled_here,
          .age = age};
}

constexpr Duration kHandshake = seconds(2);

bool is_about(Duration wait, Duration base) { return wait >= base * 3 / 4 && wait <= base * 5 / 4; }

}  // namespace

BOOST_AUTO_TEST_SUITE(link_rules)

BOOST_AUTO_TEST_CASE(the_first_connection_is_accepted) {
  BOOST_TEST((judge(link(3, true), kSelf, nullptr, false, kHandshake) == LinkVerdict::kAccept));
  BOOST_TEST((judge(link(3, false), kSelf, nullptr, false, kHandshake) == LinkVerdict::kAccept));
}

BOOST_AUTO_TEST_CASE(of_two_that_were_dialled_at_the_same_time_both_sides_keep_the_same_one) {
  // Seen from 5 and from its peer, whichever of the two comes first there.
  for (const uint8_t peer : {uint8_t{3}, uint8_t{7}}) {
    const PeerIdentity other{.id = id_of(peer), .boot = 1, .name = "peer"};
    for (const bool is_ours_second : {true, false}) {
      const LinkSketch there = link(peer, !is_ours_second);
      const bool takes_second = judge(link(peer, is_ours_second), kSelf, &there, false,
                                      kHandshake) == LinkVerdict::kReplace;
      const bool keeps_ours = takes_second == is_ours_second;
      BOOST_TEST(keeps_ours == (kSelf.id > other.id));

      LinkSketch newer = link(5, is_ours_second, {}, kSelf.boot);
      LinkSketch older = link(5, !is_ours_second, {}, kSelf.boot);
      newer.peer = older.peer = kSelf;
      const bool other_takes_second =
          judge(newer, other, &older, false, kHandshake) == LinkVerdict::kReplace;
      const bool other_keeps_its_own = other_takes_second == is_ours_second;
      BOOST_TEST(other_keeps_its_own != keeps_ours);
    }
  }
}

// Ids are told to everybody, and names are what certificates are for.
BOOST_AUTO_TEST_CASE(an_id_under_another_name_replaces_nobody_but_for_a_voter_by_its_certificate) {
  for (const bool is_dialled_here : {true, false}) {
    const LinkSketch there = link(3, is_dialled_here, kHandshake);
    LinkSketch other = link(3, is_dialled_here);
    other.peer.name = "another";
    BOOST_TEST((judge(other, kSelf, &there, false, kHandshake) == LinkVerdict::kDuplicateId));
    other.is_of_voter = true;
    for (const uint64_t boot :
         {uint64_t{1}, uint64_t{2}}) {  // whoever used its id made its boot up, or copied it
      other.peer.boot = boot;
      BOOST_TEST((judge(other, kSelf, &there, false, kHandshake) == LinkVerdict::kReplace));
    }
    LinkSketch certified = link(3, is_dialled_here);
    certified.is_another = true;
    BOOST_TEST((judge(certified, kSelf, &there, false, kHandshake) == LinkVerdict::kDuplicateId));
    LinkSketch voter = there;
    voter.is_of_voter = true;
    BOOST_TEST((judge(other, kSelf, &voter, false, kHandshake) == LinkVerdict::kDuplicateId));
  }
}

BOOST_AUTO_TEST_CASE(whoever_dials_again_has_lost_its_connection) {
  for (const uint8_t peer : {uint8_t{3}, uint8_t{7}}) {
    for (const bool is_dialled_here : {true, false}) {
      const LinkSketch same_way = link(peer, is_dialled_here);
      BOOST_TEST((judge(link(peer, is_dialled_here), kSelf, &same_way, false, kHandshake) ==
                  LinkVerdict::kReplace));
      const LinkSketch older = link(peer, !is_dialled_here, kHandshake);
      BOOST_TEST((judge(link(peer, is_dialled_here), kSelf, &older, false, kHandshake) ==
                  LinkVerdict::kReplace));
    }
  }
}

// Behind one address there may be several processes: a Service's, or that of a proxy.
BOOST_AUTO_TEST_CASE(a_link_is_not_replaced_by_one_who_did_not_know_whom_it_dialled) {
  for (const bool is_dialled_here : {true, false}) {
    LinkSketch newcomer = link(3, is_dialled_here);
    newcomer.is_tentative = true;
    BOOST_TEST((judge(newcomer, kSelf, nullptr, false, kHandshake) == LinkVerdict::kAccept));
    for (const bool is_older_dialled_here : {true, false}) {
      const LinkSketch older = link(3, is_older_dialled_here, kHandshake);
      BOOST_TEST((judge(newcomer, kSelf, &older, false, kHandshake) == LinkVerdict::kKeepExisting));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_identity_belongs_to_one_living_process) {
  const LinkSketch old_life = link(3, true, seconds(100), 1);
  BOOST_TEST((judge(link(3, false, {}, 2), kSelf, &old_life, false, kHandshake) ==
              LinkVerdict::kDuplicateId));
  BOOST_TEST(
      (judge(link(3, false), kSelf, nullptr, true, kHandshake) == LinkVerdict::kDuplicateName));
  LinkSketch namesake = link(3, false);
  namesake.peer.name = kSelf.name;
  BOOST_TEST((judge(namesake, kSelf, nullptr, false, kHandshake) == LinkVerdict::kDuplicateName));
}

BOOST_AUTO_TEST_CASE(this_process_is_told_from_one_with_its_id) {
  BOOST_TEST(
      (judge(link(5, true, {}, 50), kSelf, nullptr, false, kHandshake) == LinkVerdict::kSelf));
  BOOST_TEST(
      (judge(link(5, true, {}, 51), kSelf, nullptr, false, kHandshake) == LinkVerdict::kOwnId));
}

BOOST_AUTO_TEST_CASE(an_address_that_does_not_answer_is_dialled_ever_more_slowly) {
  DialBackoff backoff(1, kHandshake);
  for (const int wait_ms : {1, 5, 20, 50, 100, 200, 400, 800, 1000, 1000, 1000}) {
    BOOST_TEST(is_about(backoff.after_failure(), milliseconds(wait_ms)));
  }
}

BOOST_AUTO_TEST_CASE(where_many_are_dialled_in_vain_each_is_dialled_more_rarely) {
  DialBackoff backoff(1, kHandshake);
  backoff.set_longest_wait(seconds(30));
  for (const int wait_ms : {1, 5, 20, 50, 100, 200, 400, 800, 30000, 30000}) {
    BOOST_TEST(is_about(backoff.after_failure(), milliseconds(wait_ms)));
  }
  backoff.set_longest_wait(milliseconds(100));
  BOOST_TEST(is_about(backoff.after_failure(), seconds(1)));
}

BOOST_AUTO_TEST_CASE(who_is_rejected_waits_up_to_five_seconds) {
  DialBackoff backoff(2, kHandshake);
  for (const int wait_ms : {250, 500, 1000, 2000, 4000, 5000, 5000}) {
    BOOST_TEST(is_about(backoff.after_rejection(), milliseconds(wait_ms)));
  }
  backoff.after_link(seconds(3));
  BOOST_TEST(is_about(backoff.after_rejection(), milliseconds(250)));
}

BOOST_AUTO_TEST_CASE(of_many_that_only_others_have_named_none_is_dialled_often) {
  DialBackoff backoff(2, kHandshake);
  backoff.set_longest_wait(seconds(100));
  for (int i = 0; i < 10; ++i) backoff.after_failure();
  BOOST_TEST(is_about(backoff.after_failure(), seconds(100)));
  BOOST_TEST(is_about(backoff.after_rejection(), seconds(100)));
}

BOOST_AUTO_TEST_CASE(the_waits_of_many_differ) {
  DialBackoff one(3, kHandshake);
  DialBackoff other(4, kHandshake);
  bool is_different = false;
  for (int i = 0; i < 5; ++i) is_different |= one.after_failure() != other.after_failure();
  BOOST_TEST(is_different);
}

BOOST_AUTO_TEST_CASE(after_a_link_it_is_dialled_at_once_unless_links_keep_ending_soon) {
  DialBackoff backoff(5, kHandshake);
  for (int i = 0; i < 10; ++i) backoff.after_failure();
  BOOST_TEST(backoff.after_link(seconds(2)).count() == 0);
  BOOST_TEST(is_about(backoff.after_failure(), milliseconds(1)));
  BOOST_TEST(backoff.after_link(milliseconds(10)).count() == 0);
  BOOST_TEST(backoff.after_link(milliseconds(10)).count() == 0);
  for (const int wait_ms : {1, 5, 20, 50, 100, 200, 400, 800, 1000, 1000}) {
    BOOST_TEST(is_about(backoff.after_link(milliseconds(10)), milliseconds(wait_ms)));
  }
  BOOST_TEST(backoff.after_link(seconds(2)).count() == 0);
}

BOOST_AUTO_TEST_CASE(a_short_link_is_not_held_against_the_next_life) {
  DialBackoff backoff(1, kHandshake);
  const Duration age = std::chrono::milliseconds(10);
  for (uint64_t boot = 1; boot < 20; ++boot) {
    const Duration wait = backoff.after_link(counted_lifetime(boot - 1, boot, age));
    BOOST_TEST((wait == Duration::zero()));
  }
  for (int link = 0; link < 3; ++link) backoff.after_link(counted_lifetime(20, 20, age));
  BOOST_TEST((backoff.after_link(counted_lifetime(20, 20, age)) > Duration::zero()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
