// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why the proxy itself answered, as the registered error types of the Proxy-Status field. The same
// token stands in the response, in debug lines and in counters.
//
// **Thread safety:** immutable.
// **Source:** RFC 9209 section 2.3.

#include <cstdint>
#include <string_view>

namespace telltale::http {

enum class Failure : std::uint8_t {
  kNone,                            // no failure: the token is empty
  kDnsTimeout,                      // the resolver did not answer in time
  kDnsError,                        // the resolver answered with an error
  kDestinationNotFound,             // no origin is configured for the request
  kDestinationUnavailable,          // the origin is known and considered down
  kDestinationIpProhibited,         // configuration forbids the origin's address
  kDestinationIpUnroutable,         // no route to the origin's address
  kConnectionRefused,               // the origin refused the connection
  kConnectionTerminated,            // the origin closed before any part of a response
  kConnectionTimeout,               // the connection was not up in time
  kConnectionReadTimeout,           // the origin stopped sending in mid-response
  kConnectionWriteTimeout,          // the origin did not take the request in time
  kConnectionLimitReached,          // a limit on connections to the origin
  kTlsProtocolError,                // TLS failed
  kTlsCertificateError,             // the origin's certificate was not accepted
  kTlsAlertReceived,                // the origin sent a TLS alert
  kHttpRequestError,                // the client's request is in error
  kHttpRequestDenied,               // the proxy refuses the request
  kHttpResponseIncomplete,          // the origin closed in mid-response
  kHttpResponseHeaderSectionSize,   // the response's header section is too large
  kHttpResponseHeaderSize,          // one of its fields is too large
  kHttpResponseBodySize,            // its content is too large
  kHttpResponseTrailerSectionSize,  // its trailer section is too large
  kHttpResponseTrailerSize,         // one field of it is too large
  kHttpResponseTransferCoding,      // its transfer coding cannot be decoded
  kHttpResponseContentCoding,       // its content coding cannot be decoded
  kHttpResponseTimeout,             // no complete response in time
  kHttpUpgradeFailed,               // the origin answered an upgrade wrongly
  kHttpProtocolError,               // the origin broke the protocol otherwise
  kProxyInternalResponse,           // the proxy answered on purpose
  kProxyInternalError,              // the proxy failed
  kProxyConfigurationError,         // its configuration is wrong
  kProxyLoopDetected,               // the request came round again
  kCount
};

// "connection_refused"; empty for kNone. Lives for ever.
std::string_view failure_token(Failure failure);

// The status code RFC 9209 recommends. Where it leaves the code open: 400 for kHttpRequestError and
// 500 for kProxyInternalResponse; 200 for kNone.
std::uint16_t recommended_status(Failure failure);

}  // namespace telltale::http
