// SPDX-License-Identifier: Apache-2.0
// Tests of operations inside the unified buffer: the buffer is filled with an image, the operation runs, and the whole
// image is copied back, so that untouched bytes are compared as well.
#ifndef CANOPY_TESTS_LANGUAGE_UB_IMAGE_H
#define CANOPY_TESTS_LANGUAGE_UB_IMAGE_H

#include "on_core.h"

#include <random>

// Runs an operation, a plain struct whose `run` takes no argument, on an image of `bytes` bytes.
template <class Operation>
struct OnImage {
    Operation operation;
    uint32_t bytes;

    __aicore__ void run(GM_ADDR memory) const {
        AscendC::GlobalTensor<uint8_t> image;
        image.SetGlobalBuffer(memory, bytes);
        AscendC::LocalTensor<uint8_t> buffer(AscendC::TPosition::VECCALC, 0, bytes);
        AscendC::DataCopy(buffer, image, bytes);
        AscendC::PipeBarrier<PIPE_ALL>();
        operation.run();
        AscendC::SetAtomicNone();
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(image, buffer, bytes);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
};

template <class T>
__aicore__ inline AscendC::LocalTensor<T> ub(uint32_t byte, uint32_t elements) {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, byte, elements);
}

// The image on the host, accessed as elements.
struct Image {
    std::vector<uint8_t> bytes;

    explicit Image(uint32_t size) : bytes(size) {}

    template <class T>
    T get(uint64_t byte) const {
        T value;
        std::memcpy(&value, bytes.data() + byte, sizeof value);
        return value;
    }
    template <class T>
    void set(uint64_t byte, T value) {
        std::memcpy(bytes.data() + byte, &value, sizeof value);
    }
    bool operator==(const Image& other) const { return bytes == other.bytes; }
};

inline Image random_image(uint32_t size, uint32_t seed) {
    Image image(size);
    std::mt19937 random(seed);
    for (auto& byte : image.bytes) byte = static_cast<uint8_t>(random());
    return image;
}

// Small numbers that are exact in every type, with repetitions.
template <class T>
void fill_numbers(Image& image, uint64_t byte, uint64_t count, uint32_t seed, int range = 100) {
    std::mt19937 random(seed);
    for (uint64_t i = 0; i < count; ++i) {
        int number = static_cast<int>(random() % static_cast<uint32_t>(2 * range + 1)) - range;
        if (static_cast<T>(-1) > static_cast<T>(0) && number < 0) number = -number;
        image.set<T>(byte + i * sizeof(T), static_cast<T>(number));
    }
}

template <class Operation>
std::string run_on_image(const Operation& operation, Image& image) {
    return run_on_core(OnImage<Operation>{operation, static_cast<uint32_t>(image.bytes.size())}, image.bytes);
}

// Reports the first byte that differs.
inline ::testing::AssertionResult same_image(const Image& got, const Image& expected) {
    if (got == expected) return ::testing::AssertionSuccess();
    for (size_t i = 0; i < expected.bytes.size(); ++i)
        if (got.bytes[i] != expected.bytes[i])
            return ::testing::AssertionFailure()
                   << "byte " << i << " is " << int{got.bytes[i]} << ", expected " << int{expected.bytes[i]};
    return ::testing::AssertionSuccess();
}

#endif
