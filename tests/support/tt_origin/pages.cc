// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <stdexcept>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tt_origin {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kContentBytesMax = 1ull << 40;
constexpr std::uint64_t kDelayMsMax = 3'600'000;

constexpr std::string_view kIndex = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>tt-origin</title></head><body>
<h1>tt-origin</h1>
<p>An origin server for trying and testing a proxy.</p>
<table>
<tr><td><a href="/bytes/1000">/bytes/N</a></td><td>N bytes of a fixed pattern, with Content-Length, fresh for 60 s</td></tr>
<tr><td><a href="/chunked/1000">/chunked/N</a></td><td>the same bytes, chunked</td></tr>
<tr><td><a href="/delay/500">/delay/MS</a></td><td>answers after MS milliseconds</td></tr>
<tr><td><a href="/status/404">/status/CODE</a></td><td>answers with that status code, 200 to 599</td></tr>
<tr><td><a href="/echo">/echo</a></td><td>the request, head and body, byte for byte as it came</td></tr>
<tr><td>/content</td><td>the request's content without its framing</td></tr>
<tr><td>/sink</td><td>reads a body of any length and answers with its length</td></tr>
<tr><td>/files/...</td><td>the folder given with --files</td></tr>
<tr><td><a href="/hits">/hits</a></td><td>how many requests came for each path, as JSON</td></tr>
</table>
<p>Every path takes a query: <code>?cc=VALUE</code> sets Cache-Control (empty: none),
<code>?h=Name:value</code> adds a field (repeatable), <code>?status=CODE</code> sets the status code,
<code>?delay=MS</code> waits before answering. Names and values are percent-decoded.</p>
</body></html>
)";

struct ContentType {
  std::string_view extension;
  std::string_view type;
};
constexpr std::array kContentTypes = {
    ContentType{".html", "text/html"},       ContentType{".htm", "text/html"},
    ContentType{".css", "text/css"},         ContentType{".js", "text/javascript"},
    ContentType{".txt", "text/plain"},       ContentType{".md", "text/markdown"},
    ContentType{".json", "application/json"}, ContentType{".xml", "application/xml"},
    ContentType{".svg", "image/svg+xml"},    ContentType{".png", "image/png"},
    ContentType{".jpg", "image/jpeg"},       ContentType{".jpeg", "image/jpeg"},
    ContentType{".gif", "image/gif"},        ContentType{".ico", "image/vnd.microsoft.icon"},
    ContentType{".woff2", "font/woff2"},     ContentType{".pdf", "application/pdf"},
    ContentType{".gz", "application/gzip"},
};

std::string_view content_type_of(const fs::path& file) {
  const std::string extension = file.extension().string();
  for (const ContentType& known : kContentTypes) {
    if (known.extension == extension) return known.type;
  }
  return "application/octet-stream";
}

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

std::optional<unsigned> status_code(std::string_view text) {
  const auto code = number(text, 599);
  if (!code || *code < 200) return std::nullopt;
  return static_cast<unsigned>(*code);
}

void set_field(Reply& reply, std::string_view name, std::string value) {
  std::erase_if(reply.fields, [&](const auto& field) { return field.first == name; });
  if (!value.empty()) reply.fields.emplace_back(name, std::move(value));
}

Reply text_reply(unsigned status, std::string text, std::string_view type = "text/plain") {
  Reply reply;
  reply.status = status;
  reply.content_bytes = text.size();
  reply.text = std::move(text);
  set_field(reply, "Content-Type", std::string(type));
  set_field(reply, "Cache-Control", "no-store");
  return reply;
}

Reply pattern_reply(std::string_view digits, bool chunked) {
  const auto bytes = number(digits, kContentBytesMax);
  if (!bytes) return text_reply(400, fmt::format("a number up to {} was expected\n", kContentBytesMax));
  Reply reply;
  reply.source = Reply::Source::kPattern;
  reply.content_bytes = *bytes;
  reply.chunked = chunked;
  reply.fields = {{"Content-Type", "text/plain"},
                  {"Cache-Control", "max-age=60"},
                  {"ETag", fmt::format("\"pattern-{}\"", *bytes)},
                  {"Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT"}};
  return reply;
}

bool is_field_name(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || kMarks.find(static_cast<char>(c)) != kMarks.npos);
  });
}

// Framing is ours; a test that wants it wrong scripts its own bytes.
bool is_framing(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower == "content-length" || lower == "transfer-encoding";
}

// Applies cc, h, status and delay. Errors: the reason, when one of them cannot be meant.
std::optional<std::string> apply_query(const Pairs& query, Reply& reply) {
  for (const auto& [name, value] : query) {
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != value.npos) {
      return "a query value must not hold CR, LF or NUL\n";
    }
    if (name == "cc") {
      set_field(reply, "Cache-Control", value);
    } else if (name == "h") {
      const auto colon = value.find(':');
      const std::string field_name = value.substr(0, colon);
      if (colon == value.npos || !is_field_name(field_name) || is_framing(field_name)) {
        return "?h= takes Name:value, and neither Content-Length nor Transfer-Encoding\n";
      }
      reply.fields.emplace_back(field_name, value.substr(colon + 1));
    } else if (name == "status") {
      const auto code = status_code(value);
      if (!code) return "?status= takes 200 to 599\n";
      reply.status = *code;
    } else if (name == "delay") {
      const auto ms = number(value, kDelayMsMax);
      if (!ms) return fmt::format("?delay= takes milliseconds, up to {}\n", kDelayMsMax);
      reply.delay = std::chrono::milliseconds(*ms);
    }
  }
  return std::nullopt;
}

bool unchanged_since(const Request& request, const Reply& reply) {
  if (request.if_none_match.empty() || reply.status != 200) return false;
  return std::any_of(reply.fields.begin(), reply.fields.end(), [&](const auto& field) {
    return field.first == "ETag" && field.second == request.if_none_match;
  });
}

// The rest of `path` after `prefix`.
std::optional<std::string_view> after(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  return path.substr(prefix.size());
}

}  // namespace

Pages::Pages(const fs::path& files) {
  if (files.empty()) return;
  if (!fs::is_directory(files)) throw std::runtime_error(files.string() + " is not a folder");
  root_ = fs::canonical(files);
}

Reply Pages::answer(const Request& request) {
  if (request.path == "/hits") return text_reply(200, hits_.json(), "application/json");
  hits_.count(request.path);
  Reply reply = page(request);
  if (const auto refusal = apply_query(request.query, reply)) return text_reply(400, *refusal);
  if (unchanged_since(request, reply)) {
    reply.status = 304;
    reply.content_bytes = 0;
  }
  return reply;
}

Reply Pages::page(const Request& request) const {
  const std::string_view path = request.path;
  if (path == "/") {
    Reply reply = text_reply(200, std::string(kIndex), "text/html");
    set_field(reply, "Cache-Control", "max-age=60");
    return reply;
  }
  if (const auto digits = after(path, "/bytes/")) return pattern_reply(*digits, false);
  if (const auto digits = after(path, "/chunked/")) return pattern_reply(*digits, true);
  if (const auto digits = after(path, "/delay/")) {
    const auto ms = number(*digits, kDelayMsMax);
    if (!ms) return text_reply(400, fmt::format("milliseconds up to {} were expected\n", kDelayMsMax));
    Reply reply = text_reply(200, fmt::format("waited {} ms\n", *ms));
    reply.delay = std::chrono::milliseconds(*ms);
    return reply;
  }
  if (const auto digits = after(path, "/status/")) {
    const auto code = status_code(*digits);
    if (!code) return text_reply(400, "a status code from 200 to 599 was expected\n");
    return text_reply(*code, fmt::format("status {}\n", *code));
  }
  if (path == "/echo" || path == "/content") {
    if (!request.whole()) return text_reply(413, fmt::format("more than {} bytes\n", kKeptBytesMax));
    if (path == "/echo") return text_reply(200, request.raw);
    return text_reply(200, request.content,
                      request.content_type.empty() ? "application/octet-stream" : request.content_type);
  }
  if (path == "/sink") return text_reply(200, fmt::format("{}\n", request.content_bytes));
  if (const auto below = after(path, "/files/"); below && !root_.empty()) return stored_file(*below);
  return text_reply(404, "tt-origin has no such path; / explains those it has\n");
}

// Every link is followed before the folder is compared, so neither ".." nor a link leads out of it.
Reply Pages::stored_file(std::string_view below_files) const {
  const Reply absent = text_reply(404, "no such file\n");
  const auto decoded = percent_decode(below_files);
  if (!decoded || decoded->find('\0') != decoded->npos) return absent;
  std::error_code error;
  fs::path file = fs::canonical(root_ / fs::path("./" + *decoded), error);
  if (!error && fs::is_directory(file, error)) file = fs::canonical(file / "index.html", error);
  if (error) return absent;
  const fs::path below_root = file.lexically_relative(root_);
  if (below_root.empty() || *below_root.begin() == "..") return absent;
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return absent;
  Reply reply;
  reply.source = Reply::Source::kFile;
  reply.file = std::move(file);
  reply.content_bytes = static_cast<std::uint64_t>(info.st_size);
  const std::time_t modified = info.st_mtime;
  reply.fields = {{"Content-Type", std::string(content_type_of(reply.file))},
                  {"Cache-Control", "max-age=60"},
                  {"ETag", fmt::format("\"{:x}-{:x}\"", info.st_size, modified)},
                  {"Last-Modified", fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(modified))}};
  return reply;
}

}  // namespace tt_origin
