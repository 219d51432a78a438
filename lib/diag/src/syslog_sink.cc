// SPDX-License-Identifier: Apache-2.0
// See syslog_sink.h; tested in syslog_sink_test.cc, and against a real rsyslogd in tests/e2e/test_syslog.py.
#include "syslog_sink.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

namespace telltale::diag {

namespace {

constexpr std::array<unsigned, kLevels> kSeverities{7, 6, 5, 4, 3, 2, 1, 0};
constexpr std::size_t kNameBytesMax = 32, kMsgIdBytesMax = 32, kIdentifierBytesMax = 48, kHostBytesMax = 255;

// PRINTUSASCII, "-" where there is nothing.
void put_name(std::string& out, std::string_view name, std::size_t bytes_max) {
  if (name.empty()) out += '-';
  for (char c : name.substr(0, bytes_max)) out += c > ' ' && c <= '~' ? c : '_';
}

void put_param_name(std::string& out, std::string_view name) {
  if (name.empty()) out += '_';
  for (char c : name.substr(0, kNameBytesMax)) out += c > ' ' && c <= '~' && c != '=' && c != ']' && c != '"' ? c : '_';
}

void put_param_value(std::string& out, std::string_view value) {
  out += "=\"";
  for (char c : value) {
    if (c == '"' || c == '\\' || c == ']') out += '\\';
    out += c;
  }
  out += '"';
}

void put_param(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out.append(" ").append(name);
  put_param_value(out, value);
}

void put_param(std::string& out, std::string_view name, std::uint64_t value) {
  if (value == 0) return;
  const fmt::format_int digits(value);
  put_param(out, name, {digits.data(), digits.size()});
}

// At most `most` bytes, and no part of a UTF-8 sequence at the end.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string host_name() {
  char name[kHostBytesMax + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
}

}  // namespace

SyslogEncoder::SyslogEncoder(unsigned facility, std::string_view host, std::string_view identifier, unsigned process)
    : facility_(facility) {
  names_ += ' ';
  put_name(names_, host, kHostBytesMax);
  names_ += ' ';
  put_name(names_, identifier, kIdentifierBytesMax);
  names_ += fmt::format(" {} ", process);
}

std::string_view SyslogEncoder::encode(const Entry& entry) {
  out_.clear();
  const unsigned severity = kSeverities[static_cast<std::size_t>(entry.level) % kLevels];
  const fmt::format_int priority(facility_ * 8 + severity);
  out_.append("<").append(priority.data(), priority.size()).append(">1 ");
  lines_.append_time(out_, entry.wall_ns);
  out_ += names_;
  put_name(out_, entry.tag, kMsgIdBytesMax);
  out_ += ' ';
  put_data(entry);
  put_message(entry.message);
  return out_;
}

void SyslogEncoder::put_data(const Entry& e) {
  const std::size_t left_out = put_fields(e);
  out_ += "[telltale@32473";
  put_param(out_, "thread", e.thread);
  put_param(out_, "tid", e.thread_id);
  put_param(out_, "file", cut(e.file, kHostBytesMax));
  put_param(out_, "line", e.line);
  put_param(out_, "function", cut(e.function, kHostBytesMax));
  put_param(out_, "module", cut(e.module, kHostBytesMax));
  put_param(out_, "conn", e.connection);
  put_param(out_, "txn", e.transaction);
  put_param(out_, "plugin", cut(e.plugin, kHostBytesMax));
  put_param(out_, "client", cut(e.client, kHostBytesMax));
  put_param(out_, "lost", e.lost);
  put_param(out_, "dropped", left_out);
  out_ += ']';
  if (fields_.empty()) return;
  out_.append("[fields@32473").append(fields_).append("]");
}

// Into fields_. Returns how many there was no room for.
std::size_t SyslogEncoder::put_fields(const Entry& e) {
  fields_.clear();
  std::size_t left_out = 0;
  for (const EntryField& field : e.fields) {
    const std::size_t before = fields_.size();
    fields_ += ' ';
    put_param_name(fields_, field.name);
    put_param_value(fields_, field.value);
    if (fields_.size() <= kBytesMax / 2) continue;
    fields_.resize(before);
    ++left_out;
  }
  return left_out;
}

void SyslogEncoder::put_message(std::string_view message) {
  if (message.empty()) return;
  if (message.find('\n') != std::string_view::npos) {
    one_line_.clear();
    for (char c : message) c == '\n' ? one_line_ += "\\n" : one_line_ += c;
    message = one_line_;
  }
  out_ += ' ';
  if (out_.size() + message.size() <= kBytesMax) {
    out_ += message;
    return;
  }
  constexpr std::size_t kMarkBytes = 40;
  const std::string_view kept = cut(message, kBytesMax - kMarkBytes - std::min(out_.size(), kBytesMax - kMarkBytes));
  out_ += kept;
  fmt::format_to(std::back_inserter(out_), "...[+{} bytes]", message.size() - kept.size());
}

tl::expected<std::shared_ptr<SyslogSink>, std::string> SyslogSink::open(std::string_view socket, std::string_view identifier,
                                                                        unsigned facility) {
  if (facility > 23) return tl::unexpected(fmt::format("syslog's facility {} is out of range; expected 0 to 23", facility));
  auto sender = JournalSender::open(socket, {"syslog", false});
  if (!sender) return tl::unexpected(sender.error());
  return std::make_shared<SyslogSink>(std::move(*sender),
                                      SyslogEncoder(facility, host_name(), identifier, static_cast<unsigned>(::getpid())));
}

bool SyslogSink::write(const Entry& entry) noexcept try {
  return sender_.send(encoder_.encode(entry), JournalSender::Clock::now(), entry.lost == 0);
} catch (...) {  // out of memory
  if (entry.lost == 0) sender_.miss(1);
  return false;
}

std::string SyslogSink::reason() const {
  if (sender_.state() == JournalState::kStalled) return "nobody reads it";
  return std::generic_category().message(sender_.error());
}

std::vector<SinkCount> SyslogSink::counts() const {
  const JournalCounters& c = sender_.counters();
  return {{"sent", c.sent}, {"dropped", c.dropped}, {"absent", c.absent}, {"refused", c.refused}};
}

}  // namespace telltale::diag
