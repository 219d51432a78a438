// SPDX-License-Identifier: Apache-2.0
#include "registry_names.h"

#include "plugin_names.h"
#include "site_dictionary.h"
#include "tag_table.h"

namespace telltale::diag {

LogSite RegistryNames::site(std::uint32_t number) const {
  const SiteEntry* entry = site_by_number(number);
  if (entry == nullptr) return {};
  return {entry->history == nullptr ? 0 : entry->history->hash,
          number,
          entry->line,
          entry->tag->name,
          entry->format,
          entry->file,
          entry->function,
          entry->module};
}

std::string RegistryNames::plugin(std::uint32_t number) const { return plugin_name(number); }

}  // namespace telltale::diag
