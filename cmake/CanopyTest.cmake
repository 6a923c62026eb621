# SPDX-License-Identifier: Apache-2.0
# How tests are declared. docs/testing.md says what kinds there are and what one may cost.

# The precompiled header of all test programs: made once, with the options that they share.
function(canopy_add_test_headers)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Only its precompiled header is used.\n")
  add_library(canopy_test_headers OBJECT EXCLUDE_FROM_ALL ${source})
  set_target_properties(canopy_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(canopy_test_headers PRIVATE -fPIE)  # as for programs
  target_link_libraries(canopy_test_headers PRIVATE canopy_options GTest::gtest Threads::Threads)
  canopy_test_options(canopy_test_headers)
  foreach(header gtest/gtest.h algorithm array atomic chrono condition_variable cstdint cstring filesystem fstream functional
                 map memory mutex optional string thread unordered_map vector)
    target_precompile_headers(canopy_test_headers PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
endfunction()

function(canopy_test_options target)
  # GoogleTest's macros begin with an if; from a precompiled header gcc warns about that in our code.
  target_compile_options(${target} PRIVATE -O0 -Wno-dangling-else)
  if(CANOPY_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)  # for the library, not for what tests it
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache needs it to see through the header
  endif()
endfunction()

# Tests are compiled without optimisation and against the precompiled header: what they call is optimised, they
# themselves only need to compile fast.
function(canopy_compile_fast target)
  canopy_test_options(${target})
  target_precompile_headers(${target} REUSE_FROM canopy_test_headers)
endfunction()

# canopy_add_gtest(<name> COMMAND <program> [<argument>...] [SHARDS <count>] [ENVIRONMENT <name=value>...]
#                  [TIMEOUT <seconds>] [COST <seconds>] [LABELS <label>])
# Adds the test <name>, or <name>.1 to <name>.<count>: each runs its share of the program's tests, so that all cores are
# busy. <program> is a target or a path. A crash loses one test (tests/run_share.py).
function(canopy_add_gtest name)
  cmake_parse_arguments(GTEST "" "SHARDS;TIMEOUT;COST;LABELS" "COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT GTEST_TIMEOUT)
    set(GTEST_TIMEOUT 600)
  endif()
  if(NOT GTEST_COST)
    set(GTEST_COST 0)
  endif()
  list(POP_FRONT GTEST_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(shards 1)
  if(GTEST_SHARDS)
    set(shards ${GTEST_SHARDS})
  endif()
  foreach(number RANGE 1 ${shards})
    set(test ${name})
    if(GTEST_SHARDS)
      set(test ${name}.${number})
    endif()
    add_test(NAME ${test} COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tests/run_share.py ${number} ${shards} ${program}
                                  ${GTEST_COMMAND})
    set_tests_properties(${test} PROPERTIES TIMEOUT ${GTEST_TIMEOUT} COST ${GTEST_COST} LABELS "${GTEST_LABELS}"
                                            ENVIRONMENT "${GTEST_ENVIRONMENT}")
  endforeach()
endfunction()

# canopy_add_test(<name> [SHARDS <count>] <source>...): a GoogleTest program that sees include/ only and links the shared
# library.
function(canopy_add_test name)
  cmake_parse_arguments(TEST "" "SHARDS" "" ${ARGN})
  add_executable(${name} ${TEST_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE canopy canopy_options GTest::gtest GTest::gtest_main Threads::Threads)
  canopy_register_test(${name} "${TEST_SHARDS}" "")
endfunction()

# canopy_add_unit_test(<name> [SHARDS <count>] [APART <filter>] <source>...): the same, for code below the interface: sees
# src/ and links its objects. Tests that match the filter run as <name>.apart, without the others in their process.
function(canopy_add_unit_test name)
  cmake_parse_arguments(TEST "" "SHARDS;APART" "" ${ARGN})
  add_executable(${name} ${TEST_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE canopy_internal canopy_options GTest::gtest GTest::gtest_main Threads::Threads)
  canopy_register_test(${name} "${TEST_SHARDS}" "${TEST_APART}")
endfunction()

function(canopy_register_test name shards apart)
  canopy_compile_fast(${name})
  set(others)
  if(apart)
    set(others --gtest_filter=-${apart})
    canopy_add_gtest(${name}.apart COMMAND ${name} --gtest_filter=${apart})
  endif()
  canopy_add_gtest(${name} SHARDS "${shards}" COMMAND ${name} ${others})
endfunction()
