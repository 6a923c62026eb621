// SPDX-License-Identifier: Apache-2.0
// State of the process: made at first use and never destroyed, because static constructors, exit handlers and threads
// that outlive main may need it at any time. What it holds for a device or a program ends with aclFinalize
// (core/lifecycle), not with the process. Any thread.
#pragma once

namespace canopy {

// The one State of the process; each user has a type of its own.
template <class State>
State& process_state() {
    static State& state = *new State;
    return state;
}

}  // namespace canopy
