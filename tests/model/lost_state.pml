/* Layer B, the guard: five voters of which some may lose their disks; can an epoch be led twice?
 *
 * A voter that has lost its state may have granted an epoch, and acknowledged heartbeats in it, of
 * which nobody else knows yet.  It waits, then it asks a majority of others for the highest epoch
 * that they know, and only then votes again.  By then whoever counted on it has to have come
 * forward: whether that holds is a matter of five voters, because of three each other one is asked.
 *
 * When more than two are lost, no majority remembers.  Then it is enough that all others have
 * answered, be it that they are lost, too: the voter takes an epoch from its wall clock, beyond all
 * that were ever counted up to, so this one is over for it (NO_CLOCK: it takes what it was told).
 *
 * One epoch is enough; who has not seen it has seen nothing, and two candidates want it.  What is
 * sent arrives at once or never: a grant that comes late gives a candidate no more than one that
 * came early.  Time is counted in ticks: an acknowledgement counts for one, a lost voter waits for
 * LEASE_MAX of them.  A claim need not end.
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

bit is_led;                                 /* somebody has led the epoch */
byte losses_left = LOSSES;
byte voter_number;                          /* of a loop */
inline end_reign(candidate) {
  role[candidate] = FOLLOWER; grants[candidate] = 0; acks[candidate] = 0
}

inline claim() {
  d_step {
    me < CANDIDATES && state[me] == VOTING && !has_seen[me] ->
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
      assert(!is_led);
      is_led = 1; role[me] = LEADER
  }
}

inline lose_disk() {
  d_step {
    state[me] == VOTING && losses_left > 0 ->
      losses_left--;
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

#ifdef NO_CLOCK
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
