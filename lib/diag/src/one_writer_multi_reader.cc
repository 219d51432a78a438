// SPDX-License-Identifier: Apache-2.0
//
// The header tells what the lock does; here is why it is right.
//
// 1. A reader is seen, or sees. Reader: store its entry, then load state_. Writer: set the flag in
//    state_, then load the entries. At least one of the two must see the other's store. With membarrier
//    the reader keeps that order in the compiler only; membarrier(2), between the writer's store and its
//    loads, runs a full barrier on every core that executes a thread of the process: a reader whose load
//    of state_ came before the barrier has its entry visible after it, any other load sees the flag.
//    Without membarrier all four accesses are seq_cst, which says the same. The store and load at the end
//    of a read form the same pair: a reader that leaves either is seen gone, or sees the flag and wakes.
//    (Tests: "a writer and readers exclude each other", "writers get through overlapping readers".)
//
// 2. What readers read happens before what the next writer writes: each store to an entry is a release,
//    the writer's look at it an acquire. Entering is a release too, though it publishes nothing: the
//    writer of lock A may find the entry already reused for lock B, and must still see A's read finished.
//    What a writer wrote happens before the next reads: state_ changes by read-modify-write only, so
//    whatever value a reader acquires continues the release sequence of the last unlock.
//
// 3. Phases. state_ holds, from bit 0: the flag (1), the phase (19), readers held back (22), readers
//    counted (22); no process has 2^22 threads. A reader that meets the flag adds itself to "held back"
//    by compare-and-swap, so it knows the phase it waits in. The leaving writer moves the held-back number
//    to "counted" and steps the phase, in one compare-and-swap: the sleepers are inside from then on, and
//    a reader that sees its phase gone enters its slot first and gives up its count after. The next writer
//    waits for count zero, then looks at the slots, so it meets each of them in one place or the other.
//    The phase cannot come round unnoticed: the next step needs count zero, hence every sleeper awake.
//    (Tests: "readers held back by a writer enter before the next one", "... not one reader more".)
//
// 4. Each slot needs one look. After the flag is up and visible, an entry seen without the lock can name
//    it again only for a moment: its reader sees the flag and withdraws. A flag left up for a queued
//    writer has been made visible by the writer that raised it; the heir needs no membarrier.
//
// 5. Slots. Their owner = serial number and thread id; only the owner writes the entries, so no compare-and-swap.
//    A slot whose thread is gone is found by tgkill(pid, tid, 0); the serial number makes taking it fail if
//    anybody took it in between, also a new thread with the same id. A thread looks for its own id first: at
//    most one slot per living thread is then kept by a recycled id. Slots are given out only in the process
//    that start() or the fork handler has seen: a child made without handlers counts instead.

#include <telltale/diag/one_writer_multi_reader.h>

#include <bit>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define TELLTALE_LOCK_SYMMETRIC 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TELLTALE_LOCK_SYMMETRIC 1
#endif
#endif

namespace telltale::diag {
namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

constexpr unsigned kHeldBackShift = 20;
constexpr unsigned kCountedShift = 42;
constexpr std::uint64_t kPhaseOne = 2;  // bit 0: kFlag
constexpr std::uint64_t kPhaseMask = (std::uint64_t{1} << kHeldBackShift) - kPhaseOne;
constexpr std::uint64_t kHeldBackOne = std::uint64_t{1} << kHeldBackShift;
constexpr std::uint64_t kCountedOne = std::uint64_t{1} << kCountedShift;

constexpr std::uint64_t phase(std::uint64_t state) { return state & kPhaseMask; }
constexpr std::uint64_t counted(std::uint64_t state) { return state >> kCountedShift; }
constexpr std::uint64_t held_back(std::uint64_t state) {
  return (state >> kHeldBackShift) & ((std::uint64_t{1} << (kCountedShift - kHeldBackShift)) - 1);
}

constexpr int kSpins = 100;                 // looks before sleeping: 1 us to 4 us, about a futex round trip
constexpr std::uint32_t kSlotRetry = 1024;  // counted reads until a thread without slot looks for one again

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Loggers print errno: no system call of ours may change it.
struct KeepErrno {
  int saved = errno;
  ~KeepErrno() { errno = saved; }
};

[[noreturn]] void die(const char* why) noexcept {
  const char* parts[] = {"telltale: OneWriterMultiReader: ", why, "\n"};
  for (const char* part : parts) {
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  std::abort();
}

// Futex calls. Who sleeps re-checks in a loop, so early returns (EINTR, EAGAIN) need no care. `lane`
// keeps apart sleepers of one word: a waker reaches those whose lane shares a bit with its own.
constexpr std::uint32_t kAnyLane = FUTEX_BITSET_MATCH_ANY;

void futex_sleep(const void* word, std::uint32_t expected, std::uint32_t lane = kAnyLane) noexcept {
  KeepErrno keep;
  ::syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, nullptr, nullptr, lane);
}
void futex_wake(const void* word, int at_most, std::uint32_t lane = kAnyLane) noexcept {
  KeepErrno keep;
  ::syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, at_most, nullptr, nullptr, lane);
}
constexpr std::uint32_t lane_of(std::uint32_t ticket) { return std::uint32_t{1} << (ticket % 32); }

// The half of state_ readers sleep on: flag, phase and the low bits of the held-back number.
const void* low_half(const std::atomic<std::uint64_t>& state) noexcept {
  return reinterpret_cast<const char*>(&state) + (std::endian::native == std::endian::big ? 4 : 0);
}

int membarrier(int command) noexcept { return static_cast<int>(::syscall(SYS_membarrier, command, 0, 0)); }

using lock_detail::Entry;

struct alignas(64) Slot {
  std::atomic<std::uint64_t> owner{0};  // serial number << 32 | thread id; thread id 0: free
  Entry held[OneWriterMultiReader::kHeldPerThread]{};
};
static_assert(sizeof(Slot) == 64, "a slot is a cache line");

struct Thread {
  Slot* slot = nullptr;
  std::uint32_t retry_in = 0;  // counted reads until the next look for a slot
};

constinit Slot slots[OneWriterMultiReader::kSlots]{};
// Slots below this index have been used. Partner: take_slot raises it (seq_cst) before the slot's first
// announcement; a writer that misses the rise has raised its flag earlier, and that announcement sees it
// (1. above).
constinit std::atomic<std::uint32_t> slots_used{0};
// Written at start and after fork, when no other thread can use a slot: relaxed is enough.
constinit std::atomic<bool> asymmetric{false};  // membarrier(2) works: readers need no fence
constinit std::atomic<pid_t> process{0};        // slots are given out in this process; 0: in none yet

// What first_entry points to where the short path is closed. Never written.
constinit Entry no_entry{&no_entry};

// Initial-exec: found by one load, never allocated by the loader on first use. No destructor.
constinit thread_local Thread me __attribute__((tls_model("initial-exec"))){};

// Lets the thread's reads take the short path if its slot and membarrier(2) allow it.
void choose_path() noexcept {
  const bool is_short = me.slot != nullptr && asymmetric.load(std::memory_order_relaxed);
  lock_detail::first_entry = is_short ? &me.slot->held[0] : &no_entry;
}

void after_fork_in_child() noexcept {
  KeepErrno keep;
  for (Slot& slot : slots) {
    const bool mine = &slot == me.slot;
    if (!mine) {
      for (Entry& entry : slot.held) entry.store(nullptr, std::memory_order_relaxed);
    }
    const std::uint64_t serial = (slot.owner.load(std::memory_order_relaxed) >> 32) + 1;
    slot.owner.store(serial << 32 | (mine ? static_cast<std::uint32_t>(::gettid()) : 0), std::memory_order_relaxed);
  }
  // Inherited on the kernels known to us; nothing promises it.
  if (asymmetric.load(std::memory_order_relaxed)) {
    asymmetric.store(membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0, std::memory_order_relaxed);
    choose_path();
  }
  process.store(::getpid(), std::memory_order_relaxed);
}

// Before the static constructors of the program, which may lock (101 is the first priority a program may
// use). A lock that is used earlier still finds no process, counts instead of using a slot, and is right
// all the same.
__attribute__((constructor(101))) void start() noexcept {
  KeepErrno keep;
#ifndef TELLTALE_LOCK_SYMMETRIC
  asymmetric.store(membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0, std::memory_order_relaxed);
#endif
  // Without the handler a child could give away the slot that its only thread still uses: no slots then.
  if (::pthread_atfork(nullptr, nullptr, after_fork_in_child) == 0) {
    process.store(::getpid(), std::memory_order_relaxed);
  }
}

bool names_no_lock(const Slot& slot) noexcept {
  for (const Entry& entry : slot.held) {
    if (entry.load(std::memory_order_relaxed) != nullptr) return false;
  }
  return true;
}

// Acquire and release: the last owner's stores to the entries come before ours.
bool change_owner(Slot& slot, std::uint64_t seen, std::uint32_t tid) noexcept {
  return slot.owner.compare_exchange_strong(seen, ((seen >> 32) + 1) << 32 | tid, std::memory_order_acq_rel);
}

Slot* take_slot_of(std::uint32_t owner, std::uint32_t tid) noexcept {
  for (Slot& slot : slots) {
    const std::uint64_t seen = slot.owner.load(std::memory_order_acquire);
    // A slot without living owner that names a lock: the thread ended inside, and holds for ever.
    if (static_cast<std::uint32_t>(seen) != owner || !names_no_lock(slot)) continue;
    if (!change_owner(slot, seen, tid)) continue;
    const auto count = static_cast<std::uint32_t>(&slot - slots) + 1;
    std::uint32_t used = slots_used.load(std::memory_order_relaxed);
    while (used < count && !slots_used.compare_exchange_weak(used, count, std::memory_order_seq_cst)) {
    }
    return &slot;
  }
  return nullptr;
}

Slot* take_slot() noexcept {
  KeepErrno keep;
  const pid_t pid = ::getpid();
  if (pid != process.load(std::memory_order_relaxed)) return nullptr;
  const auto tid = static_cast<std::uint32_t>(::gettid());

  if (Slot* slot = take_slot_of(tid, tid)) return slot;
  if (Slot* slot = take_slot_of(0, tid)) return slot;
  for (Slot& slot : slots) {
    const std::uint64_t seen = slot.owner.load(std::memory_order_acquire);
    const auto owner = static_cast<std::uint32_t>(seen);
    if (owner == 0 || !names_no_lock(slot)) continue;
    if (::syscall(SYS_tgkill, pid, owner, 0) == -1 && errno == ESRCH) change_owner(slot, seen, 0);
  }
  return take_slot_of(0, tid);
}

// The calling thread's entry that names `lock`, or null. Only the owner writes them: relaxed.
Entry* find_mine(const void* lock) noexcept {
  if (me.slot == nullptr) return nullptr;
  for (Entry& entry : me.slot->held) {
    if (entry.load(std::memory_order_relaxed) == lock) return &entry;
  }
  return nullptr;
}

bool find_slot() noexcept {
  if (me.retry_in != 0) {
    --me.retry_in;
    return false;
  }
  me.slot = take_slot();
  if (me.slot == nullptr) me.retry_in = kSlotRetry;
  choose_path();
  return me.slot != nullptr;
}

// A free entry to announce `lock` in, or null: the thread must count instead.
Entry* claim(const void* lock) noexcept {
  if (me.slot == nullptr && !find_slot()) return nullptr;
  if (find_mine(lock) != nullptr) die("the shared side is asked for by a thread that holds it");
  return find_mine(nullptr);
}

// Partners: announce and retract, enter and leave (1. and 2. above).
bool names(const Slot& slot, const void* lock) noexcept {
  for (const Entry& entry : slot.held) {
    if (entry.load(std::memory_order_seq_cst) == lock) return true;
  }
  return false;
}

bool read_by_anybody(const void* lock) noexcept {
  const std::uint32_t count = slots_used.load(std::memory_order_seq_cst);
  for (std::uint32_t index = 0; index < count; ++index) {
    if (names(slots[index], lock)) return true;
  }
  return false;
}

// The writer's half of 1.: between its flag and its look at the slots.
void show_flag() noexcept {
  if (!asymmetric.load(std::memory_order_relaxed)) return;
  KeepErrno keep;
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
    die("membarrier(2) worked at start and is refused now (a seccomp filter?)");
  }
}

}  // namespace

namespace lock_detail {
constinit thread_local Entry* first_entry = &no_entry;
}  // namespace lock_detail

inline bool OneWriterMultiReader::enter(Entry& entry) noexcept {
  if (asymmetric.load(std::memory_order_relaxed)) [[likely]]
    return announce(entry);
  entry.store(this, std::memory_order_seq_cst);
  return (state_.load(std::memory_order_seq_cst) & kFlag) == 0;
}

inline bool OneWriterMultiReader::leave(Entry& entry) noexcept {
  if (asymmetric.load(std::memory_order_relaxed)) [[likely]]
    return retract(entry);
  entry.store(nullptr, std::memory_order_seq_cst);
  return (state_.load(std::memory_order_seq_cst) & kFlag) != 0;
}

void OneWriterMultiReader::lock_shared_slowly() noexcept {
  Entry* entry = claim(this);
  if (entry == nullptr) return wait_for_turn();
  if (enter(*entry)) return;
  if (leave(*entry)) wake_draining_writer();
  enter_after_writer(*entry);
}

// The first entry has been announced, and the flag was up.
void OneWriterMultiReader::lock_shared_held_back() noexcept {
  Entry& entry = *lock_detail::first_entry;
  if (retract(entry)) wake_draining_writer();
  enter_after_writer(entry);
}

// From the count to the slot, in this order: a writer that finds the count gone finds the entry.
void OneWriterMultiReader::enter_after_writer(Entry& entry) noexcept {
  wait_for_turn();
  entry.store(this, std::memory_order_release);
  leave_counted();
}

bool OneWriterMultiReader::try_lock_shared() noexcept {
  Entry* entry = claim(this);
  if (entry != nullptr) [[likely]] {
    if (enter(*entry)) [[likely]]
      return true;
    if (leave(*entry)) wake_draining_writer();
    return false;
  }
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  while ((state & kFlag) == 0) {
    if (state_.compare_exchange_weak(state, state + kCountedOne, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void OneWriterMultiReader::unlock_shared_slowly() noexcept {
  Entry* entry = find_mine(this);
  if (entry == nullptr) return leave_counted();
  if (leave(*entry)) wake_draining_writer();
}

// Returns with the calling thread counted inside. Partner of all changes: step_down's release.
void OneWriterMultiReader::wait_for_turn() noexcept {
  if (writer_.load(std::memory_order_relaxed) == &me) {
    die("the shared side is asked for by the thread that writes");
  }
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    if ((state & kFlag) == 0) {
      if (state_.compare_exchange_weak(state, state + kCountedOne, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return;
      }
    } else if (state_.compare_exchange_weak(state, state + kHeldBackOne, std::memory_order_relaxed)) {
      break;
    }
  }
  const std::uint64_t mine = phase(state);
  for (int looks = 0;; ++looks) {
    state = state_.load(std::memory_order_acquire);
    if (phase(state) != mine) return;
    if (looks < kSpins) {
      relax();
    } else {
      futex_sleep(low_half(state_), static_cast<std::uint32_t>(state));
    }
  }
}

// Release: what was read, or the entry just stored, before the count falls. Partner: wait_until_drained.
void OneWriterMultiReader::leave_counted() noexcept {
  const std::uint64_t before = state_.fetch_sub(kCountedOne, std::memory_order_acq_rel);
  if (counted(before) == 0) die("the shared side is given back by a thread that does not hold it");
  if ((before & kFlag) != 0 && counted(before) == 1) wake_draining_writer();
}

// Both sides exchange draining_, so one of them comes second and, by acquire, knows what the first did
// before: the reader finds 1 and wakes, or the writer's next look finds the reader gone.
void OneWriterMultiReader::wake_draining_writer() noexcept {
  if (draining_.exchange(0, std::memory_order_acq_rel) == 1) futex_wake(&draining_, 1);
}

void OneWriterMultiReader::wait_until_drained() noexcept {
  const std::uint32_t count = slots_used.load(std::memory_order_seq_cst);
  std::uint32_t next = 0;  // slots below need no second look (4. above)
  auto drained = [&] {
    if (counted(state_.load(std::memory_order_acquire)) != 0) return false;
    while (next < count && !names(slots[next], this)) ++next;
    return next == count;
  };
  for (int looks = 0; looks < kSpins; ++looks) {
    if (drained()) return;
    relax();
  }
  for (;;) {
    draining_.exchange(1, std::memory_order_acq_rel);
    if (drained()) break;
    futex_sleep(&draining_, 1);
  }
  draining_.exchange(0, std::memory_order_acq_rel);  // not a store: the chain of exchanges must not break
}

void OneWriterMultiReader::lock() noexcept {
  if (writer_.load(std::memory_order_relaxed) == &me) {
    die("the exclusive side is asked for by the thread that holds it");
  }
  if (find_mine(this) != nullptr) die("the exclusive side is asked for by a thread that reads");

  // seq_cst, all accesses to the two ticket words: pass_ticket sees our ticket and wakes, or we see the turn.
  const std::uint32_t ticket = next_ticket_.fetch_add(1, std::memory_order_seq_cst);
  for (int looks = 0;; ++looks) {
    const std::uint32_t turn = serving_.load(std::memory_order_seq_cst);
    if (turn == ticket) break;
    if (looks < kSpins) {
      relax();
    } else {
      futex_sleep(&serving_, turn, lane_of(ticket));
    }
  }

  const std::uint64_t before = state_.fetch_or(kFlag, std::memory_order_seq_cst);
  if ((before & kFlag) == 0) show_flag();
  wait_until_drained();
  writer_.store(&me, std::memory_order_relaxed);
}

bool OneWriterMultiReader::try_lock() noexcept {
  std::uint32_t ticket = serving_.load(std::memory_order_seq_cst);
  // Equal to the turn read before it, the next ticket says that nobody writes or waits to.
  if (!next_ticket_.compare_exchange_strong(ticket, ticket + 1, std::memory_order_seq_cst)) return false;

  // A first look without the flag, which would stop readers. The flag must not go up over a count: a
  // phase may end only when the readers let in before have left (3. above).
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  bool raised = false;
  while (!raised && counted(state) == 0 && !read_by_anybody(this)) {
    raised = state_.compare_exchange_weak(state, state | kFlag, std::memory_order_seq_cst, std::memory_order_relaxed);
  }
  if (!raised) {
    pass_ticket(ticket + 1);
    return false;
  }
  show_flag();
  if (read_by_anybody(this)) {
    step_down();
    return false;
  }
  writer_.store(&me, std::memory_order_relaxed);
  return true;
}

void OneWriterMultiReader::unlock() noexcept {
  if (writer_.load(std::memory_order_relaxed) != &me) {
    die("the exclusive side is given back by a thread that does not hold it");
  }
  writer_.store(nullptr, std::memory_order_relaxed);
  step_down();
}

// Ends the phase (3. above). The flag stays up if a writer is queued: it cannot go away, it will be
// served. One that queues after our look raises the flag itself.
void OneWriterMultiReader::step_down() noexcept {
  const std::uint32_t next = serving_.load(std::memory_order_relaxed) + 1;
  const std::uint64_t flag = next_ticket_.load(std::memory_order_seq_cst) != next ? kFlag : 0;
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    after = flag | phase(state + kPhaseOne) | (counted(state) + held_back(state)) << kCountedShift;
  } while (!state_.compare_exchange_weak(state, after, std::memory_order_acq_rel, std::memory_order_relaxed));
  pass_ticket(next);
  if (held_back(state) != 0) futex_wake(low_half(state_), INT_MAX);
}

void OneWriterMultiReader::pass_ticket(std::uint32_t ticket) noexcept {
  serving_.store(ticket, std::memory_order_seq_cst);
  if (next_ticket_.load(std::memory_order_seq_cst) != ticket) futex_wake(&serving_, INT_MAX, lane_of(ticket));
}

void OneWriterMultiReader::unlock_after_fork() noexcept {
  if (writer_.load(std::memory_order_relaxed) != &me) {
    die("unlock_after_fork by a thread that did not hold the exclusive side at fork");
  }
  writer_.store(nullptr, std::memory_order_relaxed);
  draining_.store(0, std::memory_order_relaxed);
  next_ticket_.store(0, std::memory_order_relaxed);
  serving_.store(0, std::memory_order_relaxed);
  state_.store(0, std::memory_order_release);
}

OneWriterMultiReader::Waiting OneWriterMultiReader::waiting() const noexcept {
  const std::uint32_t turn = serving_.load(std::memory_order_acquire);
  return {.readers = static_cast<std::uint32_t>(held_back(state_.load(std::memory_order_acquire))),
          .writers = next_ticket_.load(std::memory_order_acquire) - turn};
}

bool OneWriterMultiReader::this_thread_has_slot() noexcept { return me.slot != nullptr; }

}  // namespace telltale::diag
