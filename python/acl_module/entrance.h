// SPDX-License-Identifier: Apache-2.0
// Entry of runtime threads into the interpreter, which closes before the interpreter exits. A thread that requests the
// lock of an interpreter that has exited would be stopped in the middle of the runtime, so it must not try.
#ifndef CANOPY_PYTHON_ACL_MODULE_ENTRANCE_H
#define CANOPY_PYTHON_ACL_MODULE_ENTRANCE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace canopy::python {

// Holds the interpreter's lock for a callback. If false, the interpreter is exiting and must not be touched.
class Entrance {
public:
    Entrance();
    ~Entrance();
    Entrance(const Entrance&) = delete;
    Entrance& operator=(const Entrance&) = delete;

    explicit operator bool() const { return open_; }

private:
    bool open_;
    PyGILState_STATE state_{};
};

// For a thread that may stay in the interpreter for as long as it likes: holds the lock like PyGILState_Ensure. If
// false, the interpreter is exiting and must not be touched.
bool enter_to_stay(PyGILState_STATE& state);

// Refuses new callbacks and waits for running ones. Called by atexit, with the lock held.
void close_entrance();

}  // namespace canopy::python

#endif  // CANOPY_PYTHON_ACL_MODULE_ENTRANCE_H
