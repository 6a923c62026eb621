# SPDX-License-Identifier: Apache-2.0
# Additional inputs for the tests of embedded images and of run-time compilation: two libraries with the same image,
# SIMT kernels, and the path of the compiler.
if(NOT TARGET conformance_kernels)
  return()
endif()
get_target_property(embedded_image conformance_kernels CANOPY_IMAGE)
set_source_files_properties(kernel/embedded_library.cpp PROPERTIES OBJECT_DEPENDS ${embedded_image})
foreach(which first second)
  add_library(embedded_${which} MODULE kernel/embedded_library.cpp)
  target_link_libraries(embedded_${which} PRIVATE canopy canopy_options)
  target_compile_definitions(embedded_${which} PRIVATE CANOPY_TEST_KERNELS="${embedded_image}")
  add_dependencies(embedded_${which} conformance_kernels)
  add_dependencies(conformance_tests embedded_${which})
endforeach()
canopy_add_kernel_image(conformance_simt_kernels ${CMAKE_CURRENT_SOURCE_DIR}/kernel/simt_kernels.cpp OPTIONS
                        --npu-arch=dav-3510)
add_dependencies(conformance_tests conformance_simt_kernels)
get_target_property(simt_image conformance_simt_kernels CANOPY_IMAGE)
target_compile_definitions(conformance_tests PRIVATE CANOPY_TEST_SIMT_KERNELS="${simt_image}")
target_compile_definitions(conformance_tests PRIVATE CANOPY_TEST_LIBRARIES="${CMAKE_CURRENT_BINARY_DIR}")
if(TARGET canopy-cc)
  target_compile_definitions(conformance_tests PRIVATE CANOPY_TEST_CC="$<TARGET_FILE:canopy-cc>"
                                                       CANOPY_TEST_CC_BESIDE_LIBRARY)
else()
  target_compile_definitions(conformance_tests PRIVATE CANOPY_TEST_CC="${CANOPY_CC_EXECUTABLE}")
endif()
