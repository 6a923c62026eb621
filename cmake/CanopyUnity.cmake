# SPDX-License-Identifier: Apache-2.0
# Most of the time a source file takes to compile goes into headers that its neighbours include as well. So the sources
# of a target are compiled in groups: files of one folder, one after the other, as one.
option(CANOPY_UNITY "Compile sources in groups" OFF)

# canopy_precompile(<target> <header>...)
# Parses these headers once for all sources of the target. Like groups, it is left out of the builds that show whether
# each file includes what it needs.
function(canopy_precompile target)
  if(NOT CANOPY_UNITY)
    return()
  endif()
  foreach(header ${ARGN})
    string(REPLACE ">" "$<ANGLE-R>" header "${header}")
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
  # ccache needs it to see through the header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endfunction()

# canopy_compile_in_groups(<target> [SIZE <files>] [ALONE <source>...])
# Makes groups of at most <files> (default: 8) in each folder: small enough that a changed file is built again in a few
# seconds. Files of a group must not use one name for two things, unnamed namespaces included: give one of them another
# name, or name the file under ALONE. Sources with compile options of their own stay alone anyway. The builds without
# groups (dev, clang) show whether each file includes what it needs.
function(canopy_compile_in_groups target)
  if(NOT CANOPY_UNITY)
    return()
  endif()
  cmake_parse_arguments(GROUP "" "SIZE" "ALONE" ${ARGN})
  if(NOT GROUP_SIZE)
    set(GROUP_SIZE 8)
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(SORT sources)
  set_source_files_properties(${GROUP_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(before)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    if(NOT folder STREQUAL before)
      set(before ${folder})
      set(count 0)
    endif()
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    string(MAKE_C_IDENTIFIER "${name}" name)
    math(EXPR number "${count} / ${GROUP_SIZE} + 1")
    math(EXPR count "${count} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${number})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # gcc takes the files of a group for headers, whose unnamed namespaces it warns about.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
