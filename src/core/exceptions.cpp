// SPDX-License-Identifier: Apache-2.0
#include "core/exceptions.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/error_text.h"
#include "core/error_codes.h"
#include "core/kernel.h"
#include "core/stream.h"

namespace canopy {
namespace {

struct Callbacks {
    std::mutex mutex;
    ExceptionFunction single = nullptr;
    std::vector<ExceptionFunction> all;
};
Callbacks& callbacks() {
    static Callbacks* instance = new Callbacks;
    return *instance;
}

}  // namespace

void set_exception_callback(ExceptionFunction function) noexcept {
    std::lock_guard guard(callbacks().mutex);
    callbacks().single = function;
}

Status add_exception_callback(ExceptionFunction function) {
    if (!function) return fail(code::param_invalid, "callback must not be null");
    std::lock_guard guard(callbacks().mutex);
    std::vector<ExceptionFunction>& all = callbacks().all;
    if (std::find(all.begin(), all.end(), function) == all.end()) all.push_back(function);
    return {};
}

void remove_exception_callback(ExceptionFunction function) noexcept {
    std::lock_guard guard(callbacks().mutex);
    std::erase(callbacks().all, function);
}

void fire_exception(Stream& stream, const TaskFailure& failure, int code) noexcept {
    rtExceptionInfo info = {};
    info.task = failure.task;
    info.stream = static_cast<std::uint32_t>(stream.id);
    info.thread = static_cast<std::uint32_t>(failure.thread);
    info.device = stream.record->index;
    info.code = static_cast<std::uint32_t>(code);
    info.arguments = failure.arguments;
    info.arguments_size = failure.arguments_size;
    if (failure.kernel)
        info.function = std::atomic_ref(const_cast<Kernel*>(failure.kernel)->user).load(std::memory_order_acquire);
    try {
        ExceptionFunction single = nullptr;
        std::vector<ExceptionFunction> all;
        {
            std::lock_guard guard(callbacks().mutex);
            single = callbacks().single;
            all = callbacks().all;
        }
        if (single) single(&info);
        for (ExceptionFunction function : all) function(&info);
        if (!info.function) return;
        Runtime& runtime = Runtime::instance();
        Pin<Function> function = runtime.functions.pin(handle_of(info.function));
        if (!function) return;
        Pin<Binary> binary = runtime.binaries.pin(function->binary);
        if (!binary) return;
        if (BinaryExceptionFunction own = binary->exception_function.load(std::memory_order_acquire))
            own(&info, binary->exception_argument.load(std::memory_order_relaxed));
    } catch (...) {  // no memory to remember the list: the failure itself is still reported
    }
}

}  // namespace canopy
