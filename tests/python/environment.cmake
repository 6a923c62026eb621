# SPDX-License-Identifier: Apache-2.0
# What Python tests run with. Sets `interpreter_environment` and `kernel_compiler`, and `interpreter_missing` to the reason
# when they cannot run. Included by the folders of the tests.
set(interpreter_missing)
set(interpreter_environment "PYTHONDONTWRITEBYTECODE=1")
set(kernel_compiler ${PROJECT_BINARY_DIR}/toolchain/tree/bin/canopy-cc)
if(CANOPY_CC_EXECUTABLE)
  set(kernel_compiler ${CANOPY_CC_EXECUTABLE})
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -c "import numpy, pytest" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  set(interpreter_missing "that needs numpy and pytest (python3-numpy, python3-pytest)")
endif()

# The interpreter is not built with the sanitizers: it gets them from outside, and allocates where they can see it. What
# it keeps to its end is no leak. The compiler is left without them.
if(CANOPY_SANITIZE)
  set(libraries)
  foreach(library asan ubsan stdc++)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${library}.so OUTPUT_VARIABLE file
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(IS_ABSOLUTE "${file}")
      file(REAL_PATH ${file} file)
      list(APPEND libraries ${file})
    else()
      set(interpreter_missing "${CMAKE_CXX_COMPILER} has no lib${library}.so to be loaded before the interpreter")
    endif()
  endforeach()
  list(JOIN libraries ":" libraries)
  list(APPEND interpreter_environment LD_PRELOAD=${libraries} ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests/python/canopy-cc CONTENT [[#!/bin/sh
unset LD_PRELOAD
exec "@kernel_compiler@" "$@"
]] @ONLY)
  set(kernel_compiler ${PROJECT_BINARY_DIR}/tests/python/canopy-cc)
  file(CHMOD ${kernel_compiler} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()
