# SPDX-License-Identifier: Apache-2.0
# Kernel images made while the project is built, with the canopy-cc of the same build or the one CANOPY_CC_EXECUTABLE
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
