// SPDX-License-Identifier: Apache-2.0
#include "http1/chunk_decoder.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "http1/chunk_encoder.h"

using namespace telltale::http1;
using State = ChunkDecoder::State;

namespace {

struct Outcome {
  State state = State::kNeedMore;
  std::string content;
  std::string error;
  std::size_t consumed = 0;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Feeds `in` in pieces that end at `cuts`, as a caller would.
Outcome decode(ChunkDecoder& decoder, std::string_view in, const std::vector<std::size_t>& cuts = {}) {
  Outcome outcome;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : in.size();
    std::string_view piece = in.substr(begin, end - begin);
    while (true) {
      const ChunkDecoder::Result result = decoder.decode(piece);
      REQUIRE(result.consumed <= piece.size());
      if (!result.content.empty()) REQUIRE(result.content.data() >= piece.data());
      outcome.content += result.content;
      outcome.consumed += result.consumed;
      piece.remove_prefix(result.consumed);
      outcome.state = result.state;
      if (result.state == State::kContent) continue;
      if (result.state == State::kNeedMore) REQUIRE(piece.empty());
      break;
    }
    begin = end;
    if (outcome.state == State::kDone || outcome.state == State::kBad) break;
  }
  outcome.error = decoder.error();
  REQUIRE(decoder.done() == (outcome.state == State::kDone));
  REQUIRE(outcome.error.empty() == (outcome.state != State::kBad));
  return outcome;
}

Outcome decode(std::string_view in, ChunkLimits limits = {}) {
  ChunkDecoder decoder(limits);
  return decode(decoder, in);
}

bool bad(std::string_view in) { return decode(in).state == State::kBad; }

}  // namespace

TEST_CASE("ChunkDecoder: content comes out and the next message stays", "[http1][chunk]") {
  const Outcome outcome = decode("3\r\nabc\r\n10;a=b\r\n0123456789abcdef\r\n0\r\n\r\nGET /");
  CHECK(outcome.state == State::kDone);
  CHECK(outcome.content == "abc0123456789abcdef");
  CHECK(outcome.consumed == std::string_view("3\r\nabc\r\n10;a=b\r\n0123456789abcdef\r\n0\r\n\r\n").size());
}

TEST_CASE("ChunkDecoder: content is passed on without waiting for the rest of its chunk", "[http1][chunk]") {
  ChunkDecoder decoder;
  const auto first = decoder.decode("a\r\nabc");
  CHECK(first.state == State::kNeedMore);
  CHECK(first.content == "abc");
  const auto second = decoder.decode("defghij\r\n5\r\n12345");
  CHECK(second.state == State::kContent);
  CHECK(second.content == "defghij");
  CHECK(second.consumed == 7);
  CHECK(decoder.content_bytes() == 10);
  CHECK(decoder.decode("").state == State::kNeedMore);
}

TEST_CASE("ChunkDecoder: B104 a size line that is more than a number is refused", "[http1][chunk][B104]") {
  CHECK(bad("1these-bytes-never-get-validated\r\nZ\r\n0\r\n\r\n"));
  CHECK(bad("1zz\r\nZ\r\n0\r\n\r\n"));
  for (const char* line : {"", " 1", "\t1", "0x1", "+1", "-1", "g", "1,", "1 ", "1\t", "1 a", ";a", "1=a"}) {
    INFO(line);
    CHECK(bad(std::string(line) + "\r\nZ\r\n0\r\n\r\n"));
  }
}

TEST_CASE("ChunkDecoder: B106 only CR LF ends a line, and none stands in an extension", "[http1][chunk][B106]") {
  CHECK(bad("1;a\nX\r\nZ\r\n0\r\n\r\n"));
  CHECK(bad("1\nZ\r\n0\r\n\r\n"));
  CHECK(bad("1\r\nZ\n0\r\n\r\n"));
  CHECK(bad("1\rZ\r\n0\r\n\r\n"));
  CHECK(bad("1;a\rb\r\nZ\r\n0\r\n\r\n"));
  CHECK(bad("1;a=\"b\nc\"\r\nZ\r\n0\r\n\r\n"));
  CHECK(bad("1\r\nZ\r\n0\n\r\n"));
  CHECK(bad("1\r\nZ\r\n0\r\n\n"));
  CHECK(bad("1\r\nZ\r\n0\r\n\rx"));
  CHECK(bad(std::string_view("1;a\0b\r\nZ\r\n0\r\n\r\n", 19)));
  CHECK(bad("1;a\x7f\r\nZ\r\n0\r\n\r\n"));
}

TEST_CASE("ChunkDecoder: a chunk that is longer or shorter than its size is refused", "[http1][chunk]") {
  CHECK(bad("1\r\nZZ\r\n0\r\n\r\n"));
  CHECK(bad("2\r\nZ\r\n0\r\n\r\n"));
}

TEST_CASE("ChunkDecoder: extensions are skipped and counted", "[http1][chunk]") {
  ChunkDecoder decoder;
  const Outcome outcome = decode(decoder, "1;a;b=c;d=\"e;f\"\r\nZ\r\n1 \t;g\r\nY\r\n0;last\r\n\r\n");
  CHECK(outcome.state == State::kDone);
  CHECK(outcome.content == "ZY");
  CHECK(decoder.extension_bytes() == 14 + 4 + 5);
}

TEST_CASE("ChunkDecoder: a size has at most sixteen digits", "[http1][chunk][limit]") {
  CHECK(decode("0000000000000001\r\nZ\r\n0\r\n\r\n").state == State::kDone);
  CHECK(bad("00000000000000001\r\nZ\r\n0\r\n\r\n"));
  ChunkDecoder decoder;
  CHECK(decode(decoder, "ffffffffffffffff\r\nZ").state == State::kNeedMore);  // the largest size is no overflow
  CHECK(decoder.content_bytes() == 1);
  CHECK(bad("10000000000000000\r\nZ"));
  CHECK(decode("0000000000000000\r\n\r\n").state == State::kDone);
}

TEST_CASE("ChunkDecoder: extensions have a limit for a chunk and one for the message", "[http1][chunk][limit]") {
  ChunkLimits limits;
  limits.extension_bytes_max = 10;
  limits.extension_bytes_total_max = 25;
  const std::string ten = "1;123456789\r\nZ\r\n";
  const std::string eleven = "1;1234567890\r\nZ\r\n";
  const std::string five = "1;1234\r\nZ\r\n";
  const std::string six = "1;12345\r\nZ\r\n";
  const std::string end = "0\r\n\r\n";
  CHECK(decode(ten + end, limits).state == State::kDone);
  CHECK(decode(eleven + end, limits).error == "the chunk extensions are too long");
  CHECK(decode(ten + ten + five + end, limits).state == State::kDone);
  CHECK(decode(ten + ten + six + end, limits).state == State::kBad);
}

TEST_CASE("ChunkDecoder: B121 trailer fields are checked, counted and dropped", "[http1][chunk][B121]") {
  ChunkDecoder decoder;
  const Outcome outcome = decode(decoder, "3\r\nabc\r\n0\r\nX-T: v\r\nX-U:\r\n\r\n");
  CHECK(outcome.state == State::kDone);
  CHECK(outcome.content == "abc");
  CHECK(decoder.trailer_fields() == 2);
  for (const char* trailer : {"X T: v", ": v", " X: v", "X-T", "X-T: a\x01", "X-T: a\rb", "X-T: a\nX-U: b", "X: a\r\n b", "X :v"}) {
    INFO(trailer);
    CHECK(bad("0\r\n" + std::string(trailer) + "\r\n\r\n"));
  }
}

TEST_CASE("ChunkDecoder: the trailer section has a limit", "[http1][chunk][limit]") {
  ChunkLimits limits;
  limits.trailer_bytes_max = 20;
  CHECK(decode("0\r\nX: 123456789012345\r\n\r\n", limits).state == State::kDone);   // 20 bytes
  CHECK(decode("0\r\nX: 1234567890123456\r\n\r\n", limits).error == "the trailer section is too long");
  CHECK(decode("0\r\nX: 12345\r\nX: 12345\r\n\r\n", limits).state == State::kDone);
  CHECK(decode("0\r\nX: 12345\r\nX: 123456\r\n\r\n", limits).state == State::kBad);
}

TEST_CASE("ChunkDecoder: after the end and after an error nothing is consumed until reset", "[http1][chunk]") {
  ChunkDecoder decoder;
  CHECK(decode(decoder, "0\r\n\r\n").state == State::kDone);
  CHECK(decoder.decode("1\r\nZ\r\n").consumed == 0);
  CHECK(decoder.decode("1\r\nZ\r\n").state == State::kDone);
  decoder.reset();
  CHECK(decode(decoder, "x").state == State::kBad);
  CHECK(decoder.decode("1\r\nZ\r\n").consumed == 0);
  CHECK(decoder.decode("1\r\nZ\r\n").state == State::kBad);
  decoder.reset();
  CHECK(decoder.error().empty());
  CHECK(decode(decoder, "1\r\nZ\r\n0\r\n\r\n").content == "Z");
}

namespace {

std::string random_message(std::mt19937& random, std::string* content) {
  std::string message;
  for (unsigned chunks = random() % 5; chunks > 0; --chunks) {
    std::string data;
    for (unsigned n = 1 + random() % 40; n > 0; --n) data += static_cast<char>(random() % 4 == 0 ? "\r\n0;"[random() % 4] : random());
    char header[kChunkHeaderMax];
    std::string line(chunk_header(data.size(), header));
    if (random() % 3 == 0) line.insert(line.size() - 2, ";x=\"y;z\"");
    if (random() % 3 == 0) line.insert(0, "00");
    message += line + data + std::string(kChunkEnd);
    *content += data;
  }
  message += random() % 2 == 0 ? std::string(kLastChunk) : "0;e\r\nA: b\r\nC:\t d\r\n\r\n";
  return message;
}

}  // namespace

TEST_CASE("ChunkDecoder: split at every position the result is the same", "[http1][chunk][random]") {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    std::string content;
    std::string message = random_message(random, &content);
    // Half of them are damaged by one byte changed, lost or added.
    const bool damaged = round % 2 == 1;
    if (damaged) {
      const std::size_t at = random() % message.size();
      const char c = "\r\n0;:Z \x01"[random() % 8];
      if (random() % 3 == 0) message[at] = c;
      else if (random() % 2 == 0) message.erase(at, 1);
      else message.insert(at, 1, c);
    }
    message += "GET / HTTP/1.1";
    const Outcome whole = decode(message);
    if (!damaged) {
      REQUIRE(whole.state == State::kDone);
      REQUIRE(whole.content == content);
    }
    for (std::size_t first = 0; first <= message.size(); ++first) {
      ChunkDecoder decoder;
      REQUIRE(decode(decoder, message, {first}) == whole);
    }
    std::vector<std::size_t> every;
    for (std::size_t i = 1; i < message.size(); ++i) every.push_back(i);
    ChunkDecoder decoder;
    REQUIRE(decode(decoder, message, every) == whole);
  }
}

TEST_CASE("ChunkDecoder: random bytes end in one of the states and never beyond the input", "[http1][chunk][random]") {
  std::mt19937 random(4);
  for (int round = 0; round < 100000; ++round) {
    std::string in;
    for (unsigned n = random() % 30; n > 0; --n) in += random() % 8 == 0 ? static_cast<char>(random()) : "\r\n012af;=:\"X"[random() % 12];
    const Outcome outcome = decode(in);
    REQUIRE(outcome.consumed <= in.size());
  }
}

TEST_CASE("ChunkEncoder: sizes are hexadecimal without leading zeros", "[http1][chunk]") {
  char out[kChunkHeaderMax];
  CHECK(chunk_header(1, out) == "1\r\n");
  CHECK(chunk_header(255, out) == "ff\r\n");
  CHECK(chunk_header(65536, out) == "10000\r\n");
  CHECK(chunk_header(~std::uint64_t{0}, out) == "ffffffffffffffff\r\n");
}
