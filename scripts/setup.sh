#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that building, testing or measuring Canopy needs, on Debian 12 and Ubuntu 24.04.
# quickstart.sh, test.sh and bench.sh call it. When everything is there it only looks, and needs no network.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: scripts/setup.sh [build] [package] [test] [bench]

Installs, through apt-get, the packages that are missing for:
  build   the library, the kernel compiler driver, the Python module and the examples (default)
  package additionally: the Debian package (the target `package`)
  test    additionally: the tests and the checks of format and style
  bench   additionally: the benchmarks and the libraries they compare with

Runs apt-get with sudo when not root. Does nothing when all packages are there.
TEXT
}

# Bars stand between alternatives, best first: one of them is enough. Colons join what belongs together.
build_packages=(
    g++ cmake ninja-build ccache binutils python3 python3-dev python3-numpy python3-clang
    libboost-context-dev libfmt-dev nlohmann-json3-dev libxxhash-dev zlib1g-dev
    "clang-19:libclang-19-dev|clang-18:libclang-18-dev|clang-17:libclang-17-dev|clang-16:libclang-16-dev"
)
package_packages=(dpkg-dev)
test_packages=("${package_packages[@]}" python3-venv make libgtest-dev clang-format-14 gdb python3-pytest
    python3-setuptools pybind11-dev python3-pybind11 python3-selenium
    "chromium:chromium-driver|chromium-browser:chromium-chromedriver")
bench_packages=(pocl-opencl-icd ocl-icd-opencl-dev opencl-headers libtbb-dev libbenchmark-dev libopenblas-dev
    libdnnl-dev libcli11-dev libboost-dev libzmq3-dev)

wanted=()
[[ $# -eq 0 ]] && set -- build
for part in "$@"; do
    case "$part" in
        build) wanted+=("${build_packages[@]}") ;;
        package) wanted+=("${build_packages[@]}" "${package_packages[@]}") ;;
        test) wanted+=("${build_packages[@]}" "${test_packages[@]}") ;;
        bench) wanted+=("${build_packages[@]}" "${bench_packages[@]}") ;;
        -h | --help) usage && exit 0 ;;
        *) echo "setup.sh: unknown part \"$part\"" >&2 && usage >&2 && exit 2 ;;
    esac
done

# One question to the package database for everything.
IFS='|:' read -r -a names <<< "$(IFS='|'; echo "${wanted[*]}")"
installed=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package} ' "${names[@]}" 2> /dev/null || true)"

is_installed() {  # one alternative: all of its packages
    local package
    for package in ${1//:/ }; do [[ $installed == *" ii $package "* ]] || return 1; done
}
is_available() {
    local package
    for package in ${1//:/ }; do [[ "$(apt-cache policy "$package" 2> /dev/null)" == *"Candidate: "[!\(]* ]] || return 1; done
}
first_that() {  # a question and an entry: prints the first alternative for which the answer is yes
    local alternative
    for alternative in ${2//|/ }; do "$1" "$alternative" && echo "$alternative" && return; done
    return 1
}

missing=()
for entry in "${wanted[@]}"; do
    [[ " ${missing[*]-} " == *" $entry "* ]] || first_that is_installed "$entry" > /dev/null || missing+=("$entry")
done
if [[ ${#missing[@]} -eq 0 ]]; then
    echo "setup: all packages are installed"
    exit 0
fi

if ! command -v apt-get > /dev/null; then
    echo "setup: this system has no apt-get. Install by hand what corresponds to: ${missing[*]}" >&2
    exit 1
fi
as_root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo > /dev/null; then
        echo "setup: packages are missing and there is no sudo. As root, run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
step() {
    if ! "$@" > "$log" 2>&1; then
        echo "setup: failed: $*" >&2
        tail -n 25 "$log" >&2
        exit 1
    fi
}

echo "setup: updating the list of packages"
step "${as_root[@]}" apt-get update
chosen=()
for entry in "${missing[@]}"; do
    if ! pick="$(first_that is_available "$entry")"; then
        echo "setup: this system offers no ${entry//|/, nor }; Debian 12 and Ubuntu 24.04 are supported" >&2
        exit 1
    fi
    chosen+=(${pick//:/ })
done
echo "setup: installing ${chosen[*]}"
step "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${chosen[@]}"
echo "setup: done"
