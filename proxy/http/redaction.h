// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the operator adds to the masking of redact.h: further names, query keys, sensitive paths, and how much of a
// body may be shown. One set is in force for the whole process; a change is in force when the call returns.
//
// Paths. Of what is sensitive (a login, a token endpoint) query, bodies, and all fields but the basic ones are
// masked, in both directions: what goes wrong there repeats what was sent.
//
// Names are compared as redact_name.cc does: in any case, without `-`, `_` and `.`.
//
// **Thread safety:** thread-safe. Cost: names and keys nothing while none is added, else a shared lock.
// **Source:** spec/redaction.md R3, R5, R6, R7, R11.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace telltale::http {

inline constexpr std::size_t kBodyBytesDefault = 1000;
inline constexpr std::string_view kSensitivePathsDefault = "*/login,*/login/*,*/signin,*/signin/*,*/token,*/token/*,*/oauth/*,*/oauth2/*";

// Lists are separated by commas or blanks.
struct Redaction {
  std::string fields;          // names of further fields that show nothing of their value
  std::string fragments;       // of names; each at least kFragmentBytesMin long
  std::string allowed_fields;  // names that a fragment does not hide
  std::string query_keys;      // whose values are masked in URLs
  std::string paths{kSensitivePathsDefault};  // globs: `*` is any text, `?` a byte
  bool every_query_value = false;
  std::size_t body_bytes_max = kBodyBytesDefault;  // of a body, where secrets are shown
};
inline constexpr std::size_t kFragmentBytesMin = 3;
inline constexpr std::size_t kListEntriesMax = 256;  // of each list

// What is wrong with a list, a sentence without the record's name; nothing: it may be used.
std::optional<std::string> check_field_names(std::string_view list);
std::optional<std::string> check_name_fragments(std::string_view list);
std::optional<std::string> check_query_keys(std::string_view list);
std::optional<std::string> check_paths(std::string_view list);

// REQUIRES: the lists were checked. Allocates.
void set_redaction(const Redaction& redaction);

// Whether this is, or is within, a path of the list. Takes a path, a request target or a URL; looks at what stands
// before the query, percent-decoded, in any case.
bool is_sensitive_path(std::string_view target);
bool every_query_value_masked() noexcept;
std::size_t body_bytes_shown() noexcept;

// From here on nothing is masked, and bodies are shown. For main() before anything is served: nothing takes it back,
// and nothing else may call it. What is registered as a secret value (secret_values.h) stays masked.
void show_secrets() noexcept;
bool secrets_shown() noexcept;

namespace redaction_detail {
// For redact_name.cc. `plain`: as PlainName has it.
bool names_added() noexcept;
bool added_field(std::string_view plain);
bool added_fragment(std::string_view plain);
bool allowed_field(std::string_view plain);
bool added_key(std::string_view plain);
}  // namespace redaction_detail

}  // namespace telltale::http
