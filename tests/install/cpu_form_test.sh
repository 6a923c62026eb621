#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The cpu form of programs: find_package(tikicpulib), GmAlloc, ICPU_RUN_KF and related functions, and RUN_MODE=cpu of
# ascendc_library. Builds one project, written like the samples, in each of its forms.
#   cpu_form_test.sh <build folder> <source folder> <folder to work in>
set -euo pipefail
build="$1" source="$2" work="$3"
rm -rf "$work"
mkdir -p "$work"
unset ASCEND_HOME_PATH LD_LIBRARY_PATH PYTHONPATH CMAKE_PREFIX_PATH SOC_VERSION CANOPY_CHIP CC CXX

fail() {
    echo "cpu_form_test: $*" >&2
    exit 1
}
quietly() {  # log, command...
    local log="$1"
    shift
    "$@" > "$log" 2>&1 || { tail -n 30 "$log" >&2 && fail "failed: $*"; }
}
expect() {  # text, command...: the command prints this and nothing else
    local text="$1"
    shift
    local printed
    printed="$("$@" 2>&1)" || fail "failed: $*: $printed"
    [[ $printed == "$text" ]] || fail "prints \"$printed\" instead of \"$text\": $*"
}
refuse() {  # text, command...: the command ends with status 1 and prints the text
    local text="$1" status=0
    shift
    "$@" > refused.log 2>&1 || status=$?
    [[ $status == 1 ]] || fail "ends with status $status: $*"
    grep -q -- "$text" refused.log || { cat refused.log >&2 && fail "does not say \"$text\": $*"; }
}

# A folder name with a space, since both generators put program paths into command lines.
cmake --install "$build" --prefix "$work/the tree" > "$work/install.log"
source "$work/the tree/set_env.sh"
cd "$work"
project() {  # folder, generator, options of cmake...
    local folder="$1" generator="$2"
    shift 2
    quietly configure.log cmake -G "$generator" -S "$source/tests/install/cpu_project" -B "$folder" \
        "-DASCEND_CANN_PACKAGE_PATH=$ASCEND_HOME_PATH" "$@"
}

# --- find_package(tikicpulib), found as scripts have it found -----------------------------------------------------------
# With a compiler launcher, and with unity builds, where CMake generates the compiled sources.
CMAKE_PREFIX_PATH='' project cpu Ninja -DRUN_MODE=cpu -DCMAKE_UNITY_BUILD=ON "-DCMAKE_CXX_COMPILER_LAUNCHER=env;-u;NOTHING" \
    "-Dtikicpulib_DIR=$ASCEND_HOME_PATH/toolkit/tools/tikicpulib/lib/cmake"
quietly build.log cmake --build cpu
expect "0 wrong" cpu/program
expect "0 wrong" env CANOPY_CHECK=1 cpu/program
expect "300 100 200" cpu/program key
expect "200" cpu/caller
expect "stranger" cpu/stranger
refuse "fault_custom: .*block 1.*trap.*steps_custom.cpp" cpu/program fault
refuse "fault_custom: .*numBlocks 0" cpu/program size
refuse "plain_function: this is not a kernel" cpu/program function
refuse "GmFree: .*cannot free" cpu/program free
refuse "GmAlloc: .*no room" cpu/program memory
refuse "key_custom: " env CANOPY_CHECK=1 cpu/program overrun
refuse "GmAlloc: " env ASCEND_RT_VISIBLE_DEVICES=none cpu/program
if grep -q 'Building' <(cmake --build cpu 2>&1); then fail "something is compiled without a reason"; fi

# Architecture names are accepted like chip names.
quietly build.log cmake --build cpu --target by_architecture
# An unknown chip is accepted at configure time and refused when kernels are compiled for it.
project unknown Ninja -DRUN_MODE=cpu -DSOC_VERSION=Ascend1
refuse "unknown chip 'Ascend1'" cmake --build unknown --target kernels_cpu
# Another compiler, started by hand, names the compiler that is needed for kernels.
refuse "canopy-cc .* compiles kernels; this compiler cannot" \
    g++ -I"$ASCEND_HOME_PATH/include" -I"$ASCEND_HOME_PATH/toolchain/include" -include kernel_operator.h -fsyntax-only \
    "$source/tests/install/cpu_project/caller.cpp"

# --- the other form of the same project, and the cpu form by ascendc_library ---------------------------------------------
project sim Ninja -DRUN_MODE=sim
quietly build.log cmake --build sim
expect "0 wrong" sim/program
project function "Unix Makefiles" -DRUN_MODE=cpu -DBY_FUNCTION=ON
quietly build.log cmake --build function
expect "0 wrong" function/program
expect "300 100 200" function/program key
expect "stranger" function/stranger
echo "cpu_form_test: three forms of a project run"
