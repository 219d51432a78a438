// SPDX-License-Identifier: Apache-2.0
#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <new>

#include <fmt/format.h>

#include "pattern_syntax.h"

namespace telltale::diag {
namespace {

PCRE2_SPTR units(std::string_view text) noexcept { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

Pattern::~Pattern() {
  pcre2_match_context_free(limits_);
  pcre2_code_free(code_);
}

tl::expected<std::shared_ptr<const Pattern>, Refusal> Pattern::compile(std::string_view text) {
  if (text.size() > kPatternBytesMax) {
    return tl::unexpected(Refusal{fmt::format("the pattern is longer than {} bytes", kPatternBytesMax), kPatternBytesMax});
  }
  std::shared_ptr<Pattern> pattern(new Pattern(text));
  int error = 0;
  PCRE2_SIZE offset = 0;
  if (!text.empty()) {
    pattern->code_ = pcre2_compile(units(text), text.size(), PCRE2_ANCHORED | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP, &error,
                                   &offset, nullptr);
    if (pattern->code_ == nullptr) {
      return tl::unexpected(Refusal{fmt::format("not a valid pattern: {}", error_text(error)), offset});
    }
  }
  if (auto refusal = check_pattern_syntax(text)) return tl::unexpected(std::move(*refusal));

  pattern->limits_ = pcre2_match_context_create(nullptr);
  if (pattern->limits_ == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(pattern->limits_, kMatchStepsMax);
  pcre2_set_depth_limit(pattern->limits_, kMatchDepthMax);
  pcre2_set_heap_limit(pattern->limits_, kMatchHeapKibMax);
  // Fails where memory may not be made executable; the interpreter serves then.
  (void)pcre2_jit_compile(pattern->code_, PCRE2_JIT_COMPLETE);

  // No tag begins with this byte: what is content with none of it is content with every tag. ".*" takes it.
  Result vacuous = pattern->match("\x01");
  if (vacuous.outcome == Outcome::kMatch && vacuous.end == 0) {
    return tl::unexpected(
        Refusal{"the pattern is satisfied by nothing and so would match every tag; write \".*\" if that is meant, and end "
                "a pattern that only excludes with \".*\"",
                std::nullopt});
  }
  return pattern;
}

Pattern::Result Pattern::match(std::string_view subject) const {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  if (data == nullptr) return {Outcome::kError, PCRE2_ERROR_NOMEMORY};
  int rc = pcre2_match(code_, units(subject), subject.size(), 0, 0, data, limits_);
  if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
    rc = pcre2_match(code_, units(subject), subject.size(), 0, PCRE2_NO_JIT, data, limits_);
  }
  Result result{Outcome::kNoMatch};
  if (rc >= 0) {
    result = {Outcome::kMatch, 0, pcre2_get_ovector_pointer(data)[1]};
  } else if (rc != PCRE2_ERROR_NOMATCH) {
    result = {Outcome::kError, rc};
  }
  pcre2_match_data_free(data);
  return result;
}

std::string Pattern::error_text(int error) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace telltale::diag
