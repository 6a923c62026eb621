# SPDX-License-Identifier: Apache-2.0
include(${ASCEND_CANN_PACKAGE_PATH}/compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake)
ascendc_library(kernels_npu STATIC leakyrelu_custom.cpp)
ascendc_compile_options(kernels_npu PRIVATE -O2 -forward-options-to-host-compiler -Wall)
add_executable(leakyrelu_npu main.cpp)
target_link_libraries(leakyrelu_npu PRIVATE host_flags kernels_npu ascendcl)
