# SPDX-License-Identifier: Apache-2.0
find_package(tikicpulib REQUIRED)
add_library(matmul_kernels_cpu SHARED ${KERNEL_FILES})
target_link_libraries(matmul_kernels_cpu PUBLIC tikicpulib::${SOC_VERSION})
target_compile_definitions(matmul_kernels_cpu PUBLIC ASCENDC_CPU_DEBUG HAVE_WORKSPACE HAVE_TILING)
target_compile_options(matmul_kernels_cpu PRIVATE -g -O0 -std=c++17)
