// SPDX-License-Identifier: Apache-2.0
// A program's own sink: what it is given, and how it is put in place.
#include <iostream>
#include <memory>

#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>

namespace diag = telltale::diag;

class Table : public diag::EntrySink {
  bool write(const diag::Entry& e) noexcept override {
    std::cout << e.thread_id << " | " << e.tag << " | " << e.message;
    for (const diag::EntryField& f : e.fields) std::cout << " | " << f.name << ": " << f.value;
    std::cout << '\n';
    return true;
  }
};

int main() {
  diag::OutputConfig config;
  config.routes.fill(diag::kToExtra);
  diag::set_extra_sink(std::make_shared<Table>());
  if (!diag::configure_output(config)) return 1;
  diag::note("started with {} workers", 4, field("mode", "fast"));
}
