// SPDX-License-Identifier: Apache-2.0
// See client_names.h; tested in entry_test.cc.
#include "client_names.h"

#include <arpa/inet.h>

#include <algorithm>

#include "registry.h"
#include "ring_table.h"

namespace telltale::diag {

constinit std::atomic<std::uint32_t> clients_asked_word{0};

namespace {

// Goes on in a forked child, whose clients were told for its parent.
constinit std::atomic<std::uint32_t> last_asked{0};

std::uint32_t next_asked() noexcept {
  std::uint32_t next = 0;
  while (next == 0) next = last_asked.fetch_add(1, std::memory_order_relaxed) + 1;
  return next;
}

void ask_anew() noexcept {
  RegistryLock guard;
  clients_asked_word.store(next_asked(), std::memory_order_relaxed);
  ring_table().forget_plain();  // every record comes by
}

std::string text_of(const std::array<std::uint8_t, 16>& address) {
  constexpr std::array<std::uint8_t, 12> kIpv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  char text[INET6_ADDRSTRLEN] = {};
  const bool is_ipv4 = std::equal(kIpv4.begin(), kIpv4.end(), address.begin());
  inet_ntop(is_ipv4 ? AF_INET : AF_INET6, address.data() + (is_ipv4 ? kIpv4.size() : 0), text, sizeof text);
  return text;
}

}  // namespace

void ClientNames::begin_anew() {
  names_.clear();
  ask_anew();
}

void ask_for_clients() noexcept {
  if (clients_asked() == 0) ask_anew();
}

void ClientNames::ask(bool it) {
  if (it == asking_) return;
  asking_ = it;
  if (it) return ask_for_clients();
  names_.clear();
  clients_asked_word.store(0, std::memory_order_relaxed);
}

void ClientNames::add(std::uint64_t connection, const std::array<std::uint8_t, 16>& address) {
  if (clients_asked() == 0) return;
  if (names_.size() >= kClientsMax) begin_anew();
  names_[connection] = text_of(address);
}

std::string_view ClientNames::name(std::uint64_t connection) const {
  if (connection == 0 || names_.empty()) return {};
  auto found = names_.find(connection);
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace telltale::diag
