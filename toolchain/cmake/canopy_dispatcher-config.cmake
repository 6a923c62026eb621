# SPDX-License-Identifier: Apache-2.0
# find_package(canopy_dispatcher REQUIRED), after project(): inner runtimes for the dispatcher, and programs that load
# them. Needs CMake 3.16.
#
#   canopy_add_inner_runtime(<name> <source>... [PLATFORMS a2a3 a5])
#       one shared object for each platform (default: both): targets <name>_a2a3 and <name>_a5, files
#       ${CMAKE_BINARY_DIR}/inner_runtimes/<platform>/lib<name>.so. Called once for each runtime; everything is compiled
#       in parallel with everything else. CANOPY_PLATFORM_A2A3 or CANOPY_PLATFORM_A5 is defined while compiling. The
#       dispatcher is compiled for each platform too, beside its runtimes: targets canopy_dispatcher_a2a3 and
#       canopy_dispatcher_a5. The target inner_runtimes is all of them.
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

# What the dispatcher and the runtimes of a platform have in common.
function(_canopy_add_object target name platform folder)
  get_property(tree GLOBAL PROPERTY CANOPY_DISPATCHER_TREE)
  string(TOUPPER ${platform} word)
  add_library(${target} MODULE ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} PREFIX lib LIBRARY_OUTPUT_DIRECTORY "${folder}"
                        POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE CANOPY_PLATFORM_${word}=1)
  target_include_directories(${target} PRIVATE "${tree}/include")
  # What is missing is found here, not on the device.
  target_link_options(${target} PRIVATE -Wl,--no-undefined)
  if(NOT TARGET inner_runtimes)
    add_custom_target(inner_runtimes ALL)
  endif()
  add_dependencies(inner_runtimes ${target})
endfunction()

# The dispatcher of a platform, once.
function(_canopy_add_dispatcher platform folder)
  set(target canopy_dispatcher_${platform})
  if(TARGET ${target})
    return()
  endif()
  get_property(tree GLOBAL PROPERTY CANOPY_DISPATCHER_TREE)
  set(source "${tree}/share/canopy/source")
  file(GLOB files "${source}/dispatcher/*.cpp" "${source}/foundation/*.cpp")
  _canopy_add_object(${target} canopy_dispatcher ${platform} "${folder}" ${files})
  target_include_directories(${target} PRIVATE "${source}")
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE -fvisibility=hidden -fvisibility-inlines-hidden)
  target_link_options(${target} PRIVATE -Wl,-z,now)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endfunction()

function(canopy_add_inner_runtime name)
  cmake_parse_arguments(PARSE_ARGV 1 runtime "" "" PLATFORMS)
  if(NOT runtime_PLATFORMS)
    set(runtime_PLATFORMS a2a3 a5)
  endif()
  if(NOT runtime_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "canopy_add_inner_runtime(${name}): no sources")
  endif()
  foreach(platform ${runtime_PLATFORMS})
    if(NOT platform MATCHES "^(a2a3|a5)$")
      message(FATAL_ERROR "canopy_add_inner_runtime(${name}): platform ${platform} is neither a2a3 nor a5")
    endif()
    set(folder "${CMAKE_BINARY_DIR}/inner_runtimes/${platform}")
    _canopy_add_dispatcher(${platform} "${folder}")
    _canopy_add_object(${name}_${platform} ${name} ${platform} "${folder}" ${runtime_UNPARSED_ARGUMENTS})
    target_compile_features(${name}_${platform} PRIVATE cxx_std_17)
  endforeach()
endfunction()
set(canopy_dispatcher_FOUND TRUE)
