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

# canopy_add_sharded_test(<name> SHARDS <count> COMMAND <program> [<argument>...] [ENVIRONMENT <name=value>...]
#                         [TIMEOUT <seconds>] [COST <seconds>] [LABELS <label>])
# Adds <name>.1 to <name>.<count>: each runs its share of the program's tests, so that all cores are busy and a crash
# loses one share.
function(canopy_add_sharded_test name)
  cmake_parse_arguments(SHARDED "" "SHARDS;TIMEOUT;COST;LABELS" "COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT SHARDED_TIMEOUT)
    set(SHARDED_TIMEOUT 600)
  endif()
  if(NOT SHARDED_COST)
    set(SHARDED_COST 0)
  endif()
  foreach(number RANGE 1 ${SHARDED_SHARDS})
    math(EXPR index "${number} - 1")
    add_test(NAME ${name}.${number} COMMAND ${SHARDED_COMMAND})
    set_tests_properties(
      ${name}.${number}
      PROPERTIES TIMEOUT ${SHARDED_TIMEOUT} COST ${SHARDED_COST} LABELS "${SHARDED_LABELS}" ENVIRONMENT
                 "${SHARDED_ENVIRONMENT};GTEST_TOTAL_SHARDS=${SHARDED_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# canopy_add_test(<name> [SHARDS <count>] <source>...): a GoogleTest program that sees include/ only and links the shared
# library.
function(canopy_add_test name)
  cmake_parse_arguments(TEST "" "SHARDS" "" ${ARGN})
  add_executable(${name} ${TEST_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE canopy canopy_options GTest::gtest GTest::gtest_main Threads::Threads)
  canopy_register_test(${name} "${TEST_SHARDS}")
endfunction()

# canopy_add_unit_test(<name> [SHARDS <count>] <source>...): the same, for code below the interface: sees src/ and links
# its objects.
function(canopy_add_unit_test name)
  cmake_parse_arguments(TEST "" "SHARDS" "" ${ARGN})
  add_executable(${name} ${TEST_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE canopy_internal canopy_options GTest::gtest GTest::gtest_main Threads::Threads)
  canopy_register_test(${name} "${TEST_SHARDS}")
endfunction()

function(canopy_register_test name shards)
  canopy_compile_fast(${name})
  if(shards)
    canopy_add_sharded_test(${name} SHARDS ${shards} COMMAND ${name})
  else()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  endif()
endfunction()
