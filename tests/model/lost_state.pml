/* Layer B, the guard: five voters of which some may lose their disks, or be replaced, or have to
 * doubt what their disks say; can an epoch be led twice?
 *
 * A voter that has lost its state may have granted an epoch, and acknowledged heartbeats in it, of
 * which nobody else knows yet.  It waits, then it asks a majority of others for the highest epoch
 * that they know, and only then votes again.  By then whoever counted on it has to have come
 * forward: whether that holds is a matter of five voters, because of three each other one is asked.
 *
 * Then it knows the epoch, but not whom it has granted it, and grants it to nobody: unless somebody
 * leads it already, to whom it may give its vote late (LATE_VOTE_FOR_ANY: to any claimant).
 *
 * When more than two are lost, no majority remembers.  Then it is enough that all others have
 * answered, be it that they are lost, too: the voter takes an epoch from its wall clock, beyond all
 * that were ever counted up to, so this one is over for it (NO_CLOCK: it takes what it was told).
 *
 * One epoch is enough; who has not seen it has seen nothing, and two candidates want it.  What is
 * sent arrives at once or never: a grant that comes late gives a candidate no more than one that
 * came early.  Time is counted in ticks: an acknowledgement counts for one, a lost voter waits for
 * LEASE_MAX of them.  A claim need not end, nor be heard of by anybody: as if the claimant had died
 * between its own vote and its COORDINATOR.
 *
 *   S1  the epoch is led at most once */
#ifndef LOSSES
#define LOSSES 2
#endif
#define LEASE_MAX 2

#ifdef THREE                                /* all of them may be lost */
#define VOTERS 3
#define QUORUM 2
#else
#define VOTERS 5
#define QUORUM 3
#endif
#define CANDIDATES 2                        /* voters are alike, so let it be 0 and 1 */
#ifdef ASK_TOO_FEW
#define ASKED (QUORUM - 1)
#else
#define ASKED QUORUM
#endif

#define BIT(voter) (1 << (voter))
#define COUNT(set) (((set) & 1) + ((set) >> 1 & 1) + ((set) >> 2 & 1) + ((set) >> 3 & 1) + ((set) >> 4))
#define ID(voter) ((voter) + 1)             /* 0 is nobody */

#define FOLLOWER 0
#define CLAIMING 1
#define LEADER 2

#define VOTING 0
#define ASKING 1
#define WAITING 2

bit has_seen[VOTERS];                       /* stored: max_epoch is this epoch ... */
byte granted_to[VOTERS];                    /* ... and to whom, an ID */
byte state[VOTERS];                         /* of a voter */
byte wait_left[VOTERS];
byte answers[VOTERS];                       /* whom a lost voter has asked, a set ... */
byte lost_answers[VOTERS];                  /* ... who was lost itself, a set ... */
bit has_learnt[VOTERS];                     /* ... and whether one of them had seen the epoch */

byte role[CANDIDATES];
bit is_announced[CANDIDATES];               /* its COORDINATOR was sent, and may come at any time */
byte grants[CANDIDATES];                    /* a set of voters, as far as the candidate knows */
byte acks[CANDIDATES];                      /* likewise, those of this tick */

byte led_by;                                /* who has led the epoch, an ID */
byte losses_left = LOSSES;
byte voter_number;                          /* of a loop */

inline end_reign(candidate) {
  role[candidate] = FOLLOWER; grants[candidate] = 0; acks[candidate] = 0
}

/* A voter that knows of no epoch claims one beyond its clock at its start: so not this one again, if
 * it was started later.  That does not help when the others, like those that have just lost their
 * disks, know of none either, and one that was there all the time claims. */
#ifdef NO_CLOCK_IF_UNTOLD
bit has_begun_anew[VOTERS];
#define HAS_OLD_SEED(voter) (!has_begun_anew[voter])
#else
#define HAS_OLD_SEED(voter) true
#endif

inline claim() {
  d_step {
    me < CANDIDATES && state[me] == VOTING && !has_seen[me] && HAS_OLD_SEED(me) ->
      has_seen[me] = 1; granted_to[me] = ID(me);
      role[me] = CLAIMING; is_announced[me] = 1;
      grants[me] = BIT(me); acks[me] = BIT(me)
  }
}

inline grant(candidate) {
  d_step {
    me != candidate && state[me] == VOTING && is_announced[candidate] &&
    (!has_seen[me] || granted_to[me] == ID(candidate)) && !(grants[candidate] & BIT(me)) ->
      has_seen[me] = 1; granted_to[me] = ID(candidate);
      if
      :: role[candidate] == CLAIMING -> grants[candidate] = grants[candidate] | BIT(me)
      :: else
      fi
  }
}

/* A voter that knows the epoch, and not to whom it has granted it.  A heartbeat, be it a late one,
 * says whether its sender leads already: by a majority's votes, so this one makes no other leader. */
#ifdef LATE_VOTE_FOR_ANY
#define MAY_VOTE_LATE(candidate) is_announced[candidate]
#else
#define MAY_VOTE_LATE(candidate) (led_by == ID(candidate))
#endif
inline vote_late(candidate) {
  d_step {
    state[me] == VOTING && has_seen[me] && granted_to[me] == 0 && MAY_VOTE_LATE(candidate) ->
      granted_to[me] = ID(candidate)
  }
}

inline acknowledge(candidate) {
  d_step {
    me != candidate && state[me] == VOTING && role[candidate] != FOLLOWER &&
    granted_to[me] == ID(candidate) && !(acks[candidate] & BIT(me)) ->
      acks[candidate] = acks[candidate] | BIT(me)
  }
}

#ifdef NO_LEASE
#define HAS_LEASE(candidate) true
#else
#define HAS_LEASE(candidate) (COUNT(acks[candidate]) >= QUORUM)
#endif

inline activate() {
  d_step {
    me < CANDIDATES && role[me] == CLAIMING && COUNT(grants[me]) >= QUORUM && HAS_LEASE(me) ->
      assert(led_by == 0);
      led_by = ID(me); role[me] = LEADER
  }
}

/* ROLLING: all are replaced, one after the other, the next when the last one has its vote again. */
#ifdef ROLLING
bit is_replaced[VOTERS];
#define IS_VOTING(voter) (state[voter] == VOTING)
#if VOTERS > 3
#define ALL_VOTE \
  (IS_VOTING(0) && IS_VOTING(1) && IS_VOTING(2) && IS_VOTING(3) && IS_VOTING(4))
#else
#define ALL_VOTE (IS_VOTING(0) && IS_VOTING(1) && IS_VOTING(2))
#endif
#define MAY_LOSE (ALL_VOTE && !is_replaced[me])
#else
#define MAY_LOSE (state[me] == VOTING)
#endif

/* A voter is one process.  Should the one that it replaces run on, cut off from some, its votes would
 * still be counted by those that it reaches. */
#ifdef OLDER_VOTES
bit has_older[VOTERS];
bit older_has_seen[VOTERS];                 /* as above, of the older one */
byte older_granted_to[VOTERS];
inline vote_as_older(candidate) {
  d_step {
    has_older[me] && is_announced[candidate] &&
    (!older_has_seen[me] || older_granted_to[me] == ID(candidate)) &&
    role[candidate] != FOLLOWER && !(acks[candidate] & BIT(me)) ->
      older_has_seen[me] = 1; older_granted_to[me] = ID(candidate);
      if
      :: role[candidate] == CLAIMING -> grants[candidate] = grants[candidate] | BIT(me)
      :: else
      fi;
      acks[candidate] = acks[candidate] | BIT(me)
  }
}
#endif

inline lose_disk() {
  d_step {
    MAY_LOSE && losses_left > 0 ->
      losses_left--;
#ifdef ROLLING
      is_replaced[me] = 1;
#endif
#ifdef NO_CLOCK_IF_UNTOLD
      has_begun_anew[me] = 1;
#endif
#ifdef OLDER_VOTES
      if
      :: me >= CANDIDATES && !has_older[me] ->
         has_older[me] = 1;
         older_has_seen[me] = has_seen[me]; older_granted_to[me] = granted_to[me]
      :: else
      fi;
#endif
      has_seen[me] = 0; granted_to[me] = 0;
      if
      :: me < CANDIDATES -> end_reign(me)
      :: else
      fi;
      wait_left[me] = LEASE_MAX;
#ifdef ASK_FIRST
      state[me] = ASKING
#else
      state[me] = WAITING
#endif
  }
}

#if defined(NO_CLOCK) || defined(NO_CLOCK_IF_UNTOLD)
#define GUESSED has_learnt[me]
#else
#define GUESSED 1
#endif

inline end_recall(has_seen_it) {
  has_seen[me] = has_seen_it;
  has_learnt[me] = 0; answers[me] = 0; lost_answers[me] = 0;
  state[me] = (wait_left[me] > 0 -> WAITING : VOTING)
}

/* Who is lost itself says so. */
inline ask(peer) {
  d_step {
    state[me] == ASKING && peer != me && !((answers[me] | lost_answers[me]) & BIT(peer)) ->
      if
      :: state[peer] == VOTING ->
         answers[me] = answers[me] | BIT(peer);
         has_learnt[me] = has_learnt[me] | has_seen[peer]
      :: else -> lost_answers[me] = lost_answers[me] | BIT(peer)
      fi;
      if
      :: COUNT(answers[me]) >= ASKED -> end_recall(has_learnt[me])
      :: COUNT(answers[me]) < ASKED && COUNT((answers[me] | lost_answers[me])) == VOTERS - 1 ->
         end_recall(GUESSED)
      :: else
      fi
  }
}

inline tick() {
  d_step {
    voter_number = 0;
    do
    :: voter_number == VOTERS -> break
    :: else ->
       if
       :: wait_left[voter_number] > 0 ->
          wait_left[voter_number]--;
          if
          :: wait_left[voter_number] == 0 && state[voter_number] == WAITING ->
#ifdef ASK_FIRST
             state[voter_number] = VOTING
#else
             state[voter_number] = ASKING
#endif
          :: else
          fi
       :: else
       fi;
       if
       :: voter_number < CANDIDATES && role[voter_number] != FOLLOWER ->
          acks[voter_number] = BIT(voter_number)
       :: else
       fi;
       voter_number++
    od;
    voter_number = 0
  }
}

proctype voter(byte me) {
  do
  :: claim()
  :: grant(0)
  :: grant(1)
  :: acknowledge(0)
  :: acknowledge(1)
  :: vote_late(0)
  :: vote_late(1)
#ifdef OLDER_VOTES
  :: vote_as_older(0)
  :: vote_as_older(1)
#endif
  :: activate()
  :: lose_disk()
  :: ask(0)
  :: ask(1)
  :: ask(2)
#if VOTERS > 3
  :: ask(3)
  :: ask(4)
#endif
  od
}

init {
  atomic {
    run voter(0); run voter(1); run voter(2);
#if VOTERS > 3
    run voter(3); run voter(4)
#endif
  }
  do
  :: tick()
  od
}
