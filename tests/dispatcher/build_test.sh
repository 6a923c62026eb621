#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiles inner runtimes and the dispatcher with the tool of an install tree: builds everything for both platforms,
# reports failures, and checks that the results export the required functions.
#   build_test.sh <tree> <folder of the sources> <folder to work in>
set -euo pipefail
tree="$1" sources="$2" work="$3"
rm -rf "$work"
mkdir -p "$work"

fail() {
    echo "build_test: $*" >&2
    exit 1
}
has() { nm -D --defined-only "$1" | grep -c " T $2\$" > /dev/null || fail "$1 has no function $2"; }
runtimes() { "$tree/bin/canopy-runtimes" --output "$work/out" "$@" 2> "$work/messages"; }

inner="$sources/inner_runtime.cpp"
runtimes --jobs 2 one="$inner" two="$inner" three="$inner" -- -std=c++20 -DINNER_VARIANT=1 || fail "$(cat "$work/messages")"
for platform in a2a3 a5; do
    for name in one two three; do has "$work/out/$platform/lib$name.so" DynTileFwkBackendKernelServer; done
    for name in DynTileFwkDispatcherLoad DynTileFwkDispatcherInit DynTileFwkDispatcherRun DynPyptoKernelServer; do
        has "$work/out/$platform/libcanopy_dispatcher.so" $name
    done
done

# The platform is known at compile time, and a runtime that fails to compile does not stop the others.
cat > "$work/platform.cpp" <<'TEXT'
#ifdef CANOPY_PLATFORM_A5
extern "C" unsigned DynTileFwkBackendKernelServer(void*) { return 0; }
#else
#error not for this platform
#endif
TEXT
rm -rf "$work/out"
! runtimes five="$work/platform.cpp" other="$inner" -- -std=c++20 -DINNER_VARIANT=1 || fail "an error is not told"
grep -q "1 of 6 failed" "$work/messages" || fail "not told how many failed: $(cat "$work/messages")"
[[ -e $work/out/a5/libfive.so && ! -e $work/out/a2a3/libfive.so && -e $work/out/a2a3/libother.so ]] || fail "wrong files"
! runtimes --platform a9 one="$inner" || fail "a platform that does not exist is accepted"
grep -q "neither a2a3 nor a5" "$work/messages" || fail "the platform is not named"
