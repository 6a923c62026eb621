# SPDX-License-Identifier: Apache-2.0
# The only benchmark source that launches with <<<>>>: compiled by canopy-cc, linked like any object.
set(launch_operator_object ${CMAKE_CURRENT_BINARY_DIR}/launch_operator_kernel.o)
set(launch_operator_compiler canopy-cc)
if(CANOPY_CC_EXECUTABLE)
  set(launch_operator_compiler ${CANOPY_CC_EXECUTABLE})
endif()
add_custom_command(
  OUTPUT ${launch_operator_object}
  COMMAND ${launch_operator_compiler} -c -O2 -fPIC -I${CMAKE_CURRENT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include -MD -MF
          ${launch_operator_object}.d -MT ${launch_operator_object} -o ${launch_operator_object}
          ${CMAKE_CURRENT_SOURCE_DIR}/runtime/launch_operator_kernel.asc
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/launch_operator_kernel.asc ${launch_operator_compiler}
  DEPFILE ${launch_operator_object}.d
  COMMENT "Compiling launch_operator_kernel.asc with canopy-cc"
  VERBATIM)
set_source_files_properties(${launch_operator_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
target_sources(canopy_bench PRIVATE runtime/launch_operator.cpp ${launch_operator_object})
