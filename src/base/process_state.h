// SPDX-License-Identifier: Apache-2.0
// Process-wide state: created on first use and never destroyed, because static constructors, exit handlers and threads
// that outlive main may need it at any time. State that belongs to a device or a program is released by aclFinalize
// (core/lifecycle), not at process exit. Any thread.
#pragma once

namespace canopy {

// The process's only State; each user defines its own type.
template <class State>
State& process_state() {
    static State& state = *new State;
    return state;
}

}  // namespace canopy
