// SPDX-License-Identifier: Apache-2.0
#pragma once
// Handles: what the opaque pointers of ts/ts.h hold. Not addresses: a kind, a slot, the slot's generation, and for
// a field its number in the slot. Never null.
//
//   generation 28 bits | slot 20 bits | field 12 bits | kind 4 bits
//
// **Thread safety:** immutable.

#include <cstdint>

namespace telltale::plugin {

enum class Kind : std::uint8_t { kNone, kTxn, kSsn, kRequest, kResponse, kRequestUrl, kRequestField, kResponseField, kCont, kMutex };

struct Handle {
  Kind kind = Kind::kNone;
  std::uint32_t field = 0;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // of kGenerations

  static constexpr std::uint32_t kGenerations = 1U << 28;

  static Handle of(const void* pointer) noexcept {
    auto bits = reinterpret_cast<std::uintptr_t>(pointer);
    return {static_cast<Kind>(bits & 0xF), static_cast<std::uint32_t>(bits >> 4 & 0xFFF),
            static_cast<std::uint32_t>(bits >> 16 & 0xFFFFF), static_cast<std::uint32_t>(bits >> 36)};
  }
  template <class Pointer>
  Pointer as() const noexcept {
    std::uintptr_t bits = static_cast<std::uintptr_t>(kind) | std::uintptr_t{field} << 4 | std::uintptr_t{slot} << 16 |
                          std::uintptr_t{generation} << 36;
    return reinterpret_cast<Pointer>(bits);
  }
  Handle with(Kind other, std::uint32_t number = 0) const noexcept { return {other, number, slot, generation}; }
  friend bool operator==(const Handle&, const Handle&) = default;
};
static_assert(sizeof(std::uintptr_t) == 8);

inline std::uint32_t next_generation(std::uint32_t generation) noexcept { return (generation + 1) % Handle::kGenerations; }

}  // namespace telltale::plugin
