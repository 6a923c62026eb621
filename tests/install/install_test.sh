#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs into a fresh folder and uses the tree as programs do: sources its scripts under strict shell options, links
# and opens the library under every name, moves the tree, and compiles and runs an example with it.
#   install_test.sh <build folder> <source folder> <folder to work in>
set -euo pipefail
build="$1" source="$2" work="$3"
rm -rf "$work"
mkdir -p "$work"
unset ASCEND_HOME_PATH LD_LIBRARY_PATH PYTHONPATH CMAKE_PREFIX_PATH SOC_VERSION CANOPY_CHIP

fail() {
    echo "install_test: $*" >&2
    exit 1
}
variables() { env | grep -v '^_=' | sort; }

cmake --install "$build" --prefix "$work/first" > "$work/install.log"
# The tree must work after being moved.
mv "$work/first" "$work/tree"
tree="$(cd "$work/tree" && pwd -P)"

# --- the environment -------------------------------------------------------------------------------------------------
options_before="$(set +o)"
source "$tree/set_env.sh"
[[ "$(set +o)" == "$options_before" ]] || fail "set_env.sh changes shell options"
once="$(variables)"
source "$tree/set_env.sh"
source "$tree/bin/setenv.bash"
[[ "$(variables)" == "$once" ]] || fail "sourcing again changes the environment"
[[ $ASCEND_HOME_PATH == "$tree" ]] || fail "ASCEND_HOME_PATH is $ASCEND_HOME_PATH"
for name in ASCEND_HOME_DIR ASCEND_INSTALL_PATH ASCEND_TOOLKIT_HOME ASCEND_AICPU_PATH ASCEND_OPP_PATH TOOLCHAIN_HOME \
    ASCENDC_CMAKE_DIR DDK_PATH NPU_HOST_LIB LD_LIBRARY_PATH PYTHONPATH CMAKE_PREFIX_PATH; do
    [[ ${!name-} == "$tree"* ]] || fail "$name is \"${!name-}\""
done
[[ -e $NPU_HOST_LIB/libascendcl.so && -e $DDK_PATH/runtime/lib64/stub/libascendcl.so ]] || fail "NPU_HOST_LIB or DDK_PATH is wrong"
declare -F _canopy_prepend > /dev/null && fail "set_env.sh leaves a function behind"
for tool in canopy canopy-graph npu-smi; do
    [[ $(command -v $tool) == "$tree/bin/$tool" ]] || fail "$tool is not found on PATH"
done
[[ $(readlink -f "$(command -v bisheng)") == "$tree/bin/canopy-cc" ]] || fail "bisheng on PATH is not the compiler of this tree"
for shell in dash zsh; do
    command -v $shell > /dev/null || continue
    for script in set_env.sh bin/setenv.bash; do
        home="$(env -i PATH=/usr/bin:/bin $shell -euc ". '$tree/$script'; . '$tree/$script'; echo \$ASCEND_HOME_PATH")"
        [[ $home == "$tree" ]] || fail "$shell finds \"$home\" through $script"
    done
done

# The script may be reached through a link, or the whole tree may.
mkdir "$work/elsewhere"
ln -s "$tree/set_env.sh" "$work/elsewhere/set_env.sh"
ln -s "$tree" "$work/elsewhere/latest"
for script in set_env.sh latest/set_env.sh latest/bin/setenv.bash; do
    for shell in bash dash zsh; do
        command -v $shell > /dev/null || continue
        home="$(env -i PATH=/usr/bin:/bin $shell -euc ". '$work/elsewhere/$script'; echo \$ASCEND_HOME_PATH")"
        [[ $home == "$tree" ]] || fail "$shell finds \"$home\" through the link $script"
    done
done

# --- the names under which programs look for things -------------------------------------------------------------------
machine="$(uname -m)-linux"
for file in {$machine/,,compiler/,tools/,toolkit/,ascendc_devkit/}tikcpp/ascendc_kernel_cmake/ascendc.cmake \
    {,compiler/}ascendc_devkit/tikcpp/samples/cmake/ascendc.cmake lib64/cmake/{asc,aicpu}-config.cmake \
    tikcpp/ascendc_kernel_cmake/legacy_modules/ascendc.cmake {,toolkit/}tools/tikicpulib/lib/cmake/tikicpulib-config.cmake \
    {$machine,tools,compiler,fwkacllib}/ccec_compiler/bin/{bisheng,ccec} compiler/tikcpp/tikcfw/{kernel_operator.h,impl,interface} \
    tools/simulator/Ascend{910B1,310P3}/lib/libruntime_camodel.so simulator/Ascend910B3/lib/libruntime.so \
    asc/include/aicpu_api/aicpu_api.h share/info/runtime/version.info share/canopy/unsupported.tsv \
    include/{securec.h,mstx/ms_tools_ext.h,acl/acl_rt_compile.h} python/site-packages opp aclnn toolkit tools; do
    [[ -e $tree/$file ]] || fail "$file is missing"
done

# --- headers and libraries -------------------------------------------------------------------------------------------
for pair in "include lib64" "$(uname -m)-linux/include $(uname -m)-linux/lib64"; do
    read -r include lib <<< "$pair"
    [[ -f $tree/$include/acl/acl.h && -e $tree/$lib/libacl_rt.so ]] || fail "$pair is not a pair of headers and libraries"
done
cd "$work"
gcc -std=c11 -Wall -Wextra -Werror "-I$tree/include" -c "$source/tests/install/uses_names.c" -o uses_names.o
# Link with all names of the library at once, in each folder that programs use in link lines.
names=() libraries=()
for library in "$tree"/lib64/lib*.so; do
    [[ $(basename "$(readlink -f "$library")") == libascendcl.so ]] || continue
    names+=("$(basename "$library")")
    libraries+=("-l:$(basename "$library")")
done
count=${#names[@]}
[[ $count -ge 42 ]] || fail "only $count names of the runtime library"
folders=(lib64 {,runtime/,acllib/,compiler/,fwkacllib/,toolkit/,$machine/}lib64/stub {,$machine/}lib64/stub/linux/"$(uname -m)"
    {,$machine/}devlib {,$machine/}devlib/linux/"$(uname -m)")
for folder in "${folders[@]}"; do
    gcc uses_names.o "-L$tree/$folder" "${libraries[@]}" -ldl -o uses_names || fail "cannot link with $folder"
done
chip="$(./uses_names "${names[@]}")" || fail "a program linked with all names does not run, or cannot open them"
[[ $chip == "$SOC_VERSION" ]] || fail "SOC_VERSION is $SOC_VERSION, but the chip is $chip"
# A library name that provides more elsewhere must not hide missing functions.
echo 'int GEInitialize(void); int main(void) { return GEInitialize(); }' > wants_more.c
if gcc wants_more.c "-L$NPU_HOST_LIB" "${libraries[@]}" -o wants_more 2> link.log; then fail "a function that nobody has is linked"; fi
grep -q "undefined reference to .GEInitialize" link.log || fail "the linker does not name the missing function"
# The tree has no symlink loops.
find -L "$tree" > /dev/null || fail "the tree holds a loop of links"
# The lower interface, by every folder and header spelling that programs use.
while read -r folder header; do
    echo "#include \"$header\"" | cat - "$source/tests/install/uses_lower.c" > uses_lower.c
    gcc -std=c11 -Wall -Wextra -Werror "-I$tree/$folder" uses_lower.c "-L$tree/lib64" -lruntime -o uses_lower ||
        fail "$header is not found or wrong in $folder"
    [[ $(./uses_lower) == "$SOC_VERSION" ]] || fail "a program of the lower interface found \"$(./uses_lower)\""
done << END
pkg_inc runtime/rt.h
pkg_inc runtime/runtime/rt.h
pkg_inc/runtime runtime/rt.h
pkg_inc/runtime runtime/dev.h
pkg_inc runtime/dev.h
$machine/pkg_inc runtime/rt.h
runtime/pkg_inc runtime/rt.h
include/experiment runtime/runtime/rt.h
include/experiment/runtime runtime/dev.h
include experiment/runtime/runtime/rt.h
END
for header in runtime/rt_ffts.h runtime/kernel.h runtime/mem.h runtime/base.h runtime/runtime/rts/rts.h \
    runtime/runtime/rts/rts_kernel.h runtime/rt_external.h profiling/aprof_pub.h; do
    g++ -std=c++17 -Wall -Wextra -Werror "-I$tree/pkg_inc" -fsyntax-only -x c++ - <<< "#include \"$header\"" ||
        fail "$header is not found or wrong in pkg_inc"
done

# Every library that programs name in link lines exists.
for name in acl_rt ascendcl acl_rt_impl nnopbase opapi opapi_math acl_op_compiler acl_tdt_channel acl_tdt_queue ascend_dump \
    msprofiler profapi c_sec platform register graph graph_base unified_dlog ascendalog runtime mmpa error_manager acl_rtc \
    acl_cblas acl_dvpp acl_dvpp_mpi acl_retr ge_runner ge_common ge_compiler exe_graph lowering ascend_hal runtime_camodel \
    hccl ms_tools_ext ascendsk; do
    [[ -e $tree/lib64/lib$name.so ]] || fail "lib$name.so is missing"
done
for name in lib64/libtiling_api.a lib64/libascendc_runtime.a lib64/device/lib64/libaicpu_api.a; do
    ar t "$tree/$name" | grep -c . > /dev/null || fail "$name is missing or empty"
done
gcc -std=c11 -Wall -Wextra -Werror "-I$tree/include" "$source/tests/install/uses_securec.c" "-L$tree/lib64" -lc_sec -o uses_securec
./uses_securec || fail "libc_sec is wrong"
g++ -O2 -std=c++17 -D_GLIBCXX_USE_CXX11_ABI=0 -Wall -Werror "-I$tree/include" "$source/tests/install/uses_operators.cpp" \
    "-L$tree/lib64" -lacl_rt -lnnopbase -lopapi -o uses_operators
./uses_operators || fail "the operators are wrong"
CANOPY_CHIP=Ascend950PR_9599 ./uses_operators || fail "the operators are wrong on another chip"
strangers="$(readelf -d "$tree/lib64/libascendcl.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE '^(libstdc\+\+|libm|libgcc_s|libc|libdl|libpthread|ld-linux-[a-z0-9-]+)\.so' || true)"
[[ -z $strangers ]] || fail "libascendcl.so needs more than the system: $strangers"

# --- Python: in the tree, and packed -----------------------------------------------------------------------------------
if [[ -d $tree/python/site-packages/acl ]]; then
    # Prints the chip and the library that the module found on its own.
    ask='import acl; print(acl.get_soc_name(), *{line.split()[5] for line in open("/proc/self/maps") if "libascendcl" in line})'
    [[ $(/usr/bin/python3 -c "$ask") == "$SOC_VERSION $tree/lib64/libascendcl.so" ]] || fail "import acl does not work"
    [[ $(env -u LD_LIBRARY_PATH /usr/bin/python3 -c "$ask") == "$SOC_VERSION $tree/lib64/libascendcl.so" ]] ||
        fail "the Python module needs LD_LIBRARY_PATH to find the library of its tree"
    for file in __init__ rt util prof mdl; do
        /usr/bin/python3 -m ast "$tree/python/site-packages/acl/$file.pyi" > /dev/null || fail "$file.pyi is missing or wrong"
    done
    wheel="$("$source/python/make_wheel.py" --tree "$tree" --output "$work")"
    if /usr/bin/python3 -m pip --version > /dev/null 2>&1; then
        /usr/bin/python3 -m pip install --quiet --no-index --target "$work/packages" "$wheel" || fail "pip refuses the wheel"
    else
        /usr/bin/python3 -m zipfile -e "$wheel" "$work/packages"
    fi
    found="$(env -u LD_LIBRARY_PATH PYTHONPATH="$work/packages" /usr/bin/python3 -c "$ask")"
    [[ $found == "$SOC_VERSION $(cd "$work" && pwd -P)/packages/acl/lib/libascendcl.so" ]] || fail "the wheel gives \"$found\""
fi

# --- the programs of the tree ----------------------------------------------------------------------------------------
canopy info > info.txt
grep -q "$SOC_VERSION" info.txt || fail "canopy info does not show the chip"
canopy info --json | python3 -c 'import json, sys; info = json.load(sys.stdin); assert len(info["devices"]) >= 4, info'
cp -r "$source/examples" examples
examples/run.sh --build "$work/build" vector_add | tee example.txt
grep -q '^right .* 0 wrong$' example.txt || fail "the example is wrong"
echo "install_test: $count library names, example right"
