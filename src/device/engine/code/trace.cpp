// SPDX-License-Identifier: Apache-2.0
#include "device/engine/code/trace.h"

#include <canopy/kernel_abi.h>
#include <canopy/kernel_trace.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/core.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error_text.h"
#include "device/engine/code/shadow_memory.h"
#include "device/execution/executor.h"
#include "device/execution/source_line.h"
#include "foundation/clock.h"
#include "foundation/elf.h"

namespace canopy {
namespace {

constexpr int refused = 207000;
constexpr int bad_image = 107000;
constexpr Nanoseconds longest_trace = 2'000'000'000;
constexpr std::size_t most_operations = 4096;

// A launch being traced. The running block's `launch` points here.
struct TraceRun {
    const TraceRequest& request;
    const ShadowMemory& shadow;
    SoftCore& core;
    CanopyKernelEntry entry = nullptr;
    const void* arguments = nullptr;
    CanopyBlock block{};
    LaunchTrace trace;
    std::vector<const CanopyTraceOperation*> operations;  // same order as those of the trace
    std::vector<std::uint32_t> last_objects;              // of each operation
    std::uintptr_t local_begin = 0;
    std::size_t local_size = 0;
    Nanoseconds deadline = 0;

    TraceAddress place(const void* address, std::uint64_t bytes);
    TraceRecord& add(TraceKind kind, std::uint64_t count);
    std::uint16_t operation_index(const CanopyTraceOperation* operation);
    std::uint32_t keep_object(std::uint16_t operation, const void* object, std::uint32_t size);
};

TraceRun& current_run() noexcept { return *static_cast<TraceRun*>(Executor::existing()->block->launch); }

[[noreturn]] void refuse(std::string_view text) noexcept {
    Executor* executor = Executor::existing();
    executor->enter_service();
    char whole[600];
    std::size_t length = 0;
    {  // `fail` leaves the frame without running destructors
        const std::string line = calling_source_line();
        const auto written = fmt::format_to_n(whole, sizeof whole, "{}{}{}", text, line.empty() ? "" : " ", line);
        length = std::min(written.size, sizeof whole);
    }
    executor->fail(FaultKind::trap, {whole, length});
}

TraceAddress TraceRun::place(const void* address, std::uint64_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at >= local_begin && at - local_begin < local_size) {
        if (bytes > local_size - (at - local_begin)) refuse("accesses memory past the unified buffer");
        return {local_memory, at - local_begin};
    }
    const auto found = shadow.find(at, bytes);
    if (!found) refuse("uses memory that is neither one of its arguments nor the unified buffer");
    return *found;
}

TraceRecord& TraceRun::add(TraceKind kind, std::uint64_t count) {
    if (trace.records.size() >= request.most_records) refuse("does more than a trace holds");
    if (trace.records.size() % 4096 == 4095 && now() > deadline) refuse("takes too long to trace");
    TraceRecord& record = trace.records.emplace_back();
    record.kind = kind;
    record.count = count;
    return record;
}

std::uint16_t TraceRun::operation_index(const CanopyTraceOperation* operation) {
    for (std::size_t index = operations.size(); index-- > 0;)
        if (operations[index] == operation) return static_cast<std::uint16_t>(index);
    if (operations.size() == most_operations) refuse("has more operations than a trace holds");
    operations.push_back(operation);
    last_objects.push_back(UINT32_MAX);
    return static_cast<std::uint16_t>(operations.size() - 1);
}

std::uint32_t TraceRun::keep_object(std::uint16_t operation, const void* object, std::uint32_t size) {
    if (size == 0) return 0;
    std::uint32_t& last = last_objects[operation];
    if (last != UINT32_MAX && std::memcmp(trace.objects.data() + last, object, size) == 0) return last;
    last = static_cast<std::uint32_t>(trace.objects.size());
    const auto* bytes = static_cast<const std::byte*>(object);
    trace.objects.insert(trace.objects.end(), bytes, bytes + size);
    return last;
}

// ---- functions the tracing code calls -------------------------------------------------------------------------------

void trace_copy(void* to, const void* from, std::uint64_t bytes) {
    TraceRun& run = current_run();
    const TraceAddress target = run.place(to, bytes), source = run.place(from, bytes);
    const bool in = target.region == local_memory, out = source.region == local_memory;
    if (!in && !out) refuse("copies from global memory to global memory");
    TraceRecord& record = run.add(in && out ? TraceKind::move : in ? TraceKind::load : TraceKind::store, bytes);
    record.target = target;
    record.sources[0] = source;
}

void trace_forget(void* local, std::uint64_t bytes) {
    TraceRun& run = current_run();
    const TraceAddress target = run.place(local, bytes);
    if (target.region != local_memory) refuse("fills global memory");
    run.add(TraceKind::forget, bytes).target = target;
}

std::uint64_t bytes_of(std::uint64_t count, std::uint8_t size) noexcept {
    return size == 0 ? (count + 7) / 8 : count * size;
}

void trace_compute(const CanopyTraceOperation* operation, const void* object, std::uint64_t count, void* target,
                   const void* source0, const void* source1, const void* source2) {
    TraceRun& run = current_run();
    const std::uint16_t index = run.operation_index(operation);
    const void* sources[CANOPY_TRACE_SOURCES] = {source0, source1, source2};
    TraceRecord& record = run.add(TraceKind::compute, count);
    record.operation = index;
    record.target = run.place(target, bytes_of(count, operation->target_size));
    bool local = record.target.region == local_memory;
    for (int i = 0; i < operation->source_count; ++i) {
        record.sources[i] = run.place(sources[i], bytes_of(count, operation->source_sizes[i]));
        local = local && record.sources[i].region == local_memory;
    }
    if (!local) refuse("computes in global memory");
    record.object = run.keep_object(index, object, operation->object_size);
}

// Destructors of the abandoned frames do not run, so those frames must not own memory.
template <class... Arguments>
[[noreturn]] void refuse_with(fmt::format_string<Arguments...> format, Arguments&&... arguments) noexcept {
    char text[300];
    const auto written = fmt::format_to_n(text, sizeof text, format, std::forward<Arguments>(arguments)...);
    refuse({text, std::min(written.size, sizeof text)});
}

void trace_refuse(const char* what) { refuse_with("makes {:.200}", what); }

constexpr CanopyTracer tracer = {sizeof(CanopyTracer), 0, &trace_copy, &trace_forget, &trace_compute, &trace_refuse};

// ---- services offered to the tracing code ---------------------------------------------------------------------------

CanopyBlock* current_block() { return Executor::existing()->block; }
void sync_all() { refuse("waits for other blocks"); }
void trap() { refuse("ends in a trap"); }
void print(const char*, std::size_t) { refuse("prints"); }
void fail_block(const char* text, std::size_t length) { refuse_with("fails: {:.200}", std::string_view(text, length)); }
void yield() { refuse("waits"); }
void sync(std::uint32_t) { refuse("waits for other blocks"); }
void use_flag(std::uint32_t, std::uint32_t) { refuse("uses flags between cores"); }
void run_threads(void (*)(void*), void*, std::uint32_t) { refuse("runs SIMT threads"); }
std::uint32_t current_thread() { return 0; }
void thread_barrier(std::uint32_t, std::uint32_t) { refuse("waits for other threads"); }
void multiply_matrices(const CanopyProduct*) { refuse("multiplies matrices"); }
std::uint32_t at_launch_end(void (*)(void*), void*) { refuse("registers a function for the end of its launch"); }
void* block_memory(const void*, std::size_t, std::size_t, const void*) { refuse("has variables of the block"); }
CanopyCore* partner(std::uint32_t, std::uint32_t) { refuse("reaches the memories of other cores"); }

CanopyCore* open_core_of_block(std::uint32_t architecture) {
    TraceRun& run = current_run();
    if (architecture != run.core.architecture()) refuse("was compiled for another architecture");
    CanopyCore& core = run.core.open();
    run.block.core = &core;
    return &core;
}

constexpr CanopyServices services = {
    CANOPY_KERNEL_ABI_VERSION,
    sizeof(CanopyServices),
    &current_block,
    &sync_all,
    &trap,
    &print,
    &open_core_of_block,
    &fail_block,
    &yield,
    &sync,
    &use_flag,
    &use_flag,
    &run_threads,
    &current_thread,
    &thread_barrier,
    &multiply_matrices,
    &at_launch_end,
    &partner,
    &block_memory,
};

// ---- running --------------------------------------------------------------------------------------------------------

void run_blocks(void* argument) {
    TraceRun& run = *static_cast<TraceRun*>(argument);
    for (std::uint32_t index = 0; index < run.request.blocks; ++index) {
        run.trace.block_begin.push_back(static_cast<std::uint32_t>(run.trace.records.size()));
        run.block.index = index;
        run.block.core = nullptr;
        run.entry(run.arguments);
    }
    run.trace.block_begin.push_back(static_cast<std::uint32_t>(run.trace.records.size()));
}

Status explain(const Fault& fault, const std::string& kernel, std::uint32_t block) {
    if (fault.text != nullptr)
        return fail(refused, "kernel {} cannot be traced: block {} {}", kernel, block, fault.text);
    const std::string line = source_line(fault.instruction);
    return fail(refused, "kernel {} accesses memory in a way that cannot be traced{}{} (block {}, address {:#x})",
                kernel, line.empty() ? "" : " ", line, block, fault.address);
}

bool is_state(const ElfSymbol& symbol, const ElfFile& object) noexcept {
    if (symbol.type == STT_TLS) return true;
    if (symbol.type != STT_OBJECT || symbol.size == 0 || symbol.section >= object.sections().size()) return false;
    const std::string_view section = object.sections()[symbol.section].name;
    if (section != ".data" && section != ".bss") return false;
    return !symbol.name.starts_with("canopy_image_") && !symbol.name.starts_with("DW.ref.") &&
           !symbol.name.starts_with("completed.");
}

}  // namespace

Result<std::unique_ptr<ModuleTracer>> ModuleTracer::open(const std::string& name, std::uint32_t architecture,
                                                         std::span<const std::byte> object) {
    std::unique_ptr<ModuleTracer> tracer(new ModuleTracer);
    tracer->architecture_ = architecture;
    CANOPY_TRY(tracer->load(name, object));
    CANOPY_TRY(tracer->read_symbols(object));
    return tracer;
}

ModuleTracer::~ModuleTracer() = default;

Status ModuleTracer::load(const std::string& name, std::span<const std::byte> object) {
    auto file = CodeFile::create(fmt::format("{:.200}.trace", name), object);
    if (!file.ok()) return fail(bad_image, "{}", file.message());
    file_ = std::move(*file);
    void* library = file_.load(RTLD_NOW | RTLD_LOCAL);
    link_map* map = nullptr;
    if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr)
        return fail(bad_image, "the tracing code of the image does not load: {}", loader_message());
    load_address_ = map->l_addr;
    auto* service_table = static_cast<const CanopyServices**>(dlsym(library, "canopy_image_services"));
    auto* tracer_table = static_cast<const CanopyTracer**>(dlsym(library, "canopy_image_tracer"));
    if (service_table == nullptr || tracer_table == nullptr)
        return fail(bad_image, "the tracing code of the image lacks canopy_image_services or canopy_image_tracer");
    // Atomic as in the module loader: an unloaded module may have had the same address.
    std::atomic_ref(*service_table).store(&services, std::memory_order_release);
    std::atomic_ref(*tracer_table).store(&tracer, std::memory_order_release);
    return {};
}

// Collects the names of the functions that compute elements, and finds out whether kernels have variables.
Status ModuleTracer::read_symbols(std::span<const std::byte> bytes) {
    auto object = ElfFile::read(bytes);
    if (!object.ok()) return fail(bad_image, "{}", object.message());
    auto symbols = object->symbols();
    if (!symbols.ok()) return fail(bad_image, "{}", symbols.message());
    for (const ElfSymbol& symbol : *symbols) {
        if (symbol.type == STT_FUNC) {
            functions_.emplace(symbol.name, load_address_ + symbol.value);
            function_names_.emplace(load_address_ + symbol.value, symbol.name);
        } else if (variable_.empty() && is_state(symbol, *object)) {
            variable_ = symbol.name;
        }
    }
    return {};
}

Result<LaunchTrace> ModuleTracer::trace(const TraceRequest& request, const KernelInfo& kernel,
                                        const std::string& entry) {
    const std::string& name = kernel.name;
    const auto found = functions_.find(entry);
    if (found == functions_.end()) return fail(refused, "the tracing code of the image lacks kernel {}", name);
    if (!variable_.empty())
        return fail(refused, "kernel {} cannot be traced: its image has the variable {}", name, variable_);
    if (const CoreGroup group = core_group(kernel); group.cube != 0 || group.vector != 1)
        return fail(refused, "kernel {} cannot be traced: it runs on cube cores", name);
    Executor* executor = Executor::current();
    if (executor == nullptr || Executor::inside(executor->step()))
        return fail(refused, "kernel {} cannot be traced from here", name);
    auto shadow = ShadowMemory::create(request.regions);
    if (!shadow.ok()) return shadow.status();
    auto arguments = shadow->replace_addresses(request.arguments);
    if (!arguments.ok()) return arguments.status();

    MutexLock lock(mutex_);
    if (!core_) core_ = SoftCore::create(architecture_, SoftCore::Access::none);
    if (!core_) return fail(refused, "no memory to trace kernel {}", name);
    TraceRun run{request, *shadow, *core_};
    run.entry = reinterpret_cast<CanopyKernelEntry>(found->second);
    run.arguments = arguments->data();
    const auto& local = core_->open().memory[CANOPY_MEMORY_UB];
    run.local_begin = reinterpret_cast<std::uintptr_t>(local.base);
    run.local_size = local.size;
    run.deadline = now() + longest_trace;
    run.block.count = request.blocks;
    run.block.sub_count = run.block.vector_count = 1;
    run.block.core_type = core_type(kernel);
    run.block.dynamic_size = request.dynamic_size;
    run.block.launch = &run;
    Fault fault;
    if (executor->run(nullptr, &run_blocks, &run, &run.block, fault) != Fiber::Exit::finished)
        return explain(fault, name, run.block.index);

    for (const CanopyTraceOperation* operation : run.operations) {
        TraceOperation& kept = run.trace.operations.emplace_back();
        const auto symbol = function_names_.find(reinterpret_cast<std::uintptr_t>(operation->function));
        if (symbol == function_names_.end()) return fail(refused, "kernel {} has an operation without a name", name);
        kept.symbol = symbol->second;
        kept.object_size = operation->object_size;
        kept.target_size = operation->target_size;
        kept.source_count = operation->source_count;
        std::memcpy(kept.source_sizes, operation->source_sizes, sizeof kept.source_sizes);
    }
    return std::move(run.trace);
}

}  // namespace canopy
