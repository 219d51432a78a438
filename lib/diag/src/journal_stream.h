// SPDX-License-Identifier: Apache-2.0
#pragma once
// JOURNAL_STREAM: how a service learns that its stderr is a stream to the journal.
//
// A service manager sets it to the device and inode number of the stream, "8:4711". What it says is true of a
// descriptor only if fstat() says the same: a child may have stderr led elsewhere and keep its environment.
//
// **Thread safety:** immutable.
// **Source:** systemd.exec(5).

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale::diag {

struct JournalStream {
  std::uint64_t device = 0, inode = 0;
  friend bool operator==(const JournalStream&, const JournalStream&) = default;
};

// Nothing: it is malformed.
std::optional<JournalStream> parse_journal_stream(std::string_view text) noexcept;
// Whether the descriptor is that stream.
bool is_journal_stream(int fd, const JournalStream& stream) noexcept;

// Whether stderr is the stream that JOURNAL_STREAM of this process's environment names. What is malformed is noted, once.
bool stderr_is_journal_stream();

}  // namespace telltale::diag
