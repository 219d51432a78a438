// SPDX-License-Identifier: Apache-2.0
#include "config/records_file.h"

#include <fmt/format.h>

#include "config/text_file.h"
#include "config/yaml_reader.h"

namespace telltale::config {
namespace {

constexpr std::string_view kTop = "records";

std::string full_name(std::string_view path) {
  if (path == "proxy" || path == "proxy.config" || path.starts_with("proxy.config."))
    return std::string(path);
  return fmt::format("proxy.config.{}", path);
}

class Interpreter {
 public:
  Interpreter(RecordsFile& file, ProblemList& problems, const DebugChecks& check_tags)
      : file_(file), problems_(problems), check_tags_(check_tags) {}

  void take(const YamlItem& item) {
    // What is nested below something already refused would only repeat it.
    if (refused_ && item.path.starts_with(*refused_)) return;
    refused_.reset();
    if (item.path.empty()) return document(item);
    if (item.path == kTop) return top(item);
    if (!item.path.starts_with("records.")) {
      refuse(item, fmt::format("the top key {}", quote(item.path)),
             "records: at the top and all else below it");
      return;
    }
    const std::string name = full_name(std::string_view(item.path).substr(kTop.size() + 1));
    if (const auto record = find_record(name)) return value(*record, item);
    if (is_section(name)) return section(name, item);
    if (item.kind == YamlItem::Kind::kMapping) return;  // its keys are told one by one
    add(item, not_offered(name));
  }

 private:
  void add(const YamlItem& item, Problem problem) {
    problems_.add(item.line, item.column, std::move(problem.what), std::move(problem.expected));
  }

  void refuse(const YamlItem& item, std::string what, std::string expected) {
    refused_ = item.path + ".";
    problems_.add(item.line, item.column, std::move(what), std::move(expected));
  }

  void document(const YamlItem& item) {
    if (item.kind == YamlItem::Kind::kScalar || item.kind == YamlItem::Kind::kSequence)
      problems_.add(item.line, item.column, "the file is no mapping", "records: at the top");
  }

  void top(const YamlItem& item) {
    if (item.kind == YamlItem::Kind::kScalar || item.kind == YamlItem::Kind::kSequence)
      problems_.add(item.line, item.column, "records: is no mapping", "records below it");
  }

  void section(const std::string& name, const YamlItem& item) {
    if (item.kind == YamlItem::Kind::kScalar || item.kind == YamlItem::Kind::kSequence)
      problems_.add(item.line, item.column, name + ": a section, it takes no value", "records below it");
  }

  void value(Record record, const YamlItem& item) {
    switch (item.kind) {
      case YamlItem::Kind::kNull:
        problems_.add(
            item.line, item.column, fmt::format("{}: no value", name(record)),
            expectation(record) + (info(record).kind == Kind::kInteger
                                       ? ""
                                       : "; an empty text is written \"\", the word null \"null\""));
        return;
      case YamlItem::Kind::kSequence:
        problems_.add(item.line, item.column, fmt::format("{}: a list", name(record)), expectation(record));
        return;
      case YamlItem::Kind::kMapping:
      case YamlItem::Kind::kEmptyMapping:
        refuse(item, fmt::format("{}: a mapping", name(record)), expectation(record));
        return;
      case YamlItem::Kind::kScalar: break;
    }
    if (const auto& earlier = file_[record]) {
      problems_.add(item.line, item.column,
                    fmt::format("{}: already set on line {}", name(record), earlier->line),
                    "each record once");
      return;
    }
    // A refused value is kept too, so that a second one is told.
    file_.set(record, {item.text, item.line, item.column});
    if (auto valid = validate(record, item.text, check_tags_); !valid) add(item, std::move(valid.error()));
  }

  RecordsFile& file_;
  ProblemList& problems_;
  const DebugChecks& check_tags_;
  std::optional<std::string> refused_;
};

}  // namespace

tl::expected<RecordsFile, Problems> parse_records_file(std::string text, const std::string& file_name,
                                                       const DebugChecks& check_tags) {
  ProblemList problems(file_name);
  RecordsFile file(file_name);
  clean_text(text, problems);
  Interpreter interpreter(file, problems, check_tags);
  for (const YamlItem& item : read_yaml(text, problems))
    interpreter.take(item);
  if (!problems.empty()) return tl::unexpected(problems.take());
  return file;
}

tl::expected<Records, Problems> apply(const RecordsFile& file, Records records) {
  Problems problems;
  for (const RecordInfo& record : record_table()) {
    const auto& value = file[record.id];
    if (!value) continue;
    auto changed =
        records.with(record.id, value->text, Source::from_file(file.name(), value->line, value->column));
    if (changed) {
      records = std::move(*changed);
    } else {
      problems.push_back(std::move(changed.error()));
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return records;
}

}  // namespace telltale::config
