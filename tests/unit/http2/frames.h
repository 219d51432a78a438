// SPDX-License-Identifier: Apache-2.0
#pragma once
// The client's side in the tests of HTTP/2: frames written byte by byte, and read without looking into them.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "http/preface.h"
#include "tests/unit/http1/peer.h"

namespace telltale::http2::test {

struct Frame {
  std::uint8_t type;
  std::uint8_t flags;
  std::uint32_t stream;
  std::string payload;

  bool ends_stream() const { return (flags & NGHTTP2_FLAG_END_STREAM) != 0; }
  // Of RST_STREAM and GOAWAY.
  std::uint32_t error() const { return number(type == NGHTTP2_GOAWAY ? 4 : 0); }
  std::uint32_t number(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(payload.at(i));
    return value;
  }
};

inline std::string big_endian(std::uint32_t value, int bytes = 4) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

inline std::string frame(std::uint8_t type, std::uint8_t flags = 0, std::uint32_t stream = 0,
                         std::string_view payload = {}) {
  std::string text = big_endian(static_cast<std::uint32_t>(payload.size()), 3);
  text += static_cast<char>(type);
  text += static_cast<char>(flags);
  return text + big_endian(stream) + std::string(payload);
}

// A field block of literals that are not indexed; every text is shorter than 127 bytes.
inline std::string block(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string text;
  for (const auto& [name, value] : fields) {
    text += '\0';
    text += static_cast<char>(name.size());
    text += name;
    text += static_cast<char>(value.size());
    text += value;
  }
  return text;
}

inline std::vector<std::pair<std::string, std::string>> fields(std::string method = "GET", std::string path = "/a") {
  return {{":method", std::move(method)}, {":scheme", "http"}, {":path", std::move(path)}, {":authority", "a"}};
}

inline std::string request(std::uint32_t stream, bool end = true, std::string method = "GET") {
  const std::uint8_t flags = NGHTTP2_FLAG_END_HEADERS | (end ? NGHTTP2_FLAG_END_STREAM : 0);
  return frame(NGHTTP2_HEADERS, static_cast<std::uint8_t>(flags), stream, block(fields(std::move(method))));
}
inline std::string data(std::uint32_t stream, std::string_view content, bool end = false) {
  return frame(NGHTTP2_DATA, end ? NGHTTP2_FLAG_END_STREAM : 0, stream, content);
}
inline std::string reset(std::uint32_t stream) {
  return frame(NGHTTP2_RST_STREAM, 0, stream, big_endian(NGHTTP2_CANCEL));
}
inline std::string window_update(std::uint32_t stream, std::uint32_t by) {
  return frame(NGHTTP2_WINDOW_UPDATE, 0, stream, big_endian(by));
}
inline std::string initial_window(std::uint32_t bytes) {
  return frame(NGHTTP2_SETTINGS, 0, 0, big_endian(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2) + big_endian(bytes));
}

// A connection whose preface has been sent.
class Client {
 public:
  explicit Client(telltale::test::Peer peer, std::string_view settings = {}) : peer_(std::move(peer)) {
    send(std::string(http::kHttp2Preface) + (settings.empty() ? frame(NGHTTP2_SETTINGS) : std::string(settings)));
  }
  void send(std::string_view bytes) { peer_.send(bytes); }

  Frame read() {
    const std::string head = peer_.read(9);
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(head[at]); };
    Frame got{byte(3), byte(4), 0, {}};
    got.stream = static_cast<std::uint32_t>(byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8));
    got.payload = peer_.read(static_cast<std::size_t>(byte(0) << 16 | byte(1) << 8 | byte(2)));
    return got;
  }
  // The next frame of that type; others are passed over.
  Frame read(std::uint8_t type) {
    for (;;) {
      Frame got = read();
      if (got.type == type) return got;
    }
  }
  // Everything sent before has been seen by the session, and answered.
  void ping() {
    send(frame(NGHTTP2_PING, 0, 0, "12345678"));
    read(NGHTTP2_PING);
  }
  telltale::test::Peer& peer() { return peer_; }

 private:
  telltale::test::Peer peer_;
};

}  // namespace telltale::http2::test
