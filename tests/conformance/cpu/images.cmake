# SPDX-License-Identifier: Apache-2.0
# Shared objects with kernels for CPU cores: two that export the same names, and one that does not load. Never built
# with sanitizers, since the kernels may be stopped at any instruction.
foreach(variant 1 2)
  add_library(conformance_cpu_${variant} MODULE cpu/images/kernels.cpp)
  target_compile_definitions(conformance_cpu_${variant} PRIVATE CPU_IMAGE_VARIANT=${variant})
  target_compile_options(conformance_cpu_${variant} PRIVATE -O1)
  target_include_directories(conformance_cpu_${variant} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_options(conformance_cpu_${variant} PRIVATE -Wl,-soname,libkernels.so)
endforeach()
add_library(conformance_cpu_unresolved MODULE cpu/images/unresolved.cpp)
add_dependencies(conformance_tests conformance_cpu_1 conformance_cpu_2 conformance_cpu_unresolved)
target_compile_definitions(
  conformance_tests PRIVATE CANOPY_TEST_CPU_1="$<TARGET_FILE:conformance_cpu_1>"
                            CANOPY_TEST_CPU_2="$<TARGET_FILE:conformance_cpu_2>"
                            CANOPY_TEST_CPU_UNRESOLVED="$<TARGET_FILE:conformance_cpu_unresolved>")
