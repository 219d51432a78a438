// SPDX-License-Identifier: Apache-2.0
// What check.py disassembles: one read, as a caller's code holds it.
#include <telltale/diag/one_writer_multi_reader.h>

extern "C" __attribute__((visibility("default"))) void read_once(telltale::diag::OneWriterMultiReader& lock) {
  lock.lock_shared();
  lock.unlock_shared();
}
