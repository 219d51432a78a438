// SPDX-License-Identifier: Apache-2.0
#include "record_origin.h"

#include "site_dictionary.h"
#include "tag_table.h"

namespace telltale::diag {

Origin origin_of(const SiteEntry& entry) noexcept {
  return {entry.tag->name, entry.format, entry.file, entry.function, entry.line, entry.module};
}

Origin read_origin(const RecordHeader& header, RecordReader& arguments) {
  if (header.site == 0) return read_own_origin(arguments);
  const SiteEntry* entry = site_by_number(header.site);
  return entry == nullptr ? Origin{} : origin_of(*entry);
}

}  // namespace telltale::diag
