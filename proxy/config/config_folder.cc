// SPDX-License-Identifier: Apache-2.0
#include "config/config_folder.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include "config/agreement.h"
#include "config/text_file.h"

namespace telltale::config {
namespace {

void append(Problems& all, Problems more) {
  for (Problem& problem : more)
    all.push_back(std::move(problem));
}

RecordsFile load_records(const std::filesystem::path& folder, const FolderOptions& options,
                         Problems& problems, std::vector<std::string>& notes) {
  const std::string name = "records.yaml";
  auto text = read_text_file(folder / name, name);
  if (!text) {
    problems.push_back(std::move(text.error()));
    return RecordsFile(name);
  }
  if (!*text) {
    notes.push_back(name + ": no such file in " + quote(folder.string()) + ", so every record is at its default");
    return RecordsFile(name);
  }
  auto file = parse_records_file(std::move(**text), name, options.check_tags);
  if (file) return std::move(*file);
  append(problems, std::move(file.error()));
  return RecordsFile(name);
}

RemapTablePtr load_remap(const std::filesystem::path& folder, const FolderOptions& options,
                         Problems& problems) {
  const std::string name = "remap.config";
  auto text = read_text_file(folder / name, name);
  if (!text) {
    problems.push_back(std::move(text.error()));
    return nullptr;
  }
  if (!*text) {
    problems.push_back(
        {name, 0, 0, "no such file in " + quote(folder.string()), "the file; it may be empty"});
    return nullptr;
  }
  auto table = options.read_remap(std::move(**text), name);
  if (table) return std::move(*table);
  append(problems, std::move(table.error()));
  return nullptr;
}

void set_one(Records& records, Record record, std::string_view text, const Source& source,
             Problems& problems) {
  auto changed = records.with(record, text, source);
  if (changed) {
    records = std::move(*changed);
  } else {
    problems.push_back(std::move(changed.error()));
  }
}

void apply_command_line(Records& records, const FolderOptions& options, Problems& problems) {
  for (const std::string& setting : options.set) {
    const std::size_t equals = setting.find('=');
    const std::string_view name = std::string_view(setting).substr(0, equals);
    if (equals == std::string::npos) {
      problems.push_back({"--set", 0, 0, quote(setting) + " has no =", "RECORD=VALUE"});
    } else if (const auto record = find_record(name)) {
      set_one(records, *record, std::string_view(setting).substr(equals + 1), Source::command_line(),
              problems);
    } else {
      Problem problem = not_offered(name);
      problem.file = "--set";
      problems.push_back(std::move(problem));
    }
  }
  if (options.tags) {
    set_one(records, Record::kDiagsDebugEnabled, "1", Source::tags_option(), problems);
    set_one(records, Record::kDiagsDebugTags, *options.tags, Source::tags_option(), problems);
  }
}

}  // namespace

tl::expected<Folder, Problems> load_folder(const std::filesystem::path& folder,
                                           const FolderOptions& options) {
  std::error_code error;
  const auto status = std::filesystem::status(folder, error);
  if (error || !std::filesystem::is_directory(status)) {
    const std::error_code reason = error ? error : std::error_code(ENOTDIR, std::system_category());
    return tl::unexpected(
        Problems{{folder.string(), 0, 0, "cannot be read: " + reason.message(), "a configuration folder"}});
  }

  Problems problems;
  std::vector<std::string> notes;
  RecordsFile file = load_records(folder, options, problems, notes);
  Records records = Records::defaults(options.check_tags);
  if (auto applied = apply(file, records)) {
    records = std::move(*applied);
  } else {
    append(problems, std::move(applied.error()));
  }
  RemapTablePtr remap = load_remap(folder, options, problems);
  Problems of_command_line;
  apply_command_line(records, options, of_command_line);
  append(of_command_line, check_agreement(records));
  if (options.check_plugins) append(problems, options.check_plugins(folder, records));
  append(problems, std::move(of_command_line));
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return Folder{std::move(file), std::move(records), std::move(remap), std::move(notes)};
}

}  // namespace telltale::config
