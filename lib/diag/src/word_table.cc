// SPDX-License-Identifier: Apache-2.0
#include "word_table.h"

#include <algorithm>
#include <memory>

#include "registry.h"

namespace telltale::diag {

const Word* intern_word(std::string_view text) {
  auto& words = registry().words;
  std::uint64_t hash = hash_bytes(text.data(), text.size());
  auto known = [&]() -> Word* { return words.find(hash, [text](const Word& word) { return word.text == text; }); };
  if (Word* word = known()) return word;
  if (!words.reserve()) return nullptr;
  std::unique_ptr<char[]> bytes(new char[text.size() + 1]());
  std::copy(text.begin(), text.end(), bytes.get());  // not memcpy, which wants no null, and a view of nothing has one
  auto fresh = std::make_unique<Word>();
  fresh->hash = hash;
  fresh->text = {bytes.get(), text.size()};
  RegistryLock guard;
  if (Word* word = known()) {
    words.cancel_reservation();
    return word;
  }
  words.append(fresh.get());
  bytes.release();
  return fresh.release();
}

}  // namespace telltale::diag
