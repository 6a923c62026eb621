// SPDX-License-Identifier: Apache-2.0
#include "core/launch/exceptions.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/kernel/cpu/cpu_kernels.h"
#include "core/kernel/kernel.h"
#include "core/process/builtin_kernels.h"
#include "core/stream/stream.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

// A CPU kernel, with all its names while its function is alive.
std::string describe_cpu(const TaskFailure& failure) {
    std::string names = failure.kernel->info->name;
    const void* user = std::atomic_ref(const_cast<Kernel*>(failure.kernel)->user).load(std::memory_order_acquire);
    if (const Pin<Function> function = Runtime::instance().functions.pin(handle_of(user)); function && function->cpu)
        names = fmt::format("{} (function {} of {})", function->cpu->op_type, function->cpu->function,
                            function->cpu->library.empty() ? "its shared object" : function->cpu->library);
    const std::string how = failure.kind == FaultKind::returned ? fmt::format("return value {} ({})", failure.result,
                                                                              cpu_result_meaning(failure.result))
                                                                : std::string(failure.what);
    return fmt::format("CPU kernel {}, task {}, block {}: {}", names, failure.task, failure.block, how);
}

}  // namespace

std::string describe_failure(const TaskFailure& failure) {
    std::string where;
    if (failure.graph)
        where = failure.opcode == Opcode::replay
                    ? fmt::format("{}: ", failure.graph->label)
                    : fmt::format("{}, stream {}: ", failure.graph->label, failure.graph->stream);
    if (const Builtin builtin = builtin_of(failure); builtin != Builtin::none)
        return fmt::format("{}{} (task {}): {}", where, purpose_of(builtin), failure.task, failure.what);
    if (failure.kernel && failure.opcode == Opcode::cpu_kernel) return where.append(describe_cpu(failure));
    if (failure.kernel && failure.fused)
        return fmt::format("{}step {} of fused kernel {}{} (task {}, block {}): {}", where, failure.step,
                           failure.fused->info->name,
                           failure.kernel == failure.fused ? "" : ", kernel " + failure.kernel->info->name,
                           failure.task, failure.block, failure.what);
    if (failure.kernel)
        return fmt::format("{}kernel {} (task {}, block {}): {}", where, failure.kernel->info->name, failure.task,
                           failure.block, failure.what);
    if (failure.graph && failure.opcode == Opcode::replay) return where.append(failure.what);
    return fmt::format("{}task {}: {}", where, failure.task, failure.what);
}

namespace {

struct Callbacks {
    Mutex mutex;
    ExceptionFunction single CANOPY_GUARDED_BY(mutex) = nullptr;
    std::vector<ExceptionFunction> all CANOPY_GUARDED_BY(mutex);
};
Callbacks& callbacks() { return process_state<Callbacks>(); }

}  // namespace

void set_exception_callback(ExceptionFunction function) noexcept {
    MutexLock guard(callbacks().mutex);
    callbacks().single = function;
}

Status add_exception_callback(ExceptionFunction function) {
    if (!function) return fail(code::param_invalid, "callback must not be null");
    MutexLock guard(callbacks().mutex);
    std::vector<ExceptionFunction>& all = callbacks().all;
    if (std::find(all.begin(), all.end(), function) == all.end()) all.push_back(function);
    return {};
}

void remove_exception_callback(ExceptionFunction function) noexcept {
    MutexLock guard(callbacks().mutex);
    std::erase(callbacks().all, function);
}

namespace {

// A failure while its callbacks run. They receive `info`; the rest is found by its address.
struct Report {
    rtExceptionInfo info = {};
    ExceptionDetails details;
    rtExceptionErrRegInfo_t registers = {};
    Pin<Function> function;
    Pin<Binary> binary;
};

struct Reports {
    Mutex mutex;
    std::vector<const Report*> all CANOPY_GUARDED_BY(mutex);
};
Reports& reports() { return process_state<Reports>(); }

class Publication {
public:
    explicit Publication(const Report& report) : report_(report) {
        MutexLock guard(reports().mutex);
        reports().all.push_back(&report);
    }
    ~Publication() {
        MutexLock guard(reports().mutex);
        std::erase(reports().all, &report_);
    }
    Publication(const Publication&) = delete;
    Publication& operator=(const Publication&) = delete;

private:
    const Report& report_;
};

// The program's structure has a pointer where the address goes.
void store(DeviceAddress address, void*& field) noexcept { std::memcpy(&field, &address, sizeof(field)); }

void describe_kernel(Report& report, const TaskFailure& failure) {
    rtExceptionExpandInfo_t& expand = report.info.expandInfo;
    const KernelInfo* kernel = failure.kernel ? failure.kernel->info : nullptr;
    if (failure.opcode == Opcode::cpu_kernel) {
        expand.type = RT_EXCEPTION_AICPU;
        rtAicpuExDetailInfo_t& detail = expand.u.aicpuInfo;
        detail.funcHandle = report.details.function;
        detail.functionName = detail.kernelName = kernel ? kernel->name.c_str() : "";
        detail.soName = kernel ? kernel->source.c_str() : "";
        if (report.function && report.function->cpu) {
            const CpuEntry& names = *report.function->cpu;
            detail.soName = names.library.c_str();
            detail.functionName = names.function.c_str();
            detail.kernelName = names.op_type.c_str();
        }
        store(failure.arguments, detail.argAddr);
        detail.argsize = failure.arguments_size;
        return;
    }
    if (!kernel) return;
    expand.type = RT_EXCEPTION_AICORE;
    rtExceptionArgsInfo_t& detail = expand.u.aicoreInfo.exceptionArgs;
    store(failure.arguments, detail.argAddr);
    detail.argsize = failure.arguments_size;
    rtExceptionKernelInfo_t& shown = detail.exceptionKernelInfo;
    shown.bin = report.binary ? opaque_of(report.binary->self) : nullptr;
    shown.binSize = static_cast<std::uint32_t>(kernel->code_size);
    shown.kernelName = kernel->name.c_str();
    shown.kernelNameSize = static_cast<std::uint32_t>(kernel->name.size());
}

void describe_core(Report& report, const TaskFailure& failure, const DeviceRecord& record) {
    if (!failure.kernel || failure.opcode == Opcode::cpu_kernel) return;
    rtExceptionErrRegInfo_t& core = report.registers;
    core.coreId = failure.block;
    core.coreType = failure.core == CoreType::cube ? RT_CORE_TYPE_AIC : RT_CORE_TYPE_AIV;
    core.currentPC = failure.address;
    const bool own = !failure.kernel->fused && (!failure.fused || failure.kernel->user);
    if (report.binary && own) {
        MutexLock guard(report.binary->mutex);
        if (report.binary->modules[record.index]) core.startPC = failure.kernel->address.value();
    }
    report.details.registers = &core;
}

void describe(Report& report, const Stream& stream, const TaskFailure& failure, int code) {
    report.info.taskid = failure.task;
    report.info.streamid = static_cast<std::uint32_t>(stream.id);
    report.info.tid = static_cast<std::uint32_t>(failure.thread);
    report.info.deviceid = stream.record->index;
    report.info.retcode = static_cast<std::uint32_t>(code);
    if (failure.kernel) {
        Runtime& runtime = Runtime::instance();
        const auto user = [](const Kernel* kernel) {
            return std::atomic_ref(const_cast<Kernel*>(kernel)->user).load(std::memory_order_acquire);
        };
        // Steps of a fused image are not functions themselves.
        void* function = user(failure.kernel);
        if (!function && failure.fused) function = user(failure.fused);
        report.details.function = function;
        report.function = runtime.functions.pin(handle_of(function));
        if (report.function) report.binary = runtime.binaries.pin(report.function->binary);
    }
    describe_kernel(report, failure);
    describe_core(report, failure, *stream.record);
}

void tell(Report& report) {
    ExceptionFunction single = nullptr;
    std::vector<ExceptionFunction> all;
    {
        MutexLock guard(callbacks().mutex);
        single = callbacks().single;
        all = callbacks().all;
    }
    if (single) single(&report.info);
    for (ExceptionFunction function : all) function(&report.info);
    if (!report.binary) return;
    if (BinaryExceptionFunction own = report.binary->exception_function.load(std::memory_order_acquire))
        own(&report.info, report.binary->exception_argument.load(std::memory_order_relaxed));
}

}  // namespace

void fire_exception(Stream& stream, const TaskFailure& failure, int code) noexcept {
    try {
        const auto report = std::make_unique<Report>();  // too large for the stack of a block
        describe(*report, stream, failure, code);
        const Publication publication(*report);
        tell(*report);
    } catch (...) {  // no memory for the report: the failure itself is still reported
    }
}

std::optional<ExceptionDetails> exception_details(const rtExceptionInfo* info) noexcept {
    MutexLock guard(reports().mutex);
    for (const Report* report : reports().all)
        if (&report->info == info) return report->details;
    return std::nullopt;
}

ExceptionArguments exception_arguments(const rtExceptionInfo& info) noexcept {
    const rtExceptionExpandInfo_t& expand = info.expandInfo;
    if (expand.type == RT_EXCEPTION_AICPU)
        return {device_address(expand.u.aicpuInfo.argAddr), expand.u.aicpuInfo.argsize};
    if (expand.type != RT_EXCEPTION_AICORE) return {};
    const rtExceptionArgsInfo_t& arguments = expand.u.aicoreInfo.exceptionArgs;
    return {device_address(arguments.argAddr), arguments.argsize};
}

}  // namespace canopy
