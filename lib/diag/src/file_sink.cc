// SPDX-License-Identifier: Apache-2.0
// See file_sink.h.
#include "file_sink.h"

#include <algorithm>

#include <fmt/format.h>

#include "move_file.h"

namespace telltale::diag {

using namespace std::chrono;

std::optional<system_clock::time_point> LineFile::first_entry(std::string_view bytes) const {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd", kLine = "[", kJson = "{\"time\":\"";
  if (!bytes.starts_with(kLine) && !bytes.starts_with(kJson)) return std::nullopt;
  bytes.remove_prefix(bytes[0] == '[' ? kLine.size() : kJson.size());
  if (bytes.size() < kForm.size()) return std::nullopt;
  int fields[6] = {};
  std::size_t field = 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    bool digit = bytes[i] >= '0' && bytes[i] <= '9';
    if (kForm[i] == 'd' ? !digit : bytes[i] != kForm[i]) return std::nullopt;
    if (digit) {
      fields[field] = fields[field] * 10 + (bytes[i] - '0');
    } else {
      ++field;
    }
  }
  year_month_day date{year(fields[0]), month(static_cast<unsigned>(fields[1])), day(static_cast<unsigned>(fields[2]))};
  if (!date.ok()) return std::nullopt;
  return sys_days(date) + hours(fields[3]) + minutes(fields[4]) + seconds(fields[5]);
}

tl::expected<std::unique_ptr<FileSink>, std::string> FileSink::open(const std::string& path, const RollSettings& settings) {
  auto fd = open_to_append(path);
  if (!fd) return tl::unexpected(fmt::format("log file {} cannot be opened: {}", path, error_text(fd.error())));
  return std::make_unique<FileSink>(path, *fd, settings);
}

std::uint64_t FileSink::write(std::string_view lines, FileTime now) noexcept {
  if (lines.empty()) return 0;
  if (torn_ && file_.append_to(generation_, "\n") == 1) torn_ = false;
  if (torn_ && generation_ == file_.generation() && file_.fd() >= 0) {
    return static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
  }
  std::size_t done = file_.append(lines, now);
  if (done > 0 || generation_ != file_.generation()) {
    torn_ = done > 0 && lines[done - 1] != '\n';
    generation_ = file_.generation();
  }
  if (done == lines.size()) return 0;
  std::string_view rest = lines.substr(done);
  return static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '\n'));
}

}  // namespace telltale::diag
