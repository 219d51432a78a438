// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "control/ttctl/run.h"

int main(int argc, char** argv) {
  const char* path = std::getenv("TELLTALE_CONTROL");
  bool all_written = true;
  const telltale::control::Output output{
      [&all_written](std::string_view text) {
        if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
        if (all_written) std::perror("ttctl: cannot write the answer");
        return all_written = false;
      },
      [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }};
  auto outcome = telltale::control::run(std::vector<std::string>(argv + 1, argv + argc), path != nullptr ? path : "", {}, &output);
  if (!all_written) return telltale::control::kExitRefused;
  std::fwrite(outcome.err.data(), 1, outcome.err.size(), stderr);
  bool written = std::fwrite(outcome.out.data(), 1, outcome.out.size(), stdout) == outcome.out.size();
  if (std::fflush(stdout) != 0 || !written) {
    std::perror("ttctl: cannot write the answer");
    return outcome.exit_status != 0 ? outcome.exit_status : telltale::control::kExitRefused;
  }
  return outcome.exit_status;
}
