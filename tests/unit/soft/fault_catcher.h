// SPDX-License-Identifier: Apache-2.0
// Tells whether a piece of code faults, and survives it. For tests of memory protection; one thread at a time.
#pragma once

#include <setjmp.h>
#include <signal.h>

namespace canopy::test {

inline sigjmp_buf fault_return;

inline void leave_fault(int) { siglongjmp(fault_return, 1); }

// `code` must not own anything that would leak if it is left by a jump.
template <class Code>
bool faults(Code&& code) {
    struct sigaction action {};
    action.sa_handler = leave_fault;
    sigemptyset(&action.sa_mask);
    struct sigaction old_segv {};
    struct sigaction old_bus {};
    sigaction(SIGSEGV, &action, &old_segv);
    sigaction(SIGBUS, &action, &old_bus);
    volatile bool faulted = true;
    if (sigsetjmp(fault_return, 1) == 0) {
        code();
        faulted = false;
    }
    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGBUS, &old_bus, nullptr);
    return faulted;
}

inline bool write_faults(void* address) {
    return faults([address] { *static_cast<volatile unsigned char*>(address) = 1; });
}

inline bool read_faults(const void* address) {
    return faults([address] { (void)*static_cast<const volatile unsigned char*>(address); });
}

}  // namespace canopy::test
