// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder's tags: a source of the rules that asks for no output.
#include <mutex>

#include <telltale/diag/recorder.h>

#include "change_sources.h"
#include "debug_control_change.h"
#include "registry.h"

namespace telltale::diag {

tl::expected<void, Refusal> set_recorder_tags(std::string_view tags) {
  std::lock_guard changes(registry().changes);
  std::shared_ptr<Sources> next = copy_of_sources();
  if (next->recorder_tags == tags) return {};
  Source source;
  if (!tags.empty()) {
    auto rules = compile_rules(tags, {});
    if (!rules) return tl::unexpected(std::move(rules.error()));
    source.rules = std::move(*rules);
  }
  const bool some = source.rules != nullptr;
  next->recorder_tags = tags;
  next->by_number[kRecorderSource] = std::move(source);
  auto applied = apply({next, ~source_bit(kRecorderSource), some ? std::optional(kRecorderSource) : std::nullopt});
  if (!applied) return tl::unexpected(std::move(applied.error()));
  return {};
}

std::string recorder_tags() {
  Snapshot now = snapshot();
  return now.sources == nullptr ? std::string() : now.sources->recorder_tags;
}

}  // namespace telltale::diag
