# SPDX-License-Identifier: Apache-2.0
# find_package(tikicpulib REQUIRED), after project(): the cpu form of a program. A target that links tikicpulib::<product>
# sees tikicpulib.h and is compiled with ASCENDC_CPU_DEBUG (and its older name __CCE_KT_TEST__). Its sources that hold
# kernels are compiled by canopy-cc for that product: a chip as SOC_VERSION names it, or an architecture like dav-2201.
# compile_cpu_form beside this file decides which sources those are. Everything runs on the software NPU, in the program's
# own process. Needs CMake 3.16, and Ninja or Makefiles.

get_filename_component(_canopy_cmake "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_canopy_cmake "${_canopy_cmake}" DIRECTORY)
get_filename_component(_canopy_tree "${_canopy_cmake}/../.." ABSOLUTE)
set(_canopy_program "\"${_canopy_cmake}/canopy/compile_cpu_form\"")

if(NOT EXISTS "${_canopy_tree}/bin/canopy-cc")
  set(tikicpulib_FOUND FALSE)
  set(tikicpulib_NOT_FOUND_MESSAGE "${_canopy_tree}/bin/canopy-cc is missing: this install tree has no kernel compiler")
  return()
endif()

# Before every compiler of the project, and before what the project itself put there.
get_property(_canopy_launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
string(FIND "${_canopy_launcher}" "${_canopy_program}" _canopy_place)
if(_canopy_place EQUAL -1)
  set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "${_canopy_program} \"${CMAKE_CXX_COMPILER}\" ${_canopy_launcher}")
endif()

file(GLOB _canopy_products RELATIVE "${_canopy_tree}/tools/tikicpulib/lib" "${_canopy_tree}/tools/tikicpulib/lib/Ascend*")
foreach(_canopy_product ${_canopy_products} dav-1001 dav-2002 dav-2201 dav-3002 dav-3510 ${SOC_VERSION})
  if(NOT TARGET tikicpulib::${_canopy_product})
    add_library(tikicpulib::${_canopy_product} INTERFACE IMPORTED GLOBAL)
    set_target_properties(
      tikicpulib::${_canopy_product} PROPERTIES
      INTERFACE_COMPILE_DEFINITIONS "ASCENDC_CPU_DEBUG=1;__CCE_KT_TEST__=1;CANOPY_CPU_FORM=${_canopy_product}"
      INTERFACE_INCLUDE_DIRECTORIES
      "${_canopy_tree}/tools/tikicpulib/lib/include;${_canopy_tree}/include;${_canopy_tree}/toolchain/include"
      INTERFACE_LINK_DIRECTORIES "${_canopy_tree}/lib64"
      INTERFACE_LINK_LIBRARIES
      "${_canopy_tree}/lib64/libtikicpulib.so;${_canopy_tree}/lib64/libascendcl.so;${CMAKE_DL_LIBS};pthread;m")
  endif()
endforeach()

foreach(_canopy_name cmake tree program launcher place products product name)
  unset(_canopy_${_canopy_name})
endforeach()
set(tikicpulib_FOUND TRUE)
