# SPDX-License-Identifier: Apache-2.0
# How tests are declared.

# Tests are compiled without optimisation and against one precompiled GoogleTest: what they call is optimised, they
# themselves only need to compile fast.
function(canopy_compile_fast target)
  # GoogleTest's macros begin with an if; from a precompiled header gcc warns about that in our code.
  target_compile_options(${target} PRIVATE -O0 -Wno-dangling-else)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache needs it to see through the header
  endif()
  foreach(header gtest/gtest.h cstdint cstring memory string thread vector)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
endfunction()

# canopy_add_test(<name> <source>...): a GoogleTest program that sees include/ only and links the shared library.
function(canopy_add_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE canopy canopy_options GTest::gtest GTest::gtest_main Threads::Threads)
  canopy_compile_fast(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()

# canopy_add_unit_test(<name> <source>...): the same, for code below the interface: sees src/ and links its objects.
function(canopy_add_unit_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE canopy_internal canopy_options GTest::gtest GTest::gtest_main Threads::Threads)
  canopy_compile_fast(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()
