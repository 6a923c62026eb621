# SPDX-License-Identifier: Apache-2.0
# The sweep: the calls are kernels, the loops plain C++; both are compiled by canopy-cc for this processor.
set(sweep_compiler canopy-cc)
if(CANOPY_CC_EXECUTABLE)
  set(sweep_compiler ${CANOPY_CC_EXECUTABLE})
endif()
function(canopy_bench_compile_sweep object source)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${sweep_compiler} -c -O3 -fPIC ${ARGN} -I${CMAKE_CURRENT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include -MD -MF
            ${object}.d -MT ${object} -o ${object} ${CMAKE_CURRENT_SOURCE_DIR}/language/${source}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/language/${source} ${sweep_compiler}
    DEPFILE ${object}.d
    COMMENT "Compiling ${source} with canopy-cc"
    VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(canopy_bench PRIVATE ${object})
endfunction()
canopy_bench_compile_sweep(${CMAKE_CURRENT_BINARY_DIR}/sweep_kernels.o sweep_kernels.asc --targets=native --no-trace
                           -Xarch_host -O0)
canopy_bench_compile_sweep(${CMAKE_CURRENT_BINARY_DIR}/sweep_loops.o sweep_loops.cpp -std=c++17 -march=native)
target_sources(canopy_bench PRIVATE language/sweep.cpp)
