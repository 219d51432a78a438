// SPDX-License-Identifier: Apache-2.0
#pragma once
// What nghttp2 calls, and the options of its sessions. Used by Session only.
//
// **Thread safety:** immutable; the functions are loop-bound, as the session they are called for.

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include <nghttp2/nghttp2.h>

namespace telltale::http2 {

struct Callbacks {
  // Both live for ever.
  static const nghttp2_session_callbacks* table();
  static const nghttp2_option* options();

  // Where a response's content comes from; its source is the Stream.
  static ssize_t read_content(nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size,
                              std::uint32_t* flags, nghttp2_data_source* source, void* user);

 private:
  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* hd, void* user);
  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int header(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name, nghttp2_rcbuf* value,
                    std::uint8_t flags, void* user);
  static int invalid_header(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name, nghttp2_rcbuf* value,
                            std::uint8_t flags, void* user);
  static int error(nghttp2_session*, int error, const char* message, std::size_t size, void* user);
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int error, void* user);
  static int data_chunk(nghttp2_session*, std::uint8_t flags, std::int32_t id, const std::uint8_t* data,
                        std::size_t size, void* user);
  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t error, void* user);
  static int send_data(nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* head, std::size_t size,
                       nghttp2_data_source* source, void* user);
  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int error, void* user);
};

}  // namespace telltale::http2
