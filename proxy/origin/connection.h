// SPDX-License-Identifier: Apache-2.0
#pragma once
// One HTTP/1.1 connection to an origin: the stream, what was received on it, and the parsers of responses.
// Lives in the pool between exchanges and in a fetch during one.
//
// **Thread safety:** loop-bound.

#include <cstdint>
#include <memory>
#include <string>

#include "http1/content_reader.h"
#include "http1/head_parser.h"
#include "http1/input_buffer.h"
#include "net/clock.h"
#include "net/stream.h"

namespace telltale::origin {

// Where requests go; what a pool is keyed by.
struct Authority {
  std::string host;  // lower case; an IPv6 address without brackets
  std::uint16_t port;
  friend bool operator==(const Authority&, const Authority&) = default;
};

class Connection {
 public:
  Connection(std::unique_ptr<net::Stream> s, http1::BlockPool& blocks, std::uint64_t number)
      : stream(std::move(s)), input(blocks), content(*stream, input), id(number) {}

  // False: the origin has closed it, or sent something nobody asked for. Cost: one system call.
  bool usable() const noexcept;

  const std::unique_ptr<net::Stream> stream;
  http1::InputBuffer input;
  http1::ResponseHeadParser parser;
  http1::ContentReader content;
  const std::uint64_t id;
  std::uint64_t exchanges = 0;     // begun on it
  net::SteadyTime idle_since{};    // while it is pooled
};

}  // namespace telltale::origin
