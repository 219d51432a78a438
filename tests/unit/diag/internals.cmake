# SPDX-License-Identifier: Apache-2.0
# Parts of the library that are tested by themselves; the library does not export them. None has state
# that must be one with the library's.
foreach(part file_compressor file_sink glob journal_encoder journal_sender journal_stream move_file patient_write ring rotating_file rotating_file_tidy rule
        rule_list rule_parser secret_matcher sink_losses stream_sink syslog_sink throttle_table ticks)
  target_sources(unit_diag PRIVATE ${CMAKE_SOURCE_DIR}/lib/diag/src/${part}.cc)
endforeach()
target_sources(unit_diag PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/journal_receiver.cc)
target_link_libraries(unit_diag PRIVATE telltale::record_log PkgConfig::ZSTD)

# What docs/diagnostics.md shows runs.
add_executable(diag_own_sink ${CMAKE_SOURCE_DIR}/lib/diag/examples/own_sink.cc)
target_link_libraries(diag_own_sink PRIVATE telltale_flags telltale::diag)
set_target_properties(diag_own_sink PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME unit_diag_own_sink COMMAND diag_own_sink)
set_tests_properties(unit_diag_own_sink PROPERTIES LABELS unit TIMEOUT 60
  PASS_REGULAR_EXPRESSION "^[1-9][0-9]* \\| +\\| started with 4 workers \\| mode: fast\n$")

# What process_test.cc runs.
add_executable(diag_output_child child/output_child.cc)
target_link_libraries(diag_output_child PRIVATE telltale_flags telltale::diag)
set_target_properties(diag_output_child PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_compile_definitions(unit_diag PRIVATE TELLTALE_OUTPUT_CHILD="$<TARGET_FILE:diag_output_child>")
add_dependencies(unit_diag diag_output_child)

# What recorder_test.cc runs.
add_executable(diag_recorder_child child/recorder_child.cc)
target_link_libraries(diag_recorder_child PRIVATE telltale_flags telltale::diag)
set_target_properties(diag_recorder_child PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_compile_definitions(unit_diag PRIVATE TELLTALE_RECORDER_CHILD="$<TARGET_FILE:diag_recorder_child>")
add_dependencies(unit_diag diag_recorder_child)

# What tests/e2e/test_journald.py runs.
add_executable(diag_journal_child child/journal_child.cc)
target_link_libraries(diag_journal_child PRIVATE telltale_flags telltale::diag)
set_target_properties(diag_journal_child PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
