// SPDX-License-Identifier: Apache-2.0
#include "entrance.h"

#include <atomic>

#include "call.h"

namespace canopy::python {

namespace {

// The number of callbacks inside, and the highest bit once closed: one word, so that the check is atomic.
constexpr unsigned closed = 1u << 31;
std::atomic<unsigned> inside{0};

void leave() {
    if (inside.fetch_sub(1) == closed + 1) inside.notify_all();
}

}  // namespace

Entrance::Entrance() : open_((inside.fetch_add(1) & closed) == 0) {
    if (open_)
        state_ = PyGILState_Ensure();
    else
        leave();
}

Entrance::~Entrance() {
    if (!open_) return;
    PyGILState_Release(state_);
    leave();
}

bool enter_to_stay(PyGILState_STATE& state) {
    const bool open = (inside.fetch_add(1) & closed) == 0;
    if (open) state = PyGILState_Ensure();
    leave();
    return open;
}

void close_entrance() {
    released([] {
        unsigned seen = inside.fetch_or(closed) | closed;
        while (seen != closed) {
            inside.wait(seen);
            seen = inside.load();
        }
    });
}

}  // namespace canopy::python
