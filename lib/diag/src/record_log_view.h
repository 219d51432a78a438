// SPDX-License-Identifier: Apache-2.0
#pragma once
// LogView: which events of a record log are shown, and how; LogPrinter shows them. For `ttctl debug cat` and
// `ttctl recorder dump` alike: events come from a LogFile or from a recorder's rings.
//
// Grouped, all lines of a transaction stand together, also where it went from thread to thread; so do the lines
// of a connection outside its transactions. Blocks come in the order of their first lines, lines of neither where
// they were written, between blocks. A blank line parts blocks. All lines are kept in memory until end().
//
// A loss has no transaction. It is shown by the tag and level of what was lost; where one transaction is asked
// for, it is counted instead: lost_elsewhere().
//
// **Thread safety:** thread-compatible.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pattern.h"
#include "record_log_event.h"
#include "record_log_line.h"

namespace telltale::diag {

struct LogView {
  std::shared_ptr<const Pattern> tags;  // null: all
  std::uint64_t transaction = 0;        // 0: all
  Level least = Level::kDebug;
  std::optional<std::int64_t> since_ns, until_ns;  // time of day, ns since 1970; both are shown
  bool group = false;
  bool json = false;
  std::optional<ShowLocation> show_location;  // nothing: as the writer was configured

  bool shows(const LogEvent& event) const;
};

class LogPrinter {
 public:
  // False: nobody reads any more.
  using Write = std::function<bool(std::string_view lines)>;

  LogPrinter(LogView view, Write write) : view_(std::move(view)), write_(std::move(write)) {}

  // False: write() did. Lines are gathered up to kGatherBytes; flush() writes them out.
  bool take(const LogEvent& event);
  bool flush();
  // No further event comes: writes the groups.
  bool end();

  std::uint64_t shown() const noexcept { return shown_; }
  // Lines that were lost, and of which nobody knows whether they were the transaction's that is asked for.
  std::uint64_t lost_elsewhere() const noexcept { return lost_elsewhere_; }

 private:
  static constexpr std::size_t kGatherBytes = 65536;

  struct Key {
    std::uint64_t process, connection, transaction;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Block {
    std::string lines;
    bool has_key;
  };
  std::string& block_of(const LogEvent& event);

  const LogView view_;
  const Write write_;
  LogLineWriter lines_;
  std::string gathered_;
  std::vector<Block> blocks_;
  std::unordered_map<Key, std::size_t, KeyHash> block_by_key_;
  std::uint64_t shown_ = 0, lost_elsewhere_ = 0;
  bool read_ = true;
};

}  // namespace telltale::diag
