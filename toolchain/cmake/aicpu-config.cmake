# SPDX-License-Identifier: Apache-2.0
# find_package(AICPU REQUIRED), before project(x LANGUAGES ASC AICPU CXX): makes the language AICPU known, so that a
# project with a few such sources can be read. Compiling one of them says that it is not supported yet.

get_filename_component(_canopy_cmake "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_canopy_cmake "${_canopy_cmake}" DIRECTORY)
get_filename_component(AICPU_ROOT "${_canopy_cmake}/../.." ABSOLUTE)
list(FIND CMAKE_MODULE_PATH "${_canopy_cmake}/canopy/modules" _canopy_place)
if(_canopy_place EQUAL -1)
  list(APPEND CMAKE_MODULE_PATH "${_canopy_cmake}/canopy/modules")
endif()
unset(_canopy_place)
unset(_canopy_cmake)
set(AICPU_FOUND TRUE)
