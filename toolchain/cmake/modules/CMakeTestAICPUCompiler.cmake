# SPDX-License-Identifier: Apache-2.0
# Nothing to test: sources of this language are refused when they are compiled.
set(CMAKE_AICPU_COMPILER_WORKS TRUE)
