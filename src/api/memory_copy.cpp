// SPDX-License-Identifier: Apache-2.0
// Entry points: copies and sets, on the calling thread and in streams.
#include <acl/acl_rt.h>

#include "api/api.h"
#include "core/kernel/program/symbols.h"
#include "core/memory/copy.h"
#include "core/memory/memory.h"
#include "core/process/context.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

constexpr size_t async_width_limit = 5'000'000, async_height_limit = 5'242'880;

Status check_pointers(const void* dst, const void* src) {
    CANOPY_TRY(required(dst, "dst"));
    return required(src, "src");
}

Status check_kind(aclrtMemcpyKind kind, int last) {
    const int number = static_cast<int>(kind);
    if (number < 0 || number > last) return fail(code::invalid_parameter, "kind {} is not allowed here", number);
    return {};
}

CopyKind copy_kind(aclrtMemcpyKind kind) { return static_cast<CopyKind>(kind); }

Copy copy_of(void* dst, size_t destMax, const void* src, size_t count) {
    return {device_address(dst), destMax, device_address(src), count};
}

RowCopy rows_of(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height) {
    return {device_address(dst), dpitch, device_address(src), spitch, width, height};
}

Status check_addresses(const Copy& request) {
    if (!request.destination) return fail_null("dst");
    return request.source ? Status() : fail_null("src");
}

Status copy(const Copy& request, aclrtMemcpyKind kind) {
    CANOPY_TRY(check_addresses(request));
    CANOPY_TRY(check_kind(kind, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE));
    if (request.count == 0) return {};
    return copy_now(request);
}

Status copy_async(const Copy& request, aclrtMemcpyKind kind, aclrtStream stream) {
    CANOPY_TRY(check_addresses(request));
    CANOPY_TRY(check_kind(kind, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE));
    if (request.count == 0) return {};
    return copy_in_stream(request, copy_kind(kind), stream);
}

Status check_rows(const RowCopy& rows) {
    if (rows.width > rows.destination_pitch)
        return fail(code::invalid_parameter, "width {} is larger than dpitch {}", rows.width, rows.destination_pitch);
    if (rows.width > rows.source_pitch)
        return fail(code::invalid_parameter, "width {} is larger than spitch {}", rows.width, rows.source_pitch);
    return {};
}

bool is_one_of(aclrtMemcpyKind kind, std::initializer_list<aclrtMemcpyKind> kinds) {
    for (aclrtMemcpyKind allowed : kinds)
        if (kind == allowed) return true;
    return false;
}

// Address and size of the part of a symbol that starts at `offset`.
Result<SymbolInfo> symbol_part(const void* symbol, size_t count, size_t offset) {
    CANOPY_TRY(required(symbol, "symbol"));
    Result<SymbolInfo> found = find_symbol(symbol);
    if (!found.ok()) return found;
    if (offset > found->size || count > found->size - offset)
        return fail(code::param_invalid, "offset {} and count {} reach past the {} bytes of the symbol", offset, count,
                    found->size);
    return SymbolInfo{found->address + offset, found->size - offset};
}

}  // namespace

extern "C" {

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
    return changing_api([&]() -> Status { return copy(copy_of(dst, destMax, src, count), kind); });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
    return changing_api([&]() -> Status { return copy_async(copy_of(dst, destMax, src, count), kind, stream); });
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                                       aclrtStream stream) {
    return changing_api([&]() -> Status { return copy_async(copy_of(dst, destMax, src, count), kind, stream); });
}

aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset, const void** src, size_t count,
                                    size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(check_pointers(dst, src));
        CANOPY_TRY(check_kind(kind, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE));
        if (count == 0) return fail(code::param_invalid, "count must not be 0");
        const IndirectCopy copy{device_address(dst), destMax, dstDataOffset, device_address(src), count, srcDataOffset};
        return copy_in_stream(copy, copy_kind(kind), stream);
    });
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize) {
    return api([&]() -> Status {
        CANOPY_TRY(required(descSize, "descSize"));
        CANOPY_TRY(check_kind(kind, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE));
        if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)
            return fail(code::not_supported, "kind {}: descriptors are for ACL_MEMCPY_INNER_DEVICE_TO_DEVICE only",
                        static_cast<int>(kind));
        *descSize = copy_descriptor_size;
        return {};
    });
}

aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr, size_t count,
                            void* config) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(desc, "desc"));
        CANOPY_TRY(required(srcAddr, "srcAddr"));
        CANOPY_TRY(required(dstAddr, "dstAddr"));
        CANOPY_TRY(check_kind(kind, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE));
        if (count == 0) return fail(code::invalid_parameter, "count must not be 0");
        if (config) return fail(code::invalid_parameter, "config must be null");
        if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)
            return fail(code::not_supported, "kind {}: descriptors are for ACL_MEMCPY_INNER_DEVICE_TO_DEVICE only",
                        static_cast<int>(kind));
        return write_copy_descriptor(device_address(desc), device_address(srcAddr), device_address(dstAddr), count);
    });
}

aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(desc, "desc"));
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(check_kind(kind, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE));
        if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)
            return fail(code::not_supported, "kind {}: descriptors are for ACL_MEMCPY_INNER_DEVICE_TO_DEVICE only",
                        static_cast<int>(kind));
        return copy_by_descriptor(device_address(desc), stream);
    });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(check_pointers(dst, src));
        if (!is_one_of(kind, {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEFAULT}))
            return fail(code::invalid_parameter, "kind {} is not allowed here", static_cast<int>(kind));
        const RowCopy rows = rows_of(dst, dpitch, src, spitch, width, height);
        CANOPY_TRY(check_rows(rows));
        if (width == 0 || height == 0) return {};
        return copy_now(rows);
    });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(check_pointers(dst, src));
        if (!is_one_of(kind, {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE,
                              ACL_MEMCPY_DEFAULT}))
            return fail(code::invalid_parameter, "kind {} is not allowed here", static_cast<int>(kind));
        const RowCopy rows = rows_of(dst, dpitch, src, spitch, width, height);
        CANOPY_TRY(check_rows(rows));
        if (width == 0 || height == 0) return {};
        if (width > async_width_limit)
            return fail(code::param_invalid, "width {} is larger than {}", width, async_width_limit);
        if (height > async_height_limit)
            return fail(code::param_invalid, "height {} is larger than {}", height, async_height_limit);
        return copy_in_stream(rows, stream);
    });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        if (count == 0) return {};
        return fill_now({device_address(devPtr), maxCount, static_cast<std::uint32_t>(value), count, 1});
    });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        if (count == 0) return {};
        return fill_in_stream({device_address(devPtr), maxCount, static_cast<std::uint32_t>(value), count, 1}, stream);
    });
}

aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        if (N == 0) return {};
        return fill_now({device_address(ptr), memSize, value, N, 4});
    });
}

aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        if (N == 0) return {};
        return fill_in_stream({device_address(ptr), memSize, value, N, 4}, stream);
    });
}

aclError aclrtGetSymbolAddress(const void* symbol, void** devPtr) {
    return api([&]() -> Status {
        CANOPY_TRY(required(symbol, "symbol"));
        CANOPY_TRY(required(devPtr, "devPtr"));
        CANOPY_TRY(require_context());
        Result<SymbolInfo> found = find_symbol(symbol);
        if (!found.ok()) return found.status();
        *devPtr = opaque_pointer(found->address);
        return {};
    });
}

aclError aclrtGetSymbolSize(const void* symbol, size_t* size) {
    return api([&]() -> Status {
        CANOPY_TRY(required(symbol, "symbol"));
        CANOPY_TRY(required(size, "size"));
        CANOPY_TRY(require_context());
        Result<SymbolInfo> found = find_symbol(symbol);
        if (!found.ok()) return found.status();
        *size = found->size;
        return {};
    });
}

aclError aclrtMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset, aclrtMemcpyKind kind) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(symbol, "symbol"));
        CANOPY_TRY(required(src, "src"));
        CANOPY_TRY(require_context());
        Result<SymbolInfo> part = symbol_part(symbol, count, offset);
        if (!part.ok()) return part.status();
        return copy({part->address, part->size, device_address(src), count}, kind);
    });
}

aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                  aclrtMemcpyKind kind, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(symbol, "symbol"));
        CANOPY_TRY(required(src, "src"));
        CANOPY_TRY(require_context());
        Result<SymbolInfo> part = symbol_part(symbol, count, offset);
        if (!part.ok()) return part.status();
        return copy_async({part->address, part->size, device_address(src), count}, kind, stream);
    });
}

aclError aclrtMemcpyFromSymbol(void* dst, size_t dstMax, const void* symbol, size_t count, size_t offset,
                               aclrtMemcpyKind kind) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(symbol, "symbol"));
        CANOPY_TRY(required(dst, "dst"));
        CANOPY_TRY(require_context());
        Result<SymbolInfo> part = symbol_part(symbol, count, offset);
        if (!part.ok()) return part.status();
        return copy({device_address(dst), dstMax, part->address, count}, kind);
    });
}

aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t dstMax, const void* symbol, size_t count, size_t offset,
                                    aclrtMemcpyKind kind, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(symbol, "symbol"));
        CANOPY_TRY(required(dst, "dst"));
        CANOPY_TRY(require_context());
        Result<SymbolInfo> part = symbol_part(symbol, count, offset);
        if (!part.ok()) return part.status();
        return copy_async({device_address(dst), dstMax, part->address, count}, kind, stream);
    });
}

}  // extern "C"
