// SPDX-License-Identifier: Apache-2.0
#pragma once
// What leaves libtelltale-diag.so, and what must stay inside each module that includes our headers.
// State that every module shares is exported; state that each module needs a copy of is hidden, so
// that it is neither merged across modules nor made STB_GNU_UNIQUE, which would pin a plugin in
// memory after dlclose().

#define TELLTALE_EXPORT __attribute__((visibility("default")))
#define TELLTALE_HIDDEN __attribute__((visibility("hidden")))
