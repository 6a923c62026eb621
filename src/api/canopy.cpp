// SPDX-License-Identifier: Apache-2.0
// Introspection: settings, devices, live objects, and queues.
#include "canopy/canopy.h"

#include <string>

#include "api/api.h"
#include "core/memory/memory.h"
#include "core/process/runtime.h"
#include "core/queue/queue.h"
#include "core/stream/capture_rules.h"

using namespace canopy;

extern "C" {

const char* canopyDescribe(void) {
    thread_local std::string text;
    const int code = api([&]() -> Status {
        text = describe_settings(Runtime::instance().settings());
        return {};
    });
    return code == 0 ? text.c_str() : "{}";
}

const uint32_t* canopyCapturesInProgress(void) {
    static_assert(sizeof captures_under_way == sizeof(uint32_t) && decltype(captures_under_way)::is_always_lock_free);
    return reinterpret_cast<const uint32_t*>(&captures_under_way);
}

void canopyCountLiveObjects(CanopyLiveObjects* live) {
    if (live == nullptr) return;
    Runtime& runtime = Runtime::instance();
    *live = {};
    live->contexts = runtime.contexts.live();
    live->streams = runtime.streams.live();
    live->events = runtime.events.live();
    live->notifies = runtime.notifies.live() + runtime.counting_notifies.live();
    live->binaries = runtime.binaries.live();
    live->functions = runtime.functions.live();
    live->arguments = runtime.arguments.live();
    const LiveMemory memory = count_live_memory();
    const std::size_t graphs = runtime.graphs.live() + runtime.tasks.live() + runtime.task_groups.live() +
                               runtime.conditions.live() + runtime.labels.live() + runtime.label_lists.live();
    live->other = memory.objects + runtime.data_buffers.live() + runtime.source_programs.live() + graphs;
    live->host_bytes = memory.host_bytes;
    for (std::uint32_t index = 0; index < runtime.device_count(); ++index) {
        auto record = runtime.device(index);
        if (!record.ok() || (*record)->opened() == nullptr) continue;
        const MemoryUsage usage = (*record)->opened()->memory_usage();
        live->device_bytes += usage.total - usage.free;
    }
}

int canopyCountQueueItems(uint32_t queue, uint32_t* items) {
    return api([&]() -> Status {
        CANOPY_TRY(required(items, "items"));
        Result<Pin<DataQueue>> found = find_queue(queue);
        if (!found.ok()) return found.status();
        *items = (*found)->ring->count();
        return {};
    });
}

}  // extern "C"
