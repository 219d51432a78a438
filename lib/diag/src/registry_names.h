// SPDX-License-Identifier: Apache-2.0
#pragma once
// RegistryNames: what numbers in records mean in this process, for those who write record logs.
//
// **Thread safety:** thread-safe.

#include "record_log_writer.h"

namespace telltale::diag {

class RegistryNames : public LogNames {
 public:
  LogSite site(std::uint32_t number) const override;
  std::string plugin(std::uint32_t number) const override;
};

}  // namespace telltale::diag
