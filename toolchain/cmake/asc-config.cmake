# SPDX-License-Identifier: Apache-2.0
# find_package(ASC REQUIRED), before project(x LANGUAGES ASC CXX): makes the language ASC known and defines the
# functions of ascendc.cmake. CMakeASCInformation.cmake beside it lists the variables of the language.

get_filename_component(_canopy_cmake "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_canopy_cmake "${_canopy_cmake}" DIRECTORY)
get_filename_component(ASC_ROOT "${_canopy_cmake}/../.." ABSOLUTE)
set(ASC_COMPILER "${ASC_ROOT}/bin/canopy-cc")
if(NOT EXISTS "${ASC_COMPILER}")
  set(ASC_FOUND FALSE)
  set(ASC_NOT_FOUND_MESSAGE "${ASC_COMPILER} is missing: this install tree has no kernel compiler")
  return()
endif()
list(FIND CMAKE_MODULE_PATH "${_canopy_cmake}/canopy/modules" _canopy_place)
if(_canopy_place EQUAL -1)
  list(APPEND CMAKE_MODULE_PATH "${_canopy_cmake}/canopy/modules")
endif()
unset(_canopy_place)
unset(_canopy_cmake)

include("${ASC_ROOT}/tikcpp/ascendc_kernel_cmake/ascendc.cmake")

# Operator packages: the functions exist, so that a project can be read, and say that they cannot be used yet.
foreach(_canopy_function npu_op_package npu_op_package_add npu_op_library npu_op_kernel_library npu_op_kernel_sources
                         npu_op_code_gen npu_op_device_tiling_library npu_op_kernel_options)
  string(CONFIGURE [[
function(@_canopy_function@)
  message(FATAL_ERROR "@_canopy_function@: operator packages are not supported yet. Kernels are compiled by "
                      "add_executable or add_library with .asc sources, and by ascendc_library.")
endfunction()]] _canopy_text @ONLY)
  if(CMAKE_VERSION VERSION_LESS 3.18)
    file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/${_canopy_function}.cmake" "${_canopy_text}")
    include("${CMAKE_BINARY_DIR}/CMakeFiles/${_canopy_function}.cmake")
  else()
    cmake_language(EVAL CODE "${_canopy_text}")
  endif()
endforeach()
unset(_canopy_function)
unset(_canopy_text)

set(ASC_FOUND TRUE)
