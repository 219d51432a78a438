// SPDX-License-Identifier: Apache-2.0
#pragma once
// ClientNames: which client a connection is of, for sinks that show it.
//
// A record has no client: that would cost each line its address. Instead the first line of a connection is preceded, in
// its ring, by one record of connection and address, if anybody asks for clients at all. What the backend has heard it
// keeps, of kClientsMax connections; then it forgets all and asks anew, and each connection that still writes lines
// tells again.
//
// **Thread safety:** clients_asked() and ask_for_clients() by anybody; the rest by the backend.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace telltale::diag {

inline constexpr std::size_t kClientsMax = 65'536;

// Changes whenever all are to tell again; 0: nobody asks. Relaxed: a line that sees it late has no client.
extern constinit std::atomic<std::uint32_t> clients_asked_word;
inline std::uint32_t clients_asked() noexcept { return clients_asked_word.load(std::memory_order_relaxed); }

// From now on lines have their client, also before the backend has the sink that shows it.
void ask_for_clients() noexcept;

class ClientNames {
 public:
  // Whether any sink shows clients.
  void ask(bool it);
  // IPv6, or IPv4 as ::ffff:a.b.c.d; network byte order.
  void add(std::uint64_t connection, const std::array<std::uint8_t, 16>& address);
  // Empty: not known. Valid until the next add().
  std::string_view name(std::uint64_t connection) const;

 private:
  void begin_anew();

  std::unordered_map<std::uint64_t, std::string> names_;
  bool asking_ = false;
};

}  // namespace telltale::diag
