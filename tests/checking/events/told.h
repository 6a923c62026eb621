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

template <class Launch>
std::string told_in(const Launch& launch) {
    std::vector<uint8_t> memory(memory_bytes + sizeof(Record));
    const std::string failure = run_launch(
        memory, [&](uint8_t* device, aclrtStream stream) { return launch(device, device + memory_bytes, stream); });
    const auto* record = reinterpret_cast<const Record*>(memory.data() + memory_bytes);
    return std::string(record->text, record->length) + failure;
}
template <class Case>
std::string told_by(const Case& what) {
    return told_in([&](uint8_t* device, uint8_t* record, aclrtStream stream) {
        return run_recorded<Case><<<1, nullptr, stream>>>(device, record, what);
    });
}
template <class Case>
std::string told_on_cube_by(const Case& what) {
    return told_in([&](uint8_t* device, uint8_t* record, aclrtStream stream) {
        return run_recorded_on_cube<Case><<<1, nullptr, stream>>>(device, record, what);
    });
}

// A tensor over memory of the core, which is told of nothing.
template <class T>
__aicore__ inline AscendC::LocalTensor<T> tensor_at(AscendC::TPosition position, uint32_t byte, uint32_t count) {
    AscendC::LocalTensor<T> tensor;
    tensor.place(reinterpret_cast<T*>(canopy::kernel::memory_base(canopy::kernel::memory_of(position)) + byte), count,
                 position);
    return tensor;
}
template <class T>
__aicore__ inline AscendC::GlobalTensor<T> global_at(GM_ADDR memory, uint32_t byte, uint32_t count) {
    AscendC::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(memory + byte), count);
    return tensor;
}

#endif
