// SPDX-License-Identifier: Apache-2.0
// The list of sites, why one is on, what outlives a module, and the preview.
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/site_list.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/made_module.h"
#include "tests/unit/diag/output_capture.h"

namespace telltale::diag {
namespace {

using namespace std::chrono_literals;

const int kHere = 0;  // an address in this program

SiteMeta meta(const char* tag, const char* text, unsigned line, const char* function = "list_run") {
  return {tag, text, "list/file.cc", function, line, false};
}

std::vector<SiteState> list(SiteQuery query) {
  auto found = sites(query);
  REQUIRE(found);
  CHECK(found->next == 0);
  return found->sites;
}

bool run(const Site& site) {
  if (!site_wanted(site, false)) return false;
  write_stored(site, 7LL);
  return true;
}

}  // namespace

TEST_CASE("Site list: sites are there before they ran, and each filter narrows it", "[diag][sites]") {
  CleanDebug clean;
  MadeModule module;
  module.add(meta("list.a", "one {}", 10));
  module.add(meta("list.b", "two {}", 20, "list_other"));
  module.add({"list.b", "three {}", "list/dir/other.cc", "list_run", 30, false});
  module.load(&kHere);
  CHECK(list({.tags = "list"}).size() == 3);
  CHECK(list({.tags = "list.b"}).size() == 2);
  CHECK(list({.file = "list/*"}).size() == 3);
  CHECK(list({.tags = "list", .file = "other.cc"}).size() == 1);
  CHECK(list({.function = "list_o*"}).size() == 1);
  CHECK(list({.module = "unit_diag", .text = "two {"}).size() == 1);
  CHECK(list({.tags = "list", .module = "no.so"}).empty());
  CHECK(list({.tags = "list", .on = true}).empty());
  SiteState site = list({.text = "three {"}).at(0);
  CHECK(site.tag == "list.b");
  CHECK(site.file == "list/dir/other.cc");
  CHECK(site.function == "list_run");
  CHECK(site.line == 30);
  CHECK(site.module == "unit_diag");
  CHECK(site.state == SiteIs::kOff);
  CHECK(site.hits == 0);
  CHECK_FALSE(sites({.tags = "("}));
}

TEST_CASE("Site list: its state is that of the hot byte", "[diag][sites]") {
  CleanDebug clean;
  MadeModule module;
  module.add(meta("state.a", "a", 1));
  module.load(&kHere);
  auto state = [] { return list({.tags = "state"}).at(0).state; };
  CHECK(state() == SiteIs::kOff);
  REQUIRE(open_lease({.tags = "state", .kind = LeaseKind::kCount}));
  CHECK(state() == SiteIs::kCounted);
  CHECK(list({.tags = "state", .on = true}).empty());
  REQUIRE(open_lease({.tags = "state", .client_ip = "10.0.0.0/8"}));
  CHECK(state() == SiteIs::kOnForClients);
  REQUIRE(set_base({Mode::kOn, "state", ""}));
  CHECK(state() == SiteIs::kOn);
  CHECK(list({.tags = "state", .on = true}).size() == 1);
}

TEST_CASE("Site list: 1,000 sites are one answer, 1,001 are two, and pages miss none", "[diag][sites]") {
  CleanDebug clean;
  MadeModule module;
  std::deque<std::string> text;
  for (unsigned i = 0; i < 1001; ++i)
    module.add(meta("paged", text.emplace_back("text " + std::to_string(i)).c_str(), i + 1));
  module.load(&kHere);
  auto first = sites({.tags = "paged"});
  REQUIRE(first);
  CHECK(first->sites.size() == kSitesPerAnswerMax);
  REQUIRE(first->next != 0);
  auto second = sites({.tags = "paged", .after = first->next});
  REQUIRE(second);
  CHECK(second->sites.size() == 1);
  CHECK(second->next == 0);
  std::set<std::string> formats;
  for (const auto* page : {&first->sites, &second->sites}) {
    for (const SiteState& site : *page) formats.insert(site.format);
  }
  CHECK(formats.size() == 1001);
  auto exact = sites({.tags = "paged", .after = first->sites[0].number});
  REQUIRE(exact);
  CHECK(exact->sites.size() == 1000);
  CHECK(exact->next == 0);
  CHECK_FALSE(sites({.limit = 0}));
  CHECK_FALSE(sites({.limit = kSitesPerAnswerMax + 1}));
}

TEST_CASE("Site list: why names what decided and what came nearest", "[diag][sites]") {
  CleanDebug clean;
  MadeModule module;
  module.add(meta("why.a", "text {}", 10));
  module.load(&kHere);
  auto why = [] { return list({.tags = "why", .why = true}).at(0).why; };
  REQUIRE(why().size() == 1);
  CHECK(why()[0].source == "base");
  CHECK_FALSE(why()[0].on);
  CHECK(why()[0].decided == "proxy.config.diags.debug.enabled is 0");

  REQUIRE(set_base({Mode::kOn, "no_tag", "", "tag=why file=other.cc line=10; function=none"}));
  auto lease = open_lease({.tags = "why", .rules = "-text=text line=10-20"});
  auto on = open_lease({.tags = "why", .append = true});
  REQUIRE((lease && on));
  auto reasons = why();
  REQUIRE(reasons.size() == 3);
  CHECK(reasons[0].decided.empty());
  CHECK(reasons[0].nearest == "rule 1: tag=why file=other.cc line=10, but not its file");
  CHECK(reasons[1].source == "lease " + std::to_string(lease->lease.id));
  CHECK_FALSE(reasons[1].on);
  CHECK(reasons[1].decided == "rule 1: -text=text line=10-20");
  CHECK(reasons[2].on);
  CHECK(reasons[2].decided == "tags: tag=why");
}

TEST_CASE("Site list: hits and the last line outlive the module, and a site that moved finds them", "[diag][sites]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "moved", ""}));
  std::uint64_t id = 0;
  {
    MadeModule module;
    module.add(meta("moved", "shift {}", 10));
    module.add(meta("moved", "same {}", 30));  // twice the same: told apart by their order
    module.add(meta("moved", "same {}", 20));
    module.load(&kHere);
    CHECK(run(module.site(0)));
    CHECK(run(module.site(0)));
    CHECK(run(module.site(1)));
    id = list({.text = "shift {"}).at(0).id;
    (void)capture.text();
  }
  CHECK(list({.tags = "moved"}).empty());
  auto gone = list({.text = "shift {", .unloaded = true});
  REQUIRE(gone.size() == 1);
  CHECK_FALSE(gone[0].loaded);
  CHECK(gone[0].hits == 2);
  CHECK_THAT(gone[0].last_line, Catch::Contains("(moved) <list/file.cc:10 (list_run)> shift 7"));

  MadeModule module;  // the next build: everything five lines further down
  module.add(meta("moved", "shift {}", 15));
  module.add(meta("moved", "same {}", 25));
  module.add(meta("moved", "same {}", 35));
  module.load(&kHere);
  auto back = list({.text = "shift {", .unloaded = true});
  REQUIRE(back.size() == 1);
  CHECK(back[0].id == id);
  CHECK(back[0].line == 15);
  CHECK(back[0].hits == 2);
  CHECK(run(module.site(0)));
  CHECK(list({.text = "shift {"}).at(0).hits == 3);
  auto same = list({.text = "same {"});
  REQUIRE(same.size() == 2);
  for (const SiteState& site : same) CHECK(site.hits == (site.line == 35 ? 1 : 0));
}

TEST_CASE("Site list: a last line of 512 bytes is kept whole, a longer one is cut", "[diag][sites]") {
  CleanDebug clean;
  Capture capture;
  MadeModule module;
  module.add(meta("cut", "{}", 1));
  module.load(&kHere);
  REQUIRE(set_base({Mode::kOn, "cut", ""}));
  auto last = [&](std::size_t bytes) {
    std::string text(bytes, 'x');
    if (site_wanted(module.site(0), false)) write_stored(module.site(0), std::string_view(text));
    (void)capture.text();
    return list({.tags = "cut"}).at(0).last_line;
  };
  std::size_t head = last(0).size();
  CHECK(last(512 - head).size() == 512);
  std::string cut = last(513 - head);
  CHECK(cut.size() == 515);
  CHECK(cut.ends_with("x..."));
}

TEST_CASE("Preview: matching sites only count, nothing is written, and the loudest come first", "[diag][preview]") {
  CleanDebug clean;
  Capture capture;
  MadeModule module;
  std::deque<std::string> text;
  for (unsigned i = 0; i < 12; ++i)
    module.add(meta("preview.many", text.emplace_back("text {} " + std::to_string(i)).c_str(), i + 1));
  module.add(meta("preview.off", "off {}", 50));
  module.load(&kHere);
  const std::chrono::steady_clock::time_point start{5000s};
  auto preview = begin_preview({.tags = "preview.many", .duration = 2s}, start);
  REQUIRE(preview);
  CHECK(preview->sites_on == 12);
  int written = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t n = 0; n <= i; ++n) written += run(module.site(i));
  }
  written += run(module.site(12));
  CHECK(written == 0);
  CHECK_FALSE(begin_preview({.tags = "x", .duration = 2s}, start + 1s));  // one at a time
  auto end = end_preview(preview->lease.id, start + 2s);
  REQUIRE(end);
  CHECK(end->lines == 78);
  CHECK(end->time.count() == 2);
  REQUIRE(end->tags.size() == 1);
  CHECK(end->tags[0].name == "preview.many");
  CHECK(end->tags[0].lines == 78);
  REQUIRE(end->sites.size() == kLoudestSites);
  CHECK(end->sites[0].name == "list/file.cc:12 (list_run)");
  CHECK(end->sites[0].lines == 12);
  CHECK(end->sites[9].lines == 3);
  CHECK(end->bytes >= 78 * 80);
  CHECK(end->bytes <= 78 * 300);
  CHECK(end->core_share > 0);
  CHECK(end->core_share < 0.01);
  CHECK(capture.text().find("text") == std::string::npos);
  CHECK(leases().empty());
  CHECK_FALSE(end_preview(preview->lease.id, start + 3s));
  for (std::size_t i = 0; i < 13; ++i) CHECK(module.hot(i) == 0);
}

TEST_CASE("Preview: bytes are those of the lines a site has written, where it has", "[diag][preview]") {
  CleanDebug clean;
  Capture capture;
  MadeModule module;
  module.add(meta("preview.known", "{}", 1));
  module.load(&kHere);
  REQUIRE(set_base({Mode::kOn, "preview.known", ""}));
  REQUIRE(run(module.site(0)));
  std::size_t bytes = capture.text().size();
  REQUIRE(set_base({}));
  auto preview = begin_preview({.tags = "preview.known", .duration = 1s});
  REQUIRE(preview);
  for (int i = 0; i < 10; ++i) (void)run(module.site(0));
  auto end = end_preview(preview->lease.id);
  REQUIRE(end);
  CHECK(end->bytes == 10 * bytes);
}

TEST_CASE("Preview: what prints goes on printing, and is counted too", "[diag][preview]") {
  CleanDebug clean;
  MadeModule module;
  module.add(meta("preview.both", "{}", 1));
  module.load(&kHere);
  REQUIRE(set_base({Mode::kOn, "preview.both", ""}));
  auto preview = begin_preview({.tags = "preview", .duration = 1s});
  REQUIRE(preview);
  CHECK(run(module.site(0)));
  RuntimeControl control("preview.control");
  CHECK_FALSE(control.on_at({"f.cc", "run", "text", 1, nullptr}));
  CHECK_FALSE(string_tag_wanted_at("preview.string", {"f.cc", "run", "text", 1, nullptr}, false));
  auto end = end_preview(preview->lease.id);
  REQUIRE(end);
  CHECK(end->lines == 3);
  CHECK(end->tags.size() == 3);
}

TEST_CASE("Preview: one that somebody else ends tells the time it counted, and makes room for another", "[diag][preview]") {
  CleanDebug clean;
  const LeaseRequest request{.tags = "test_list", .client_ip = "", .duration = std::chrono::seconds{60}};
  for (bool by_all_off : {false, true}) {
    const auto began = std::chrono::steady_clock::now();
    auto opened = begin_preview(request, began);
    REQUIRE(opened);
    if (by_all_off) {
      (void)all_off();
    } else {
      REQUIRE(end_lease(opened->lease.id));
    }
    auto preview = end_preview(opened->lease.id, began + std::chrono::seconds{60});
    REQUIRE(preview);
    CHECK(preview->time < std::chrono::seconds{60});
    CHECK(preview->time >= std::chrono::seconds{0});

    auto left_alone = begin_preview(request, std::chrono::steady_clock::now());
    REQUIRE(left_alone);
    CHECK_FALSE(begin_preview(request, std::chrono::steady_clock::now()));
    REQUIRE(end_lease(left_alone->lease.id));
    auto next = begin_preview(request, std::chrono::steady_clock::now());
    REQUIRE(next);
    REQUIRE(end_preview(next->lease.id, std::chrono::steady_clock::now()));
  }
}

TEST_CASE("Preview: 60 s are taken, more and none are refused", "[diag][preview]") {
  CleanDebug clean;
  auto preview = begin_preview({.tags = "x", .duration = kPreviewMax});
  REQUIRE(preview);
  REQUIRE(end_preview(preview->lease.id));
  CHECK_FALSE(begin_preview({.tags = "x", .duration = kPreviewMax + 1ms}));
  CHECK_FALSE(begin_preview({.tags = "x"}));
  CHECK_FALSE(begin_preview({.tags = "(", .duration = 1s}));
  CHECK(leases().empty());
}

}  // namespace telltale::diag
