# SPDX-License-Identifier: Apache-2.0
# find_package(canopy_dispatcher REQUIRED), after project(): inner runtimes for the dispatcher, and programs that load
# them. Needs CMake 3.16.
#
#   canopy_add_inner_runtime(<name> <source>... [PLATFORMS a2a3 a5])
#       one shared object for each platform (default: both): targets <name>_a2a3 and <name>_a5, files
#       ${CMAKE_BINARY_DIR}/inner_runtimes/<platform>/lib<name>.so. Called once for each runtime; everything is compiled
#       in parallel with everything else. CANOPY_PLATFORM_A2A3 or CANOPY_PLATFORM_A5 is defined while compiling. The
#       target inner_runtimes is all of them, and copies the dispatcher beside each platform's files.
#   canopy::dispatcher
#       to link: headers and library of a program that uses canopy/dispatcher.h.

get_filename_component(_canopy_tree "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_canopy_tree "${_canopy_tree}" DIRECTORY)
get_filename_component(_canopy_tree "${_canopy_tree}/../.." ABSOLUTE)
set_property(GLOBAL PROPERTY CANOPY_DISPATCHER_TREE "${_canopy_tree}")
if(NOT TARGET canopy::dispatcher)
  add_library(canopy::dispatcher INTERFACE IMPORTED GLOBAL)
  set_target_properties(canopy::dispatcher PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_canopy_tree}/include"
                        INTERFACE_LINK_LIBRARIES "${_canopy_tree}/lib64/libascendcl.so;${CMAKE_DL_LIBS}"
                        INTERFACE_COMPILE_FEATURES cxx_std_17)
endif()
unset(_canopy_tree)

# The folder of a platform's files, with the dispatcher in it.
function(_canopy_add_platform platform folder)
  if(NOT TARGET inner_runtimes)
    add_custom_target(inner_runtimes ALL)
  endif()
  if(TARGET inner_runtimes_${platform})
    return()
  endif()
  get_property(tree GLOBAL PROPERTY CANOPY_DISPATCHER_TREE)
  set(copy "${folder}/libcanopy_dispatcher.so")
  add_custom_command(OUTPUT "${copy}" COMMAND ${CMAKE_COMMAND} -E copy_if_different
                     "${tree}/lib64/libcanopy_dispatcher.so" "${copy}"
                     DEPENDS "${tree}/lib64/libcanopy_dispatcher.so" VERBATIM)
  add_custom_target(inner_runtimes_${platform} DEPENDS "${copy}")
  add_dependencies(inner_runtimes inner_runtimes_${platform})
endfunction()

function(canopy_add_inner_runtime name)
  cmake_parse_arguments(PARSE_ARGV 1 runtime "" "" PLATFORMS)
  if(NOT runtime_PLATFORMS)
    set(runtime_PLATFORMS a2a3 a5)
  endif()
  if(NOT runtime_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "canopy_add_inner_runtime(${name}): no sources")
  endif()
  get_property(tree GLOBAL PROPERTY CANOPY_DISPATCHER_TREE)
  foreach(platform ${runtime_PLATFORMS})
    if(NOT platform MATCHES "^(a2a3|a5)$")
      message(FATAL_ERROR "canopy_add_inner_runtime(${name}): platform ${platform} is neither a2a3 nor a5")
    endif()
    set(folder "${CMAKE_BINARY_DIR}/inner_runtimes/${platform}")
    _canopy_add_platform(${platform} "${folder}")
    set(target ${name}_${platform})
    string(TOUPPER ${platform} word)
    add_library(${target} MODULE ${runtime_UNPARSED_ARGUMENTS})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} PREFIX lib LIBRARY_OUTPUT_DIRECTORY "${folder}"
                          POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${target} PRIVATE CANOPY_PLATFORM_${word}=1)
    target_include_directories(${target} PRIVATE "${tree}/include")
    target_compile_features(${target} PRIVATE cxx_std_17)
    # What is missing is found here, not on the device.
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
    add_dependencies(inner_runtimes ${target})
  endforeach()
endfunction()
set(canopy_dispatcher_FOUND TRUE)
