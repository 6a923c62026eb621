# SPDX-License-Identifier: Apache-2.0
# find_package(tikicpulib), which projects call for RUN_MODE=cpu: says what to do instead.
set(tikicpulib_FOUND FALSE)
set(tikicpulib_NOT_FOUND_MESSAGE
    "RUN_MODE=cpu compiles kernels for a debugging library of its own, which is not here and not needed: the device of this installation runs on the CPU, and gdb goes from main into the kernels. Configure with RUN_MODE=npu.")
