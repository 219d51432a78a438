// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log file: a StreamSink on a path, appended to, created with mode 0600, closed on exec.
//
// **Thread safety:** see StreamSink.

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "stream_sink.h"

namespace telltale::diag {

// Errors: a sentence with path and reason.
tl::expected<std::unique_ptr<StreamSink>, std::string> open_log_file(const std::string& path);

}  // namespace telltale::diag
