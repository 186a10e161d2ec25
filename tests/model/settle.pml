/* Both layers, liveness: three voters in a network that has settled; do they get one leader, and
 * keep it?
 *
 * Chosen once, in every possible way, and then kept: who is up, which of the six one-way links work,
 * every stored epoch and promise, who believes that it has a leader, who leads.  Timers run out only
 * when nothing else can happen, each once in a round of timers; so liveness is a finite matter:
 *
 *   L1  if two living voters have links both ways, there is a leader whom a majority backs after at
 *       most ROUNDS rounds of timers, and everything rests
 *   L2  from then on, whatever is tried again changes neither leader nor epoch, but that a higher
 *       voter may take over: the lower ones do not disturb, and two do not take turns
 *
 * Rank is the index.  A refused candidate backs off, and does not count as an answer meanwhile. */
#ifndef ROUNDS
#define ROUNDS 8
#endif
#ifndef HIGHEST_STORED
#define HIGHEST_STORED 2
#endif

/* First epochs are times of wall clocks.  DAYS_APART: what is stored is far ahead of what the other
 * voters, which know of no epoch yet, begin with.  That is so when the first claimant dies between
 * its own vote and its COORDINATOR: the others do without it, and it comes back. */
#ifdef DAYS_APART
#define FIRST_STORED 100
#else
#define FIRST_STORED 1
#endif
#define EPOCHS_ENOUGH (FIRST_STORED + 11)   /* who claims more often than that claims for ever */
#define VOTERS 3
#define OF(a, b) (VOTERS * (a) + (b))
#define ID(voter) ((voter) + 1)             /* 0 is nobody */
#define MAX(a, b) ((a) > (b) -> (a) : (b))

#define FOLLOWER 0
#define CLAIMING 1
#define LEADER 2

bit is_up[VOTERS];
bit link[OF(VOTERS, 0)];                    /* what the one sends reaches the other */
byte max_epoch[VOTERS], granted_to[VOTERS];
byte role[VOTERS];
bit has_leader[VOTERS];                     /* believes so: heard it within the suspicion timeout */
bit is_waiting[VOTERS];                     /* for COORDINATOR of somebody higher */
bit is_backing_off[VOTERS];                 /* after a refusal */
bit has_grant[VOTERS];                      /* one besides its own */
bit claim_sent[OF(VOTERS, 0)];              /* COORDINATOR on its way */
bit has_fired[VOTERS];                      /* its timer, in this round */

byte rounds;
bit has_settled, is_over;
byte leader, leader_epoch;                  /* at the end of the last round */
byte i;                                     /* of a loop */

#define ARE_LINKED(a, b) (link[OF(a, b)] && link[OF(b, a)] && is_up[a] && is_up[b])
#ifdef FAR_IS_REFUSED
#define IS_NEAR(a, b) \
  (max_epoch[a] + FIRST_STORED / 2 >= max_epoch[b] && max_epoch[b] + FIRST_STORED / 2 >= max_epoch[a])
#else
#define IS_NEAR(a, b) true
#endif
#define BOTH_WAYS(a, b) (ARE_LINKED(a, b) && IS_NEAR(a, b))

/* Who leads or claims beats, and stops when it gives up. */
#ifdef BEATS_AFTER_LEASE
bit is_undead[VOTERS];
#define BEATS(voter) (role[voter] != FOLLOWER || is_undead[voter])
#define STAY_LOUD is_undead[me] = 1
#else
#define BEATS(voter) (role[voter] != FOLLOWER)
#define STAY_LOUD skip
#endif
#define HEARS(voter, from)                                                              \
  (is_up[voter] && BEATS(from) && link[OF(from, voter)] &&                              \
   max_epoch[from] == max_epoch[voter] && granted_to[voter] == ID(from))
#define BACKS(voter, whom)                                                              \
  (BOTH_WAYS(whom, voter) && max_epoch[voter] == max_epoch[whom] && granted_to[voter] == ID(whom))
#define LEADS(voter, a, b)                                                              \
  (is_up[voter] && role[voter] == LEADER && (BACKS(a, voter) || BACKS(b, voter)))

/* In a voter: */
#define PEER_A ((me + 1) % VOTERS)
#define PEER_B ((me + 2) % VOTERS)
#define IS_BACKED (BACKS(PEER_A, me) || BACKS(PEER_B, me))
#define OUTRANKS(candidate, voter) (granted_to[voter] != 0 && granted_to[voter] - 1 < (candidate))

/* Sticky: who hears a leader supports only somebody who outranks it. */
#ifdef NOT_STICKY
#define SUPPORTS(voter, candidate) BOTH_WAYS(candidate, voter)
#else
#define SUPPORTS(voter, candidate)                                                      \
  (BOTH_WAYS(candidate, voter) &&                                                       \
   (!has_leader[voter] || granted_to[voter] == 0 || OUTRANKS(candidate, voter)))
#endif
#ifdef NO_CANVASS
#define MAY_CLAIM (BOTH_WAYS(me, PEER_A) || BOTH_WAYS(me, PEER_B))
#define WOULD_GRANT(candidate) SUPPORTS(me, candidate)
#else
#define MAY_CLAIM (SUPPORTS(PEER_A, me) || SUPPORTS(PEER_B, me))
#define WOULD_GRANT(candidate) true         /* it was canvassed */
#endif

#define ANSWERS(other) ((other) > me && BOTH_WAYS(me, other) && !is_backing_off[other])
#define HIGHER_ANSWERS (ANSWERS(PEER_A) || ANSWERS(PEER_B))
#define HEARD_EPOCH(other) (BOTH_WAYS(me, other) -> max_epoch[other] : 0)

inline follow(whom) {
  max_epoch[me] = max_epoch[whom]; granted_to[me] = ID(whom);
  has_leader[me] = 1; is_backing_off[me] = 0
}

inline give_up() {
  role[me] = FOLLOWER; has_grant[me] = 0; is_waiting[me] = 0;
  claim_sent[OF(me, PEER_A)] = 0; claim_sent[OF(me, PEER_B)] = 0
}

inline lose_lead() {
  STAY_LOUD; give_up(); has_leader[me] = 0; is_backing_off[me] = 1
}

inline claim() {
  is_waiting[me] = 0;
  if
  :: MAY_CLAIM ->
     max_epoch[me] = 1 + MAX(max_epoch[me], MAX(HEARD_EPOCH(PEER_A), HEARD_EPOCH(PEER_B)));
     assert(max_epoch[me] < EPOCHS_ENOUGH);
     granted_to[me] = ID(me); role[me] = CLAIMING;
     has_grant[me] = 0; has_leader[me] = 1; is_backing_off[me] = 0;
     claim_sent[OF(me, PEER_A)] = BOTH_WAYS(me, PEER_A);
     claim_sent[OF(me, PEER_B)] = BOTH_WAYS(me, PEER_B)
  :: else -> is_backing_off[me] = 1
  fi
}

inline suspect() {
  d_step {
    !is_over && is_up[me] && has_leader[me] && role[me] == FOLLOWER &&
    !HEARS(me, PEER_A) && !HEARS(me, PEER_B) ->
      has_leader[me] = 0
  }
}

inline elect() {
  d_step {
    is_up[me] && role[me] == FOLLOWER && !has_leader[me] && !is_waiting[me] && !is_backing_off[me] ->
      if
      :: HIGHER_ANSWERS -> is_waiting[me] = 1
      :: else -> claim()
      fi
  }
}

inline activate() {
  d_step {
    is_up[me] && role[me] == CLAIMING && has_grant[me] ->
      role[me] = LEADER;
      claim_sent[OF(me, PEER_A)] = 0; claim_sent[OF(me, PEER_B)] = 0
  }
}

/* A claim that nobody granted, or a lease that nobody renews. */
inline step_down() {
  d_step {
    is_up[me] && !IS_BACKED &&
    ((role[me] != FOLLOWER && !claim_sent[OF(me, PEER_A)] && !claim_sent[OF(me, PEER_B)] &&
      !has_grant[me]) || (role[me] == LEADER && has_grant[me])) ->
      lose_lead()
  }
}

inline take_claim(candidate) {
  d_step {
    claim_sent[OF(candidate, me)] && role[candidate] != FOLLOWER ->
      claim_sent[OF(candidate, me)] = 0;
      if
      :: max_epoch[candidate] > max_epoch[me] && WOULD_GRANT(candidate) ->
         give_up(); follow(candidate); has_grant[candidate] = 1
      :: max_epoch[candidate] == max_epoch[me] && granted_to[me] == ID(candidate) ->
         has_grant[candidate] = 1
      :: else
      fi
  }
}

/* A heartbeat is the claim once more, for who missed it. */
inline take_beat(whom) {
  d_step {
    is_up[me] && is_up[whom] && role[whom] != FOLLOWER && link[OF(whom, me)] &&
    max_epoch[whom] > max_epoch[me] && !claim_sent[OF(whom, me)] && IS_NEAR(whom, me) ->
      give_up(); follow(whom)
  }
}

inline hear(whom) {
  d_step {
    is_up[me] && HEARS(me, whom) && !has_leader[me] ->
      has_leader[me] = 1; is_waiting[me] = 0; is_backing_off[me] = 0
  }
}

/* A leader learns from a voter of a higher epoch that nobody leads, or somebody lower. */
inline take_refusal(voter) {
  d_step {
    role[me] == LEADER && BOTH_WAYS(me, voter) && max_epoch[voter] > max_epoch[me] &&
    (granted_to[voter] == 0 || role[granted_to[voter] - 1] == FOLLOWER || !has_leader[voter] ||
     OUTRANKS(me, voter)) ->
      give_up(); has_leader[me] = 0; is_backing_off[me] = 0
  }
}

/* ---- Timers. ---- */

#define HAS_TIMER(voter) \
  (is_up[voter] && role[voter] == FOLLOWER && (is_waiting[voter] || is_backing_off[voter]))
#define OTHER_ANSWERS(voter, other) \
  ((other) > (voter) && BOTH_WAYS(voter, other) && !is_backing_off[other])
#define WANTS_TO_TAKE_OVER(voter, a, b)                                                 \
  (is_up[voter] && role[voter] == FOLLOWER && has_leader[voter] &&                      \
   !is_backing_off[voter] && OUTRANKS(voter, voter) &&                                  \
   !OTHER_ANSWERS(voter, a) && !OTHER_ANSWERS(voter, b))

inline run_out() {
  d_step {
    timeout && !is_over && !has_fired[me] && HAS_TIMER(me) ->
      is_waiting[me] = 0; is_backing_off[me] = 0; has_fired[me] = 1
  }
}

inline take_over() {
#ifdef TAKE_OVER_AT_ONCE
  d_step { !is_over && WANTS_TO_TAKE_OVER(me, PEER_A, PEER_B) -> claim() }
#else
  d_step {
    timeout && !is_over && !has_fired[me] && WANTS_TO_TAKE_OVER(me, PEER_A, PEER_B) ->
      has_fired[me] = 1; claim()
  }
#endif
}

proctype voter(byte me) {
end:
  do
  :: suspect()
  :: elect()
  :: activate()
  :: step_down()
  :: take_claim(PEER_A)
  :: take_claim(PEER_B)
  :: take_beat(PEER_A)
  :: take_beat(PEER_B)
  :: hear(PEER_A)
  :: hear(PEER_B)
  :: take_refusal(PEER_A)
  :: take_refusal(PEER_B)
  :: run_out()
  :: take_over()
  od
}

/* ---- The judge. ---- */

#define CURRENT (LEADS(0, 1, 2) -> 0 : (LEADS(1, 0, 2) -> 1 : 2))
#define THERE_IS_A_LEADER (LEADS(0, 1, 2) || LEADS(1, 0, 2) || LEADS(2, 0, 1))
#define IS_DUE(voter, a, b) \
  (!has_fired[voter] && (HAS_TIMER(voter) || WANTS_TO_TAKE_OVER(voter, a, b)))
#define SOMETHING_IS_DUE (IS_DUE(0, 1, 2) || IS_DUE(1, 0, 2) || IS_DUE(2, 0, 1))
#define A_TIMER_RUNS                                                                    \
  (HAS_TIMER(0) || HAS_TIMER(1) || HAS_TIMER(2) || WANTS_TO_TAKE_OVER(0, 1, 2) ||       \
   WANTS_TO_TAKE_OVER(1, 0, 2) || WANTS_TO_TAKE_OVER(2, 0, 1))

inline end_round() {
  d_step {
    timeout && !is_over && !SOMETHING_IS_DUE ->
      if
      :: THERE_IS_A_LEADER ->
         if
         :: has_settled ->
            assert(CURRENT > leader || (CURRENT == leader && max_epoch[leader] == leader_epoch))
         :: else -> has_settled = 1; rounds = ROUNDS
         fi;
         leader = CURRENT; leader_epoch = max_epoch[leader]
      :: else -> assert(!has_settled && rounds < ROUNDS && A_TIMER_RUNS)
      fi;
      rounds++;
      has_fired[0] = 0; has_fired[1] = 0; has_fired[2] = 0;
      is_over = (rounds >= ROUNDS + 5)
  }
}

/* ---- The beginning. ---- */

inline choose_bit(what) {
  if
  :: what = 0
  :: what = 1
  fi
}

inline choose_holder(who) {
  if
  :: granted_to[who] = ID(0)
  :: granted_to[who] = ID(1)
  :: granted_to[who] = ID(2)
  fi
}

inline choose_epoch(who) {
  if
  :: max_epoch[who] = 0
  :: max_epoch[who] = FIRST_STORED; choose_holder(who)
#if HIGHEST_STORED > 1
  :: max_epoch[who] = 2; choose_holder(who)
#endif
  fi
}

inline let_lead(who) {
  is_up[who] && max_epoch[who] != 0 && granted_to[who] == ID(who) ->
  role[who] = LEADER; has_leader[who] = 1; has_grant[who] = 1
}

#define TWO_CLAIMED_THE_SAME(a, b) \
  (max_epoch[a] == max_epoch[b] && granted_to[a] == ID(a) && granted_to[b] == ID(b))
#define IS_POSSIBLE                                                                     \
  (!TWO_CLAIMED_THE_SAME(0, 1) && !TWO_CLAIMED_THE_SAME(0, 2) && !TWO_CLAIMED_THE_SAME(1, 2))
#define A_MAJORITY_TALKS (ARE_LINKED(0, 1) || ARE_LINKED(0, 2) || ARE_LINKED(1, 2))

init {
  atomic {
    do
    :: i == VOTERS -> break
    :: else -> choose_bit(is_up[i]); choose_bit(has_leader[i]); choose_epoch(i); i++
    od;
    i = 0;
    choose_bit(link[OF(0, 1)]); choose_bit(link[OF(0, 2)]);
    choose_bit(link[OF(1, 0)]); choose_bit(link[OF(1, 2)]);
    choose_bit(link[OF(2, 0)]); choose_bit(link[OF(2, 1)]);
    if
    :: skip
    :: let_lead(0)
    :: let_lead(1)
    :: let_lead(2)
    fi;
    if
    :: A_MAJORITY_TALKS && IS_POSSIBLE -> run voter(0); run voter(1); run voter(2)
    :: else -> is_over = 1
    fi
  }
  do
  :: end_round()
  :: is_over -> break
  od
}
