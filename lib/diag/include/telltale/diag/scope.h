// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scope: for whom this thread is working right now.
//
// Whoever starts working for a connection or a transaction opens a Scope on a Context. No call site
// passes an id: a disabled site never looks here, and an enabled one reads the context through one
// thread-local pointer. The library knows a context as plain numbers, so any server can use it.
//
// Rule for coroutines and callbacks: who suspends captures current_context(), and the one place that
// resumes opens a Scope with it. A Scope may then live across a suspension point: the resumer restores
// what its thread had before.
//
// **Thread safety:** a Context belongs to one thread at a time; Client's cached verdict is atomic.

#include <array>
#include <atomic>
#include <cstdint>

#include <telltale/diag/export.h>

namespace telltale::diag {

// A client's address and, cached, which client filters match it. Owned by whoever owns the connection.
struct Client {
  std::array<std::uint8_t, 16> address{};  // IPv6, or IPv4 as ::ffff:a.b.c.d; network byte order

  // Written and read on the slow path only: the filter set's generation the verdict was made for, and
  // the bit of each filter that matched. Relaxed is enough: a stale pair is recomputed.
  mutable std::atomic<std::uint64_t> generation{0};
  mutable std::atomic<std::uint64_t> matched{0};
  // For which clients_asked() the backend has been told that the connection is this client's. Relaxed: told once
  // more, it is told the same.
  mutable std::atomic<std::uint32_t> told{0};
};

// The ids a record carries. Lives as long as the connection or transaction it describes.
struct Context {
  std::uint64_t connection = 0;    // 0 = none
  std::uint64_t transaction = 0;   // 0 = none
  const Client* client = nullptr;  // null = no client known; client filters then never match. Of one connection
  std::uint32_t plugin = 0;        // number from plugin_number(); 0 = core
  std::uint64_t followed = 0;      // id of the following lease that is on for it; 0 = none
  bool locked_on = false;          // SpecificDbg sites print for this connection or transaction
};

// Initial-exec: one load through the thread pointer. Use current_context() and Scope instead.
extern TELLTALE_EXPORT constinit thread_local const Context* tl_context
    __attribute__((tls_model("initial-exec")));

inline const Context* current_context() noexcept { return tl_context; }

// Sets the thread's context for its own lifetime and restores the former one. Cost: two stores.
class Scope {
 public:
  explicit Scope(const Context* context) noexcept : former_(tl_context) { tl_context = context; }
  ~Scope() { tl_context = former_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const Context* former_;
};

}  // namespace telltale::diag
