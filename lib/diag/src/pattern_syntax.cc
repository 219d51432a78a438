// SPDX-License-Identifier: Apache-2.0
//
// One pass over the pattern, left to right, that knows just enough of PCRE2's syntax to tell what is an
// item and what only looks like one: escapes, \Q...\E, classes, comments, the heads of groups, verbs. An
// alternative is empty if nothing stands between its '|', '(' or ')' and the next. What the pass does
// not see (an alternative of option settings only, as in "(?i)|http") is caught by Pattern::compile(),
// which tries the pattern on a byte that no tag has.
#include "pattern_syntax.h"

#include <fmt/format.h>

namespace telltale::diag {
namespace {

class Scan {
 public:
  explicit Scan(std::string_view pattern) : text_(pattern) {}

  std::optional<Refusal> run() {
    if (text_.empty()) return empty(0);
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\\') {
        escape();
      } else if (c == '[') {
        item();
        skip_class();
      } else if (c == '(') {
        open();
      } else if (c == ')') {
        if (!has_item_) return empty(at_);
        item();  // a group is an item of the alternative around it
        ++at_;
      } else if (c == '|') {
        if (!has_item_) return empty(at_);
        has_item_ = false;
        ++at_;
      } else if (c == ',') {
        return comma(at_);
      } else if (c == '{' && quantifier_end() != std::string_view::npos) {
        at_ = quantifier_end();
      } else {
        item();
        ++at_;
      }
    }
    if (!has_item_) return empty(text_.size());
    return std::nullopt;
  }

 private:
  static Refusal empty(std::size_t offset) {
    return {"an alternative is empty: it would match every tag; remove the '|', or write \"(...)?\" for an optional part",
            offset};
  }
  static Refusal comma(std::size_t offset) {
    return {"a comma does not separate tags; separate alternatives with '|', as in \"http|dns\" (a tag with a comma in it: "
            "\"\\,\")",
            offset};
  }

  void item() noexcept { has_item_ = true; }

  void escape() {
    if (text_.substr(at_).starts_with("\\Q")) {
      std::size_t end = text_.find("\\E", at_);
      if (end > at_ + 2) item();
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else {
      if (!text_.substr(at_).starts_with("\\E")) item();
      at_ += 2;
      braces_of_escape();
    }
  }
  // "\x{2c}", "\N{...}", "\g{-1}", "\p{L}": what is in the braces is no text.
  void braces_of_escape() {
    if (at_ >= text_.size() || text_[at_] != '{' || std::string_view("xogkpPN").find(text_[at_ - 1]) == std::string_view::npos) {
      return;
    }
    std::size_t end = text_.find('}', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  void skip_class() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '^') ++at_;
    if (at_ < text_.size() && text_[at_] == ']') ++at_;  // a ']' in front is an ordinary member
    while (at_ < text_.size() && text_[at_] != ']') {
      if (text_.substr(at_).starts_with("\\Q")) {
        std::size_t end = text_.find("\\E", at_);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else if (text_[at_] == '\\') {
        at_ += 2;
      } else if (text_.substr(at_).starts_with("[:") && text_.find(":]", at_) != std::string_view::npos) {
        at_ = text_.find(":]", at_) + 2;
      } else {
        ++at_;
      }
    }
    ++at_;
  }

  // After "(": what stands before the group's first alternative, or the whole of what is no group.
  void open() {
    std::string_view rest = text_.substr(at_ + 1);
    auto is = [&](std::string_view start) { return rest.starts_with(start); };
    auto is_digit = [&](std::size_t at) { return at < rest.size() && rest[at] >= '0' && rest[at] <= '9'; };
    if (is("?#") || (is("*") && rest.size() > 1 && (rest[1] < 'a' || rest[1] > 'z'))) {
      at_ = after(')');  // a comment or a verb: not an item
    } else if (is("?R") || is("?&") || is("?P=") || is("?P>") || is("?C") || is("?+") || is_digit(1) ||
               (is("?-") && is_digit(2))) {
      if (!is("?C")) item();  // a reference is one, a call-out is not
      at_ = after(')');
    } else if (is("*")) {
      enter(rest.find(':') + 1);
    } else if (!is("?")) {
      enter(0);
    } else if (is("?<=") || is("?<!") || is("?<*")) {
      enter(3);
    } else if (is("?<") || is("?P<")) {
      enter(rest.find('>') + 1);
    } else if (is("?'")) {
      enter(rest.find('\'', 2) + 1);
    } else if (is("?(")) {
      enter(condition_end(rest));
    } else if (std::size_t end = rest.find_first_not_of("imsxnJU^-", 1); end < rest.size() && rest[end] == ')') {
      at_ += end + 2;  // "(?i)": not an item
    } else {
      enter(end + 1);  // "(?:", "(?=", "(?!", "(?>", "(?|", "(?*", "(?i:"
    }
  }
  void enter(std::size_t head) {
    has_item_ = false;
    at_ += 1 + head;
  }
  // "?(1)", "?(<name>)", "?(?=a)": what decides is no alternative.
  static std::size_t condition_end(std::string_view rest) noexcept {
    std::size_t depth = 0;
    for (std::size_t at = 1; at < rest.size(); ++at) {
      if (rest[at] == '(') ++depth;
      if (rest[at] == ')' && --depth == 0) return at + 1;
    }
    return rest.size();
  }

  std::size_t after(char c) const noexcept {
    std::size_t end = text_.find(c, at_);
    return end == std::string_view::npos ? text_.size() : end + 1;
  }
  // Of "{2}", "{2,}", "{2,3}"; npos: the '{' is an ordinary character.
  std::size_t quantifier_end() const noexcept {
    std::size_t at = at_ + 1;
    auto digits = [&] {
      std::size_t from = at;
      while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') ++at;
      return at > from;
    };
    if (!digits()) return std::string_view::npos;
    if (at < text_.size() && text_[at] == ',') {
      ++at;
      digits();
    }
    return at < text_.size() && text_[at] == '}' ? at + 1 : std::string_view::npos;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_item_ = false;  // of the alternative being read
};

}  // namespace

std::optional<Refusal> check_pattern_syntax(std::string_view pattern) { return Scan(pattern).run(); }

}  // namespace telltale::diag
