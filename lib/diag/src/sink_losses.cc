// SPDX-License-Identifier: Apache-2.0
#include "sink_losses.h"

#include "record_log_line.h"
#include "site_dictionary.h"
#include "tag_table.h"

namespace telltale::diag {

void SinkLosses::add(std::string_view sink, std::string_view thread, LineOrigin line) {
  changed_ = true;
  std::uint32_t tag = line.number & ~LineOrigin::kTag;
  if ((line.number & LineOrigin::kTag) == 0) {
    const SiteEntry* site = site_by_number(line.number);
    tag = site == nullptr ? 0 : site->tag->number;
  }
  std::tuple key(std::string(sink), std::string(thread), line.level, tag);
  auto at = counts_.find(key);
  if (at == counts_.end() && counts_.size() >= kKeys) {
    ++others_[std::string(sink)];
  } else {
    ++(at == counts_.end() ? counts_[std::move(key)] : at->second);
  }
}

std::vector<DropState> SinkLosses::take_changed() {
  changed_ = false;
  std::vector<DropState> all;
  for (const auto& [key, count] : counts_) {
    const auto& [sink, thread, level, number] = key;
    const Tag* tag = tag_by_number(number);
    all.push_back({thread, std::string(level_word(level)), tag == nullptr ? "" : std::string(tag->name), sink, count});
  }
  for (const auto& [sink, count] : others_) all.push_back({"others", "any", "others", sink, count});
  return all;
}

}  // namespace telltale::diag
