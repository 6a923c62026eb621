# SPDX-License-Identifier: Apache-2.0
list(APPEND CMAKE_PREFIX_PATH ${ASCEND_CANN_PACKAGE_PATH}/tools/tikicpulib/lib/cmake)
find_package(tikicpulib REQUIRED)

# kernel and main go into one program, gdb ./leakyrelu_cpu works
add_executable(leakyrelu_cpu leakyrelu_custom.cpp main.cpp)
target_compile_definitions(leakyrelu_cpu PRIVATE ASCENDC_CPU_DEBUG=1)
target_compile_options(leakyrelu_cpu PRIVATE -g -O0)
target_link_libraries(leakyrelu_cpu PRIVATE host_flags tikicpulib::${SOC_VERSION})
