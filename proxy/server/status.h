// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of `ttctl status`.
//
// **Thread safety:** main thread only.

#include <chrono>
#include <memory>
#include <vector>

#include "cache/ram_cache.h"
#include "config/records.h"
#include "control/target.h"
#include "server/options.h"
#include "server/worker_thread.h"

namespace telltale::server {

struct StatusInput {
  const Options& options;
  const config::Records& records;
  std::chrono::steady_clock::time_point started;
  const std::vector<std::unique_ptr<WorkerThread>>& workers;
  cache::CacheCounters cache;
};

control::Status make_status(const StatusInput& input);

}  // namespace telltale::server
