// SPDX-License-Identifier: Apache-2.0
// A launcher as code generators emit it: it reads the image from its file and registers it, uses a static variable as
// the kernel's stub, and packs the arguments of each call into a structure to launch the stub. Uses only the lower
// interface.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/rt.h"

#define TRY(call)                                                                     \
    do {                                                                              \
        if (const rtError_t code = (call); code != RT_ERROR_NONE) {                   \
            std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code); \
            std::exit(1);                                                             \
        }                                                                             \
    } while (false)

namespace {

std::vector<char> read_file(const char* path) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file) std::exit(1);
    std::fseek(file, 0, SEEK_END);
    std::vector<char> bytes(static_cast<std::size_t>(std::ftell(file)));
    std::rewind(file);
    if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) std::exit(1);
    std::fclose(file);
    return bytes;
}

// Registers a kernel at its first use and returns its stub.
void* stub_of(const char* kernel) {
    static char stubs[16];
    static int count = 0;
    void* known = nullptr;
    if (rtGetFunctionByName(kernel, &known) == RT_ERROR_NONE) return known;
    const std::vector<char> bytes = read_file(PROGRAM_KERNELS);
    rtDevBinary_t binary;
    binary.magic = RT_DEV_BINARY_MAGIC_ELF_AIVEC;
    binary.version = 0;
    binary.data = bytes.data();
    binary.length = bytes.size();
    void* handle = nullptr;
    TRY(rtDevBinaryRegister(&binary, &handle));
    void* stub = &stubs[count++];
    TRY(rtFunctionRegister(handle, stub, kernel, kernel, 0));
    return stub;
}

void launch_add(std::uint32_t blocks, rtStream_t stream, void* a, void* b, void* sum, std::uint32_t count) {
    struct __attribute__((packed)) {
        void* a __attribute__((aligned(8)));
        void* b __attribute__((aligned(8)));
        void* sum __attribute__((aligned(8)));
        std::uint32_t count __attribute__((aligned(8)));
        std::uint32_t padding;
    } arguments = {a, b, sum, count, 0};
    TRY(rtKernelLaunch(stub_of("add_vectors"), blocks, &arguments, sizeof(arguments), nullptr, stream));
}

void* to_device(const std::vector<float>& values) {
    void* memory = nullptr;
    const std::uint64_t size = values.size() * sizeof(float);
    TRY(rtMalloc(&memory, size, RT_MEMORY_HBM | RT_MEMORY_POLICY_HUGE_PAGE_FIRST, 0));
    TRY(rtMemcpy(memory, size, values.data(), size, RT_MEMCPY_HOST_TO_DEVICE));
    return memory;
}

}  // namespace

int main() {
    constexpr std::uint32_t count = 10000, rounds = 50;
    TRY(rtSetDevice(0));
    char chip[64];
    TRY(rtGetSocVersion(chip, sizeof(chip)));
    std::uint64_t meeting = 0;
    std::uint32_t length = 0;
    TRY(rtGetC2cCtrlAddr(&meeting, &length));
    std::uint32_t cores = 0;
    TRY(rtGetAiCoreCount(&cores));
    rtStream_t stream = nullptr;
    TRY(rtStreamCreate(&stream, 0));

    std::vector<float> ones(count, 1), zeros(count, 0), found(count, -1);
    void *one = to_device(ones), *even = to_device(zeros), *odd = to_device(zeros);
    for (std::uint32_t round = 0; round < rounds; ++round)
        launch_add(cores, stream, round % 2 ? odd : even, one, round % 2 ? even : odd, count);
    TRY(rtStreamSynchronize(stream));
    const std::uint64_t size = count * sizeof(float);
    TRY(rtMemcpy(found.data(), size, even, size, RT_MEMCPY_DEVICE_TO_HOST));
    for (const float value : found) {
        if (value != rounds) {
            std::fprintf(stderr, "%f instead of %u\n", value, rounds);
            return 1;
        }
    }
    for (void* memory : {one, even, odd}) TRY(rtFree(memory));
    TRY(rtStreamDestroy(stream));
    TRY(rtDeviceReset(0));
    std::printf("registered_stubs: %u launches on %s\n", rounds, chip);
}
