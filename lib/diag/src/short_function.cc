// SPDX-License-Identifier: Apache-2.0
// See short_function.h. The signature is read from its end, because only the end is regular: return
// types and template arguments in front may hold anything. Tested in short_function_test.cc with the
// output of both compilers.
#include "short_function.h"

namespace telltale::diag {

namespace {

constexpr std::string_view kHere = "::telltale_here::function";

bool strip_suffix(std::string_view& text, std::string_view suffix) noexcept {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Where the bracket that `text` ends with was opened; npos if it never was.
std::size_t opening(std::string_view text, char open, char close) noexcept {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// " [with T = int]" of g++, " [T = int]" of clang.
void strip_template_note(std::string_view& text) noexcept {
  if (!text.ends_with(']')) return;
  if (std::size_t at = opening(text, '[', ']'); at != std::string_view::npos && at > 0 && text[at - 1] == ' ') {
    text = text.substr(0, at - 1);
  }
}

void strip_qualifiers(std::string_view& text) noexcept {
  while (strip_suffix(text, " const") || strip_suffix(text, " volatile") || strip_suffix(text, " noexcept") ||
         strip_suffix(text, " &&") || strip_suffix(text, " &")) {
  }
}

// "f()::<lambda(int)>" of g++, "f()::(anonymous class)::operator()(int)" of clang.
bool strip_lambda(std::string_view& text) noexcept {
  if (text.ends_with(')')) {
    std::string_view before = text.substr(0, opening(text, '(', ')'));
    if (strip_suffix(before, "::(anonymous class)::operator()")) {
      text = before;
      return true;
    }
  }
  if (!text.ends_with('>')) return false;
  std::size_t at = text.rfind("::<lambda(");
  if (at == std::string_view::npos) return false;
  text = text.substr(0, at);
  return true;
}

}  // namespace

std::string_view short_function(std::string_view signature) noexcept {
  std::string_view text = signature;
  if (std::size_t at = text.rfind(kHere); at != std::string_view::npos) text = text.substr(0, at);
  do {
    strip_template_note(text);
    strip_qualifiers(text);
  } while (strip_lambda(text));

  if (text.ends_with(')')) {
    std::size_t at = opening(text, '(', ')');
    if (at == std::string_view::npos) return signature;
    text = text.substr(0, at);
  }
  // Operators may hold any sign, and conversion operators a space.
  for (std::size_t at = text.rfind("operator"); at != std::string_view::npos && at > 0;) {
    if (text[at - 1] == ':' || text[at - 1] == ' ') return text.substr(at);
    break;
  }
  if (text.ends_with('>')) {
    if (std::size_t at = opening(text, '<', '>'); at != std::string_view::npos) text = text.substr(0, at);
  }
  std::size_t start = text.find_last_of(": *&");
  if (start != std::string_view::npos) text = text.substr(start + 1);
  return text.empty() ? signature : text;
}

}  // namespace telltale::diag
