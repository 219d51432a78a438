// SPDX-License-Identifier: Apache-2.0
// What ttctl prints.
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "control/ttctl/debug_render.h"
#include "control/ttctl/duration.h"
#include "control/ttctl/printable.h"
#include "control/ttctl/render.h"

using namespace telltale::control;

namespace {
boost::json::object object(const char* text) { return boost::json::parse(text).as_object(); }
}  // namespace

TEST_CASE("printable: control bytes and broken UTF-8 are escaped, text is not", "[control][ttctl]") {
  CHECK(printable("h\xc3\xa9llo \xe2\x82\xac") == "h\xc3\xa9llo \xe2\x82\xac");
  CHECK(printable("a\nb\tc\rd\x1b[31m\x7f") == "a\\nb\\tc\\rd\\x1b[31m\\x7f");
  CHECK(printable(std::string("\0", 1)) == "\\x00");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xc2\x9b" "1m") == "\\xc2\\x9b1m");
}

TEST_CASE("caret_lines: the caret stands under the byte, whatever is before it", "[control][ttctl]") {
  CHECK(caret_lines("http|(", 6) == "  http|(\n        ^\n");
  CHECK(caret_lines("(", 0) == "  (\n  ^\n");
  CHECK(caret_lines("h\xc3\xa9(", 3) == "  h\xc3\xa9(\n    ^\n");
  CHECK(caret_lines("\t(", 1) == "  \\t(\n    ^\n");
  CHECK(caret_lines("ab", 99) == "  ab\n    ^\n");
}

TEST_CASE("render: records are NAME: VALUE, one a line", "[control][ttctl]") {
  CHECK(render_record(object(R"({"record":{"name":"a.b","value":"x\ny","source":"default"}})")) == "a.b: x\\ny\n");
  CHECK(render_records(object(R"({"records":[{"name":"a","value":"1"},{"name":"b","value":""}]})")) == "a: 1\nb: \"\"\n");
  CHECK(render_records(object(R"({"records":[]})")) == "no record matches\n");
  CHECK(render_set(object(R"({"record":{"name":"a","value":"1"}})")) == "set a to 1\n");
}

TEST_CASE("render: one description shows all that is known, many show value and meaning", "[control][ttctl]") {
  const char* one = R"({"name":"a.b","value":"5","source":"runtime","description":"Does x.","type":"integer","unit":"seconds",
                        "range":"1 to 9","default":"3","change":"live"})";
  const char* other = R"({"name":"a.c","value":"","source":"default","description":"Does y.","type":"addresses",
                          "range":"ADDR","default":"","change":"restart"})";
  CHECK(render_descriptions(object(fmt::format(R"({{"records":[{}]}})", one).c_str())) ==
        "a.b\n  Does x.\n  value    5\n  source   runtime\n  type     integer\n  unit     seconds\n  range    1 to 9\n"
        "  default  3\n  change   in force at once\n");
  CHECK(render_descriptions(object(fmt::format(R"({{"records":[{}]}})", other).c_str())) ==
        "a.c\n  Does y.\n  value    \"\"\n  source   default\n  type     addresses\n  range    ADDR\n"
        "  default  \"\"\n  change   in force after a restart\n");
  CHECK(render_descriptions(object(fmt::format(R"({{"records":[{},{}]}})", one, other).c_str())) ==
        "a.b: 5\n    Does x.\na.c: \"\"\n    Does y.\n");
}

TEST_CASE("render: reload says what changed, and what needs a restart", "[control][ttctl]") {
  CHECK(render_reload(object(R"({"changed":["a","b"],"needs_restart":["c"]})")) ==
        "changed: a\nchanged: b\nneeds a restart: c\n");
  CHECK(render_reload(object(R"({"changed":[],"needs_restart":[]})")) == "nothing changed\n");
  CHECK(render_reload(object(R"({"changed":[],"needs_restart":[],"notes":["no file"]})")) == "nothing changed\nnote: no file\n");
}

TEST_CASE("render: status shows sections with aligned values", "[control][ttctl]") {
  CHECK(render_status(object(
            R"({"status":{"process":{"pid":42,"version":"0.1.0"},"cache":{"hits":18446744073709551615,"full":false}}})")) ==
        "process\n  pid      42\n  version  0.1.0\ncache\n  hits  18446744073709551615\n  full  false\n");
}

TEST_CASE("render: tags are a table", "[control][ttctl]") {
  CHECK(render_tags(object(R"({"tags":[{"tag":"dns","state":"off","sites":3,"hits":0},
                              {"tag":"http_hdrs","state":"on for clients","sites":12,"hits":123456}]})")) ==
        "STATE           TAG        SITES    HITS\n"
        "off             dns            3       0\n"
        "on for clients  http_hdrs     12  123456\n");
  CHECK(render_tags(object(R"({"tags":[]})")) == "no tag is known\n");
}

TEST_CASE("render: enable shows lease, clients, tags and destinations", "[control][ttctl]") {
  CHECK(render_enabled(object(R"({"lease":{"id":3,"tags":"http","client_ip":"127.0.0.2"},"sites_on":2,"tags_on":["http","http_hdrs"],
                                 "lines_go_to":[{"kind":"file","path":"/logs/diags.log"},{"kind":"stderr"}]})")) ==
        "lease 3: tags http\nclients: 127.0.0.2\nends: when it is ended\nsites on: 2\non: http\non: http_hdrs\nlines go to: /logs/diags.log\nlines go to: stderr\n");
}

TEST_CASE("render: enable says so when no tag matches, and when lines go nowhere", "[control][ttctl]") {
  CHECK(render_enabled(object(R"({"lease":{"id":1,"tags":"htpp"},"sites_on":2,"tags_on":[],"near":["http","http2"],"lines_go_to":[]})")) ==
        "lease 1: tags htpp\nclients: all\nends: when it is ended\nsites on: 2\nno tag matches yet; did you mean http or http2?\n"
        "lines go nowhere: proxy.config.diags.output.debug names no output\n");
  CHECK(render_enabled(object(R"({"lease":{"id":1,"tags":"x"},"sites_on":2,"tags_on":[],"near":[],"lines_go_to":[{"kind":"stdout"}]})"))
            .find("no tag matches yet; 'ttctl debug tags' lists those there are\n") != std::string::npos);
}

TEST_CASE("render: disable says what was on before", "[control][ttctl]") {
  CHECK(render_disabled(object(R"({"leases_ended":2,"enabled_before":{"name":"e","value":"1","source":"-T"}})")) ==
        "leases ended: 2\ne: 0, was 1 (-T)\n");
  CHECK(render_disabled(object(R"({"leases_ended":0,"enabled_before":{"name":"e","value":"0","source":"default"}})")) ==
        "leases ended: 0\ne: 0, as before\n");
}

TEST_CASE("render: an error shows reason and offset, and a caret under the argument it counts in", "[control][ttctl]") {
  Arguments arguments{{"tags", "http|(", "--tags"}, {"client_ip", "1.2.3", "--client-ip"}, {"value", "(", {}}};
  CHECK(render_errors(object(R"({"errors":[{"what":"no end","where":"tags","offset":6}]})"), arguments) ==
        "ttctl: refused: --tags: no end (offset 6)\n  http|(\n        ^\n");
  CHECK(render_errors(object(R"({"errors":[{"what":"no address","where":"client_ip","offset":0}]})"), arguments) ==
        "ttctl: refused: --client-ip: no address (offset 0)\n  1.2.3\n  ^\n");
  CHECK(render_errors(object(R"({"errors":[{"what":"a.b: no end","where":"value","offset":1}]})"), arguments) ==
        "ttctl: refused: a.b: no end (offset 1)\n  (\n   ^\n");
  CHECK(render_errors(object(R"({"errors":[{"what":"bad","where":"records.yaml:4:7"},{"what":"too\nbad"}]})"), arguments) ==
        "ttctl: refused: records.yaml:4:7: bad\nttctl: refused: too\\nbad\n");
}
