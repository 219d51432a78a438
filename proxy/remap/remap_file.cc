// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "config/text_file.h"
#include "remap/remap_table.h"

namespace telltale::remap {
namespace {

using config::ProblemList;
using config::quote;

constexpr std::string_view kForm = "map FROM TO";

// What starts a line in Traffic Server's file and is not offered here.
constexpr std::array<std::string_view, 17> kNotOffered{"regex_map",
                                                       "redirect",
                                                       "redirect_temporary",
                                                       "regex_redirect",
                                                       "regex_redirect_temporary",
                                                       "reverse_map",
                                                       "map_with_referer",
                                                       "map_with_recv_port",
                                                       "regex_map_with_recv_port",
                                                       "forward_map",
                                                       "acl",
                                                       ".definefilter",
                                                       ".deffilter",
                                                       ".activatefilter",
                                                       ".deactivatefilter",
                                                       ".include",
                                                       ".deletefilter"};

struct Word {
  std::string_view text;
  int column;  // from 1
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  std::size_t at = 0;
  while (true) {
    at = std::min(line.size(), line.find_first_not_of(" \t\r", at));
    if (at == line.size() || line[at] == '#') return words;
    const std::size_t end = std::min(line.size(), line.find_first_of(" \t\r", at));
    words.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
    at = end;
  }
}

class Parser {
 public:
  explicit Parser(ProblemList& problems) : problems_(problems) {}

  void take(int line, std::string_view text) {
    const auto words = words_of(text);
    if (words.empty()) return;
    if (words[0].text != "map") return refuse_rule(line, words[0]);
    if (words.size() < 3) {
      problems_.add(line, words[0].column,
                    words.size() == 1 ? "a rule without FROM and TO" : "a rule without TO",
                    std::string(kForm));
      return;
    }
    const auto from = url(line, words[1], true);
    const auto to = url(line, words[2], false);
    for (std::size_t i = 3; i < words.size(); ++i)
      refuse_extra(line, words[i]);
    if (from) add(line, *from, to, words);
  }

  std::vector<Mapping> mappings;

 private:
  using From = std::tuple<std::string, std::string, std::uint16_t, std::string>;

  void refuse_rule(int line, const Word& word) {
    const bool known = std::find(kNotOffered.begin(), kNotOffered.end(), word.text) != kNotOffered.end();
    // A line that begins with a URL may hold a password.
    const bool shown = word.text.find_first_of(":@") == std::string_view::npos;
    problems_.add(line, word.column,
                  known   ? fmt::format("{} is not offered", word.text)
                  : shown ? fmt::format("{} is not a rule", quote(word.text))
                          : std::string("not a rule"),
                  std::string(kForm));
  }

  // @plugin=x.so, @pparam=secret: the key is named, what is given to it is not.
  void refuse_extra(int line, const Word& word) {
    if (word.text.front() == '@' && word.text.size() > 1) {
      problems_.add(line, word.column,
                    fmt::format("{} is not offered", quote(word.text.substr(0, word.text.find('=')))),
                    std::string(kForm));
    } else if (word.text == "\\") {
      problems_.add(line, word.column, "a line that goes on in the next one is not offered",
                    std::string(kForm));
    } else {
      problems_.add(line, word.column, "more than FROM and TO", std::string(kForm));
    }
  }

  std::optional<RuleUrl> url(int line, const Word& word, bool is_from) {
    const bool path_only = is_from && word.text.front() == '/';
    auto parsed = path_only ? parse_rule_path(word.text) : parse_rule_url(word.text);
    if (parsed) return std::move(*parsed);
    const UrlFault& fault = parsed.error();
    problems_.add(line, word.column + static_cast<int>(fault.offset),
                  fmt::format("{}: {}", is_from ? "FROM" : "TO", fault.what),
                  is_from && fault.what == "not a URL" ? fault.expected + " or /PATH" : fault.expected);
    return std::nullopt;
  }

  void add(int line, const RuleUrl& from, const std::optional<RuleUrl>& to, const std::vector<Word>& words) {
    const From key{from.scheme, from.host, from.port, from.path};
    if (const auto [seen, fresh] = seen_.emplace(key, line); !fresh) {
      problems_.add(line, words[1].column, fmt::format("FROM is the same as on line {}", seen->second),
                    "each FROM once");
      return;
    }
    if (!to) return;
    const bool ipv6 = to->host.find(':') != std::string::npos;
    std::string authority = ipv6 ? "[" + to->host + "]" : to->host;
    std::string url = fmt::format("http://{}:{}", authority, to->port);
    if (to->port != 80) authority += fmt::format(":{}", to->port);
    mappings.push_back(
        {from, *to, std::move(authority), std::move(url), line, fmt::format("map {} {}", words[1].text, words[2].text)});
  }

  ProblemList& problems_;
  std::map<From, int> seen_;
};

}  // namespace

tl::expected<std::shared_ptr<const RemapTable>, config::Problems> parse_remap_table(
    std::string text, const std::string& file_name) {
  ProblemList problems(file_name);
  config::clean_text(text, problems);
  Parser parser(problems);
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    parser.take(line, rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (!problems.empty()) return tl::unexpected(problems.take());
  return std::make_shared<const RemapTable>(std::move(parser.mappings));
}

}  // namespace telltale::remap
