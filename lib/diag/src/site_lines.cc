// SPDX-License-Identifier: Apache-2.0
// See site_lines.h.
#include "site_lines.h"

#include <new>

#include "last_lines.h"
#include "record_origin.h"
#include "site_dictionary.h"

namespace telltale::diag {

namespace {

constexpr std::size_t kGatheredBytesMax = 32 * 1024;

// Only the backend writes these: no locked instruction.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

}  // namespace

SiteLines::Known* SiteLines::known(std::uint32_t site, Level level, ShowLocation show) {
  if (site < by_site_.size() && by_site_[site] != nullptr && by_site_[site]->line.is_for(level, show)) [[likely]] {
    return by_site_[site].get();
  }
  const SiteEntry* entry = site_by_number(site);
  if (entry == nullptr) return nullptr;
  tell();  // of what is replaced
  if (site >= by_site_.size()) by_site_.resize(site + std::size_t{64});
  by_site_[site].reset(new Known{SiteLine(origin_of(*entry), level, show), entry->history});
  return by_site_[site].get();
}

std::string_view SiteLines::line(const LineHead& head, const RecordHeader& header, const char* record, ShowLocation show) {
  if (lines_.size() >= kGatheredBytesMax) tell();
  of_last_ = known(header.site, header.level, show);
  last_at_ = lines_.size();
  RecordReader arguments(record, header);
  if (of_last_ != nullptr) {
    of_last_->line.append(lines_, writer_, head, arguments);
  } else {
    LineHead whole = head;
    whole.origin = read_origin(header, arguments);
    const std::string_view text = writer_.text(whole.origin.format, arguments);
    writer_.append(lines_, whole, show, text, writer_.lines_bytes());
  }
  return lines_.from(last_at_);
}

void SiteLines::count() {
  if (of_last_ == nullptr) return;
  if (of_last_->lines == 0) counted_.push_back(of_last_);
  of_last_->last_at = last_at_;
  of_last_->last_bytes = lines_.size() - last_at_;
  of_last_->bytes += of_last_->last_bytes;
  ++of_last_->lines;
}

void SiteLines::tell() {
  for (Known* site : counted_) {
    add(site->history->lines, site->lines);
    add(site->history->bytes, site->bytes);
    site->lines = site->bytes = 0;
    try {
      keep_last_line(site->history->number, lines_.view().substr(site->last_at, site->last_bytes));
    } catch (const std::bad_alloc&) {  // the list shows the one before
    }
  }
  counted_.clear();
  lines_.clear();
  of_last_ = nullptr;
}

}  // namespace telltale::diag
