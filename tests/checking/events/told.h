// SPDX-License-Identifier: Apache-2.0
// Runs a piece of kernel code on one core in the checking variant, and returns what it told as lines of text.
#ifndef CANOPY_TESTS_CHECKING_TOLD_H
#define CANOPY_TESTS_CHECKING_TOLD_H

#include <string>
#include <vector>

#include "on_core.h"
#include "recorder.h"

// Global memory of a kernel, before the record.
constexpr size_t memory_bytes = 1 << 16;

template <class Case>
std::string told_by(const Case& what) {
    std::vector<uint8_t> memory(memory_bytes + sizeof(Record));
    const std::string failure = run_launch(memory, [&](uint8_t* device, aclrtStream stream) {
        return run_recorded<Case><<<1, nullptr, stream>>>(device, device + memory_bytes, what);
    });
    const auto* record = reinterpret_cast<const Record*>(memory.data() + memory_bytes);
    return std::string(record->text, record->length) + failure;
}

#endif
