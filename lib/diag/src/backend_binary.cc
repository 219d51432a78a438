// SPDX-License-Identifier: Apache-2.0
// The backend's part of the binary log: records are copied into the lane's batch as they are. See backend.h.
//
// Of a site whose records go nowhere else, the last line is wanted too (the list of sites). Formatting each would
// cost what the binary log spares, so only its place in the batch is noted, and once a batch the bytes of each
// site's last record are handed on, which are formatted when somebody asks.
#include <cstring>
#include <utility>

#include "backend.h"
#include "last_lines.h"
#include "site_dictionary.h"

namespace telltale::diag {

// Null: those lanes have no binary log.
BinarySink* Backend::binary_of(RouteBits lanes) noexcept {
  return (lanes & kToBinary) != 0 ? lanes_[kBinaryLane].binary : nullptr;
}

void Backend::added_to_binary(LineOrigin origin) {
  Lane& lane = lanes_[kBinaryLane];
  lane.origins.add(origin);
  if (lane.batch.size() >= kBatchBytes) write_lane(lane);
}

// `formatted`: it goes elsewhere as a line too, and SiteLines keeps that.
void Backend::write_binary(RingReader& ring, const RecordHeader& header, const char* record, std::int64_t wall_ns,
                           bool formatted, LineOrigin origin) {
  Lane& lane = lanes_[kBinaryLane];
  lane.binary->writer().record(lane.batch, static_cast<std::uint16_t>(&ring - rings_.data()), header, record, wall_ns);
  if (header.site != 0) {
    if (header.site >= last_in_batch_.size()) last_in_batch_.resize(header.site + std::size_t{64});
    std::uint32_t& last = last_in_batch_[header.site];
    if (last == 0 && !formatted) sites_in_batch_.push_back(header.site);
    last = formatted ? 0 : static_cast<std::uint32_t>(lane.batch.size() - header.size_bytes);
  }
  added_to_binary(origin);
}

// Before the batch goes. A site may be there twice; the second time there is nothing left to keep.
void Backend::keep_last_records() {
  const std::string& batch = lanes_[kBinaryLane].batch;
  for (std::uint32_t site : sites_in_batch_) {
    std::uint32_t at = std::exchange(last_in_batch_[site], 0);
    const SiteEntry* entry = at == 0 ? nullptr : site_by_number(site);
    if (entry == nullptr) continue;
    const char* frame = batch.data() + at - kRecordFrameHeadBytes;
    FrameHeader header;
    std::int64_t wall_ns;
    std::memcpy(&header, frame, sizeof header);
    std::memcpy(&wall_ns, frame + sizeof header, sizeof wall_ns);
    keep_last_record(entry->history->number, {batch.data() + at, header.bytes - kRecordFrameHeadBytes},
                     rings_[header.thread].thread, wall_ns, targets_.show_location);
  }
  sites_in_batch_.clear();
}

// The binary log was configured: it learns what it may be asked for.
void Backend::begin_binary() {
  RecordLogWriter& writer = targets_.binary_file->writer();
  writer.set_show_location(targets_.show_location);
  for (std::size_t i = 0; i < rings_.size() && rings_[i].ring != nullptr; ++i) {
    writer.name_thread(static_cast<std::uint16_t>(i), rings_[i].thread, rings_[i].thread_id);
  }
}

// Frames of the batch were made under the former name; a file that is begun with them must say that one.
void Backend::name_thread(RingReader& ring, std::string_view name, std::uint32_t kernel_id) {
  if (BinarySink* binary = lanes_[kBinaryLane].binary) {
    auto number = static_cast<std::uint16_t>(&ring - rings_.data());
    if (binary->writer().is_announced(number)) write_lane(lanes_[kBinaryLane]);
    binary->writer().name_thread(number, name, kernel_id);
  }
  ring.thread = name;
  ring.thread_id = kernel_id;
}

}  // namespace telltale::diag
