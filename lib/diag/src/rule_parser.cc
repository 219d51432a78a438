// SPDX-License-Identifier: Apache-2.0
// From the text of rules to Rule. One pass, byte by byte; rule.h has the grammar. Tested in rule_test.cc.
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "rule.h"

namespace telltale::diag {
namespace {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
constexpr bool is_end(char c) { return c == ';' || c == '\n'; }

std::optional<RuleKey> find_key(std::string_view name) {
  for (std::size_t i = 0; i < kRuleKeys; ++i) {
    if (rule_key_name(static_cast<RuleKey>(i)) == name) return static_cast<RuleKey>(i);
  }
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  tl::expected<std::vector<Rule>, Refusal> parse() {
    if (text_.size() > kRulesBytesMax) {
      return tl::unexpected(Refusal{fmt::format("the rules are longer than {} bytes", kRulesBytesMax), kRulesBytesMax});
    }
    for (;;) {
      while (!at_end() && (is_blank(now()) || is_end(now()))) ++at_;
      if (at_end()) return std::move(rules_);
      if (rules_.size() == kRulesMax) return refuse(at_, fmt::format("there are more than {} rules", kRulesMax));
      if (auto refusal = parse_rule()) return tl::unexpected(std::move(*refusal));
    }
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  char now() const { return text_[at_]; }
  bool at_rule_end() const { return at_end() || is_end(now()); }
  void skip_blanks() {
    while (!at_end() && is_blank(now())) ++at_;
  }
  tl::unexpected<Refusal> refuse(std::size_t at, std::string_view what) const {
    return tl::unexpected(Refusal{fmt::format("rule {}: {}", rules_.size() + 1, what), at});
  }

  std::optional<Refusal> parse_rule() {
    std::size_t start = at_;
    Rule rule;
    if (now() == '-') {
      rule.excludes = true;
      ++at_;
      skip_blanks();
    }
    do {
      if (auto refusal = parse_term(rule)) return refusal;
      if (!at_rule_end() && !is_blank(now()))
        return refuse(at_, "expected a blank, ';' or the end behind a value").value();
      skip_blanks();
    } while (!at_rule_end());
    std::size_t end = at_;
    while (end > start && is_blank(text_[end - 1])) --end;
    rule.source = text_.substr(start, end - start);
    rules_.push_back(std::move(rule));
    return std::nullopt;
  }

  std::optional<Refusal> parse_term(Rule& rule) {
    std::size_t start = at_;
    while (!at_rule_end() && !is_blank(now()) && now() != '=') ++at_;
    std::string_view name = text_.substr(start, at_ - start);
    if (name.empty()) return refuse(start, "expected KEY=VALUE").value();
    std::optional<RuleKey> key = find_key(name);
    if (!key) {
      return refuse(start, fmt::format("\"{}\" is no key; expected tag, file, function, line, module or text", name))
          .value();
    }
    if (at_rule_end() || now() != '=') return refuse(at_, fmt::format("expected '=' behind {}", name)).value();
    ++at_;
    std::size_t value_at = at_;
    auto value = parse_value();
    if (!value) return std::move(value.error());
    if (value->empty()) return refuse(value_at, fmt::format("the value of {} is empty", name)).value();
    if (rule.has(*key)) return refuse(start, fmt::format("{} stands twice", name)).value();
    return set(rule, *key, std::move(*value), value_at);
  }

  tl::expected<std::string, Refusal> parse_value() {
    std::string value;
    if (at_end() || now() != '"') {
      while (!at_rule_end() && !is_blank(now())) value += text_[at_++];
      return value;
    }
    std::size_t start = at_++;
    for (; !at_end() && now() != '"'; ++at_) {
      if (now() == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\')) ++at_;
      value += now();
    }
    if (at_end()) return refuse(start, "expected a closing '\"'");
    ++at_;
    return value;
  }

  std::optional<Refusal> set(Rule& rule, RuleKey key, std::string value, std::size_t at) {
    switch (key) {
      case RuleKey::kTag: {
        auto pattern = Pattern::compile(value);
        if (!pattern) {
          bool bare = text_[at] != '"';
          std::size_t offset = at + (bare ? pattern.error().offset.value_or(0) : 0);
          return refuse(offset, fmt::format("tag: {}", pattern.error().what)).value();
        }
        rule.tag = std::move(*pattern);
        return std::nullopt;
      }
      case RuleKey::kFile:
        rule.file = std::move(value);
        return std::nullopt;
      case RuleKey::kFunction:
        rule.function = std::move(value);
        return std::nullopt;
      case RuleKey::kModule:
        rule.module = std::move(value);
        return std::nullopt;
      case RuleKey::kText:
        rule.text = std::move(value);
        return std::nullopt;
      case RuleKey::kLine:
        return set_lines(rule, value, at);
    }
    return std::nullopt;
  }

  std::optional<Refusal> set_lines(Rule& rule, std::string_view value, std::size_t at) {
    const char* const end = value.data() + value.size();
    auto [first_end, first_error] = std::from_chars(value.data(), end, rule.first_line);
    rule.last_line = rule.first_line;
    bool good = first_error == std::errc() && rule.first_line != 0;
    const char* behind = first_end;
    if (good && behind != end && *behind == '-') {
      auto [last_end, last_error] = std::from_chars(behind + 1, end, rule.last_line);
      good = last_error == std::errc();
      behind = last_end;
    }
    if (!good || behind != end)
      return refuse(at, fmt::format("\"{}\" is no line; expected N or N-M, from 1", value)).value();
    if (rule.last_line < rule.first_line) {
      return refuse(at, fmt::format("\"{}\" ends before it begins", value)).value();
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Rule> rules_;
};

}  // namespace

tl::expected<std::vector<Rule>, Refusal> parse_rules(std::string_view text) { return Parser(text).parse(); }

}  // namespace telltale::diag
