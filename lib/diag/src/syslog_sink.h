// SPDX-License-Identifier: Apache-2.0
#pragma once
// SyslogSink: entries to the local syslog daemon, each a datagram of RFC 5424. Never by way of libc's syslog(), which
// blocks its caller, and every other one behind a lock.
//
//   <31>1 2026-11-30T10:00:00.123456Z host telltale 4711 http [telltale@32473 thread="worker-0" tid="4712"
//    file="http1/session.cc" line="95" function="run" conn="12" txn="345" plugin="header_note" client="192.0.2.1"]
//    [fields@32473 status="200"] the message
//
// one line, with single spaces. The tag is the MSGID; PROCID is the process; what is not known is left out, or "-" in
// the header. An entry that tells of a loss has lost="n" among the first ones. 32473 is the number that RFC 5612 keeps
// for whoever has none. Values have `"`, `\` and `]` behind a backslash. Of a field's name what may not stand there
// becomes "_", and 32 bytes are kept. The message is UTF-8 without a byte order mark, on one line: a record of several has
// `\n` between them.
//
// | the level is | DEBUG | STATUS | NOTE | WARNING | ERROR | FATAL | ALERT | EMERGENCY |
// | severity     | 7     | 6      | 5    | 4       | 3     | 2     | 1     | 0         |
//
// A datagram has kBytesMax at most: fields that do not fit into half of it are left out and counted (dropped="n" among
// the first ones), and a longer message ends in "...[+N bytes]".
//
// **Thread safety:** thread-compatible; used by the backend. Cost: a system call an entry; as JournalSender.
// **Source:** RFC 5424.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include <telltale/diag/entry.h>

#include "journal_sender.h"
#include "line.h"

namespace telltale::diag {

class SyslogEncoder {
 public:
  static constexpr std::size_t kBytesMax = 64 * 1024;

  // `facility`: 0 to 23. What may not stand in the header's names becomes "_".
  SyslogEncoder(unsigned facility, std::string_view host, std::string_view identifier, unsigned process);
  // Valid until the next call.
  std::string_view encode(const Entry& entry);

 private:
  void put_data(const Entry& entry);
  std::size_t put_fields(const Entry& entry);
  void put_message(std::string_view message);

  const unsigned facility_;
  std::string names_;  // " host identifier process "
  LineWriter lines_;   // for the time
  std::string out_, fields_, one_line_;
};

class SyslogSink : public EntrySink {
 public:
  // Of this process. Errors: as JournalSender::open().
  static tl::expected<std::shared_ptr<SyslogSink>, std::string> open(std::string_view socket, std::string_view identifier,
                                                                     unsigned facility);
  SyslogSink(JournalSender sender, SyslogEncoder encoder) : sender_(std::move(sender)), encoder_(std::move(encoder)) {}

  bool write(const Entry& entry) noexcept override;
  void missed(std::uint64_t entries) noexcept override { sender_.miss(entries); }
  std::string reason() const override;
  std::vector<SinkCount> counts() const override;
  std::string take_notice() override { return sender_.take_notice(JournalSender::Clock::now()).value_or(std::string()); }

 private:
  JournalSender sender_;
  SyslogEncoder encoder_;
};

}  // namespace telltale::diag
