// SPDX-License-Identifier: Apache-2.0
// What several conformance tests use to bring a device into a known state: a gate that holds streams until the test
// opens it, and handles that are none.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.h"

namespace conformance {

// Streams that pass a closed gate stand still until it is opened. On a device that computes nothing it is always open.
class Gate {
public:
    Gate() {
        EXPECT_ACL_OK(aclrtMalloc(reinterpret_cast<void**>(&word_), 64, ACL_MEM_MALLOC_HUGE_FIRST));
        set(0);
    }
    ~Gate() { EXPECT_ACL_OK(aclrtFree(word_)); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    void hold(aclrtStream stream) { EXPECT_ACL_OK(aclrtValueWait(word_, 1, 1, stream)); }
    void open() { set(1); }
    void close() { set(0); }

private:
    void set(uint64_t value) { EXPECT_ACL_OK(aclrtMemcpy(word_, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE)); }
    uint64_t* word_ = nullptr;
};

// A word of the host that kernels poll or set and the test writes and reads directly, while they run.
class SharedWord {
public:
    SharedWord() {
        memory_ = static_cast<uint32_t*>(std::aligned_alloc(page, page));
        std::memset(memory_, 0, page);
        EXPECT_ACL_OK(aclrtHostRegister(memory_, page, ACL_HOST_REGISTER_MAPPED, &device_));
    }
    ~SharedWord() {
        EXPECT_ACL_OK(aclrtHostUnregister(memory_));
        std::free(memory_);
    }
    SharedWord(const SharedWord&) = delete;
    SharedWord& operator=(const SharedWord&) = delete;

    // What kernels get.
    uint32_t* device() const { return static_cast<uint32_t*>(device_); }
    void set(uint32_t value) { __atomic_store_n(memory_, value, __ATOMIC_RELEASE); }
    uint32_t get() const { return __atomic_load_n(memory_, __ATOMIC_ACQUIRE); }
    void wait_until_set() const {
        while (get() == 0) std::this_thread::yield();
    }

private:
    static constexpr std::size_t page = 4096;
    uint32_t* memory_ = nullptr;
    void* device_ = nullptr;
};

inline bool stands_still(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    EXPECT_ACL_OK(aclrtStreamQuery(stream, &status));
    return status == ACL_STREAM_STATUS_NOT_READY;
}

using NamedHandle = std::pair<std::string, void*>;

// `stale` is a destroyed handle of the right kind, `foreign` a live one of another kind.
inline std::vector<NamedHandle> handles_that_are_none(void* stale, void* foreign) {
    static int own = 0;
    const auto number = reinterpret_cast<std::uintptr_t>(stale);
    return {{"destroyed", stale},
            {"another kind", foreign},
            {"small number", reinterpret_cast<void*>(0x10)},
            {"all ones", reinterpret_cast<void*>(~std::uintptr_t{0})},
            {"one that may come", reinterpret_cast<void*>(number + (std::uintptr_t{1} << 32))},
            {"one far away", reinterpret_cast<void*>(number + 0x00FFFFFF)},
            {"address of the program", &own}};
}

struct HandleCall {
    const char* name;
    std::function<aclError(void*)> call;
};

// Every call refuses every handle with `code` and says something about it.
inline void expect_all_refuse(const std::vector<HandleCall>& calls, const std::vector<NamedHandle>& handles, int code) {
    for (const HandleCall& call : calls) {
        for (const auto& [what, handle] : handles) {
            recent_error();
            EXPECT_EQ(call.call(handle), code) << call.name << " with handle: " << what;
            EXPECT_FALSE(recent_error().empty()) << call.name << " with handle: " << what;
        }
    }
}

}  // namespace conformance
