// SPDX-License-Identifier: Apache-2.0
// The C++ overloads of acl_rt_api.h: each one exists with its signature and passes its arguments to the right C
// function. This program defines those C functions itself to inspect the arguments; it does not link the library.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "acl/acl_rt_api.h"

namespace {

using Numbers = std::vector<std::uint64_t>;

struct Arrival {
    std::string function;
    Numbers arguments;
    std::uint32_t location = 0;  // destination of the first attribute, or the first place
    std::size_t index = 0;       // the first index
};

Arrival arrival;
constexpr aclError answer = 4711;

template <typename T>
std::uint64_t as_number(T value) {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::uintptr_t>(value);
    } else {
        return static_cast<std::uint64_t>(value);
    }
}

template <typename... Arguments>
aclError arrive(const char* function, Arguments... arguments) {
    arrival.function = function;
    arrival.arguments = {as_number(arguments)...};
    return answer;
}

template <typename... Arguments>
void expect_arrival(aclError returned, const char* function, Arguments... arguments) {
    EXPECT_EQ(returned, answer);
    EXPECT_EQ(arrival.function, function);
    EXPECT_EQ(arrival.arguments, (Numbers{as_number(arguments)...}));
    arrival = Arrival();
}

}  // namespace

extern "C" {

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) { return arrive(__func__, timeout); }
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    return arrive(__func__, stream, timeout);
}
aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    return arrive(__func__, event, timeout);
}
aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    return arrive(__func__, stream, event, timeout);
}
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
    return arrive(__func__, stream, priority, flag);
}
aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actual) { return arrive(__func__, timeout, actual); }
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) { return arrive(__func__, event, flag); }
aclError aclrtMallocWithCfg(void** pointer, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
    return arrive(__func__, pointer, size, policy, cfg);
}
aclError aclrtMallocHostWithCfg(void** pointer, uint64_t size, aclrtMallocConfig* cfg) {
    return arrive(__func__, pointer, size, cfg);
}
aclError aclrtMemcpy(void* dst, size_t room, const void* src, size_t count, aclrtMemcpyKind kind) {
    return arrive(__func__, dst, room, src, count, kind);
}
aclError aclrtMemcpyAsync(void* dst, size_t room, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
    return arrive(__func__, dst, room, src, count, kind, stream);
}
aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
    return arrive(__func__, dst, dpitch, src, spitch, width, height, kind);
}
aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
    return arrive(__func__, dst, dpitch, src, spitch, width, height, kind, stream);
}
aclError aclrtMemcpyBatch(void** dsts, size_t* rooms, void** srcs, size_t* sizes, size_t count,
                          aclrtMemcpyBatchAttr* attrs, size_t* indexes, size_t number, size_t* failed) {
    arrival.location = attrs->dstLoc.id;
    arrival.index = *indexes;
    return arrive(__func__, dsts, rooms, srcs, sizes, count, number, failed);
}
aclError aclrtMemcpyBatchV2(void** dsts, size_t* rooms, void** srcs, size_t* sizes, size_t count,
                            aclrtMemcpyBatchAttr* attrs, size_t* indexes, size_t number) {
    arrival.location = attrs->dstLoc.id;
    arrival.index = *indexes;
    return arrive(__func__, dsts, rooms, srcs, sizes, count, number);
}
aclError aclrtMemcpyBatchAsync(void** dsts, size_t* rooms, void** srcs, size_t* sizes, size_t count,
                               aclrtMemcpyBatchAttr* attrs, size_t* indexes, size_t number, size_t* failed,
                               aclrtStream stream) {
    arrival.location = attrs->dstLoc.id;
    arrival.index = *indexes;
    return arrive(__func__, dsts, rooms, srcs, sizes, count, number, failed, stream);
}
aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* rooms, void** srcs, size_t* sizes, size_t count,
                                 aclrtMemcpyBatchAttr* attrs, size_t* indexes, size_t number, aclrtStream stream) {
    arrival.location = attrs->dstLoc.id;
    arrival.index = *indexes;
    return arrive(__func__, dsts, rooms, srcs, sizes, count, number, stream);
}
aclError aclrtPointerGetAttributes(const void* pointer, aclrtPtrAttributes* attributes) {
    return arrive(__func__, pointer, attributes);
}
aclError aclrtHostRegister(void* pointer, uint64_t size, aclrtHostRegisterType type, void** device) {
    return arrive(__func__, pointer, size, type, device);
}
aclError aclrtHostRegisterV2(void* pointer, uint64_t size, uint32_t flag) {
    return arrive(__func__, pointer, size, flag);
}
aclError aclrtHostGetDevicePointer(void* host, void** device, uint32_t flag) {
    return arrive(__func__, host, device, flag);
}
aclError aclrtHostUnregister(void* pointer) { return arrive(__func__, pointer); }
aclError aclrtMemAllocManaged(void** pointer, uint64_t size, uint32_t flag) {
    return arrive(__func__, pointer, size, flag);
}
aclError aclrtMemManagedPrefetchAsync(const void* pointer, size_t size, aclrtMemManagedLocation place, uint32_t flags,
                                      aclrtStream stream) {
    return arrive(__func__, pointer, size, place.id, flags, stream);
}
aclError aclrtMemManagedPrefetchBatchAsync(const void** pointers, size_t* sizes, size_t count,
                                           aclrtMemManagedLocation* places, size_t* indexes, size_t number,
                                           uint64_t flags, aclrtStream stream) {
    arrival.location = static_cast<std::uint32_t>(places->id);
    arrival.index = *indexes;
    return arrive(__func__, pointers, sizes, count, number, flags, stream);
}
aclError aclrtGetSymbolAddress(const void* symbol, void** address) { return arrive(__func__, symbol, address); }
aclError aclrtGetSymbolSize(const void* symbol, size_t* size) { return arrive(__func__, symbol, size); }
aclError aclrtMemcpyFromSymbol(void* dst, size_t room, const void* symbol, size_t count, size_t offset,
                               aclrtMemcpyKind kind) {
    return arrive(__func__, dst, room, symbol, count, offset, kind);
}
aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t room, const void* symbol, size_t count, size_t offset,
                                    aclrtMemcpyKind kind, aclrtStream stream) {
    return arrive(__func__, dst, room, symbol, count, offset, kind, stream);
}
aclError aclrtMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset, aclrtMemcpyKind kind) {
    return arrive(__func__, symbol, src, count, offset, kind);
}
aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                  aclrtMemcpyKind kind, aclrtStream stream) {
    return arrive(__func__, symbol, src, count, offset, kind, stream);
}
}

namespace {

const aclrtStream stream = reinterpret_cast<aclrtStream>(0x51);
const aclrtEvent event = reinterpret_cast<aclrtEvent>(0xE1);
constexpr aclrtMemcpyKind kind = ACL_MEMCPY_DEVICE_TO_HOST;

TEST(Overloads, WaitsWithATimeoutForward) {
    expect_arrival(aclrtSynchronizeDevice(5), "aclrtSynchronizeDeviceWithTimeout", 5);
    expect_arrival(aclrtSynchronizeStream(stream, 6), "aclrtSynchronizeStreamWithTimeout", stream, 6);
    expect_arrival(aclrtSynchronizeEvent(event, 7), "aclrtSynchronizeEventWithTimeout", event, 7);
    expect_arrival(aclrtStreamWaitEvent(stream, event, 8), "aclrtStreamWaitEventWithTimeout", stream, event, 8);
    std::uint64_t actual = 0;
    expect_arrival(aclrtSetOpExecuteTimeOut(9, &actual), "aclrtSetOpExecuteTimeOutV2", 9, &actual);
}

TEST(Overloads, CreationWithFlagsForwards) {
    aclrtStream made_stream = nullptr;
    aclrtEvent made_event = nullptr;
    expect_arrival(aclrtCreateStream(&made_stream, 3, 1), "aclrtCreateStreamWithConfig", &made_stream, 3, 1);
    expect_arrival(aclrtCreateEvent(&made_event, 8), "aclrtCreateEventExWithFlag", &made_event, 8);
}

TEST(Overloads, TypedAllocationForwardsToTheConfigurableFunction) {
    float* device = nullptr;
    const int* constant = nullptr;
    aclrtMallocConfig cfg = {nullptr, 0};
    aclrtMallocConfig* none = nullptr;
    const auto huge_first = ACL_MEM_MALLOC_HUGE_FIRST;
    const auto normal = ACL_MEM_MALLOC_NORMAL_ONLY;
    expect_arrival(aclrtMalloc(&device, 64), "aclrtMallocWithCfg", &device, 64, huge_first, none);
    expect_arrival(aclrtMalloc(&constant, 64, &cfg), "aclrtMallocWithCfg", &constant, 64, huge_first, &cfg);
    expect_arrival(aclrtMalloc(&device, 64, normal), "aclrtMallocWithCfg", &device, 64, normal, none);
    expect_arrival(aclrtMalloc(&device, 64, normal, &cfg), "aclrtMallocWithCfg", &device, 64, normal, &cfg);
    expect_arrival(aclrtMallocHost(&device, 64), "aclrtMallocHostWithCfg", &device, 64, none);
    expect_arrival(aclrtMallocHost(&device, 64, &cfg), "aclrtMallocHostWithCfg", &device, 64, &cfg);
}

TEST(Overloads, TypedCopiesForwardToTheFunctionOfTheSameName) {
    float dst[4] = {};
    const double src[4] = {};
    expect_arrival(aclrtMemcpy(dst, 16, src, 8, kind), "aclrtMemcpy", dst, 16, src, 8, kind);
    expect_arrival(aclrtMemcpyAsync(dst, 16, src, 8, kind, stream), "aclrtMemcpyAsync", dst, 16, src, 8, kind, stream);
    expect_arrival(aclrtMemcpy2d(dst, 8, src, 9, 4, 2, kind), "aclrtMemcpy2d", dst, 8, src, 9, 4, 2, kind);
    expect_arrival(aclrtMemcpy2dAsync(dst, 8, src, 9, 4, 2, kind, stream), "aclrtMemcpy2dAsync", dst, 8, src, 9, 4, 2,
                   kind, stream);
}

struct Batch {
    float* dsts[2] = {};
    const float* srcs[2] = {};
    std::size_t rooms[2] = {4, 4};
    std::size_t sizes[2] = {4, 4};
    std::size_t indexes[2] = {5, 6};
    std::size_t failed = 0;
    aclrtMemcpyBatchAttr attrs[2] = {};
};

TEST(Overloads, BatchesWithoutAFailIndexForwardToTheSecondVersion) {
    Batch b;
    b.attrs[0].dstLoc.id = 77;
    aclError result = aclrtMemcpyBatch(b.dsts, b.rooms, b.srcs, b.sizes, 2, b.attrs, b.indexes, 2);
    EXPECT_EQ(arrival.index, 5u);
    expect_arrival(result, "aclrtMemcpyBatchV2", b.dsts, b.rooms, b.srcs, b.sizes, 2, 2);
    result = aclrtMemcpyBatch(b.dsts, b.rooms, b.srcs, b.sizes, 2, b.attrs[0]);
    EXPECT_EQ(arrival.location, 77u);
    EXPECT_EQ(arrival.index, 0u);
    expect_arrival(result, "aclrtMemcpyBatchV2", b.dsts, b.rooms, b.srcs, b.sizes, 2, 1);
    result = aclrtMemcpyBatchAsync(b.dsts, b.rooms, b.srcs, b.sizes, 2, b.attrs, b.indexes, 2, stream);
    EXPECT_EQ(arrival.index, 5u);
    expect_arrival(result, "aclrtMemcpyBatchAsyncV2", b.dsts, b.rooms, b.srcs, b.sizes, 2, 2, stream);
    result = aclrtMemcpyBatchAsync(b.dsts, b.rooms, b.srcs, b.sizes, 2, b.attrs[0], stream);
    EXPECT_EQ(arrival.location, 77u);
    expect_arrival(result, "aclrtMemcpyBatchAsyncV2", b.dsts, b.rooms, b.srcs, b.sizes, 2, 1, stream);
}

TEST(Overloads, BatchesWithAFailIndexForwardToTheFirstVersion) {
    Batch b;
    b.attrs[0].dstLoc.id = 78;
    aclError result = aclrtMemcpyBatch(b.dsts, b.rooms, b.srcs, b.sizes, 2, b.attrs, b.indexes, 2, &b.failed);
    expect_arrival(result, "aclrtMemcpyBatch", b.dsts, b.rooms, b.srcs, b.sizes, 2, 2, &b.failed);
    result = aclrtMemcpyBatch(b.dsts, b.rooms, b.srcs, b.sizes, 2, b.attrs[0], &b.failed);
    EXPECT_EQ(arrival.location, 78u);
    expect_arrival(result, "aclrtMemcpyBatch", b.dsts, b.rooms, b.srcs, b.sizes, 2, 1, &b.failed);
    result = aclrtMemcpyBatchAsync(b.dsts, b.rooms, b.srcs, b.sizes, 2, b.attrs, b.indexes, 2, &b.failed, stream);
    expect_arrival(result, "aclrtMemcpyBatchAsync", b.dsts, b.rooms, b.srcs, b.sizes, 2, 2, &b.failed, stream);
    result = aclrtMemcpyBatchAsync(b.dsts, b.rooms, b.srcs, b.sizes, 2, b.attrs[0], &b.failed, stream);
    EXPECT_EQ(arrival.location, 78u);
    EXPECT_EQ(arrival.index, 0u);
    expect_arrival(result, "aclrtMemcpyBatchAsync", b.dsts, b.rooms, b.srcs, b.sizes, 2, 1, &b.failed, stream);
}

TEST(Overloads, HostRegistrationForwards) {
    char host[8] = {};
    char* device = nullptr;
    aclrtPtrAttributes attributes = {};
    expect_arrival(aclrtPointerGetAttributes(host, &attributes), "aclrtPointerGetAttributes", host, &attributes);
    expect_arrival(aclrtHostRegister(host, 8, ACL_HOST_REGISTER_MAPPED, &device), "aclrtHostRegister", host, 8,
                   ACL_HOST_REGISTER_MAPPED, &device);
    expect_arrival(aclrtHostRegister(host, 8, ACL_HOST_REG_PINNED), "aclrtHostRegisterV2", host, 8, 0x10000000);
    expect_arrival(aclrtHostGetDevicePointer(host, &device, 0), "aclrtHostGetDevicePointer", host, &device, 0);
    expect_arrival(aclrtHostUnregister(host), "aclrtHostUnregister", host);
}

TEST(Overloads, ManagedMemoryForwards) {
    float* managed = nullptr;
    const float* ranges[2] = {};
    std::size_t sizes[2] = {1, 2};
    std::size_t indexes[1] = {3};
    aclrtMemManagedLocation place = {ACL_MEM_LOCATIONTYPE_DEVICE, 2};
    expect_arrival(aclrtMemAllocManaged(&managed, 64), "aclrtMemAllocManaged", &managed, 64, 1);
    expect_arrival(aclrtMemAllocManaged(&managed, 64, 0), "aclrtMemAllocManaged", &managed, 64, 0);
    expect_arrival(aclrtMemManagedPrefetchAsync(managed, 64, place, 0, stream), "aclrtMemManagedPrefetchAsync", managed,
                   64, 2, 0, stream);
    aclError result = aclrtMemManagedPrefetchBatchAsync(ranges, sizes, 2, &place, indexes, 1, 9, stream);
    EXPECT_EQ(arrival.index, 3u);
    expect_arrival(result, "aclrtMemManagedPrefetchBatchAsync", ranges, sizes, 2, 1, 9, stream);
    result = aclrtMemManagedPrefetchBatchAsync(ranges, sizes, 2, place, 9, stream);
    EXPECT_EQ(arrival.location, 2u);
    EXPECT_EQ(arrival.index, 0u);
    expect_arrival(result, "aclrtMemManagedPrefetchBatchAsync", ranges, sizes, 2, 1, 9, stream);
}

TEST(Overloads, ASymbolIsKnownByItsAddress) {
    static const int symbol[4] = {};
    void* address = nullptr;
    std::size_t size = 0;
    char host[16] = {};
    expect_arrival(aclrtGetSymbolAddress(symbol, &address), "aclrtGetSymbolAddress", &symbol, &address);
    expect_arrival(aclrtGetSymbolSize(symbol, &size), "aclrtGetSymbolSize", &symbol, &size);
    expect_arrival(aclrtMemcpyFromSymbol(host, 16, symbol, 8, 4, kind), "aclrtMemcpyFromSymbol", host, 16, &symbol, 8,
                   4, kind);
    expect_arrival(aclrtMemcpyFromSymbolAsync(host, 16, symbol, 8, 4, kind, stream), "aclrtMemcpyFromSymbolAsync", host,
                   16, &symbol, 8, 4, kind, stream);
    expect_arrival(aclrtMemcpyToSymbol(symbol, host, 8, 4, kind), "aclrtMemcpyToSymbol", &symbol, host, 8, 4, kind);
    expect_arrival(aclrtMemcpyToSymbolAsync(symbol, host, 8, 4, kind, stream), "aclrtMemcpyToSymbolAsync", &symbol,
                   host, 8, 4, kind, stream);
}

TEST(Overloads, UntypedPointersStillReachTheCFunctions) {
    void* dst = reinterpret_cast<void*>(0x10);
    const void* src = reinterpret_cast<const void*>(0x20);
    const void* symbol = reinterpret_cast<const void*>(0x30);
    void* address = nullptr;
    expect_arrival(aclrtMemcpy(dst, 1, src, 1, kind), "aclrtMemcpy", dst, 1, src, 1, kind);
    expect_arrival(aclrtGetSymbolAddress(symbol, &address), "aclrtGetSymbolAddress", symbol, &address);
}

}  // namespace
