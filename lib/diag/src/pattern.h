// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pattern: a tag pattern, compiled. Matches at the start of a tag.
//
// PCRE2 on bytes (no UTF, also not when the pattern asks for it), anchored, with JIT where the processor
// has it. Every match has limits, so that it ends within some tens of microseconds; what hits a limit is
// an error, told apart from "no match". There is no state per thread: the JIT uses the 32 KiB of the
// machine stack that PCRE2 takes by itself, and a match that needs more is done again by the
// interpreter, whose frames are on the heap.
//
// **Thread safety:** immutable. Never used with a lock held: matching allocates.
// **Source:** pcre2api(3), pcre2jit(3).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include <telltale/diag/debug_control.h>

struct pcre2_real_code_8;
struct pcre2_real_match_context_8;

namespace telltale::diag {

inline constexpr std::size_t kPatternBytesMax = 4096;
inline constexpr std::uint32_t kMatchStepsMax = 10'000;     // backtracking steps of one match
inline constexpr std::uint32_t kMatchDepthMax = 1'000;
inline constexpr std::uint32_t kMatchHeapKibMax = 256;

class Pattern {
 public:
  // Errors: see check_tag_pattern(); the offset is a byte of `text`.
  static tl::expected<std::shared_ptr<const Pattern>, Refusal> compile(std::string_view text);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  enum class Outcome : std::uint8_t { kNoMatch, kMatch, kError };
  struct Result {
    Outcome outcome;
    int error = 0;        // PCRE2's, for error_text()
    std::size_t end = 0;  // bytes matched
  };
  // Cost: allocates; at most kMatchStepsMax steps, twice where the JIT ran out of stack.
  Result match(std::string_view subject) const;
  static std::string error_text(int error);

  const std::string& text() const noexcept { return text_; }

 private:
  explicit Pattern(std::string_view text) : text_(text) {}

  std::string text_;
  pcre2_real_code_8* code_ = nullptr;
  pcre2_real_match_context_8* limits_ = nullptr;
};

}  // namespace telltale::diag
