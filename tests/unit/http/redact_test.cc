// SPDX-License-Identifier: Apache-2.0
//
// Golden tables of what is masked and what is not. spec/redaction.md gives the R numbers.
#include "http/redact.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "http/print.h"

using namespace telltale::http;

namespace {

std::string printed(std::string_view name, std::string_view value) {
  const Field field{field_id(name), name, value};
  return fmt::format("{}", print_field(field));
}

std::string url(std::string_view text, Mask mask = Mask::kSecrets) { return fmt::format("{}", print_url(text, mask)); }

struct Row {
  const char* in;
  const char* out;
};

}  // namespace

TEST_CASE("Redact: R1 credentials keep a known scheme and nothing else", "[http][redact][R1][B63]") {
  const std::vector<Row> rows{
      {"Bearer abc.def", "Bearer [redacted]"},
      {"Basic dTpw", "Basic [redacted]"},
      {"bEaReR abc", "bEaReR [redacted]"},
      {"Digest username=\"u\", response=\"S3CR3T\"", "Digest [redacted]"},
      {"AWS4-HMAC-SHA256 Credential=x, Signature=y", "AWS4-HMAC-SHA256 [redacted]"},
      {"xyz", "[redacted]"},
      {"xyz abc", "[redacted]"},
      {"Bearer", "[redacted]"},
      {"Bearerabc def", "[redacted]"},
      {"Bearer                    abc", "Bearer [redacted]"},
      {"Bearer\tabc", "Bearer [redacted]"},
      {"  \t Bearer abc  ", "Bearer [redacted]"},
      {"Bearer abc\r\n def", "Bearer [redacted]"},
      {"", ""},
      {" \t ", ""},
  };
  for (const Row& row : rows) {
    for (const char* name : {"Authorization", "aUTHorization", "proxy-authorization"}) {
      INFO(row.in);
      CHECK(printed(name, row.in) == std::string(name) + ": " + row.out);
    }
  }
}

TEST_CASE("Redact: B65 absent, empty and masked are three texts", "[http][redact][B65]") {
  Fields absent, empty, masked;
  empty.add_copy("Authorization", "");
  masked.add_copy("Authorization", "Basic QQ==");
  CHECK(fmt::format("{}", print_fields(absent)) == "");
  CHECK(fmt::format("{}", print_fields(empty)) == "Authorization: ");
  CHECK(fmt::format("{}", print_fields(masked)) == "Authorization: Basic [redacted]");
}

TEST_CASE("Redact: R2 duplicates are all covered, whatever their case", "[http][redact][R2]") {
  Fields fields;
  for (const char* name : {"authorization", "AUTHORIZATION", "Authorization"}) fields.add_copy(name, "Bearer S3CR3T");
  fields.add_copy("Cookie", "a=S3CR3T\r\n b=S3CR3T");
  const std::string text = fmt::format("{}", print_fields(fields));
  CHECK(text == "authorization: Bearer [redacted] | AUTHORIZATION: Bearer [redacted] | Authorization: Bearer [redacted] | "
                "Cookie: a=[redacted]");
}

TEST_CASE("Redact: R3 names on the list and names with a suspicious fragment lose their value", "[http][redact][R3]") {
  for (const char* name :
       {"X-Api-Key", "api-key", "X-Auth-Token", "x-amz-security-token", "X-CSRF-Token", "X-Forwarded-Client-Cert",
        "Authentication-Info", "proxy-authentication-info", "X-My-Token", "my_secret", "X-Password", "x-passwd",
        "X-Credentials", "X-Session-Id", "X-Hub-Signature-256", "ApiKey", "X-APIKEY", "X_API_KEY", "X-Goog-Api-Key",
        "X-Authorization", "X-Original-Cookie", "Set-Cookie2", "X-JWT-Assertion", "X-XSRF", "X-Auth-Key",
        "X-Functions-Key", "Ocp-Apim-Subscription-Key", "X-Vault-Token", "Private-Key", "X-SessID", "x.api.key"}) {
    INFO(name);
    CHECK(printed(name, "S3CR3T") == std::string(name) + ": [redacted]");
    CHECK(printed(name, "") == std::string(name) + ": ");
  }
  CHECK(printed(std::string(128, 'n'), "v") == std::string(128, 'n') + ": v");
  CHECK(printed(std::string(129, 'n'), "v") == std::string(129, 'n') + ": [redacted]");
}

TEST_CASE("Redact: R3 the allow-list beats the fragments", "[http][redact][R3]") {
  CHECK(printed("Access-Control-Allow-Credentials", "true") == "Access-Control-Allow-Credentials: true");
  CHECK(printed("X-RateLimit-Remaining-Tokens", "5") == "X-RateLimit-Remaining-Tokens: 5");
  CHECK(printed("X-Access-Control-Allow-Credentials", "true") == "X-Access-Control-Allow-Credentials: [redacted]");
}

TEST_CASE("Redact: R3 a challenge keeps scheme and realm", "[http][redact][R3]") {
  const std::vector<Row> rows{
      {"Basic realm=\"a b\"", "Basic realm=\"a b\""},
      {"Basic realm=a", "Basic realm=a"},
      {"Basic", "Basic"},
      {"Negotiate", "Negotiate"},
      {"Negotiate YIIBigYJS3CR3T", "Negotiate [redacted]"},
      {"Digest realm=\"x\", nonce=\"S3CR3T\", qop=auth", "Digest realm=\"x\", [redacted]"},
      {"Digest nonce=\"S3CR3T\", realm=\"x\"", "Digest [redacted]"},
      {"Bearer realm=\"a\\\"b\", error=\"x\"", "Bearer realm=\"a\\\"b\", [redacted]"},
      {"Bearer realm=\"never closed S3CR3T", "Bearer [redacted]"},
      {"Bearer realm=\"x\\", "Bearer [redacted]"},
      {"Basic realm=\"x\"S3CR3T", "Basic [redacted]"},
      {"S3CR3T", "[redacted]"},
      {"", ""},
  };
  for (const Row& row : rows) {
    INFO(row.in);
    CHECK(printed("WWW-Authenticate", row.in) == std::string("WWW-Authenticate: ") + row.out);
    CHECK(printed("proxy-authenticate", row.in) == std::string("proxy-authenticate: ") + row.out);
  }
}

TEST_CASE("Redact: R4 cookies keep their names", "[http][redact][R4]") {
  const std::vector<Row> rows{
      {"sid=1; lang=en", "sid=[redacted]; lang=[redacted]"},
      {"a", "[redacted]"},
      {"a; b=1", "[redacted]; b=[redacted]"},
      {"sid=1;lang=en", "sid=[redacted];lang=[redacted]"},
      {"sid=1;", "sid=[redacted];"},
      {"a=b=c", "a=[redacted]"},
      {"a=\"x;y=S3CR3T\"; b=2", "a=[redacted]; b=[redacted]"},
      {"a=\"x; b=S3CR3T", "a=[redacted]"},
      {"dGVzdA==", "[redacted]"},       // base64 with padding is not a name
      {"dGVzdGk=; a=1", "[redacted]; a=[redacted]"},
      {"=S3CR3T", "[redacted]"},
      {"S3 CR3T=1", "[redacted]"},
      {";;", ";;"},
      {"", ""},
  };
  for (const Row& row : rows) {
    INFO(row.in);
    CHECK(printed("Cookie", row.in) == std::string("Cookie: ") + row.out);
  }
  CHECK(printed("Cookie", std::string(64, 'n') + "=1") == "Cookie: " + std::string(64, 'n') + "=[redacted]");
  CHECK(printed("Cookie", std::string(65, 'n') + "=1") == "Cookie: [redacted]");
}

TEST_CASE("Redact: R4 Set-Cookie keeps name and attributes", "[http][redact][R4]") {
  const std::vector<Row> rows{
      {"sid=1; Path=/; HttpOnly", "sid=[redacted]; Path=/; HttpOnly"},
      {"sid=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Max-Age=5;SameSite=Lax; Secure",
       "sid=[redacted]; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Max-Age=5;SameSite=Lax; Secure"},
      {"sid=1; path=/; DOMAIN=a.b; Partitioned; Priority=High", "sid=[redacted]; path=/; DOMAIN=a.b; Partitioned; Priority=High"},
      {"sid=1; S3CR3T", "sid=[redacted]; [redacted]"},
      {"sid=1; other=S3CR3T; Path=/", "sid=[redacted]; [redacted]; Path=/"},
      {"a=1; Path=/, b=S3CR3T; Secure", "a=[redacted]; [redacted]; Secure"},
      {"a=1; Path=/, S3CR3T", "a=[redacted]; [redacted]"},
      {"a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT, b=S3CR3T", "a=[redacted]; [redacted]"},
      {"a=\"x; S3CR3T\"; Path=/", "a=[redacted]; Path=/"},
      {"a", "[redacted]"},
      {"", ""},
  };
  for (const Row& row : rows) {
    INFO(row.in);
    CHECK(printed("set-cookie", row.in) == std::string("set-cookie: ") + row.out);
  }
}

TEST_CASE("Redact: R5 URLs lose user-info and the values of secret keys", "[http][redact][R5][B63]") {
  const std::vector<Row> rows{
      {"http://u:p@h/x?q=1&access_token=zz#f", "http://[redacted]@h/x?q=1&access_token=[redacted]#f"},
      {"/x?access%5Ftoken=zz", "/x?access%5Ftoken=[redacted]"},
      {"/x?ACCESS_TOKEN=zz&a=b", "/x?ACCESS_TOKEN=[redacted]&a=b"},
      {"/x?%61ccess_token=zz", "/x?%61ccess_token=[redacted]"},
      {"/x?%2561ccess_token=zz", "/x?%2561ccess_token=[redacted]"},  // encoded twice
      {"/x?token=", "/x?token="},
      {"/x?token=&a=1", "/x?token=&a=1"},
      {"/x?token", "/x?token"},
      {"/x?sig=1&Signature=2&key=3&api_key=4&auth=5&password=6&code=7", "/x?sig=[redacted]&Signature=[redacted]&key=[redacted]&api_key=[redacted]&auth=[redacted]&password=[redacted]&code=[redacted]"},
      {"/x?user[password]=S3CR3T&auth[0]=S3CR3T", "/x?user[password]=[redacted]&auth[0]=[redacted]"},
      {"/x?X-Amz-Credential=a%2Fb&X-Amz-Signature=c", "/x?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]"},
      {"/x?a=1;token=S3CR3T", "/x?a=1;token=[redacted]"},
      {"/x?token=a;b=c?d/e&f=g", "/x?token=[redacted]&f=g"},
      {"/x?a=b?token=S3CR3T", "/x?a=b?token=[redacted]"},
      {"/cb#access_token=S3CR3T&state=1", "/cb#access_token=[redacted]&state=1"},
      {"/cb#/route?token=S3CR3T#x", "/cb#/route?token=[redacted]"},
      {"/a;jsessionid=S3CR3T/b;v=1?q=1", "/a;jsessionid=[redacted]/b;v=1?q=1"},
      {"/a&token=S3CR3T", "/a&token=[redacted]"},
      {"/a\\token=S3CR3T", "/a\\token=[redacted]"},
      {"/x?next=http://u:S3CR3T@h/", "/x?next=http://[redacted]@h/"},
      {"/x?next=https%3A%2F%2Fh%2F%3Faccess_token%3DS3CR3T&a=1", "/x?next=[redacted]&a=1"},
      {"/x?next=https%253A%252F%252Fh%252F%253Ftoken%253DS3CR3T", "/x?next=[redacted]"},
      {"/x?next=https%3A%2F%2Fu%3AS3CR3T%40h%2F", "/x?next=[redacted]"},
      {"/x?access_token%3DS3CR3T", "/x?[redacted]"},
      {"/x?data=%7B%22password%22%3A%22S3CR3T%22%7D", "/x?data=[redacted]"},
      {"/x?data={\"password\":\"S3CR3T\"}", "/x?data=[redacted]"},
      {"/x?next=https%3A%2F%2Fh%2Fp%3Fq%3D1", "/x?next=https%3A%2F%2Fh%2Fp%3Fq%3D1"},
      {"//u:S3CR3T@h/x", "//[redacted]@h/x"},
      {"/r//u:S3CR3T@h/x", "/r//[redacted]@h/x"},
      {"/x?next=//u:S3CR3T@h/", "/x?next=//[redacted]@h/"},
      {"/x?next=%2F%2Fu%3AS3CR3T%40h%2F&a=1", "/x?next=[redacted]&a=1"},
      {"/x?next=%5C%5C%2Fu%3AS3CR3T%40h", "/x?next=[redacted]"},
      {"/x?next=%2F%2Fh%2F%40user", "/x?next=%2F%2Fh%2F%40user"},
      {"http:/u:S3CR3T@h/x", "http:/[redacted]@h/x"},
      {"http:\\\\u:S3CR3T@h/x", "http:\\\\[redacted]@h/x"},
      {"http:///u:S3CR3T@h/x", "http:///[redacted]@h/x"},
      {"u:S3CR3T@h:443", "[redacted]@h:443"},
      {"http://S3CR3T@h/", "http://[redacted]@h/"},
      {"http://u:S3/CR3T@h/", "http://[redacted]@h/"},
      {"http://u:S3@CR/3T@h/", "http://[redacted]@h/"},
      {"http://u:S3?CR3T@h/", "http://[redacted]@h/"},
      {"http://u:S3CR3T/", "http://[redacted]/"},
      {"http://u%3AS3CR3T%40h/", "http://[redacted]/"},
      {"http://h:8080/@user/post?a=b@c", "http://h:8080/@user/post?a=b@c"},
      {"/@user", "/@user"},
      {"http://[::1]:8080/x", "http://[::1]:8080/x"},
      {"http://h", "http://h"},
      {"h:443", "h:443"},
      {"localhost:8080/x", "localhost:8080/x"},
      {"*", "*"},
      {"", ""},
      {"/", "/"},
      {"/x?", "/x?"},
      {"/x?a=1&&b=2&#", "/x?a=1&&b=2&#"},
      {"/%", "/%"},
      {"/x?a=%zz", "/x?a=%zz"},
      {"/abc==/def", "/abc==/def"},
  };
  for (const Row& row : rows) {
    INFO(row.in);
    CHECK(url(row.in) == row.out);
    // Fields that carry URLs go through the same code.
    const Fields none;
    CHECK(printed("Referer", row.in) == std::string("Referer: ") + row.out);
    CHECK(printed("location", row.in) == std::string("location: ") + row.out);
    CHECK(printed("X-Original-URL", row.in) == std::string("X-Original-URL: ") + row.out);
    CHECK(printed(":path", row.in) == std::string(":path: ") + row.out);
  }
}

TEST_CASE("Redact: R5 Link and other text keep what is around the URLs", "[http][redact][R5]") {
  const std::vector<Row> rows{
      {"<https://h/x?token=S3CR3T>; rel=next, <https://u:S3CR3T@h/y>; rel=\"prev\"",
       "<https://h/x?token=[redacted]>; rel=next, <https://[redacted]@h/y>; rel=\"prev\""},
      {"<https://h/x?token=S3 CR3T>; rel=next", "<https://h/x?token=[redacted]>; rel=next"},
      {"</style.css>; rel=preload; as=style", "</style.css>; rel=preload; as=style"},
      {"<never closed?token=S3CR3T", "<never closed?token=[redacted]"},
      {"<>", "<>"},
      {"  ", ""},
      {"a  b", "a  b"},
  };
  for (const Row& row : rows) {
    INFO(row.in);
    CHECK(printed("Link", row.in) == std::string("Link: ") + row.out);
  }
  CHECK(printed("Refresh", "5; url=https://h/?token=S3CR3T") == "Refresh: 5; url=https://h/?token=[redacted]");
  CHECK(printed("X-Anything", "see https://u:S3CR3T@h/ and https://h/?sig=S3CR3T") ==
        "X-Anything: see https://[redacted]@h/ and https://h/?sig=[redacted]");
  CHECK(printed("Host", "u:S3CR3T@h") == "Host: [redacted]@h");
}

TEST_CASE("Redact: R5 strict mode masks every value of query and fragment", "[http][redact][R5]") {
  const std::vector<Row> rows{
      {"/x;v=1?q=1&r=&s#t=u", "/x;v=1?q=[redacted]&r=&[redacted]#t=[redacted]"},
      {"/x", "/x"},
      {"/x?a/b=c?d", "/x?[redacted]"},
      {"http://u:p@h/x?y", "http://[redacted]@h/x?[redacted]"},
  };
  for (const Row& row : rows) {
    INFO(row.in);
    CHECK(url(row.in, Mask::kEveryValue) == row.out);
  }
}

TEST_CASE("Redact: query keys are compared decoded, without case and separators", "[http][redact][R5]") {
  for (const char* key : {"access_token", "access%5Ftoken", "AccessToken", "id-token", "client_secret", "passwd", "password",
                          "user.password", "key", "api_key", "apikey", "API-Key", "subscription-key", "sig", "X-Amz-Signature",
                          "auth", "oauth_verifier", "JSESSIONID", "PHPSESSID", "sid", "code", "otp", "pwd", "SAMLResponse",
                          "csrf", "jwt", "user[pass]", "%6b%65%79"}) {
    INFO(key);
    CHECK(is_secret_key(key));
  }
  for (const char* key : {"", "q", "page", "author", "authors", "sort", "state", "keyword", "codec", "signal", "design", "passenger", "assign", "compass[x]"}) {
    INFO(key);
    CHECK_FALSE(is_secret_key(key));
  }
  CHECK_FALSE(is_secret_key(std::string(128, 'n')));
  CHECK(is_secret_key(std::string(129, 'n')));
}
