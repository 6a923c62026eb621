// SPDX-License-Identifier: Apache-2.0
// Data queues: attributes, creation, sharing, transfer.
#include <algorithm>
#include <cstring>

#include "acl/acl_tdt_queue.h"
#include "api/api.h"
#include "base/helper_process.h"
#include "base/process_state.h"
#include "core/process/context.h"
#include "core/process/runtime.h"
#include "core/queue/at_once.h"
#include "core/queue/queue.h"
#include "core/queue/queue_sharing.h"
#include "core/queue/transfer.h"
#include "record/recorder.h"

using namespace canopy;

namespace {

constexpr std::size_t max_queue_name = 127;

struct QueueAttributes {
    std::string name;
    const char* name_pointer = nullptr;  // what a program that asks for the name gets
    std::uint32_t depth = 8;
    void recycle() noexcept { *this = {}; }
};

HandleTable<QueueAttributes>& queue_attributes() {
    static auto& table = *new HandleTable<QueueAttributes>(HandleKind::queue_attribute);
    return table;
}

Result<Pin<QueueAttributes>> find_attributes(const acltdtQueueAttr* attr) {
    CANOPY_TRY(required(attr, "attr"));
    Pin<QueueAttributes> found = queue_attributes().pin(handle_of(attr));
    if (!found)
        return fail(code::invalid_parameter, "attr {} is not a set of queue attributes, or was destroyed",
                    as_address(attr));
    return found;
}

// -1 waits for ever, 0 not at all.
Result<Deadline> queue_deadline(std::int32_t timeout) {
    if (KernelThread* kernel = KernelThread::current(); kernel && timeout != 0) kernel->set_may_wait();
    if (timeout < -1) return fail(code::param_invalid, "timeout {} is less than -1", timeout);
    if (timeout == 0) return Deadline{0};
    return timeout == -1 ? Deadline::never() : Deadline::after(timeout * millisecond);
}

// Threads that run CPU kernels have no context, but run on a device that is open.
Status require_some_device() {
    if (thread_state.context != 0 || runs_cpu_kernels()) return {};
    Runtime& runtime = Runtime::instance();
    for (std::uint32_t i = 0; i < runtime.device_count(); ++i)
        if (Result<DeviceRecord*> record = runtime.device(i); record.ok() && (*record)->opened() != nullptr) return {};
    return require_context();
}

}  // namespace

acltdtQueueAttr* acltdtCreateQueueAttr(void) {
    Handle handle = 0;
    api_for_kernels({}, [&]() -> Status {
        handle = queue_attributes().open([](QueueAttributes&, Handle) {});
        return handle ? Status() : fail(code::bad_alloc, "too many sets of queue attributes are alive");
    });
    return static_cast<acltdtQueueAttr*>(opaque_of(handle));
}

aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr) {
    return api_for_kernels({}, [&]() -> Status {
        Result<Pin<QueueAttributes>> found = find_attributes(attr);
        if (!found.ok()) return found.status();
        queue_attributes().close(handle_of(attr));
        return {};
    });
}

aclError acltdtSetQueueAttr(acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len, const void* param) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(attr, "attr"));
        CANOPY_TRY(required(param, "param"));
        Result<Pin<QueueAttributes>> found = find_attributes(attr);
        if (!found.ok()) return found.status();
        QueueAttributes& attributes = **found;
        if (type == ACL_TDT_QUEUE_NAME_PTR) {
            const char* name = nullptr;
            if (len != sizeof name) return fail(code::invalid_parameter, "len {} is not the size of a pointer", len);
            std::memcpy(&name, param, sizeof name);
            CANOPY_TRY(required(name, "*param"));
            if (::strnlen(name, max_queue_name + 1) > max_queue_name)
                return fail(code::invalid_parameter, "a queue's name has at most {} characters", max_queue_name);
            attributes.name = name;
            return {};
        }
        if (type != ACL_TDT_QUEUE_DEPTH_UINT32)
            return fail(code::invalid_parameter, "type {} is not an attribute of a queue", static_cast<int>(type));
        if (len == 0 || len > sizeof attributes.depth)
            return fail(code::invalid_parameter, "len {} is not the size of a depth", len);
        std::uint32_t depth = 0;
        std::memcpy(&depth, param, len);
        attributes.depth = depth;
        return {};
    });
}

aclError acltdtGetQueueAttr(const acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len, size_t* paramRetSize,
                            void* param) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(attr, "attr"));
        CANOPY_TRY(required(param, "param"));
        CANOPY_TRY(required(paramRetSize, "paramRetSize"));
        Result<Pin<QueueAttributes>> found = find_attributes(attr);
        if (!found.ok()) return found.status();
        QueueAttributes& attributes = **found;
        const auto give = [&](const void* value, std::size_t size) -> Status {
            if (len < size) return fail(code::invalid_parameter, "len {} is less than the {} bytes needed", len, size);
            std::memcpy(param, value, size);
            *paramRetSize = size;
            return {};
        };
        if (type == ACL_TDT_QUEUE_NAME_PTR) {
            attributes.name_pointer = attributes.name.c_str();
            return give(&attributes.name_pointer, sizeof attributes.name_pointer);
        }
        if (type == ACL_TDT_QUEUE_DEPTH_UINT32) return give(&attributes.depth, sizeof attributes.depth);
        return fail(code::invalid_parameter, "type {} is not an attribute of a queue", static_cast<int>(type));
    });
}

aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* qid) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(attr, "attr"));
        CANOPY_TRY(required(qid, "qid"));
        Result<Pin<QueueAttributes>> found = find_attributes(attr);
        if (!found.ok()) return found.status();
        if (runs_cpu_kernels())
            return fail(code::not_supported,
                        "CPU kernels that run in a separate process cannot create queues: the program has to");
        if (KernelThread::current() == nullptr) {
            Result<Pin<Context>> context = current_context();
            if (!context.ok()) return context.status();
            // CPU kernels in a separate process attach to queues.
            if ((*context)->device->info().cpu_isolated) CANOPY_TRY(share_directory());
        }
        const std::uint32_t depth = (*found)->depth;
        if (depth < Ring::min_depth || depth > Ring::max_depth)
            return fail(code::param_invalid, "depth {} is not from {} to {}", depth, Ring::min_depth, Ring::max_depth);
        Result<std::uint32_t> number = create_queue((*found)->name, depth);
        if (!number.ok()) return number.status();
        *qid = *number;
        return {};
    });
}

aclError acltdtDestroyQueue(uint32_t qid) {
    return api_for_kernels({}, [&]() -> Status { return destroy_queue(qid); });
}

aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout) {
    return api_for_kernels({}, [&]() -> Status {
        if (permission == 0 || (permission & ~queue_right::all) != 0)
            return fail(code::invalid_parameter, "permission {:#x} is not one or more of manage, dequeue, enqueue",
                        permission);
        const Result<Deadline> deadline = queue_deadline(timeout);
        if (!deadline.ok()) return deadline.status();
        if (pid <= 0) return fail(code::param_invalid, "pid {} is not a process", pid);
        return grant_queue(qid, pid, permission);
    });
}

aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t* permission) {
    return api_for_kernels({written_to(permission)}, [&]() -> Status {
        CANOPY_TRY(required(permission, "permission"));
        Result<Deadline> deadline = queue_deadline(timeout);
        if (!deadline.ok()) return deadline.status();
        Result<std::uint32_t> rights = attach_queue(qid, *deadline);
        if (!rights.ok()) return rights.status();
        *permission = *rights;
        return {};
    });
}

aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(buf, "buf"));
        Result<Deadline> deadline = queue_deadline(timeout);
        if (!deadline.ok()) return deadline.status();
        CANOPY_TRY(reach_queue(qid));
        return enqueue_buffer(qid, handle_of(buf), *deadline);
    });
}

aclError acltdtDequeue(uint32_t qid, acltdtBuf* buf, int32_t timeout) {
    return api_for_kernels({written_to(buf)}, [&]() -> Status {
        CANOPY_TRY(required(buf, "buf"));
        Result<Deadline> deadline = queue_deadline(timeout);
        if (!deadline.ok()) return deadline.status();
        CANOPY_TRY(reach_queue(qid));
        Result<Handle> buffer = dequeue_buffer(qid, *deadline);
        if (!buffer.ok()) return buffer.status();
        *buf = opaque_of(*buffer);
        return {};
    });
}

namespace {

// Out of line, so that the quick way saves no registers.
[[gnu::noinline]] aclError enqueue_slowly(std::uint32_t qid, const void* data, std::size_t dataSize,
                                          const void* userData, std::size_t userDataSize, std::int32_t timeout) {
    return api_for_kernels(
        {read_from(data, dataSize), read_from(userData, userDataSize)},
        [&]() -> Status {
            CANOPY_TRY(required(data, "data"));
            if (dataSize == 0) return fail(code::invalid_parameter, "dataSize must not be 0");
            if (userDataSize != 0) CANOPY_TRY(required(userData, "userData"));
            if (userDataSize > user_area_size)
                return fail(code::param_invalid, "userDataSize {} is more than {}", userDataSize, user_area_size);
            if (dataSize > max_buffer_size)
                return fail(code::param_invalid, "dataSize {} is more than {}", dataSize, max_buffer_size);
            CANOPY_TRY(require_some_device());
            Result<Deadline> deadline = queue_deadline(timeout);
            if (!deadline.ok()) return deadline.status();
            CANOPY_TRY(reach_queue(qid));
            return enqueue_data(qid, {data, dataSize, userData, userDataSize}, *deadline);
        },
        "acltdtEnqueueData");
}

[[gnu::noinline]] aclError dequeue_slowly(std::uint32_t qid, void* data, std::size_t dataSize, std::size_t* retDataSize,
                                          void* userData, std::size_t userDataSize, std::int32_t timeout) {
    const std::size_t user_room = std::min(userDataSize, std::size_t{user_area_size});
    return api_for_kernels(
        {written_to(data, dataSize), written_to(retDataSize), written_to(userData, user_room)},
        [&]() -> Status {
            CANOPY_TRY(required(data, "data"));
            CANOPY_TRY(required(retDataSize, "retDataSize"));
            if (dataSize == 0) return fail(code::invalid_parameter, "dataSize must not be 0");
            if (userDataSize != 0) CANOPY_TRY(required(userData, "userData"));
            CANOPY_TRY(require_some_device());
            Result<Deadline> deadline = queue_deadline(timeout);
            if (!deadline.ok()) return deadline.status();
            CANOPY_TRY(reach_queue(qid));
            return dequeue_data(qid, {data, dataSize, userData, userDataSize}, *retDataSize, *deadline);
        },
        "acltdtDequeueData");
}

// Arguments that are in order, and nothing else to look after than the queue.
inline bool quick_way(const void* data, std::size_t size, const void* user, std::size_t user_size,
                      std::int32_t timeout) {
    return data != nullptr && size != 0 && (user != nullptr || user_size == 0) && timeout >= -1 &&
           thread_state.context != 0 && KernelThread::current() == nullptr && !record::wants(record::calls);
}

}  // namespace

aclError acltdtEnqueueData(uint32_t qid, const void* data, size_t dataSize, const void* userData, size_t userDataSize,
                           int32_t timeout, uint32_t) {
    if (quick_way(data, dataSize, userData, userDataSize, timeout) &&
        enqueue_at_once(qid, data, dataSize, userData, userDataSize) == AtOnce::done) [[likely]] {
        thread_state.function = __func__;
        return 0;
    }
    return enqueue_slowly(qid, data, dataSize, userData, userDataSize, timeout);
}

aclError acltdtDequeueData(uint32_t qid, void* data, size_t dataSize, size_t* retDataSize, void* userData,
                           size_t userDataSize, int32_t timeout) {
    if (retDataSize != nullptr && quick_way(data, dataSize, userData, userDataSize, timeout) &&
        dequeue_at_once(qid, data, dataSize, *retDataSize, userData, userDataSize) == AtOnce::done) [[likely]] {
        thread_state.function = __func__;
        return 0;
    }
    return dequeue_slowly(qid, data, dataSize, retDataSize, userData, userDataSize, timeout);
}
