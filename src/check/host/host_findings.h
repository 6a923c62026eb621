// SPDX-License-Identifier: Apache-2.0
// What is said about uses of memory that nothing orders: descriptions of commands, and findings made of them.
//
// Threads: UseTexts none; make_finding any.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "check/finding.h"
#include "check/host/access_map.h"
#include "check/launch_check.h"

namespace canopy::check {

// A call of the program: the function, as a literal, and the address to which it returns.
struct HostCall {
    const char* function = nullptr;
    std::uintptr_t from = 0;

    bool operator==(const HostCall&) const = default;
};

// A command as messages name it.
struct UseText {
    HostCall call;
    std::string kernel;        // empty: not a kernel
    std::uint32_t stream = 0;  // 0: the host
    unsigned device = 0;
    // Of an access of the kernel; empty if it is not known.
    std::string operation, file;
    unsigned line = 0;
};

// Equal descriptions have one number. They live as long as the table.
class UseTexts {
public:
    std::uint32_t number(const HostCall& call, std::string_view kernel, std::uint32_t stream, unsigned device,
                         const CanopyCheckSite& site);
    // The same name, for as long as the table lives.
    std::string_view kept(std::string_view kernel);
    [[nodiscard]] const UseText& operator[](std::uint32_t number) const { return texts_[number]; }

private:
    struct Key {
        HostCall call;
        std::uint32_t kernel, stream;
        const char *operation, *file;
        std::uint32_t line;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept;
    };
    std::uint32_t kernel_number(std::string_view kernel);

    std::deque<std::string> kernels_;
    std::unordered_map<std::string_view, std::uint32_t> kernel_numbers_;
    std::deque<UseText> texts_;
    std::unordered_map<Key, std::uint32_t, Hash> numbers_;
};

// Two uses of the same bytes, the one submitted first in front. Of a free the second is the call.
struct UnorderedUses {
    MemoryUse first, second;
    UseText first_text, second_text;
    bool freed = false;
    std::uint64_t begin = 0, bytes = 0;
};

struct FindingTexts {
    std::function<Place(const HostCall&)> place;  // the line of a call
    std::function<std::optional<AllocationFacts>(std::uint64_t)> allocation;
};

Finding make_finding(const UnorderedUses& uses, const FindingTexts& texts);

}  // namespace canopy::check
