// SPDX-License-Identifier: Apache-2.0
#include "config/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "config/address_set.h"
#include "config/output_letters.h"
#include "config/server_ports.h"
#include "config/syslog_facility.h"

namespace telltale::config {
namespace {

constexpr std::size_t kFractionBytesMax = 12;
constexpr std::size_t kFileNameBytesMax = 255;  // NAME_MAX of Linux file systems

// Each check says what is wrong, or nothing.
using Fault = std::optional<std::string>;

bool is_plain_decimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  return text.size() == 1 || text.front() != '0';
}

Fault integer_fault(const RecordInfo& record, std::string_view text, std::int64_t& value) {
  if (!is_plain_decimal(text)) {
    const bool digits_only = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    return quote(text) + (digits_only ? " has a leading zero" : " is not an integer");
  }
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || value < record.minimum || value > record.maximum)
    return quote(text) + " is out of range";
  if (record.unit == Unit::kBytesPowerOfTwo && (value & (value - 1)) != 0)
    return quote(text) + " is not a power of two";
  return {};
}

Fault output_letters_fault(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (find_output(letter) == nullptr)
      return quote(text.substr(i, 1)) + " is not an output letter";
    if (text.find(letter) != i) return quote(text) + " has a letter twice";
  }
  return {};
}

Fault plain_file_name_fault(std::string_view text) {
  if (text.empty()) return "the file name is empty";
  if (text.find('/') != std::string_view::npos) return quote(text) + " names a folder";
  if (text == "." || text == "..") return quote(text) + " is a folder";
  if (text.size() > kFileNameBytesMax)
    return fmt::format("{} is longer than {} bytes", quote(text), kFileNameBytesMax);
  return {};
}

Fault file_name_fault(std::string_view text) {
  if (Fault fault = plain_file_name_fault(text)) return fault;
  // Traffic Server sends the lines elsewhere for these two names; here a file would be made of that name.
  if (text == "stdout" || text == "stderr")
    return quote(text) +
           " is not a file here: proxy.config.diags.output.* with the letter O or E sends lines there";
  return {};
}

// sun_path, with its NUL.
constexpr std::size_t kSocketPathBytesMax = 107;

Fault socket_path_fault(std::string_view text) {
  if (!text.starts_with('/')) return quote(text) + " is not an absolute path";
  if (text.size() > kSocketPathBytesMax) return fmt::format("{} is longer than {} bytes", quote(text), kSocketPathBytesMax);
  return {};
}

// APP-NAME of RFC 5424.
Fault identifier_fault(std::string_view text) {
  if (text.empty()) return "the name is empty";
  if (text.size() > 48) return quote(text) + " is longer than 48 bytes";
  auto bad = [](char c) { return c <= ' ' || c > '~'; };
  if (std::any_of(text.begin(), text.end(), bad)) return quote(text) + " has a space or what is not printable ASCII";
  return {};
}

// Plain decimal digits with at most one point; no sign, no exponent, at most so many digits that none is lost.
Fault fraction_fault(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point), rest = text.substr(std::min(point + 1, text.size()));
  const auto digits = [](std::string_view t) { return !t.empty() && t.find_first_not_of("0123456789") == std::string_view::npos; };
  if (!digits(whole) || (point != text.size() && !digits(rest)) || text.size() > kFractionBytesMax)
    return quote(text) + " is not a decimal number";
  const bool one = whole == "1" && rest.find_first_not_of('0') == std::string_view::npos;
  if (whole != "0" && !one) return quote(text) + " is out of range";
  return {};
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

Fault text_fault(const RecordInfo& record, std::string_view text, const DebugChecks& checks) {
  if (std::any_of(text.begin(), text.end(), is_control)) return quote(text) + " has a control character";
  switch (record.kind) {
    case Kind::kInteger: return {};
    case Kind::kServerPorts: {
      const auto ports = parse_server_ports(text);
      return ports ? Fault() : ports.error();
    }
    case Kind::kOutputLetters: return output_letters_fault(text);
    case Kind::kAddressSet: {
      const auto set = AddressSet::parse(text);
      return set ? Fault() : set.error();
    }
    case Kind::kTagPattern:
      if (checks.tags) return checks.tags(text);
      return text.empty() ? Fault("the pattern is empty") : Fault();
    case Kind::kTagsOrNone: return checks.tags && !text.empty() ? checks.tags(text) : Fault();
    case Kind::kDebugRules: return checks.rules ? checks.rules(text) : Fault();
    case Kind::kFileName: return file_name_fault(text);
    case Kind::kFileOrStream: return plain_file_name_fault(text);
    case Kind::kSocketPath: return socket_path_fault(text);
    case Kind::kIdentifier: return identifier_fault(text);
    case Kind::kFacility: return syslog_facility(text) ? Fault() : Fault(quote(text) + " is not a facility for programs");
    case Kind::kFraction: return fraction_fault(text);
    case Kind::kFolder: return {};
    case Kind::kFieldNames:
    case Kind::kNameFragments:
    case Kind::kQueryKeys:
    case Kind::kPathGlobs:
    case Kind::kSecretsFile: return checks.lists && !text.empty() ? checks.lists(record.kind, text) : Fault();
  }
  return {};
}

}  // namespace

tl::expected<Value, Problem> validate(Record id, std::string_view text, const DebugChecks& checks) {
  const RecordInfo& record = info(id);
  Value value{0, std::string(text)};
  const Fault fault = record.kind == Kind::kInteger ? integer_fault(record, text, value.integer)
                                                    : text_fault(record, text, checks);
  if (!fault) return value;
  Problem problem;
  problem.what = fmt::format("{}: {}", record.name, *fault);
  problem.expected = expectation(id);
  return tl::unexpected(std::move(problem));
}

}  // namespace telltale::config
