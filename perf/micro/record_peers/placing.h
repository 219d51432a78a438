// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which thread runs where: producers have a core each; all others, backends among them, run on the rest, or where
// there is none on any.
//
// **Thread safety:** the main thread's.

namespace bench {

// For the next measurement. Threads begun later by the caller run where it does.
void place_others(int producers);
// The calling thread is this producer, from 0.
void place_producer(int number);
// In words, for who reads the figures.
const char* placing_words(int producers);

}  // namespace bench
