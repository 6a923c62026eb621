# SPDX-License-Identifier: Apache-2.0
# find_package(ASC REQUIRED), before project(x LANGUAGES ASC CXX): makes the language ASC known and defines the
# functions of ascendc.cmake and operator_project.cmake. CMakeASCInformation.cmake beside it lists the variables of the language.

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
include("${ASC_ROOT}/tikcpp/ascendc_kernel_cmake/operator_project.cmake")

set(ASC_FOUND TRUE)
