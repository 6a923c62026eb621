#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a running program: installs the packages, builds the library and the kernel compiler, installs
# them into build/install, then compiles and runs an example with that tree as any user would.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [[ $# -gt 0 ]]; then
    cat <<'TEXT'
usage: ./quickstart.sh

Sets everything up, builds, and runs examples/vector_add. Output of the build goes to build/quickstart.*.log.

Afterwards, to make packages in build/release/packages:
  scripts/setup.sh package                           the tools that this needs
  cmake --build --preset release --target package    a Debian package and a Python wheel
  cmake --build --preset release --target deb        the Debian package only: apt install ./canopy_*.deb
  cmake --build --preset release --target wheel      the wheel only: pip install canopy_acl-*.whl
docs/install-tree.md has more about them.
TEXT
    [[ $1 == -h || $1 == --help ]] && exit 0 || exit 2
fi
source scripts/steps.sh
log=build/quickstart

scripts/setup.sh build
# A folder that is configured with tests stays so; they are not built here.
configure=(cmake --preset release)
[[ -f build/release/CMakeCache.txt ]] || configure+=(-DCANOPY_TESTS=OFF)
step "configuring" $log.configure.log "${configure[@]}"
step "building the library and canopy-cc (two minutes on two cores)" $log.build.log \
    cmake --build --preset release --target canopy_tree
step "installing into build/install" $log.install.log cmake --install build/release --prefix "$PWD/build/install"

echo "==> building and running examples/vector_add with that install tree"
source build/install/set_env.sh
show() {
    echo "\$ $*"
    "$@"
}
example=build/vector_add
# What another place or another generator has left there is of no use.
grep -qsx -e "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD/examples/vector_add" $example/CMakeCache.txt &&
    grep -qsx "CMAKE_GENERATOR:INTERNAL=Ninja" $example/CMakeCache.txt || rm -rf $example
step "cmake -G Ninja -S examples/vector_add -B $example" $log.example.log \
    cmake -G Ninja -S examples/vector_add -B $example -DCMAKE_BUILD_TYPE=Release
step "cmake --build $example" $log.example.log cmake --build $example
show $example/vector_add
echo "==> canopy info"
canopy info

cat <<'TEXT'

It works. To build your own program with kernels, in this shell:

  source build/install/set_env.sh
  canopy-cc -O2 -g program.asc -o program && ./program

examples/ has programs in both CMake styles; examples/run.sh builds and runs them. README.md says what works and what
does not yet; ./test.sh runs all tests; ./bench.sh measures.
TEXT
