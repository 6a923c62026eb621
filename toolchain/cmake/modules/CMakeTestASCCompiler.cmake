# SPDX-License-Identifier: Apache-2.0
# Run by CMake once in each build folder: a compiler that cannot compile anything is reported here, not at the first
# source.

if(CMAKE_ASC_COMPILER_FORCED OR CMAKE_ASC_COMPILER_WORKS)
  set(CMAKE_ASC_COMPILER_WORKS TRUE)
  return()
endif()
set(_canopy_folder "${CMAKE_BINARY_DIR}${CMAKE_FILES_DIRECTORY}/CMakeTmp")
file(WRITE "${_canopy_folder}/works.asc" "int main() { return 0; }\n")
execute_process(COMMAND "${CMAKE_ASC_COMPILER}" -c -o "${_canopy_folder}/works.o" "${_canopy_folder}/works.asc"
                RESULT_VARIABLE _canopy_result OUTPUT_VARIABLE _canopy_output ERROR_VARIABLE _canopy_output)
if(NOT _canopy_result EQUAL 0)
  string(REPLACE "\n" "\n  " _canopy_output "${_canopy_output}")
  message(FATAL_ERROR "The ASC compiler\n  ${CMAKE_ASC_COMPILER}\ncannot compile an empty program:\n  ${_canopy_output}")
endif()
message(STATUS "The ASC compiler works")
set(CMAKE_ASC_COMPILER_WORKS TRUE CACHE INTERNAL "The ASC compiler has compiled a program")
unset(_canopy_folder)
unset(_canopy_output)
unset(_canopy_result)
