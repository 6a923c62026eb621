# SPDX-License-Identifier: Apache-2.0
# What checking costs.
canopy_add_kernel_image(canopy_bench_checking checking/checking_kernels.asc OPTIONS -O3 --check)
get_target_property(CANOPY_BENCH_CHECKING canopy_bench_checking CANOPY_IMAGE)
add_dependencies(canopy_bench canopy_bench_checking)
target_sources(canopy_bench PRIVATE checking/checking.cpp)
target_compile_definitions(canopy_bench PRIVATE CANOPY_BENCH_CHECKING="${CANOPY_BENCH_CHECKING}")
