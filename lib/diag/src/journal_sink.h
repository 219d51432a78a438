// SPDX-License-Identifier: Apache-2.0
#pragma once
// JournalSink: the place entries go to that is systemd-journald: an encoder, a sender, and what becomes of an entry's parts.
//
// **Thread safety:** thread-compatible; used by the backend.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/entry.h>

#include "journal_encoder.h"
#include "journal_sender.h"

namespace telltale::diag {

class JournalSink : public EntrySink {
 public:
  // `identifier`: whose entries they are (SYSLOG_IDENTIFIER). `facility`: RFC 5424's number. Errors: as JournalSender::open().
  static tl::expected<std::shared_ptr<JournalSink>, std::string> open(std::string_view socket, std::string identifier, unsigned facility);
  JournalSink(JournalSender sender, std::string identifier, unsigned facility);

  // Whether a journald would take an entry now.
  bool is_there() noexcept { return sender_.probe() == 0; }

  bool write(const Entry& entry) noexcept override;
  void missed(std::uint64_t entries) noexcept override;
  std::string reason() const override;
  std::vector<SinkCount> counts() const override;
  std::string take_notice() override;

 private:
  JournalSender sender_;
  JournalEncoder encoder_;
  const std::string identifier_;
  const unsigned facility_;
  const std::uint32_t process_;
  std::vector<JournalField> fields_;  // of the last entry; kept for its room
};

}  // namespace telltale::diag
