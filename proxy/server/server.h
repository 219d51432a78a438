// SPDX-License-Identifier: Apache-2.0
#pragma once
// The server: workers, cache, configuration and control socket put together, and what the control socket may
// do with them. A change is made on the main thread and is in force in every worker when the call returns.
//
// **Thread safety:** main thread only.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "config/config_folder.h"
#include "control/server.h"
#include "control/target.h"
#include "plugin/plugin_config.h"
#include "server/lease_keeper.h"
#include "server/options.h"
#include "server/runtime_folder.h"
#include "server/worker_thread.h"

namespace telltale::server {

class Server final : public control::Target {
 public:
  // Errors: sentences, one a problem; nothing runs then.
  static tl::expected<std::unique_ptr<Server>, std::vector<std::string>> start(const Options& options, config::Folder folder,
                                                                               config::FolderOptions folder_options);
  ~Server() override;

  // Serves until it is stopped by a signal or the control socket.
  void run();

  // control::Target
  control::Result<control::Record> config_get(const std::string& name) override;
  control::Result<control::Record> config_set(const std::string& name, const std::string& value) override;
  control::Result<std::vector<control::Record>> config_match(const std::string& regex) override;
  control::Result<std::vector<control::Description>> config_describe(const std::string& name_or_regex) override;
  tl::expected<control::Reloaded, std::vector<control::Error>> config_reload() override;
  control::Status status() override;
  control::Result<control::LogReopened> log_reopen() override;
  void stop() override;
  control::DebugState debug_state() override;
  control::Status debug_status() override;
  control::Result<control::Enabled> debug_enable(const diag::LeaseRequest& request) override;
  control::Result<control::Disabled> debug_disable() override;
  std::vector<diag::TagState> debug_tags() override;
  std::optional<std::chrono::milliseconds> debug_lease_default() override;
  control::Result<diag::Lease> debug_end(std::uint64_t lease) override;
  control::Result<diag::SiteList> debug_sites(const diag::SiteQuery& query) override;
  control::Result<control::Enabled> debug_preview(const diag::LeaseRequest& request) override;
  control::Result<diag::Preview> debug_preview_end(std::uint64_t lease) override;
  control::Result<diag::Lease> debug_follow(const control::FollowRequest& request) override;
  control::Result<control::Followed> debug_followed(std::uint64_t lease) override;

 private:
  Server(const Options& options, config::Folder folder, config::FolderOptions folder_options, RuntimeFolder runtime_folder);

  // SIGTERM, SIGINT: stop. SIGHUP: reload. SIGUSR1: all debug off. SIGUSR2: open diags.log anew, as Traffic Server does for logrotate.
  void wait_for_signal();
  void obey(int signal);
  void reload_on_signal();
  tl::expected<void, std::string> reopen_log();
  void reopen_log_on_signal();
  // `also`: outputs that leases name.
  tl::expected<void, std::string> configure_output(const config::Records& records, diag::RouteBits also);
  tl::expected<void, std::string> configure_output(const config::Records& records);
  void leases_changed();
  void settle_outputs();
  std::vector<std::string> load_plugins();
  std::vector<std::string> open_listeners();
  tl::expected<void, control::Error> apply(const config::Records& records, config::RemapTablePtr remap);
  control::Record record(config::Record id) const;
  txn::RuntimePtr runtime() const;
  void debug_off_on_signal();
  control::Enabled enabled(diag::OpenedLease opened) const;
  void let_follow_go();

  const Options options_;
  const config::FolderOptions folder_options_;
  const RuntimeFolder runtime_folder_;  // locked while we live
  const std::filesystem::path log_dir_;
  const std::chrono::steady_clock::time_point started_;
  config::RecordsFile file_;  // as last loaded
  config::Records records_;
  config::RemapTablePtr remap_;
  std::vector<plugin::PluginLine> plugins_;  // loaded, in this order

  boost::asio::io_context loop_{1};
  boost::asio::signal_set signals_{loop_};
  LeaseKeeper leases_;
  Shared shared_;
  std::vector<std::unique_ptr<WorkerThread>> workers_;
  std::unique_ptr<control::Server> control_;
  txn::Follow::Now last_followed_;  // that of a lease that has ended
  diag::RouteBits outputs_of_leases_ = 0;  // that output is configured for
  std::uint64_t given_up_ = 0;      // its transactions that were not held to their end
  bool stopping_ = false;
};

}  // namespace telltale::server
