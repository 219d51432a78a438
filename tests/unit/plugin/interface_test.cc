// SPDX-License-Identifier: Apache-2.0
// The rest of ts/ts.h: continuations, mutexes, memory, threads, controls; without transactions.
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <telltale/diag/debug_control.h>

#include "plugin/continuation.h"
#include "plugin/field_list.h"
#include "plugin/slot_table.h"
#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"
#include "ts/ts.h"

namespace telltale::plugin::test {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
int nothing(TSCont, TSEvent, void*) { return 0; }

}  // namespace

TEST_CASE("Interface: controls of one tag are one, as long as somebody holds it", "[plugin][control]") {
  diag::CleanDebug clean;
  const TSDbgCtl* one = TSDbgCtlCreate("interface.shared");
  const TSDbgCtl* two = TSDbgCtlCreate(std::string("interface.shared").c_str());
  CHECK(one == two);
  CHECK(TSDbgCtlCreate("interface.other") != one);
  TSDbgCtlDestroy(two);
  REQUIRE(diag::set_base({diag::Mode::kOn, "interface", ""}));
  CHECK(TSIsDbgCtlSet(one));
  TSDbgCtlDestroy(one);
  TSDbgCtlDestroy(nullptr);
  REQUIRE(diag::set_base({diag::Mode::kOn, ".*", ""}));  // does not write to what is gone
}

TEST_CASE("Interface: what is no tag gives no control, and a line says so", "[plugin][control]") {
  diag::Capture capture;
  CHECK(TSDbgCtlCreate("") == nullptr);
  CHECK(TSDbgCtlCreate(nullptr) == nullptr);
  CHECK(TSDbgCtlCreate("two words") == nullptr);
  CHECK(has(capture.text(), "debug tag \"two words\" of a run-time control is not valid"));
  CHECK(TSIsDebugTagSet("two words") == 0);
  TSDbgCtl unknown{};
  TSDbgCtlDestroy(&unknown);
  CHECK(has(capture.text(), "TSDbgCtlDestroy: this control is no more"));
}

TEST_CASE("Interface: a control without a tag is off, and one that is moved keeps its tag", "[plugin][control]") {
  diag::CleanDebug clean;
  REQUIRE(diag::set_base({diag::Mode::kOn, ".*", ""}));
  DbgCtl none;
  CHECK_FALSE(none.on());
  CHECK(std::string(none.tag()).empty());
  std::vector<DbgCtl> all;
  for (const char* tag : {"interface.a", "interface.b", "interface.c"}) all.emplace_back(tag);
  for (const DbgCtl& one : all) CHECK(one.on());
  CHECK(std::string(all[2].tag()) == "interface.c");
  REQUIRE(diag::set_base({}));
  for (const DbgCtl& one : all) CHECK_FALSE(one.on());
}

TEST_CASE("Interface: threads create and destroy one control without losing it", "[plugin][control]") {
  diag::CleanDebug clean;
  REQUIRE(diag::set_base({diag::Mode::kOn, "interface", ""}));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const TSDbgCtl* control = TSDbgCtlCreate("interface.raced");
        if (!TSIsDbgCtlSet(control)) ++wrong;
        TSDbgCtlDestroy(control);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("Interface: level lines go to their levels, and %n is refused there too", "[plugin]") {
  diag::Capture capture;
  TSStatus("status %d", 1);
  TSNote("note %s", "text");
  TSWarning("warning");
  TSError("[plugin] error %.*s\n", 2, "abc");
  std::string lines = capture.text();
  for (const char* part : {"STATUS status 1\n", "NOTE note text\n", "WARNING warning\n", "ERROR [plugin] error ab\n"}) CHECK(has(lines, part));
}

TEST_CASE("Interface: a continuation that is no more is refused everywhere", "[plugin][cont]") {
  diag::Capture capture;
  CHECK(TSContCreate(nullptr, nullptr) == nullptr);
  TSMutex mutex = TSMutexCreate();
  TSCont contp = TSContCreate(nothing, mutex);
  CHECK(TSContMutexGet(contp) == mutex);
  int data = 0;
  TSContDataSet(contp, &data);
  CHECK(TSContDataGet(contp) == &data);
  TSContDestroy(contp);
  TSCont again = TSContCreate(nothing, nullptr);  // the same slot, another generation
  CHECK(again != contp);
  CHECK(TSContDataGet(again) == nullptr);
  capture.text();
  TSContDestroy(contp);
  CHECK(has(capture.text(), "TSContDestroy: there is no such continuation"));
  TSContDataSet(contp, &data);
  CHECK(TSContDataGet(contp) == nullptr);
  CHECK(TSContMutexGet(nullptr) == nullptr);
  CHECK(call_continuation(Handle::of(contp), TS_EVENT_IMMEDIATE, nullptr) == Called::kGone);
  CHECK(call_continuation(Handle::of(again), TS_EVENT_IMMEDIATE, nullptr) == Called::kDone);
  TSContDestroy(again);
  TSMutexDestroy(mutex);
}

TEST_CASE("Interface: a handler runs with its continuation's mutex held", "[plugin][cont]") {
  static TSMutex mutex = TSMutexCreate();
  static TSReturnCode elsewhere;
  TSCont contp = TSContCreate(
      [](TSCont, TSEvent, void*) {
        std::thread([] { elsewhere = TSMutexLockTry(mutex); }).join();
        TSMutexLock(mutex);  // recursive
        TSMutexUnlock(mutex);
        return 0;
      },
      mutex);
  CHECK(call_continuation(Handle::of(contp), TS_EVENT_IMMEDIATE, nullptr) == Called::kDone);
  CHECK(elsewhere == TS_ERROR);
  CHECK(TSMutexLockTry(mutex) == TS_SUCCESS);
  TSMutexUnlock(mutex);
  TSContDestroy(contp);
  TSMutexDestroy(mutex);
}

TEST_CASE("Interface: a mutex that was destroyed is refused, and one that is held elsewhere is not destroyed", "[plugin]") {
  diag::Capture capture;
  TSMutex mutex = TSMutexCreate();
  TSMutexLock(mutex);
  std::thread([mutex] { TSMutexDestroy(mutex); }).join();
  CHECK(has(capture.text(), "another thread holds this mutex"));
  TSMutexUnlock(mutex);
  TSMutexDestroy(mutex);
  TSMutexLock(mutex);
  CHECK(TSMutexLockTry(mutex) == TS_ERROR);
  TSMutexUnlock(mutex);
  TSMutexDestroy(mutex);
  CHECK(has(capture.text(), "TSMutexLock: there is no such mutex"));
}

TEST_CASE("Interface: a plugin's thread carries its name, and its exceptions end there", "[plugin]") {
  diag::Capture capture;
  static std::atomic<int> done;
  done = 0;
  {
    PluginScope scope(&plugin_of("interface_test"));
    TSThreadCreate([](void* data) -> void* { TSNote("from %s", static_cast<const char*>(data)); ++done; return nullptr; },
                   const_cast<char*>("a thread"));
    TSThreadCreate([](void*) -> void* { ++done; throw 1; }, nullptr);
  }
  std::string lines;
  while (!has(lines, "an exception came out") || !has(lines, "from a thread")) {
    std::this_thread::yield();
    lines += capture.text();
  }
  CHECK(done == 2);
  CHECK(has(lines, "NOTE {interface_test} from a thread\n"));
  CHECK(has(lines, "ERROR {interface_test} a thread of TSThreadCreate: an exception came out of the plugin\n"));
  CHECK(TSThreadCreate(nullptr, nullptr) == nullptr);
}

TEST_CASE("Interface: memory is copied as asked", "[plugin]") {
  char* text = TSstrdup("text");
  char* part = TSstrndup("text", 2);
  char* whole = TSstrndup("text", 20);
  CHECK(std::string(text) + part + whole == "texttetext");
  text = static_cast<char*>(TSrealloc(text, 100));
  CHECK(std::string(text) == "text");
  for (char* one : {text, part, whole}) TSfree(one);
  CHECK(TSstrdup(nullptr) == nullptr);
  CHECK(std::string(TSTrafficServerVersionGet()).starts_with("Telltale/"));
}

TEST_CASE("Interface: hooks and events have names, and hooks are added while loading only", "[plugin]") {
  diag::Capture capture;
  CHECK(std::string(TSHttpHookNameLookup(TS_HTTP_TXN_START_HOOK)) == "TS_HTTP_TXN_START_HOOK");
  CHECK(std::string(TSHttpEventNameLookup(TS_EVENT_HTTP_SEND_RESPONSE_HDR)) == "TS_EVENT_HTTP_SEND_RESPONSE_HDR");
  CHECK(std::string(TSHttpEventNameLookup(static_cast<TSEvent>(12345))) == "an unknown event");
  TSCont contp = TSContCreate(nothing, nullptr);
  CHECK(TSHttpHookAdd(TS_HTTP_TXN_START_HOOK, contp) == TS_ERROR);
  TSPluginRegistrationInfo info{"a", "b", "c"};
  CHECK(TSPluginRegister(&info) == TS_ERROR);
  CHECK(has(capture.text(), "TSHttpHookAdd: hooks for all transactions are added by TSPluginInit() only"));
  TSContDestroy(contp);
}

TEST_CASE("Interface: slots run out at their limit and are used again", "[plugin]") {
  struct Slot {
    std::uint32_t index = 0;
    Slot* next_free = nullptr;
  };
  auto table = std::make_unique<SlotTable<Slot>>();
  std::vector<Slot*> all;
  while (Slot* slot = table->take()) all.push_back(slot);
  CHECK(all.size() == kSlotsMax);
  CHECK(table->at(kSlotsMax - 1) != nullptr);
  CHECK(table->at(kSlotsMax) == nullptr);
  table->give_back(*all[5]);
  CHECK(table->take() == all[5]);
  CHECK(table->take() == nullptr);
}

TEST_CASE("Interface: values of a list are told apart at commas outside quotes", "[plugin]") {
  CHECK(count_values("") == 0);
  CHECK(count_values("a") == 1);
  CHECK(count_values("a,,\"b,\\\",c\",d") == 4);
  const std::string list = " a ,\"b, c\",";
  auto value = [&](std::size_t index) {
    auto found = find_value(list, index);
    return found ? list.substr(found->first, found->second) : std::string("(none)");
  };
  CHECK(value(0) == "a");
  CHECK(value(1) == "\"b, c\"");
  CHECK(value(2) == "");
  CHECK(value(3) == "(none)");
}

}  // namespace telltale::plugin::test
