# SPDX-License-Identifier: Apache-2.0
# Run by ascendc.cmake behind the compiler of kernels: of the launch headers that were expected, those that were not
# written say why.  cmake -Dheaders=FILE|FILE... -P missing_headers.cmake

string(REPLACE "|" ";" headers "${headers}")
foreach(header ${headers})
  if(NOT EXISTS "${header}")
    get_filename_component(name "${header}" NAME_WE)
    string(REPLACE "aclrtlaunch_" "" name "${name}")
    file(WRITE "${header}" "#error \"${name} is not a kernel that C code can launch: a template, in a namespace, or not compiled\"\n")
  endif()
endforeach()
