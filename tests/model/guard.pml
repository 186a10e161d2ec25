/* Layer B, the guard: three voters, and what makes it safe whatever the election does.
 *
 * The election is left out by allowing everything that it could do: a voter may claim at any moment,
 * any fresh epoch.  So is the network: a COORDINATOR or GRANT that was ever sent may come late,
 * twice, out of order or never; of heartbeats and acknowledgements the freshest of each pair may come
 * late, twice or never (an older one could only prolong a promise).  A voter that is paused is one
 * whose turn does not come while time goes on.  A peer may know of a release at once, or never.
 *
 * Time is counted in ticks.  A leader's flag is valid for LEASE ticks from the moment when it sent
 * the heartbeats that a majority has acknowledged; a voter's promise runs PROMISE ticks from receipt.
 *
 *   S1  an epoch is led at most once
 *   S2  at most one flag is on at any instant
 *
 * README.md has the rules, and the mutants that lack one each. */
#ifndef EPOCHS
#define EPOCHS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef LEASE
#define LEASE 1
#endif
#ifndef PROMISE
#define PROMISE 2
#endif

#define VOTERS 3
#define OF(a, b) (VOTERS * (a) + (b))       /* what a keeps about b */
#define IN(a, epoch) (EPOCHS * (a) + (epoch) - 1)
#define ID(voter) ((voter) + 1)             /* as stored: 0 is nobody */
#define THIRD(a, b) (3 - (a) - (b))

/* ---- Stored: survives a crash. ---- */

byte max_epoch[VOTERS];                     /* the highest epoch promised or claimed ... */
byte granted_to[VOTERS];                    /* ... and to whom, an ID */

/* ---- In memory. ---- */

#define FOLLOWER 0
#define CLAIMING 1
#define LEADER 2
bit is_up[VOTERS];
byte role[VOTERS];
byte promise[OF(VOTERS, 0)];                /* of a voter to a leader: the ticks that are left ... */
byte promise_epoch[OF(VOTERS, 0)];          /* ... and of which epoch it is */
byte boot_wait[VOTERS];                     /* what it may have promised before it was restarted */
byte backed[OF(VOTERS, 0)];                 /* how long a voter still backs a leader's flag */
bit has_grant[OF(VOTERS, 0)];               /* of a candidate from a voter, and what came with it: */
byte wait[OF(VOTERS, 0)];                   /* the voter's promise to the third of the three, ... */
byte wait_epoch[OF(VOTERS, 0)];             /* ... of which epoch that is, ... */
byte wait_boot[OF(VOTERS, 0)];              /* ... and the voter's boot wait */

/* ---- On the way. ---- */

bit coordinator[IN(VOTERS, 1)];             /* COORDINATOR of a candidate in an epoch, once sent */
byte grant_to[IN(VOTERS, 1)];               /* GRANT of a voter in an epoch: to whom, and its waits */
byte grant_wait[IN(VOTERS, 1)], grant_wait_epoch[IN(VOTERS, 1)], grant_boot[IN(VOTERS, 1)];
byte beat_epoch[OF(VOTERS, 0)], beat_age[OF(VOTERS, 0)];    /* HEARTBEAT; epoch 0: none */
byte ack_epoch[OF(VOTERS, 0)], ack_age[OF(VOTERS, 0)];      /* its acknowledgement; the beat's age */
byte released[VOTERS];                      /* as last told to anybody: I lead no epoch up to this */

/* ---- For the checks and the bounds. ---- */

byte led_by[EPOCHS];
byte crashes_left = CRASHES;
bit somebody_claimed;                       /* voters are alike, so let number 0 claim first */

/* ---- The flag. ---- */

#ifdef GUARD_NONE
#define IS_VALID(v, a, b) (is_up[v] && role[v] == LEADER)
#else
#define IS_VALID(v, a, b) (is_up[v] && role[v] == LEADER && (backed[OF(v, a)] || backed[OF(v, b)]))
#endif
#ifdef FLAG_SURVIVES
byte left_on[VOTERS];                       /* the flag of a dead process, until it has run out */
#define IS_ON(v, a, b) (IS_VALID(v, a, b) || left_on[v])
#else
#define IS_ON(v, a, b) IS_VALID(v, a, b)
#endif
#define ONE_FLAG assert(IS_ON(0, 1, 2) + IS_ON(1, 0, 2) + IS_ON(2, 0, 1) <= 1)

/* ---- A disk that takes its time, or fails: the memory is ahead of what is stored. ---- */

#if defined(SLOW_DISK) || defined(FAILING_DISK)
byte stored_epoch[VOTERS], stored_for[VOTERS];
#define HAS_STORED(v) (stored_epoch[v] == max_epoch[v] && stored_for[v] == granted_to[v])
#endif
#if defined(FAILING_DISK)                   /* one of them, once; others store at once */
#define WORKS 0
#define FAILS 1
#define IS_TRUSTED 2                        /* fails, and its voter votes nevertheless */
byte disk[VOTERS];
bit has_failed;
#define IS_STORED(v) (disk[v] != FAILS || HAS_STORED(v))
#define CAN_STORE(v) IS_STORED(v)           /* no write has failed since the last that succeeded */
#elif defined(SLOW_DISK)
#define IS_STORED(v) HAS_STORED(v)
#define CAN_STORE(v) 1
#else
#define IS_STORED(v) 1
#define CAN_STORE(v) 1
#endif
#ifdef GRANT_BEFORE_PERSIST
#define MAY_PROMISE(v) 1
#else
#define MAY_PROMISE(v) IS_STORED(v)
#endif

#ifdef DOUBT
#define LOST_DISK
#endif
#ifdef LOST_DISK
bit is_lost[VOTERS];                        /* has lost what it stored, and not learnt it again */
byte answers[VOTERS];                       /* who has told it its max_epoch, a bit for each ... */
byte learnt_epoch[VOTERS];                  /* ... and the highest that they told */
#define MAY_VOTE(v) (is_up[v] && !is_lost[v] && CAN_STORE(v))
#if defined(ASK_NOBODY)
#define HAS_ASKED_ENOUGH true
#elif defined(ASK_ONE)
#define HAS_ASKED_ENOUGH (answers[me] != 0)
#else
#define HAS_ASKED_ENOUGH (answers[me] == (1 << PEER_A | 1 << PEER_B))
#endif
#else
#define MAY_VOTE(v) (is_up[v] && CAN_STORE(v))
#endif

/* Each voter is a process; in it, `me`, and its two peers: */
#define PEER_A ((me + 1) % VOTERS)
#define PEER_B ((me + 2) % VOTERS)

#define RAISE(what, to) if :: (to) > what -> what = to :: else fi
#define LOWER(what) what = what - (what > 0)

/* ---- Giving up.  What only a candidate or a leader could use is dropped with it, also on its way:
 * that changes nothing, and there are fewer states. ---- */

inline drop_grant_on_its_way(voter) {
  if
  :: grant_to[IN(voter, max_epoch[me])] == ID(me) ->
     grant_to[IN(voter, max_epoch[me])] = 0; grant_wait[IN(voter, max_epoch[me])] = 0;
     grant_wait_epoch[IN(voter, max_epoch[me])] = 0; grant_boot[IN(voter, max_epoch[me])] = 0
  :: else
  fi
}

inline drop_grant(voter) {
  drop_grant_on_its_way(voter);
  has_grant[OF(me, voter)] = 0; wait[OF(me, voter)] = 0;
  wait_epoch[OF(me, voter)] = 0; wait_boot[OF(me, voter)] = 0
}

inline drop_lease(voter) {
  backed[OF(me, voter)] = 0; beat_epoch[OF(me, voter)] = 0; beat_age[OF(me, voter)] = 0;
  ack_epoch[OF(voter, me)] = 0; ack_age[OF(voter, me)] = 0
}

inline give_up() {
  if
  :: role[me] != FOLLOWER ->
     drop_grant(PEER_A); drop_grant(PEER_B); drop_lease(PEER_A); drop_lease(PEER_B);
     role[me] = FOLLOWER
  :: else
  fi
}

/* ---- Claim and promise. ---- */

/* What has happened once max_epoch and granted_to are stored. */
inline on_persisted() {
  if
  :: granted_to[me] == ID(me) -> role[me] = CLAIMING; coordinator[IN(me, max_epoch[me])] = 1
  :: else -> RAISE(released[me], max_epoch[me])
  fi
}

inline persist(epoch, whom) {
  max_epoch[me] = epoch; granted_to[me] = ID(whom);
#if defined(FAILING_DISK)
  if :: IS_STORED(me) -> on_persisted() :: else fi
#elif defined(SLOW_DISK)
#ifdef RELEASE_BEFORE_PERSIST
  if :: whom != me -> RAISE(released[me], epoch) :: else fi
#endif
#else
  on_persisted()
#endif
}

inline claim(epoch) {
  d_step {
    MAY_VOTE(me) && role[me] == FOLLOWER && epoch > max_epoch[me] && IS_STORED(me) &&
    (me == 0 || somebody_claimed) ->
      somebody_claimed = 1;
      persist(epoch, me)
  }
}

/* Takes a COORDINATOR: promises its epoch to nobody else, and says which promises still run. */
inline grant(candidate, epoch) {
  d_step {
    MAY_VOTE(me) && coordinator[IN(candidate, epoch)] &&
    (epoch > max_epoch[me] || (epoch == max_epoch[me] && granted_to[me] == ID(candidate))) ->
      if
      :: epoch > max_epoch[me] -> give_up(); persist(epoch, candidate)
      :: else
      fi;
      if
      :: MAY_PROMISE(me) && role[candidate] == CLAIMING && max_epoch[candidate] == epoch ->
         grant_to[IN(me, epoch)] = ID(candidate);
         grant_wait[IN(me, epoch)] = promise[OF(me, THIRD(me, candidate))];
         grant_wait_epoch[IN(me, epoch)] = promise_epoch[OF(me, THIRD(me, candidate))];
         grant_boot[IN(me, epoch)] = boot_wait[me]
      :: else
      fi
  }
}

/* The waits run from here on by the candidate's clock. */
inline take_grant(voter) {
  d_step {
    role[me] == CLAIMING && grant_to[IN(voter, max_epoch[me])] == ID(me) ->
      has_grant[OF(me, voter)] = 1;
      wait[OF(me, voter)] = grant_wait[IN(voter, max_epoch[me])];
      wait_epoch[OF(me, voter)] = grant_wait_epoch[IN(voter, max_epoch[me])];
      wait_boot[OF(me, voter)] = grant_boot[IN(voter, max_epoch[me])];
      drop_grant_on_its_way(voter)
  }
}

/* ---- Heartbeat and lease. ---- */

inline beat(voter) {
  d_step {
    role[me] != FOLLOWER &&
    !(beat_epoch[OF(me, voter)] == max_epoch[me] && beat_age[OF(me, voter)] == 0) ->
      beat_epoch[OF(me, voter)] = max_epoch[me]; beat_age[OF(me, voter)] = 0
  }
}

inline acknowledge(leader) {
  d_step {
    MAY_VOTE(me) && MAY_PROMISE(me) && beat_epoch[OF(leader, me)] != 0 &&
    beat_epoch[OF(leader, me)] == max_epoch[me] && granted_to[me] == ID(leader) ->
      promise[OF(me, leader)] = PROMISE;
      promise_epoch[OF(me, leader)] = max_epoch[me];
      ack_epoch[OF(me, leader)] = max_epoch[me];
      ack_age[OF(me, leader)] = beat_age[OF(leader, me)]
  }
}

#if defined(LOST_DISK) || defined(FAILING_DISK)
/* A heartbeat says whether its sender leads already, by a majority's votes.  (Here: whether it does by
 * the time that the heartbeat comes, so some are taken for more than they say.) */
#define IS_EFFECTIVE(leader, epoch) (led_by[(epoch) - 1] == ID(leader))
#ifdef LATE_VOTE_FOR_ANY
#define MAY_VOTE_LATE(leader) true
#else
#define MAY_VOTE_LATE(leader) IS_EFFECTIVE(leader, max_epoch[me])
#endif

/* A voter without a vote follows a leader nevertheless, in an epoch that it grants to nobody. */
inline follow(leader) {
  d_step {
    is_up[me] && !MAY_VOTE(me) && beat_epoch[OF(leader, me)] > max_epoch[me] &&
    IS_EFFECTIVE(leader, beat_epoch[OF(leader, me)]) ->
      max_epoch[me] = beat_epoch[OF(leader, me)]; granted_to[me] = 0
  }
}

/* A voter that has granted the epoch to nobody, as far as it knows: it has forgotten, or had no vote
 * then.  A leader of this epoch may have its vote, as nobody else can lead it any more. */
inline vote_late(leader) {
  d_step {
    MAY_VOTE(me) && IS_STORED(me) && granted_to[me] == 0 && beat_epoch[OF(leader, me)] != 0 &&
    beat_epoch[OF(leader, me)] == max_epoch[me] && MAY_VOTE_LATE(leader) ->
      persist(max_epoch[me], leader)
  }
}
#endif

#ifdef LEASE_FROM_RECEIPT
#define BACKED_FOR(age) LEASE
#define USEFUL_FOR (PROMISE + 1)
#else
#define BACKED_FOR(age) (LEASE - (age))     /* from the send */
#define USEFUL_FOR LEASE
#endif

inline take_ack(voter) {
  d_step {
    role[me] != FOLLOWER && ack_epoch[OF(voter, me)] != 0 &&
    ack_epoch[OF(voter, me)] == max_epoch[me] ->
      RAISE(backed[OF(me, voter)], BACKED_FOR(ack_age[OF(voter, me)]));
      ack_epoch[OF(voter, me)] = 0; ack_age[OF(voter, me)] = 0;
      ONE_FLAG
  }
}

/* ---- Release. ---- */

#ifdef RELEASE_WITHOUT_EPOCH
#define IS_RELEASED(epoch, whose) (released[whose] != 0)
#else
#define IS_RELEASED(epoch, whose) ((epoch) <= released[whose])
#endif

inline drop_promise(leader) {
  d_step {
    is_up[me] && promise[OF(me, leader)] != 0 &&
    IS_RELEASED(promise_epoch[OF(me, leader)], leader) ->
      promise[OF(me, leader)] = 0; promise_epoch[OF(me, leader)] = 0
  }
}

/* ---- Activation and step-down. ---- */

#ifdef GUARD_NONE
#define MAY_ACTIVATE 1
#else
#ifdef NO_WAIT
#define IS_OVER(left, epoch, whose) 1
#else
#define IS_OVER(left, epoch, whose) ((left) == 0 || (epoch) <= released[whose])
#endif
#define OWN_IS_OVER(leader) \
  IS_OVER(promise[OF(me, leader)], promise_epoch[OF(me, leader)], leader)
#define GRANTS(voter, third)                                            \
  (has_grant[OF(me, voter)] && wait_boot[OF(me, voter)] == 0 &&         \
   IS_OVER(wait[OF(me, voter)], wait_epoch[OF(me, voter)], third))
#define MAY_ACTIVATE                                                    \
  (boot_wait[me] == 0 && OWN_IS_OVER(PEER_A) && OWN_IS_OVER(PEER_B) &&  \
   (GRANTS(PEER_A, PEER_B) || GRANTS(PEER_B, PEER_A)))
#endif

inline activate() {
  d_step {
    role[me] == CLAIMING && MAY_ACTIVATE ->
      role[me] = LEADER;
#ifndef ONLY_FLAGS
      assert(led_by[max_epoch[me] - 1] == 0);
#endif
      led_by[max_epoch[me] - 1] = ID(me);
      ONE_FLAG;
      drop_grant(PEER_A); drop_grant(PEER_B)
  }
}

inline step_down() {
#ifdef FLAG_OFF_LATE
  d_step { role[me] != FOLLOWER && released[me] < max_epoch[me] -> released[me] = max_epoch[me] }
#else
  d_step { role[me] != FOLLOWER -> give_up(); RAISE(released[me], max_epoch[me]) }
#endif
}

/* ---- Crash, restart, proof of death, lost state. ---- */

/* `has_landed`: the disk has got what it failed to store. */
#ifdef FAILING_DISK
#define MAY_HAVE_LANDED(has_landed) (!has_landed || (disk[me] != WORKS && !HAS_STORED(me)))
#else
#define MAY_HAVE_LANDED(has_landed) true
#endif
inline crash(has_landed) {
  d_step {
    is_up[me] && crashes_left > 0 && MAY_HAVE_LANDED(has_landed) ->
      crashes_left--;
#ifdef FLAG_SURVIVES
      if
      :: IS_VALID(me, PEER_A, PEER_B) ->
         left_on[me] = backed[OF(me, PEER_A)]; RAISE(left_on[me], backed[OF(me, PEER_B)])
      :: else
      fi;
#endif
      give_up();
      is_up[me] = 0; boot_wait[me] = 0;
      promise[OF(me, PEER_A)] = 0; promise_epoch[OF(me, PEER_A)] = 0;
      promise[OF(me, PEER_B)] = 0; promise_epoch[OF(me, PEER_B)] = 0;
#ifdef SLOW_DISK
      max_epoch[me] = stored_epoch[me]; granted_to[me] = stored_for[me];
#endif
#ifdef FAILING_DISK
      if
      :: disk[me] != WORKS && !has_landed ->
         max_epoch[me] = stored_epoch[me]; granted_to[me] = stored_for[me]
      :: else
      fi;
      disk[me] = WORKS; stored_epoch[me] = 0; stored_for[me] = 0;
#endif
#ifdef PROOF_KEPT
      has_died[me] = 1;
#endif
#ifdef LOST_DISK
      answers[me] = 0; learnt_epoch[me] = 0;
#endif
#ifdef NO_PERSIST
      max_epoch[me] = 0; granted_to[me] = 0
#endif
  }
}

/* Its first word releases all that its former life may have led. */
inline restart() {
  d_step {
    !is_up[me] ->
      is_up[me] = 1;
#ifndef NO_BOOT_WAIT
      boot_wait[me] = PROMISE;
#endif
#ifdef FLAG_SURVIVES
      left_on[me] = 0;
#endif
      RAISE(released[me], max_epoch[me])
  }
}

/* A peer's connection has ended, and a new one is refused.  Somebody in between may do both at any
 * moment, in the name of a process that lives.  So the proof is not the refusal: whoever is refused
 * asks the kernel whether the process still listens, as it does until its flag is off.  And it proves
 * the end of one life: what the next life claims is not over. */
#if defined(FALSE_REFUSAL)
#define IS_GONE(peer) true
#elif defined(PROOF_KEPT)
bit has_died[VOTERS];
#define IS_GONE(peer) has_died[peer]
#else
#define IS_GONE(peer) !is_up[peer]
#endif
inline prove_dead(peer) {
  d_step { IS_GONE(peer) && released[peer] < max_epoch[peer] -> released[peer] = max_epoch[peer] }
}

#if defined(DOUBT)
/* The state was put back to an older one before the start, or it only looks so: a peer remembers a
 * later release of this voter than its disk has.  Then it counts as lost, also while the process
 * runs, here in place of a crash.  But the identity stays: so what peers remember, it must learn. */
inline doubt() {
  d_step {
    !is_lost[me] && (!is_up[me] || crashes_left > 0) ->
      if
      :: is_up[me] -> crashes_left--; give_up(); RAISE(released[me], max_epoch[me])
      :: else
      fi;
      is_lost[me] = 1; max_epoch[me] = 0; granted_to[me] = 0
  }
}
#elif defined(LOST_DISK)
/* With the disk its identity is gone: no release of the old one counts for the new one. */
inline lose_disk() {
  d_step {
    !is_up[me] && !is_lost[me] ->
#ifndef SAME_IDENTITY
      released[me] = 0;
#endif
      is_lost[me] = 1; max_epoch[me] = 0; granted_to[me] = 0
  }
}
#endif

#ifdef LOST_DISK
inline ask(peer) {
  d_step {
    is_up[me] && is_lost[me] && MAY_VOTE(peer) ->
      answers[me] = answers[me] | 1 << peer;
      RAISE(learnt_epoch[me], max_epoch[peer]);
#if defined(DOUBT) && !defined(FORGET_RELEASE)
      RAISE(learnt_epoch[me], released[me])
#endif
  }
}

inline relearn() {
  d_step {
    is_up[me] && is_lost[me] && HAS_ASKED_ENOUGH ->
      is_lost[me] = 0; granted_to[me] = 0;
      RAISE(max_epoch[me], learnt_epoch[me]);
      RAISE(released[me], max_epoch[me]);
      answers[me] = 0; learnt_epoch[me] = 0
  }
}
#endif

#ifdef SLOW_DISK
inline sync() {
  d_step {
    is_up[me] && !IS_STORED(me) ->
      stored_epoch[me] = max_epoch[me]; stored_for[me] = granted_to[me];
      on_persisted()
  }
}
#endif

#ifdef FAILING_DISK
inline fail() {
  d_step {
    is_up[me] && !has_failed ->
      has_failed = 1; disk[me] = FAILS;
      stored_epoch[me] = max_epoch[me]; stored_for[me] = granted_to[me]
  }
}

/* The next write succeeds, of what is in memory by then: a vote that was lost is back. */
inline work_again() {
  d_step {
    disk[me] != WORKS ->
      if :: !IS_STORED(me) -> on_persisted() :: else fi;
      disk[me] = WORKS; stored_epoch[me] = 0; stored_for[me] = 0
  }
}

#ifdef BACK_UNSTORED
inline trust() {
  d_step { is_up[me] && !IS_STORED(me) -> disk[me] = IS_TRUSTED; on_persisted() }
}
#endif
#endif

proctype voter(byte me) {
  do
  :: claim(1)
  :: grant(PEER_A, 1)
  :: grant(PEER_B, 1)
#if EPOCHS > 1
  :: claim(2)
  :: grant(PEER_A, 2)
  :: grant(PEER_B, 2)
#endif
#if EPOCHS > 2
  :: claim(3)
  :: grant(PEER_A, 3)
  :: grant(PEER_B, 3)
#endif
  :: take_grant(PEER_A)
  :: take_grant(PEER_B)
  :: beat(PEER_A)
  :: beat(PEER_B)
  :: acknowledge(PEER_A)
  :: acknowledge(PEER_B)
  :: take_ack(PEER_A)
  :: take_ack(PEER_B)
  :: drop_promise(PEER_A)
  :: drop_promise(PEER_B)
  :: activate()
  :: step_down()
  :: crash(0)
#ifdef FAILING_DISK
  :: crash(1)
  :: fail()
  :: work_again()
#endif
  :: restart()
#if defined(REFUSED) || defined(FALSE_REFUSAL)
  :: prove_dead(PEER_A)
  :: prove_dead(PEER_B)
#endif
#if defined(LOST_DISK) || defined(FAILING_DISK)
  :: follow(PEER_A)
  :: follow(PEER_B)
  :: vote_late(PEER_A)
  :: vote_late(PEER_B)
#endif
#ifdef DOUBT
  :: doubt()
#elif defined(LOST_DISK)
  :: lose_disk()
#endif
#ifdef LOST_DISK
  :: ask(PEER_A)
  :: ask(PEER_B)
  :: relearn()
#endif
#ifdef SLOW_DISK
  :: sync()
#endif
#ifdef BACK_UNSTORED
  :: trust()
#endif
  od
}

/* ---- Time. ---- */

inline run_down(left, epoch) {
  LOWER(left);
  if :: left == 0 -> epoch = 0 :: else fi
}

inline grow_old(epoch, age) {
  if
  :: epoch != 0 && age + 1 >= USEFUL_FOR -> epoch = 0; age = 0
  :: epoch != 0 && age + 1 < USEFUL_FOR -> age++
  :: else
  fi
}

inline tick_for(v, peer) {
  run_down(promise[OF(v, peer)], promise_epoch[OF(v, peer)]);
  run_down(wait[OF(v, peer)], wait_epoch[OF(v, peer)]);
  LOWER(wait_boot[OF(v, peer)]);
  LOWER(backed[OF(v, peer)]);
  grow_old(beat_epoch[OF(v, peer)], beat_age[OF(v, peer)]);
  grow_old(ack_epoch[OF(peer, v)], ack_age[OF(peer, v)])
}

inline tick(v, a, b) {
  tick_for(v, a); tick_for(v, b);
  LOWER(boot_wait[v]);
#ifdef FLAG_SURVIVES
  LOWER(left_on[v])
#endif
}

#ifdef DRIFT
bit is_behind[VOTERS];                      /* a clock may miss a tick, but no two in a row */
inline tick_or_miss(misses, v, a, b) {
  if
  :: misses -> is_behind[v] = 1
  :: else -> is_behind[v] = 0; tick(v, a, b)
  fi
}
inline time_passes(misses0, misses1, misses2) {
  d_step {
    !(misses0 && is_behind[0]) && !(misses1 && is_behind[1]) && !(misses2 && is_behind[2]) ->
      tick_or_miss(misses0, 0, 1, 2); tick_or_miss(misses1, 1, 0, 2); tick_or_miss(misses2, 2, 0, 1)
  }
}
#endif

init {
  atomic {
    is_up[0] = 1; is_up[1] = 1; is_up[2] = 1;
    run voter(0); run voter(1); run voter(2)
  }
  do
#ifdef DRIFT
  :: time_passes(0, 0, 0)
  :: time_passes(1, 0, 0)
  :: time_passes(0, 1, 0)
  :: time_passes(0, 0, 1)
  :: time_passes(1, 1, 0)
  :: time_passes(1, 0, 1)
  :: time_passes(0, 1, 1)
#else
  :: d_step { true -> tick(0, 1, 2); tick(1, 0, 2); tick(2, 0, 1) }
#endif
  od
}
