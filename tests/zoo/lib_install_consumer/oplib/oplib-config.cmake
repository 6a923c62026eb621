# SPDX-License-Identifier: Apache-2.0
get_filename_component(_oplib_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET oplib::oplib)
    add_library(oplib::oplib SHARED IMPORTED)
    set_target_properties(oplib::oplib PROPERTIES
        IMPORTED_LOCATION ${_oplib_prefix}/lib/liboplib.so
        IMPORTED_LINK_DEPENDENT_LIBRARIES ${_oplib_prefix}/lib/libop_kernels.so
        INTERFACE_INCLUDE_DIRECTORIES ${_oplib_prefix}/include)
endif()
