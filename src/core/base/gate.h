// SPDX-License-Identifier: Apache-2.0
// The gate that a snapshot closes: calls that change devices wait in front of it until it is opened again. Such a call
// holds a GatePass from its beginning to its end, so that closing the gate can wait for those that are inside.
//
// A pass costs two stores to the thread's own memory and two loads. No fence orders them: the thread that closes the
// gate makes the kernel order the memory of all threads (membarrier) and then looks at every thread. Submissions to
// streams have no pass, because they must cost nothing; each stream has its own switch (Stream::admits), which a
// snapshot turns after it has closed the gate. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "core/base/thread_state.h"
#include "foundation/clock.h"

namespace canopy {

namespace gate {

inline std::atomic<bool> closed{false};

// Makes the calling thread known to those who close the gate; returns its number of passes.
std::uint32_t introduce_thread() noexcept;
// Gives the pass back, waits until the gate is open, and takes it again.
void wait_with_pass() noexcept;
// The calling thread has given back its last pass.
void left() noexcept;

}  // namespace gate

class GatePass {
public:
    GatePass() noexcept {
        std::uint32_t passes = thread_state.passes.load(std::memory_order_relaxed);
        if (passes == 0) [[unlikely]]
            passes = gate::introduce_thread();
        thread_state.passes.store(passes + 1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (gate::closed.load(std::memory_order_acquire) && passes == 1) [[unlikely]]
            gate::wait_with_pass();
    }
    ~GatePass() {
        const std::uint32_t passes = thread_state.passes.load(std::memory_order_relaxed) - 1;
        thread_state.passes.store(passes, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (gate::closed.load(std::memory_order_relaxed) && passes == 1) [[unlikely]]
            gate::left();
    }
    GatePass(const GatePass&) = delete;
    GatePass& operator=(const GatePass&) = delete;
};

[[nodiscard]] inline bool gate_closed() noexcept { return gate::closed.load(std::memory_order_acquire); }
// Waits until the gate is open; for threads without a pass.
void wait_for_gate() noexcept;
// Closes the gate and waits for the calls inside to leave. 507906 inside such a call; 507905, and the gate is open
// again, if they have not left by the deadline; 207000 if the kernel cannot order the memory of threads.
Status close_gate(Deadline deadline);
void open_gate() noexcept;

}  // namespace canopy
