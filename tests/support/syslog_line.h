// SPDX-License-Identifier: Apache-2.0
#pragma once
// parse_syslog: a datagram of RFC 5424, taken apart by its grammar and nothing looser.
//
// **Thread safety:** immutable.
// **Source:** RFC 5424, section 6.

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace telltale::test {

struct SyslogLine {
  unsigned facility = 0, severity = 0;
  std::string time, host, app, process, id;  // "-" where nil
  std::map<std::string, std::map<std::string, std::string>> data;  // by SD-ID
  std::string message;
};

namespace syslog_detail {

inline bool printable(char c) { return c > ' ' && c <= '~'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool line(SyslogLine& out) {
    std::string digits;
    if (!take('<')) return false;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') digits += next();
    if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0') || !take('>')) return false;
    const int priority = std::atoi(digits.c_str());
    if (priority > 191) return false;
    out.facility = static_cast<unsigned>(priority) / 8;
    out.severity = static_cast<unsigned>(priority) % 8;
    if (!take('1') || !take(' ')) return false;
    if (!name(out.time, 32) || !time(out.time) || !take(' ') || !name(out.host, 255) || !take(' ') || !name(out.app, 48) ||
        !take(' ') || !name(out.process, 128) || !take(' ') || !name(out.id, 32) || !take(' ')) {
      return false;
    }
    if (!take('-')) {
      while (!rest_.empty() && rest_[0] == '[') {
        if (!element(out)) return false;
      }
      if (out.data.empty()) return false;
    }
    if (rest_.empty()) return true;
    if (!take(' ')) return false;
    out.message = rest_;
    return true;
  }

 private:
  char next() {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool name(std::string& out, std::size_t most) {
    while (!rest_.empty() && printable(rest_[0])) out += next();
    return !out.empty() && out.size() <= most;
  }
  static bool time(std::string_view t) {
    constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd.ddddddZ";
    if (t.size() != kForm.size()) return false;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (kForm[i] == 'd' ? t[i] < '0' || t[i] > '9' : t[i] != kForm[i]) return false;
    }
    return true;
  }
  bool sd_name(std::string& out) {
    while (!rest_.empty() && printable(rest_[0]) && rest_[0] != '=' && rest_[0] != ']' && rest_[0] != '"') out += next();
    return !out.empty() && out.size() <= 32;
  }
  bool element(SyslogLine& out) {
    std::string id;
    if (!take('[') || !sd_name(id) || id.find('@') == std::string::npos || out.data.contains(id)) return false;
    auto& params = out.data[id];
    while (take(' ')) {
      std::string key, value;
      if (!sd_name(key) || !take('=') || !take('"')) return false;
      for (;;) {
        if (rest_.empty()) return false;
        char c = next();
        if (c == '"') break;
        if (c == ']') return false;
        if (c == '\\') {
          if (rest_.empty()) return false;
          c = next();
          if (c != '"' && c != '\\' && c != ']') return false;
        }
        value += c;
      }
      params[key] = value;
    }
    return take(']');
  }

  std::string_view rest_;
};

}  // namespace syslog_detail

inline std::optional<SyslogLine> parse_syslog(std::string_view datagram) {
  SyslogLine line;
  if (!syslog_detail::Parser(datagram).line(line)) return std::nullopt;
  return line;
}

}  // namespace telltale::test
