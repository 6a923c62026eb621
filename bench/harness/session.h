// SPDX-License-Identifier: Apache-2.0
// The runtime as the topics use it: initialised, device 0 set, the kernels loaded. Everything goes through the public
// interface; a failed call throws, and its row reports that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"

namespace bench {

// Throws std::runtime_error with the call and the recent error message unless `code` is 0.
void check(aclError code, const char* call);
#define BENCH_CHECK(call) ::bench::check((call), #call)

class Session {
public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    [[nodiscard]] aclrtFuncHandle function(const char* name) const;

private:
    aclrtBinHandle binary_ = nullptr;
};

class Stream {
public:
    Stream() { BENCH_CHECK(aclrtCreateStream(&handle_)); }
    ~Stream() {
        if (handle_) aclrtDestroyStream(handle_);
    }
    Stream(Stream&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    Stream& operator=(Stream&&) = delete;
    [[nodiscard]] aclrtStream get() const { return handle_; }
    void synchronise() const { BENCH_CHECK(aclrtSynchronizeStream(handle_)); }

private:
    aclrtStream handle_ = nullptr;
};

class DeviceMemory {
public:
    explicit DeviceMemory(std::size_t size) : size_(size) {
        BENCH_CHECK(aclrtMalloc(&address_, size, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    ~DeviceMemory() { aclrtFree(address_); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    [[nodiscard]] void* get() const { return address_; }
    template <class T>
    [[nodiscard]] std::vector<T> read() const {
        std::vector<T> values(size_ / sizeof(T));
        BENCH_CHECK(aclrtMemcpy(values.data(), size_, address_, size_, ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }

private:
    void* address_ = nullptr;
    std::size_t size_;
};

// Three pointers, a count and a factor: the arguments of a kernel over three arrays, one eight-byte slot each.
struct FiveArguments {
    void* a = nullptr;
    void* b = nullptr;
    void* out = nullptr;
    std::uint64_t count = 1024;
    std::uint64_t factor = 0;
};

// Launches the empty kernel with five arguments, `count` times, without synchronising.
inline void launch_empty(aclrtFuncHandle function, const Stream& stream, FiveArguments& arguments, std::size_t count,
                         std::uint32_t blocks = 1) {
    for (std::size_t i = 0; i < count; ++i)
        BENCH_CHECK(aclrtLaunchKernelWithHostArgs(function, blocks, stream.get(), nullptr, &arguments,
                                                  sizeof(arguments), nullptr, 0));
}

// The record written by the kernel `stamp`.
struct Stamp {
    std::uint64_t begin;
    std::uint64_t processor;
    std::uint64_t end;
};

// Throws unless the stamps are in order and all later than `since`, which shows that every kernel ran once, in order.
void check_order(const std::vector<Stamp>& stamps, std::uint64_t since);

// Launches one block with the given eight-byte arguments.
template <class... Values>
void launch(aclrtFuncHandle function, aclrtStream stream, Values... values) {
    std::uint64_t slots[] = {(std::uint64_t)(values)...};
    BENCH_CHECK(aclrtLaunchKernelWithHostArgs(function, 1, stream, nullptr, slots, sizeof(slots), nullptr, 0));
}

}  // namespace bench
