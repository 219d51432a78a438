// SPDX-License-Identifier: Apache-2.0
#include "http/failure.h"

#include <array>
#include <cstddef>

namespace telltale::http {
namespace {

struct Entry {
  Failure failure;
  std::string_view token;
  std::uint16_t status;
};

constexpr auto kCount = static_cast<std::size_t>(Failure::kCount);

constexpr std::array<Entry, kCount> kFailures{{
    {Failure::kNone, "", 200},
    {Failure::kDnsTimeout, "dns_timeout", 504},
    {Failure::kDnsError, "dns_error", 502},
    {Failure::kDestinationNotFound, "destination_not_found", 500},
    {Failure::kDestinationUnavailable, "destination_unavailable", 503},
    {Failure::kDestinationIpProhibited, "destination_ip_prohibited", 502},
    {Failure::kDestinationIpUnroutable, "destination_ip_unroutable", 502},
    {Failure::kConnectionRefused, "connection_refused", 502},
    {Failure::kConnectionTerminated, "connection_terminated", 502},
    {Failure::kConnectionTimeout, "connection_timeout", 504},
    {Failure::kConnectionReadTimeout, "connection_read_timeout", 504},
    {Failure::kConnectionWriteTimeout, "connection_write_timeout", 504},
    {Failure::kConnectionLimitReached, "connection_limit_reached", 503},
    {Failure::kTlsProtocolError, "tls_protocol_error", 502},
    {Failure::kTlsCertificateError, "tls_certificate_error", 502},
    {Failure::kTlsAlertReceived, "tls_alert_received", 502},
    {Failure::kHttpRequestError, "http_request_error", 400},
    {Failure::kHttpRequestDenied, "http_request_denied", 403},
    {Failure::kHttpResponseIncomplete, "http_response_incomplete", 502},
    {Failure::kHttpResponseHeaderSectionSize, "http_response_header_section_size", 502},
    {Failure::kHttpResponseHeaderSize, "http_response_header_size", 502},
    {Failure::kHttpResponseBodySize, "http_response_body_size", 502},
    {Failure::kHttpResponseTrailerSectionSize, "http_response_trailer_section_size", 502},
    {Failure::kHttpResponseTrailerSize, "http_response_trailer_size", 502},
    {Failure::kHttpResponseTransferCoding, "http_response_transfer_coding", 502},
    {Failure::kHttpResponseContentCoding, "http_response_content_coding", 502},
    {Failure::kHttpResponseTimeout, "http_response_timeout", 504},
    {Failure::kHttpUpgradeFailed, "http_upgrade_failed", 502},
    {Failure::kHttpProtocolError, "http_protocol_error", 502},
    {Failure::kProxyInternalResponse, "proxy_internal_response", 500},
    {Failure::kProxyInternalError, "proxy_internal_error", 500},
    {Failure::kProxyConfigurationError, "proxy_configuration_error", 500},
    {Failure::kProxyLoopDetected, "proxy_loop_detected", 502},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (static_cast<std::size_t>(kFailures[i].failure) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kFailures must list every Failure in the order of the enum");

}  // namespace

std::string_view failure_token(Failure failure) { return kFailures[static_cast<std::size_t>(failure)].token; }

std::uint16_t recommended_status(Failure failure) { return kFailures[static_cast<std::size_t>(failure)].status; }

}  // namespace telltale::http
