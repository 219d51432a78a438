// SPDX-License-Identifier: Apache-2.0
//
// yaml-cpp stops at the first thing it cannot read. An operator wants all mistakes at once, so the text is
// mended and read again: a tab in an indentation is replaced by the spaces it most likely stood for, and
// the block of a line that cannot be read is blanked. yaml-cpp 0.7 also reads on where it should stop: a
// quote that nobody closes runs to the end of the file and is taken, so closing quotes are looked for here.
// Mended text is only ever used to look for further problems, since there is at least one by then.
// tests/unit/config/records_file_test.cc covers it.
#include "config/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

namespace telltale::config {
namespace {

constexpr int kSyntaxProblemsMax = 20;

// Collects the items of the first document and the place of the second.
class Reader : public YAML::EventHandler {
 public:
  Reader(ProblemList& problems, const std::vector<std::string>& lines) : problems_(problems), lines_(lines) {}

  std::vector<YamlItem> items;

  // The first quote that is not closed on its line; all after it was read as part of it.
  std::optional<YAML::Mark> open_quote;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2) problem(mark, "a second document", "one document");
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    problem(mark, "an anchor", "plain settings");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    if (skipping()) return;
    problem(mark, "an alias", "plain settings");
    if (at_key()) return take_key(mark, std::nullopt);
    skip_value();
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (skipping()) return;
    if (at_key()) return take_key(mark, std::nullopt);
    value(mark, YamlItem::Kind::kNull, {});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& text) override {
    if (!open_quote && !is_closed(mark)) open_quote = mark;
    if (skipping()) return;
    check_tag(mark, tag);
    if (at_key()) return take_key(mark, text);
    value(mark, YamlItem::Kind::kScalar, text);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    if (!enter(mark, tag)) return;
    value(mark, YamlItem::Kind::kSequence, {});
    skip_depth_ = 1;
  }
  void OnSequenceEnd() override { leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    if (!enter(mark, tag)) return;
    if (levels_.size() == kYamlDepthMax) {
      problem(mark, fmt::format("nested deeper than {} levels", kYamlDepthMax), {});
      skip_value();
      skip_depth_ = 1;
      return;
    }
    const bool wanted = levels_.empty() || levels_.back().wanted;
    std::string path = levels_.empty() ? std::string() : levels_.back().child;
    value(mark, YamlItem::Kind::kMapping, {});
    if (!wanted) {
      skip_depth_ = 1;
      return;
    }
    Level level;
    level.path = std::move(path);
    level.item = items.size() - 1;
    levels_.push_back(std::move(level));
  }
  void OnMapEnd() override {
    if (leave()) return;
    if (levels_.back().lines.empty() && levels_.back().wanted)
      items[levels_.back().item].kind = YamlItem::Kind::kEmptyMapping;
    levels_.pop_back();
  }

 private:
  struct Level {
    std::string path;
    std::string child;                 // path of the key whose value comes next
    bool at_key = true;                // a key comes next, not a value
    bool wanted = true;                // the value of that key is listed
    std::size_t item = 0;              // this mapping's own item
    std::map<std::string, int> lines;  // keys seen so far
  };

  void problem(const YAML::Mark& mark, std::string what, std::string expected) {
    if (documents_ > 2) return;
    problems_.add(mark.line + 1, mark.column + 1, std::move(what), std::move(expected));
  }

  // False if the scalar at `mark` opens a quote that its line does not close.
  bool is_closed(const YAML::Mark& mark) const {
    if (mark.line < 0 || static_cast<std::size_t>(mark.line) >= lines_.size()) return true;
    std::string_view rest = lines_[static_cast<std::size_t>(mark.line)];
    rest.remove_prefix(
        std::min(rest.size(), static_cast<std::size_t>(std::max(mark.column, 0))));  // both in bytes
    // An explicit tag or an anchor may stand in front; both are refused, and their scalar needs no check.
    if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return true;
    const char quote_mark = rest.front();
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (quote_mark == '"' && rest[i] == '\\') {
        ++i;
      } else if (rest[i] == quote_mark) {
        if (quote_mark == '"' || i + 1 == rest.size() || rest[i + 1] != '\'') return true;
        ++i;  // '' inside single quotes is one quote
      }
    }
    return false;
  }

  bool skipping() const { return skip_depth_ > 0 || documents_ > 1; }
  bool at_key() const { return !levels_.empty() && levels_.back().at_key; }

  // "?" is a plain scalar, "!" a quoted one; "" is what collections have.
  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag != "?" && tag != "!" && !tag.empty()) problem(mark, "a YAML tag", "plain settings");
  }

  // A collection begins. True if its content is to be read.
  bool enter(const YAML::Mark& mark, const std::string& tag) {
    if (documents_ > 1) return false;
    if (skip_depth_ > 0) {
      ++skip_depth_;
      return false;
    }
    check_tag(mark, tag);
    if (at_key()) {
      take_key(mark, std::nullopt);
      skip_depth_ = 1;
      return false;
    }
    return true;
  }

  // A collection ends. True if it was skipped.
  bool leave() {
    if (documents_ > 1) return true;
    if (skip_depth_ == 0) return false;
    --skip_depth_;
    return true;
  }

  void take_key(const YAML::Mark& mark, const std::optional<std::string>& key) {
    Level& level = levels_.back();
    level.at_key = false;
    level.wanted = false;
    if (!key || key->empty()) {
      problem(mark, "a key that is no name", "a record's name or a part of it");
    } else if (key->size() > kYamlKeyBytesMax) {
      problem(mark, fmt::format("a key longer than {} bytes", kYamlKeyBytesMax), {});
    } else if (const auto [seen, fresh] = level.lines.emplace(*key, mark.line + 1); !fresh) {
      problem(mark, fmt::format("the key {} is already on line {}", quote(*key), seen->second),
              "each key once");
    } else {
      level.wanted = true;
      level.child = level.path.empty() ? *key : level.path + "." + *key;
    }
  }

  void skip_value() {
    if (!levels_.empty()) levels_.back().at_key = true;
  }

  void value(const YAML::Mark& mark, YamlItem::Kind kind, std::string text) {
    if (levels_.empty()) {
      items.push_back({{}, kind, std::move(text), mark.line + 1, mark.column + 1});
      return;
    }
    Level& level = levels_.back();
    level.at_key = true;
    if (level.wanted) items.push_back({level.child, kind, std::move(text), mark.line + 1, mark.column + 1});
  }

  ProblemList& problems_;
  const std::vector<std::string>& lines_;
  std::vector<Level> levels_;
  int documents_ = 0;
  int skip_depth_ = 0;
};

// The text as lines, to be mended and joined again.
std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line;
    text += '\n';
  }
  return text;
}

std::size_t indent_of(std::string_view line) { return std::min(line.size(), line.find_first_not_of(" \t")); }

bool has_content(std::string_view line) {
  return indent_of(line) < line.size() && line[indent_of(line)] != '#';
}

bool opens_section(std::string_view line) {
  line = line.substr(0, line.find(" #"));
  const std::size_t last = line.find_last_not_of(" \t");
  return last != std::string_view::npos && line[last] == ':';
}

// Reports tabs in indentations and puts spaces in their place. A line takes the indentation of the line
// before it, or one step more if that line opens a section, where the next line without tabs may say how
// far a step goes. Lines with the same tabs get the same spaces. Returns how far each line, by its number
// from 1, moved to the right.
std::map<int, int> mend_tabs(std::vector<std::string>& lines, ProblemList& problems) {
  std::map<int, int> moved;
  std::map<std::string, std::size_t, std::less<>> known;
  std::optional<std::size_t> previous;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!has_content(lines[i])) continue;
    const std::string blank = lines[i].substr(0, indent_of(lines[i]));
    const std::size_t tab = blank.find('\t');
    if (tab == std::string::npos) {
      known.clear();
      previous = i;
      continue;
    }
    problems.add(static_cast<int>(i) + 1, static_cast<int>(tab) + 1, "a tab in the indentation", "spaces");
    std::size_t indent = 0;
    if (const auto seen = known.find(blank); seen != known.end()) {
      indent = seen->second;
    } else if (previous) {
      indent = indent_of(lines[*previous]);
      if (opens_section(lines[*previous])) {
        std::size_t next = i + 1;
        while (next < lines.size() &&
               (!has_content(lines[next]) ||
                lines[next].substr(0, indent_of(lines[next])).find('\t') != std::string::npos))
          ++next;
        const std::size_t below = next < lines.size() ? indent_of(lines[next]) : 0;
        indent = below > indent ? below : indent + 2;
      }
    }
    known.emplace(blank, indent);
    moved.emplace(static_cast<int>(i) + 1, static_cast<int>(indent) - static_cast<int>(blank.size()));
    lines[i] = std::string(indent, ' ') + lines[i].substr(blank.size());
    previous = i;
  }
  return moved;
}

// Reports and empties lines such as %YAML 1.2: yaml-cpp drops those it does not know without a word.
void refuse_directives(std::vector<std::string>& lines, ProblemList& problems) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with('%')) continue;
    problems.add(static_cast<int>(i) + 1, 1, "a YAML directive", "plain settings");
    lines[i].clear();
  }
}

// Empties a line and what is indented deeper below it. False if there was nothing to empty.
bool blank_block(std::vector<std::string>& lines, std::size_t line) {
  if (line >= lines.size() || !has_content(lines[line])) return false;
  const std::size_t indent = indent_of(lines[line]);
  lines[line].clear();
  for (std::size_t i = line + 1; i < lines.size(); ++i) {
    if (!has_content(lines[i])) continue;
    if (indent_of(lines[i]) <= indent) break;
    lines[i].clear();
  }
  return true;
}

// Reads once. Nothing if it was read to its end or to a second document, else what stopped it.
std::optional<YAML::ParserException> read_once(const std::string& text, Reader& reader) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    for (int documents = 0; documents < 2 && parser.HandleNextDocument(reader); ++documents) {
    }
  } catch (const YAML::ParserException& e) {
    return e;
  }
  return std::nullopt;
}

}  // namespace

std::vector<YamlItem> read_yaml(std::string_view text, ProblemList& problems) {
  std::vector<std::string> lines = split_lines(text);
  refuse_directives(lines, problems);
  const std::map<int, int> moved = mend_tabs(lines, problems);
  const auto column_in_file = [&](int line, int column) {
    const auto shift = moved.find(line);
    return shift == moved.end() ? column : std::max(column - shift->second, 1);
  };
  for (int tries = 1;; ++tries) {
    ProblemList found(problems.file());
    Reader reader(found, lines);
    const auto stopped = read_once(joined(lines), reader);
    if (stopped || reader.open_quote) {
      const YAML::Mark mark = reader.open_quote ? *reader.open_quote : stopped->mark;
      const int line = std::max(mark.line, 0);
      const int column = column_in_file(line + 1, std::max(mark.column, 0) + 1);
      if (reader.open_quote) {
        problems.add(line + 1, column, "a quote that is not closed on its line");
      } else {
        problems.add(line + 1, column, "YAML: " + stopped->msg);
      }
      if (tries < kSyntaxProblemsMax && blank_block(lines, static_cast<std::size_t>(line))) continue;
    }
    for (Problem& p : found.take())
      problems.add(p.line, column_in_file(p.line, p.column), std::move(p.what), std::move(p.expected));
    for (YamlItem& item : reader.items)
      item.column = column_in_file(item.line, item.column);
    return std::move(reader.items);
  }
}

}  // namespace telltale::config
