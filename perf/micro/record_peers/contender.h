// SPDX-License-Identifier: Apache-2.0
#pragma once
// Contenders: ways from an enabled line to a file, each driven by the same code. Every line has an int, a
// string of 20 bytes and a double.
//
//   telltale    Dbg(); the library's ring, backend and log file, escaping and rolling
//   reference   the least that such a ring can do: a time stamp, the arguments copied, one store that publishes
//               them; a thread that reads and throws away. It formats nothing and has no file
//   spdlog      its asynchronous logger, whose queue blocks when it is full, with the same fields in a line

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

inline constexpr int kBatch = 20;
inline constexpr int kHosts = 64;
inline constexpr int kProducerShift = 24;  // an id: which producer, and the number of its line

struct Contender {
  const char* name;
  void (*open)(const std::string& path);   // lines go to this new file from now on, and to rolled ones beside it
  void (*batch)(int id);                   // kBatch lines, ids from this one on
  void (*lines)(int id, int count);        // likewise, and none is lost: waits for room. null: has no file
  void (*close)();                         // returns when all lines are in the file
  std::uint64_t (*lost)();                 // lines, so far
};

Contender telltale_lines();
Contender reference_lines();
#if defined(TELLTALE_HAVE_SPDLOG)
Contender spdlog_lines();
#endif

// 20 bytes, "host-007.example.com" for 7 and 71. The size is known where it is used, as that of a literal is.
inline constexpr std::size_t kHostBytes = 20;
extern const std::array<char[kHostBytes + 1], kHosts>& hosts;
inline std::string_view host(int id) noexcept { return {hosts[static_cast<std::size_t>(id) % kHosts], kHostBytes}; }
inline double took(int id) noexcept { return id * 0.001; }

}  // namespace bench
