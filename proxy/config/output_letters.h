// SPDX-License-Identifier: Apache-2.0
//
// Where lines can go: the letters of proxy.config.diags.output.*.
//
// **Thread safety:** immutable.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace telltale::config {

struct OutputLetter {
  char letter;
  std::string_view words;
};

inline constexpr std::array<OutputLetter, 7> kOutputLetters{{
    {'O', "stdout"},
    {'E', "stderr"},
    {'L', "diags.log"},
    {'B', "diags.blog, binary"},
    {'N', "diags.json, JSON lines"},
    {'S', "syslog"},
    {'J', "journald"},
}};

// Null: no such letter.
constexpr const OutputLetter* find_output(char letter) {
  for (const OutputLetter& output : kOutputLetters) {
    if (output.letter == letter) return &output;
  }
  return nullptr;
}

// "O (stdout), E (stderr) ... and J (journald)"
std::string output_letters_in_words();

}  // namespace telltale::config
