/* SPDX-License-Identifier: Apache-2.0
 *
 * OneWriterMultiReader as a Promela model: lib/diag/src/one_writer_multi_reader.cc step by step, one atomic
 * step for each access to a word that threads share. check.py has spin look at every interleaving.
 *
 * What is modelled: slots, counted readers, tickets, flag, phases, the four futex sleeps, lock, try_lock,
 * unlock, lock_shared, try_lock_shared, unlock_shared. What is checked:
 *   exclusion      the assertions: no reader beside a writer, no writer beside a writer
 *   no lost wake   no end state in which somebody sleeps: at any moment `stop` may keep all processes from
 *                  beginning another round, so whoever sleeps for want of one is found
 *   writer_gets_in, reader_gets_in   below, with weak fairness: who can always go on does go on some time
 *
 * Memory. A reader's stores to its entry go through a store buffer (x86's order, the one reordering that
 * x86 has; the release and acquire orders of the source leave the same one to other processors). They reach
 * memory at any later time, one by one; a locked instruction of the reader waits for them; the writer's
 * membarrier(2) empties one buffer after the other, as its interrupts do. Writers touch shared words by
 * locked instructions or seq_cst stores only: no buffer. With SYMMETRIC, readers order their own stores, as
 * where membarrier(2) is missing.
 *
 * Small on purpose: the phase is one bit and tickets count modulo writers + 1, so that a coming round of
 * either, which takes 2^19 phases or 2^32 writes in the program, happens here at once and must do no harm.
 *
 * The FAULT_ variants break the lock on purpose; check.py demands that spin sees it.
 */

#ifndef READERS
#define READERS 2   /* with a slot; */
#endif
#ifndef COUNTED
#define COUNTED 0   /* without, beyond kSlots: counted in the lock's word */
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#define THREADS (READERS + COUNTED)
#define TICKETS (WRITERS + 1)
#ifndef BUFFER
#define BUFFER 2    /* stores that a buffer holds */
#endif

/* The lock's line. state_ is changed as a whole, in one step: */
bool flag;
bit phase;
byte held_back, counted;
byte next_ticket, serving;
bit draining;

/* The slots: memory's view of an entry (1: it names the lock), and stores that have not reached it. What a
 * reader stores alternates between the two values, so that their number says all. */
bit entry[THREADS];
byte pending[THREADS];

/* Who sleeps in the kernel. */
bool drainer_asleep;            /* on draining; only the writer whose turn it is */
bool reader_asleep[THREADS];    /* on the low half of state_ */
bool writer_asleep[WRITERS];    /* on serving */

byte ticket_of[WRITERS];        /* a local of each writer, global for its lane */

/* For the checks only. */
byte readers_in, writers_in;
bool stop;                      /* nobody begins another round */

#ifdef LIVE
bool reading[THREADS], reader_wants[THREADS];
bool writing[WRITERS], writer_wants[WRITERS];
#define INTERESTING(sets) ; sets
ltl writer_gets_in { [] (writer_wants[0] -> <> writing[0]) }
ltl reader_gets_in { [] (reader_wants[0] -> <> reading[0]) }
#else
#define INTERESTING(sets)
#endif

/* ---- memory */

inline store(value) {
#ifdef SYMMETRIC
  entry[me] = value
#else
  atomic {
    pending[me] < BUFFER;
    assert((entry[me] ^ (pending[me] & 1)) != value);
    pending[me]++
  }
#endif
}

/* Part of an atomic step: the locked instruction of a reader. */
inline own_stores_done(who) {
  entry[who] = entry[who] ^ (pending[who] & 1);
  pending[who] = 0
}

#ifndef SYMMETRIC
proctype store_buffer(byte me) {
end:
  do
  :: atomic { pending[me] > 0 -> pending[me]--; entry[me] = 1 - entry[me] }
  od
}
#endif

inline membarrier() {
#if !defined(SYMMETRIC) && !defined(FAULT_NO_BARRIER)
  at = 0;
  do
  :: at < READERS -> atomic { own_stores_done(at); at++ }
  :: else -> break
  od;
  at = 0
#else
  skip
#endif
}

/* ---- readers */

inline comes_in() {
  readers_in++;
  assert(writers_in == 0)
  INTERESTING(reading[me] = true; reader_wants[me] = false)
}
inline goes_out(how_many) {
  readers_in = readers_in - how_many
  INTERESTING(reading[me] = false)
}

inline wake_draining_writer() {
#ifdef FAULT_NO_WAKE
  skip
#else
  atomic {
    own_stores_done(me);
    seen = draining;
    draining = 0
  };
  atomic {
    if
    :: seen -> drainer_asleep = false; seen = 0
    :: else
    fi
  }
#endif
}

inline leave_counted() {
  atomic {
    own_stores_done(me);
    counted--;
    seen = (flag && counted == 0)
  };
  if
  :: atomic { seen -> seen = 0 };
    wake_draining_writer()
  :: else
  fi
}

/* Ends inside, counted. */
inline wait_for_turn() {
  atomic {
    own_stores_done(me);
    if
    :: !flag -> counted++; seen = 1; comes_in()
    :: else -> held_back++; mine = phase
    fi
  };
  do
  :: atomic { seen -> seen = 0; mine = 0; break }
  :: atomic {
      else ->
      if
      :: phase != mine -> seen = 1; comes_in()
      :: else -> flag_seen = flag; held_back_seen = held_back
      fi
    };
    if
    :: seen
    :: else ->
      atomic {
        if
        :: phase == mine && flag == flag_seen && held_back == held_back_seen -> reader_asleep[me] = true
        :: else
        fi;
        flag_seen = 0;
        held_back_seen = 0
      };
      !reader_asleep[me]
    fi
  od
}

/* inside: 1, or 0 of who met the flag. */
inline leaves(inside) {
  atomic { goes_out(inside); store(0) };
  if
  :: flag -> wake_draining_writer()
  :: !flag
  fi
}

proctype reader(byte me) {
  bit seen, mine, flag_seen, trying;
  byte held_back_seen;
end:
  do
  :: atomic { me < READERS && !stop;
#ifdef TRY
      if
      :: trying = 1
      :: trying = 0
      fi;
#endif
      store(1)
      INTERESTING(reader_wants[me] = !trying)
    };
    if
    :: atomic { !flag -> trying = 0; comes_in() }
    :: flag ->
      leaves(0);
      if
      :: atomic { trying -> trying = 0; goto end }
      :: else
      fi;
      wait_for_turn();
      store(1);
      leave_counted()
    fi;
    leaves(1)
  :: atomic { me >= READERS && !stop
      INTERESTING(reader_wants[me] = true)
    };
    wait_for_turn();
    atomic { goes_out(1) };
    leave_counted()
  od
}

/* ---- writers */

inline wake_all_readers() {
  atomic {
    at = 0;
    do
    :: at < THREADS -> reader_asleep[at] = false; at++
    :: else -> break
    od;
    at = 0
  }
}

/* Only the writer whose turn it is writes serving. While nobody has a ticket, numbers mean nothing: there
 * they begin anew, so that fewer states differ. */
inline pass_ticket() {
  atomic {
    serving = (serving + 1) % TICKETS;
    if
    :: next_ticket == serving -> serving = 0; next_ticket = 0
    :: else
    fi
  };
  if
  :: next_ticket == serving
  :: next_ticket != serving ->
    /* The lane: sleepers whose ticket it is. */
    atomic {
      at = 0;
      do
      :: at < WRITERS ->
        if
        :: writer_asleep[at] && ticket_of[at] == serving -> writer_asleep[at] = false
        :: else
        fi;
        at++
      :: else -> break
      od;
      at = 0
    }
  fi
}

inline let_in_held_back() {
  woken = (held_back > 0);
  phase = 1 - phase;
#ifndef FAULT_NOT_COUNTED
  counted = counted + held_back;
#endif
  held_back = 0
}

inline step_down() {
  atomic { stays = (next_ticket != (serving + 1) % TICKETS) };
  atomic {
#ifdef FAULT_WRITERS_FIRST
    if
    :: stays
    :: else -> let_in_held_back()
    fi;
#else
    let_in_held_back();
#endif
    flag = stays;
    stays = 0
  };
  pass_ticket();
  if
  :: atomic { woken -> woken = 0 };
    wake_all_readers()
  :: else
  fi
}

/* The slots below `looked` need no second look. Sets drained. */
inline look_whether_drained() {
  if
  :: atomic { counted != 0 -> drained = 0 }
  :: counted == 0 ->
    do
    :: atomic { looked < READERS && entry[looked] == 0 -> looked++ }
    :: atomic { looked < READERS && entry[looked] != 0 -> drained = 0; break }
    :: atomic { looked == READERS -> drained = 1; break }
    od
  fi
}

inline wait_until_drained() {
  look_whether_drained();   /* stands for the looks before the first sleep */
  if
  :: drained
  :: else ->
    do
    :: draining = 1;
      look_whether_drained();
      if
      :: atomic { drained -> break }
      :: else
      fi;
      atomic {
        if
        :: draining == 1 -> drainer_asleep = true
        :: else
        fi
      };
      !drainer_asleep
    od;
    draining = 0
  fi
}

inline writes() {
  atomic {
    looked = 0;
    drained = 0;
    writers_in++;
    assert(writers_in == 1 && readers_in == 0)
    INTERESTING(writing[me] = true; writer_wants[me] = false)
  };
  atomic {
    writers_in--
    INTERESTING(writing[me] = false)
  };
  step_down()
}

proctype writer(byte me) {
  byte at, looked;
  bit drained, stays, woken, was;
end:
  do
  :: atomic {
      !stop;
      ticket_of[me] = next_ticket;
      next_ticket = (next_ticket + 1) % TICKETS
      INTERESTING(writer_wants[me] = true)
    };
    do
    :: atomic { serving == ticket_of[me] -> ticket_of[me] = 0; break }
    :: atomic { serving != ticket_of[me] -> at = serving };
      atomic {
        if
        :: serving == at -> writer_asleep[me] = true
        :: else
        fi;
        at = 0
      };
      !writer_asleep[me]
    od;
#ifdef FAULT_GIVES_WAY
    /* Lets readers pass again after each look that found one inside. */
    do
    :: flag = true;
      membarrier();
      look_whether_drained();
      if
      :: atomic { drained -> break }
      :: else ->
        atomic { looked = 0; flag = false; let_in_held_back() };
        woken = 0;
        wake_all_readers()
      fi
    od;
#else
    atomic { was = flag; flag = true };
    if
    :: atomic { !was -> skip };
      membarrier()
    :: atomic { was -> was = 0 }
    fi;
    wait_until_drained();
#endif
    writes()
#ifdef TRY
  /* One step: no number comes round between try_lock's two accesses, so equal then means equal now. */
  :: atomic { !stop && next_ticket == serving -> next_ticket = (next_ticket + 1) % TICKETS };
    look_whether_drained();
    atomic {
      if
      :: drained && counted == 0 -> flag = true
      :: else -> drained = 0
      fi;
      looked = 0
    };
    if
    :: atomic { !drained -> skip };
      pass_ticket()
    :: else ->
      membarrier();
      look_whether_drained();
      if
      :: drained -> writes()
      :: atomic { !drained -> looked = 0 };
        step_down()
      fi
    fi
#endif
  od
}

init {
  byte i;
  atomic {
    i = 0;
    do
    :: i < THREADS ->
      run reader(i);
#ifndef SYMMETRIC
      if
      :: i < READERS -> run store_buffer(i)
      :: else
      fi;
#endif
      i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < WRITERS -> run writer(i); i++
    :: else -> break
    od
  };
#ifndef LIVE
  stop = true
#endif
}
