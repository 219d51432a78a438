# SPDX-License-Identifier: Apache-2.0
#
# How targets are made here: one function for a library of the proxy, one for a folder of unit tests,
# so that warnings, link rules and test names are the same everywhere.

add_library(telltale_flags INTERFACE)
target_compile_features(telltale_flags INTERFACE cxx_std_20)
target_compile_options(telltale_flags INTERFACE
  -Wall -Wextra -Wformat=2 -Wno-missing-field-initializers -Wnon-virtual-dtor -Woverloaded-virtual
  -fvisibility=hidden -fvisibility-inlines-hidden
  # Lines name files as a reader of the tree knows them: "http1/session.cc", "cache/store.cc".
  # The last map that fits wins.
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_SOURCE_DIR}/proxy/=)
if(TELLTALE_WERROR)
  target_compile_options(telltale_flags INTERFACE -Werror)
endif()
# No lazy binding: a symbol must never be resolved under the registry lock.
target_link_options(telltale_flags INTERFACE -Wl,-z,now -Wl,-z,relro -Wl,-z,defs)

if(TELLTALE_SANITIZE)
  # With -fsanitize=address g++ 12 warns of its own <regex> and <functional> (maybe-uninitialized); the other
  # builds keep the warning.
  target_compile_options(telltale_flags INTERFACE -Wno-maybe-uninitialized)
  # -O1 compiles in two thirds of the time of -O2 and is what the sanitizers' manual recommends.
  target_compile_options(telltale_flags INTERFACE -fsanitize=${TELLTALE_SANITIZE} -O1 -fno-omit-frame-pointer)
  target_link_options(telltale_flags INTERFACE -fsanitize=${TELLTALE_SANITIZE})
endif()

# telltale_library(NAME SOURCES a.cc ... LINK other ...): a part of the proxy, alias telltale::NAME.
function(telltale_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(telltale_${name} STATIC ${arg_SOURCES})
  add_library(telltale::${name} ALIAS telltale_${name})
  target_include_directories(telltale_${name} PUBLIC ${CMAKE_SOURCE_DIR}/proxy)
  target_link_libraries(telltale_${name} PUBLIC telltale_flags ${arg_LINK})
endfunction()

# telltale_unit_tests(AREA LINK lib ... APART tag ...): every *.cc of the calling folder becomes one Catch2 program,
# build/.../tests/unit_AREA, run by ctest as unit_AREA. Files cannot be forgotten. Where the program takes long, tests
# with one of the tags of APART are run as unit_AREA_apart beside the others.
function(telltale_unit_tests area)
  cmake_parse_arguments(arg "" "" "LINK;APART" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_executable(unit_${area} ${sources})
  target_include_directories(unit_${area} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(unit_${area} PRIVATE telltale_catch_main ${arg_LINK})
  # Two thirds of the compiler's time of -O2; what is tested is compiled as it is shipped.
  target_compile_options(unit_${area} PRIVATE $<$<CONFIG:Release>:-O1>)
  # Half of what is left: the headers that every test has. Not worth making for a few files.
  list(LENGTH sources count)
  if(count GREATER 4)
    target_precompile_headers(unit_${area} PRIVATE <catch2/catch.hpp> <fmt/format.h> <algorithm> <chrono> <string> <thread> <vector>)
    # Which g++ 12 then no longer knows for the system's: it warns of its own strings.
    target_compile_options(unit_${area} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
  endif()
  set_target_properties(unit_${area} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(tests unit_${area})
  if(arg_APART)
    list(TRANSFORM arg_APART REPLACE "(.+)" "[\\1]")
    list(JOIN arg_APART "," apart)
    list(JOIN arg_APART "~" others)
    add_test(NAME unit_${area} COMMAND unit_${area} "~${others}~[.]")
    add_test(NAME unit_${area}_apart COMMAND unit_${area} "${apart}")
    list(APPEND tests unit_${area}_apart)
  else()
    add_test(NAME unit_${area} COMMAND unit_${area})
  endif()
  set_tests_properties(${tests} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
