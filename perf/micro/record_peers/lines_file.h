// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a contender left in its file, and in those rolled from it.

#include <string>

namespace bench {

// Reads all lines: each producer's must be there from 0 to `lines_each`, in order and whole. Empty: they are; else
// what is wrong. *files is how many files there were.
std::string check_lines(const std::string& path, int producers, int lines_each, int* files);
// Removes them.
void remove_lines(const std::string& path);

}  // namespace bench
