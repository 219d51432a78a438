// SPDX-License-Identifier: Apache-2.0
// The backend's thread: how it starts, and what fork() and exit() mean to it.
//
// fork(): the handlers hold our mutexes across it, so that the child's copies are consistent. The
// child has no backend and none of the parent's records: its rings are unmapped, its log file is closed,
// the objects of the parent's backend are left alone. Its own lines gather in rings of its own, and go
// out if it configures output itself.
//
// exit(): a destructor of the library, which runs after those of everything that is linked with it,
// waits up to a second for what is queued. A process that never configured output gets its lines on
// stderr then, rather than not at all.
#include <pthread.h>
#include <signal.h>

#include <chrono>

#include <telltale/diag/throttle.h>

#include "backend.h"
#include "capture_hold.h"
#include "capture_line.h"
#include "last_lines.h"
#include "plugin_names.h"
#include "recorder_files.h"
#include "ring_table.h"
#include "throttle.h"
#include "ticks.h"

namespace telltale::diag {

namespace {

using namespace std::chrono_literals;

// Guarded by OutputControl's mutex; never destroyed.
constinit Backend* backend = nullptr;
constinit Backend* backend_of_parent = nullptr;  // in a forked child: left alone

void* run(void* it) {
  pthread_setname_np(pthread_self(), "telltale-diag");
  static_cast<Backend*>(it)->run();
  return nullptr;
}

void before_fork() {
  output_control().lock();
  ring_table().lock();
  lock_plugin_names();
  lock_last_lines();
  lock_held();
  lock_capture();
  recorder_files().lock();
}

void after_fork_in_parent() {
  recorder_files().unlock();
  unlock_capture();
  unlock_held();
  unlock_last_lines();
  unlock_plugin_names();
  ring_table().unlock();
  output_control().unlock();
}

void after_fork_in_child() {
  if (backend != nullptr) {
    backend->abandon();
    backend_of_parent = backend;
  }
  backend = nullptr;
  recorder_files().forget();
  ring_table().forget();
  output_control().forget();
  forget_held_back();
  after_fork_in_parent();
}

[[gnu::constructor]] void watch_forks() { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

[[gnu::destructor]] void last_lines() {
  OutputControl& control = output_control();
  if (!control.ever_started()) {
    if (control.forked() || ring_table().records() + ring_table().drops() == 0 || !control.start()) return;
  }
  tell_held_back();
  // Whoever stopped it has waited as long as that was worth; a second wait for the same sink would add to it.
  if (!control.stop_waits()) flush_output(1s);
}

}  // namespace

// No signal of the process is for this thread: handlers would run in it, and SIGPIPE would end the
// process over a closed stderr. Faults of its own still reach whoever handles them.
bool start_backend_thread() {
  choose_ticks();
  if (backend == nullptr) backend = new Backend;
  sigset_t all, former;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  bool made = pthread_create(&thread, &detached, run, backend) == 0;
  pthread_attr_destroy(&detached);
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return made;
}

}  // namespace telltale::diag
