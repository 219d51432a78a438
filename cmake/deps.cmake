# SPDX-License-Identifier: Apache-2.0
#
# Every package Telltale uses, with the reason it is used. This is the only list: CMake finds the
# libraries from it below, and ./tt reads the telltale_package() lines to install what is missing.
#
#   telltale_package(GROUP PACKAGE "reason")
#
# Groups: build (the product), run, test, load, bench (the ./tt command of that name needs them besides); the
# others are those of ./tt load --against GROUP.

function(telltale_package group package reason)
endfunction()

telltale_package(build g++             "the product's compiler, C++20")
telltale_package(build cmake           "build system")
telltale_package(build ninja-build     "runs the build; one process for all targets")
telltale_package(build pkg-config      "finds libraries that ship no CMake package")
telltale_package(build libboost1.81-dev "Asio (rare events), Beast (heads of responses, control socket), URL, JSON")
telltale_package(build libpcre2-dev    "tag patterns: linear JIT matching with match limits")
telltale_package(build libfmt-dev      "formats checked at compile time; std::format is missing in g++ 12")
telltale_package(build libyaml-cpp-dev "records.yaml, with line and column of each node")
telltale_package(build libxxhash-dev   "keyed hash of cache keys, which clients choose")
telltale_package(build libnghttp2-dev  "HTTP/2: frames, HPACK, flow control, states of streams")
telltale_package(build libexpected-dev "tl::expected; std::expected is missing in g++ 12")
telltale_package(build libcli11-dev    "command lines of telltale, ttctl and tt-origin")
telltale_package(run   curl            "the client in the commands that ./tt run prints")
telltale_package(test  catch2          "unit tests")
telltale_package(test  clang-19        "the second compiler a disabled site is asserted for")
telltale_package(test  binutils        "objdump and readelf: what a disabled site compiles to")
telltale_package(test  python3         "end-to-end tests drive the daemon from Python")
telltale_package(test  python3-pytest  "runs the end-to-end tests")
telltale_package(test  python3-hpack   "reads the heads of HTTP/2 responses in the end-to-end tests")
telltale_package(test  cmake-doc       "a real documentation tree to fetch through the proxy")
telltale_package(test  spin            "checks the lock's model, tests/model")
telltale_package(test  curl            "an HTTP client that is not ours")
telltale_package(test  nghttp2-client  "nghttp and h2load, HTTP/2 clients that are not ours")
telltale_package(load  nghttp2-client  "h2load, the load generator")
telltale_package(load  python3         "alternates the runs and prints the medians")
telltale_package(haproxy haproxy       "the proxy that ./tt load --against haproxy compares with")
telltale_package(nginx nginx           "the proxy that ./tt load --against nginx compares with, built --with-debug; Debian also starts it as a service on port 80")
telltale_package(trafficserver trafficserver "the proxy that ./tt load --against trafficserver compares with; Debian also starts it as a service on port 8080")
telltale_package(bench libbenchmark-dev "micro-benchmarks")
telltale_package(bench libabsl-dev     "absl::Mutex, which our lock is measured beside")
telltale_package(bench liburcu-dev     "liburcu's read side, which our lock is measured beside")
telltale_package(bench python3         "tables and plot of the lock's measurement")

find_package(Threads REQUIRED)
find_package(fmt 9.1 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
if(NOT TELLTALE_DIAG_ONLY)
  find_package(Boost 1.81 REQUIRED)
  find_package(yaml-cpp REQUIRED)
  find_package(CLI11 REQUIRED)
  pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
  pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET libnghttp2)
endif()
