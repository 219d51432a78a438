// SPDX-License-Identifier: Apache-2.0
#include "record_origin.h"

#include "site_dictionary.h"
#include "tag_table.h"

namespace telltale::diag {

Origin read_origin(const RecordHeader& header, RecordReader& arguments) {
  if (header.site == 0) return read_own_origin(arguments);
  const SiteEntry* entry = site_by_number(header.site);
  if (entry == nullptr) return {};
  return {entry->tag->name, entry->format, entry->file, entry->function, entry->line, entry->module};
}

}  // namespace telltale::diag
