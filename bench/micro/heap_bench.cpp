// SPDX-License-Identifier: Apache-2.0
// The cost of a heap: allocate and release with few and with many live allocations, finding an allocation, and the page
// costs behind the constants in src/base/heap.cpp.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/heap.h"
#include "base/offset_allocator.h"

namespace canopy {
namespace {

constexpr std::uint64_t kibibyte = std::uint64_t{1} << 10;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

std::unique_ptr<Heap> make(std::uint64_t capacity, bool checking = false) {
    auto heap = Heap::create({"bench", capacity, checking});
    return heap.ok() ? std::move(*heap) : nullptr;
}

// Live allocations of 4 KiB to 1 MiB, with holes where every tenth was released.
std::vector<void*> populate(Heap& heap, std::int64_t count) {
    std::mt19937_64 random(1);
    std::vector<void*> live;
    std::vector<void*> holes;
    for (std::int64_t index = 0; index < count; ++index) {
        auto address = heap.allocate(4 * kibibyte + random() % mebibyte, 0);
        if (address.ok()) live.push_back(*address);
        auto hole = heap.allocate(4 * kibibyte + random() % mebibyte, 0);
        if (index % 10 == 0 && hole.ok())
            holes.push_back(*hole);
        else if (hole.ok())
            heap.release(*hole).ignore();
    }
    for (void* hole : holes) heap.release(hole).ignore();
    return live;
}

void BM_OffsetPair(benchmark::State& state) {
    auto allocator = OffsetAllocator::create(256 * gibibyte);
    for (std::int64_t index = 0; index < state.range(0); ++index)
        benchmark::DoNotOptimize(allocator->allocate(mebibyte));
    for (auto _ : state) {
        const auto offset = allocator->allocate(mebibyte);
        benchmark::DoNotOptimize(offset);
        allocator->release(*offset);
    }
}
BENCHMARK(BM_OffsetPair)->Arg(0)->Arg(1000)->Arg(100'000);

void BM_HeapPair1MiB(benchmark::State& state) {
    const auto heap = make(256 * gibibyte);
    const auto live = populate(*heap, state.range(0));
    for (auto _ : state) {
        auto address = heap->allocate(mebibyte, 0);
        benchmark::DoNotOptimize(*address);
        heap->release(*address).ignore();
    }
    state.counters["live"] = static_cast<double>(live.size());
}
BENCHMARK(BM_HeapPair1MiB)->Arg(0)->Arg(1000)->Arg(100'000);

// Releases a random live allocation and makes a new one of the same size, with cold caches.
void BM_HeapRandomReplace(benchmark::State& state) {
    const auto heap = make(256 * gibibyte);
    std::vector<void*> live;
    for (std::int64_t index = 0; index < state.range(0); ++index) {
        auto address = heap->allocate(mebibyte, 0);
        live.push_back(*address);
    }
    std::mt19937_64 random(2);
    for (auto _ : state) {
        void*& slot = live[random() % live.size()];
        heap->release(slot).ignore();
        auto address = heap->allocate(mebibyte, 0);
        slot = *address;
    }
}
BENCHMARK(BM_HeapRandomReplace)->Arg(1000)->Arg(100'000);

void BM_HeapFindSame(benchmark::State& state) {
    const auto heap = make(256 * gibibyte);
    const auto live = populate(*heap, state.range(0));
    const auto* inside = static_cast<const std::byte*>(live[live.size() / 2]) + 3000;
    for (auto _ : state) benchmark::DoNotOptimize(heap->find(inside));
}
BENCHMARK(BM_HeapFindSame)->Arg(1000)->Arg(100'000);

void BM_HeapFindRandom(benchmark::State& state) {
    const auto heap = make(256 * gibibyte);
    const auto live = populate(*heap, state.range(0));
    std::mt19937_64 random(3);
    for (auto _ : state)
        benchmark::DoNotOptimize(heap->find(static_cast<const std::byte*>(live[random() % live.size()]) + 3000));
}
BENCHMARK(BM_HeapFindRandom)->Arg(1000)->Arg(100'000);

void BM_CheckingPair1MiB(benchmark::State& state) {
    const auto heap = make(gibibyte, true);
    for (auto _ : state) {
        auto address = heap->allocate(mebibyte, 0);
        benchmark::DoNotOptimize(*address);
        heap->release(*address).ignore();
    }
}
BENCHMARK(BM_CheckingPair1MiB);

// Writes every byte of a block whose pages exist, or of one whose pages were returned to the OS before: the difference
// is what `kept_free` saves a program that frees and allocates large blocks in a loop.
void BM_LargeBlockWarm(benchmark::State& state) {
    const auto heap = make(gibibyte);
    auto address = heap->allocate(256 * mebibyte, 0);
    std::memset(*address, 1, 256 * mebibyte);
    for (auto _ : state) {
        heap->release(*address).ignore();
        address = heap->allocate(256 * mebibyte, 0);
        std::memset(*address, 1, 256 * mebibyte);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(256 * mebibyte));
}
BENCHMARK(BM_LargeBlockWarm)->Unit(benchmark::kMillisecond);

void BM_LargeBlockGivenBack(benchmark::State& state) {
    const auto heap = make(gibibyte);
    auto address = heap->allocate(256 * mebibyte, 0);
    std::memset(*address, 1, 256 * mebibyte);
    for (auto _ : state) {
        heap->release(*address).ignore();
        heap->trim();
        address = heap->allocate(256 * mebibyte, 0);
        std::memset(*address, 1, 256 * mebibyte);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(256 * mebibyte));
}
BENCHMARK(BM_LargeBlockGivenBack)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace canopy

BENCHMARK_MAIN();
