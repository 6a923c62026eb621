# SPDX-License-Identifier: Apache-2.0
# npu and sim mode: newer toolkits have the functions below compiler/, older ones below tools/
foreach(_dir compiler tools)
    if(NOT ASCENDC_CMAKE_DIR AND EXISTS ${ASCEND_CANN_PACKAGE_PATH}/${_dir}/tikcpp/ascendc_kernel_cmake)
        set(ASCENDC_CMAKE_DIR ${ASCEND_CANN_PACKAGE_PATH}/${_dir}/tikcpp/ascendc_kernel_cmake)
    endif()
endforeach()
if(NOT ASCENDC_CMAKE_DIR)
    message(FATAL_ERROR "no ascendc_kernel_cmake below ${ASCEND_CANN_PACKAGE_PATH}, is the toolkit complete?")
endif()
include(${ASCENDC_CMAKE_DIR}/ascendc.cmake)
ascendc_library(add_kernels_${RUN_MODE} SHARED ${KERNEL_FILES})
