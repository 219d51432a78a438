// SPDX-License-Identifier: Apache-2.0
#pragma once
// What HTTP/2 sessions obey; changed in place by the worker when configuration changes. Limits hold at once, also on
// open connections; what is announced in SETTINGS is announced anew with a connection's next bytes.
//
// **Thread safety:** loop-bound.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "http2/frame_budget.h"

namespace telltale::http2 {

struct SessionSettings {
  std::uint32_t streams_max = 100;                  // open at a time, on one connection
  std::uint32_t stream_window_bytes = 65535;        // content of one request that may wait here for the origin
  std::uint32_t connection_window_bytes = 1 << 20;  // the same of all requests of a connection; at least 65535
  std::size_t header_list_bytes_max = 32 * 1024;    // names and values, and 32 bytes for each field
  std::size_t fields_max = 100;
  FrameLimits frames;
  std::chrono::seconds keep_alive_max{120};        // without a stream
  std::chrono::seconds request_head_max{30};       // from the first byte of a field block to its last
  std::chrono::seconds client_inactivity_max{30};  // of a stream that waits for its client, in either direction
};

}  // namespace telltale::http2
