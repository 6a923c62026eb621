// SPDX-License-Identifier: Apache-2.0
// What processes do when they are killed. An operation that fails ends its process, which the test reports.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "victim.h"

std::string hex(const aclrtIpcEventHandle& handle) {
    std::string text;
    for (const char byte : handle.reserved) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
        text += two;
    }
    return text;
}

namespace {

constexpr std::size_t block_size = 64 << 10, physical_size = 2 << 20, large_item = 128 << 10;
constexpr std::uint32_t all_rights = 7;

void must(int code, const char* call, int line) {
    if (code == 0) return;
    std::fprintf(stderr, "operations.cpp:%d: %s returned %d: %s\n", line, call, code, aclGetRecentErrMsg());
    std::_Exit(8);
}
#define MUST(call) must((call), #call, __LINE__)

// Everything that operations need; a process performs one of them.
struct State {
    std::string key;
    std::uint64_t number = 0;
    std::uint32_t source = 0, target = 0;
    aclrtStream stream = nullptr;
    void* address = nullptr;
    aclrtNotify notify = nullptr, other_notify = nullptr;
    aclrtEvent event = nullptr, other_event = nullptr;
    aclrtDrvMemHandle handle = nullptr;
    acltdtQueueRouteList* routes = nullptr;
    std::uint64_t next = 0;
};

aclrtIpcEventHandle unhex(const std::string& text) {
    aclrtIpcEventHandle handle{};
    for (std::size_t i = 0; i < sizeof handle.reserved && 2 * i + 1 < text.size(); ++i)
        handle.reserved[i] = static_cast<char>(std::strtoul(text.substr(2 * i, 2).c_str(), nullptr, 16));
    return handle;
}

void* allocate(std::size_t size, int value) {
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_NORMAL_ONLY));
    MUST(aclrtMemset(memory, size, value, size));
    return memory;
}
std::string export_block(void* memory) {
    char key[65] = {};
    MUST(aclrtIpcMemGetExportKey(memory, block_size, key, sizeof key, 1));
    return key;
}
std::string export_notify(aclrtNotify notify) {
    char key[65] = {};
    MUST(aclrtNotifyGetExportKey(notify, key, sizeof key, 2));
    return key;
}
std::string export_event(aclrtEvent event) {
    aclrtIpcEventHandle handle{};
    MUST(aclrtIpcGetEventHandle(event, &handle));
    return hex(handle);
}

std::uint32_t make_queue(std::uint32_t depth) {
    acltdtQueueAttr* attr = acltdtCreateQueueAttr();
    std::uint32_t queue = 0;
    MUST(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
    MUST(acltdtCreateQueue(attr, &queue));
    MUST(acltdtDestroyQueueAttr(attr));
    return queue;
}
void attach(std::uint32_t queue) {
    std::uint32_t rights = 0;
    MUST(acltdtAttachQueue(queue, 30000, &rights));
}
void enqueue_data(std::uint32_t queue, std::uint64_t value, std::size_t size) {
    std::vector<std::uint64_t> words(size / sizeof value, value);
    MUST(acltdtEnqueueData(queue, words.data(), size, nullptr, 0, -1, 0));
}
acltdtBuf filled_buffer(std::uint64_t value) {
    acltdtBuf buffer = nullptr;
    void* data = nullptr;
    std::size_t capacity = 0;
    MUST(acltdtAllocBuf(large_item, ACL_TDT_NORMAL_MEM, &buffer));
    MUST(acltdtGetBufData(buffer, &data, &capacity));
    for (std::size_t at = 0; at < large_item; at += 4096)
        std::memcpy(static_cast<char*>(data) + at, &value, sizeof value);
    MUST(acltdtSetBufDataLen(buffer, large_item));
    return buffer;
}
std::uint64_t value_in(acltdtBuf buffer) {
    void* data = nullptr;
    std::size_t capacity = 0;
    std::uint64_t value = 0;
    MUST(acltdtGetBufData(buffer, &data, &capacity));
    std::memcpy(&value, data, sizeof value);
    return value;
}
// A reader that is alone gets every number, and each once.
void expect_next(State& state, std::uint64_t value) {
    if (state.next != 0 && value != state.next) {
        std::fprintf(stderr, "item %lu came instead of %lu\n", value, state.next);
        std::_Exit(7);
    }
    state.next = value + 1;
}

using Prepare = std::function<std::string(State&, std::istringstream&)>;
using Step = std::function<void(State&)>;

std::function<Operation()> operation(Prepare prepare, Step act, Step undo) {
    return [=] {
        auto state = std::make_shared<State>();
        return Operation{[=](const std::string& argument) {
                             std::istringstream words(argument);
                             MUST(aclrtCreateStream(&state->stream));
                             return prepare(*state, words);
                         },
                         [=] { act(*state); }, [=] { undo(*state); }};
    };
}

void nothing(State&) {}
std::string take_key(State& state, std::istringstream& words) {
    words >> state.key;
    return {};
}
std::string take_number(State& state, std::istringstream& words) {
    words >> state.number;
    return {};
}

// ---- memory ---------------------------------------------------------------------------------------------------------

void import_memory(State& state) { MUST(aclrtIpcMemImportByKey(&state.address, state.key.c_str(), 0)); }
void close_memory(State& state) { MUST(aclrtIpcMemClose(state.key.c_str())); }
void import_handle(State& state) { MUST(aclrtMemImportFromShareableHandle(state.number, 0, &state.handle)); }
void free_handle(State& state) { MUST(aclrtFreePhysical(state.handle)); }
void map_handle(State& state) {
    MUST(aclrtReserveMemAddress(&state.address, physical_size, 0, nullptr, 0));
    MUST(aclrtMapMem(state.address, physical_size, 0, state.handle, 0));
    aclrtMemAccessDesc access{};
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    MUST(aclrtMemSetAccess(state.address, physical_size, &access, 1));
}
void unmap_handle(State& state) {
    MUST(aclrtUnmapMem(state.address));
    MUST(aclrtReleaseMemAddress(state.address));
}
std::string own_block(State& state, std::istringstream&) {
    state.address = allocate(block_size, 9);
    return export_block(state.address);
}

// ---- notifies and events --------------------------------------------------------------------------------------------

void import_notify(State& state) { MUST(aclrtNotifyImportByKey(&state.notify, state.key.c_str(), 0)); }
void destroy_notify(State& state) { MUST(aclrtDestroyNotify(state.notify)); }
std::string imported_notify(State& state, std::istringstream& words) {
    words >> state.key;
    import_notify(state);
    return {};
}
std::string own_notify(State& state, std::istringstream&) {
    MUST(aclrtCreateNotify(&state.notify, 0));
    return export_notify(state.notify);
}
void record_notify(State& state) {
    MUST(aclrtRecordNotify(state.notify, state.stream));
    MUST(aclrtSynchronizeStream(state.stream));
}
void wait_notify(State& state) {
    MUST(aclrtWaitAndResetNotify(state.notify, state.stream, 0));
    MUST(aclrtSynchronizeStream(state.stream));
}
void another_notify(State& state) {
    MUST(aclrtCreateNotify(&state.other_notify, 0));
    export_notify(state.other_notify);
}
void open_event(State& state) { MUST(aclrtIpcOpenEventHandle(unhex(state.key), &state.event)); }
void destroy_event(State& state) { MUST(aclrtDestroyEvent(state.event)); }
std::string opened_event(State& state, std::istringstream& words) {
    words >> state.key;
    open_event(state);
    return {};
}
std::string own_event(State& state, std::istringstream&) {
    MUST(aclrtCreateEventExWithFlag(&state.event, ACL_EVENT_IPC));
    return export_event(state.event);
}
// Recorded, and not reached for ever.
std::string own_pending_event(State& state, std::istringstream& words) {
    const std::string handle = own_event(state, words);
    MUST(aclrtCreateNotify(&state.notify, 0));
    MUST(aclrtWaitAndResetNotify(state.notify, state.stream, 0));
    MUST(aclrtRecordEvent(state.event, state.stream));
    return handle;
}
void record_event(State& state) {
    MUST(aclrtRecordEvent(state.event, state.stream));
    MUST(aclrtSynchronizeStream(state.stream));
}
void wait_event(State& state) {
    MUST(aclrtStreamWaitEvent(state.stream, state.event));
    MUST(aclrtSynchronizeStream(state.stream));
}
void another_event(State& state) {
    MUST(aclrtCreateEventExWithFlag(&state.other_event, ACL_EVENT_IPC));
    export_event(state.other_event);
}

// ---- queues ---------------------------------------------------------------------------------------------------------

std::string take_queue(State& state, std::istringstream& words) {
    words >> state.source >> state.next;
    return {};
}
std::string attached(State& state, std::istringstream& words) {
    take_queue(state, words);
    attach(state.source);
    return {};
}
std::string attached_to_two(State& state, std::istringstream& words) {
    words >> state.source >> state.target;
    attach(state.source);
    attach(state.target);
    state.routes = acltdtCreateQueueRouteList();
    acltdtQueueRoute* route = acltdtCreateQueueRoute(state.source, state.target);
    MUST(acltdtAddQueueRoute(state.routes, route));
    return {};
}
void put_small(State& state) { enqueue_data(state.source, state.next++, sizeof(std::uint64_t)); }
void put_large(State& state) { enqueue_data(state.source, state.next++, large_item); }
void put_buffer(State& state) { MUST(acltdtEnqueue(state.source, filled_buffer(state.next++), -1)); }
// A chain of three, one of them a second header on the same data.
void put_chain(State& state) {
    const acltdtBuf head = filled_buffer(state.next++), part = filled_buffer(0);
    acltdtBuf reference = nullptr;
    MUST(acltdtCopyBufRef(head, &reference));
    MUST(acltdtAppendBufChain(head, part));
    MUST(acltdtAppendBufChain(head, reference));
    MUST(acltdtEnqueue(state.source, head, -1));
}
void take_small(State& state) {
    std::uint64_t value = 0;
    std::size_t size = 0;
    MUST(acltdtDequeueData(state.source, &value, sizeof value, &size, nullptr, 0, -1));
    expect_next(state, value);
}
void take_large(State& state) {
    std::vector<std::uint64_t> words(large_item / sizeof(std::uint64_t));
    std::size_t size = 0;
    MUST(acltdtDequeueData(state.source, words.data(), large_item, &size, nullptr, 0, -1));
    expect_next(state, words[0]);
}
void take_buffer(State& state) {
    acltdtBuf buffer = nullptr;
    MUST(acltdtDequeue(state.source, &buffer, -1));
    expect_next(state, value_in(buffer));
    MUST(acltdtFreeBuf(buffer));
}
// From one queue into the other, by a second header.
void pass_reference(State& state) {
    acltdtBuf buffer = nullptr, reference = nullptr;
    MUST(acltdtDequeue(state.source, &buffer, -1));
    MUST(acltdtCopyBufRef(buffer, &reference));
    MUST(acltdtEnqueue(state.target, reference, -1));
    MUST(acltdtFreeBuf(buffer));
}
void bind_route(State& state) { MUST(acltdtBindQueueRoutes(state.routes)); }
void unbind_route(State& state) { MUST(acltdtUnbindQueueRoutes(state.routes)); }
std::string bound(State& state, std::istringstream& words) {
    attached_to_two(state, words);
    bind_route(state);
    return {};
}
std::string own_queue(State& state, std::istringstream& words) {
    std::int32_t survivor = 0;
    words >> survivor;
    state.source = make_queue(8);
    state.next = 1;
    put_small(state);
    put_buffer(state);
    MUST(acltdtGrantQueue(state.source, survivor, all_rights, 0));
    state.number = static_cast<std::uint64_t>(survivor);
    return std::to_string(state.source);
}
void grant_another(State& state) {
    state.target = make_queue(8);
    MUST(acltdtGrantQueue(state.target, static_cast<std::int32_t>(state.number), all_rights, 0));
    MUST(acltdtGrantQueue(state.source, static_cast<std::int32_t>(state.number), all_rights, 0));
}
void destroy_another(State& state) { MUST(acltdtDestroyQueue(state.target)); }
void destroy_queue(State& state) { MUST(acltdtDestroyQueue(state.source)); }
void make_queue_again(State& state) { state.source = make_queue(8); }

void use_channel(State& state) {
    acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "survive", 2);
    acltdtDataset *sent = acltdtCreateDataset(), *received = acltdtCreateDataset();
    const std::int64_t dims[1] = {8};
    acltdtDataItem* item =
        acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_UINT8, &state.next, sizeof state.next);
    MUST(acltdtAddDataItem(sent, item));
    MUST(acltdtSendTensor(channel, sent, 0));
    MUST(acltdtReceiveTensor(channel, received, 0));
    MUST(acltdtDestroyDataset(received));
    MUST(acltdtDestroyDataset(sent));
    MUST(acltdtDestroyDataItem(item));
    MUST(acltdtDestroyChannel(channel));
}

}  // namespace

const std::map<std::string, std::function<Operation()>>& operations() {
    static const std::map<std::string, std::function<Operation()>> all{
        {"import", operation(take_key, import_memory, close_memory)},
        {"close", operation(
                      [](State& state, std::istringstream& words) {
                          take_key(state, words);
                          import_memory(state);
                          return std::string();
                      },
                      close_memory, import_memory)},
        {"import_handle", operation(take_number, import_handle, free_handle)},
        {"map_handle", operation(
                           [](State& state, std::istringstream& words) {
                               take_number(state, words);
                               import_handle(state);
                               return std::string();
                           },
                           map_handle, unmap_handle)},
        {"export", operation(
                       own_block,
                       [](State& state) {
                           void* memory = allocate(block_size, 1);
                           state.key = export_block(memory);
                           MUST(aclrtFree(memory));
                       },
                       nothing)},
        {"free", operation(
                     own_block, [](State& state) { MUST(aclrtFree(state.address)); },
                     [](State& state) {
                         state.address = allocate(block_size, 8);
                         export_block(state.address);
                     })},
        {"import_notify", operation(take_key, import_notify, destroy_notify)},
        {"record_notify", operation(imported_notify, record_notify, nothing)},
        {"wait_notify", operation(imported_notify, wait_notify, record_notify)},
        {"export_notify",
         operation(own_notify, another_notify, [](State& state) { MUST(aclrtDestroyNotify(state.other_notify)); })},
        {"record_own_notify", operation(own_notify, record_notify, nothing)},
        {"open_event", operation(take_key, open_event, destroy_event)},
        {"record_event", operation(opened_event, record_event, nothing)},
        {"wait_event", operation(opened_event, wait_event, nothing)},
        {"export_event",
         operation(own_pending_event, another_event, [](State& state) { MUST(aclrtDestroyEvent(state.other_event)); })},
        {"record_own_event", operation(own_event, record_event, nothing)},
        {"attach", operation(
                       take_queue, [](State& state) { attach(state.source); }, nothing)},
        {"put_small", operation(attached, put_small, nothing)},
        {"put_large", operation(attached, put_large, nothing)},
        {"put_buffer", operation(attached, put_buffer, nothing)},
        {"put_chain", operation(attached, put_chain, nothing)},
        {"take_small", operation(attached, take_small, nothing)},
        {"take_large", operation(attached, take_large, nothing)},
        {"take_buffer", operation(attached, take_buffer, nothing)},
        {"pass_reference", operation(attached_to_two, pass_reference, nothing)},
        {"bind", operation(attached_to_two, bind_route, unbind_route)},
        {"unbind", operation(bound, unbind_route, bind_route)},
        {"grant", operation(own_queue, grant_another, destroy_another)},
        {"destroy", operation(own_queue, destroy_queue, make_queue_again)},
        {"channel", operation([](State&, std::istringstream&) { return std::string(); }, use_channel, nothing)},
    };
    return all;
}
