// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stored response: what the cache keeps of an answer, ready to be sent again.
//
// Immutable once it is in the cache, and shared by the cache and the transactions that send it: an
// evicted response lives until its last reader is done.
//
// **Thread safety:** immutable. **Source:** RFC 9111, sections 3 and 4.2.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/fields.h"

namespace telltale::cache {

struct StoredResponse {
  std::uint16_t status = 200;
  bool always_validate = false;  // no-cache: never used without asking the origin
  bool never_stale = false;      // must-revalidate, proxy-revalidate or s-maxage: not used when stale, whoever asks
  std::string reason;
  http::Fields fields;      // end-to-end fields, owned; no Age, no framing
  std::string http1_head;   // status line and fields, ready but for "Age", "Connection" and the empty line
  std::string_view content;  // of content_owner
  std::shared_ptr<const std::string> content_owner;  // shared with the response that a 304 freshened into this one
  std::string selecting;    // the request fields that chose it, see vary.h; empty: any request may have it

  std::chrono::steady_clock::time_point stored_at;  // when the response's head was received
  std::chrono::seconds initial_age{0};              // corrected initial age, RFC 9111 4.2.3
  std::chrono::seconds lifetime{0};                 // freshness lifetime, RFC 9111 4.2.1
  std::chrono::seconds stale_if_error{0};           // beyond the lifetime, RFC 5861

  void set_content(std::string text) {
    content_owner = std::make_shared<const std::string>(std::move(text));
    content = *content_owner;
  }

  // Seconds. The steady clock counts residence: a step of the wall clock ages nothing.
  std::chrono::seconds current_age(std::chrono::steady_clock::time_point now) const noexcept {
    auto resident = std::chrono::duration_cast<std::chrono::seconds>(now - stored_at);
    return initial_age + (resident.count() > 0 ? resident : std::chrono::seconds{0});
  }
  bool fresh(std::chrono::steady_clock::time_point now) const noexcept { return current_age(now) < lifetime; }

  // What it is accounted with.
  std::size_t size_bytes() const noexcept {
    // The fields repeat the head's text.
    return sizeof(StoredResponse) + 2 * http1_head.size() + selecting.size() + content.size();
  }
};

using StoredResponsePtr = std::shared_ptr<const StoredResponse>;

}  // namespace telltale::cache
