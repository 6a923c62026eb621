# SPDX-License-Identifier: Apache-2.0
# Kernel libraries for projects whose languages are C and C++. Included after project():
#
#   include(${ASCENDC_CMAKE_DIR}/ascendc.cmake)
#   ascendc_library(<target> STATIC|SHARED <source>...)            a library to link: kernels and the functions that launch them
#   ascendc_fatbin_library(<target> <source>...)                   an image to load: fatbin/<target>/<target>.o
#   ascendc_compile_definitions(<target> PRIVATE <definition>...)
#   ascendc_compile_options(<target> PRIVATE <option>...)
#   ascendc_include_directories(<target> PRIVATE <folder>...)
#
# Including it defines these functions and the imported target host_intf_pub, and does nothing else. It reads SOC_VERSION
# (or its older name ASCEND_PRODUCT_TYPE; as a variable, then SOC_VERSION from the environment), RUN_MODE,
# CMAKE_BUILD_TYPE and CMAKE_INSTALL_PREFIX. With RUN_MODE cpu, who links a library of kernels is compiled as the cpu form
# of a program (tikicpulib-config.cmake). Needs CMake 3.16.

get_filename_component(_canopy_file "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_canopy_tree "${_canopy_file}" DIRECTORY)
get_filename_component(_canopy_tree "${_canopy_tree}/../.." ABSOLUTE)
set_property(GLOBAL PROPERTY CANOPY_TREE "${_canopy_tree}")

# What host code of such projects links by name: the headers and the library of the runtime.
if(NOT TARGET host_intf_pub AND NOT CMAKE_SCRIPT_MODE_FILE)
  add_library(host_intf_pub INTERFACE IMPORTED GLOBAL)
  set_target_properties(host_intf_pub PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_canopy_tree}/include"
                        INTERFACE_LINK_DIRECTORIES "${_canopy_tree}/lib64"
                        INTERFACE_LINK_LIBRARIES "${_canopy_tree}/lib64/libascendcl.so")
endif()
unset(_canopy_file)
unset(_canopy_tree)

cmake_policy(PUSH)
cmake_policy(VERSION 3.16...3.25)

# Adds to a property of a target, also when the target is still to come.
function(_canopy_add_kernel_property target property)
  if(TARGET ${target})
    set_property(TARGET ${target} APPEND PROPERTY ${property} ${ARGN})
  else()
    set_property(GLOBAL APPEND PROPERTY ${property}_OF_${target} ${ARGN})
  endif()
endfunction()

function(_canopy_take_kernel_properties target)
  foreach(property CANOPY_KERNEL_OPTIONS CANOPY_KERNEL_DEFINITIONS CANOPY_KERNEL_INCLUDES)
    get_property(earlier GLOBAL PROPERTY ${property}_OF_${target})
    set_property(TARGET ${target} PROPERTY ${property} ${earlier})
  endforeach()
endfunction()

# Sets `result` to the chip that kernels are compiled for; empty: nobody says.
function(_canopy_chip result)
  set(chip "$ENV{SOC_VERSION}")
  foreach(variable ASCEND_PRODUCT_TYPE SOC_VERSION)
    if(${variable})
      set(chip "${${variable}}")
    endif()
  endforeach()
  set(${result} "${chip}" PARENT_SCOPE)
endfunction()

# The command that compiles for a target, up to its own options: sets `result` in the caller's scope.
function(_canopy_kernel_command target result)
  get_property(tree GLOBAL PROPERTY CANOPY_TREE)
  set(compiler "${tree}/bin/canopy-cc")
  if(NOT EXISTS "${compiler}")
    message(FATAL_ERROR "${target}: ${compiler} is missing; this install tree has no kernel compiler")
  endif()
  set(command "${compiler}")
  # Debug is for the debugger; without a build type kernels are optimised, as they are by the compiler itself.
  list(APPEND command "$<$<CONFIG:Debug>:-O0;-g>" "$<$<CONFIG:Release>:-O3;-DNDEBUG>"
       "$<$<CONFIG:RelWithDebInfo>:-O2;-g;-DNDEBUG>" "$<$<CONFIG:MinSizeRel>:-Os;-DNDEBUG>")
  _canopy_chip(chip)
  if(chip)
    list(APPEND command "--npu-soc=${chip}")
  endif()
  # Generator expressions in these properties are evaluated; those that come out empty leave no word behind.
  foreach(property INCLUDES DEFINITIONS OPTIONS)
    set(value "$<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},CANOPY_KERNEL_${property}>>")
    set(${property} "$<FILTER:${value},INCLUDE,.>")
  endforeach()
  list(APPEND command "$<$<BOOL:${INCLUDES}>:-I$<JOIN:${INCLUDES},;-I>>"
       "$<$<BOOL:${DEFINITIONS}>:-D$<JOIN:${DEFINITIONS},;-D>>" "${OPTIONS}")
  set(${result} "${command}" PARENT_SCOPE)
endfunction()

# Sets `result` to the launch headers that compiling `source` will write, as far as a look at its text can tell: the
# build then knows that who includes them comes after it. A name that turns out to be no kernel gets a header that says
# so, from missing_headers.cmake.
function(_canopy_launch_headers source folder result)
  set(headers)
  if(EXISTS "${source}")
    file(READ "${source}" text)
    string(REGEX REPLACE "(__mix__|__launch_bounds__|__schedmode__|__maxnreg__)[ \t]*\\([^()]*\\)" "" text "${text}")
    string(REGEX MATCHALL "__global__[^][(){};#]*[ \t\r\n]+[A-Za-z_][A-Za-z0-9_]*[ \t\r\n]*\\(" heads "${text}")
    foreach(head ${heads})
      string(REGEX REPLACE ".*[ \t\r\n]([A-Za-z_][A-Za-z0-9_]*)[ \t\r\n]*\\($" "\\1" name "${head}")
      list(APPEND headers "${folder}/aclrtlaunch_${name}.h")
    endforeach()
    if(headers)
      list(REMOVE_DUPLICATES headers)
    endif()
  endif()
  set(${result} "${headers}" PARENT_SCOPE)
endfunction()

# Compiles `source` into `output` whenever the source or a header of it changes; writes launch headers into `headers`
# unless that is empty. More options of the compiler follow.
function(_canopy_compile_kernel target source output headers)
  _canopy_kernel_command(${target} command)
  get_filename_component(folder "${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  set(written "${output}")
  set(dependencies)
  if(CMAKE_GENERATOR MATCHES "Ninja" OR (CMAKE_GENERATOR MATCHES "Makefiles" AND NOT CMAKE_VERSION VERSION_LESS 3.20))
    set(dependencies DEPFILE "${output}.d")
    if(CMAKE_VERSION VERSION_LESS 3.20)
      file(RELATIVE_PATH written "${CMAKE_BINARY_DIR}" "${output}")
    endif()
  elseif(CMAKE_GENERATOR MATCHES "Makefiles")
    set(dependencies IMPLICIT_DEPENDS CXX "${source}")
  endif()
  get_property(tree GLOBAL PROPERTY CANOPY_TREE)
  set(options ${ARGN})
  set(also_written)
  if(headers)
    list(APPEND options "--launch-headers=${headers}")
    _canopy_launch_headers("${source}" "${headers}" names)
    if(names)
      string(REPLACE ";" "|" joined "${names}")
      set(also_written BYPRODUCTS ${names} COMMAND "${CMAKE_COMMAND}" "-Dheaders=${joined}" -P
                       "${tree}/tikcpp/ascendc_kernel_cmake/missing_headers.cmake")
    endif()
  endif()
  file(RELATIVE_PATH shown "${CMAKE_BINARY_DIR}" "${output}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${command}" -MD -MF "${output}.d" -MT "${written}" ${options} -o "${output}" "${source}"
    ${also_written}
    DEPENDS "${source}" "${tree}/bin/canopy-cc"
    ${dependencies}
    COMMENT "Building kernels ${shown}"
    COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

# Sets `result` to the full paths of sources that are given relative to the caller's folder.
function(_canopy_kernel_sources target result)
  set(sources)
  foreach(source ${ARGN})
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND sources "${source}")
  endforeach()
  if(NOT sources)
    message(FATAL_ERROR "${target}: no kernel source is given")
  endif()
  set(${result} "${sources}" PARENT_SCOPE)
endfunction()

function(_canopy_check_run_mode target)
  if(RUN_MODE AND NOT RUN_MODE MATCHES "^(npu|sim|cpu)$")
    message(FATAL_ERROR "${target}: RUN_MODE is \"${RUN_MODE}\"; known are npu, sim and cpu")
  endif()
endfunction()

# The kernels of a target and who links it are compiled for the cpu form.
function(_canopy_add_cpu_form target)
  get_property(tree GLOBAL PROPERTY CANOPY_TREE)
  find_package(tikicpulib REQUIRED PATHS "${tree}/lib64/cmake" NO_DEFAULT_PATH)
  _canopy_chip(chip)
  if(NOT TARGET tikicpulib::${chip})
    message(FATAL_ERROR "${target}: RUN_MODE is cpu, so SOC_VERSION must name the chip; it is \"${chip}\"")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES tikicpulib::${chip})
  set_property(TARGET ${target} APPEND PROPERTY CANOPY_KERNEL_DEFINITIONS ASCENDC_CPU_DEBUG=1 __CCE_KT_TEST__=1)
  set_property(TARGET ${target} APPEND PROPERTY CANOPY_KERNEL_INCLUDES "${tree}/tools/tikicpulib/lib/include")
endfunction()

function(ascendc_library target kind)
  if(NOT kind MATCHES "^(STATIC|SHARED)$")
    message(FATAL_ERROR "ascendc_library(${target} ${kind} ...): the second argument must be STATIC or SHARED")
  endif()
  _canopy_check_run_mode(${target})
  _canopy_kernel_sources(${target} sources ${ARGN})
  get_property(tree GLOBAL PROPERTY CANOPY_TREE)
  set(headers "${CMAKE_CURRENT_BINARY_DIR}/include/${target}")
  file(MAKE_DIRECTORY "${headers}")

  set(objects)
  foreach(source ${sources})
    get_filename_component(name "${source}" NAME)
    list(LENGTH objects count)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.kernels/${count}_${name}.o")
    list(APPEND objects "${object}")
  endforeach()
  add_library(${target} ${kind} ${objects})
  _canopy_take_kernel_properties(${target})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  foreach(source ${sources})
    list(GET objects 0 object)
    list(REMOVE_AT objects 0)
    _canopy_compile_kernel(${target} "${source}" "${object}" "${headers}" -c -fPIC)
  endforeach()

  # Who links this library can include the headers of the runtime and of the launch functions, and links the runtime.
  # As properties, so that either form of target_link_libraries may still be used on the target.
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${tree}/include>"
               "$<BUILD_INTERFACE:${headers}>" "$<INSTALL_INTERFACE:include/${target}>")
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_DIRECTORIES "${tree}/lib64")
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES "${tree}/lib64/libascendcl.so")
  if(kind STREQUAL "SHARED")
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES "${tree}/lib64/libascendcl.so")
  endif()
  if(RUN_MODE STREQUAL "cpu")
    _canopy_add_cpu_form(${target})
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
  install(DIRECTORY "${headers}/" DESTINATION include/${target})
endfunction()

function(ascendc_fatbin_library target)
  _canopy_check_run_mode(${target})
  _canopy_kernel_sources(${target} sources ${ARGN})
  set(image "${CMAKE_CURRENT_BINARY_DIR}/fatbin/${target}/${target}.o")
  add_custom_target(${target} ALL DEPENDS "${image}" SOURCES ${sources})
  _canopy_take_kernel_properties(${target})
  list(LENGTH sources count)
  if(count GREATER 1)
    # One image is made of one text.
    set(together "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.kernels/together.cpp")
    set(text "")
    foreach(source ${sources})
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    file(GENERATE OUTPUT "${together}" CONTENT "${text}")
    set(sources "${together}")
  endif()
  _canopy_compile_kernel(${target} "${sources}" "${image}" "" --image)
  install(FILES "${image}" DESTINATION fatbin/${target})
endfunction()

# Drops the keyword PRIVATE, PUBLIC or INTERFACE: what is added concerns the kernels of this target only.
macro(_canopy_drop_scope list)
  if(${list})
    list(GET ${list} 0 _canopy_scope)
    if(_canopy_scope MATCHES "^(PRIVATE|PUBLIC|INTERFACE)$")
      list(REMOVE_AT ${list} 0)
    endif()
    unset(_canopy_scope)
  endif()
endmacro()

# HAVE_WORKSPACE and HAVE_TILING say which parameters of a kernel are its workspace and its tiling data.
function(ascendc_compile_definitions target)
  set(definitions ${ARGN})
  _canopy_drop_scope(definitions)
  foreach(definition ${definitions})
    string(REGEX REPLACE "^-D" "" definition "${definition}")
    _canopy_add_kernel_property(${target} CANOPY_KERNEL_DEFINITIONS "${definition}")
  endforeach()
endfunction()

# Options for the host's part of the sources stand behind -forward-options-to-host-compiler. One compiler compiles both
# parts here, so it gets them all, but what is an error for the host's part alone stays a warning.
function(ascendc_compile_options target)
  set(options ${ARGN})
  _canopy_drop_scope(options)
  set(host_options)
  list(FIND options -forward-options-to-host-compiler place)
  if(NOT place EQUAL -1)
    list(SUBLIST options ${place} -1 host_options)
    list(SUBLIST options 0 ${place} options)
    list(FILTER host_options EXCLUDE REGEX "^(-forward-options-to-host-compiler|-Werror.*|-pedantic-errors)$")
  endif()
  _canopy_add_kernel_property(${target} CANOPY_KERNEL_OPTIONS ${options} ${host_options})
endfunction()

function(ascendc_include_directories target)
  set(folders ${ARGN})
  _canopy_drop_scope(folders)
  foreach(folder ${folders})
    if(NOT folder MATCHES "^\\$<")
      get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    _canopy_add_kernel_property(${target} CANOPY_KERNEL_INCLUDES "${folder}")
  endforeach()
endfunction()

cmake_policy(POP)
