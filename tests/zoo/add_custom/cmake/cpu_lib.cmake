# SPDX-License-Identifier: Apache-2.0
# cpu mode: the kernel is an ordinary shared library of the debug library
if(NOT DEFINED ENV{CMAKE_PREFIX_PATH})
    set(CMAKE_PREFIX_PATH ${ASCEND_CANN_PACKAGE_PATH}/tools/tikicpulib/lib/cmake)
endif()
find_package(tikicpulib REQUIRED)
add_library(add_kernels_cpu SHARED ${KERNEL_FILES})
target_link_libraries(add_kernels_cpu PUBLIC tikicpulib::${SOC_VERSION})
target_compile_definitions(add_kernels_cpu PRIVATE ASCENDC_CPU_DEBUG)
target_compile_options(add_kernels_cpu PRIVATE -g -O0 -std=c++17)
install(TARGETS add_kernels_cpu DESTINATION ${CMAKE_INSTALL_LIBDIR})
