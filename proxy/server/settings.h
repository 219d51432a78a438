// SPDX-License-Identifier: Apache-2.0
#pragma once
// From records to what each part of the server obeys. Nothing else reads records by name.
//
// **Thread safety:** pure functions.

#include <filesystem>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>
#include <telltale/diag/throttle.h>

#include "config/problem.h"
#include "config/records.h"
#include "txn/worker_state.h"

namespace telltale::server {

txn::TransactionSettings transaction_settings(const config::Records& records);
// In place: what the sessions, pools and listeners of a worker look at.
void apply_settings(const config::Records& records, txn::WorkerState& state);

diag::Base debug_base(const config::Records& records);
diag::ThrottleConfig throttle_config(const config::Records& records);
// Of a letter of proxy.config.diags.output.*.
diag::Route route_of(char letter);
// `also`: outputs that open leases name.
diag::OutputConfig output_config(const config::Records& records, const std::filesystem::path& log_dir, diag::RouteBits also = 0);

std::size_t worker_count(const config::Records& records);

std::filesystem::path plugin_dir(const config::Records& records);
// A config::PluginCheck.
config::Problems check_plugins(const std::filesystem::path& config_dir, const config::Records& records);

}  // namespace telltale::server
