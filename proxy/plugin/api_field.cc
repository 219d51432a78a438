// SPDX-License-Identifier: Apache-2.0
//
// Fields of a head, read and changed through handles. Each call takes the transaction, finds the head and the field,
// and checks what it is about to write; see field_list.h for what is refused.
#include <cstring>
#include <string>
#include <string_view>

#define TELLTALE_SITES  // the core's debug family, not the plugins'

#include "http/token.h"
#include "plugin/access.h"
#include "ts/ts.h"

namespace telltale::plugin {
namespace {

constexpr std::string_view kTooMany = "plugins hold 1024 fields of this transaction, the most they may";
constexpr std::string_view kTooLong = "plugins may add 64 KiB to the heads of a transaction";
constexpr std::string_view kNotSet = "the field has no name yet";

std::string_view given(const char* text, int length) {
  if (text == nullptr) return {};
  return length < 0 ? std::string_view(text) : std::string_view(text, static_cast<std::size_t>(length));
}

const char* out(std::string_view text, int* length) {
  if (length != nullptr) *length = static_cast<int>(text.size());
  return text.data() == nullptr ? "" : text.data();
}
const char* none(int* length) {
  if (length != nullptr) *length = 0;
  return nullptr;
}

// A transaction with one of its heads, and a field of that head where a call is about one.
struct OnHead : Access {
  OnHead(const char* function, TSMBuffer bufp, TSMLoc hdr) : Access(function, bufp, {Kind::kRequest, Kind::kResponse}) {
    if (!*this) return;
    if (Handle::of(hdr) != handle()) {
      refuse("this is not the head of that buffer");
      return;
    }
    fields = head();
  }
  OnHead(const char* function, TSMBuffer bufp, TSMLoc hdr, TSMLoc field) : OnHead(function, bufp, hdr) {
    if (!*this) return;
    ref = Access::field(field, &number);
    if (ref == nullptr || ref->key == nullptr) return;
    place = place_of(*fields, *ref);
    if (!place) refuse("this field is not in the head any more");
  }

  bool request() const { return handle().kind == Kind::kRequest; }
  std::string_view name() const { return place ? fields->begin()[*place].name : std::string_view(ref->name); }
  std::string_view value() const { return place ? fields->begin()[*place].value : std::string_view(ref->value); }
  TSReturnCode set(std::string_view value) {
    if (ref->key != nullptr || !ref->name.empty()) {
      if (std::string_view why = why_not_touched(name(), request()); !why.empty()) return refuse(why);
    }
    value = telltale::http::trim_ows(value);
    if (std::string_view why = why_not_value(value); !why.empty()) return refuse(why);
    if (!slot().fields.book(value.size())) return refuse(kTooLong);
    if (place) fields->set_value(*place, value);
    else ref->value.assign(value);
    return TS_SUCCESS;
  }
  // A handle of the field at `at`.
  TSMLoc hold(std::size_t at) { return hold(FieldRef{fields->begin()[at].name.data(), {}, {}}); }
  TSMLoc hold(FieldRef made) {
    std::optional<std::uint32_t> held = slot().fields.add(std::move(made));
    if (!held) {
      refuse(kTooMany);
      return TS_NULL_MLOC;
    }
    return handle().with(request() ? Kind::kRequestField : Kind::kResponseField, *held).as<TSMLoc>();
  }

  telltale::http::Fields* fields = nullptr;
  FieldRef* ref = nullptr;
  std::uint32_t number = 0;
  std::optional<std::size_t> place;  // in the head; nothing: the field is in no head
};

}  // namespace

}  // namespace telltale::plugin

using namespace telltale::plugin;
namespace diag = telltale::diag;

// At global scope: there they are what ts/ts.h declares, and exported.
extern "C" {

TSReturnCode TSHandleMLocRelease(TSMBuffer bufp, TSMLoc, TSMLoc mloc) {
  Kind kind = Handle::of(mloc).kind;
  if (kind != Kind::kRequestField && kind != Kind::kResponseField) return mloc == TS_NULL_MLOC ? TS_ERROR : TS_SUCCESS;
  Access access("TSHandleMLocRelease", bufp, {Kind::kRequest, Kind::kResponse}, false);
  if (!access) return TS_ERROR;
  std::uint32_t number = 0;
  if (access.field(mloc, &number) == nullptr) return TS_ERROR;
  access.slot().fields.release(number);
  return TS_SUCCESS;
}

int TSMimeHdrFieldsCount(TSMBuffer bufp, TSMLoc hdr) {
  OnHead on("TSMimeHdrFieldsCount", bufp, hdr);
  return on ? static_cast<int>(on.fields->size()) : 0;
}

TSMLoc TSMimeHdrFieldGet(TSMBuffer bufp, TSMLoc hdr, int index) {
  OnHead on("TSMimeHdrFieldGet", bufp, hdr);
  if (!on || index < 0 || static_cast<std::size_t>(index) >= on.fields->size()) return TS_NULL_MLOC;
  return on.hold(static_cast<std::size_t>(index));
}

TSMLoc TSMimeHdrFieldFind(TSMBuffer bufp, TSMLoc hdr, const char* name, int length) {
  OnHead on("TSMimeHdrFieldFind", bufp, hdr);
  if (!on) return TS_NULL_MLOC;
  const telltale::http::Field* found = on.fields->find(given(name, length));
  return found == nullptr ? TS_NULL_MLOC : on.hold(static_cast<std::size_t>(found - on.fields->begin()));
}

TSMLoc TSMimeHdrFieldNext(TSMBuffer bufp, TSMLoc hdr, TSMLoc field) {
  OnHead on("TSMimeHdrFieldNext", bufp, hdr, field);
  if (!on || !on.place || *on.place + 1 >= on.fields->size()) return TS_NULL_MLOC;
  return on.hold(*on.place + 1);
}

TSMLoc TSMimeHdrFieldNextDup(TSMBuffer bufp, TSMLoc hdr, TSMLoc field) {
  OnHead on("TSMimeHdrFieldNextDup", bufp, hdr, field);
  if (!on || !on.place) return TS_NULL_MLOC;
  for (std::size_t at = *on.place + 1; at < on.fields->size(); ++at) {
    if (telltale::http::equal_nocase(on.fields->begin()[at].name, on.name())) return on.hold(at);
  }
  return TS_NULL_MLOC;
}

TSReturnCode TSMimeHdrFieldCreate(TSMBuffer bufp, TSMLoc hdr, TSMLoc* field) {
  OnHead on("TSMimeHdrFieldCreate", bufp, hdr);
  if (!on) return TS_ERROR;
  if (field == nullptr) return on.refuse("there is no place for the handle");
  *field = on.hold(FieldRef{});
  return *field == TS_NULL_MLOC ? TS_ERROR : TS_SUCCESS;
}

TSReturnCode TSMimeHdrFieldCreateNamed(TSMBuffer bufp, TSMLoc hdr, const char* name, int length, TSMLoc* field) {
  if (TSMimeHdrFieldCreate(bufp, hdr, field) != TS_SUCCESS) return TS_ERROR;
  if (TSMimeHdrFieldNameSet(bufp, hdr, *field, name, length) == TS_SUCCESS) return TS_SUCCESS;
  TSHandleMLocRelease(bufp, hdr, *field);
  *field = TS_NULL_MLOC;
  return TS_ERROR;
}

TSReturnCode TSMimeHdrFieldAppend(TSMBuffer bufp, TSMLoc hdr, TSMLoc field) {
  OnHead on("TSMimeHdrFieldAppend", bufp, hdr, field);
  if (!on) return TS_ERROR;
  if (on.place) return on.refuse("this field is in the head already");
  if (on.ref->name.empty()) return on.refuse(kNotSet);
  if (!on.slot().fields.book(on.ref->name.size())) return on.refuse(kTooLong);
  on.fields->add_copy(on.ref->name, on.ref->value);
  *on.ref = FieldRef{on.fields->end()[-1].name.data(), {}, {}};
  return TS_SUCCESS;
}

TSReturnCode TSMimeHdrFieldRemove(TSMBuffer bufp, TSMLoc hdr, TSMLoc field) {
  OnHead on("TSMimeHdrFieldRemove", bufp, hdr, field);
  if (!on) return TS_ERROR;
  if (!on.place) return TS_SUCCESS;
  if (std::string_view why = why_not_touched(on.name(), on.request()); !why.empty()) return on.refuse(why);
  const char* key = on.ref->key;
  *on.ref = FieldRef{nullptr, std::string(on.name()), std::string(on.value())};
  on.fields->remove_if([key](const telltale::http::Field& one) { return one.name.data() == key; });
  return TS_SUCCESS;
}

TSReturnCode TSMimeHdrFieldDestroy(TSMBuffer bufp, TSMLoc hdr, TSMLoc field) {
  if (TSMimeHdrFieldRemove(bufp, hdr, field) != TS_SUCCESS) return TS_ERROR;
  return TSHandleMLocRelease(bufp, hdr, field);
}

const char* TSMimeHdrFieldNameGet(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, int* length) {
  OnHead on("TSMimeHdrFieldNameGet", bufp, hdr, field);
  return on ? out(on.name(), length) : none(length);
}

TSReturnCode TSMimeHdrFieldNameSet(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, const char* name, int length) {
  OnHead on("TSMimeHdrFieldNameSet", bufp, hdr, field);
  if (!on) return TS_ERROR;
  if (on.place) return on.refuse("this field is in the head: its name stays");
  if (std::string_view why = why_not_touched(given(name, length), on.request()); !why.empty()) return on.refuse(why);
  on.ref->name.assign(given(name, length));
  return TS_SUCCESS;
}

int TSMimeHdrFieldValuesCount(TSMBuffer bufp, TSMLoc hdr, TSMLoc field) {
  OnHead on("TSMimeHdrFieldValuesCount", bufp, hdr, field);
  return on ? static_cast<int>(count_values(on.value())) : 0;
}

TSReturnCode TSMimeHdrFieldValuesClear(TSMBuffer bufp, TSMLoc hdr, TSMLoc field) {
  OnHead on("TSMimeHdrFieldValuesClear", bufp, hdr, field);
  return on ? on.set("") : TS_ERROR;
}

const char* TSMimeHdrFieldValueStringGet(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, int index, int* length) {
  OnHead on("TSMimeHdrFieldValueStringGet", bufp, hdr, field);
  if (!on) return none(length);
  if (index < 0) return out(on.value(), length);
  auto found = find_value(on.value(), static_cast<std::size_t>(index));
  return found ? out(on.value().substr(found->first, found->second), length) : none(length);
}

TSReturnCode TSMimeHdrFieldValueStringSet(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, int index, const char* value, int length) {
  OnHead on("TSMimeHdrFieldValueStringSet", bufp, hdr, field);
  if (!on) return TS_ERROR;
  if (index < 0) return on.set(given(value, length));
  auto found = find_value(on.value(), static_cast<std::size_t>(index));
  if (!found) return on.refuse("the field has no value of that index");
  std::string whole(on.value());
  whole.replace(found->first, found->second, given(value, length));
  return on.set(whole);
}

TSReturnCode TSMimeHdrFieldValueStringInsert(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, int index, const char* value, int length) {
  OnHead on("TSMimeHdrFieldValueStringInsert", bufp, hdr, field);
  if (!on) return TS_ERROR;
  std::string whole(on.value());
  std::string_view fresh = given(value, length);
  auto found = index < 0 ? std::nullopt : find_value(whole, static_cast<std::size_t>(index));
  if (found) {
    whole.insert(found->first, std::string(fresh) + ", ");
  } else {
    if (!whole.empty()) whole += ", ";
    whole += fresh;
  }
  return on.set(whole);
}

}  // extern "C"
