// SPDX-License-Identifier: Apache-2.0
#pragma once
// The debug site: one static object per call, and one hot byte that says whether it is on.
//
// Everything that can turn a line on or off folds into the hot byte, so a disabled site costs one
// compare with memory and one branch. On x86-64 the byte lies in a section of its own (telltale_hot),
// where 64 sites share a cache line that nothing else writes; elsewhere, and under ThreadSanitizer,
// which cannot see inline assembly, it lies inside the Site object.
//
// A second section (telltale_rec) lists the sites of a module, self-relative and read-only. A hidden
// object in each module hands that list to the registry when the module is loaded and takes it back
// when it is unloaded; every site is known before it ever ran. `section` attributes on C++ statics
// fail for this (section type conflict between inline and plain functions), inline assembly with the
// section flag `?` does not. The .reloc ties a list entry to the code that refers to it, so that
// linker garbage collection keeps or drops both.
//
// **Thread safety:** hot bytes and entries are atomic; all else is constant after initialisation.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <telltale/diag/export.h>

namespace telltale::diag {

// Bits of the hot byte. 0 = off.
inline constexpr std::uint8_t kSiteOnForAll = 0x01;
inline constexpr std::uint8_t kSiteAsksContext = 0x02;   // for clients that a filter names, or a followed transaction
inline constexpr std::uint8_t kSiteAsksFlag = 0x04;      // SpecificDbg: where its flag or a locked-on transaction says so
inline constexpr std::uint8_t kSiteCounts = 0x08;        // a preview counts it
inline constexpr std::uint8_t kSiteRecords = 0x10;       // armed for the flight recorder (recorder.h)
inline constexpr std::uint8_t kSiteUnregistered = 0x80;  // executed before its module registered

struct SiteMeta {
  const char* tag;
  const char* format;
  const char* file;
  const char* function;  // __PRETTY_FUNCTION__ inside the site's local struct
  std::uint32_t line;
  bool specific;         // SpecificDbg
};

struct SiteEntry;  // the registry's: outlives the module

struct Site {
  std::atomic<std::uint8_t> hot{kSiteUnregistered};  // the portable form's hot byte
  std::atomic<std::uint32_t> plain{0};               // the registry's: plainly on, under which number (plain_site.h)
  std::atomic<SiteEntry*> entry{nullptr};            // set by the registry with release, read with acquire
  const SiteMeta* meta;
  constexpr explicit Site(const SiteMeta* m) : meta(m) {}
};
static_assert(sizeof(Site) == 8 + 2 * sizeof(void*));  // modules that were built before have their own

// One per place the compiler put the site; copies of one site (inlining) have several.
struct SiteListItem {
  std::int32_t hot_offset;   // from this member; 0 = the byte is Site::hot
  std::int32_t site_offset;  // from this member
};

// One per linked module (executable or library).
struct Module {
  // "Some string tag may be on": guards TSDebug-like calls. First, because ts/ts.h reads it in a plugin.
  std::atomic<std::uint8_t> string_tags_on{0};
  const SiteListItem* begin = nullptr;
  const SiteListItem* end = nullptr;
  Module* next = nullptr;                       // the registry's list
  const void* address = nullptr;                // something inside the module, to find its name
  std::atomic<const void*> name{nullptr};       // the registry's: the module's name, once it is added
};

// Called by each module's hidden registration object. Errors: none; an invalid tag is reported as a
// warning line and its sites stay off. Cost: takes the registry lock, matches patterns outside it.
TELLTALE_EXPORT void add_module(Module& module);
TELLTALE_EXPORT void remove_module(Module& module) noexcept;

// An enabled site asks: shall this line be written for the current scope? `flag` is SpecificDbg's. Cost: no
// lock, no allocation; three loads where the base alone has the site on, for everybody; a client's verdict is
// recomputed once after the filters changed.
TELLTALE_EXPORT bool site_wanted(const Site& site, bool flag) noexcept;
// Reserves room for its line, as begin_record() (record.h), and counts the hit. Where the line goes is what
// site_wanted() last said on this thread.
TELLTALE_EXPORT char* begin_site_record(const Site& site, std::size_t room_bytes) noexcept;
// The same in two steps, of modules that were built before there was begin_site_record().
TELLTALE_EXPORT std::uint32_t site_number(const Site& site) noexcept __attribute__((cold));
TELLTALE_EXPORT std::uint32_t site_tag_number(const Site& site) noexcept __attribute__((cold));

// Keyed by the local struct of the call, hidden: merged inside a module, never across modules.
template <class Here>
struct TELLTALE_HIDDEN SiteOf {
  static inline constinit const SiteMeta meta{Here::tag(),      Here::format(), Here::file(),
                                              Here::function(), Here::line(),   Here::specific()};
  static inline constinit Site site{&meta};
};

}  // namespace telltale::diag

extern "C" {
extern const telltale::diag::SiteListItem __start_telltale_rec[] __attribute__((weak, visibility("hidden")));
extern const telltale::diag::SiteListItem __stop_telltale_rec[] __attribute__((weak, visibility("hidden")));
}

namespace telltale::diag {

struct TELLTALE_HIDDEN ModuleRegistration {
  Module module;
  ModuleRegistration() {
    module.begin = __start_telltale_rec;
    module.end = __stop_telltale_rec;
    module.address = this;
    add_module(module);
  }
  ~ModuleRegistration() { remove_module(module); }
};
// First of a module's initialisers, last of its destructors.
TELLTALE_HIDDEN inline ModuleRegistration module_registration __attribute__((init_priority(101)));

}  // namespace telltale::diag

#if defined(__x86_64__)
#define TELLTALE_RELOC_NONE "R_X86_64_NONE"
#elif defined(__aarch64__)
#define TELLTALE_RELOC_NONE "R_AARCH64_NONE"
#else
#error "debug sites know x86-64 and aarch64; add the no-op relocation of this processor here"
#endif

#if defined(__SANITIZE_THREAD__)
#define TELLTALE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TELLTALE_THREAD_SANITIZER 1
#endif
#endif

#if defined(__x86_64__) && !defined(TELLTALE_PORTABLE_SITES) && !defined(TELLTALE_THREAD_SANITIZER)
#define TELLTALE_SITE_ON(VAR, HERE)                                                        \
  bool VAR;                                                                                \
  asm inline volatile(                                                                     \
      "cmpb $0, 771f(%%rip)\n\t"                                                           \
      ".reloc ., " TELLTALE_RELOC_NONE                                                     \
      ", 772f\n\t"                                                                         \
      ".pushsection telltale_hot,\"aw?\",@progbits\n771:\t.byte 0x80\n\t.popsection\n\t"   \
      ".pushsection telltale_rec,\"a?\",@progbits\n\t.balign 4\n"                          \
      "772:\t.long 771b-.\n\t.long %c1-.\n\t.popsection"                                   \
      : "=@ccne"(VAR)                                                                      \
      : "i"(&::telltale::diag::SiteOf<HERE>::site))
// The site's address for the enabled path's second use of it. g++ would keep the first one in a register
// across the call in between, and save that register at the function's start, on the disabled path.
#define TELLTALE_SITE_AGAIN(VAR, HERE)    \
  const ::telltale::diag::Site* VAR;      \
  asm("leaq %c1(%%rip), %0" : "=r"(VAR) : "i"(&::telltale::diag::SiteOf<HERE>::site))
#else
#define TELLTALE_SITE_ON(VAR, HERE)                                                        \
  asm inline volatile(                                                                     \
      ".reloc ., " TELLTALE_RELOC_NONE                                                     \
      ", 772f\n\t"                                                                         \
      ".pushsection telltale_rec,\"a?\",@progbits\n\t.balign 4\n"                          \
      "772:\t.long 0\n\t.long %c0-.\n\t.popsection" ::"i"(&::telltale::diag::SiteOf<HERE>::site)); \
  bool VAR = ::telltale::diag::SiteOf<HERE>::site.hot.load(std::memory_order_relaxed) != 0
#define TELLTALE_SITE_AGAIN(VAR, HERE) const ::telltale::diag::Site* VAR = &::telltale::diag::SiteOf<HERE>::site
#endif
