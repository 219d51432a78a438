// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the daemon offers to its control socket: the commands, as calls.
//
// Not a protocol: api.h turns HTTP requests into these calls and their results into JSON, the daemon
// implements them, and tests put a fake in its place. Results are plain values, so that neither side
// sees the other's types.
//
// A change is in force when the call returns. A refused call has changed nothing.
//
// **Thread safety:** loop-bound: called on the control socket's event loop only, one call at a time.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/site_list.h>
#include <tl/expected.hpp>

namespace telltale::control {

// Why a call was refused.
struct Error {
  std::string what;                        // a sentence: what was wrong, and what was expected
  std::optional<std::size_t> offset = {};  // byte of the text that `where` names
  // Which argument or place: "name", "value", "regex", "tags", "rules", "client_ip", or "records.yaml:12:7".
  // Empty: the call as a whole. REQUIRES with an offset: an argument's name.
  std::string where = {};
};

template <class T>
using Result = tl::expected<T, Error>;

struct Record {
  std::string name;
  std::string value;   // as an operator would write it
  std::string source;  // where the value comes from: "default", "file", "command line", "runtime"
};

// A record with all that is known of it.
struct Description {
  Record record;              // as it is now
  std::string what;           // what it does: a sentence
  std::string type;           // "integer", "tag pattern"
  std::string unit;           // "seconds"; empty: none
  std::string range;          // "1 to 3600"; of a text, its form
  std::string default_value;
  bool live = false;          // a change is in force at once, not only after a restart
};

struct Reloaded {
  std::vector<std::string> changed;         // records whose new value is in force now
  std::vector<std::string> needs_restart;   // records whose text in the file changed, but not their value here
  std::vector<std::string> notes = {};      // sentences: what was taken, but may not be meant
};

// Status is a list of sections of named values, in the order in which they are shown; a new figure needs
// no change in the protocol or in ttctl. REQUIRES: names are unique within their list.
struct StatusItem {
  std::string name;
  std::variant<std::string, std::uint64_t, bool> value;
};
struct StatusSection {
  std::string name;
  std::vector<StatusItem> items;
};
using Status = std::vector<StatusSection>;

// Everything that decides what is on.
struct DebugState {
  diag::Base base;
  std::vector<diag::Lease> leases;
};

// Where lines of level debug go.
struct Destination {
  std::string kind;       // "stdout", "stderr", "file", "extra"
  std::string path = {};  // of a file
};

struct Enabled {
  diag::Lease lease;
  std::vector<std::string> tags_on;       // that it has on now, in order of name
  std::uint32_t sites_on = 0;
  std::vector<Destination> destinations;  // empty: debug lines go nowhere
};

// A lease that shows the next transactions that are like this, and no others. Empty: any.
struct FollowRequest {
  diag::LeaseRequest lease;  // client_ip: clients to wait for
  std::string host;          // of the request, without port, in either case
  std::string path;          // a pattern that matches anywhere in the target
  std::string method;
  std::string status;        // of the answer: "5xx,404"; "none": there was no answer
  std::optional<std::chrono::milliseconds> slower_than = {};
  std::uint64_t count = 1;   // how many, 1 to kFollowedMost
};
inline constexpr std::uint64_t kFollowedMost = 100;

struct Followed {
  enum class State : std::uint8_t { kWaiting, kUnderWay, kEnded, kTimeIsUp };
  // Of those whose end decides: one whose lines have been given, all of them by the last call.
  struct Transaction {
    std::uint64_t id = 0;
    std::uint16_t status = 0;  // 0: there was no answer
    std::chrono::microseconds time{};
  };
  State state = State::kWaiting;
  std::uint64_t transaction = 0;  // the last one; 0: none yet
  std::string lines;              // since the last call
  std::uint64_t lines_lost = 0;   // so far: more than are kept between two calls, or of one transaction
  std::vector<Transaction> transactions = {};  // so far
  std::uint64_t given_up = 0;     // so far: too many at a time, or not ended for too long
};

// The log was opened anew.
struct LogReopened {
  std::string path;
  bool done = true;  // false: a sink holds the writer up; it is opened anew as soon as that ends
};

struct Disabled {
  std::size_t leases_ended = 0;
  // proxy.config.diags.debug.enabled as it was, with its source; its value is "0" now.
  Record enabled_before;
};

class Target {
 public:
  virtual ~Target() = default;

  [[nodiscard]] virtual Result<Record> config_get(const std::string& name) = 0;
  // Returns the record as it is now. Errors: no such record, bad value, needs a restart.
  [[nodiscard]] virtual Result<Record> config_set(const std::string& name, const std::string& value) = 0;
  // Records whose name the pattern matches anywhere, in order of name.
  [[nodiscard]] virtual Result<std::vector<Record>> config_match(const std::string& regex) = 0;
  // The record of that name, or every record whose name the pattern matches, in order of name; never
  // empty. Errors: none matches (with names that are near), no pattern.
  [[nodiscard]] virtual Result<std::vector<Description>> config_describe(const std::string& name_or_regex) = 0;
  // Errors: every problem of every file.
  [[nodiscard]] virtual tl::expected<Reloaded, std::vector<Error>> config_reload() = 0;

  [[nodiscard]] virtual Status status() = 0;
  // Lines written before the call are in the file as it was, complete when the call returns.
  [[nodiscard]] virtual Result<LogReopened> log_reopen() = 0;
  // Begins an orderly stop and returns. Called after the answer has been sent. It may call
  // Server::stop(), but must not destroy the Server before it has returned.
  virtual void stop() = 0;

  [[nodiscard]] virtual DebugState debug_state() = 0;
  // What became of the lines: threads, drops, sinks, the log file, the flight recorder.
  [[nodiscard]] virtual Status debug_status() = 0;
  [[nodiscard]] virtual Result<Enabled> debug_enable(const diag::LeaseRequest& request) = 0;
  // Ends all leases and sets proxy.config.diags.debug.enabled to 0 in the running process, wherever its
  // value came from (-T included).
  [[nodiscard]] virtual Result<Disabled> debug_disable() = 0;
  [[nodiscard]] virtual std::vector<diag::TagState> debug_tags() = 0;
  // How long a lease lasts that does not say; none: until it is ended.
  [[nodiscard]] virtual std::optional<std::chrono::milliseconds> debug_lease_default() = 0;
  [[nodiscard]] virtual Result<diag::Lease> debug_end(std::uint64_t lease) = 0;
  [[nodiscard]] virtual Result<diag::SiteList> debug_sites(const diag::SiteQuery& query) = 0;
  // A preview counts until it is ended or its time is up; it is then asked for, once.
  [[nodiscard]] virtual Result<Enabled> debug_preview(const diag::LeaseRequest& request) = 0;
  [[nodiscard]] virtual Result<diag::Preview> debug_preview_end(std::uint64_t lease) = 0;
  // One at a time.
  [[nodiscard]] virtual Result<diag::Lease> debug_follow(const FollowRequest& request) = 0;
  [[nodiscard]] virtual Result<Followed> debug_followed(std::uint64_t lease) = 0;
};

}  // namespace telltale::control
