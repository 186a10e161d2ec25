/* Layer A, the election: the bully algorithm in the papers' own world, both variants.
 *
 * Links deliver in order and lose nothing, the failure detector is right and quick, who crashes stays
 * down.  Rank is the index; process N-1, the former leader, is dead already.  A crash may come at any
 * moment, also in the middle of a broadcast.
 *
 *   A1  at rest every living process follows the highest living one
 *   A2  with one initiator and no further crash an election costs what the closed form says
 *   A3  (CUT_OFF) two processes never lead at once: does not hold, guard "none" cannot have it
 *
 * -DMODIFIED is the O(N) variant: collect the answers, hand over to the highest.  Otherwise classic. */
#ifndef N
#define N 3
#endif
#ifndef CRASHES
#define CRASHES 0
#endif

#define ELECTION 1
#define ANSWER 2
#define HANDOVER 3
#define COORDINATOR 4

#define IDLE 0
#define COLLECTING 1                        /* has asked the higher ones */
#define WAITING 2                           /* somebody higher took over: for COORDINATOR */
#define HALTED 3                            /* modified: was asked, and leaves it to the others */

#define LINK(from, to) link[(from) * N + (to)]
#define BIT(process) (1 << (process))
#define EVERYBODY (BIT(N) - 1)

chan link[N * N] = [4] of { byte };
bit is_dead[N];
byte leader[N];
byte state[N];
byte answered[N];                           /* a set */
byte to_ask[N];                             /* a set: who is still to be sent the message ... */
byte message_to_send[N];                    /* ... of this kind */
byte sent;                                  /* attempts, also to the dead */
byte crashes_left = CRASHES;
byte received, chosen;                      /* of a step */
bit has_begun, has_ended;

#ifdef CUT_OFF
bit is_cut_off;                             /* the leader: it runs, but hears nobody, nobody hears it */
#define HIGHEST (N - 1)
#define SEEMS_DEAD(from, to) \
  (is_dead[to] || (is_cut_off && (from) != (to) && ((from) == HIGHEST || (to) == HIGHEST)))
#define LEADS(process) (!is_dead[process] && leader[process] == (process))
#define ONE_LEADER assert(LEADS(0) + LEADS(1) + LEADS(2) <= 1)
#else
#define SEEMS_DEAD(from, to) is_dead[to]
#define ONE_LEADER
#endif

#if N == 3
#define FOR_ALL(what, and) what(0) and what(1) and what(2)
#elif N == 4
#define FOR_ALL(what, and) what(0) and what(1) and what(2) and what(3)
#else
#define FOR_ALL(what, and) what(0) and what(1) and what(2) and what(3) and what(4)
#endif

/* In a process: */
#define HIGHER (EVERYBODY & ~(BIT(me + 1) - 1))
#define LIVING_BIT(other) ((other) == me || SEEMS_DEAD(me, other) -> 0 : BIT(other))
#define LIVING (FOR_ALL(LIVING_BIT, |))
#define LIVING_ANSWERED (answered[me] & LIVING)
#define HIGHEST_ANSWERED \
  (LIVING_ANSWERED & 16 -> 4 : (LIVING_ANSWERED & 8 -> 3 : (LIVING_ANSWERED & 4 -> 2 : 1)))
/* The dead are not waited for, but what they have sent is. */
#define IS_AWAITED(other)                                   \
  ((other) > me && !(answered[me] & BIT(other)) &&          \
   (!SEEMS_DEAD(me, other) || len(LINK(other, me)) > 0))
#define HAS_ALL_ANSWERS !(FOR_ALL(IS_AWAITED, ||))
#ifdef SINGLE
#define MAY_NOTICE (me == 0 && !has_begun)
#else
#define MAY_NOTICE true
#endif
#ifdef NO_HALT_TIMER
#define HAS_TIMER (state[me] == WAITING)
#else
#define HAS_TIMER (state[me] == WAITING || state[me] == HALTED)
#endif

inline send(to, message) {
  sent++;
  if
  :: !SEEMS_DEAD(me, to) -> LINK(me, to) ! message
  :: else
  fi
}

inline start() {
  state[me] = COLLECTING; answered[me] = 0; has_begun = 1;
  message_to_send[me] = ELECTION; to_ask[me] = HIGHER
}

inline win() {
  leader[me] = me; state[me] = IDLE; answered[me] = 0;
  message_to_send[me] = COORDINATOR; to_ask[me] = LIVING;
  ONE_LEADER
}

inline notice() {
  d_step { !is_dead[me] && state[me] == IDLE && SEEMS_DEAD(me, leader[me]) && MAY_NOTICE -> start() }
}

/* One message of a broadcast, in the order of ranks: a crash may come in between. */
inline send_next(other) {
  d_step {
    !is_dead[me] && to_ask[me] & BIT(other) && !(to_ask[me] & (BIT(other) - 1)) ->
      to_ask[me] = to_ask[me] & ~BIT(other);
      send(other, message_to_send[me]);
      if
      :: to_ask[me] == 0 -> message_to_send[me] = 0
      :: else
      fi
  }
}

inline end_collecting() {
  d_step {
    !is_dead[me] && state[me] == COLLECTING && to_ask[me] == 0 && HAS_ALL_ANSWERS ->
      if
      :: LIVING_ANSWERED == 0 -> win()
      :: else ->
         state[me] = WAITING;
#ifdef MODIFIED
         chosen = HIGHEST_ANSWERED; send(chosen, HANDOVER); chosen = 0
#else
         skip
#endif
      fi
  }
}

inline on_election(from) {
  send(from, ANSWER);
  if
  :: state[me] == IDLE && SEEMS_DEAD(me, leader[me]) ->
#ifdef MODIFIED
     state[me] = HALTED; has_begun = 1
#else
     start()
#endif
  :: else
  fi
}

inline on_coordinator(from) {
  if
  :: from > me ->
     leader[me] = from; state[me] = IDLE; answered[me] = 0; to_ask[me] = 0; message_to_send[me] = 0
  :: from < me && state[me] != COLLECTING && leader[me] != me -> start()
  :: else
  fi
}

inline receive(from) {
  d_step {
    !is_dead[me] && from != me && nempty(LINK(from, me)) ->
      LINK(from, me) ? received;
      if
      :: received == ELECTION -> on_election(from)
      :: received == ANSWER ->
         if
         :: state[me] == COLLECTING -> answered[me] = answered[me] | BIT(from)
         :: else
         fi
      :: received == HANDOVER ->
         if
         :: leader[me] != me && state[me] != COLLECTING -> win()
         :: else
         fi
      :: received == COORDINATOR -> on_coordinator(from)
      fi;
      received = 0
  }
}

/* Timers run out only when nothing else can happen: messages are faster. */
inline run_out() {
  d_step { timeout && !is_dead[me] && HAS_TIMER -> start() }
}

inline flush(from) {
  do
  :: nempty(LINK(from, me)) -> LINK(from, me) ? received
  :: empty(LINK(from, me)) -> break
  od
}

inline crash() {
  d_step {
    !is_dead[me] && crashes_left > 0 ->
      crashes_left--;
      is_dead[me] = 1; state[me] = IDLE; answered[me] = 0; to_ask[me] = 0; message_to_send[me] = 0;
      FOR_ALL(flush, ;);
      received = 0
  }
}

proctype process(byte me) {
end:
  do
  :: notice()
  :: end_collecting()
  :: run_out()
  :: crash()
  :: send_next(0)
  :: send_next(1)
  :: send_next(2)
  :: receive(0)
  :: receive(1)
  :: receive(2)
#if N > 3
  :: send_next(3)
  :: receive(3)
#endif
#if N > 4
  :: send_next(4)
  :: receive(4)
#endif
  od
}

#define IS_IDLE(process) (is_dead[process] || state[process] == IDLE)
#define LIVES(process) (is_dead[process] -> 0 : BIT(process))
#define ALL_LIVING (FOR_ALL(LIVES, |))
#define HIGHEST_LIVING                                      \
  (ALL_LIVING & 16 -> 4 : (ALL_LIVING & 8 -> 3 : (ALL_LIVING & 4 -> 2 : (ALL_LIVING & 2 -> 1 : 0))))
#define AGREES(process) assert(is_dead[process] || leader[process] == chosen)
#define ALL_ARE_IDLE (FOR_ALL(IS_IDLE, &&))

inline judge() {
  chosen = HIGHEST_LIVING;
  FOR_ALL(AGREES, ;);
#if defined(SINGLE) && CRASHES == 0
#ifdef MODIFIED
#ifdef LESS_THAN_WORST
  assert(sent < 3 * N - 4);
#else
  assert(sent == 3 * N - 4);
#endif
#else
  assert(sent <= N * N - N - 1);
#ifdef LESS_THAN_WORST
  assert(sent < N * N - N - 1);
#endif
#endif
#endif
  chosen = 0; has_ended = 1
}

init {
  atomic {
#ifndef CUT_OFF
    is_dead[N - 1] = 1;
#endif
    do
    :: received == N -> break
    :: else -> leader[received] = N - 1; run process(received); received++
    od;
    received = 0
  }
  do
#ifdef CUT_OFF
  :: d_step { !is_cut_off -> is_cut_off = 1 }
#endif
  :: d_step { timeout && !has_ended && ALL_ARE_IDLE -> judge() }
  :: has_ended -> break
  od
}
