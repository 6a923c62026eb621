# SPDX-License-Identifier: Apache-2.0
if(EXISTS ${ASCEND_CANN_PACKAGE_PATH}/ascendc_devkit/tikcpp/samples/cmake)
  include(${ASCEND_CANN_PACKAGE_PATH}/ascendc_devkit/tikcpp/samples/cmake/ascendc.cmake)
else()
  message(FATAL_ERROR "ascendc_kernel_cmake does not exist")
endif()

ascendc_library(kernels_${RUN_MODE} SHARED ${KERNEL_FILES})
