// SPDX-License-Identifier: Apache-2.0
#include "http/method.h"

namespace telltale::http {

Method method_from(std::string_view text) {
  switch (text.size()) {
    case 3:
      if (text == "GET") return Method::kGet;
      if (text == "PUT") return Method::kPut;
      break;
    case 4:
      if (text == "HEAD") return Method::kHead;
      if (text == "POST") return Method::kPost;
      break;
    case 5:
      if (text == "PATCH") return Method::kPatch;
      if (text == "TRACE") return Method::kTrace;
      break;
    case 6:
      if (text == "DELETE") return Method::kDelete;
      break;
    case 7:
      if (text == "OPTIONS") return Method::kOptions;
      if (text == "CONNECT") return Method::kConnect;
      break;
    default:
      break;
  }
  return Method::kOther;
}

std::string_view method_text(Method method) {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kHead: return "HEAD";
    case Method::kPost: return "POST";
    case Method::kPut: return "PUT";
    case Method::kDelete: return "DELETE";
    case Method::kConnect: return "CONNECT";
    case Method::kOptions: return "OPTIONS";
    case Method::kTrace: return "TRACE";
    case Method::kPatch: return "PATCH";
    case Method::kOther: break;
  }
  return {};
}

}  // namespace telltale::http
