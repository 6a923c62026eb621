// SPDX-License-Identifier: Apache-2.0
// Buffers that travel through queues. The older aclrt*Buf functions are the same without a kind of memory.
#include <algorithm>
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/acl_tdt_queue.h"
#include "api/api.h"
#include "core/queue/buffers.h"

using namespace canopy;

namespace {

// The body gets a Buffer.
template <class Body>
int with_buffer(std::initializer_list<CallersMemory> memory, const void* buf, const char* name, Body&& body,
                const char* function = __builtin_FUNCTION()) noexcept {
    return api_for_kernels(
        memory,
        [&]() -> Status {
            CANOPY_TRY(required(buf, name));
            PoolUse use;
            Result<Buffer> buffer = find_buffer(handle_of(buf));
            if (!buffer.ok()) return buffer.status();
            return body(*buffer);
        },
        function);
}

Status check_user_area(const void* buf, const void* data, std::size_t size, std::size_t offset) {
    if (offset > user_area_size || size > user_area_size - offset)
        return fail(code::invalid_parameter, "{} bytes at {} are not within the {} bytes of the user area", size,
                    offset, user_area_size);
    CANOPY_TRY(required(buf, "buf"));
    return required(data, "dataPtr");
}

}  // namespace

aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf* buf) {
    return api_for_kernels({written_to(buf)}, [&]() -> Status {
        CANOPY_TRY(required(buf, "buf"));
        if (size == 0 || size > max_buffer_size)
            return fail(code::invalid_parameter, "size {} is not from 1 to {}", size, max_buffer_size);
        if (type != ACL_TDT_NORMAL_MEM && type != ACL_TDT_DVPP_MEM)
            return fail(code::invalid_parameter, "type {} is neither 0 (normal) nor 1 (dvpp)", type);
        PoolUse use;
        Result<Buffer> buffer = allocate_buffer(size);
        if (!buffer.ok()) return buffer.status();
        *buf = opaque_of(buffer->handle());
        return {};
    });
}

aclError acltdtFreeBuf(acltdtBuf buf) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(buf, "buf"));
        PoolUse use;
        Result<Buffer> buffer = find_whole_buffer(handle_of(buf));
        return buffer.ok() ? free_buffer(*buffer) : buffer.status();
    });
}

aclError acltdtGetBufData(const acltdtBuf buf, void** dataPtr, size_t* size) {
    return with_buffer({written_to(dataPtr), written_to(size)}, buf, "buf", [&](Buffer& buffer) -> Status {
        CANOPY_TRY(required(dataPtr, "dataPtr"));
        CANOPY_TRY(required(size, "size"));
        const auto view = buffer.pool->view(buffer.header);
        if (!view) return fail(code::internal, "another process damaged the buffer");
        *dataPtr = view->data;
        *size = view->capacity;
        return {};
    });
}

aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len) {
    return with_buffer({}, buf, "buf", [&](Buffer& buffer) -> Status {
        const auto view = buffer.pool->view(buffer.header);
        if (!view) return fail(code::internal, "another process damaged the buffer");
        if (len > view->capacity)
            return fail(code::param_invalid, "len {} is more than the capacity of {} bytes", len, view->capacity);
        buffer.pool->set_length(buffer.header, len);
        return {};
    });
}

aclError acltdtGetBufDataLen(acltdtBuf buf, size_t* len) {
    return with_buffer({written_to(len)}, buf, "buf", [&](Buffer& buffer) -> Status {
        CANOPY_TRY(required(len, "len"));
        const auto view = buffer.pool->view(buffer.header);
        if (!view) return fail(code::internal, "another process damaged the buffer");
        *len = view->length;
        return {};
    });
}

aclError acltdtSetBufUserData(acltdtBuf buf, const void* dataPtr, size_t size, size_t offset) {
    return api_for_kernels({read_from(dataPtr, std::min(size, std::size_t{user_area_size}))}, [&]() -> Status {
        CANOPY_TRY(check_user_area(buf, dataPtr, size, offset));
        PoolUse use;
        Result<Buffer> buffer = find_buffer(handle_of(buf));
        if (!buffer.ok()) return buffer.status();
        std::memcpy(buffer->pool->user_area(buffer->header) + offset, dataPtr, size);
        return {};
    });
}

aclError acltdtGetBufUserData(const acltdtBuf buf, void* dataPtr, size_t size, size_t offset) {
    return api_for_kernels({written_to(dataPtr, std::min(size, std::size_t{user_area_size}))}, [&]() -> Status {
        CANOPY_TRY(check_user_area(buf, dataPtr, size, offset));
        PoolUse use;
        Result<Buffer> buffer = find_buffer(handle_of(buf));
        if (!buffer.ok()) return buffer.status();
        std::memcpy(dataPtr, buffer->pool->user_area(buffer->header) + offset, size);
        return {};
    });
}

aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf* newBuf) {
    return with_buffer({written_to(newBuf)}, buf, "buf", [&](Buffer& buffer) -> Status {
        CANOPY_TRY(required(newBuf, "newBuf"));
        Result<Buffer> reference = reference_buffer(buffer);
        if (!reference.ok()) return reference.status();
        *newBuf = opaque_of(reference->handle());
        return {};
    });
}

aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(headBuf, "headBuf"));
        CANOPY_TRY(required(buf, "buf"));
        PoolUse use;
        Result<Buffer> head = find_whole_buffer(handle_of(headBuf));
        if (!head.ok()) return head.status();
        Result<Buffer> buffer = find_whole_buffer(handle_of(buf));
        if (!buffer.ok()) return buffer.status();
        if (headBuf == buf) return fail(code::param_invalid, "a buffer cannot be appended to itself");
        return append_to_chain(*head, *buffer);
    });
}

aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t* num) {
    return with_buffer({written_to(num)}, headBuf, "headBuf", [&](Buffer& head) -> Status {
        CANOPY_TRY(required(num, "num"));
        *num = static_cast<uint32_t>(chain_of(head).size());
        return {};
    });
}

aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf* buf) {
    return with_buffer({written_to(buf)}, headBuf, "headBuf", [&](Buffer& head) -> Status {
        CANOPY_TRY(required(buf, "buf"));
        const std::vector<Buffer> chain = chain_of(head);
        if (index >= chain.size())
            return fail(code::param_invalid, "index {} is not below the {} buffers of the chain", index, chain.size());
        *buf = opaque_of(chain[index].handle());
        return {};
    });
}

aclError aclrtAllocBuf(aclrtMbuf* buf, size_t size) { return acltdtAllocBuf(size, ACL_TDT_NORMAL_MEM, buf); }
aclError aclrtFreeBuf(aclrtMbuf buf) { return acltdtFreeBuf(buf); }
aclError aclrtGetBufData(const aclrtMbuf buf, void** dataPtr, size_t* size) {
    return acltdtGetBufData(buf, dataPtr, size);
}
aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len) { return acltdtSetBufDataLen(buf, len); }
aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t* len) { return acltdtGetBufDataLen(buf, len); }
aclError aclrtSetBufUserData(aclrtMbuf buf, const void* dataPtr, size_t size, size_t offset) {
    return acltdtSetBufUserData(buf, dataPtr, size, offset);
}
aclError aclrtGetBufUserData(const aclrtMbuf buf, void* dataPtr, size_t size, size_t offset) {
    return acltdtGetBufUserData(buf, dataPtr, size, offset);
}
aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf* newBuf) { return acltdtCopyBufRef(buf, newBuf); }
aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf) { return acltdtAppendBufChain(headBuf, buf); }
aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t* num) { return acltdtGetBufChainNum(headBuf, num); }
aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf* buf) {
    return acltdtGetBufFromChain(headBuf, index, buf);
}
