// SPDX-License-Identifier: Apache-2.0
// JOURNAL_STREAM: what it may say, and when it is true.
#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "lib/diag/src/journal_stream.h"

using namespace telltale::diag;

TEST_CASE("journal: J10, JOURNAL_STREAM is two numbers or malformed", "[diag][journal]") {
  CHECK(parse_journal_stream("8:4711") == JournalStream{8, 4711});
  CHECK(parse_journal_stream("0:0") == JournalStream{0, 0});
  CHECK(parse_journal_stream("18446744073709551615:18446744073709551615"));
  for (const char* bad : {"", ":", "8", "8:", ":4711", "8:4711 ", " 8:4711", "8:4711:1", "-8:4711", "+8:1", "8:0x10", "18446744073709551616:1", "a:b"}) {
    INFO(bad);
    CHECK_FALSE(parse_journal_stream(bad));
  }
}

TEST_CASE("journal: J10, JOURNAL_STREAM is true of the descriptor it names, and of no other", "[diag][journal]") {
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  struct stat found {};
  REQUIRE(::fstat(pair[0], &found) == 0);
  JournalStream stream{found.st_dev, found.st_ino};
  CHECK(is_journal_stream(pair[0], stream));
  CHECK_FALSE(is_journal_stream(pair[1], stream));
  CHECK_FALSE(is_journal_stream(pair[0], {stream.device, stream.inode + 1}));
  CHECK_FALSE(is_journal_stream(pair[0], {stream.device + 1, stream.inode}));
  CHECK_FALSE(is_journal_stream(-1, stream));
  ::close(pair[0]);
  ::close(pair[1]);
}
