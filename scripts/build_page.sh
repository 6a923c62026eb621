#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the page that shows a profile, src/profile/page/page.html, from the sources beside it. Needs npm, and its
# registry the first time. Only who changes those sources needs it: the built page is part of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../src/profile/page"

if ! command -v npm > /dev/null; then
    echo "build_page: needs npm (Node.js 18 or later)" >&2
    exit 1
fi
[[ -d node_modules/esbuild ]] || npm ci --no-audit --no-fund
node build.mjs
