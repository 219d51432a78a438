// SPDX-License-Identifier: Apache-2.0
// A plugin for ./tt load latency: makes controls at run time, as many as it is told, that are never used.
//
//   many_controls.so COUNT TAG      tags TAG0, TAG1 ...
//
// Half of them by TSDbgCtlCreate(), half as objects: what a pattern is matched against is the same.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <ts/ts.h>

namespace {

std::vector<std::unique_ptr<DbgCtl>> objects;
std::vector<const TSDbgCtl*> created;

}  // namespace

void TSPluginInit(int argc, const char* argv[]) {
  TSPluginRegistrationInfo info{"many_controls", "telltale", "none"};
  if (argc != 3 || TSPluginRegister(&info) != TS_SUCCESS) {
    TSError("many_controls: expected COUNT and TAG");
    return;
  }
  const int count = std::atoi(argv[1]);
  for (int i = 0; i < count; ++i) {
    const std::string tag = argv[2] + std::to_string(i);
    if (i % 2 == 0) {
      created.push_back(TSDbgCtlCreate(tag.c_str()));
    } else {
      objects.push_back(std::make_unique<DbgCtl>(tag.c_str()));
    }
  }
}
