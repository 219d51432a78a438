// SPDX-License-Identifier: Apache-2.0
#pragma once
// The hint of a command line that was not understood: which command or option of the program the first word
// that nobody took may have been. For every program here that parses its command line with CLI11.
//
// **Thread safety:** thread-safe.

#include <string>

namespace CLI {
class App;
}

namespace telltale::hint {

// "did you mean 'debug enable'?" for the first word that `app` left over when its parse() threw; empty if it
// took all words, or nothing is near. Options are those of the commands given, commands those of the whole
// program, each with the words that lead to it. The word itself is not repeated: it is the caller's to mask.
[[nodiscard]] std::string near_words(const CLI::App& app);

}  // namespace telltale::hint
