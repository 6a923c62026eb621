// SPDX-License-Identifier: Apache-2.0
// Data buffers.
#include "core/memory/data_buffer.h"
#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/process/runtime.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

HandleTable<DataBuffer>& data_buffers() { return Runtime::instance().data_buffers; }

Pin<DataBuffer> pin(const aclDataBuffer* buffer) { return data_buffers().pin(handle_of(buffer)); }

Status unknown(const aclDataBuffer* buffer) {
    return fail(code::invalid_parameter, "dataBuffer {} is not a data buffer, or was destroyed",
                static_cast<const void*>(buffer));
}

}  // namespace

extern "C" {

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
    Handle handle = 0;
    api([&]() -> Status {
        handle = data_buffers().open([&](DataBuffer& buffer, Handle) {
            SpinGuard guard(buffer.lock);
            buffer.address = device_address(data);
            buffer.size = size;
        });
        if (handle == 0) return fail(code::bad_alloc, "too many data buffers are alive");
        return {};
    });
    return static_cast<aclDataBuffer*>(opaque_of(handle));
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
    return api([&]() -> Status {
        CANOPY_TRY(required(dataBuffer, "dataBuffer"));
        return data_buffers().close(handle_of(dataBuffer)) ? Status() : unknown(dataBuffer);
    });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
    return api([&]() -> Status {
        CANOPY_TRY(required(dataBuffer, "dataBuffer"));
        const auto buffer = pin(dataBuffer);
        if (!buffer) return unknown(dataBuffer);
        SpinGuard guard(buffer->lock);
        buffer->address = device_address(data);
        buffer->size = size;
        return {};
    });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
    const auto buffer = pin(dataBuffer);
    if (!buffer) return nullptr;
    SpinGuard guard(buffer->lock);
    return opaque_pointer(buffer->address);
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
    const auto buffer = pin(dataBuffer);
    if (!buffer) return 0;
    SpinGuard guard(buffer->lock);
    return buffer->size;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
    return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

}  // extern "C"
