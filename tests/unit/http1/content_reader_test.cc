// SPDX-License-Identifier: Apache-2.0
#include "http1/content_reader.h"

#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "net/worker.h"
#include "tests/unit/net/on_worker.h"

namespace telltale::http1 {
namespace {

using http::Content;
using http::Framing;
using std::chrono::seconds;

constexpr seconds kMax{30};

// A worker that does not run: the test turns its poller by hand, on one thread.
struct Bench {
  net::ManualClock clock;
  net::Worker worker{{.clock = &clock}};
  net::test::SocketPair pair;
  net::Stream stream{worker, std::move(pair.ours), net::Endpoint{}};
  BlockPool blocks{1024};
  InputBuffer input{blocks};
  ContentReader reader{stream, input};

  void arrived(std::string_view bytes) {
    const std::span<char> room = input.room();
    std::copy(bytes.begin(), bytes.end(), room.begin());
    input.commit(bytes.size());
  }
  void turn() {
    while (worker.poller().dispatch() != 0) {
    }
  }
};

struct Read {
  std::string data;
  std::size_t pieces = 0;
  std::optional<Content::State> end;  // none while it waits
  std::string why;
};

net::Detached read_all(ContentReader& reader, Read& read) {
  for (;;) {
    const Content piece = co_await reader.next(kMax);
    if (piece.state != Content::kData) {
      read.why = piece.data;
      read.end = piece.state;
      co_return;
    }
    read.data += piece.data;
    ++read.pieces;
  }
}

Read read_now(ContentReader& reader) {
  Read read;
  read_all(reader, read);
  return read;
}

TEST_CASE("ContentReader: a message without content is at its end at once", "[http1][content]") {
  Bench bench;
  for (const Framing framing : {Framing{}, Framing{Framing::kLength, 0}}) {
    bench.reader.start(framing);
    CHECK(bench.reader.complete());
    CHECK(bench.reader.buffered());
    CHECK(read_now(bench.reader).end == Content::kEnd);
  }
}

TEST_CASE("ContentReader: content that came with the head is handed out without a system call", "[http1][content]") {
  Bench bench;
  bench.arrived("HEADhellonext");
  bench.input.pin(4);
  bench.reader.start({Framing::kLength, 5});
  CHECK_FALSE(bench.reader.complete());
  CHECK(bench.reader.buffered());
  const Read read = read_now(bench.reader);
  CHECK(read.data == "hello");
  CHECK(read.end == Content::kEnd);
  CHECK(bench.reader.complete());
  CHECK(bench.reader.bytes() == 5);
  CHECK(bench.input.data() == "next");  // of the next message
  CHECK(bench.worker.poller().control_call_count() == 0);
}

struct Message {
  const char* name;
  Framing framing;
  std::string wire;     // then comes "next" unless the end is that of the connection
  std::string content;
};

std::vector<Message> messages() {
  return {{"length", {Framing::kLength, 11}, "hello world", "hello world"},
          {"chunked", {Framing::kChunked}, "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n", "hello world"},
          {"empty chunked", {Framing::kChunked}, "0\r\n\r\n", ""},
          {"until close", {Framing::kUntilClose}, "hello world", "hello world"}};
}

TEST_CASE("ContentReader: each framing is read right, split at every position", "[http1][content]") {
  for (const Message& message : messages()) {
    const bool until_close = message.framing.kind == Framing::kUntilClose;
    const std::string wire = message.wire + (until_close ? "" : "next");
    for (std::size_t with_head = 0; with_head <= wire.size(); ++with_head) {
      for (std::size_t cut = with_head; cut <= wire.size(); ++cut) {
        INFO(message.name << ": " << with_head << " bytes with the head, then up to " << cut << ", then the rest");
        Bench bench;
        bench.arrived(std::string("HEAD") + wire.substr(0, with_head));
        bench.input.pin(4);
        bench.reader.start(message.framing);
        Read read;
        read_all(bench.reader, read);
        for (const std::string& part : {wire.substr(with_head, cut - with_head), wire.substr(cut)}) {
          if (part.empty()) continue;
          net::test::write_text(bench.pair.peer, part);
          bench.turn();
        }
        if (until_close) {
          REQUIRE_FALSE(read.end);
          bench.pair.peer.reset();
          bench.turn();
        }
        REQUIRE(read.end == Content::kEnd);
        REQUIRE(read.data == message.content);
        REQUIRE(bench.reader.complete());
        REQUIRE(bench.reader.bytes() == message.content.size());
        // What is not of this message is in the buffer or still in the socket.
        std::string rest(bench.input.data());
        if (!until_close) {
          std::array<char, 64> more;
          const net::Io io = bench.stream.recv(more);
          if (io.state == net::Io::kOk) rest.append(more.data(), io.bytes);
          REQUIRE(rest == "next");
        }
      }
    }
  }
}

TEST_CASE("ContentReader: a peer that goes away before the end leaves the content broken", "[http1][content]") {
  for (const Message& message : messages()) {
    if (message.framing.kind == Framing::kUntilClose) continue;
    for (std::size_t cut = 0; cut < message.wire.size(); ++cut) {
      INFO(message.name << " after " << cut << " bytes");
      Bench bench;
      bench.reader.start(message.framing);
      net::test::write_text(bench.pair.peer, message.wire.substr(0, cut));
      bench.pair.peer.reset();
      Read read;
      read_all(bench.reader, read);
      bench.turn();
      REQUIRE(read.end == Content::kBroken);
      REQUIRE_FALSE(bench.reader.complete());
      REQUIRE(read_now(bench.reader).end == Content::kBroken);  // and it says so again
    }
  }
}

TEST_CASE("ContentReader: wrong chunks are malformed, with a reason", "[http1][content]") {
  Bench bench;
  bench.arrived("3\r\nabcX");
  bench.reader.start({Framing::kChunked});
  Read read = read_now(bench.reader);
  CHECK(read.data == "abc");
  CHECK(read.end == Content::kMalformed);
  CHECK_FALSE(read.why.empty());
  CHECK_FALSE(bench.reader.complete());
  CHECK(read_now(bench.reader).why == read.why);
}

TEST_CASE("ContentReader: the time-out counts from the last piece", "[http1][content]") {
  Bench bench;
  bench.reader.start({Framing::kLength, 10});
  Read read;
  read_all(bench.reader, read);
  auto tick = [&](std::chrono::milliseconds by) {
    bench.clock.advance(by);
    bench.worker.tick();
  };
  tick(seconds{29});
  CHECK_FALSE(read.end);
  net::test::write_text(bench.pair.peer, "abc");
  bench.turn();
  tick(seconds{29});
  CHECK_FALSE(read.end);
  tick(seconds{1});
  CHECK(read.end == Content::kTimeout);
  CHECK(read.data == "abc");
  CHECK(read_now(bench.reader).end == Content::kTimeout);
}

TEST_CASE("ContentReader: a worker that closes ends the wait", "[http1][content]") {
  Bench bench;
  bench.reader.start({Framing::kLength, 10});
  Read read;
  read_all(bench.reader, read);
  bench.worker.poller().enter(net::Phase::kDraining);
  CHECK_FALSE(read.end);  // an exchange may end
  bench.worker.poller().enter(net::Phase::kClosing);
  CHECK(read.end == Content::kShutdown);
  bench.reader.start({Framing::kLength, 10});
  CHECK(read_now(bench.reader).end == Content::kShutdown);
}

TEST_CASE("ContentReader: content larger than a block passes through it", "[http1][content]") {
  for (const bool chunked : {false, true}) {
    Bench bench;
    std::string content(200'000, '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 + i / 256);
    std::string wire = content;
    if (chunked) {
      wire.clear();
      for (std::size_t at = 0; at < content.size(); at += 10'000) wire += "2710\r\n" + content.substr(at, 10'000) + "\r\n";
      wire += "0\r\n\r\n";
    }
    bench.arrived("HEAD");
    bench.input.pin(4);
    bench.reader.start(chunked ? Framing{Framing::kChunked} : Framing{Framing::kLength, content.size()});
    Read read;
    read_all(bench.reader, read);
    while (!wire.empty()) {
      const ssize_t sent = ::send(bench.pair.peer.get(), wire.data(), wire.size(), MSG_NOSIGNAL);
      REQUIRE(sent > 0);
      wire.erase(0, static_cast<std::size_t>(sent));
      bench.turn();
    }
    CHECK(read.end == Content::kEnd);
    CHECK((read.data == content));
    CHECK(bench.reader.bytes() == content.size());
  }
}

TEST_CASE("ContentReader: a head that fills its block leaves no room, and the content says so", "[http1][content]") {
  Bench bench;
  bench.arrived(std::string(bench.blocks.block_bytes(), 'H'));
  bench.input.pin(bench.blocks.block_bytes());
  bench.reader.start({Framing::kLength, 5});
  net::test::write_text(bench.pair.peer, "hello");
  Read read;
  read_all(bench.reader, read);
  bench.turn();
  CHECK(read.end == Content::kMalformed);
}

TEST_CASE("ContentReader: is ready for one message after another on the same connection", "[http1][content]") {
  Bench bench;
  bench.arrived("A3\r\nabc\r\n0\r\n\r\nB12CD4");
  for (const auto& [framing, content] : {std::pair{Framing{Framing::kChunked}, "abc"}, {Framing{Framing::kLength, 2}, "12"},
                                         {Framing{}, ""}, {Framing{Framing::kLength, 1}, "4"}}) {
    bench.input.pin(1);
    bench.reader.start(framing);
    const Read read = read_now(bench.reader);
    CHECK(read.data == content);
    CHECK(read.end == Content::kEnd);
    bench.input.unpin();
  }
  CHECK(bench.input.empty());
}

}  // namespace
}  // namespace telltale::http1
