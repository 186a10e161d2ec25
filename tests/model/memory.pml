/* Layer B, what a voter remembers of its promises: one voter, its disk, and its lives.
 *
 * guard.pml takes for granted that a voter which restarts waits for all that it may have promised.  Of
 * promises only the longest lease is stored, and a shorter one when what earlier lives promised is over.
 * Here a voter votes, for any lease, in one epoch after the other or twice in the same one; promises,
 * and promises again; writes are under way for as long as they like, and a crash loses them.
 *
 *   A voter that restarts waits until the last promise of all its lives is over.
 *
 * README.md has the rules, and the mutants that lack one each. */
#define LONGEST 3                           /* of the leases, in ticks */
#define VOTES 3
#define WRITES 3                            /* under way at a time */

#define RECORD(vote, lease) ((LONGEST + 1) * (vote) + (lease))
#define VOTE_OF(record) ((record) / (LONGEST + 1))
#define LEASE_OF(record) ((record) % (LONGEST + 1))
#define RAISE(what, to) if :: (to) > what -> what = to :: else fi
#define LOWER(what) what = what - (what > 0)

/* ---- The disk. ---- */

byte disk;
chan writes = [WRITES] of { byte };

/* ---- In memory. ---- */

bit is_up = 1;
byte record;                                /* the newest */
byte stored;                                /* what the disk has at least, as far as is known */
byte terms;                                 /* the lease of the vote; 0: not known after a restart */
byte longest;                               /* the longest lease of this life; 0: it knows of none */
byte boot_wait;

byte promised;                              /* for the check: the ticks left of the last promise */

#ifdef FORGET_EARLY
#define IS_WAIT_OVER true
#else
#define IS_WAIT_OVER (boot_wait == 0)
#endif
#ifdef FORGET_OWN
#define REMEMBERED terms
#else
#define REMEMBERED longest
#endif
#ifdef PROMISE_UNSTORED
#define IS_STORED true
#else
#define IS_STORED (stored == record)
#endif

inline keep(newest) { record = newest; writes ! record }

inline vote(lease) {
  d_step {
    is_up && VOTE_OF(record) < VOTES && len(writes) < WRITES ->
      terms = lease; RAISE(longest, lease);
      if
      :: lease > LEASE_OF(record) -> keep(RECORD(VOTE_OF(record) + 1, lease))
      :: else -> keep(RECORD(VOTE_OF(record) + 1, LEASE_OF(record)))
      fi
  }
}

/* The same claim again, for another lease. */
inline vote_again(lease) {
  d_step {
    is_up && VOTE_OF(record) > 0 && len(writes) < WRITES ->
      terms = lease; RAISE(longest, lease);
      if :: lease > LEASE_OF(record) -> keep(RECORD(VOTE_OF(record), lease)) :: else fi
  }
}

/* The vote is of an earlier life. */
inline hear(lease) {
  d_step {
    is_up && VOTE_OF(record) > 0 && terms == 0 && lease <= LEASE_OF(record) ->
      terms = lease; RAISE(longest, lease)
  }
}

inline promise() {
  d_step { is_up && terms != 0 && IS_STORED -> RAISE(promised, terms) }
}

inline forget() {
  d_step {
    is_up && IS_STORED && IS_WAIT_OVER && longest != 0 && LEASE_OF(record) > REMEMBERED &&
    len(writes) < WRITES ->
      keep(RECORD(VOTE_OF(record), REMEMBERED));
#ifndef FORGET_UNNOTED
      stored = record
#endif
  }
}

byte landed;
inline land() {
  d_step {
    is_up && len(writes) > 0 ->
      writes ? landed; disk = landed;
      if :: stored != record -> stored = landed :: else fi;
      landed = 0
  }
}

inline crash() {
  d_step {
    is_up ->
      do :: len(writes) > 0 -> writes ? _ :: len(writes) == 0 -> break od;
      is_up = 0; record = 0; stored = 0; terms = 0; longest = 0; boot_wait = 0
  }
}

inline restart() {
  d_step {
    !is_up ->
      is_up = 1; record = disk; stored = disk; boot_wait = LEASE_OF(disk);
      assert(boot_wait >= promised)
  }
}

init {
  do
  :: vote(1)
  :: vote(2)
  :: vote(LONGEST)
  :: vote_again(1)
  :: vote_again(2)
  :: vote_again(LONGEST)
  :: hear(1)
  :: hear(2)
  :: hear(LONGEST)
  :: promise()
  :: forget()
  :: land()
  :: crash()
  :: restart()
  :: d_step { true -> LOWER(promised); LOWER(boot_wait) }
  od
}
