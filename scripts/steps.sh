# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart.sh, test.sh and bench.sh: steps that say what they do and how long it took, keep their output in
# a log and show the end of it when they fail.

# step <title> <log> <command>...: returns what the command returns.
step() {
    local title="$1" log="$2" begin=$SECONDS status=0
    shift 2
    mkdir -p "$(dirname "$log")"
    printf '==> %s ... ' "$title"
    "$@" > "$log" 2>&1 || status=$?
    if [[ $status -eq 0 ]]; then
        printf '%d s\n' $((SECONDS - begin))
    else
        printf 'FAILED after %d s. The end of %s:\n' $((SECONDS - begin)) "$log"
        tail -n 40 "$log"
    fi
    return $status
}

# ccache keeps its results in the user's home; without one, in the build folder.
[[ -w ${HOME:-/nonexistent} ]] || export CCACHE_DIR="${CCACHE_DIR:-$PWD/build/ccache}"
# What it must overlook to keep results of files that use a precompiled header.
export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros}"
