// SPDX-License-Identifier: Apache-2.0
#pragma once
// JournalSender: hands entries to systemd-journald, and outlives it. A syslog daemon's datagram socket is served by it too
// (syslog_sink.h), without memfds.
//
// A datagram socket that is not connected: each entry is sent to the path, so a journald that comes back is met by the
// next one. An entry too large for a datagram goes as a sealed memfd.
//
// | send() meets            | counted as       | state    | and then                                                     |
// | taken                   | sent             | taken    |                                                              |
// | EMSGSIZE, ENOBUFS       | sent, memfd      | taken    | sent again as a memfd                                        |
// | no socket: ENOENT       | dropped, absent  | absent   | not tried for kBackOff; until then likewise                  |
// | ECONNREFUSED, EPERM     | dropped, refused | refused  | likewise                                                     |
// | queue full: EAGAIN      | dropped          | stalled  | kPatience was waited for once; from then on it is not,       |
// |                         |                  |          | until an entry is taken                                      |
// | anything else           | dropped          | failing  | the next entry is tried                                      |
//
// sent + dropped = calls of send(), and what miss() was told of. A change of state is told once (take_notice()); where it changes to and fro, once a
// second at most.
//
// **Thread safety:** thread-compatible. Cost: a system call an entry, no allocation; blocks for kPatience at most.

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "unique_fd.h"

namespace telltale::diag {

inline constexpr std::string_view kJournalSocket = "/run/systemd/journal/socket";

enum class JournalState : std::uint8_t { kTaken, kAbsent, kRefused, kStalled, kFailing };

struct JournalCounters {
  std::uint64_t sent = 0;
  std::uint64_t memfd = 0;    // of these, as a memfd
  std::uint64_t dropped = 0;  // not sent, for whatever reason
  std::uint64_t absent = 0, refused = 0;  // of these
};

class JournalSender {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPatience{200};
  static constexpr std::chrono::milliseconds kBackOff{500};  // so that it is met within a second of its return
  static constexpr std::chrono::milliseconds kNoticeEvery{1000};

  // Who listens: its name for readers, and whether it takes a memfd instead of an entry too large for a datagram.
  struct Receiver {
    const char* name = "journald";
    bool takes_memfd = true;
  };
  // Does not look whether anybody is there. Errors: the path cannot be one of a socket (with the reason), or there is no
  // descriptor left.
  static tl::expected<JournalSender, std::string> open(std::string_view path) { return open(path, Receiver{}); }
  static tl::expected<JournalSender, std::string> open(std::string_view path, Receiver receiver);

  // True: taken. `entry` is not empty; `now` is when the call is made; `counted`: it is one of those that the counters are
  // about, and not the sender's own word on others.
  bool send(std::string_view entry, Clock::time_point now, bool counted = true) noexcept;
  // Of entries for which there was no call. They are dropped for the reason that the last one was dropped for.
  void miss(std::uint64_t entries) noexcept;

  // 0, or the errno of an entry without content, which journald leaves out: whether it is there.
  int probe() noexcept { return try_once({}, MSG_DONTWAIT); }

  JournalState state() const noexcept { return state_; }
  int error() const noexcept { return error_; }  // errno of the last send() that returned false
  const JournalCounters& counters() const noexcept { return counters_; }
  const std::string& path() const noexcept { return path_; }
  // What the caller has to tell, to other sinks, if anything.
  std::optional<std::string> take_notice(Clock::time_point now);

 private:
  JournalSender(UniqueFd socket, std::string path, const sockaddr_un& address, Receiver receiver) noexcept
      : socket_(std::move(socket)), path_(std::move(path)), address_(address), receiver_(receiver) {}

  int try_once(std::string_view entry, int flags) noexcept;
  int try_patiently(std::string_view entry) noexcept;
  int send_as_memfd(std::string_view entry) noexcept;
  int hand_over(int memfd, int flags) noexcept;
  void set_back(int error, Clock::time_point now) noexcept;

  UniqueFd socket_;
  std::string path_;
  sockaddr_un address_;
  Receiver receiver_;
  JournalState state_ = JournalState::kTaken;
  int error_ = 0;
  Clock::time_point again_{};  // not tried before
  JournalCounters counters_;
  JournalState told_ = JournalState::kTaken;
  Clock::time_point told_at_{};
  std::uint64_t dropped_when_told_ = 0;
};

}  // namespace telltale::diag
