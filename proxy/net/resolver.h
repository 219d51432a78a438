// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a host name to addresses. Literal addresses are answered at once; names go to getaddrinfo(3), which blocks, on
// a few threads of the Resolver's own. Not Asio's resolver: that has one thread a loop, so one slow name holds up all
// others, and a worker that ends waits for it. No cache: the origin side keeps what it needs.
//
// **Thread safety:** thread-safe; each resolve() is loop-bound to its worker.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "net/clock.h"
#include "net/endpoint.h"
#include "net/task.h"

struct addrinfo;

namespace telltale::net {

class Worker;

struct ResolveFailure {
  enum Kind : std::uint8_t {
    kNotFound,    // the name does not exist or has no address
    kTemporary,   // a name server failed or did not answer
    kTimeout,     // the deadline passed first
    kOverloaded,  // too many look-ups wait
    kShutdown,    // the worker is stopping
  };
  Kind kind;
  std::string text;  // for people: "Name or service not known"
};

using ResolveResult = tl::expected<std::vector<Endpoint>, ResolveFailure>;

class Resolver {
 public:
  struct Options {
    std::size_t threads_max = 4;     // started when needed
    std::size_t waiting_max = 1024;  // look-ups that no thread has taken yet
    // getaddrinfo(3), or what a test puts in its place.
    std::function<int(const char*, const char*, const addrinfo*, addrinfo**)> getaddrinfo;
  };

  Resolver();
  explicit Resolver(Options options);
  // Waits for nothing: a thread in the middle of a look-up ends after it.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // At least one endpoint, in the order of preference (RFC 6724), or a failure.
  // Resolution of the deadline: the worker's tick. REQUIRES: the worker outlives the task.
  [[nodiscard]] Task<ResolveResult> resolve(Worker& worker, std::string host, std::uint16_t port, SteadyTime deadline);

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the threads, which may outlive this
};

// With the process's own resolver.
[[nodiscard]] Task<ResolveResult> resolve(Worker& worker, std::string host, std::uint16_t port, SteadyTime deadline);

}  // namespace telltale::net
