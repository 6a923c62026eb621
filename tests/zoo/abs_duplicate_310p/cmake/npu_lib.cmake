# SPDX-License-Identifier: Apache-2.0
include(${ASCEND_CANN_PACKAGE_PATH}/tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake)
ascendc_library(kernels_${RUN_MODE} STATIC ${KERNEL_FILES})
