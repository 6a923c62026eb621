# SPDX-License-Identifier: Apache-2.0
set(_candidates
    ${ASCEND_CANN_PACKAGE_PATH}/tools/tikcpp/ascendc_kernel_cmake
    ${ASCEND_CANN_PACKAGE_PATH}/compiler/tikcpp/ascendc_kernel_cmake
    ${ASCEND_CANN_PACKAGE_PATH}/ascendc_devkit/tikcpp/samples/cmake)
foreach(_c IN LISTS _candidates)
    if(EXISTS ${_c}/ascendc.cmake)
        include(${_c}/ascendc.cmake)
        break()
    endif()
endforeach()
ascendc_library(kernels STATIC ${KERNEL_FILES})
ascendc_compile_options(kernels PRIVATE -g -O2)
ascendc_include_directories(kernels PRIVATE ${CMAKE_SOURCE_DIR})
