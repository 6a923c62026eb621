# SPDX-License-Identifier: Apache-2.0
# Run by CMake when the language AICPU is enabled. There is no compiler for it yet: the one named here is used only
# in rules that say so.

set(CMAKE_AICPU_COMPILER "${CMAKE_COMMAND}")
set(CMAKE_AICPU_COMPILER_ENV_VAR AICPU)
configure_file("${CMAKE_CURRENT_LIST_DIR}/CMakeAICPUCompiler.cmake.in"
               "${CMAKE_PLATFORM_INFO_DIR}/CMakeAICPUCompiler.cmake" @ONLY)
