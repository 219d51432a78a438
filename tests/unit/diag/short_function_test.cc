// SPDX-License-Identifier: Apache-2.0
// Signatures as g++ 12 and clang 19 write them.
#include <catch2/catch.hpp>

#include "lib/diag/src/short_function.h"

using telltale::diag::short_function;

TEST_CASE("short_function: finds the name in what both compilers write", "[diag][line]") {
  struct Case {
    std::string_view signature, name;
  };
  for (const Case& c : {
           Case{"int main()", "main"},
           Case{"void ns::C<T>::m(T, std::function<void(int)>) const [with T = int]", "m"},
           Case{"void ns::C<int>::m(T, std::function<void (int)>) const [T = int]", "m"},
           Case{"static constexpr const char* ns::C<T>::m(T, std::function<void(int)>) const::telltale_here::function() [with T = int]", "m"},
           Case{"static const char *ns::C<int>::m(int, std::function<void (int)>)::telltale_here::function() [T = int]", "m"},
           Case{"static constexpr const char* ns::C<T>::m(T) const::<lambda(auto:11)>::telltale_here::function() [with auto:11 = int; T = int]", "m"},
           Case{"static const char *ns::C<int>::m(int)::(anonymous class)::operator()(int)::telltale_here::function() [T = int]", "m"},
           Case{"ns::{anonymous}::anon(int (*)(int))::<lambda(int)>", "anon"},
           Case{"auto ns::(anonymous namespace)::anon(int (*)(int))::(anonymous class)::operator()(int) const", "anon"},
           Case{"ns::C<T>::C() [with T = int]", "C"},
           Case{"static constexpr const char* ns::C<T>::~C()::telltale_here::function() [with T = int]", "~C"},
           Case{"void ns::C<T>::operator()(int) [with T = int]", "operator()"},
           Case{"bool ns::C<T>::operator<(const ns::C<T>&) const [with T = int]", "operator<"},
           Case{"static constexpr const char* ns::C<T>::operator bool() const::telltale_here::function() [with T = int]", "operator bool"},
           Case{"U* ns::C<T>::get(U) [with U = double; T = int]", "get"},
           Case{"U *ns::C<int>::get(U) [T = int, U = double]", "get"},
           Case{"static constexpr const char* ns::S::mco(std::string)::telltale_here::function()", "mco"},
           // A coroutine's body, as g++ names it.
           Case{"void ns::S::mco(ns::S::mco(std::string)::_ZN2ns1S3mcoENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE.Frame*)", "mco"},
           Case{"TSPluginInit", "TSPluginInit"},
           Case{"", ""},
           Case{"no sense ) at all (", "("},
       }) {
    CHECK(short_function(c.signature) == c.name);
  }
}
