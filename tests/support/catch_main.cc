// SPDX-License-Identifier: Apache-2.0
// The one main() of every Catch2 program; compiled once because it is slow to compile.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
