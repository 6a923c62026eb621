# SPDX-License-Identifier: Apache-2.0
# How CMake compiles and links the language ASC. Variables of a project:
#
#   CMAKE_ASC_ARCHITECTURES   architecture of the chip, handed on as --npu-arch=: dav-2201 (default), dav-3510
#   CMAKE_ASC_STANDARD        C++ standard of the sources: 17 (default)
#   CMAKE_ASC_RUN_MODE        npu (default), cpu, sim: all of them run on the software NPU
#   CMAKE_ASC_ENABLE_SIMT     hands on --enable-simt
#   CMAKE_ASC_FLAGS, CMAKE_ASC_FLAGS_<BUILD TYPE>
#   CMAKE_ASC_COMPILER_LAUNCHER   a program that runs the compiler; before project() only
#
# They may be set before or behind project(); a target has the values of the time when it is made.

set(CMAKE_ASC_FLAGS_INIT "$ENV{ASCFLAGS} ${CMAKE_ASC_FLAGS_INIT}")
set(CMAKE_ASC_FLAGS_DEBUG_INIT "-O0 -g")
set(CMAKE_ASC_FLAGS_RELEASE_INIT "-O3 -DNDEBUG")
set(CMAKE_ASC_FLAGS_RELWITHDEBINFO_INIT "-O2 -g -DNDEBUG")
set(CMAKE_ASC_FLAGS_MINSIZEREL_INIT "-Os -DNDEBUG")
include(CMakeCommonLanguageInclude)
if(COMMAND cmake_initialize_per_config_variable)
  cmake_initialize_per_config_variable(CMAKE_ASC_FLAGS "Flags used by the ASC compiler")
else()
  set(CMAKE_ASC_FLAGS "${CMAKE_ASC_FLAGS_INIT}" CACHE STRING "Flags used by the ASC compiler")
  foreach(_canopy_type DEBUG RELEASE RELWITHDEBINFO MINSIZEREL)
    set(CMAKE_ASC_FLAGS_${_canopy_type} "${CMAKE_ASC_FLAGS_${_canopy_type}_INIT}"
        CACHE STRING "Flags used by the ASC compiler during ${_canopy_type} builds")
  endforeach()
endif()

if(NOT DEFINED CMAKE_ASC_ARCHITECTURES)
  set(CMAKE_ASC_ARCHITECTURES dav-2201)
endif()
if(NOT DEFINED CMAKE_ASC_STANDARD)
  set(CMAKE_ASC_STANDARD 17)
endif()

# Called whenever one of the variables changes: puts its option among those that the folder's next targets take over,
# in place of the earlier one. The "1" in the condition marks the options that stand there because of a variable.
function(_canopy_follow_asc_variable variable access value)
  if(access MATCHES "READ")
    return()
  endif()
  if(variable STREQUAL "CMAKE_ASC_ARCHITECTURES")
    set(option "--npu-arch=")
  elseif(variable STREQUAL "CMAKE_ASC_STANDARD")
    set(option "-std=gnu++")
  elseif(variable STREQUAL "CMAKE_ASC_RUN_MODE")
    set(option "--run-mode=")
    string(REGEX REPLACE "^npu$" "" value "${value}")
  else()
    set(option "--enable-")
    if(value)
      set(value simt)
    else()
      set(value "")
    endif()
  endif()
  set(condition "$<$<AND:$<COMPILE_LANGUAGE:ASC>,1>:")
  get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
  set(kept)
  foreach(other ${options})
    string(FIND "${other}" "${condition}${option}" place)
    if(NOT place EQUAL 0)
      list(APPEND kept "${other}")
    endif()
  endforeach()
  foreach(part ${value})
    list(APPEND kept "${condition}${option}${part}>")
  endforeach()
  set_property(DIRECTORY PROPERTY COMPILE_OPTIONS "${kept}")
endfunction()

foreach(_canopy_variable CMAKE_ASC_ARCHITECTURES CMAKE_ASC_STANDARD CMAKE_ASC_RUN_MODE CMAKE_ASC_ENABLE_SIMT)
  _canopy_follow_asc_variable(${_canopy_variable} MODIFIED_ACCESS "${${_canopy_variable}}")
  variable_watch(${_canopy_variable} _canopy_follow_asc_variable)
endforeach()

set(CMAKE_INCLUDE_FLAG_ASC "-I")
set(CMAKE_INCLUDE_SYSTEM_FLAG_ASC "-isystem ")
set(CMAKE_ASC_COMPILE_OPTIONS_PIC "-fPIC")
set(CMAKE_ASC_COMPILE_OPTIONS_PIE "-fPIE")
set(CMAKE_ASC_COMPILE_OPTIONS_VISIBILITY "-fvisibility=")
set(CMAKE_ASC_COMPILE_OPTIONS_VISIBILITY_INLINES_HIDDEN "-fvisibility-inlines-hidden")
set(CMAKE_ASC_LINKER_WRAPPER_FLAG "-Wl,")
set(CMAKE_ASC_LINKER_WRAPPER_FLAG_SEP ",")
set(CMAKE_ASC_USE_RESPONSE_FILE_FOR_OBJECTS 0)
set(CMAKE_ASC_RESPONSE_FILE_FLAG "@")

# Files of headers that the compiler writes: for Ninja, and for Makefiles since CMake 3.20.
set(CMAKE_DEPFILE_FLAGS_ASC "-MD -MT <DEP_TARGET> -MF <DEP_FILE>")
set(CMAKE_ASC_DEPFILE_FORMAT gcc)
set(CMAKE_ASC_DEPENDS_USE_COMPILER TRUE)

set(CMAKE_SHARED_LIBRARY_ASC_FLAGS "-fPIC")
set(CMAKE_SHARED_LIBRARY_CREATE_ASC_FLAGS "-shared")
set(CMAKE_SHARED_MODULE_CREATE_ASC_FLAGS "-shared")
set(CMAKE_SHARED_LIBRARY_SONAME_ASC_FLAG "-Wl,-soname,")
set(CMAKE_SHARED_LIBRARY_RUNTIME_ASC_FLAG "-Wl,-rpath,")
set(CMAKE_SHARED_LIBRARY_RUNTIME_ASC_FLAG_SEP ":")
set(CMAKE_SHARED_LIBRARY_RPATH_LINK_ASC_FLAG "-Wl,-rpath-link,")
set(CMAKE_EXECUTABLE_RUNTIME_ASC_FLAG "-Wl,-rpath,")
set(CMAKE_EXECUTABLE_RUNTIME_ASC_FLAG_SEP ":")
set(CMAKE_EXECUTABLE_RPATH_LINK_ASC_FLAG "-Wl,-rpath-link,")
set(CMAKE_EXE_EXPORTS_ASC_FLAG "-Wl,--export-dynamic")

set(_canopy_launcher "")
if(CMAKE_ASC_COMPILER_LAUNCHER)
  string(REPLACE ";" " " _canopy_launcher "${CMAKE_ASC_COMPILER_LAUNCHER} ")
endif()
set(CMAKE_ASC_COMPILE_OBJECT
    "${_canopy_launcher}<CMAKE_ASC_COMPILER> -x asc <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
set(CMAKE_ASC_LINK_EXECUTABLE
    "<CMAKE_ASC_COMPILER> <FLAGS> <CMAKE_ASC_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
set(CMAKE_ASC_CREATE_SHARED_LIBRARY
    "<CMAKE_ASC_COMPILER> <CMAKE_SHARED_LIBRARY_ASC_FLAGS> <LANGUAGE_COMPILE_FLAGS> <LINK_FLAGS> <CMAKE_SHARED_LIBRARY_CREATE_ASC_FLAGS> <SONAME_FLAG><TARGET_SONAME> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>")
set(CMAKE_ASC_CREATE_SHARED_MODULE "${CMAKE_ASC_CREATE_SHARED_LIBRARY}")
set(CMAKE_ASC_ARCHIVE_CREATE "<CMAKE_AR> qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_ASC_ARCHIVE_APPEND "<CMAKE_AR> q <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_ASC_ARCHIVE_FINISH "<CMAKE_RANLIB> <TARGET>")

unset(_canopy_launcher)
unset(_canopy_type)
unset(_canopy_variable)
set(CMAKE_ASC_INFORMATION_LOADED 1)
