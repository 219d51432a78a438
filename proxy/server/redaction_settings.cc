// SPDX-License-Identifier: Apache-2.0
#include "server/redaction_settings.h"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <telltale/diag/secret_values.h>

#include "http/redaction.h"

namespace telltale::server {
namespace {

using config::Record;

// One value a line, as it stands there; empty lines are none. Errors name the line, never what is on it.
tl::expected<std::vector<std::string>, std::string> read_values(const std::filesystem::path& file) {
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) return tl::unexpected(fmt::format("{} is a folder", file.string()));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return tl::unexpected(fmt::format("{} cannot be read: {}", file.string(), std::generic_category().message(errno)));
  std::vector<std::string> values;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    if (line.size() < diag::kSecretBytesMin || line.size() > diag::kSecretBytesMax) {
      return tl::unexpected(fmt::format("{}:{}: the value has {} bytes; it must have {} to {}", file.string(), number, line.size(),
                                        diag::kSecretBytesMin, diag::kSecretBytesMax));
    }
    if (values.size() == diag::kSecretValuesMax) {
      return tl::unexpected(fmt::format("{}:{}: there may be at most {} values", file.string(), number, diag::kSecretValuesMax));
    }
    values.push_back(std::move(line));
  }
  if (in.bad()) return tl::unexpected(fmt::format("{} cannot be read: {}", file.string(), std::generic_category().message(errno)));
  return values;
}

}  // namespace

std::optional<std::string> check_redaction(config::Kind kind, std::string_view text, const std::filesystem::path& config_dir) {
  switch (kind) {
    case config::Kind::kFieldNames: return http::check_field_names(text);
    case config::Kind::kNameFragments: return http::check_name_fragments(text);
    case config::Kind::kQueryKeys: return http::check_query_keys(text);
    case config::Kind::kPathGlobs: return http::check_paths(text);
    case config::Kind::kSecretsFile: {
      auto values = read_values(config_dir / text);
      return values ? std::nullopt : std::optional(values.error());
    }
    default: return {};
  }
}

tl::expected<void, std::string> apply_redaction(const config::Records& r, const std::filesystem::path& config_dir) {
  std::vector<std::string> values;
  if (const std::string_view file = r.string(Record::kRedactValuesFile); !file.empty()) {
    auto read = read_values(config_dir / file);
    if (!read) return tl::unexpected(fmt::format("{}: {}", config::name(Record::kRedactValuesFile), read.error()));
    values = std::move(*read);
  }
  if (auto set = diag::set_secret_values(values); !set) return tl::unexpected(std::move(set.error().what));
  http::Redaction redaction;
  redaction.fields = r.string(Record::kRedactFields);
  redaction.fragments = r.string(Record::kRedactFragments);
  redaction.allowed_fields = r.string(Record::kRedactAllowedFields);
  redaction.query_keys = r.string(Record::kRedactQueryKeys);
  redaction.paths = r.string(Record::kRedactPaths);
  redaction.every_query_value = r.integer(Record::kRedactEveryQueryValue) != 0;
  redaction.body_bytes_max = static_cast<std::size_t>(r.integer(Record::kRedactBodyLimit));
  http::set_redaction(redaction);
  return {};
}

}  // namespace telltale::server
