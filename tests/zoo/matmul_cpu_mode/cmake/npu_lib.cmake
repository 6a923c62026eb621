# SPDX-License-Identifier: Apache-2.0
include(${ASCEND_CANN_PACKAGE_PATH}/compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake)
ascendc_library(matmul_kernels_npu STATIC matmul.cpp)
