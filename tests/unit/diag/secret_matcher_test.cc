// SPDX-License-Identifier: Apache-2.0
// R12, R13: what is found, against forms made here byte by byte.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "lib/diag/src/secret_matcher.h"

using namespace telltale::diag;

namespace {

std::string masked(const std::vector<std::string>& values, const std::vector<std::string_view>& pieces, bool cut = false) {
  TextPieces text;
  std::string whole;
  for (std::string_view piece : pieces) {
    text.add(piece);
    whole += piece;
  }
  SecretSpans spans;
  SecretMatcher(values).find(text, cut, spans);
  std::string out;
  std::size_t done = 0;
  for (auto span : spans) {
    out += whole.substr(done, span.begin - done) + "[X]";
    done = span.end;
  }
  return out + whole.substr(done);
}

std::string base64(std::string_view bytes, bool url) {
  const char* alphabet = url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                             : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned n = 0;
    for (std::size_t k = 0; k < 3; ++k) n = n << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k * 6 / 8 + i < bytes.size() ? alphabet[n >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string percent(std::string_view bytes, std::mt19937& random, unsigned one_of, unsigned times = 1) {
  std::string out;
  for (char c : bytes) {
    char hex[8];
    std::snprintf(hex, sizeof hex, random() % 2 == 0 ? "%%%02x" : "%%%02X", static_cast<unsigned char>(c));
    out += random() % one_of == 0 ? hex : std::string(1, c);
  }
  return times == 1 ? out : percent(out, random, one_of, times - 1);
}

}  // namespace

TEST_CASE("Secrets: R12 a value is found as it is, and what is around it stays", "[diag][secret][R12]") {
  CHECK(masked({"hunter2"}, {"the password is hunter2."}) == "the password is [X].");
  CHECK(masked({"hunter2"}, {"hunter2"}) == "[X]");
  CHECK(masked({"hunter2"}, {"hunter hunter3 HUNTER2 hunterhunter"}) == "hunter hunter3 HUNTER2 hunterhunter");
  CHECK(masked({"hunter2"}, {"hunterhunter2hunter22"}) == "hunter[X][X]2");
  CHECK(masked({"aabaa"}, {"xaabaabaax"}) == "x[X]x");
  CHECK(masked({"abcde", "abcdefgh"}, {"1 abcdefgh 2 abcdeff"}) == "1 [X] 2 [X]ff");
  CHECK(masked({std::string("a\0b\xff\n", 5)}, {std::string_view("1a\0b\xff\n2", 7)}) == "1[X]2");
}

TEST_CASE("Secrets: R12 percent forms are found, whole or in part, in any case and up to three times over", "[diag][secret][R12]") {
  CHECK(masked({"p@ss/w+d"}, {"a=p%40ss%2Fw%2bd&b"}) == "a=[X]&b");
  CHECK(masked({"p@ss/w+d"}, {"a=p%2540ss%252Fw%252bd&b"}) == "a=[X]&b");
  CHECK(masked({"p@ss/w+d"}, {"%70%40%73%73%2F%77%2B%64"}) == "[X]");
  CHECK(masked({"a b c d"}, {"q=a+b+c+d&r=a%20b%20c%20d&s=a+b+c+e"}) == "q=[X]&r=[X]&s=a+b+c+e");
  CHECK(masked({"100%25x"}, {"v=100%25x w=100%2525x"}) == "v=[X] w=[X]");
  CHECK(masked({"hunter2"}, {"100% %zz %4 %"}) == "100% %zz %4 %");
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const std::string value = "p@s /%\"\x01\xfe" + std::to_string(random());
    for (unsigned times : {1u, 2u, 3u}) {
      const std::string form = percent(value, random, 1 + random() % 4, times);
      INFO(form);
      CHECK(masked({value}, {"before " + form + " after"}) == "before [X] after");
    }
  }
}

TEST_CASE("Secrets: R12 base64 is found at all three alignments, in both alphabets, with the bits it shares", "[diag][secret][R12]") {
  std::mt19937 random(2);
  for (int i = 0; i < 600; ++i) {
    std::string value;
    for (std::size_t n = 5 + random() % 20; n-- > 0;) value += static_cast<char>(random());
    std::string before(random() % 7, '\0'), after(random() % 7, '\0');
    for (std::string* text : {&before, &after}) std::generate(text->begin(), text->end(), [&] { return static_cast<char>(random()); });
    const bool url = random() % 2 == 0;
    const std::string form = base64(before + value + after, url);
    // Characters that hold no bit of the value.
    const std::size_t first = before.size() * 8 / 6, last = ((before.size() + value.size()) * 8 + 5) / 6;
    INFO(form);
    CHECK(masked({value}, {"<" + form + ">"}) == "<" + form.substr(0, first) + "[X]" + form.substr(last) + ">");
  }
}

TEST_CASE("Secrets: hexadecimal, JSON and doubled braces are found", "[diag][secret][R12]") {
  CHECK(masked({"hunter2"}, {"68756e74657232"}) == "[X]");
  CHECK(masked({"hunter2\xff"}, {"0x68756E74657232FF."}) == "0x[X].");
  CHECK(masked({"a\"b\\cd"}, {R"({"k":"a\"b\\cd"})"}) == R"({"k":"[X]"})");
  CHECK(masked({"{x}{y}"}, {"{{x}}{{y}} {}"}) == "[X] {}");
}

TEST_CASE("Secrets: R12 a value is found wherever it is split", "[diag][secret][R12]") {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::string value = "s3cr/t " + std::to_string(random() % 100);
    std::string form = value;
    if (i % 4 == 1) form = percent(value, random, 2);
    if (i % 4 == 2) form = base64(value + "xx", false);
    const std::string text = "AB:" + form + ":CD";
    std::vector<std::string_view> pieces;
    std::string_view left = text;
    for (int k = 0; k < 5; ++k) {
      const std::size_t take = random() % (left.size() + 1);
      pieces.push_back(left.substr(0, take));
      left.remove_prefix(take);
    }
    pieces.push_back(left);
    CHECK(masked({value}, pieces) == masked({value}, {text}));
    CHECK(masked({value}, pieces).find("[X]") != std::string::npos);
  }
}

TEST_CASE("Secrets: R13 a text that was cut never ends inside a value, whatever its form", "[diag][secret][R13]") {
  const std::string value = "top/secret value";
  std::mt19937 random(4);
  for (const std::string& form : {value, percent(value, random, 1), percent(value, random, 2, 2), base64(value, false).substr(0, 21),
                                  base64("a" + value, true).substr(2, 18)}) {
    const std::string whole = "GGGG " + form;
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      INFO(whole.substr(0, size));
      CHECK(masked({value}, {std::string_view(whole).substr(0, size)}, true) == (size <= 5 ? whole.substr(0, size) : "GGGG [X]"));
    }
    // What was not cut is left as it is.
    CHECK(masked({value}, {std::string_view(whole).substr(0, 5 + form.size() / 2)}) == whole.substr(0, 5 + form.size() / 2));
  }
}

TEST_CASE("Secrets: more than can be told apart are masked to the end", "[diag][secret]") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "hunter2 ";
  const std::string out = masked({"hunter2"}, {text});
  CHECK(out.find("hunter2") == std::string::npos);
  CHECK(out.size() < text.size());
}

TEST_CASE("Secrets: a thousand values are told apart", "[diag][secret]") {
  std::vector<std::string> values;
  for (int i = 0; i < 1000; ++i) values.push_back("value" + std::to_string(i) + "!");
  CHECK(masked(values, {"value7! value999! value1000! value77 !"}) == "[X] [X] value1000! value77 !");
}
