// SPDX-License-Identifier: Apache-2.0
#pragma once
// The locks that OneWriterMultiReader is measured beside, with one interface: lock(), unlock(),
// lock_shared(), unlock_shared(). Those of absl and liburcu exist where their packages are installed.
//
// **Thread safety:** thread-safe, as locks are.

#include <shared_mutex>

#include <pthread.h>

#include <telltale/diag/one_writer_multi_reader.h>

#ifdef TELLTALE_HAVE_ABSL
#include <absl/synchronization/mutex.h>
#endif
#ifdef TELLTALE_HAVE_URCU
#define _LGPL_SOURCE  // the read side compiled in, as its users have it
#include <urcu/urcu-memb.h>
#endif

namespace telltale::perf {

// glibc's lock: kind 0 prefers readers (and std::shared_mutex is that), kind 2 writers.
template <int kind>
class PthreadRwlock {
 public:
  PthreadRwlock() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, kind);
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~PthreadRwlock() { pthread_rwlock_destroy(&lock_); }
  PthreadRwlock(const PthreadRwlock&) = delete;
  PthreadRwlock& operator=(const PthreadRwlock&) = delete;

  void lock() { pthread_rwlock_wrlock(&lock_); }
  void unlock() { pthread_rwlock_unlock(&lock_); }
  void lock_shared() { pthread_rwlock_rdlock(&lock_); }
  void unlock_shared() { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};
using PthreadReaders = PthreadRwlock<PTHREAD_RWLOCK_PREFER_READER_NP>;
using PthreadWriters = PthreadRwlock<PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP>;

#ifdef TELLTALE_HAVE_ABSL
class AbslMutex {
 public:
  void lock() { lock_.WriterLock(); }
  void unlock() { lock_.WriterUnlock(); }
  void lock_shared() { lock_.ReaderLock(); }
  void unlock_shared() { lock_.ReaderUnlock(); }

 private:
  absl::Mutex lock_;
};
#endif

#ifdef TELLTALE_HAVE_URCU
// Not a lock: readers never wait. lock() is what a writer waits for before it may free what it replaced.
class UrcuReadSide {
 public:
  void lock() { urcu_memb_synchronize_rcu(); }
  void unlock() {}
  void lock_shared() { urcu_memb_read_lock(); }
  void unlock_shared() { urcu_memb_read_unlock(); }
};
#endif

// What a reading thread of this lock has to do first and last.
template <typename Lock>
struct ReadingThread {};
#ifdef TELLTALE_HAVE_URCU
template <>
struct ReadingThread<UrcuReadSide> {
  ReadingThread() { urcu_memb_register_thread(); }
  ~ReadingThread() { urcu_memb_unregister_thread(); }
};
#endif

}  // namespace telltale::perf
