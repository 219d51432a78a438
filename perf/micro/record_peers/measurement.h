// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two measurements of record_peers_bench. Each prints a table and its gates; false: a gate was missed.

#include <algorithm>
#include <string>
#include <vector>

namespace bench {

struct Extent {
  int rounds;
  int lines;          // of a producer in a run, of the backend's measurement
  std::string folder;  // for files; on tmpfs
};

// What a line costs the thread that writes it: the mean over batches of 20, paced.
bool measure_producer(const Extent& extent);
// How many lines a second arrive in a file, with one and with two producers.
bool measure_backend(const Extent& extent);

inline double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// Prints "met" or "MISSED" and what; returns whether it was met.
bool verdict(bool met, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace bench
