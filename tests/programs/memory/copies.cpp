// SPDX-License-Identifier: Apache-2.0
// Copies without kernels: within the host, to the device and back, within the device, of rectangles and in batches.
#include <numeric>

#include "check.h"

namespace {

constexpr std::size_t bytes = 100000;

void there_and_back(aclrtStream stream) {
    void *source = nullptr, *target = nullptr, *first = nullptr, *second = nullptr;
    CHECK(aclrtMallocHost(&source, bytes));
    CHECK(aclrtMallocHost(&target, bytes));
    CHECK(aclrtMalloc(&first, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&second, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    auto* values = static_cast<unsigned char*>(source);
    std::iota(values, values + bytes, static_cast<unsigned char>(1));

    CHECK(aclrtMemcpy(target, bytes, source, bytes, ACL_MEMCPY_HOST_TO_HOST));
    REQUIRE(std::memcmp(source, target, bytes) == 0);
    std::memset(target, 0, bytes);
    CHECK(aclrtMemcpy(first, bytes, source, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(second, bytes, first, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
    CHECK(aclrtMemcpy(target, bytes, second, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(std::memcmp(source, target, bytes) == 0);

    values[5] = 200;
    CHECK(aclrtMemcpyAsync(first, bytes, source, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclrtMemcpyAsync(second, bytes, first, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK(aclrtMemcpyAsync(target, bytes, second, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(std::memcmp(source, target, bytes) == 0);
    REQUIRE(aclrtMemcpy(first, bytes - 1, source, bytes, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS);  // too small
    CHECK(aclrtFreeHost(source));
    CHECK(aclrtFreeHost(target));
    CHECK(aclrtFree(first));
    CHECK(aclrtFree(second));
}

void rectangles(aclrtStream stream) {
    constexpr std::size_t width = 12, height = 5, pitch = 32;
    std::vector<char> rows(width * height), back(width * height, 0);
    std::iota(rows.begin(), rows.end(), 1);
    auto* memory = programs::to_device(std::vector<char>(pitch * height, -1));
    CHECK(aclrtMemcpy2d(memory, pitch, rows.data(), width, width, height, ACL_MEMCPY_HOST_TO_DEVICE));
    const auto padded = programs::to_host(memory, pitch * height);
    for (std::size_t i = 0; i < padded.size(); ++i)
        REQUIRE(padded[i] == (i % pitch < width ? rows[i / pitch * width + i % pitch] : -1));
    CHECK(aclrtMemcpy2dAsync(back.data(), width, memory, pitch, width, height, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(back == rows);
    CHECK(aclrtFree(memory));
}

void batches() {
    constexpr std::size_t parts = 3, size = 40;
    std::vector<char> host(parts * size);
    std::iota(host.begin(), host.end(), 1);
    auto* memory = programs::to_device(std::vector<char>(parts * size, 0));
    void *targets[parts], *sources[parts];
    std::size_t room[parts], sizes[parts], first = 0, failed = 0;
    for (std::size_t i = 0; i < parts; ++i) {  // swaps the order of the parts
        targets[i] = memory + (parts - 1 - i) * size;
        sources[i] = host.data() + i * size;
        room[i] = sizes[i] = size;
    }
    aclrtMemcpyBatchAttr direction = {};
    direction.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    direction.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    CHECK(aclrtMemcpyBatch(targets, room, sources, sizes, parts, &direction, &first, 1, &failed));
    const auto found = programs::to_host(memory, parts * size);
    for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == host[(parts - 1 - i / size) * size + i % size]);
    CHECK(aclrtFree(memory));
}

}  // namespace

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    there_and_back(stream);
    rectangles(stream);
    batches();
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("copies: %zu bytes, rectangles, batches\n", bytes);
}
