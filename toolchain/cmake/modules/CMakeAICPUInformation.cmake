# SPDX-License-Identifier: Apache-2.0
# The rules of the language AICPU: compiling a source says that it is not supported yet, and fails.

set(CMAKE_INCLUDE_FLAG_AICPU "-I")
set(CMAKE_AICPU_COMPILE_OBJECT
    "${CMAKE_COMMAND} -E echo \"error: <SOURCE>: AI CPU kernels are not supported yet\""
    "${CMAKE_COMMAND} -E false")
set(CMAKE_AICPU_LINK_EXECUTABLE "${CMAKE_COMMAND} -E false")
set(CMAKE_AICPU_CREATE_SHARED_LIBRARY "${CMAKE_COMMAND} -E false")
set(CMAKE_AICPU_ARCHIVE_CREATE "<CMAKE_AR> qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_AICPU_ARCHIVE_FINISH "<CMAKE_RANLIB> <TARGET>")
set(CMAKE_AICPU_FLAGS "" CACHE STRING "Flags of AI CPU sources")
set(CMAKE_AICPU_INFORMATION_LOADED 1)
