// SPDX-License-Identifier: Apache-2.0
#pragma once
// One client connection of tt-origin: reads requests, sends the replies of Pages, in order, until the
// client closes or asks to. Memory per connection is bounded whatever the lengths of bodies and replies.
//
// **Thread safety:** a connection's coroutine is bound to its executor (a strand).
// **Source:** RFC 9112; the head is parsed by Boost.Beast, and kept raw beside it for /echo.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "pages.h"

namespace tt_origin {

// Ends when the connection has ended. `pages` outlives it.
boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket socket, Pages& pages);

}  // namespace tt_origin
