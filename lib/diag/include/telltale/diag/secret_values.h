// SPDX-License-Identifier: Apache-2.0
#pragma once
// Secret values: texts that must not be in any line, wherever they come from. Printers mask what is secret by its
// place (a field's name, a query key); this is for what is secret by itself: passwords and keys that the embedding
// program knows, which a plugin or an error text may print as well.
//
// Each value is looked for in every string of every record before the record can be seen by anybody (the backend,
// the flight recorder): as it is, percent-encoded in whole or in part, up to three times over, in base64 and base64url at
// all three alignments, and in hexadecimal, also where it is split over strings of one record that follow each other.
// What is found becomes "[redacted]"; the bytes around it stay as they are. A string that was cut when it was stored
// never ends inside a value: what could be the beginning of one goes too.
//
// Not found: a value split over two records, printed as a number, compressed, or encrypted.
//
// **Thread safety:** thread-safe. A change is in force for all records begun after it returned.
// Cost: while none is registered, one load a record. Else each string is searched: about a nanosecond a byte.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include <telltale/diag/export.h>

namespace telltale::diag {

inline constexpr std::size_t kSecretBytesMin = 5;     // shorter ones would be found everywhere
inline constexpr std::size_t kSecretBytesMax = 4096;
inline constexpr std::size_t kSecretValuesMax = 1000;
inline constexpr std::string_view kSecretMark = "[redacted]";

// Registers `value`; one that is registered already stays once. Errors: too short, too long, too many; the text
// says which, and nothing of the value. May allocate; takes a lock that writers of records share.
TELLTALE_EXPORT tl::expected<void, std::string> add_secret_value(std::string_view value);

struct SecretRefusal {
  std::size_t index;  // of the first value that is refused
  std::string what;   // why: "it has 3 bytes; a secret value has at least 5"
};
// In place of all that are registered, those. Errors: nothing is changed then.
TELLTALE_EXPORT tl::expected<void, SecretRefusal> set_secret_values(std::span<const std::string> values);
TELLTALE_EXPORT std::size_t secret_value_count() noexcept;

// `text` with the registered values masked, for outputs that are no records. Allocates.
TELLTALE_EXPORT std::string without_secret_values(std::string_view text);

}  // namespace telltale::diag
