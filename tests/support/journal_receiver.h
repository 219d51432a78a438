// SPDX-License-Identifier: Apache-2.0
#pragma once
// JournalReceiver: stands where journald would, and is stricter.
//
// journald forgives: it leaves out fields whose name it does not like, keeps what came before a torn end, ignores what it
// cannot use, and says so to nobody. What is sent to it must not need that, so here each of these is an error with a
// sentence.
//
// **Thread safety:** thread-compatible.
// **Source:** systemd's "Native Journal Protocol".

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace telltale::test {

struct JournalEntry {
  std::vector<std::pair<std::string, std::string>> fields;  // in order

  std::vector<std::string> values(std::string_view name) const;
  // Of a field that stands there once; else a text that no field has.
  std::string value(std::string_view name) const;
};

// All entries of a datagram, or of a memfd's content. Refused: a name that is no name, a line without '=', a length that
// does not fit, a torn end, more than 1024 fields, no MESSAGE, a PRIORITY that is none, a field twice that has a meaning
// to journald or to us.
tl::expected<std::vector<JournalEntry>, std::string> parse_journal(std::string_view bytes);

class JournalReceiver {
 public:
  // Listens at `path`, in place of what lies there. REQUIRES: it can; else the test ends with an exception.
  explicit JournalReceiver(std::string path);
  ~JournalReceiver();  // leaves the path, as a journald that was killed does
  JournalReceiver(const JournalReceiver&) = delete;
  JournalReceiver& operator=(const JournalReceiver&) = delete;

  // What has come until now, without waiting, parsed; of one datagram. Errors: nothing has come, or what came is refused.
  tl::expected<std::vector<JournalEntry>, std::string> take();
  // The same, as bytes.
  tl::expected<std::string, std::string> take_bytes();

  bool last_was_memfd() const noexcept { return last_was_memfd_; }
  std::uint32_t last_sender() const noexcept { return last_sender_; }  // its process, by the kernel

 private:
  int fd_;
  std::string path_;
  std::string buffer_;
  bool last_was_memfd_ = false;
  std::uint32_t last_sender_ = 0;
};

}  // namespace telltale::test
