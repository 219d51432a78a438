// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <algorithm>
#include <cstring>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>
#include <telltale/diag/dbg.h>

#include "net/gate.h"
#include "net/worker.h"

namespace telltale::net {
namespace {

constexpr DbgCtl dns_dbg{"dns"};
constexpr std::size_t kHostBytesMax = 253;  // RFC 1035 in text form

// One look-up, shared by the coroutine that asked and the thread that answers, whichever ends last. The answer is
// written before `worker` is told (post() orders the two).
struct Lookup {
  std::string host;
  std::uint16_t port = 0;

  std::mutex lock;
  Worker* worker = nullptr;  // guarded by lock; null once nobody asks any more

  Gate* gate = nullptr;  // the worker's; null once nobody waits
  ResolveResult result;
};

ResolveResult answer_of(int error, const addrinfo* list, std::uint16_t port) {
  if (error != 0) {
    const bool temporary = error == EAI_AGAIN || error == EAI_SYSTEM || error == EAI_MEMORY;
    return tl::make_unexpected(
        ResolveFailure{temporary ? ResolveFailure::kTemporary : ResolveFailure::kNotFound, ::gai_strerror(error)});
  }
  std::vector<Endpoint> endpoints;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    sockaddr_storage address{};
    std::memcpy(&address, entry->ai_addr, std::min<std::size_t>(entry->ai_addrlen, sizeof address));
    const auto endpoint = Endpoint::from_sockaddr(address);
    if (endpoint && std::find(endpoints.begin(), endpoints.end(), endpoint->with_port(port)) == endpoints.end()) {
      endpoints.push_back(endpoint->with_port(port));
    }
  }
  if (endpoints.empty()) {
    return tl::make_unexpected(ResolveFailure{ResolveFailure::kNotFound, "the name has no IP address"});
  }
  return endpoints;
}

}  // namespace

struct Resolver::State {
  Options options;  // constant after construction

  std::mutex lock;
  std::condition_variable wake;
  // Guarded by lock.
  std::deque<std::shared_ptr<Lookup>> waiting;
  std::size_t threads = 0;
  std::size_t idle_threads = 0;
  bool closed = false;

  void serve();
  void look_up(Lookup& lookup) const;
};

void Resolver::State::serve() {
  ::pthread_setname_np(::pthread_self(), "resolver");
  std::unique_lock guard(lock);
  for (;;) {
    ++idle_threads;
    wake.wait(guard, [this] { return closed || !waiting.empty(); });
    --idle_threads;
    if (closed) {
      return;
    }
    const std::shared_ptr<Lookup> lookup = std::move(waiting.front());
    waiting.pop_front();
    guard.unlock();
    look_up(*lookup);
    {
      const std::lock_guard asked(lookup->lock);
      if (lookup->worker != nullptr) {
        lookup->worker->post([lookup] {
          if (lookup->gate != nullptr) {
            lookup->gate->open();
          }
        });
      }
    }
    guard.lock();
  }
}

void Resolver::State::look_up(Lookup& lookup) const {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = options.getaddrinfo(lookup.host.c_str(), nullptr, &hints, &list);
  lookup.result = answer_of(error, list, lookup.port);
  if (error == 0) {
    ::freeaddrinfo(list);
  }
}

Resolver::Resolver() : Resolver(Options{}) {}

Resolver::Resolver(Options options) : state_(std::make_shared<State>()) {
  if (!options.getaddrinfo) {
    options.getaddrinfo = ::getaddrinfo;
  }
  state_->options = std::move(options);
}

Resolver::~Resolver() {
  const std::lock_guard guard(state_->lock);
  state_->closed = true;
  state_->wake.notify_all();
}

Task<ResolveResult> Resolver::resolve(Worker& worker, std::string host, std::uint16_t port, SteadyTime deadline) {
  if (const auto literal = Endpoint::from_literal(host, port)) {
    co_return std::vector<Endpoint>{*literal};
  }
  if (host.empty() || host.size() > kHostBytesMax || host.find('\0') != std::string::npos) {
    co_return tl::make_unexpected(ResolveFailure{ResolveFailure::kNotFound, "not a host name"});
  }
  Gate gate(worker);
  const auto lookup = std::make_shared<Lookup>();
  lookup->host = host;
  lookup->port = port;
  lookup->worker = &worker;
  lookup->gate = &gate;
  {
    const std::lock_guard guard(state_->lock);
    if (state_->waiting.size() >= state_->options.waiting_max) {
      Dbg(dns_dbg, "not looking up {}: {} look-ups wait", host, state_->waiting.size());
      co_return tl::make_unexpected(ResolveFailure{ResolveFailure::kOverloaded, "too many look-ups wait"});
    }
    if (state_->idle_threads <= state_->waiting.size() && state_->threads < state_->options.threads_max) {
      try {
        std::thread([state = state_] { state->serve(); }).detach();
        ++state_->threads;
      } catch (const std::system_error& error) {
        if (state_->threads == 0) {
          co_return tl::make_unexpected(ResolveFailure{ResolveFailure::kOverloaded, error.what()});
        }
      }
    }
    state_->waiting.push_back(lookup);
    state_->wake.notify_one();
  }
  const Wake wake = co_await gate.wait(deadline);
  if (wake != Wake::kReady) {
    lookup->gate = nullptr;
    const std::lock_guard asked(lookup->lock);
    lookup->worker = nullptr;
    Dbg(dns_dbg, "look-up of {} given up", host);
    co_return tl::make_unexpected(wake == Wake::kTimeout
                                      ? ResolveFailure{ResolveFailure::kTimeout, "no answer in time"}
                                      : ResolveFailure{ResolveFailure::kShutdown, "the worker is stopping"});
  }
  if (!lookup->result) {
    Dbg(dns_dbg, "look-up of {} failed: {}", host, lookup->result.error().text);
  } else {
    Dbg(dns_dbg, "{} is {}, the first of {} addresses", host, lookup->result->front(), lookup->result->size());
  }
  co_return std::move(lookup->result);
}

Task<ResolveResult> resolve(Worker& worker, std::string host, std::uint16_t port, SteadyTime deadline) {
  static Resolver* const resolver = new Resolver;  // never destroyed: a look-up may be under way at exit
  return resolver->resolve(worker, std::move(host), port, deadline);
}

}  // namespace telltale::net
