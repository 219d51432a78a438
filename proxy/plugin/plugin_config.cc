// SPDX-License-Identifier: Apache-2.0
#include "plugin/plugin_config.h"

#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "config/text_file.h"

namespace telltale::plugin {
namespace {

using config::ProblemList;
using config::Problems;
using config::quote;

constexpr const char* kForm = "PLUGIN.so [ARGUMENT ...]";

struct Word {
  std::string text;
  int column;  // from 1
};

// Nothing, reported: a quote that is not closed.
std::optional<std::vector<Word>> words_of(std::string_view text, int line, ProblemList& problems) {
  std::vector<Word> words;
  for (std::size_t at = 0;;) {
    at = text.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos || text[at] == '#') return words;
    const int column = static_cast<int>(at) + 1;
    std::size_t end;
    if (text[at] == '"') {
      end = text.find('"', ++at);
      if (end == std::string_view::npos) {
        problems.add(line, column, "a quote that is not closed", "\" at the end of the argument");
        return std::nullopt;
      }
      words.push_back({std::string(text.substr(at, end - at)), column});
      at = end + 1;
    } else {
      end = std::min(text.find_first_of(" \t\r#", at), text.size());
      words.push_back({std::string(text.substr(at, end - at)), column});
      at = end;
    }
  }
}

// What is wrong with the file as a plugin; empty: nothing that can be seen without loading it.
std::string fault_of(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(std::filesystem::status(path, failed))) {
    return failed ? failed.message() : "it is no regular file";
  }
  char magic[4] = {};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(magic, sizeof magic)) return "it cannot be read";
  return std::memcmp(magic, "\177ELF", 4) == 0 ? std::string() : "it is no shared library";
}

class Parser {
 public:
  Parser(ProblemList& problems, const std::filesystem::path& plugin_dir) : problems_(problems), dir_(plugin_dir) {}

  void take(int line, std::string_view text) {
    auto words = words_of(text, line, problems_);
    if (!words || words->empty()) return;
    if (plugins.size() == kPluginsMax) {
      problems_.add(line, 0, "one plugin too many", fmt::format("{} plugins at most", kPluginsMax));
      return;
    }
    const Word name = std::move(words->front());
    words->erase(words->begin());
    if (words->size() > kArgumentsMax) {
      problems_.add(line, (*words)[kArgumentsMax].column, "one argument too many", fmt::format("{} arguments at most", kArgumentsMax));
      return;
    }
    PluginLine plugin{line, (dir_ / name.text).string(), std::filesystem::path(name.text).stem().string(), {}};
    for (Word& word : *words) {
      if (word.text.starts_with("$proxy.")) {
        problems_.add(line, word.column, "a record's value as an argument is not offered", "the value itself");
      }
      plugin.arguments.push_back(std::move(word.text));
    }
    std::string fault = name.text.empty() ? "there is no name" : fault_of(plugin.path);
    if (!fault.empty()) {
      problems_.add(line, name.column, fmt::format("plugin {} cannot be used: {}: {}", quote(name.text), quote(plugin.path), fault), kForm);
    }
    plugins.push_back(std::move(plugin));
  }

  std::vector<PluginLine> plugins;

 private:
  ProblemList& problems_;
  const std::filesystem::path& dir_;
};

}  // namespace

tl::expected<std::vector<PluginLine>, Problems> parse_plugin_config(std::string text, const std::string& file_name,
                                                                    const std::filesystem::path& plugin_dir) {
  ProblemList problems(file_name);
  config::clean_text(text, problems);
  Parser parser(problems, plugin_dir);
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    parser.take(line, rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (!problems.empty()) return tl::unexpected(problems.take());
  return std::move(parser.plugins);
}

tl::expected<std::vector<PluginLine>, Problems> read_plugin_config(const std::filesystem::path& config_dir,
                                                                   const std::filesystem::path& plugin_dir) {
  const std::string name = "plugin.config";
  auto text = config::read_text_file(config_dir / name, name);
  if (!text) return tl::unexpected(Problems{std::move(text.error())});
  if (!*text) return std::vector<PluginLine>{};
  return parse_plugin_config(std::move(**text), name, plugin_dir);
}

std::filesystem::path plugin_folder(const std::string& record) {
  if (!record.empty()) return std::filesystem::absolute(record);
  std::error_code failed;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::filesystem::absolute("plugins") : program.parent_path().parent_path() / "plugins";
}

}  // namespace telltale::plugin
