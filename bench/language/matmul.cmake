# SPDX-License-Identifier: Apache-2.0
# The matrix product: kernel and tiling are in one source, compiled by canopy-cc; the rival is OpenBLAS.
set(matmul_object ${CMAKE_CURRENT_BINARY_DIR}/matmul_kernel.o)
set(matmul_compiler canopy-cc)
if(CANOPY_CC_EXECUTABLE)
  set(matmul_compiler ${CANOPY_CC_EXECUTABLE})
endif()
add_custom_command(
  OUTPUT ${matmul_object}
  COMMAND ${matmul_compiler} -c -O2 -fPIC -I${CMAKE_CURRENT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include -MD -MF
          ${matmul_object}.d -MT ${matmul_object} -o ${matmul_object} ${CMAKE_CURRENT_SOURCE_DIR}/language/matmul_kernel.asc
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/language/matmul_kernel.asc ${matmul_compiler}
  DEPFILE ${matmul_object}.d
  COMMENT "Compiling matmul_kernel.asc with canopy-cc"
  VERBATIM)
set_source_files_properties(${matmul_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
target_sources(canopy_bench PRIVATE language/matmul.cpp ${matmul_object})
target_link_libraries(canopy_bench PRIVATE canopy_tiling_api canopy_platform)

find_library(OPENBLAS_LIBRARY openblas)
find_path(OPENBLAS_INCLUDE_DIR openblas_config.h PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread
          openblas-pthread openblas ${CMAKE_LIBRARY_ARCHITECTURE})
if(OPENBLAS_LIBRARY AND OPENBLAS_INCLUDE_DIR)
  target_sources(canopy_bench PRIVATE rivals/blas.cpp)
  target_include_directories(canopy_bench SYSTEM PRIVATE ${OPENBLAS_INCLUDE_DIR})
  target_link_libraries(canopy_bench PRIVATE ${OPENBLAS_LIBRARY})
else()
  message(STATUS "Benchmarks without OpenBLAS: install libopenblas-dev")
  target_sources(canopy_bench PRIVATE rivals/blas_missing.cpp)
endif()
