// SPDX-License-Identifier: Apache-2.0
#include "config/config_folder.h"

#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "config/text_file.h"
#include "remap/remap_table.h"

using namespace telltale::config;
namespace fs = std::filesystem;

namespace {

// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "telltale-config-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path = pattern;
    fs::permissions(path, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const char* name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }

  fs::path path;
};

// Root reads everything; as another user the mode of a file counts.
class Unprivileged {
 public:
  Unprivileged() : was_(::geteuid()) {
    if (was_ == 0 && ::seteuid(65534) != 0) throw std::runtime_error("seteuid");
  }
  ~Unprivileged() {
    if (::geteuid() != was_ && ::seteuid(was_) != 0) std::abort();
  }

 private:
  uid_t was_;
};

FolderOptions options() {
  FolderOptions made;
  made.read_remap = telltale::remap::parse_remap_table;
  // What stands in plugin.config is not config's; the file is read as the others are.
  made.check_plugins = [](const fs::path& folder, const Records& records) -> Problems {
    auto text = read_text_file(folder / "plugin.config", "plugin.config");
    if (!text) return {text.error()};
    if (!*text || (*text)->find("bad") == std::string::npos) return {};
    return {{"plugin.config", 2, 0, "bad in " + quote(records.string(Record::kPluginPluginDir)), {}}};
  };
  return made;
}

std::vector<std::string> problems_of(const tl::expected<Folder, Problems>& folder) {
  std::vector<std::string> lines;
  if (!folder) {
    for (const Problem& problem : folder.error())
      lines.push_back(to_string(problem));
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("config folder: records, rules and what the file said are loaded", "[config][folder]") {
  const TemporaryFolder folder;
  folder.write("records.yaml", "records:\n  http.connect_attempts_timeout: 5\n");
  folder.write("remap.config", "map http://a/ http://b/\n");
  folder.write("plugin.config", "# none\n\n   # none\r\n");
  const auto loaded = load_folder(folder.path, options());
  REQUIRE(problems_of(loaded) == Lines{});
  CHECK(loaded->records.integer(Record::kHttpConnectAttemptsTimeout) == 5);
  CHECK(loaded->file[Record::kHttpConnectAttemptsTimeout]->line == 2);
  CHECK(loaded->remap->mappings().size() == 1);
}

TEST_CASE("config folder: configs/default loads and changes nothing", "[config][folder][default]") {
  const auto loaded = load_folder(CONFIGS_DEFAULT, options());
  REQUIRE(problems_of(loaded) == Lines{});
  for (const RecordInfo& record : record_table())
    CHECK(loaded->records.string(record.id) == record.default_text);
  CHECK(loaded->remap->mappings().empty());
}

TEST_CASE("config folder: a missing records.yaml means defaults, a missing folder does not",
          "[config][folder]") {
  const TemporaryFolder folder;
  folder.write("remap.config", "");
  const auto loaded = load_folder(folder.path, options());
  REQUIRE(problems_of(loaded) == Lines{});
  CHECK(to_string(loaded->records.source(Record::kHttpServerPorts)) == "default");
  REQUIRE(loaded->notes.size() == 1);
  CHECK(loaded->notes[0].starts_with("records.yaml: no such file in \""));
  folder.write("records.yaml", "");
  CHECK(load_folder(folder.path, options())->notes.empty());

  const std::string missing = (folder.path / "missing").string();
  CHECK(problems_of(load_folder(missing, options())) ==
        Lines{missing + ": cannot be read: No such file or directory; expected a configuration folder"});
  const std::string file = (folder.path / "remap.config").string();
  CHECK(problems_of(load_folder(file, options())) ==
        Lines{file + ": cannot be read: Not a directory; expected a configuration folder"});
}

TEST_CASE("config folder: a folder without remap.config is taken for the wrong one", "[config][folder]") {
  const TemporaryFolder folder;
  CHECK(problems_of(load_folder(folder.path, options())) ==
        Lines{"remap.config: no such file in \"" + folder.path.string() +
              "\"; expected the file; it may be empty"});
}

TEST_CASE("config folder: the problems of all files and of the command line come in one run",
          "[config][folder][B97]") {
  const TemporaryFolder folder;
  folder.write("records.yaml", "records:\n  http.cache.http: yes\n  nothing: 1\n");
  folder.write("remap.config", "redirect http://a/ http://b/\nmap http://a/\n");
  folder.write("plugin.config", "# a comment\nbad\n");
  FolderOptions with = options();
  with.set = {"proxy.config.diags.show_location=9", "proxy.config.plugin.plugin_dir=/p"};
  with.tags = "";
  CHECK(problems_of(load_folder(folder.path, with)) ==
        Lines{"records.yaml:2:20: proxy.config.http.cache.http: \"yes\" is not an integer; expected 0 or 1",
              "records.yaml:3:12: proxy.config.nothing: this record is not offered by Telltale",
              "remap.config:1:1: redirect is not offered; expected map FROM TO",
              "remap.config:2:1: a rule without TO; expected map FROM TO",
              "plugin.config:2: bad in \"/p\"",
              "--set: proxy.config.diags.show_location: \"9\" is out of range; expected 0 to 2",
              "-T: proxy.config.diags.debug.tags: the pattern is empty; expected a pattern for the start of "
              "tags, such as http|dns"});
}

TEST_CASE("config folder: --set goes over the file, a later one over an earlier", "[config][folder]") {
  const TemporaryFolder folder;
  folder.write("records.yaml", "records:\n  http.connect_attempts_timeout: 5\n");
  folder.write("remap.config", "");
  FolderOptions with = options();
  with.set = {"proxy.config.http.connect_attempts_timeout=6", "proxy.config.http.connect_attempts_timeout=7",
              "proxy.config.http.server_ports=8081:ip-in=127.0.0.1"};
  const auto loaded = load_folder(folder.path, with);
  REQUIRE(problems_of(loaded) == Lines{});
  CHECK(loaded->records.integer(Record::kHttpConnectAttemptsTimeout) == 7);
  CHECK(to_string(loaded->records.source(Record::kHttpConnectAttemptsTimeout)) == "--set");
  CHECK(loaded->records.string(Record::kHttpServerPorts) == "8081:ip-in=127.0.0.1");
  CHECK(loaded->file[Record::kHttpConnectAttemptsTimeout]->text == "5");
}

TEST_CASE("config folder: a bad --set is refused and names what is near", "[config][folder]") {
  const TemporaryFolder folder;
  folder.write("remap.config", "");
  FolderOptions with = options();
  with.set = {"proxy.config.http.cache.http", "http.cache.http=1", "=1", "proxy.config.ssl.key=S3CR3T",
              "proxy.config.http.cache.http="};
  CHECK(problems_of(load_folder(folder.path, with)) ==
        Lines{"--set: \"proxy.config.http.cache.http\" has no =; expected RECORD=VALUE",
              "--set: http.cache.http: not a record name; did you mean proxy.config.http.cache.http?",
              "--set: \"\": not a record name; expected a name that starts with proxy.config.",
              "--set: proxy.config.ssl.key: this record is not offered by Telltale",
              "--set: proxy.config.http.cache.http: \"\" is not an integer; expected 0 or 1"});
}

TEST_CASE("config folder: -T sets mode 1 and the tags, over file and --set", "[config][folder]") {
  const TemporaryFolder folder;
  folder.write("records.yaml", "records: {diags: {debug: {enabled: 2, tags: dns, client_ip: 127.0.0.2}}}\n");
  folder.write("remap.config", "");
  FolderOptions with = options();
  with.set = {"proxy.config.diags.debug.enabled=3"};
  with.tags = "http|cache";
  const auto loaded = load_folder(folder.path, with);
  REQUIRE(problems_of(loaded) == Lines{});
  CHECK(loaded->records.integer(Record::kDiagsDebugEnabled) == 1);
  CHECK(loaded->records.string(Record::kDiagsDebugTags) == "http|cache");
  CHECK(to_string(loaded->records.source(Record::kDiagsDebugEnabled)) == "-T");
  CHECK(to_string(loaded->records.source(Record::kDiagsDebugTags)) == "-T");
}

TEST_CASE("config folder: the check of tag patterns holds for file, --set and -T, and later changes",
          "[config][folder]") {
  const TemporaryFolder folder;
  folder.write("records.yaml", "records: {diags.debug.tags: bad}\n");
  folder.write("remap.config", "");
  FolderOptions with = options();
  with.check_tags = TagPatternCheck([](std::string_view text) -> std::optional<std::string> {
    if (text == "bad") return "is bad";
    return std::nullopt;
  });
  with.set = {"proxy.config.diags.debug.tags=bad"};
  with.tags = "bad";
  CHECK(problems_of(load_folder(folder.path, with)).size() == 3);

  folder.write("records.yaml", "");
  with.set.clear();
  with.tags.reset();
  const auto loaded = load_folder(folder.path, with);
  REQUIRE(problems_of(loaded) == Lines{});
  CHECK_FALSE(loaded->records.with(Record::kDiagsDebugTags, "bad", Source::runtime()));
}

TEST_CASE("config folder: each file that cannot be read is reported with the system's reason",
          "[config][folder][B103]") {
  const TemporaryFolder folder;
  for (const char* name : {"records.yaml", "remap.config", "plugin.config"}) {
    folder.write(name, "");
    fs::permissions(folder.path / name, fs::perms::none);
  }
  const Unprivileged nobody;
  CHECK(problems_of(load_folder(folder.path, options())) ==
        Lines{"records.yaml: cannot be read: Permission denied",
              "remap.config: cannot be read: Permission denied",
              "plugin.config: cannot be read: Permission denied"});
}

TEST_CASE("config folder: a folder, a pipe or a link to nowhere is no configuration file",
          "[config][folder][B103]") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path / "records.yaml");
  REQUIRE(::mkfifo((folder.path / "remap.config").c_str(), 0600) == 0);
  fs::create_symlink("nowhere", folder.path / "plugin.config");
  CHECK(problems_of(load_folder(folder.path, options())) ==
        Lines{"records.yaml: cannot be read: Is a directory",
              "remap.config: cannot be read: not a regular file",
              "plugin.config: cannot be read: No such file or directory"});
}

TEST_CASE("text file: one megabyte is read, one byte more is refused", "[config][folder]") {
  const TemporaryFolder folder;
  folder.write("full", std::string(kFileBytesMax, '#'));
  folder.write("over", std::string(kFileBytesMax + 1, '#'));
  const auto full = read_text_file(folder.path / "full", "full");
  REQUIRE(full);
  CHECK((*full)->size() == kFileBytesMax);
  CHECK(to_string(read_text_file(folder.path / "over", "over").error()) == "over: longer than 1048576 bytes");
}

TEST_CASE("text file: a byte order mark is left out", "[config][folder]") {
  const TemporaryFolder folder;
  folder.write("records.yaml", "\xEF\xBB\xBFrecords: {http.cache.http: 7}\n");
  folder.write("remap.config", "\xEF\xBB\xBFmap http://a/ http://b/\n");
  CHECK(problems_of(load_folder(folder.path, options())) ==
        Lines{"records.yaml:1:28: proxy.config.http.cache.http: \"7\" is out of range; expected 0 or 1"});
}

TEST_CASE("text file: what is UTF-8 and what is not", "[config][folder]") {
  const auto bad = [](std::string text) {
    ProblemList problems("f");
    clean_text(text, problems);
    return !problems.empty();
  };
  for (const char* good : {"a\tb\r\nc\n", "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    CHECK_FALSE(bad(good));
  for (const char* wrong : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\x80",
                            "\xed\xa0\x80", "\xe2\x82", "\xf0\x8f\x80\x80", "\xf4\x90\x80\x80",
                            "\xf5\x80\x80\x80", "\xff", "\x1b", "\x7f", "\xc2\x9b", "\r", "a\rb"})
    CHECK(bad(wrong));
  CHECK(bad(std::string(1, '\0')));
}
