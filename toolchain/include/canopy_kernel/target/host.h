// SPDX-License-Identifier: Apache-2.0
// The expansion of a launch in host code. canopy-cc puts this header before every source, rewrites `kernel<<<a, b,
// c>>>(x)` to `Launch(a, b, c).run(((void)kernel(x), 0))`, and makes `start` the body of every kernel in host code. The
// types of a, b and c select the form of the launch.
//
// Threads: everything belongs to the launching thread.
#ifndef CANOPY_KERNEL_HOST_H
#define CANOPY_KERNEL_HOST_H

#include <canopy/launch.h>

#include "canopy_kernel/target/entry.h"

// All launch sites of a program or shared library, collected by the linker.
extern "C" __attribute__((visibility("hidden"))) CanopyLaunchSite __start_canopy_sites[];
extern "C" __attribute__((visibility("hidden"))) CanopyLaunchSite __stop_canopy_sites[];

namespace {
// The image of this source; canopy-cc appends the definition.
extern CanopyEmbeddedImage canopy_embedded_image;
}  // namespace

namespace canopy::launch {

template <bool, class = int>
struct EnableIf {};
template <class T>
struct EnableIf<true, T> {
    using Type = T;
};

template <class T>
inline constexpr bool is_number = __is_integral(T) || __is_enum(T);

constexpr uint32_t limited(long long value) {
    return value < 0 ? 0 : value > 0xFFFFFFFFll ? 0xFFFFFFFFu : static_cast<uint32_t>(value);
}

// Number of blocks: a number, {x, y, z}, or an object with x, y and z such as dim3.
struct Dimensions {
    uint32_t value[3];

    template <class T, typename EnableIf<is_number<T>>::Type = 0>
    constexpr Dimensions(T x) : value{limited(static_cast<long long>(x)), 1, 1} {}
    template <class T, class = decltype(static_cast<const T*>(nullptr)->x + static_cast<const T*>(nullptr)->z)>
    constexpr Dimensions(const T& three) : value{limited(three.x), limited(three.y), limited(three.z)} {}
    template <class T, class = decltype(static_cast<long long>(*static_cast<const T*>(nullptr))),
              typename EnableIf<__is_class(T)>::Type = 0>
    constexpr Dimensions(const T& convertible, int = 0) : value{limited(static_cast<long long>(convertible)), 1, 1} {}
    constexpr Dimensions(long long x, long long y, long long z = 1) : value{limited(x), limited(y), limited(z)} {}
};

// A stream: anything that converts to an aclrtStream; 0 and nullptr mean the default stream.
struct Stream {
    void* value;

    constexpr Stream(decltype(nullptr)) : value(nullptr) {}
    constexpr Stream(void* stream) : value(stream) {}
};

// The second launch argument: bytes of local memory, a null or ignored pointer, the threads of a block, or a stream.
struct Second {
    enum Kind { number, pointer, dimensions } kind;
    uint64_t bytes = 0;
    void* address = nullptr;
    uint32_t threads[3] = {};

    template <class T, typename EnableIf<is_number<T>>::Type = 0>
    constexpr Second(T value)
        : kind(number), bytes(static_cast<uint64_t>(value)), threads{limited(static_cast<long long>(value)), 1, 1} {}
    constexpr Second(decltype(nullptr)) : kind(pointer) {}
    Second(const void* value) : kind(pointer), address(const_cast<void*>(value)) {}
    template <class T, class = decltype(static_cast<const T*>(nullptr)->x + static_cast<const T*>(nullptr)->z)>
    constexpr Second(const T& three)
        : kind(dimensions), threads{limited(three.x), limited(three.y), limited(three.z)} {}
    constexpr Second(long long x, long long y, long long z = 1)
        : kind(dimensions), threads{limited(x), limited(y), limited(z)} {}
};

// The third launch argument: a stream, or bytes if the second one was the threads.
struct Third {
    bool is_number_ = false;
    uint64_t bytes = 0;
    void* stream = nullptr;

    template <class T, typename EnableIf<is_number<T>>::Type = 0>
    constexpr Third(T value) : is_number_(true), bytes(static_cast<uint64_t>(value)) {}
    constexpr Third(decltype(nullptr)) {}
    constexpr Third(void* value) : stream(value) {}
};

struct Fourth {
    void* stream = nullptr;

    constexpr Fourth(decltype(nullptr)) {}
    constexpr Fourth(void* value) : stream(value) {}
};

// A number as the second argument means threads for a SIMT kernel, and bytes for other kernels.
enum Form : uint32_t { certain = 0, bytes_or_threads = 1, threads_and_bytes = 2 };

class Launch : CanopyPendingLaunch {
public:
    explicit Launch(const Dimensions& blocks) { begin(blocks, nullptr, 0, nullptr, certain); }
    Launch(const Dimensions& blocks, const Second& second) {
        begin(blocks, second.kind == Second::pointer ? nullptr : second.threads, second.bytes, second.address,
              second.kind == Second::number ? bytes_or_threads : certain);
    }
    Launch(const Dimensions& blocks, const Second& second, const Third& third) {
        if (second.kind == Second::dimensions)
            begin(blocks, second.threads, third.bytes, third.stream, certain);
        else if (third.is_number_)
            begin(blocks, second.threads, third.bytes, nullptr, threads_and_bytes, second.bytes);
        else
            begin(blocks, second.kind == Second::pointer ? nullptr : second.threads, second.bytes, third.stream,
                  second.kind == Second::number ? bytes_or_threads : certain);
    }
    Launch(const Dimensions& blocks, const Second& threads, const Third& bytes, const Fourth& stream) {
        begin(blocks, threads.threads, bytes.bytes, stream.stream, certain);
    }
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;
    // Still pending if an argument threw, so that the kernel was never called.
    ~Launch() {
        if (*head_ == this) *head_ = previous;
    }

    // The value of the launch expression.
    int run(int) const { return result; }

    // Takes this thread's pending launch and adapts its configuration to the kernel; null if there is none.
    static CanopyPendingLaunch* take(bool threads) {
        CanopyPendingLaunch** head = canopyPendingLaunch();
        CanopyPendingLaunch* launch = *head;
        if (launch == nullptr) return nullptr;
        *head = launch->previous;
        CanopyConfiguration& configuration = launch->configuration;
        if (launch->form == bytes_or_threads && threads) configuration.dynamic_size = 0;
        if (launch->form == threads_and_bytes && !threads)
            configuration.dynamic_size = static_cast<Launch*>(launch)->second_;
        if (launch->form != certain && !threads)
            configuration.threads[0] = configuration.threads[1] = configuration.threads[2] = 0;
        return launch;
    }

private:
    void begin(const Dimensions& blocks, const uint32_t* threads, uint64_t bytes, void* stream, Form how,
               uint64_t second = 0) {
        for (int axis = 0; axis < 3; ++axis) {
            configuration.grid[axis] = blocks.value[axis];
            configuration.threads[axis] = threads == nullptr ? 0 : threads[axis];
        }
        configuration.dynamic_size = bytes;
        configuration.stream = stream;
        result = 0;
        form = how;
        second_ = second;
        head_ = canopyPendingLaunch();
        previous = *head_;
        *head_ = this;
    }

    CanopyPendingLaunch** head_;
    uint64_t second_;
};

template <unsigned flags, class... Parameters>
struct Arguments {
    static constexpr const kernel::Slots<Parameters...>& slots = kernel::slots_of<Parameters...>;
    static constexpr uint32_t size = static_cast<uint32_t>(slots.size);
};
template <class... Parameters>
struct Arguments<CANOPY_LAUNCH_THREADS, Parameters...> {
    static constexpr const kernel::Slots<Parameters..., CanopyGrid>& slots =
        kernel::slots_of<Parameters..., CanopyGrid>;
    static constexpr uint32_t size = static_cast<uint32_t>(slots.size);
};

// The body of a kernel's host function. Bytes between the slots are never read. A parameter may be a restrict pointer,
// whose address becomes a plain pointer only by a C-style cast.
template <unsigned flags, class... Parameters>
__attribute__((nodebug, always_inline)) inline void start(CanopyLaunchSite& site, const Parameters&... parameters) {
    using Block = Arguments<flags, Parameters...>;
    alignas(Block::slots.largest) unsigned char bytes[Block::size + 1];
    [[maybe_unused]] size_t index = 0;
    (..., (__builtin_memcpy(bytes + Block::slots.offset[index], (const void*)&parameters, sizeof parameters), ++index));
    CanopyPendingLaunch* launch = Launch::take(flags & CANOPY_LAUNCH_THREADS);
    if (launch == nullptr) {
        canopyLaunch(&site, nullptr, bytes, Block::size);
        return;
    }
    if constexpr ((flags & CANOPY_LAUNCH_THREADS) != 0) {
        CanopyGrid grid;
        for (int axis = 0; axis < 3; ++axis) {
            grid.grid[axis] = launch->configuration.grid[axis];
            grid.block[axis] = launch->configuration.threads[axis] == 0 ? 1 : launch->configuration.threads[axis];
        }
        __builtin_memcpy(bytes + Block::slots.offset[sizeof...(Parameters)], &grid, sizeof grid);
    }
    launch->result = canopyLaunch(&site, &launch->configuration, bytes, Block::size);
}

}  // namespace canopy::launch

#endif
