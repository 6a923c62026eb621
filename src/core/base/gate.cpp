// SPDX-License-Identifier: Apache-2.0
#include "core/base/gate.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error_text.h"
#include "base/parking.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::uint32_t outside = 1;  // passes of a known thread that has none

// A thread that has had a pass. Taken off the list by the destructor of a key: a thread_local object with a destructor
// would take the lock of the dynamic loader, and the thread that holds it may be waiting for this one.
struct KnownThread {
    const std::atomic<std::uint32_t>* passes = nullptr;
    KnownThread* next = nullptr;
    KnownThread* previous = nullptr;
};
__attribute__((tls_model("initial-exec"))) thread_local constinit KnownThread known_thread;

void forget_thread(void* known);

struct Threads {
    Threads() noexcept : has_key(pthread_key_create(&key, forget_thread) == 0) {}

    pthread_key_t key{};
    const bool has_key;
    Mutex mutex;
    KnownThread* first CANOPY_GUARDED_BY(mutex) = nullptr;
    ParkingLot waiting;  // for the gate
    ParkingLot leaving;  // for the threads inside

    bool anybody_inside() {
        MutexLock guard(mutex);
        for (const KnownThread* thread = first; thread; thread = thread->next)
            if (thread->passes->load(std::memory_order_acquire) > outside) return true;
        return false;
    }
};

Threads& threads() { return process_state<Threads>(); }

// Calls that the thread makes after this, in other destructors, still wait at a closed gate.
void forget_thread(void* known) {
    const KnownThread& thread = *static_cast<KnownThread*>(known);
    MutexLock guard(threads().mutex);
    (thread.previous ? thread.previous->next : threads().first) = thread.next;
    if (thread.next) thread.next->previous = thread.previous;
}

bool order_all_threads() noexcept {
    static const bool registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    return registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

namespace gate {

std::uint32_t introduce_thread() noexcept {
    Threads& all = threads();
    // A thread that cannot be taken off the list is not put on it: it waits at the gate, and nobody waits for it.
    if (!all.has_key || pthread_setspecific(all.key, &known_thread) != 0) return outside;
    known_thread.passes = &thread_state.passes;
    MutexLock guard(all.mutex);
    known_thread.next = all.first;
    if (all.first) all.first->previous = &known_thread;
    all.first = &known_thread;
    return outside;
}

void wait_with_pass() noexcept {
    if (thread_state.ignores_gate) return;
    do {
        thread_state.passes.store(outside, std::memory_order_release);
        left();
        wait_for_gate();
        thread_state.passes.store(outside + 1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } while (closed.load(std::memory_order_acquire));
}

void left() noexcept { threads().leaving.wake_all(); }

}  // namespace gate

void wait_for_gate() noexcept {
    for (;;) {
        const ParkingLot::Epoch epoch = threads().waiting.prepare();
        if (!gate_closed()) return threads().waiting.cancel();
        threads().waiting.park(epoch, Deadline::never());
    }
}

Status close_gate(Deadline deadline) {
    if (thread_state.passes.load(std::memory_order_relaxed) > outside)
        return fail(code::snapshot_lock,
                    "a call that changes a device cannot lock the process: call it outside of callbacks");
    gate::closed.store(true, std::memory_order_seq_cst);
    if (!order_all_threads()) {
        const int error = errno;
        open_gate();
        return fail(code::not_supported, "this system cannot lock a process: membarrier: {}", strerror(error));
    }
    for (;;) {
        const ParkingLot::Epoch epoch = threads().leaving.prepare();
        if (!threads().anybody_inside()) {
            threads().leaving.cancel();
            return {};
        }
        if (threads().leaving.park(epoch, deadline) || !deadline.passed()) continue;
        open_gate();
        return fail(code::snapshot_lock_timeout, "other threads are still inside calls that change devices");
    }
}

void open_gate() noexcept {
    gate::closed.store(false, std::memory_order_seq_cst);
    threads().waiting.wake_all();
}

}  // namespace canopy
