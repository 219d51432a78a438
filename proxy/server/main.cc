// SPDX-License-Identifier: Apache-2.0
// The daemon: command line, configuration, server.
#include <cstdio>

#include <fcntl.h>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>

#include "config/config_folder.h"
#include "http/redaction.h"
#include "remap/remap_table.h"
#include "server/options.h"
#include "server/redaction_settings.h"
#include "server/server.h"
#include "server/settings.h"

using namespace telltale;

// Who was started without stdin, stdout or stderr would get their numbers for files of its own, and lines meant for
// stderr would go into those. Opened for reading: what is written there is refused, and counted as lost.
static void take_closed_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);
  }
}

int main(int argc, char** argv) {
  take_closed_descriptors();
  int exit_status = 0;
  std::optional<server::Options> options = server::parse_options(argc, argv, exit_status);
  if (!options) return exit_status;

  diag::set_thread_name("main");
  config::FolderOptions folder_options;
  auto in_words = [](const std::optional<diag::Refusal>& refusal) -> std::optional<std::string> {
    if (!refusal) return std::nullopt;
    return refusal->offset ? fmt::format("{} (offset {})", refusal->what, *refusal->offset) : refusal->what;
  };
  folder_options.check_tags = {[in_words](std::string_view pattern) { return in_words(diag::check_tag_pattern(pattern)); },
                               [in_words](std::string_view rules) { return in_words(diag::check_rules(rules)); },
                               [dir = options->config_dir](config::Kind kind, std::string_view text) { return server::check_redaction(kind, text, dir); }};
  folder_options.read_remap = remap::parse_remap_table;
  folder_options.check_plugins = server::check_plugins;
  folder_options.set = options->set;
  folder_options.tags = options->tags;

  auto folder = config::load_folder(options->config_dir, folder_options);
  if (!folder) {
    for (const config::Problem& problem : folder.error()) std::fprintf(stderr, "telltale: %s\n", config::to_string(problem).c_str());
    return 1;
  }
  for (const std::string& note : folder->notes) std::fprintf(stderr, "telltale: note: %s\n", note.c_str());
  if (options->check_only) {
    std::printf("telltale: the configuration in %s is valid\n", options->config_dir.c_str());
    return 0;
  }
  if (options->show_secrets) http::show_secrets();
  auto started = server::Server::start(*options, std::move(*folder), std::move(folder_options));
  if (!started) {
    diag::flush_output(std::chrono::seconds{1});
    for (const std::string& problem : started.error()) std::fprintf(stderr, "telltale: %s\n", problem.c_str());
    return 1;
  }
  (*started)->run();
  return 0;
}
