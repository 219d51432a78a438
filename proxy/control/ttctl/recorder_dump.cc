// SPDX-License-Identifier: Apache-2.0
// Finds a recorder and prints it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "control/ttctl/printable.h"
#include "control/ttctl/recorder_commands.h"
#include "recorder_dump.h"

namespace telltale::control {

namespace {

namespace fs = std::filesystem;
using diag::RecorderDump;

constexpr std::string_view kMapped = "/current/dictionary";  // what a process with a recorder has mapped
constexpr const char* kSharedFolder = "/dev/shm";             // where a daemon has it by default

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 10 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Of a living process: what it has mapped, seen through its own root.
std::optional<std::string> directory_of_living(const std::string& pid) {
  std::ifstream maps("/proc/" + pid + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.find('/');
    if (path == std::string::npos || !line.ends_with(kMapped)) continue;
    const std::string directory = line.substr(path, line.size() - path - std::string_view("/dictionary").size());
    std::error_code failed;
    const std::string through_root = "/proc/" + pid + "/root" + directory;
    return fs::exists(through_root, failed) ? through_root : directory;
  }
  return {};
}

// Of one that has died, where daemons have theirs by default: the newest of that number.
std::optional<std::string> directory_of_dead(std::uint64_t pid) {
  std::optional<std::string> found;
  std::int64_t began = 0;
  std::error_code failed;
  for (const fs::directory_entry& folder : fs::directory_iterator(kSharedFolder, failed)) {
    if (!folder.path().filename().string().starts_with("telltale-")) continue;
    for (const fs::directory_entry& directory : fs::directory_iterator(folder.path(), failed)) {
      std::string start(4096, '\0');
      std::ifstream dictionary(directory.path() / "dictionary", std::ios::binary);
      dictionary.read(start.data(), static_cast<std::streamsize>(start.size()));
      start.resize(static_cast<std::size_t>(dictionary.gcount()));
      std::string_view rest = start;
      diag::Frame frame;
      diag::LogDictionary reader;
      if (take_frame(rest, frame) != diag::FrameIs::kWhole || reader.take(frame) || !reader.start()) continue;
      if (reader.start()->pid != pid || (found && reader.start()->wall_ns <= began)) continue;
      found = directory.path().string();
      began = reader.start()->wall_ns;
    }
  }
  return found;
}

tl::expected<RecorderDump, std::string> find(const RecorderPlace& place) {
  std::error_code failed;
  if (place.core || RecorderDump::is_core(place.where)) return RecorderDump::of_core(place.where);
  if (fs::exists(place.where, failed) || !is_number(place.where)) return RecorderDump::of_directory(place.where);
  auto directory = directory_of_living(place.where);
  if (!directory) directory = directory_of_dead(std::stoull(place.where));
  if (directory) return RecorderDump::of_directory(*directory);
  return tl::unexpected(fmt::format("process {} has no flight recorder mapped, and {} has none of one with that number; name its "
                                    "directory",
                                    place.where, kSharedFolder));
}

}  // namespace

int dump_recorder(const RecorderPlace& place, const diag::LogView& view, const Output& output) {
  auto complain = [&output](const std::string& what) { output.err(fmt::format("ttctl: {}\n", printable(what))); };
  auto dump = find(place);
  if (!dump) {
    complain(dump.error());
    return kExitRefused;
  }
  diag::LogPrinter printer(view, output.out);
  bool read = true;
  dump->for_each([&](const diag::LogEvent& event) { return read = printer.take(event); });
  if (!read || !printer.end()) return kExitRefused;
  for (const std::string& problem : dump->problems()) complain(problem);
  std::string note = lost_elsewhere_note(printer.lost_elsewhere());
  if (!note.empty()) output.err(note);
  return dump->problems().empty() ? kExitDone : kExitRefused;
}

}  // namespace telltale::control
