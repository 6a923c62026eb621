// SPDX-License-Identifier: Apache-2.0
// Helpers for every program here: checked calls, starting and ending the runtime, a kernel image, and words in device
// memory. Any thread of a program may use them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "until.h"

namespace programs {

[[noreturn]] inline void give_up(const char* file, int line, const char* what, int code) {
    const char* text = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s:%d: %s: %d\n%s\n", file, line, what, code, text ? text : "");
    std::fflush(nullptr);
    std::_Exit(1);  // other threads may still be running
}

// The call must return 0.
#define CHECK(call)                                                                                    \
    do {                                                                                               \
        if (const int code_ = (call); code_ != 0) programs::give_up(__FILE__, __LINE__, #call, code_); \
    } while (false)

// The call must return this code.
#define CHECK_CODE(expected, call)                                                                              \
    do {                                                                                                        \
        if (const int code_ = (call); code_ != (expected)) programs::give_up(__FILE__, __LINE__, #call, code_); \
    } while (false)

// The condition must hold.
#define REQUIRE(condition)                                                                   \
    do {                                                                                     \
        if (!(condition)) programs::give_up(__FILE__, __LINE__, #condition " is not so", 0); \
    } while (false)

// Initialises the runtime with one device until the end of the scope.
class Device {
public:
    explicit Device(std::int32_t number = 0) : number_(number) {
        CHECK(aclInit(nullptr));
        CHECK(aclrtSetDevice(number_));
    }
    ~Device() {
        CHECK(aclrtResetDeviceForce(number_));
        CHECK(aclFinalize());
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

private:
    std::int32_t number_;
};

inline aclrtStream new_stream() {
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    return stream;
}

template <class T>
T* to_device(const std::vector<T>& values) {
    void* memory = nullptr;
    const std::size_t bytes = values.size() * sizeof(T);
    CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    return static_cast<T*>(memory);
}

template <class T>
std::vector<T> to_host(const T* memory, std::size_t count) {
    std::vector<T> values(count);
    CHECK(aclrtMemcpy(values.data(), count * sizeof(T), memory, count * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
}

// A word in host memory that kernels can poll or set while the program continues.
class Signal {
public:
    Signal() : word_(static_cast<std::uint32_t*>(std::aligned_alloc(page, page))) {
        std::memset(word_, 0, page);
        CHECK(aclrtHostRegister(word_, page, ACL_HOST_REGISTER_MAPPED, &device_));
    }
    ~Signal() {
        CHECK(aclrtHostUnregister(word_));
        std::free(word_);
    }
    Signal(const Signal&) = delete;
    Signal& operator=(const Signal&) = delete;

    void* on_device() const { return device_; }
    void set(std::uint32_t value = 1) { __atomic_store_n(word_, value, __ATOMIC_RELEASE); }
    void wait() const {
        REQUIRE(eventually([this] { return __atomic_load_n(word_, __ATOMIC_ACQUIRE) != 0; }));
    }

private:
    static constexpr std::size_t page = 4096;
    std::uint32_t* word_;
    void* device_ = nullptr;
};

#ifdef PROGRAM_KERNELS
// The program's kernel image. Launches put each argument into an eight-byte slot.
class Kernels {
public:
    Kernels() { CHECK(aclrtBinaryLoadFromFile(PROGRAM_KERNELS, nullptr, &binary_)); }
    ~Kernels() { CHECK(aclrtBinaryUnLoad(binary_)); }
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;

    aclrtFuncHandle function(const char* name) const {
        aclrtFuncHandle handle = nullptr;
        CHECK(aclrtBinaryGetFunction(binary_, name, &handle));
        return handle;
    }

    template <class... Arguments>
    aclError launch(const char* name, std::uint32_t blocks, aclrtStream stream, Arguments... arguments) const {
        std::uint64_t slots[sizeof...(arguments) + 1] = {};  // never an empty array
        [[maybe_unused]] std::size_t at = 0;
        (std::memcpy(&slots[at++], &arguments, sizeof(arguments)), ...);
        return aclrtLaunchKernelWithHostArgs(function(name), blocks, stream, nullptr, slots, sizeof(slots), nullptr, 0);
    }

private:
    aclrtBinHandle binary_ = nullptr;
};
#endif

}  // namespace programs
