// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tt_origin {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kHeadBytesMax = 256 << 10;
constexpr std::size_t kBlockBytes = 720 * kPatternPeriod;  // whole periods: every block starts the pattern

// A Beast body that counts everything and keeps the first kKeptBytesMax.
struct KeptBody {
  struct value_type {
    std::string kept;
    std::uint64_t bytes = 0;
  };
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(http::header<is_request, Fields>&, value_type& value) : value_(value) {}
    void init(const boost::optional<std::uint64_t>&, beast::error_code& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, beast::error_code& error) {
      error = {};
      for (const asio::const_buffer buffer : beast::buffers_range_ref(buffers)) {
        const auto room = kKeptBytesMax - value_.kept.size();
        value_.kept.append(static_cast<const char*>(buffer.data()), std::min(room, buffer.size()));
        value_.bytes += buffer.size();
      }
      return asio::buffer_size(buffers);
    }
    void finish(beast::error_code& error) { error = {}; }

   private:
    value_type& value_;
  };
};

enum class Got { kRequest, kEnd, kBad };

asio::awaitable<Got> read_request(tcp::socket& socket, beast::flat_buffer& in, Request& request) {
  http::request_parser<KeptBody> parser;
  parser.eager(true);
  parser.header_limit(kHeadBytesMax);
  parser.body_limit(boost::none);
  bool told_to_continue = false;
  bool needs_more = in.size() == 0;
  while (!parser.is_done()) {
    if (needs_more) {
      const auto [error, count] = co_await socket.async_read_some(in.prepare(kReadBytes), kNoThrow);
      if (error) co_return request.raw_bytes == 0 && in.size() == 0 ? Got::kEnd : Got::kBad;
      in.commit(count);
    }
    beast::error_code error;
    const auto bytes = static_cast<const char*>(in.data().data());
    const std::size_t used = parser.put(in.data(), error);
    request.raw.append(bytes, std::min(used, kKeptBytesMax - request.raw.size()));
    request.raw_bytes += used;
    in.consume(used);
    needs_more = error == http::error::need_more || in.size() == 0;
    if (error && error != http::error::need_more) co_return Got::kBad;
    if (!told_to_continue && parser.is_header_done() && !parser.is_done() && parser.get().version() == 11 &&
        beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      told_to_continue = true;
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      const auto [failed, count] = co_await asio::async_write(socket, asio::buffer(kContinue), kNoThrow);
      if (failed) co_return Got::kEnd;
    }
  }
  auto& message = parser.get();
  request.method = message.method_string();
  request.http_1_0 = message.version() == 10;
  request.keep_alive = message.keep_alive();
  request.content_type = message[http::field::content_type];
  request.if_none_match = message[http::field::if_none_match];
  request.content = std::move(message.body().kept);
  request.content_bytes = message.body().bytes;
  co_return take_target_apart(message.target(), request) ? Got::kRequest : Got::kBad;
}

// The content of a reply, block by block; a view lives until the next call.
class Content {
 public:
  explicit Content(const Reply& reply) : reply_(reply), left_(reply.content_bytes) {
    switch (reply.source) {
      case Reply::Source::kText:
        break;
      case Reply::Source::kPattern:
        block_.resize(std::min<std::uint64_t>(left_, kBlockBytes));
        for (std::size_t i = 0; i < block_.size(); ++i) block_[i] = pattern_byte(i);
        break;
      case Reply::Source::kFile:
        block_.resize(std::min<std::uint64_t>(left_, kBlockBytes));
        file_.open(reply.file, std::ios::binary);
        break;
    }
  }
  std::uint64_t left() const { return left_; }
  // Empty while left() > 0: the file became shorter than was promised.
  std::string_view next() {
    if (reply_.source == Reply::Source::kText) {
      left_ = 0;
      return reply_.text;
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, block_.size()));
    if (reply_.source == Reply::Source::kFile && !file_.read(block_.data(), static_cast<std::streamsize>(size))) {
      return {};
    }
    left_ -= size;
    return {block_.data(), size};
  }

 private:
  const Reply& reply_;
  std::uint64_t left_;
  std::string block_;
  std::ifstream file_;
};

std::string head_of(const Reply& reply, bool has_content, bool chunked, bool keep_alive, bool http_1_0) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(reply.status));
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nServer: tt-origin\r\n", reply.status,
                                 std::string_view(reason.data(), reason.size()));
  const auto has = [&](std::string_view name) {
    return std::any_of(reply.fields.begin(), reply.fields.end(),
                       [&](const auto& field) { return beast::iequals(field.first, name); });
  };
  if (!has("Date")) {
    head += fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", fmt::gmtime(std::time(nullptr)));
  }
  for (const auto& [name, value] : reply.fields) head += fmt::format("{}: {}\r\n", name, value);
  if (chunked) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (has_content && !(reply.chunked && http_1_0)) {
    head += fmt::format("Content-Length: {}\r\n", reply.content_bytes);
  }
  if (!keep_alive) {
    head += "Connection: close\r\n";
  } else if (http_1_0) {
    head += "Connection: keep-alive\r\n";
  }
  return head + "\r\n";
}

// Returns whether the connection can take another request.
asio::awaitable<bool> send(tcp::socket& socket, const Request& request, const Reply& reply) {
  const bool has_content = reply.status != 204 && reply.status != 304;
  const bool until_close = has_content && reply.chunked && request.http_1_0;
  const bool chunked = has_content && reply.chunked && !request.http_1_0;
  const bool keep_alive = request.keep_alive && !until_close;
  std::string frame = head_of(reply, has_content, chunked, keep_alive, request.http_1_0);
  Content content(reply);
  bool more = has_content && request.method != "HEAD";
  if (!more) {
    const auto [error, count] = co_await asio::async_write(socket, asio::buffer(frame), kNoThrow);
    co_return !error && keep_alive;
  }
  while (more) {
    std::string_view block;
    if (content.left() > 0) {
      block = content.next();
      if (block.empty()) co_return false;
    }
    more = content.left() > 0;
    std::string_view tail;
    if (chunked) {
      if (!block.empty()) frame += fmt::format("{:x}\r\n", block.size());
      tail = block.empty() ? "0\r\n\r\n" : more ? "\r\n" : "\r\n0\r\n\r\n";
    }
    const std::array<asio::const_buffer, 3> out = {asio::buffer(frame), asio::buffer(block), asio::buffer(tail)};
    const auto [error, count] = co_await asio::async_write(socket, out, kNoThrow);
    if (error) co_return false;
    frame.clear();
  }
  co_return keep_alive;
}

}  // namespace

asio::awaitable<void> serve(tcp::socket socket, Pages& pages) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  beast::flat_buffer in;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (;;) {
    Request request;
    const Got got = co_await read_request(socket, in, request);
    if (got == Got::kEnd) break;
    Reply reply;
    if (got == Got::kBad) {
      request.keep_alive = false;
      reply.status = 400;
      reply.text = "tt-origin could not read the request\n";
      reply.content_bytes = reply.text.size();
    } else {
      reply = pages.answer(request);
    }
    if (reply.delay.count() > 0) {
      timer.expires_after(reply.delay);
      co_await timer.async_wait(kNoThrow);
    }
    if (!co_await send(socket, request, reply)) break;
  }
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace tt_origin
