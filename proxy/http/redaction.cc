// SPDX-License-Identifier: Apache-2.0
#include "http/redaction.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>

#include <telltale/diag/one_writer_multi_reader.h>

#include "http/secret_name.h"
#include "http/token.h"

namespace telltale::http {
namespace {

using Names = std::vector<std::string>;

std::string plain(std::string_view name) {
  PlainName plain;
  for (char c : name) plain.add(c);
  return std::string(plain.text());
}

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

// Calls each(entry) until one returns false.
template <class Each>
void for_each_entry(std::string_view list, Each each) {
  constexpr std::string_view kBetween = ", \t";
  for (std::size_t begin = 0; (begin = list.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(list.find_first_of(kBetween, begin), list.size());
    if (!each(list.substr(begin, end - begin))) return;
    begin = end;
  }
}

Names entries(std::string_view list, std::string (*as)(std::string_view)) {
  Names names;
  for_each_entry(list, [&](std::string_view entry) {
    names.push_back(as(entry));
    return true;
  });
  return names;
}

bool has(const Names& names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

struct InForce {
  Names fields, fragments, allowed, keys, paths;
};

struct State {
  diag::OneWriterMultiReader lock;
  std::unique_ptr<const InForce> lists;  // guarded by lock; null: the defaults
  std::mutex changes;
};

// Never destroyed: lines are written to the very end.
State& state() {
  static State* const all = new State;
  return *all;
}

const Names& default_paths() {
  static const Names* const names = new Names(entries(kSensitivePathsDefault, in_lower_case));
  return *names;
}

// See OneWriterMultiReader, "fork()".
__attribute__((constructor)) void watch_forks() noexcept {
  default_paths();  // nothing is made where something is printed
  pthread_atfork([] { state().lock.lock(); }, [] { state().lock.unlock(); }, [] { state().lock.unlock_after_fork(); });
}

// Relaxed: who changes them changes what is printed from now on.
constinit std::atomic<bool> names_any{false}, keys_any{false}, every_value{false}, shown{false};
constinit std::atomic<std::size_t> body_bytes{kBodyBytesDefault};

template <class Ask>
bool ask(const std::atomic<bool>& any, Ask ask_lists) {
  if (!any.load(std::memory_order_relaxed)) return false;
  State& all = state();
  std::shared_lock guard(all.lock);
  return all.lists != nullptr && ask_lists(*all.lists);
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

template <class Fault>
std::optional<std::string> check(std::string_view list, Fault fault_of) {
  std::optional<std::string> fault;
  std::size_t count = 0;
  for_each_entry(list, [&](std::string_view entry) {
    if (++count > kListEntriesMax) {
      fault = fmt::format("the list has more than {} entries", kListEntriesMax);
    } else if (entry.size() > PlainName::kMax) {
      fault = fmt::format("an entry is longer than {} bytes", PlainName::kMax);
    } else {
      fault = fault_of(entry);
    }
    return !fault;
  });
  return fault;
}

std::optional<std::string> name_fault(std::string_view entry) {
  if (!is_token(entry)) return quoted(entry) + " is not a field name";
  if (plain(entry).empty()) return quoted(entry) + " has no letter or digit";
  return {};
}

char decoded(std::string_view text, std::size_t& at) {
  const char c = text[at++];
  if (c != '%' || at + 2 > text.size()) return c;
  const int high = hex_value(text[at]), low = hex_value(text[at + 1]);
  if (high < 0 || low < 0) return c;
  at += 2;
  return static_cast<char>(high * 16 + low);
}

// The glob is in lower case; the text is decoded on the way. Goes back to the last `*` only: linear in practice.
bool matches(std::string_view glob, std::string_view text) {
  std::size_t g = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    std::size_t next = t;
    const char c = lower(decoded(text, next));
    if (g < glob.size() && glob[g] == '*') {
      star = ++g;
      from = t;
    } else if (g < glob.size() && (glob[g] == c || glob[g] == '?')) {
      ++g;
      t = next;
    } else if (star != std::string_view::npos) {
      decoded(text, from);
      t = from;
      g = star;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

// What stands between the authority, if there is one, and the query.
std::string_view path_of(std::string_view target) {
  target = target.substr(0, target.find_first_of("?#"));
  const std::size_t scheme = target.find("://");
  if (scheme != std::string_view::npos && target.find('/') == scheme + 1) {
    target.remove_prefix(std::min(target.find('/', scheme + 3), target.size()));
  }
  return target.substr(0, target.find(';'));
}

}  // namespace

std::optional<std::string> check_field_names(std::string_view list) { return check(list, name_fault); }

std::optional<std::string> check_name_fragments(std::string_view list) {
  return check(list, [](std::string_view entry) {
    std::optional<std::string> fault = name_fault(entry);
    if (!fault && plain(entry).size() < kFragmentBytesMin) {
      fault = fmt::format("{} is shorter than {} letters and digits, and would be in too many names", quoted(entry), kFragmentBytesMin);
    }
    return fault;
  });
}

std::optional<std::string> check_query_keys(std::string_view list) {
  return check(list, [](std::string_view entry) -> std::optional<std::string> {
    if (entry.find_first_of("&=?#%/") != std::string_view::npos) return quoted(entry) + " has a byte that no query key has, decoded";
    if (plain(entry).empty()) return quoted(entry) + " has no letter or digit";
    return {};
  });
}

std::optional<std::string> check_paths(std::string_view list) {
  return check(list, [](std::string_view entry) -> std::optional<std::string> {
    if (entry.front() != '/' && entry.front() != '*') return quoted(entry) + " begins with neither / nor *";
    if (entry.find('#') != std::string_view::npos) return quoted(entry) + " has a fragment";
    return {};
  });
}

void set_redaction(const Redaction& redaction) {
  auto lists = std::make_unique<InForce>();
  lists->fields = entries(redaction.fields, plain);
  lists->fragments = entries(redaction.fragments, plain);
  lists->allowed = entries(redaction.allowed_fields, plain);
  lists->keys = entries(redaction.query_keys, plain);
  lists->paths = entries(redaction.paths, in_lower_case);
  const bool names = !lists->fields.empty() || !lists->fragments.empty() || !lists->allowed.empty();
  const bool keys = !lists->keys.empty();
  std::unique_ptr<const InForce> former = std::move(lists);
  State& all = state();
  std::lock_guard one_at_a_time(all.changes);
  {
    std::unique_lock guard(all.lock);
    all.lists.swap(former);
  }
  names_any.store(names, std::memory_order_relaxed);
  keys_any.store(keys, std::memory_order_relaxed);
  every_value.store(redaction.every_query_value, std::memory_order_relaxed);
  body_bytes.store(redaction.body_bytes_max, std::memory_order_relaxed);
}

bool is_sensitive_path(std::string_view target) {
  const std::string_view path = path_of(target);
  State& all = state();
  std::shared_lock guard(all.lock);
  const Names& paths = all.lists != nullptr ? all.lists->paths : default_paths();
  return std::any_of(paths.begin(), paths.end(), [path](const std::string& glob) { return matches(glob, path); });
}

bool every_query_value_masked() noexcept { return every_value.load(std::memory_order_relaxed); }
std::size_t body_bytes_shown() noexcept { return shown.load(std::memory_order_relaxed) ? body_bytes.load(std::memory_order_relaxed) : 0; }
void show_secrets() noexcept { shown.store(true, std::memory_order_relaxed); }
bool secrets_shown() noexcept { return shown.load(std::memory_order_relaxed); }

namespace redaction_detail {

bool names_added() noexcept { return names_any.load(std::memory_order_relaxed); }
bool added_field(std::string_view name) {
  return ask(names_any, [&](const InForce& lists) { return has(lists.fields, name); });
}
bool added_fragment(std::string_view name) {
  return ask(names_any, [&](const InForce& lists) {
    return std::any_of(lists.fragments.begin(), lists.fragments.end(),
                       [&](const std::string& fragment) { return name.find(fragment) != std::string_view::npos; });
  });
}
bool allowed_field(std::string_view name) {
  return ask(names_any, [&](const InForce& lists) { return has(lists.allowed, name); });
}
bool added_key(std::string_view name) {
  return ask(keys_any, [&](const InForce& lists) { return has(lists.keys, name); });
}

}  // namespace redaction_detail

}  // namespace telltale::http
