// SPDX-License-Identifier: Apache-2.0
#pragma once
// SiteLines: from the backend's records to lines, with what it knows of each site from the line before; and what the
// list of sites and the preview are told of a site's lines.
//
// Lines gather here, one behind the other. Of each site that has some, how many, their bytes and the last one are
// told all at once by tell(): a record touches nothing that other threads write or wait for.
//
//   line()    makes one; the view holds until the next line() or tell()
//   count()   the line made last is one of its site's
//   tell()    the histories (site_dictionary.h) and last_lines.h learn what was counted; by itself too, when much
//             has gathered
//
// **Thread safety:** backend only.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "line.h"
#include "site_line.h"

namespace telltale::diag {

struct SiteHistory;

class SiteLines {
 public:
  // Of `head`, the origin is found here. Errors: std::bad_alloc.
  std::string_view line(const LineHead& head, const RecordHeader& header, const char* record, ShowLocation show);
  void count();
  void tell();

 private:
  struct Known {
    SiteLine line;
    SiteHistory* history;
    std::size_t last_at = 0, last_bytes = 0;  // in lines_; of what was counted since tell()
    std::uint64_t lines = 0, bytes = 0;       // 0: none was
  };

  Known* known(std::uint32_t site, Level level, ShowLocation show);

  LineWriter writer_;
  TextBuffer lines_;
  std::vector<std::unique_ptr<Known>> by_site_;
  std::vector<Known*> counted_;
  Known* of_last_ = nullptr;  // null: of no site
  std::size_t last_at_ = 0;   // in lines_
};

}  // namespace telltale::diag
