# SPDX-License-Identifier: Apache-2.0
# High-level functions of the kernel language; the rivals are OpenMP loops and oneDNN.
canopy_add_kernel_image(canopy_bench_high_level language/high_level_kernels.cpp OPTIONS -O3)
get_target_property(CANOPY_BENCH_HIGH_LEVEL canopy_bench_high_level CANOPY_IMAGE)
add_dependencies(canopy_bench canopy_bench_high_level)
target_sources(canopy_bench PRIVATE language/high_level.cpp)
target_compile_definitions(canopy_bench PRIVATE CANOPY_BENCH_HIGH_LEVEL="${CANOPY_BENCH_HIGH_LEVEL}")

find_package(dnnl QUIET)
if(dnnl_FOUND)
  target_sources(canopy_bench PRIVATE rivals/onednn.cpp)
  target_link_libraries(canopy_bench PRIVATE DNNL::dnnl)
else()
  message(STATUS "Benchmarks without oneDNN: install libdnnl-dev")
  target_sources(canopy_bench PRIVATE rivals/onednn_missing.cpp)
endif()
