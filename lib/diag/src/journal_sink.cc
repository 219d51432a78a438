// SPDX-License-Identifier: Apache-2.0
// See journal_sink.h; tested in journal_sink_test.cc, and against a real journald in tests/e2e/test_journald.py.
#include "journal_sink.h"

#include <unistd.h>

#include <system_error>
#include <utility>

namespace telltale::diag {

tl::expected<std::shared_ptr<JournalSink>, std::string> JournalSink::open(std::string_view socket, std::string identifier,
                                                                             unsigned facility) {
  auto sender = JournalSender::open(socket);
  if (!sender) return tl::unexpected(sender.error());
  return std::make_shared<JournalSink>(std::move(*sender), std::move(identifier), facility);
}

// A forked child has a sink of its own, or none: the number is the process's for good.
JournalSink::JournalSink(JournalSender sender, std::string identifier, unsigned facility)
    : sender_(std::move(sender)), identifier_(std::move(identifier)), facility_(facility), process_(static_cast<std::uint32_t>(::getpid())) {}

bool JournalSink::write(const Entry& e) noexcept try {
  fields_.clear();
  for (const EntryField& field : e.fields) fields_.push_back({field.name, field.value});
  const std::string_view datagram = encoder_.encode({.level = e.level,
                                                     .message = e.message,
                                                     .identifier = identifier_,
                                                     .file = e.file,
                                                     .function = e.function,
                                                     .tag = e.tag,
                                                     .plugin = e.plugin,
                                                     .client = e.client,
                                                     .line = e.line,
                                                     .facility = facility_,
                                                     .process = process_,
                                                     .thread = e.thread_id,
                                                     .transaction = e.transaction,
                                                     .connection = e.connection,
                                                     .fields = fields_});
  return sender_.send(datagram, JournalSender::Clock::now(), e.lost == 0);
} catch (...) {  // out of memory
  if (e.lost == 0) sender_.miss(1);
  return false;
}

void JournalSink::missed(std::uint64_t entries) noexcept { sender_.miss(entries); }

std::string JournalSink::reason() const {
  if (sender_.state() == JournalState::kStalled) return "journald does not read";
  return std::generic_category().message(sender_.error());
}

std::vector<SinkCount> JournalSink::counts() const {
  const JournalCounters& c = sender_.counters();
  return {{"sent", c.sent},       {"memfd", c.memfd},     {"dropped", c.dropped},
          {"absent", c.absent},   {"refused", c.refused}, {"fields dropped", encoder_.fields_dropped()},
          {"unknown levels", encoder_.unknown_levels()}};
}

std::string JournalSink::take_notice() { return sender_.take_notice(JournalSender::Clock::now()).value_or(std::string()); }

}  // namespace telltale::diag
