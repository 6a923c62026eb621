// SPDX-License-Identifier: Apache-2.0
#include "graph_world.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace graphs {
namespace {

constexpr std::size_t most_objects = 1024;  // words, selectors and argument blocks of a plan
constexpr std::size_t argument_size = 64;
constexpr int patience = 60'000;  // milliseconds after which a stream is considered stuck

void* device_memory(std::size_t size) {
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(memory, size, 0, size));
    return memory;
}

void* host_memory(std::size_t size) {
    void* memory = nullptr;
    MUST(aclrtMallocHost(&memory, size));
    return memory;
}

template <class T>
aclrtRandomParaInfo parameter(T value) {
    aclrtRandomParaInfo info = {};
    info.size = sizeof(value);
    std::memcpy(info.valueOrAddr, &value, sizeof(value));
    return info;
}

}  // namespace

void must(aclError code, const char* call) {
    if (code == ACL_SUCCESS) return;
    const char* text = aclGetRecentErrMsg();
    throw Problem(std::string(call) + " gave " + std::to_string(code) + "\n" + (text ? text : ""));
}

Kernels::Kernels() {
    MUST(aclrtBinaryLoadFromFile(CANOPY_GRAPH_KERNELS, nullptr, &binary_));
    const std::pair<const char*, aclrtFuncHandle*> functions[] = {
        {"mix", &mix},           {"mix_table", &mix_table},   {"spread", &spread},           {"exchange", &exchange},
        {"fault_if", &fault_if}, {"count_down", &count_down}, {"select_from", &select_from}, {"compare", &compare}};
    for (const auto& [name, function] : functions) MUST(aclrtBinaryGetFunction(binary_, name, function));
}

Kernels::~Kernels() { aclrtBinaryUnLoad(binary_); }

World::World(const Kernels& kernels) : kernels_(kernels), streams_(all_streams) {
    for (aclrtStream& stream : streams_) MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateStream(&outside_));
    device_ = static_cast<std::uint32_t*>(device_memory((device_cells + extra_cells) * cell_bytes));
    host_ = static_cast<std::uint32_t*>(host_memory(host_cells * cell_bytes));
    taken_at_once_ = static_cast<std::uint32_t*>(host_memory(cell_bytes));
    words_ = static_cast<std::uint64_t*>(device_memory(most_objects * 8));
    selectors_ = static_cast<std::uint64_t*>(device_memory(most_objects * 8));
    argument_blocks_ = static_cast<std::byte*>(device_memory(most_objects * argument_size));
    aclrtMemPoolProps properties = {};
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    MUST(aclrtMemPoolCreate(&pool_, &properties));
    MUST(aclrtCreateEventWithFlag(&flag_event_, ACL_EVENT_EXTERNAL));
    for (aclrtEvent* event : {&in_event_, &out_event_, &update_done, &replay_done})
        MUST(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC));
}

World::~World() {
    for (const aclrtEvent event : events_) aclrtDestroyEvent(event);
    for (const aclrtEvent event : {flag_event_, in_event_, out_event_, update_done, replay_done})
        aclrtDestroyEvent(event);
    for (const aclrtNotify notify : notifies_) aclrtDestroyNotify(notify);
    for (const aclrtCntNotify counter : counters_) aclrtCntNotifyDestroy(counter);
    for (const aclrtStream stream : streams_) aclrtDestroyStream(stream);
    aclrtDestroyStream(outside_);
    aclrtMemPoolDestroy(pool_);
    for (void* memory : {static_cast<void*>(device_), static_cast<void*>(words_), static_cast<void*>(selectors_),
                         static_cast<void*>(argument_blocks_)})
        aclrtFree(memory);
    aclrtFreeHost(host_);
    aclrtFreeHost(taken_at_once_);
}

std::uint32_t* World::cell(int number) const {
    return number < device_cells ? device_ + number * static_cast<int>(cell_words)
                                 : host_ + (number - device_cells) * static_cast<int>(cell_words);
}

void World::prepare(const Plan& plan) {
    while (events_.size() < static_cast<std::size_t>(plan.events)) {
        aclrtEvent event = nullptr;
        if (events_.size() % 4 == 3)
            MUST(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
        else
            MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
        events_.push_back(event);
    }
    while (notifies_.size() < static_cast<std::size_t>(plan.notifies)) {
        notifies_.push_back(nullptr);
        MUST(aclrtCreateNotify(&notifies_.back(), 0));
    }
    while (counters_.size() < static_cast<std::size_t>(plan.counters)) {
        counters_.push_back(nullptr);
        MUST(aclrtCntNotifyCreate(&counters_.back(), 0));
    }
    groups_.assign(static_cast<std::size_t>(plan.groups), nullptr);
    host_work_.clear();
    std::mt19937_64 random(plan.seed + 1);
    std::vector<std::uint32_t> values((device_cells + extra_cells + host_cells) * cell_words);
    for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random());
    const std::size_t on_device = (device_cells + extra_cells) * cell_bytes;
    MUST(aclrtMemcpy(device_, on_device, values.data(), on_device, ACL_MEMCPY_HOST_TO_DEVICE));
    std::memcpy(host_, values.data() + on_device / sizeof(std::uint32_t), host_cells * cell_bytes);
    write_argument_blocks(plan.script);
}

void World::write_argument_blocks(const Script& script) {
    for (const Step& step : script.steps) {
        for (const Script& body : step.bodies) write_argument_blocks(body);
        if (step.kind != Kind::kernel) continue;
        const std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(cell(step.out)),
                                       reinterpret_cast<std::uint64_t>(cell(step.a)),
                                       reinterpret_cast<std::uint64_t>(cell(step.b)), step.salt, cell_words};
        MUST(aclrtMemcpy(argument_blocks_ + static_cast<std::size_t>(step.object) * argument_size, argument_size, slots,
                         sizeof(slots), ACL_MEMCPY_HOST_TO_DEVICE));
    }
}

std::vector<std::uint32_t> World::read() {
    constexpr std::size_t on_device = (device_cells + extra_cells) * cell_words;
    std::vector<std::uint32_t> values(on_device + host_cells * cell_words);
    MUST(aclrtMemcpy(values.data(), on_device * 4, device_, on_device * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    std::memcpy(values.data() + on_device, host_, host_cells * cell_bytes);
    return values;
}

std::string World::name_of(std::size_t word) {
    const std::size_t number = word / cell_words;
    const std::string place = ", word " + std::to_string(word % cell_words);
    if (number < device_cells) return "device cell " + std::to_string(number) + place;
    if (number < device_cells + extra_cells)
        return "cell " + std::to_string(number - device_cells) + " of the outside" + place;
    return "host cell " + std::to_string(number - extra_cells) + place;
}

void World::synchronise() {
    std::vector<aclrtStream> all = streams_;
    all.push_back(outside_);
    for (const aclrtStream stream : all) {
        const aclError code = aclrtSynchronizeStreamWithTimeout(stream, patience);
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
            // A stuck stream cannot be destroyed cleanly.
            std::fprintf(stderr, "a stream stands still\n");
            std::abort();
        }
        must(code, "aclrtSynchronizeStreamWithTimeout");
    }
}

void World::run(const Plan& plan, std::uint32_t round) {
    assign_defaults(plan.script);
    outside_before(plan, round);
    issue(plan.script);
    outside_after(plan);
    synchronise();
}

// Does what a replay does when it begins, including conditions in bodies.
void World::assign_defaults(const Script& script) {
    for (const Step& step : script.steps) {
        for (const Script& body : step.bodies) assign_defaults(body);
        if (step.kind != Kind::condition || !step.assigns_default) continue;
        const std::uint64_t value = step.default_value;
        MUST(aclrtMemcpy(selectors_ + step.object, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    }
}

aclmdlRI World::capture(const Plan& plan, aclmdlRICaptureMode mode) {
    aclmdlRI graph = nullptr;
    mode_ = mode;
    MUST(aclmdlRICaptureBegin(streams_[0], mode));
    capturing_ = true;
    try {
        issue(plan.script);
    } catch (...) {
        capturing_ = false;
        aclmdlRICaptureEnd(streams_[0], &graph);
        throw;
    }
    capturing_ = false;
    MUST(aclmdlRICaptureEnd(streams_[0], &graph));
    return graph;
}

void World::outside_before(const Plan& plan, std::uint32_t round) {
    // A condition that is run call by call needs the flag before it waits.
    late_flag_ = plan.outside_flag && plan.conditions == 0 && round % 2 == 1;
    if (plan.outside_flag) {
        launch(kernels_.mix, 2, outside_, extra(flag_cell), extra(flag_cell), extra(flag_cell), round, cell_words);
        if (!late_flag_) MUST(aclrtRecordEvent(flag_event_, outside_));
    }
    if (plan.outside_wait) {
        launch(kernels_.mix, 1, outside_, extra(wait_cell), extra(wait_cell), extra(wait_cell), round, cell_words);
        MUST(aclrtRecordEvent(in_event_, outside_));
    }
}

void World::outside_after(const Plan& plan) {
    if (plan.outside_flag && late_flag_) MUST(aclrtRecordEvent(flag_event_, outside_));
    if (plan.outside_record) {
        MUST(aclrtStreamWaitEvent(outside_, out_event_));
        launch(kernels_.mix, 3, outside_, extra(outside_result), extra(published), extra(published), 5u, cell_words);
    }
}

void World::update(const Step& group, aclrtStream stream) {
    MUST(aclmdlRICaptureTaskUpdateBegin(stream, groups_[static_cast<std::size_t>(group.object)]));
    for (const Step& step : group.steps) launch_mix(step, stream);
    MUST(aclmdlRICaptureTaskUpdateEnd(stream));
}

template <class... Values>
void World::launch(aclrtFuncHandle function, std::uint32_t blocks, aclrtStream stream, Values... values) {
    std::uint64_t slots[] = {(std::uint64_t)(values)...};
    MUST(aclrtLaunchKernelWithHostArgs(function, blocks, stream, nullptr, slots, sizeof(slots), nullptr, 0));
}

void World::issue(const Script& script) {
    for (const Step& step : script.steps) issue(step);
}

void World::issue(const Step& step) {
    if (step.disabled) return;
    const aclrtStream on = stream(step.stream);
    const auto object = static_cast<std::size_t>(step.object);
    const std::uint32_t byte = step.salt & 0x7Fu;
    switch (step.kind) {
        case Kind::kernel:
            return launch_mix(step, on);
        case Kind::exchange:
            return launch(kernels_.exchange, step.blocks, on, cell(step.out), cell(step.a), step.salt);
        case Kind::copy:
            return copy(step, on);
        case Kind::copy_rows:
            return copy_rows(step, on);
        case Kind::copy_snapshot:
            for (std::uint32_t i = 0; i < cell_words; ++i) taken_at_once_[i] = step.salt * (i + 1);
            MUST(aclrtMemcpyAsync(cell(step.out), cell_bytes, taken_at_once_, cell_bytes,
                                  ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, on));
            std::memset(taken_at_once_, 0xEE, cell_bytes);
            return;
        case Kind::fill:
            return MUST(aclrtMemsetAsync(cell(step.out) + byte / 4, cell_bytes / 2, static_cast<int>(byte),
                                         cell_bytes / 2, on));
        case Kind::fill_words:
            return MUST(aclrtMemsetD32Async(cell(step.out), cell_bytes, step.salt, cell_words / 2, on));
        case Kind::write_value:
            return MUST(aclrtValueWrite(cell(step.out) + 2 * step.way, step.salt, 0, on));
        case Kind::host_function: {
            host_work_.push_back({cell(step.out), step.salt});
            const aclrtHostFunc work = [](void* argument) {
                const auto& [words, salt] = *static_cast<HostWork*>(argument);
                for (std::uint32_t i = 0; i < cell_words; ++i) words[i] = words[i] * 16777619u + salt + i;
            };
            return MUST(aclrtLaunchHostFunc(on, work, &host_work_.back()));
        }
        case Kind::reduce:
            return reduce(step, on);
        case Kind::random_numbers:
            return random_numbers(step, on);
        case Kind::pool:
            return use_pool(step, on);
        case Kind::group:
            if (capturing_) MUST(aclmdlRICaptureTaskGrpBegin(on));
            for (const Step& inner : step.steps) issue(inner);
            if (capturing_) MUST(aclmdlRICaptureTaskGrpEnd(on, &groups_[object]));
            return;
        case Kind::condition:
            return capturing_ ? capture_condition(step, on) : run_condition(step, on);
        case Kind::record:
            return MUST(aclrtRecordEvent(events_[object], on));
        case Kind::wait:
            return MUST(aclrtStreamWaitEvent(on, events_[object]));
        case Kind::signal:
            return signal(step, on);
        case Kind::await:
            return await(step, on);
        case Kind::outside_flag:
            return outside_flag(step, on);
        case Kind::outside_wait:
            MUST(aclrtStreamWaitEventWithFlag(on, in_event_, 0,
                                              capturing_ ? ACL_EVENT_WAIT_EXTERNAL : ACL_EVENT_WAIT_DEFAULT));
            return launch(kernels_.mix, 1, on, cell(step.out), extra(wait_cell), extra(wait_cell), step.salt,
                          cell_words);
        case Kind::outside_record:
            MUST(aclrtMemcpyAsync(extra(published), cell_bytes, cell(step.out), cell_bytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                  on));
            return MUST(aclrtRecordEventWithFlag(out_event_, on,
                                                 capturing_ ? ACL_EVENT_RECORD_EXTERNAL : ACL_EVENT_RECORD_DEFAULT));
    }
}

// Launches the same kernel by one of the launch functions.
void World::launch_mix(const Step& step, aclrtStream stream) {
    struct {
        std::uint32_t *out, *a, *b;
        std::uint64_t salt, words;
        std::uint32_t table[8];
    } arguments = {cell(step.out), cell(step.a), cell(step.b), step.salt, cell_words, {}};
    constexpr std::size_t plain_size = 40;
    aclrtLaunchKernelAttr attribute = {};
    attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    attribute.value.timeout = 100;
    aclrtLaunchKernelCfg attributes = {&attribute, 1};
    const void* block = argument_blocks_ + static_cast<std::size_t>(step.object) * argument_size;
    switch (static_cast<Way>(step.way)) {
        case Way::placeholder: {
            for (std::uint32_t i = 0; i < 8; ++i) arguments.table[i] = step.salt * (i + 1);
            aclrtPlaceHolderInfo holder = {16, plain_size};
            return MUST(aclrtLaunchKernelWithHostArgs(kernels_.mix_table, step.blocks, stream, nullptr, &arguments,
                                                      sizeof(arguments), &holder, 1));
        }
        case Way::argument_list: {
            aclrtArgsHandle list = nullptr;
            aclrtParamHandle place = nullptr;
            MUST(aclrtKernelArgsInit(kernels_.mix, &list));
            for (std::uint32_t** pointer : {&arguments.out, &arguments.a, &arguments.b})
                MUST(aclrtKernelArgsAppend(list, pointer, 8, &place));
            for (std::uint64_t* value : {&arguments.salt, &arguments.words})
                MUST(aclrtKernelArgsAppend(list, value, 4, &place));
            MUST(aclrtKernelArgsFinalize(list));
            return MUST(aclrtLaunchKernelWithConfig(kernels_.mix, step.blocks, stream, nullptr, list, nullptr));
        }
        case Way::argument_array: {
            void* values[] = {&arguments.out, &arguments.a, &arguments.b, &arguments.salt, &arguments.words};
            return MUST(aclrtLaunchKernelWithArgsArray(kernels_.mix, step.blocks, stream, nullptr, values));
        }
        case Way::device_arguments:
            if (step.object % 2 == 0)
                return MUST(aclrtLaunchKernel(kernels_.mix, step.blocks, block, plain_size, stream));
            return MUST(aclrtLaunchKernelV2(kernels_.mix, step.blocks, block, plain_size, &attributes, stream));
        case Way::with_attributes:
            return MUST(aclrtLaunchKernelWithHostArgs(kernels_.mix, step.blocks, stream, &attributes, &arguments,
                                                      plain_size, nullptr, 0));
        default:
            return MUST(aclrtLaunchKernelWithHostArgs(kernels_.mix, step.blocks, stream, nullptr, &arguments,
                                                      plain_size, nullptr, 0));
    }
}

void World::copy(const Step& step, aclrtStream stream) {
    const aclrtMemcpyKind kind = step.out >= device_cells ? ACL_MEMCPY_DEVICE_TO_HOST
                                 : step.a >= device_cells ? ACL_MEMCPY_HOST_TO_DEVICE
                                                          : ACL_MEMCPY_DEVICE_TO_DEVICE;
    MUST(aclrtMemcpyAsync(cell(step.out), cell_bytes, cell(step.a), cell_bytes, kind, stream));
}

void World::copy_rows(const Step& step, aclrtStream stream) {
    constexpr std::size_t width = 16, pitch = 32;
    MUST(aclrtMemcpy2dAsync(cell(step.out), pitch, cell(step.a), pitch, width, cell_bytes / pitch,
                            ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

void World::reduce(const Step& step, aclrtStream stream) {
    const aclrtReduceKind kinds[] = {ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
                                     ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN};
    const aclDataType types[] = {ACL_INT32, ACL_INT16};
    if (step.out == step.a)
        return launch(kernels_.mix, 1, stream, cell(step.out), cell(step.a), cell(step.a), 1u, cell_words);
    MUST(aclrtReduceAsync(cell(step.out), cell(step.a), cell_bytes, kinds[step.way % 3], types[step.way % 2], stream,
                          nullptr));
}

void World::random_numbers(const Step& step, aclrtStream stream) {
    aclrtRandomNumTaskInfo task = {};
    task.dataType = ACL_FLOAT;
    task.randomNumFuncParaInfo.funcType =
        step.way == 0 ? ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS : ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
    if (step.way == 0)
        task.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {parameter(-1.0f), parameter(3.0f)};
    else
        task.randomNumFuncParaInfo.paramInfo.normalDisInfo = {parameter(0.0f), parameter(1.0f)};
    task.randomResultAddr = cell(step.out);
    task.randomCounterAddr = cell(step.a);
    task.randomSeed = parameter(std::uint64_t{step.salt});
    task.randomNum = parameter(std::uint64_t{cell_words / 2});
    MUST(aclrtRandomNumAsync(&task, stream, nullptr));
}

void World::use_pool(const Step& step, aclrtStream stream) {
    void* block = nullptr;
    MUST(aclrtMemPoolMallocAsync(&block, 4096, pool_, stream));
    launch(kernels_.spread, 3, stream, block, cell(step.a), step.salt, cell_words);
    launch(kernels_.mix, 2, stream, cell(step.out), block, block, step.salt, cell_words);
    MUST(aclrtMemPoolFreeAsync(block, stream));
}

void World::signal(const Step& step, aclrtStream stream) {
    const auto object = static_cast<std::size_t>(step.object);
    if (step.way == 0) return MUST(aclrtRecordNotify(notifies_[object], stream));
    if (step.way == 2) return MUST(aclrtValueWrite(words_ + object, object + 1, 0, stream));
    const aclrtCntNotifyRecordMode modes[] = {ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE,
                                              ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE};
    aclrtCntNotifyRecordInfo info = {modes[object % 3], 5};
    MUST(aclrtCntNotifyRecord(counters_[object], stream, &info));
}

// Resets the object to its state before the signal.
void World::await(const Step& step, aclrtStream stream) {
    const auto object = static_cast<std::size_t>(step.object);
    if (step.way == 0) return MUST(aclrtWaitAndResetNotify(notifies_[object], stream, 0));
    if (step.way == 2) {
        MUST(aclrtValueWait(words_ + object, object + 1, static_cast<std::uint32_t>(object % 2), stream));
        return MUST(aclrtValueWrite(words_ + object, 0, 0, stream));
    }
    const aclrtCntNotifyWaitMode modes[] = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE,
                                            ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE,
                                            ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE};
    aclrtCntNotifyWaitInfo info = {};
    info.mode = modes[object % 3];
    info.value = 5;
    info.isClear = object % 2 == 0;
    MUST(aclrtCntNotifyWaitWithTimeout(counters_[object], stream, &info));
    if (!info.isClear) MUST(aclrtCntNotifyReset(counters_[object], stream));
}

void World::outside_flag(const Step& step, aclrtStream stream) {
    MUST(aclrtStreamWaitEvent(stream, flag_event_));
    MUST(aclrtResetEvent(flag_event_, stream));
    launch(kernels_.mix, 1, stream, cell(step.out), extra(flag_cell), extra(flag_cell), step.salt, cell_words);
}

void World::capture_condition(const Step& step, aclrtStream stream) {
    aclmdlRICaptureStatus status;
    aclmdlRI model = nullptr;
    aclmdlRICondHandle handle = nullptr;
    std::uint64_t* selector = nullptr;
    MUST(aclmdlRICaptureGetInfo(stream, &status, &model));
    const auto flag = static_cast<aclmdlRICondHandleFlag>(step.assigns_default ? 1 : 0);
    MUST(aclmdlRICondHandleCreate(model, step.default_value, flag, &handle));
    MUST(aclmdlRICondHandleGetCondPtr(handle, &selector));
    if (step.selects) launch(kernels_.select_from, 1, stream, selector, cell(step.a), step.modulo);
    std::vector<aclmdlRI> bodies(step.bodies.size());
    MUST(aclmdlRIAddCondTask({handle, static_cast<aclmdlRICondTaskType>(step.condition),
                              static_cast<std::uint32_t>(bodies.size()), bodies.data()},
                             stream, 0));
    const aclrtStream body_stream = streams_[static_cast<std::size_t>(step.body_stream)];
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        MUST(aclmdlRICaptureToModelRIBegin(body_stream, bodies[i], mode_));
        issue(step.bodies[i]);
        if (step.condition == Condition::loop) launch(kernels_.count_down, 1, body_stream, selector);
        aclmdlRI ended = nullptr;
        MUST(aclmdlRICaptureEnd(body_stream, &ended));
    }
}

void World::run_condition(const Step& step, aclrtStream stream) {
    std::uint64_t* selector = selectors_ + step.object;
    std::uint64_t value = 0;
    if (step.selects) launch(kernels_.select_from, 1, stream, selector, cell(step.a), step.modulo);
    const aclrtStream body_stream = streams_[static_cast<std::size_t>(step.body_stream)];
    MUST(aclrtSynchronizeStream(stream));
    const auto run_body = [&](std::size_t body) {
        if (body >= step.bodies.size()) return;
        issue(step.bodies[body]);
        if (step.condition == Condition::loop) launch(kernels_.count_down, 1, body_stream, selector);
        MUST(aclrtSynchronizeStream(body_stream));
    };
    const auto read = [&] { MUST(aclrtMemcpy(&value, 8, selector, 8, ACL_MEMCPY_DEVICE_TO_HOST)); };
    read();
    switch (step.condition) {
        case Condition::branch:
            return run_body(value != 0 ? 0 : 1);
        case Condition::choice:
            return run_body(value);
        case Condition::loop:
            for (; value != 0; read()) run_body(0);
    }
}

}  // namespace graphs
