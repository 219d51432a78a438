// SPDX-License-Identifier: Apache-2.0
#pragma once
// A test plugin loaded with dlopen, and its functions by name.
//
// **Thread safety:** thread-compatible.

#include <dlfcn.h>

#include <fstream>
#include <string>

#include <catch2/catch.hpp>

namespace telltale::plugin::test {

class Loaded {
 public:
  explicit Loaded(const std::string& name)
      : name_(name + ".so"), handle_(dlopen((TELLTALE_TEST_PLUGINS "/" + name_).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) FAIL(dlerror());
  }
  ~Loaded() { dlclose(handle_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  template <class... A>
  int run(const char* function, A... arguments) {
    auto found = reinterpret_cast<int (*)(A...)>(dlsym(handle_, function));
    if (found == nullptr) FAIL(dlerror());
    return found(arguments...);
  }

 private:
  std::string name_;
  void* handle_;
};

inline bool mapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) return true;
  }
  return false;
}

}  // namespace telltale::plugin::test
