// SPDX-License-Identifier: Apache-2.0
#include "http/own_answer.h"

#include <fmt/format.h>

#include "http/date.h"
#include "http/method.h"
#include "http/status.h"

namespace telltale::http {

void add_date(Fields& fields, net::WallTime now) {
  char date[kDateLength];
  format_date(std::chrono::system_clock::to_time_t(now), date);
  fields.add_copy("Date", {date, sizeof date});
}

OwnAnswer own_answer(Failure failure, std::uint16_t status, std::string_view reason, net::WallTime now) {
  std::string_view token = failure_token(failure);
  OwnAnswer answer;
  answer.text = fmt::format("{} {}: {} ({})\n", status, reason_phrase(status), reason, token);
  ResponseHead& head = answer.head;
  head.status = status;
  head.framing = {Framing::kLength, answer.text.size()};
  add_date(head.fields, now);
  head.fields.add_copy("Content-Type", "text/plain; charset=utf-8");
  head.fields.add_copy("Cache-Control", "no-store");
  head.fields.add_copy("Proxy-Status", fmt::format("telltale; error={}", token));
  if (status == 405) head.fields.add_copy("Allow", kMethodsAllowed);
  return answer;
}

}  // namespace telltale::http
