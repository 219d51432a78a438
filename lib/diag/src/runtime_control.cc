// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/tag.h>

#include "place.h"
#include "registry.h"

namespace telltale::diag {

RuntimeControl::RuntimeControl(std::string_view tag) {
  if (!valid_tag(tag)) {
    warning("debug tag \"{}\" of a run-time control is not valid (1 to {} bytes of printable ASCII without space and '%'): "
            "it stays off",
            tag, kTagBytesMax);
    return;
  }
  tag_ = intern_tag(tag);
  if (tag_ == nullptr) return;
  RegistryLock guard;
  registry().set_hot_byte(*this);
  registry().link(*this);
}

RuntimeControl::~RuntimeControl() {
  if (tag_ == nullptr) return;
  RegistryLock guard;
  registry().unlink(*this);
}

std::string_view RuntimeControl::tag() const noexcept { return tag_ == nullptr ? std::string_view() : tag_->name; }

bool RuntimeControl::wanted(bool flag) const noexcept { return tag_wanted(*tag_, Flavour::kControl, flag); }
bool RuntimeControl::wanted_at(const Place& place, bool flag) const noexcept {
  return tag_wanted_at(*tag_, Flavour::kControl, place, flag);
}

}  // namespace telltale::diag
