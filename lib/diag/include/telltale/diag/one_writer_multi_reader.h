// SPDX-License-Identifier: Apache-2.0
#pragma once
// OneWriterMultiReader: a reader-writer lock for tables that are read all the time and written now and
// then. A reader writes one word that no other thread writes, and reads one word that no reader writes:
// readers on different cores do not slow each other. It guards the string-tag verdicts, the site
// registry, the log store's subscribers and the loaded rules; any server may use it alone, this header
// needs nothing else of the library.
//
// How. A thread owns a slot (a cache line) and puts the lock's address there while it reads. A writer
// takes a ticket, raises a flag, makes the stores of all threads visible with membarrier(2), and waits
// until no slot names the lock. Readers that meet the flag sleep. A leaving writer lets in, at a stroke,
// all readers asleep at that moment, and keeps the flag up if a further writer is queued: phases of
// readers and writers alternate. So a reader waits for at most one writer, a writer at the head of the
// queue for the readers already let in, and writers go first come, first served.
//
// When not. Sections that last (I/O, call-outs, regular expressions): a waiting writer stops everybody
// behind the slowest reader. Writes that are not rare: a write costs 1 us to 50 us and puts readers to
// sleep. Data of a word or two: an atomic. A table that is replaced as a whole and whose readers must
// never wait, not even for a write: RCU or an atomic shared_ptr.
//
// Alternatives, and why not here:
//   std::shared_mutex       readers share a counter's cache line; glibc prefers readers: overlapping
//                           readers keep a writer out for ever.
//   pthread_rwlock, kind 2  lets the writer in, but the same shared line, and writers can shut readers out.
//   folly SharedMutex       slots too, but found by trial and taken by compare-and-swap; large.
//   BRAVO                   table of slots hashed by thread and lock: compare-and-swap on each read, two
//                           threads may want one slot, and a write switches the fast path off for a while.
//   passive rwlock          the nearest: its writers send interrupts where we call membarrier(2).
//   seqlock                 readers retry and must read atomics only: no containers.
//   RCU, hazard pointers    readers never wait, but freeing is put off and every writer must copy.
//
// One slot a thread, holding up to kHeldPerThread locks, rather than slots in each lock: a lock stays 64
// bytes however many threads there are, a thread may hold several locks shared, a slot found once serves
// all locks. The price: a writer looks at every slot in use (one cache line each), also those of threads
// that never read this lock. A thread's first read takes a slot; beyond kSlots threads, or with more
// than kHeldPerThread locks held by one thread, the hold is counted in the lock's own word: right, but
// as slow as std::shared_mutex. No destructor returns a slot (that would need the dynamic loader's lock):
// when none is free, those whose thread is gone (tgkill(2) says so) are taken back.
//
//   state \ call   lock_shared  try_lock_shared  unlock_shared     lock          try_lock  unlock
//   free           in           true             abort             in            true      abort
//   N readers in   in           true             out               flag, sleeps  false     abort
//   writer waits   sleeps       false            out; last wakes   queues        false     abort
//   writer in      sleeps       false            abort             queues        false     lets in (below)
//   (unlock lets in all readers asleep, then the next writer. "abort": with a line on stderr; for a thread that does
//   not hold that side. lock, and lock_shared, of a thread that already holds a side are caught in the same way, in
//   every build; a shared side beyond the slots is not known to be this thread's, there a recursion goes unnoticed
//   until a writer waits.)
//
// Not guaranteed. No recursion, no upgrade, no timed waits. The lock must outlive every call: an
// unlock_shared looks at it once more after the writer may have got in. A thread that ends while it
// holds a side holds it for ever. Not for signal handlers. membarrier(2) must not be forbidden (seccomp)
// after the program started: the next writer aborts; forbidden from the start is fine, readers then
// order their stores themselves (dearer: locked instructions and a call), as they do under ThreadSanitizer.
//
// fork(). In the child, shared holds of the threads that are gone are dropped (readers changed nothing);
// holds of the forking thread stay. Beyond the slots they stay counted, and a writer then never gets in.
// A writer that waited or wrote in another thread leaves the flag up: readers in the child sleep for ever,
// try_lock_shared says false. Who needs the lock there holds it exclusively across the fork: lock() in the
// pthread_atfork prepare handler, unlock() in the parent's, unlock_after_fork() in the child's.
//
// The undisturbed read is compiled into its caller: two dozen instructions, where calls into the
// library took four times as long. So the first word of a lock, kFlag and first_entry are part of the
// library's binary interface; everything else is behind calls.
//
// **Thread safety:** thread-safe. Meets the standard's SharedMutex requirements but for the timed part
// (std::shared_lock, std::unique_lock). Constant-initialised and trivially destructible: for immortal
// objects, usable in static constructors and destructors. Allocates nothing, has no thread-local with a
// destructor, keeps errno.
//
// **Source:** Dice and Kogan, "BRAVO: Biased Locking for Reader-Writer Locks", USENIX ATC 2019. Liu, Zhang
// and Chen, "Scalable Read-mostly Synchronization Using Passive Reader-Writer Locks", USENIX ATC 2014.
// Brandenburg and Anderson, "Spin-based reader-writer synchronization for multiprocessor real-time
// systems", 2010 (phases). Goldblatt, "Asymmetric fences", WG21 P1202. membarrier(2), futex(2).

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace telltale::diag {

namespace lock_detail {

using Entry = std::atomic<const void*>;  // the lock a thread reads under, or null

// The first entry of the calling thread's slot. While the thread has no slot, and where membarrier(2) is
// missing, an entry that is never free and names no lock: every read then takes the slow path.
// Initial-exec: found by one load, never allocated by the loader on first use. No destructor.
[[gnu::visibility("default"), gnu::tls_model("initial-exec")]] extern constinit thread_local Entry* first_entry;

}  // namespace lock_detail

class alignas(64) [[gnu::visibility("default")]] OneWriterMultiReader {
 public:
  static constexpr std::size_t kSlots = 256;        // threads with a slot, in the whole process
  static constexpr std::size_t kHeldPerThread = 7;  // locks one thread can hold shared in its slot

  constexpr OneWriterMultiReader() noexcept = default;
  OneWriterMultiReader(const OneWriterMultiReader&) = delete;
  OneWriterMultiReader& operator=(const OneWriterMultiReader&) = delete;

  // Takes the shared side. Cost: with unlock_shared about 2 ns; a store each, to a line no other thread
  // writes, and no locked instruction. The second to seventh lock that a thread holds at once: a call each.
  // A thread's first call on any lock: some system calls, 1 us (50 us when all slots are taken). Blocks
  // while a writer waits or writes.
  void lock_shared() noexcept {
    Entry& entry = *lock_detail::first_entry;
    if (entry.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      return lock_shared_slowly();
    if (!announce(entry)) [[unlikely]]
      lock_shared_held_back();
  }
  // Takes the shared side unless a writer waits or writes. Cost: a call more than lock_shared; never blocks.
  [[nodiscard]] bool try_lock_shared() noexcept;
  // Gives the shared side back. Cost: told above; a futex wake if a writer sleeps.
  void unlock_shared() noexcept {
    Entry& entry = *lock_detail::first_entry;
    if (entry.load(std::memory_order_relaxed) != this) [[unlikely]]
      return unlock_shared_slowly();
    if (retract(entry)) [[unlikely]]
      wake_draining_writer();
  }

  // Takes the exclusive side. Cost: one membarrier(2) (1 us to 10 us; none when handed over by another
  // writer) and a look at each slot in use; blocks until the readers inside have left.
  void lock() noexcept;
  // Takes the exclusive side if nobody holds either side. Cost: as lock, without the wait; nearly
  // nothing if it fails at the first look. A failure may hold readers back for the length of the call.
  [[nodiscard]] bool try_lock() noexcept;
  // Gives the exclusive side back. Cost: a few atomic operations; futex wakes if somebody sleeps.
  void unlock() noexcept;
  // Gives the exclusive side back in the child of fork(), whoever else waited in the parent.
  // REQUIRES: the forking thread held the exclusive side; the child has no other thread yet.
  void unlock_after_fork() noexcept;

  // Who is asleep or about to be, at some moment during the call: for status pages and tests.
  struct Waiting {
    std::uint32_t readers;  // held back by a writer
    std::uint32_t writers;  // queued, waiting for readers, or inside
  };
  Waiting waiting() const noexcept;
  // False while the calling thread's reads are counted in the lock instead (see kSlots).
  static bool this_thread_has_slot() noexcept;

 private:
  using Entry = lock_detail::Entry;
  static constexpr std::uint64_t kFlag = 1;  // in state_: a writer waits or writes

  // The two halves of a read for threads whose first_entry is their own: store, then look at the flag, in
  // this order for the compiler; membarrier(2) in the writer keeps the processor to it. Partners: names()
  // and lock() in the source, told there (1. and 2.).
  // True: inside. False: the flag is up and the entry must be retracted.
  bool announce(Entry & entry) noexcept {
    entry.store(this, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return (state_.load(std::memory_order_acquire) & kFlag) == 0;
  }
  // True: the flag is up, a writer may be waiting for this entry.
  bool retract(Entry & entry) noexcept {
    entry.store(nullptr, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return (state_.load(std::memory_order_relaxed) & kFlag) != 0;
  }

  // As announce and retract, for any thread and any entry: without membarrier(2) they order themselves.
  bool enter(Entry & entry) noexcept;
  bool leave(Entry & entry) noexcept;
  void lock_shared_slowly() noexcept;
  void lock_shared_held_back() noexcept;
  void unlock_shared_slowly() noexcept;
  void enter_after_writer(Entry & entry) noexcept;
  void wait_for_turn() noexcept;
  void leave_counted() noexcept;
  void wake_draining_writer() noexcept;
  void wait_until_drained() noexcept;
  void step_down() noexcept;
  void pass_ticket(std::uint32_t ticket) noexcept;

  // Partners and orders are told beside the functions in the source. All in one cache line, which only
  // writers (and readers that are held back or counted) write.
  std::atomic<std::uint64_t> state_{0};        // flag, phase, readers held back, readers counted
  std::atomic<std::uint32_t> next_ticket_{0};  // writers: the next one to queue gets this number
  std::atomic<std::uint32_t> serving_{0};      // writers: whose turn it is; equal to next_ticket_: nobody's
  std::atomic<std::uint32_t> draining_{0};     // 1: the writer sleeps until a reader leaves
  std::atomic<const void*> writer_{nullptr};   // thread inside, to catch recursion and foreign unlocks
};

}  // namespace telltale::diag
