// SPDX-License-Identifier: Apache-2.0
// See record_log_view.h; tested in record_log_view_test.cc.
#include "record_log_view.h"

#include "record_log.h"

namespace telltale::diag {

bool LogView::shows(const LogEvent& event) const {
  const LineHead& head = event.head;
  bool loss = event.kind == LogEventKind::kLoss;
  if (transaction != 0 && (event.kind != LogEventKind::kRecord || head.transaction != transaction)) return false;
  // A loss of several tags and levels, or in a sink, may be of any.
  bool of_any = loss && (event.of_other_tags || event.reason == kLostBySink);
  if (!of_any && (loss ? event.lost_level : head.level) < least) return false;
  if (since_ns && head.wall_ns < *since_ns) return false;
  if (until_ns && head.wall_ns > *until_ns) return false;
  if (tags == nullptr || of_any) return true;
  return tags->match(loss ? event.lost_tag : head.origin.tag).outcome == Pattern::Outcome::kMatch;
}

std::size_t LogPrinter::KeyHash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = key.process;
  for (std::uint64_t part : {key.connection, key.transaction}) hash = (hash ^ part) * 0x9E3779B97F4A7C15;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

std::string& LogPrinter::block_of(const LogEvent& event) {
  const LineHead& head = event.head;
  if (head.transaction == 0 && head.connection == 0) {
    if (blocks_.empty() || blocks_.back().has_key) blocks_.push_back({{}, false});
    return blocks_.back().lines;
  }
  Key key{event.process, head.transaction != 0 ? 0 : head.connection, head.transaction};
  auto [at, fresh] = block_by_key_.try_emplace(key, blocks_.size());
  if (fresh) blocks_.push_back({{}, true});
  return blocks_[at->second].lines;
}

bool LogPrinter::take(const LogEvent& event) {
  if (!view_.shows(event)) {
    if (view_.transaction != 0 && event.kind == LogEventKind::kLoss) lost_elsewhere_ += event.lost;
    return read_;
  }
  ++shown_;
  std::string& to = view_.group ? block_of(event) : gathered_;
  if (view_.json) {
    lines_.append_json(to, event);
  } else {
    lines_.append(to, event, view_.show_location.value_or(event.show_location));
  }
  return gathered_.size() < kGatherBytes ? read_ : flush();
}

bool LogPrinter::flush() {
  if (read_ && !gathered_.empty()) read_ = write_(gathered_);
  gathered_.clear();
  return read_;
}

bool LogPrinter::end() {
  bool key_before = false;
  for (std::size_t i = 0; read_ && i < blocks_.size(); ++i) {
    if (i > 0 && !view_.json && (key_before || blocks_[i].has_key)) gathered_ += '\n';
    key_before = blocks_[i].has_key;
    gathered_ += blocks_[i].lines;
    if (gathered_.size() >= kGatherBytes) flush();
  }
  blocks_.clear();
  block_by_key_.clear();
  return flush();
}

}  // namespace telltale::diag
