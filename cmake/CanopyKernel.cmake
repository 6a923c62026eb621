# SPDX-License-Identifier: Apache-2.0
# Kernel images and programs with kernels made while the project is built, with the canopy-cc of the same build or the one CANOPY_CC_EXECUTABLE
# names. Defines nothing when there is neither.
if(DEFINED CANOPY_TOOLCHAIN AND NOT CANOPY_TOOLCHAIN AND NOT CANOPY_CC_EXECUTABLE)
  return()
endif()

# canopy_add_kernel_image(<target> <source> [OUTPUT <file>] [OPTIONS <flag>...])
# Adds a target that compiles <source> into an image. The image is <file> in the current binary directory (default:
# <target>.o); its full path is the target property CANOPY_IMAGE. Rebuilt when the source, a header it includes or the
# compiler changes.
function(canopy_add_kernel_image target source)
  cmake_parse_arguments(IMAGE "" "OUTPUT" "OPTIONS" ${ARGN})
  if(NOT IMAGE_OUTPUT)
    set(IMAGE_OUTPUT ${target}.o)
  endif()
  cmake_path(ABSOLUTE_PATH IMAGE_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(depfile)
  if(CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(depfile DEPFILE ${IMAGE_OUTPUT}.d)
  endif()
  set(compiler canopy-cc)
  if(CANOPY_CC_EXECUTABLE)
    set(compiler ${CANOPY_CC_EXECUTABLE})
  endif()
  cmake_path(GET IMAGE_OUTPUT PARENT_PATH directory)
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(
    OUTPUT ${IMAGE_OUTPUT}
    COMMAND ${compiler} --image -O2 ${IMAGE_OPTIONS} -MD -MF ${IMAGE_OUTPUT}.d -MT ${IMAGE_OUTPUT} -o ${IMAGE_OUTPUT}
            ${source}
    DEPENDS ${source} ${compiler}
    ${depfile}
    COMMENT "Compiling kernel image ${target}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${IMAGE_OUTPUT})
  set_target_properties(${target} PROPERTIES CANOPY_IMAGE ${IMAGE_OUTPUT})
endfunction()

# What a program compiled by clang needs before everything else to run with a library that a sanitizer of gcc watches.
function(canopy_sanitizer_libraries result)
  set(libraries)
  foreach(pair address:libasan.so thread:libtsan.so undefined:libubsan.so)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 sanitizer)
    list(GET pair 1 name)
    if("${CANOPY_SANITIZE}" MATCHES ${sanitizer} AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name} OUTPUT_VARIABLE path
                      OUTPUT_STRIP_TRAILING_WHITESPACE)
      list(APPEND libraries ${path})
    endif()
  endforeach()
  set(${result} ${libraries} PARENT_SCOPE)
endfunction()

# canopy_add_program(<target> <source>... [OPTIONS <flag>...] [LINK <library>...] [TEST])
# Adds a target that compiles sources with kernels (.asc, .cpp) and links them to a program with the library of this
# build. OPTIONS go to every compilation. LINK names libraries (m, pthread), files or flags; GTest means GoogleTest with
# its main function. TEST makes the program, which uses GoogleTest, a test of the same name. The program is <target>.dir/<target> in the binary
# directory; its full path is the target property CANOPY_PROGRAM. Rebuilt when a source, a header, the compiler or the
# library changes.
function(canopy_add_program target)
  cmake_parse_arguments(PROGRAM "TEST" "" "OPTIONS;LINK" ${ARGN})
  set(compiler canopy-cc)
  if(CANOPY_CC_EXECUTABLE)
    set(compiler ${CANOPY_CC_EXECUTABLE})
  endif()
  set(objects)
  foreach(source ${PROGRAM_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source FILENAME name)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir/${name}.o)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir)
    set(depfile)
    if(CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
      set(depfile DEPFILE ${object}.d)
    endif()
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${compiler} -c -I${PROJECT_SOURCE_DIR}/include ${PROGRAM_OPTIONS} -MD -MF ${object}.d -MT ${object}
              -o ${object} ${source}
      DEPENDS ${source} ${compiler}
      ${depfile}
      COMMENT "Compiling ${name} with canopy-cc"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  canopy_sanitizer_libraries(libraries)
  if(libraries)
    list(PREPEND libraries -Wl,--no-as-needed)
  endif()
  foreach(library ${PROGRAM_LINK})
    if(library STREQUAL "GTest")
      list(APPEND libraries -lgtest_main -lgtest -lpthread)
    elseif(library MATCHES "^-" OR library MATCHES "/")
      list(APPEND libraries ${library})
    else()
      list(APPEND libraries -l${library})
    endif()
  endforeach()
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir/${target})
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${compiler} -o ${program} ${objects} -L$<TARGET_FILE_DIR:canopy> -Wl,-rpath,$<TARGET_FILE_DIR:canopy>
            ${libraries}
    DEPENDS ${objects} canopy
    COMMENT "Linking ${target} with canopy-cc"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${program})
  set_target_properties(${target} PROPERTIES CANOPY_PROGRAM ${program})
  if(PROGRAM_TEST)
    canopy_add_gtest(${target} TIMEOUT 300 COMMAND ${program})
  endif()
endfunction()
