# SPDX-License-Identifier: Apache-2.0
if(NOT DEFINED ENV{CMAKE_PREFIX_PATH})
    set(CMAKE_PREFIX_PATH ${ASCEND_CANN_PACKAGE_PATH}/tools/tikicpulib/lib/cmake)
endif()
find_package(tikicpulib REQUIRED)
add_library(matmul_kernels_cpu SHARED matmul.cpp)
target_link_libraries(matmul_kernels_cpu PUBLIC tikicpulib::${SOC_VERSION})
target_compile_definitions(matmul_kernels_cpu PRIVATE ASCENDC_CPU_DEBUG HAVE_WORKSPACE HAVE_TILING)
target_compile_options(matmul_kernels_cpu PRIVATE -g -O0)
