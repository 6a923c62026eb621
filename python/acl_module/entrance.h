// SPDX-License-Identifier: Apache-2.0
// The way from threads of the runtime into the interpreter, which closes before the interpreter ends. A thread that
// asks a dead interpreter for its lock would be stopped in the middle of the runtime; so it does not ask any more.
#ifndef CANOPY_PYTHON_ACL_MODULE_ENTRANCE_H
#define CANOPY_PYTHON_ACL_MODULE_ENTRANCE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace canopy::python {

// Holds the interpreter's lock for a callback. Not open: the interpreter ends, and nothing of it may be touched.
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

// Refuses new callbacks and waits for running ones. Called with the lock, by atexit.
void close_entrance();

}  // namespace canopy::python

#endif  // CANOPY_PYTHON_ACL_MODULE_ENTRANCE_H
