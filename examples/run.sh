#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Configures, builds and runs examples with an install tree, and says for each whether its result is right.
set -uo pipefail
folder="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

usage() {
    cat <<'TEXT'
usage: examples/run.sh [--tree FOLDER] [--build FOLDER] [--type TYPE] [--jobs N] [NAME]...

  --tree FOLDER    the install tree to use; default: the one whose set_env.sh this shell has sourced
  --build FOLDER   where to build; default: ./examples_build
  --type TYPE      CMAKE_BUILD_TYPE; default: Release. Debug is for gdb
  --jobs N         examples at a time; default: 2
  --list           show the names of all examples and end
  NAME             examples to run; default: all

Each example is configured by its own CMakeLists.txt, as you would do it:
  cmake -S examples/NAME -B build && cmake --build build && build/NAME
The output of each one is kept in FOLDER/NAME.log. Exit status: 0 when every result is right.
TEXT
}

names=() build="$PWD/examples_build" type=Release jobs=2 tree="${ASCEND_HOME_PATH:-}"
mapfile -t all < <(cd "$folder" && ls -d */CMakeLists.txt | xargs -n 1 dirname)
while [[ $# -gt 0 ]]; do
    case "$1" in
        --tree) tree="${2:-}" && shift ;;
        --build) build="${2:-}" && shift ;;
        --type) type="${2:-}" && shift ;;
        --jobs) jobs="${2:-}" && shift ;;
        --list) printf '%s\n' "${all[@]}" && exit 0 ;;
        -h | --help) usage && exit 0 ;;
        -*) usage >&2 && exit 2 ;;
        *)
            if [[ ! -f $folder/$1/CMakeLists.txt ]]; then
                echo "run.sh: there is no example $1; there are: ${all[*]}" >&2
                exit 2
            fi
            names+=("$1")
            ;;
    esac
    shift
done
[[ ${#names[@]} -gt 0 ]] || names=("${all[@]}")
if [[ -z $tree || ! -f $tree/set_env.sh ]]; then
    echo "run.sh: no install tree; source set_env.sh of one first, or name it with --tree" >&2
    exit 2
fi
set +u
source "$tree/set_env.sh"
set -u
mkdir -p "$build" || exit 2
build="$(cd "$build" && pwd)"
generator=()
command -v ninja > /dev/null && generator=(-G Ninja)

# One example: prints whether it is right, and leaves its status in NAME.status.
run_one() {
    local name="$1" status=0 log="$build/$1.log" place="$build/$1"
    {
        echo "\$ cmake -S $folder/$name -B $place -DCMAKE_BUILD_TYPE=$type"
        cmake "${generator[@]}" -S "$folder/$name" -B "$place" "-DCMAKE_BUILD_TYPE=$type" &&
            echo "\$ cmake --build $place" && cmake --build "$place"
    } > "$log" 2>&1 || status=1
    if [[ $status -ne 0 ]]; then
        printf 'FAILED  %-20s does not build; the end of %s:\n%s\n' "$name" "$log" "$(tail -n 15 "$log")"
    else
        echo "\$ ./$name" >> "$log"
        (cd "$place" && "./$name") > "$build/$name.out" 2>&1 || status=$?
        cat "$build/$name.out" >> "$log"
        if [[ $status -eq 0 ]] && grep -q ' 0 wrong$' "$build/$name.out"; then
            printf 'right   %-20s %s\n' "$name" "$(grep ' 0 wrong$' "$build/$name.out" | tail -n 1)"
        else
            status=1
            printf 'FAILED  %-20s %s\n' "$name" "$(tail -n 15 "$build/$name.out")"
        fi
    fi
    echo $status > "$build/$name.status"
}

for name in "${names[@]}"; do
    rm -f "$build/$name.status"
    while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do wait -n || true; done
    run_one "$name" &
done
wait
wrong=0
for name in "${names[@]}"; do [[ "$(cat "$build/$name.status" 2> /dev/null)" == 0 ]] || wrong=$((wrong + 1)); done
echo "${#names[@]} examples, $wrong failed"
[[ $wrong -eq 0 ]]
