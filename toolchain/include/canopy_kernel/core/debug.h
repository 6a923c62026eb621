// SPDX-License-Identifier: Apache-2.0
// Output and failure of kernels: printf, DumpTensor, assertions, Trap. -DASCENDC_DUMP=0 turns
// printing off; assertions stay.
#ifndef CANOPY_KERNEL_DEBUG_H
#define CANOPY_KERNEL_DEBUG_H

#include "canopy_kernel/core/block.h"
#include "canopy_kernel/core/tensor.h"

#ifndef ASCENDC_DUMP
#define ASCENDC_DUMP 1
#endif

namespace canopy::kernel {

// Arguments as C passes them to variadic functions: block objects become numbers, short floating types become double.
template <class T>
inline T printable(T value) {
    return value;
}
inline int64_t printable(BlockIndex index) { return index; }
inline int64_t printable(BlockCount count) { return count; }
inline double printable(half value) { return static_cast<double>(static_cast<float>(value)); }
inline double printable(bfloat16_t value) { return static_cast<double>(static_cast<float>(value)); }

// A string on the block's stack; it moves to the heap if it does not fit.
class Text {
public:
    Text() = default;
    ~Text() {
        if (text_ != short_) __builtin_free(text_);
    }
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;

    __attribute__((noinline)) void add(const char* format, ...) {
        __builtin_va_list arguments;
        __builtin_va_start(arguments, format);
        int length = __builtin_vsnprintf(text_ + size_, capacity_ - size_, format, arguments);
        __builtin_va_end(arguments);
        if (length < 0) return;
        if (size_ + static_cast<size_t>(length) >= capacity_ && grow(size_ + static_cast<size_t>(length) + 1)) {
            __builtin_va_start(arguments, format);
            length = __builtin_vsnprintf(text_ + size_, capacity_ - size_, format, arguments);
            __builtin_va_end(arguments);
        }
        size_ = smaller(size_ + static_cast<size_t>(length), capacity_ - 1);
    }
    void print() const { canopy::kernel::print(text_, size_); }

private:
    bool grow(size_t needed) {
        size_t larger = capacity_ * 2;
        while (larger < needed) larger *= 2;
        auto* moved = static_cast<char*>(__builtin_malloc(larger));
        if (moved == nullptr) return false;
        __builtin_memcpy(moved, text_, size_);
        if (text_ != short_) __builtin_free(text_);
        text_ = moved;
        capacity_ = larger;
        return true;
    }

    char short_[512];
    char* text_ = short_;
    size_t size_ = 0;
    size_t capacity_ = sizeof short_;
};

template <class... Arguments>
inline void print_formatted(const char* format, Arguments... arguments) {
    Text text;
    text.add(format, arguments...);
    text.print();
}

template <class T>
constexpr const char* type_name() {
    if constexpr (is_same<T, half>)
        return "half";
    else if constexpr (is_same<T, bfloat16_t>)
        return "bfloat16";
    else if constexpr (is_same<T, float>)
        return "float32";
    else if constexpr (is_same<T, double>)
        return "float64";
    else if constexpr (is_same<T, int8_t>)
        return "int8";
    else if constexpr (is_same<T, uint8_t>)
        return "uint8";
    else if constexpr (is_same<T, int16_t>)
        return "int16";
    else if constexpr (is_same<T, uint16_t>)
        return "uint16";
    else if constexpr (is_same<T, int32_t>)
        return "int32";
    else if constexpr (is_same<T, uint32_t>)
        return "uint32";
    else if constexpr (sizeof(T) == 8)
        return static_cast<T>(-1) < T{} ? "int64" : "uint64";
    else
        return "unknown";
}

template <class T>
inline void add_value(Text& text, T value) {
    if constexpr (is_any_of<T, half, bfloat16_t, float, double>)
        text.add("%f", static_cast<double>(static_cast<float>(value)));
    else if constexpr (static_cast<T>(-1) < T{})
        text.add("%lld", static_cast<long long>(value));
    else
        text.add("%llu", static_cast<unsigned long long>(value));
}

// Prints values in rows of the innermost dimension; without a shape, eight per row.
template <class Tensor>
inline void dump(const Tensor& tensor, uint64_t address, const char* position, uint32_t description, uint32_t count,
                 uint32_t row) {
    using T = typename Tensor::PrimType;
    [[maybe_unused]] const Untold untold;
    Text text;
    text.add("DumpTensor: desc=%u, addr=0x%llx, data_type=%s, position=%s, dump_size=%u\n", description,
             static_cast<unsigned long long>(address), type_name<T>(), position, count);
    for (uint32_t i = 0; i < count; ++i) {
        text.add("%s", i % row == 0 ? "[" : ", ");
        add_value(text, tensor.GetValue(i));
        if (i % row == row - 1 || i + 1 == count) text.add("]\n");
    }
    text.print();
}

inline uint32_t row_length(const AscendC::ShapeInfo& shape) {
    const uint32_t last = shape.shapeDim == 0 ? 0 : shape.shape[shape.shapeDim - 1];
    return last == 0 ? 8 : last;
}

// Fails the task with the message of a failed assertion.
template <class... Arguments>
[[noreturn]] __attribute__((cold, noinline)) inline void fail_assertion(Where where, const char* condition,
                                                                        const char* format, Arguments... arguments) {
    char text[400];
    if (__builtin_snprintf(text, sizeof text, format, arguments...) < 0) text[0] = 0;
    fail(where, "assertion '%s' failed%s%s", condition, text[0] != 0 ? ": " : "", text);
}
[[noreturn]] __attribute__((cold, noinline)) inline void fail_assertion(Where where, const char* condition) {
    fail(where, "assertion '%s' failed", condition);
}

}  // namespace canopy::kernel

namespace AscendC {

template <class... Arguments>
inline void printf([[maybe_unused]] const char* format, [[maybe_unused]] Arguments... arguments) {
#if ASCENDC_DUMP
    canopy::kernel::print_formatted(format, canopy::kernel::printable(arguments)...);
#endif
}

template <class... Arguments>
inline void PRINTF(const char* format, Arguments... arguments) {
    AscendC::printf(format, arguments...);
}

template <class T>
inline void DumpTensor([[maybe_unused]] const LocalTensor<T>& tensor, [[maybe_unused]] uint32_t description,
                       [[maybe_unused]] uint32_t count) {
    DumpTensor(tensor, description, count, ShapeInfo());
}
template <class T>
inline void DumpTensor([[maybe_unused]] const GlobalTensor<T>& tensor, [[maybe_unused]] uint32_t description,
                       [[maybe_unused]] uint32_t count) {
    DumpTensor(tensor, description, count, ShapeInfo());
}
// The printed address of a local tensor is its offset in the memory of the core.
template <class T>
inline void DumpTensor([[maybe_unused]] const LocalTensor<T>& tensor, [[maybe_unused]] uint32_t description,
                       [[maybe_unused]] uint32_t count, [[maybe_unused]] const ShapeInfo& shape) {
#if ASCENDC_DUMP
    const Hardware memory = canopy::kernel::memory_of(tensor.position());
    const auto* address = reinterpret_cast<const unsigned char*>(tensor.GetPhyAddr());
    canopy::kernel::dump(tensor, static_cast<uint64_t>(address - canopy::kernel::memory_base(memory)),
                         canopy::kernel::name_of(memory), description, count, canopy::kernel::row_length(shape));
#endif
}
template <class T>
inline void DumpTensor([[maybe_unused]] const GlobalTensor<T>& tensor, [[maybe_unused]] uint32_t description,
                       [[maybe_unused]] uint32_t count, [[maybe_unused]] const ShapeInfo& shape) {
#if ASCENDC_DUMP
    canopy::kernel::dump(tensor, reinterpret_cast<uint64_t>(tensor.GetPhyAddr()), "GM", description, count,
                         canopy::kernel::row_length(shape));
#endif
}

inline void PrintTimeStamp([[maybe_unused]] uint32_t description) {
#if ASCENDC_DUMP
    AscendC::printf("TimeStamp: desc=%u, block=%lld, time=%lld ns\n", description,
                    static_cast<long long>(GetBlockIdx()), static_cast<long long>(canopy::kernel::nanoseconds()));
#endif
}

[[noreturn]] inline void Trap() { canopy::kernel::trap(); }

}  // namespace AscendC

#define CANOPY_HERE \
    canopy::kernel::Where { __FILE__, __LINE__ }

#define ascendc_assert(condition, ...) \
    ((condition) ? static_cast<void>(0) : canopy::kernel::fail_assertion(CANOPY_HERE, #condition, ##__VA_ARGS__))
// The second argument is a body that runs before the task fails.
#define ASCENDC_ASSERT(condition, ...)                               \
    do {                                                             \
        if (!(condition)) {                                          \
            __VA_ARGS__;                                             \
            canopy::kernel::fail_assertion(CANOPY_HERE, #condition); \
        }                                                            \
    } while (0)
#define ASCENDC_DEBUG_ASSERT(condition, ...) ASCENDC_ASSERT(condition, __VA_ARGS__)
#ifndef ASSERT
#define ASSERT(condition) ascendc_assert(condition)
#endif

// Levels are plain words: KERNEL_LOG(KERNEL_ERROR, "...").
#define KERNEL_LOG(level, format, ...) AscendC::printf("[" #level "] " format "\n", ##__VA_ARGS__)

#endif
