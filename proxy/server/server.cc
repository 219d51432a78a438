// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include <boost/regex.hpp>
#include <fmt/format.h>

#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/throttle.h>

#include "config/agreement.h"
#include "config/reference.h"
#include "config/reload.h"
#include "config/server_ports.h"
#include "hint/near_names.h"
#include "http/redaction.h"
#include "plugin/loader.h"
#include "server/flight_recorder.h"
#include "server/output_status.h"
#include "server/redaction_settings.h"
#include "server/settings.h"
#include "server/status.h"

namespace telltale::server {
namespace {

constexpr DbgCtl config_dbg{"config"};

constexpr std::chrono::milliseconds kLogSettles{1000};

using config::Record;

control::Error to_error(const config::Problem& problem, std::string where) {
  return {config::to_string(problem), {}, std::move(where)};
}

// In order of name.
control::Result<std::vector<Record>> matching_records(const std::string& regex) {
  std::vector<Record> found;
  try {
    boost::regex pattern(regex);
    for (const config::RecordInfo& info : config::record_table()) {
      if (boost::regex_search(info.name.begin(), info.name.end(), pattern)) found.push_back(info.id);
    }
  } catch (const boost::regex_error& e) {
    return tl::unexpected(control::Error{"this is not a regular expression", static_cast<std::size_t>(e.position()), "regex"});
  } catch (const std::runtime_error&) {  // Boost.Regex bounds the work of a match
    return tl::unexpected(control::Error{"this regular expression takes too long", {}, "regex"});
  }
  std::sort(found.begin(), found.end(), [](Record a, Record b) { return config::name(a) < config::name(b); });
  return found;
}

}  // namespace

Server::Server(const Options& options, config::Folder folder, config::FolderOptions folder_options, RuntimeFolder runtime_folder)
    : options_(options),
      folder_options_(std::move(folder_options)),
      runtime_folder_(std::move(runtime_folder)),
      log_dir_(std::filesystem::path(options.runtime_dir) / "logs"),
      started_(std::chrono::steady_clock::now()),
      file_(std::move(folder.file)),
      records_(std::move(folder.records)),
      remap_(std::move(folder.remap)),
      leases_(loop_, [this] {
        let_follow_go();
        settle_outputs();
      }),
      shared_(static_cast<std::size_t>(records_.integer(Record::kCacheRamCacheSize))) {}

Server::~Server() {
  for (auto& worker : workers_) {
    worker->stop(std::chrono::milliseconds{0});
    worker->join();
  }
}

tl::expected<std::unique_ptr<Server>, std::vector<std::string>> Server::start(const Options& options, config::Folder folder,
                                                                              config::FolderOptions folder_options) {
  auto runtime_folder = RuntimeFolder::lock(options.runtime_dir);
  if (!runtime_folder) return tl::unexpected(std::vector{runtime_folder.error()});
  std::vector<std::string> notes = std::move(folder.notes);
  std::unique_ptr<Server> server(
      new Server(options, std::move(folder), std::move(folder_options), *std::move(runtime_folder)));
  // From here on a signal does what it will do later, and ends nothing half made.
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) server->signals_.add(signal);
  std::signal(SIGPIPE, SIG_IGN);
  std::error_code failed;
  std::filesystem::create_directories(server->log_dir_, failed);
  if (failed) {
    return tl::unexpected(std::vector{fmt::format("{}: cannot make the log folder: {}", server->log_dir_.string(), failed.message())});
  }
  diag::set_ring_bytes(static_cast<std::size_t>(server->records_.integer(Record::kDiagRingSize)));
  start_recorder(server->records_, options.config_dir, options.runtime_dir);
  if (auto set = apply_redaction(server->records_, options.config_dir); !set) return tl::unexpected(std::vector{set.error()});
  if (auto opened = server->configure_output(server->records_); !opened) return tl::unexpected(std::vector{opened.error()});
  if (http::secrets_shown()) {
    diag::warning("started with --show-secrets: debug lines and dumps show credentials, cookies and bodies as they are");
  }
  for (const std::string& note : notes) diag::note("{}", note);
  diag::set_throttle(throttle_config(server->records_));
  if (auto set = diag::set_base(debug_base(server->records_)); !set) return tl::unexpected(std::vector{set.error().what});
  if (auto set = arm_recorder(server->records_); !set) return tl::unexpected(std::vector{set.error().what});

  // Debug is set by now: lines of a plugin's static initialisers come out.
  if (auto problems = server->load_plugins(); !problems.empty()) return tl::unexpected(problems);
  std::vector<std::string> problems = server->open_listeners();
  auto control = control::Server::open(server->loop_, *server, options.control_path);
  if (control) {
    server->control_ = std::move(*control);
  } else {
    problems.push_back(control.error());
  }
  if (!problems.empty()) return tl::unexpected(problems);
  return server;
}

std::vector<std::string> Server::load_plugins() {
  const std::filesystem::path dir = plugin_dir(records_);
  config::Problems problems;
  if (auto lines = plugin::read_plugin_config(options_.config_dir, dir)) {
    plugins_ = std::move(*lines);
    problems = plugin::load_plugins(plugins_, dir, shared_.hooks);
  } else {
    problems = std::move(lines.error());
  }
  std::vector<std::string> sentences;
  for (const config::Problem& problem : problems) sentences.push_back(config::to_string(problem));
  return sentences;
}

// One worker after another gets a socket of each port.
std::vector<std::string> Server::open_listeners() {
  std::vector<std::string> problems;
  std::size_t count = worker_count(records_);
  std::vector<std::vector<net::UniqueFd>> sockets(count);
  auto ports = config::parse_server_ports(records_.string(Record::kHttpServerPorts));
  for (const config::ServerPort& port : ports.value()) {
    auto opened = net::listen_on(*net::Endpoint::from_literal(port.address, port.port), count);
    if (!opened) {
      problems.push_back(opened.error());
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) sockets[i].push_back(std::move((*opened)[i]));
  }
  if (!problems.empty()) return problems;
  std::size_t head_bytes_max = static_cast<std::size_t>(
      std::max(records_.integer(Record::kHttpRequestHeaderMaxSize), records_.integer(Record::kHttpResponseHeaderMaxSize)));
  for (std::size_t i = 0; i < count; ++i) {
    workers_.push_back(std::make_unique<WorkerThread>(fmt::format("worker-{}", i), shared_, runtime(), head_bytes_max,
                                                      std::move(sockets[i])));
  }
  return problems;
}

txn::RuntimePtr Server::runtime() const {
  return std::make_shared<txn::Runtime>(txn::Runtime{remap_, transaction_settings(records_)});
}

// What the operator asks for is done in the calling thread: a pattern that takes long to match must not delay
// traffic where there are no more cores than workers. With this niceness it gets about a tenth of a contended core.
static void give_way_to_workers() {
  constexpr int kNiceness = 10;
  ::setpriority(PRIO_PROCESS, 0, kNiceness);  // 0: this thread, on Linux
}

void Server::run() {
  wait_for_signal();
  for (auto& worker : workers_) {
    worker->start();
    worker->change([this](txn::WorkerState& state) { apply_settings(records_, state); });
  }
  std::string listeners = workers_.front()->listeners();
  diag::note("serving on {}, workers: {}, control socket {}", listeners, workers_.size(), control_->path());
  std::fprintf(stderr, "telltale: ready on %s, control socket %s\n", listeners.c_str(), control_->path().c_str());

  give_way_to_workers();
  loop_.run();

  for (auto& worker : workers_) worker->join();
  control_.reset();
  diag::note("stopped");
  diag::stop_output(std::chrono::seconds{1});
}

void Server::stop() {
  if (stopping_) return;
  stopping_ = true;
  std::chrono::seconds drain{records_.integer(Record::kStopDrainTimeout)};
  for (auto& worker : workers_) worker->stop(drain);
  control_->stop();
  signals_.cancel();
  leases_.stop();
}

void Server::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& failed, int number) {
    if (failed || stopping_) return;
    obey(number);
    if (!stopping_) wait_for_signal();
  });
}

void Server::obey(int signal) {
  const diag::Unthrottled each;
  if (signal == SIGHUP) return reload_on_signal();
  if (signal == SIGUSR1) return debug_off_on_signal();
  if (signal == SIGUSR2) return reopen_log_on_signal();
  diag::note("stopping: {}", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  stop();
}

void Server::reload_on_signal() {
  auto reloaded = config_reload();
  if (!reloaded) {
    // What is wrong with the files has been told already.
    diag::error("SIGHUP: reload refused, nothing has changed; problems: {}", reloaded.error().size());
    return;
  }
  diag::note("SIGHUP: reloaded the configuration, changed: {}{}{}",
             reloaded->changed.empty() ? "nothing" : fmt::to_string(fmt::join(reloaded->changed, " ")),
             reloaded->needs_restart.empty() ? "" : "; needs a restart: ", fmt::to_string(fmt::join(reloaded->needs_restart, " ")));
}

// Lines written before go to the old file, lines after to the new one; none is lost between.
tl::expected<void, std::string> Server::reopen_log() {
  std::error_code failed;  // told by the opening
  std::filesystem::create_directories(log_dir_, failed);
  return configure_output(records_);
}

void Server::reopen_log_on_signal() {
  if (auto opened = reopen_log(); !opened) {
    diag::error("SIGUSR2: the log is not opened anew, lines go where they went: {}", opened.error());
    return;
  }
  diag::note("SIGUSR2: opened {} anew", output_config(records_, log_dir_).log_file);
}

control::Result<control::LogReopened> Server::log_reopen() {
  if (auto opened = reopen_log(); !opened) {
    return tl::unexpected(control::Error{fmt::format("lines go where they went: {}", opened.error()), {}, {}});
  }
  return control::LogReopened{output_config(records_, log_dir_).log_file, diag::settle_output(kLogSettles)};
}

tl::expected<void, std::string> Server::configure_output(const config::Records& records, diag::RouteBits also) {
  auto set = diag::configure_output(output_config(records, log_dir_, also));
  if (set) outputs_of_leases_ = also;
  return set;
}

namespace {
diag::RouteBits outputs_of(const std::vector<diag::Lease>& leases) {
  diag::RouteBits outputs = 0;
  for (const diag::Lease& lease : leases) outputs = static_cast<diag::RouteBits>(outputs | lease.to);
  return outputs;
}
}  // namespace

tl::expected<void, std::string> Server::configure_output(const config::Records& records) {
  return configure_output(records, outputs_of(diag::leases()));
}

// Files and sockets that no lease names any more are closed, once the lines that were for them are out.
void Server::settle_outputs() {
  if (outputs_of(diag::leases()) == outputs_of_leases_) return;
  if (auto set = configure_output(records_); !set) diag::error("the outputs of leases that have ended stay open: {}", set.error());
}

void Server::leases_changed() {
  leases_.look();
  settle_outputs();
}

// Makes these values the running ones: first what can be refused, then what cannot.
tl::expected<void, control::Error> Server::apply(const config::Records& records, config::RemapTablePtr remap) {
  if (auto problems = config::check_agreement(records); !problems.empty()) return tl::unexpected(to_error(problems.front(), {}));
  diag::Base base = debug_base(records);
  if (auto set = diag::set_base(base); !set) return tl::unexpected(control::Error{set.error().what, set.error().offset, "value"});
  if (auto set = arm_recorder(records); !set) {
    (void)diag::set_base(debug_base(records_));
    return tl::unexpected(control::Error{set.error().what, set.error().offset, "value"});
  }
  if (auto set = configure_output(records); !set) {
    (void)diag::set_base(debug_base(records_));
    (void)arm_recorder(records_);
    return tl::unexpected(control::Error{set.error(), {}, {}});
  }
  if (auto set = apply_redaction(records, options_.config_dir); !set) {
    (void)diag::set_base(debug_base(records_));
    (void)arm_recorder(records_);
    (void)configure_output(records_);
    return tl::unexpected(control::Error{set.error(), {}, "value"});
  }
  diag::set_throttle(throttle_config(records));
  records_ = records;
  remap_ = std::move(remap);
  shared_.cache.set_capacity(static_cast<std::size_t>(records_.integer(Record::kCacheRamCacheSize)));
  for (auto& worker : workers_) {
    worker->change([&, runtime = runtime()](txn::WorkerState& state) {
      state.runtime = runtime;
      apply_settings(records_, state);
    });
  }
  return {};
}

control::Record Server::record(Record id) const {
  return {std::string(config::name(id)), std::string(records_.string(id)), config::to_string(records_.source(id))};
}

control::Result<control::Record> Server::config_get(const std::string& name) {
  if (auto id = config::find_record(name)) return record(*id);
  return tl::unexpected(to_error(config::not_offered(name), "name"));
}

control::Result<control::Record> Server::config_set(const std::string& name, const std::string& value) {
  auto id = config::find_record(name);
  if (!id) return tl::unexpected(to_error(config::not_offered(name), "name"));
  const config::Kind kind = config::info(*id).kind;
  const bool is_pattern = kind == config::Kind::kTagPattern || (kind == config::Kind::kTagsOrNone && !value.empty());
  if (is_pattern || kind == config::Kind::kDebugRules) {
    if (auto refusal = is_pattern ? diag::check_tag_pattern(value) : diag::check_rules(value)) {
      return tl::unexpected(control::Error{fmt::format("{}: {}", name, refusal->what), refusal->offset, "value"});
    }
  }
  auto changed = records_.with(*id, value, config::Source::runtime());
  if (!changed) {
    changed.error().file.clear();  // "runtime": the operator knows
    return tl::unexpected(to_error(changed.error(), "value"));
  }
  if (auto applied = apply(*changed, remap_); !applied) return tl::unexpected(applied.error());
  return record(*id);
}

control::Result<std::vector<control::Record>> Server::config_match(const std::string& regex) {
  auto ids = matching_records(regex);
  if (!ids) return tl::unexpected(ids.error());
  std::vector<control::Record> found;
  for (Record id : *ids) found.push_back(record(id));
  return found;
}

control::Result<std::vector<control::Description>> Server::config_describe(const std::string& name_or_regex) {
  std::vector<Record> ids;
  if (auto id = config::find_record(name_or_regex)) {
    ids = {*id};
  } else {
    auto matching = matching_records(name_or_regex);
    if (!matching) return tl::unexpected(matching.error());
    ids = *std::move(matching);
  }
  if (ids.empty()) {
    std::string hint = hint::did_you_mean(config::nearest_names(name_or_regex));
    return tl::unexpected(control::Error{fmt::format("no record's name matches {}{}{}", config::quote(name_or_regex),
                                                     hint.empty() ? "" : "; ", hint), {}, "regex"});
  }
  std::vector<control::Description> found;
  for (Record id : ids) {
    const config::RecordInfo& info = config::info(id);
    found.push_back({record(id), std::string(info.description), std::string(config::type_words(info.kind)),
                     std::string(config::unit_words(info.unit)), config::range_words(id), std::string(info.default_text),
                     info.apply == config::Apply::kLive});
  }
  return found;
}

tl::expected<control::Reloaded, std::vector<control::Error>> Server::config_reload() {
  const diag::Unthrottled each;
  auto refuse = [](const config::Problems& problems) {
    std::vector<control::Error> errors;
    for (const config::Problem& problem : problems) {
      errors.push_back({config::to_string(problem), {}, {}});
      diag::error("reload: {}", errors.back().what);
    }
    return tl::unexpected(errors);
  };
  auto folder = config::load_folder(options_.config_dir, folder_options_);
  if (!folder) return refuse(folder.error());
  auto reloaded = config::reload(file_, records_, folder->file);
  if (!reloaded) return refuse(reloaded.error());
  bool rules_changed = !std::equal(remap_->mappings().begin(), remap_->mappings().end(), folder->remap->mappings().begin(),
                                   folder->remap->mappings().end(), [](const auto& a, const auto& b) { return a.text == b.text; });
  if (auto applied = apply(reloaded->running, folder->remap); !applied) return tl::unexpected(std::vector{applied.error()});
  file_ = std::move(folder->file);

  control::Reloaded result;
  for (Record id : reloaded->changed) result.changed.emplace_back(config::name(id));
  if (rules_changed) result.changed.push_back(fmt::format("remap.config (rules: {})", remap_->mappings().size()));
  for (Record id : reloaded->needs_restart) result.needs_restart.emplace_back(config::name(id));
  auto plugins = plugin::read_plugin_config(options_.config_dir, plugin_dir(records_));
  if (plugins && *plugins != plugins_) result.needs_restart.emplace_back("plugin.config");
  result.notes = std::move(folder->notes);
  for (const std::string& note : result.notes) diag::note("reload: {}", note);
  Dbg(config_dbg, "reloaded; changed: {}, need a restart: {}, remap rules: {}", result.changed.size(),
      result.needs_restart.size(), remap_->mappings().size());
  return result;
}

control::Status Server::debug_status() {
  // What is shown is what there was when it was asked for, if no sink blocks.
  if (diag::flush_output(kLogSettles)) diag::settle_output(kLogSettles);
  return make_output_status(records_);
}

control::Status Server::status() {
  StatusInput input{options_, records_, started_, workers_, shared_.cache.counters()};
  return make_status(input);
}

}  // namespace telltale::server
