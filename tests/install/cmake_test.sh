#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs into a fresh folder and builds two projects with it, one in each CMake style, with each generator. Checks the
# functions, languages and variables, rebuilds after a header change, installed files, and the messages for features
# that are not supported yet. Also uses the tree's compiler as the C and C++ compiler of a project.
#   cmake_test.sh <build folder> <source folder> <folder to work in>
set -euo pipefail
build="$1" source="$2" work="$3"
rm -rf "$work"
mkdir -p "$work"
unset ASCEND_HOME_PATH LD_LIBRARY_PATH PYTHONPATH CMAKE_PREFIX_PATH SOC_VERSION CANOPY_CHIP CC CXX ASC

fail() {
    echo "cmake_test: $*" >&2
    exit 1
}
quietly() {  # log, command...
    local log="$1"
    shift
    "$@" > "$log" 2>&1 || { tail -n 30 "$log" >&2 && fail "failed: $*"; }
}
expect() {  # text, command...: the command fails and prints the text
    local text="$1"
    shift
    if "$@" > refused.log 2>&1; then fail "is accepted: $*"; fi
    grep -q "$text" refused.log || { cat refused.log >&2 && fail "does not say \"$text\": $*"; }
}

cmake --install "$build" --prefix "$work/tree" > "$work/install.log"
cp -r "$source/tests/install/language_project" "$source/tests/install/library_project" "$work"
source "$work/tree/set_env.sh"
cd "$work"

# --- find_package(ASC) and its language ------------------------------------------------------------------------------
language() {  # generator, build type
    local place="language_${1// /_}"
    quietly configure.log cmake -G "$1" -S language_project -B "$place" "-DCMAKE_BUILD_TYPE=$2" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    quietly build.log cmake --build "$place"
    [[ $("$place/language_project") == 42 ]] || fail "$1: the language project computes $("$place/language_project")"
    sleep 0.01
    sed -i "s/extra = .*/extra = 10;/" language_project/amount.h
    quietly build.log cmake --build "$place"
    [[ $("$place/language_project") == 62 ]] || fail "$1: kernels are not compiled again when their header changes"
    sed -i "s/extra = .*/extra = 0;/" language_project/amount.h
    quietly build.log cmake --build "$place"
    if grep -q 'Building' <(cmake --build "$place" 2>&1); then fail "$1: something is compiled without a reason"; fi
    expect "cpu_kernel.aicpu: AI CPU kernels are not supported yet" cmake --build "$place" --target cpu_kernel
}
language "Ninja" Release
language "Unix Makefiles" Debug
grep -q -- '-O3 -DNDEBUG.*plus_one.asc' language_Ninja/compile_commands.json || fail "Release is not -O3 -DNDEBUG"
grep -q -- '-O0 -g' language_Unix_Makefiles/CMakeFiles/plus_one.dir/flags.make || fail "Debug is not -O0 -g"
expect "call npu_op_code_gen before it" cmake -G Ninja -S language_project -B refused -DTRY_OPERATOR_PACKAGE=ON

# --- ascendc.cmake ---------------------------------------------------------------------------------------------------
library() {  # generator, additional options
    local place="library_${1// /_}"
    local generator="$1"
    shift
    quietly configure.log cmake -G "$generator" -S library_project -B "$place" "-DCMAKE_INSTALL_PREFIX=$work/out" "$@"
    quietly build.log cmake --build "$place"
    [[ $("$place/library_project") == 42 ]] || fail "$generator: the library project computes $("$place/library_project")"
}
library "Ninja" -DCMAKE_BUILD_TYPE=Debug -DSOC_VERSION=Ascend910B2 -DRUN_MODE=npu
sed -i "s/offset = .*/offset = 1;/" library_project/elsewhere/include/steps.h
quietly build.log cmake --build library_Ninja
[[ $(library_Ninja/library_project) == 46 ]] || fail "the library is not built again when a header of its kernels changes"
sed -i "s/offset = .*/offset = 0;/" library_project/elsewhere/include/steps.h
sed -i "s/const uint32_t times/const int32_t times/; s/uint32_t i = 0; i < times/int32_t i = 0; i < times/" library_project/elsewhere/steps.cpp
quietly build.log cmake --build library_Ninja
grep -q main.cpp.o build.log || fail "who includes a launch header is not compiled again when it changes"
[[ $(library_Ninja/library_project) == 42 ]] || fail "the library project is wrong after a change"
if grep -q 'Building' <(cmake --build library_Ninja 2>&1); then fail "kernels are compiled without a reason"; fi
quietly install_project.log cmake --install library_Ninja
for file in lib/libsteps.a lib/libagain.so include/steps/aclrtlaunch_add_step.h include/steps/aclrtlaunch_apply.h \
    include/works/aclrtlaunch_work.h fatbin/image/image.o; do
    [[ -f out/$file ]] || fail "$file is not installed"
done
for kernel in again_kernel other_kernel; do
    grep -aq $kernel out/fatbin/image/image.o || fail "the image does not hold $kernel"
done
(unset ASCENDC_CMAKE_DIR && library "Unix Makefiles" "-DASCEND_CANN_PACKAGE_PATH=$work/tree")
printf 'include($ENV{ASCENDC_CMAKE_DIR}/ascendc.cmake)\nascendc_library(x a.cpp)\n' > wrong.cmake
expect "must be STATIC or SHARED" cmake -P wrong.cmake

# --- bisheng as the compiler of a project ----------------------------------------------------------------------------
bisheng="$work/tree/$(uname -m)-linux/ccec_compiler/bin/bisheng"
mkdir compiler_project
echo 'int half(int x) { return x / 2; }' > compiler_project/half.c
printf '#include <vector>\nextern "C" int half(int);\nint main() { return half(static_cast<int>(std::vector<int>(2).size())) - 1; }\n' \
    > compiler_project/main.cpp
printf 'cmake_minimum_required(VERSION 3.16)\nproject(x LANGUAGES C CXX)\nadd_executable(x main.cpp half.c)\n' > compiler_project/CMakeLists.txt
quietly configure.log cmake -G Ninja -S compiler_project -B compiler "-DCMAKE_C_COMPILER=$bisheng" "-DCMAKE_CXX_COMPILER=$bisheng" "-DCMAKE_LINKER=$bisheng"
quietly build.log cmake --build compiler
compiler/x || fail "a program compiled by bisheng does not run"
echo "cmake_test: both styles work with both generators"
