// SPDX-License-Identifier: Apache-2.0
// Executors and the signal handlers behind them. A fault inside guarded code is turned into a normal return: the
// handler changes the interrupted context so that the thread continues in `leave_block`, at the top of the fiber's own
// stack, and returns from there to the caller of the fiber. Faults anywhere else are passed to the handler that was
// installed before.
#include "device/execution/executor.h"

#include <cxxabi.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "base/process_state.h"
#include "base/thread_object.h"
#include "device/execution/cpu_tuning.h"
#include "device/execution/tuning.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t signal_stack_size = 64 * 1024;
constexpr int cancel_signal = SIGURG;  // ignored by default, so a late one does no harm
constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// The thread sanitizer delays signals until the program calls a function it intercepts, which a kernel in an endless
// loop never does. The handlers are therefore installed without it, and the code they run is not instrumented.
#if defined(__SANITIZE_THREAD__)
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*);
int install_handler(int signal, const struct sigaction* action, struct sigaction* previous) noexcept {
    return __sigaction(signal, action, previous);
}
#else
int install_handler(int signal, const struct sigaction* action, struct sigaction* previous) noexcept {
    return sigaction(signal, action, previous);
}
#endif

// Same as std::atomic's load, but never instrumented.
template <class T>
[[gnu::always_inline]] CANOPY_MAY_BE_LEFT inline T read_in_handler(const std::atomic<T>& value) noexcept {
    T result;
    __atomic_load(reinterpret_cast<const T*>(&value), &result, __ATOMIC_RELAXED);
    return result;
}

struct Registry {
    Mutex mutex;
    Executor* first CANOPY_GUARDED_BY(mutex) = nullptr;
};
Registry& registry() noexcept { return process_state<Registry>(); }

struct sigaction previous_action[NSIG];
std::atomic<std::size_t> stack_size{tuning::default_block_stack};

// Shared code that takes process-wide locks: the C library, the dynamic loader, and the runtimes of the language and
// the sanitizers. Entries are only added.
struct SharedCode {
    static constexpr std::uint32_t most = 64;
    enum class Kind : std::uint8_t { none, library, sanitizer };
    struct Range {
        std::uintptr_t begin, size;
        Kind kind;
    };
    Mutex mutex;  // for writers; signal handlers read without it
    Range ranges[most];
    std::atomic<std::uint32_t> count{0};
};
SharedCode shared_code;

CANOPY_MAY_BE_LEFT SharedCode::Kind shared_code_at(std::uintptr_t instruction) noexcept {
    std::uint32_t count;
    __atomic_load(reinterpret_cast<const std::uint32_t*>(&shared_code.count), &count, __ATOMIC_ACQUIRE);
    for (std::uint32_t i = 0; i < count; ++i)
        if (instruction - shared_code.ranges[i].begin < shared_code.ranges[i].size) return shared_code.ranges[i].kind;
    return SharedCode::Kind::none;
}

// Byte by byte and not instrumented, like its caller: the loader guards these names with its own lock, which the thread
// sanitizer does not know about.
CANOPY_MAY_BE_LEFT bool contains(const char* text, const char* part) noexcept {
    for (; *text; ++text) {
        std::size_t same = 0;
        while (part[same] && text[same] == part[same]) ++same;
        if (!part[same]) return true;
    }
    return false;
}

CANOPY_MAY_BE_LEFT SharedCode::Kind kind_of_code(const char* path) noexcept {
    static constexpr const char* libraries[] = {"/libc.so", "/ld-linux", "/libpthread", "/libstdc++", "/libgcc_s",
                                                "/libc++",  "/libm.so",  "/libdl.so",   "/ld-musl"};
    static constexpr const char* sanitizers[] = {"/libtsan", "/libasan", "/libubsan"};
    for (const char* name : libraries)
        if (contains(path, name)) return SharedCode::Kind::library;
    for (const char* name : sanitizers)
        if (contains(path, name)) return SharedCode::Kind::sanitizer;
    return SharedCode::Kind::none;
}

CANOPY_MAY_BE_LEFT int note_shared_code(dl_phdr_info* object, std::size_t, void*) {
    if (!object->dlpi_name) return 0;
    const SharedCode::Kind kind = kind_of_code(object->dlpi_name);
    if (kind == SharedCode::Kind::none) return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
        const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
        const std::uint32_t count = shared_code.count.load(std::memory_order_relaxed);
        if (shared_code_at(begin) != SharedCode::Kind::none || count == SharedCode::most) continue;
        shared_code.ranges[count] = {begin, segment.p_memsz, kind};
        shared_code.count.store(count + 1, std::memory_order_release);
    }
    return 0;
}

CANOPY_MAY_BE_LEFT void pass_on(int signal, siginfo_t* info, void* context) noexcept {
    const struct sigaction& previous = previous_action[signal];
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler == SIG_DFL) {
        if (signal == cancel_signal) return;
        // Restores the default action: when the handler returns, the fault happens again.
        struct sigaction fallback = {};
        fallback.sa_handler = SIG_DFL;
        install_handler(signal, &fallback, nullptr);
    } else if (previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
    }
}

[[noreturn]] void leave_block() {
    Fiber* fiber = Executor::existing()->fiber;
    fiber->forget_frames();
    fiber->abandon();
}

// Makes the interrupted thread continue in leave_block when the handler returns.
CANOPY_MAY_BE_LEFT void redirect(void* context, std::uintptr_t top) noexcept {
    auto* interrupted = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
    constexpr std::uintptr_t headroom = 256;  // above: the frames the fiber's first function left there
    interrupted->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(((top - headroom) & ~std::uintptr_t{15}) - 8);
    interrupted->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&leave_block);
    interrupted->uc_mcontext.gregs[REG_EFL] &= ~0x400;  // clear the direction flag, as the ABI requires
#elif defined(__aarch64__)
    interrupted->uc_mcontext.sp = (top - 256) & ~std::uintptr_t{15};
    interrupted->uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(&leave_block);
#else
#error "no way to leave a block on this processor"
#endif
}

// True for a thread interrupted in a system call: just behind it, or at it if it is made again.
CANOPY_MAY_BE_LEFT bool at_system_call(std::uintptr_t instruction) noexcept {
#if defined(__x86_64__)
    const auto* code = reinterpret_cast<const unsigned char*>(instruction);
    return (code[0] == 0x0F && code[1] == 0x05) || (code[-2] == 0x0F && code[-1] == 0x05);
#elif defined(__aarch64__)
    constexpr std::uint32_t supervisor_call = 0xD4000001;
    const auto* code = reinterpret_cast<const std::uint32_t*>(instruction);
    return code[0] == supervisor_call || code[-1] == supervisor_call;
#endif
}

CANOPY_MAY_BE_LEFT std::uintptr_t instruction_of(void* context) noexcept {
    auto* interrupted = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(interrupted->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return interrupted->uc_mcontext.pc;
#endif
}

}  // namespace

struct FaultHandlers {
    CANOPY_MAY_BE_LEFT static void on_fault(int signal, siginfo_t* info, void* context) {
        Executor* executor = Executor::current_;
        const bool sent = info->si_code <= 0;  // by kill or raise, not by the processor
        if (!executor || sent || !inside(*executor)) return pass_on(signal, info, context);
        const bool on_memory = signal == SIGSEGV || signal == SIGBUS;
        Fault& fault = executor->fault_;
        fault.kind = signal == SIGILL ? FaultKind::trap : FaultKind::exception;
        fault.signal = signal;
        fault.address = on_memory ? reinterpret_cast<std::uintptr_t>(info->si_addr) : 0;
        fault.instruction = instruction_of(context);
        leave(*executor, context);
    }

    CANOPY_MAY_BE_LEFT static void on_cancel(int signal, siginfo_t* info, void* context) {
        Executor* executor = Executor::current_;
        if (!executor) return pass_on(signal, info, context);
        if (!inside(*executor) || read_in_handler(executor->cancel_step_) != read_in_handler(executor->step_)) {
            if (info->si_code != SI_TKILL) pass_on(signal, info, context);
            return;
        }
        if (executor->in_service_) {
            executor->cancel_waits_ = true;
            if (executor->cpu_kernel_) executor->end_wait();
            return;
        }
        if (executor->cpu_kernel_ && put_off(*executor, instruction_of(context))) return;
        Fault& fault = executor->fault_;
        fault.kind = read_in_handler(executor->cancel_kind_);
        fault.signal = 0;
        fault.address = 0;
        fault.instruction = instruction_of(context);
        leave(*executor, context);
    }

    // abort() in a CPU kernel, from a failed assertion or an uncaught exception. The C library raises the signal
    // without holding its locks.
    CANOPY_MAY_BE_LEFT static void on_abort(int signal, siginfo_t* info, void* context) {
        Executor* executor = Executor::current_;
        const bool own = info->si_code == SI_TKILL && info->si_pid == getpid();
        if (executor && own && inside(*executor) && executor->cpu_kernel_ && !executor->in_service_) {
            Fault& fault = executor->fault_;
            fault = {};
            fault.kind = FaultKind::exception;
            fault.signal = signal;
            leave(*executor, context);
            return;
        }
        pass_on(signal, info, context);
        if (previous_action[signal].sa_handler == SIG_DFL && !(previous_action[signal].sa_flags & SA_SIGINFO))
            syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);  // again, with its usual effect
    }

    // True if a CPU kernel must not be ended here because it may hold a lock; the caller of cancel tries again. A
    // kernel that runs in a library soon leaves it; one that sleeps in a system call may not. Code of a sanitizer is
    // never left: it does not sleep, and its allocator would stay locked.
    CANOPY_MAY_BE_LEFT static bool put_off(Executor& executor, std::uintptr_t instruction) noexcept {
        const SharedCode::Kind code = shared_code_at(instruction);
        if (code == SharedCode::Kind::none) return false;
        if (code == SharedCode::Kind::sanitizer) return true;
        if (executor.cancels_put_off_ >= tuning::most_cancels_put_off) return false;
        executor.cancels_put_off_ =
            executor.cancels_put_off_ + (at_system_call(instruction) ? tuning::weight_of_sleeping_cancel : 1);
        return true;
    }

    CANOPY_MAY_BE_LEFT static bool inside(const Executor& executor) noexcept {
        return (read_in_handler(executor.step_) & 1) != 0 && executor.fiber != nullptr;
    }

    // From here to the caller of the fiber, no second cancellation may take effect.
    CANOPY_MAY_BE_LEFT static void leave(Executor& executor, void* context) noexcept {
        executor.in_service_ = true;
        redirect(context, executor.stack_top_);
    }

    static void take_cancellation(Executor& executor) noexcept {
        executor.fault_ = {};
        executor.fault_.kind = executor.cancel_kind_.load(std::memory_order_relaxed);
    }

    static void install_abort() noexcept {
        static std::once_flag once;
        std::call_once(once, [] {
            struct sigaction action = {};
            action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
            sigemptyset(&action.sa_mask);
            sigaddset(&action.sa_mask, cancel_signal);
            action.sa_sigaction = &on_abort;
            install_handler(SIGABRT, &action, &previous_action[SIGABRT]);
        });
    }

    static void install() noexcept {
        static std::once_flag once;
        std::call_once(once, [] {
            struct sigaction action = {};
            action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
            sigemptyset(&action.sa_mask);
            sigaddset(&action.sa_mask, cancel_signal);
            action.sa_sigaction = &on_fault;
            for (int signal : fault_signals) install_handler(signal, &action, &previous_action[signal]);
            action.sa_sigaction = &on_cancel;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
            install_handler(cancel_signal, &action, &previous_action[cancel_signal]);
        });
    }
};

namespace {

// Sets up a stack for handlers, which cannot run on a stack that the kernel has overflowed. Keeps a signal stack that
// the program has set itself.
void* give_signal_stack() noexcept {
    stack_t present = {};
    if (sigaltstack(nullptr, &present) == 0 && !(present.ss_flags & SS_DISABLE)) return nullptr;
    void* memory = mmap(nullptr, signal_stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    stack_t chosen = {};
    chosen.ss_sp = memory;
    chosen.ss_size = signal_stack_size;
    if (sigaltstack(&chosen, nullptr) != 0) {
        munmap(memory, signal_stack_size);
        return nullptr;
    }
    return memory;
}

}  // namespace

// Not inlined: after a suspension, code may be on another thread and must not reuse a thread-local address computed
// before.
__attribute__((noinline)) CANOPY_MAY_BE_LEFT Executor* Executor::existing() noexcept { return current_; }

Executor* Executor::current() noexcept {
    if (current_) [[likely]]
        return current_;
    // Owned by the thread and destroyed with it.
    std::unique_ptr<Executor>* owner = ThreadObject<std::unique_ptr<Executor>>::get();
    if (!owner) return nullptr;
    std::unique_ptr<Executor> executor(new (std::nothrow) Executor);
    if (!executor) return nullptr;
    executor->own_fiber_ = std::make_unique<Fiber>(block_stack_size());
    if (!executor->own_fiber_->valid()) return nullptr;
    FaultHandlers::install();
    executor->signal_stack_ = give_signal_stack();
    executor->thread = static_cast<pid_t>(syscall(SYS_gettid));
    {
        Registry& all = registry();
        MutexLock guard(all.mutex);
        executor->next = all.first;
        if (all.first) all.first->previous = executor.get();
        all.first = executor.get();
    }
    current_ = executor.get();
    *owner = std::move(executor);
    return current_;
}

Executor::~Executor() {
    Registry& all = registry();
    {
        MutexLock guard(all.mutex);
        if (previous)
            previous->next = next;
        else if (all.first == this)
            all.first = next;
        if (next) next->previous = previous;
    }
    delete attachment.load(std::memory_order_relaxed);
    current_ = nullptr;
    if (signal_stack_) {
        stack_t off = {};
        off.ss_flags = SS_DISABLE;
        sigaltstack(&off, nullptr);
        munmap(signal_stack_, signal_stack_size);
    }
}

namespace {

struct Call {
    Fiber::Body body;
    void* argument;
    bool cancellable;
};

// The entry and exit of guarded code: cancellations take effect only in between, when the way out is known.
CANOPY_MAY_BE_LEFT void call_body(void* data) {
    const Call call = *static_cast<const Call*>(data);
    if (call.cancellable) Executor::existing()->leave_service();
    call.body(call.argument);
    if (call.cancellable) Executor::existing()->enter_service();
}

}  // namespace

Fiber::Exit Executor::run(Fiber* on, Fiber::Body body, void* argument, CanopyBlock* who, Fault& fault) noexcept {
    return guarded(on ? on : own_fiber_.get(), body, argument, who, fault, Entry::start);
}

Fiber::Exit Executor::run_steps(Fiber* on, Fiber::Body body, void* argument, CanopyBlock& who, Fault& fault) noexcept {
    return guarded(on ? on : own_fiber_.get(), body, argument, &who, fault, Entry::start_in_service);
}

Fiber::Exit Executor::resume(Fiber* on, CanopyBlock* who, Fault& fault) noexcept {
    return guarded(on, nullptr, nullptr, who, fault, Entry::resume);
}

// Always inlined: after a stack switch every return is mispredicted (5 ns each).
[[gnu::always_inline]] inline Fiber::Exit Executor::guarded(Fiber* on, Fiber::Body body, void* argument,
                                                            CanopyBlock* who, Fault& fault, Entry entry) noexcept {
    fiber = on;
    block = who;
    stack_top_ = reinterpret_cast<std::uintptr_t>(on->stack_top());
    // Set before the step becomes odd: a cancellation that comes now must wait until the body has begun.
    in_service_ = true;
    const std::uint64_t step = step_.load(std::memory_order_relaxed);
    step_.store(step + 1, std::memory_order_release);
    Call call{body, argument, who != nullptr && entry == Entry::start};
    const Fiber::Exit how = entry == Entry::resume ? on->resume() : on->start(&call_body, &call);
    step_.store(step_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    block = nullptr;
    if (how == Fiber::Exit::abandoned) [[unlikely]] {
        fault = fault_;
        fault.stack_overflow = fault.signal == SIGSEGV && (fault.stack_overflow || on->on_stack(fault.address));
        fault_ = {};
        if (threads_) threads_->abandon();
    }
    cancel_waits_ = false;
    return how;
}

Fiber::Exit Executor::run_cpu_kernel(Fiber::Body body, void* argument, CanopyBlock& who, Fault& fault) noexcept {
    if (!large_fiber_) [[unlikely]] {
        large_fiber_.reset(new (std::nothrow) Fiber(tuning::cpu_kernel_stack));
        exception_state_ = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
        if (!large_fiber_ || !large_fiber_->valid()) {
            large_fiber_.reset();
            fault = {};
            fault.kind = FaultKind::memory;
            fault.text = "no memory for the stack of a CPU kernel";
            return Fiber::Exit::abandoned;
        }
    }
    cpu_kernel_ = true;
    cancels_put_off_ = 0;
    begin_kernel();
    const ExceptionState before = *exception_state_;
    const Fiber::Exit how = guarded(large_fiber_.get(), body, argument, &who, fault, Entry::start);
    if (how != Fiber::Exit::finished) [[unlikely]]
        *exception_state_ = before;
    end_kernel();
    cpu_kernel_ = false;
    return how;
}

void Executor::cancel(std::uint64_t at_step, FaultKind why) noexcept {
    cancel_kind_.store(why, std::memory_order_relaxed);
    cancel_step_.store(at_step, std::memory_order_release);
    syscall(SYS_tgkill, getpid(), thread, cancel_signal);
}

CANOPY_MAY_BE_LEFT void Executor::give_way() noexcept {
    in_service_ = true;  // on the way out
    FaultHandlers::take_cancellation(*this);
    fiber->abandon();
}

void Executor::fail(FaultKind kind, std::string_view text) noexcept {
    in_service_ = true;  // on the way out
    const std::size_t length = text.copy(text_, sizeof text_ - 1);
    text_[length] = '\0';
    fault_ = {};
    fault_.kind = kind;
    fault_.text = text_;
    fiber->abandon();
}

CoreFlags& Executor::own_flags(CoreGroup group) noexcept {
    if (const std::uint64_t now = step(); own_flags_step_ != now) {
        own_flags_step_ = now;
        if (!own_flags_.begin(group, 1)) fail(FaultKind::memory, "no memory for the flags of the core");
    }
    return own_flags_;
}

void Executor::set_fiber(Fiber* now) noexcept {
    fiber = now;
    stack_top_ = reinterpret_cast<std::uintptr_t>(now->stack_top());
}

void Executor::abandon_with(const Fiber& where) noexcept {
    if (where.on_stack(fault_.address)) fault_.stack_overflow = true;
    fiber->abandon();
}

void visit_executors(void (*visit)(Executor&, void*), void* data) noexcept {
    Registry& all = registry();
    MutexLock guard(all.mutex);
    for (Executor* executor = all.first; executor; executor = executor->next) visit(*executor, data);
}

void prepare_for_cpu_kernels() noexcept {
    FaultHandlers::install_abort();
    MutexLock guard(shared_code.mutex);
    dl_iterate_phdr(&note_shared_code, nullptr);
}

void set_block_stack_size(std::size_t size) noexcept { stack_size.store(size, std::memory_order_relaxed); }
std::size_t block_stack_size() noexcept { return stack_size.load(std::memory_order_relaxed); }

}  // namespace canopy
