// SPDX-License-Identifier: Apache-2.0
//
// URLs in logs come from anybody, so this is not a URL parser that trusts the grammar but a scanner that asks at
// every place where a secret could begin. The text is cut at / ? & ; # \ into segments. A segment `key=value`
// whose key is a secret one loses its value; since the end of a secret is less sure than its beginning, the mask
// then runs on to the next & or # (in a path: to the next / ? or #). After `scheme://` an authority is expected;
// it loses everything up to its last @, and where it is no valid host and port even more. A value that holds
// percent-encoding, quotes or colons is looked into (hides_secret), however often it was encoded.
#include <array>

#include "http/append_text.h"
#include "http/redact.h"
#include "http/redaction.h"
#include "http/secret_name.h"

namespace telltale::http {
namespace {

// The delimiters as bits, so that a set of them is found with one look-up a byte.
enum : std::uint8_t { kSlash = 1, kBackslash = 2, kQuestion = 4, kAmpersand = 8, kSemicolon = 16, kHash = 32 };

constexpr std::array<std::uint8_t, 256> delimiter_table() {
  std::array<std::uint8_t, 256> table{};
  table['/'] = kSlash;
  table['\\'] = kBackslash;
  table['?'] = kQuestion;
  table['&'] = kAmpersand;
  table[';'] = kSemicolon;
  table['#'] = kHash;
  return table;
}
constexpr std::array<std::uint8_t, 256> kDelimiters = delimiter_table();

constexpr std::uint8_t delimiter(char c) { return kDelimiters[static_cast<unsigned char>(c)]; }
constexpr bool is_slash(char c) { return (delimiter(c) & (kSlash | kBackslash)) != 0; }
constexpr bool is_delimiter(char c) { return delimiter(c) != 0; }
constexpr bool is_alpha(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
constexpr bool is_key_byte(char c) {
  return is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '[' || c == ']';
}

// Takes one byte, percent-decoded as often as it was encoded (%253D is =), from text at `at`.
char next_decoded(std::string_view text, std::size_t& at) {
  char c = text[at++];
  while (c == '%' && at + 2 <= text.size()) {
    const int high = hex_value(text[at]);
    const int low = hex_value(text[at + 1]);
    if (high < 0 || low < 0) break;
    c = static_cast<char>(high * 16 + low);
    at += 2;
  }
  return c;
}

// True if the decoded text contains `key=`, `key:` or `"key":` with a secret key, or user-info of a URL.
bool hides_secret(std::string_view text) {
  PlainName word;
  bool ended = false;      // the word is complete: a quote or space came after it
  unsigned slashes = 0;    // in a row
  bool authority = false;  // "//" was read, and no delimiter since
  for (std::size_t at = 0; at < text.size();) {
    const char c = next_decoded(text, at);
    if (authority && c == '@') return true;
    slashes = is_slash(c) ? slashes + 1 : 0;
    if (is_delimiter(c)) authority = slashes >= 2;
    if (is_key_byte(c)) {
      if (ended) word.clear();
      ended = false;
      word.add(c);
    } else if (c == '=' || c == ':') {
      if (is_secret_plain_key(word.text())) return true;
      word.clear();
    } else if (c == '"' || c == '\'' || c == ' ' || c == '+') {
      ended = true;
    } else {
      word.clear();
    }
  }
  return false;
}

bool is_port(std::string_view text) {
  if (text == "*") return true;  // in a Content-Security-Policy
  std::size_t i = 0;
  while (i < text.size() && is_digit(text[i])) ++i;
  // What follows a URL in running text.
  return text.find_first_not_of(";,.)'", i) == std::string_view::npos;
}

class UrlWriter {
 public:
  UrlWriter(fmt::appender out, std::string_view url, Mask mask) : out_(out), url_(url), mask_(mask) {}

  fmt::appender write() {
    start();
    while (at_ < url_.size()) segment();
    copy_to(url_.size());
    return out_;
  }

 private:
  enum class Part : std::uint8_t { kPath, kQuery, kFragment };

  // Everything that was passed and not written, up to `end`.
  void copy_to(std::size_t end) {
    if (end > written_) out_ = append_text(out_, url_.substr(written_, end - written_));
    written_ = end;
  }

  void mask(std::size_t begin, std::size_t end) {
    if (begin == end) return;  // an empty value stays visibly empty
    copy_to(begin);
    out_ = append_text(out_, kRedacted);
    written_ = end;
    at_ = end;
  }

  std::size_t find(unsigned any_of, std::size_t from) const {
    while (from < url_.size() && (delimiter(url_[from]) & any_of) == 0) ++from;
    return from;
  }

  std::size_t end_of_secret(std::size_t from) const {
    switch (part_) {
      case Part::kPath: return find(kSlash | kQuestion | kHash, from);
      case Part::kQuery: return find(kAmpersand | kHash, from);
      case Part::kFragment: break;
    }
    return find(kAmpersand, from);
  }

  // An authority may stand at the very beginning: `//u:p@h`, `http:/u:p@h`, `u:p@h:443`.
  void start() {
    std::size_t i = 0;
    while (i < url_.size() && is_slash(url_[i])) ++i;
    if (i >= 2) return authority(i, true);
    if (i == 1) return;
    while (i < url_.size() && (is_alpha(url_[i]) || is_digit(url_[i]) || url_[i] == '+' || url_[i] == '-' || url_[i] == '.')) ++i;
    if (i > 0 && i + 1 < url_.size() && url_[i] == ':' && is_slash(url_[i + 1])) {
      while (++i < url_.size() && is_slash(url_[i])) {
      }
      return authority(i, true);
    }
    authority(0, false);
  }

  // `sure`: something before it says that this is an authority, so that its port is checked.
  void authority(std::size_t begin, bool sure) {
    const std::size_t end = find(kSlash | kBackslash | kQuestion | kHash, begin);
    const std::string_view text = url_.substr(begin, end - begin);
    at_ = begin;
    if (text.find('@') != std::string_view::npos) {
      // A password may hold an unencoded slash or @: up to the last @ before the query.
      const std::size_t last = url_.substr(0, find(kQuestion | kHash, begin)).rfind('@');
      mask_user_info(begin, last);
    } else if (sure && text.find('[') == std::string_view::npos) {
      if (text.find('%') != std::string_view::npos) return mask(begin, end);
      const std::size_t colon = text.find(':');
      if (colon != std::string_view::npos && !is_port(text.substr(colon + 1))) {
        // Not a port, so part of a password that holds a delimiter.
        const std::size_t last = url_.rfind('@');
        if (last != std::string_view::npos && last > begin) {
          mask_user_info(begin, last);
        } else {
          mask(begin, end);
        }
      }
    }
  }

  void mask_user_info(std::size_t begin, std::size_t at_sign) {
    copy_to(begin);
    out_ = append_text(out_, kRedacted);
    written_ = at_sign;
    at_ = at_sign + 1;
  }

  void segment() {
    const std::size_t begin = at_;
    std::size_t equals = std::string_view::npos;
    bool suspicious = false;
    std::size_t end = begin;
    for (; end < url_.size() && !is_delimiter(url_[end]); ++end) {
      const char c = url_[end];
      if (c == '=' && equals == std::string_view::npos) {
        equals = end;
      } else if (c == '%' || c == '"' || c == '=') {
        suspicious = true;
      } else if (c == ':') {
        if (end + 2 < url_.size() && is_slash(url_[end + 1]) && is_slash(url_[end + 2])) break;
        suspicious = true;
      }
    }
    at_ = end;
    const bool has_key = equals != std::string_view::npos;
    const std::size_t value = has_key ? equals + 1 : begin;
    if (mask_ == Mask::kEveryValue && part_ != Part::kPath) {
      if (begin != end) mask(value, end_of_secret(value));
    } else if (has_key && is_secret_key(url_.substr(begin, equals - begin))) {
      mask(value, end_of_secret(value));
    } else if (suspicious) {
      if (has_key && hides_secret(url_.substr(begin, equals - begin))) {
        mask(begin, end_of_secret(begin));
      } else if (hides_secret(url_.substr(value, end - value))) {
        mask(value, end_of_secret(value));
      }
    }
    if (at_ >= url_.size()) return;
    const char c = url_[at_++];
    if (c == '?' && part_ == Part::kPath) part_ = Part::kQuery;
    if (c == '#') part_ = Part::kFragment;
    if (is_slash(c) && at_ < url_.size() && is_slash(url_[at_])) {  // `//u:p@h`, wherever it stands
      while (at_ < url_.size() && is_slash(url_[at_])) ++at_;
      authority(at_, false);
    }
    if (c == ':') {
      while (at_ < url_.size() && is_slash(url_[at_])) ++at_;
      authority(at_, true);
    }
  }

  fmt::appender out_;
  std::string_view url_;
  Mask mask_;
  Part part_ = Part::kPath;
  std::size_t at_ = 0;       // everything before it has been judged
  std::size_t written_ = 0;  // everything before it has been written
};

}  // namespace

bool is_secret_key(std::string_view key) {
  PlainName plain;
  for (std::size_t at = 0; at < key.size();) plain.add(next_decoded(key, at));
  return plain.cut() || is_secret_plain_key(plain.text());
}

fmt::appender write_url(fmt::appender out, std::string_view url, Mask mask) {
  if (secrets_shown()) return append_text(out, url);
  const std::size_t query = url.find_first_of("?#");
  if (query != std::string_view::npos && query + 1 < url.size() && is_sensitive_path(url)) {
    out = UrlWriter(out, url.substr(0, query), mask).write();
    return append_text(append_text(out, url.substr(query, 1)), kRedacted);
  }
  if (every_query_value_masked()) mask = Mask::kEveryValue;
  return UrlWriter(out, url, mask).write();
}

fmt::appender write_urls(fmt::appender out, std::string_view text) {
  constexpr std::string_view kEnds = " \t<>\"";
  while (!text.empty()) {
    // Between angle brackets a URL may hold anything; elsewhere it ends at white space or a quote.
    std::size_t end = text.front() == '<' ? text.find('>', 1) : text.find_first_of(kEnds, 1);
    if (end == std::string_view::npos) end = text.size();
    const bool delimited = kEnds.find(text.front()) != std::string_view::npos;
    if (delimited) out = append_text(out, text.substr(0, 1));
    out = write_url(out, text.substr(delimited, end - delimited), Mask::kSecrets);
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace telltale::http
