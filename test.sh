#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sets up and passes everything: the checks of the text, all tests of the release build, and the unit and conformance
# tests under the address, undefined-behaviour and thread sanitizers. Ends with one line: "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'TEXT'
usage: ./test.sh [--quick] [--only PART]...

  --quick        the checks and the release build only: no sanitizers, and no tests with the label "long", which repeat
                 others with more settings or build whole projects
  --only PART    just this part; may be given several times. Parts: checks, release, asan, tsan, and two that are run
                 only when named: tidy (clang-tidy over all sources) and locks (clang's thread-safety analysis)
  -h, --help     this text

Output of builds goes to build/test.*.log; that of the tests is shown.
TEXT
}

parts=() leave_out=() long=ON
while [[ $# -gt 0 ]]; do
    case "$1" in
        --quick) parts+=(checks release) && leave_out=(--label-exclude '^long$') long=OFF ;;
        --only)
            [[ ${2:-} =~ ^(checks|release|asan|tsan|tidy|locks)$ ]] || { usage >&2 && exit 2; }
            parts+=("$2") && shift
            ;;
        -h | --help) usage && exit 0 ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift
done
[[ ${#parts[@]} -gt 0 ]] || parts=(checks release asan tsan)
source scripts/steps.sh

passed=0 failed=0 failures=()
count() {  # what, its status
    if [[ $2 -eq 0 ]]; then passed=$((passed + 1)); else failed=$((failed + 1)) failures+=("$1"); fi
}

run_checks() {
    local check status words
    for check in "$@"; do
        echo "==> scripts/$check"
        status=0
        read -ra words <<< "$check"
        "scripts/${words[0]}" "${words[@]:1}" || status=$?
        count "scripts/$check" $status
    done
}

# Configures and builds one preset and runs its tests. Some wait rather than compute, so one more runs than there are
# processors.
run_preset() {
    local preset="$1" log="build/test.$1" status=0 begin=$SECONDS built=0
    shift
    [[ ! -f build/$preset/.ninja_log ]] || built=$(wc -l < "build/$preset/.ninja_log")
    step "$preset: configuring" "$log.configure.log" cmake --preset "$preset" -DCANOPY_TESTS=ON "-DCANOPY_LONG_TESTS=$long" \
        "$@" || status=$?
    [[ $status -ne 0 ]] || step "$preset: building" "$log.build.log" cmake --build --preset "$preset" || status=$?
    if [[ $status -ne 0 ]]; then
        count "$preset: build" 1
        return 0
    fi
    echo "==> $preset: tests"
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$(($(nproc) + 1))" \
        "${leave_out[@]+"${leave_out[@]}"}" 2>&1 | tee "$log.tests.log" || status=$?
    # "97% tests passed, 1 tests failed out of 34"; the names of the failed ones follow.
    local summary bad=0 total=0
    summary="$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log.tests.log" || true)"
    if [[ $summary =~ ,\ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then
        bad=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
        passed=$((passed + total - bad)) failed=$((failed + bad))
        [[ $bad -eq 0 ]] || mapfile -t -O ${#failures[@]} failures < <(sed -n "s/^\t *[0-9]* - \([^ ]*\) .*/$preset: \1/p" "$log.tests.log")
    fi
    [[ $status -eq 0 || $bad -gt 0 ]] || count "$preset: tests" 1
    [[ $status -ne 0 || -n $summary ]] || count "$preset: tests" 1
    slowest "$preset" "$built" "$log.tests.log" >> build/test.slowest
    echo "==> $preset took $((SECONDS - begin)) s"
}

# What took longest in one preset: of the files built since line $2 of ninja's log, and of the tests in the log $3. Wall
# time: what runs beside it counts too. docs/testing.md says what a test may cost.
slowest() {
    echo "Slowest files built in $1:"
    tail -n "+$(($2 + 1))" "build/$1/.ninja_log" | awk -F '\t' -v here="$PWD/build/$1/" \
        'NF >= 5 && !seen[$1, $2, $5]++ { sub(here, "", $4); printf "%8.1f s  %s\n", ($2 - $1) / 1000, $4 }' |
        sort -rn | head -n 10 || true
    echo "Slowest tests of $1:"
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*/\2 \1/p' "$3" | sort -rn | head -n 10 |
        awk '{ printf "%8.1f s  %s\n", $1, $2 }' || true
}

scripts/setup.sh build test
rm -f build/test.slowest
# Sanitizer builds compile kernels with the release build's compiler.
compiler=build/release/toolchain/tree/bin/canopy-cc
export ASAN_OPTIONS="${ASAN_OPTIONS:-}" TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1:atexit_sleep_ms=50}"
for part in "${parts[@]}"; do
    case "$part" in
        checks) run_checks check_format.sh check_dependencies.py "draw_folders.py --check" check_text.py ;;
        tidy) run_checks check_tidy.sh ;;
        locks) run_checks check_locks.sh ;;
        release) run_preset release ;;
        *)
            # An older one would compile kernels that the tests do not expect.
            [[ -f build/release/CMakeCache.txt ]] ||
                step "release: configuring" build/test.compiler.configure.log cmake --preset release
            if ! step "release: building canopy-cc" build/test.compiler.build.log \
                cmake --build --preset release --target canopy-cc; then
                count "$part: canopy-cc" 1
                continue
            fi
            run_preset "$part" "-DCANOPY_CC_EXECUTABLE=$PWD/$compiler"
            ;;
    esac
done

[[ ! -f build/test.slowest ]] || cat build/test.slowest
for failure in "${failures[@]+"${failures[@]}"}"; do echo "FAILED: $failure"; done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
