# SPDX-License-Identifier: Apache-2.0
# The older name of set_env.sh:  source bin/setenv.bash
if [ -n "${ZSH_VERSION:-}" ]; then
    eval '. "$(cd "$(dirname "${(%):-%x}")" > /dev/null && pwd -P)/../set_env.sh"'
else
    . "$(cd "$(dirname "${BASH_SOURCE[0]}")" > /dev/null && pwd -P)/../set_env.sh"
fi
