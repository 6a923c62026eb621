# SPDX-License-Identifier: Apache-2.0
# The older name of set_env.sh:  source bin/setenv.bash
if [ -n "${ZSH_VERSION:-}" ]; then
    eval '. "$(cd "$(dirname "${(%):-%x}")" > /dev/null && pwd -P)/../set_env.sh"'
elif [ -n "${BASH_VERSION:-}" ]; then
    . "$(cd "$(dirname "${BASH_SOURCE:-$0}")" > /dev/null && pwd -P)/../set_env.sh"
else
    for _canopy_value in /proc/$$/fd/*; do
        _canopy_value="$(readlink "$_canopy_value" || :)"
        case "$_canopy_value" in
            */bin/setenv.bash) . "${_canopy_value%/*}/../set_env.sh" && break ;;
        esac
    done
    unset _canopy_value
fi
