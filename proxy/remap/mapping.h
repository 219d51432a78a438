// SPDX-License-Identifier: Apache-2.0
//
// One rule of remap.config, `map FROM TO`: which requests it takes, and which origin and path they get.
//
// **Thread safety:** immutable.
// **Source:** remap.config of Apache Traffic Server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "remap/rule_url.h"

namespace telltale::remap {

struct Mapping {
  RuleUrl from;
  RuleUrl to;                    // the origin: scheme, host (IPv6 without brackets), port, path
  std::string origin_authority;  // for a Host field: "127.0.0.1:9000", "[::1]:9000"; port 80 left out
  std::string origin_url;        // for cache keys: "http://127.0.0.1:9000", the port always named
  int line;                      // in remap.config, from 1
  std::string text;              // the rule as it reads in debug lines: "map http://a/ http://b/"

  // True if the rule's path takes this target. The path of a rule takes whole segments: /docs takes
  // /docs, /docs/ and /docs/a but not /docsearch; /docs/ takes all below it but not /docs itself. Bytes
  // are compared as they are: no case folding, no decoding, and a dot segment is a segment.
  bool takes_path(std::string_view target) const;

  // Appends the target the origin gets: the rule's own path in place of the matched prefix, all after it,
  // the query too, byte for byte, neither losing nor gaining a slash of the client's.
  // REQUIRES: takes_path(target). Cost: grows `out`.
  template <class Out>
  void append_target(std::string_view target, Out& out) const {
    const OriginTarget parts = origin_target(target);
    for (std::string_view part : {parts.path, parts.slash, parts.rest}) out.append(part);
  }

  // The same in three pieces.
  struct OriginTarget {
    std::string_view path, slash, rest;
  };
  OriginTarget origin_target(std::string_view target) const;
};

}  // namespace telltale::remap
