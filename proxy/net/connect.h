// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens a connection to one address.
//
// **Thread safety:** loop-bound.

#include <cstdint>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "net/clock.h"
#include "net/endpoint.h"
#include "net/stream.h"
#include "net/task.h"

namespace telltale::net {

class Worker;

struct ConnectFailure {
  enum Kind : std::uint8_t {
    kRefused,      // nobody listens there
    kTimeout,      // no answer before the deadline, or the kernel gave up
    kUnreachable,  // no route, or the network says so
    kShutdown,     // the worker is stopping
    kLocal,        // we are out of descriptors, ports or memory
    kOther,
  };
  Kind kind;
  int error;  // errno; 0 for kShutdown and a deadline

  // "Connection refused"
  [[nodiscard]] std::string text() const;
};

// The stream has TCP_NODELAY and no deadline. Resolution of the deadline: the worker's tick.
[[nodiscard]] Task<tl::expected<std::unique_ptr<Stream>, ConnectFailure>> connect(Worker& worker, Endpoint to,
                                                                                  SteadyTime deadline);

}  // namespace telltale::net
