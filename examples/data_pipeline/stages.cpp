// SPDX-License-Identifier: Apache-2.0
// The stages: CPU kernels that take from one queue and put into another, until the end of the stream. Numbers travel in
// buffers: a stage gets a buffer, changes it where it lies and passes it on, so nothing is copied, not even between
// processes. An empty buffer is the end of the stream. A stage that waits in a queue holds no other stage up.
#include "stages.h"

#include <cstdlib>
#include <cstring>

#include "acl/acl_tdt_queue.h"

namespace {

constexpr std::int32_t forEver = -1;
constexpr std::size_t longestText = 4096;

// The numbers in a buffer.
struct Numbers {
    float* values = nullptr;
    std::size_t count = 0;
};
bool Look(acltdtBuf buffer, Numbers& numbers) {
    void* data = nullptr;
    std::size_t capacity = 0, length = 0;
    if (acltdtGetBufData(buffer, &data, &capacity) != 0 || acltdtGetBufDataLen(buffer, &length) != 0) return false;
    numbers = {static_cast<float*>(data), length / sizeof(float)};
    return true;
}

}  // namespace

// A stage that returns anything but 0 fails, and the synchronisation of its stream reports it.
extern "C" {

// Text with numbers in it becomes a buffer of floats; an empty text, the end of the stream, an empty buffer.
std::uint32_t Decode(void* arguments) {
    const auto& stage = *static_cast<const StageArguments*>(arguments);
    for (;;) {
        char text[longestText + 1];
        std::size_t length = 0;
        if (acltdtDequeueData(stage.from, text, longestText, &length, nullptr, 0, forEver) != 0) return 1;
        text[length] = '\0';
        acltdtBuf buffer = nullptr;
        Numbers numbers;
        // Every number takes two characters at least.
        if (acltdtAllocBuf((length / 2 + 1) * sizeof(float), ACL_TDT_NORMAL_MEM, &buffer) != 0) return 2;
        if (!Look(buffer, numbers)) return 3;
        std::size_t count = 0;
        for (char *place = text, *end = nullptr;; place = end) {
            const float value = std::strtof(place, &end);
            if (end == place) break;
            numbers.values[count++] = value;
        }
        acltdtSetBufDataLen(buffer, count * sizeof(float));
        if (acltdtEnqueue(stage.to, buffer, forEver) != 0) return 4;  // from now on it belongs to the queue
        if (count == 0) return 0;
    }
}

std::uint32_t Scale(void* arguments) {
    const auto& stage = *static_cast<const StageArguments*>(arguments);
    for (;;) {
        acltdtBuf buffer = nullptr;
        Numbers numbers;
        if (acltdtDequeue(stage.from, &buffer, forEver) != 0 || !Look(buffer, numbers)) return 1;
        for (std::size_t i = 0; i < numbers.count; ++i) numbers.values[i] *= stage.factor;
        if (acltdtEnqueue(stage.to, buffer, forEver) != 0) return 2;
        if (numbers.count == 0) return 0;
    }
}

// The sums are small: they travel as data, with a copy, and need no buffers.
std::uint32_t Sum(void* arguments) {
    const auto& stage = *static_cast<const StageArguments*>(arguments);
    for (;;) {
        acltdtBuf buffer = nullptr;
        Numbers numbers;
        if (acltdtDequeue(stage.from, &buffer, forEver) != 0 || !Look(buffer, numbers)) return 1;
        float sum = 0;
        for (std::size_t i = 0; i < numbers.count; ++i) sum += numbers.values[i];
        acltdtFreeBuf(buffer);
        if (numbers.count == 0) return 0;
        if (acltdtEnqueueData(stage.to, &sum, sizeof sum, nullptr, 0, forEver, 0) != 0) return 2;
    }
}
}
