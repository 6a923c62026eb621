// SPDX-License-Identifier: Apache-2.0
// Tests of vector operations: every operation runs with random masks, repeats and strides on an image of the unified
// buffer. The whole image is compared with the result of a loop on the host, so lanes that are masked out are compared
// as well.
#ifndef CANOPY_TESTS_LANGUAGE_VECTOR_CASES_H
#define CANOPY_TESTS_LANGUAGE_VECTOR_CASES_H

#include "ub_image.h"

#include <cmath>
#include <limits>

namespace cases {

constexpr uint32_t image_bytes = 160 * 1024;
constexpr uint32_t dst_byte = 0;
constexpr uint32_t a_byte = 64 * 1024;
constexpr uint32_t b_byte = 112 * 1024;

// How the elements of a call are selected. The preset forms set the mask before a call with isSetMask = false.
enum class Form { count, lanes, bits, counter, preset_lanes, preset_bits, preset_counter };
constexpr Form all_forms[] = {Form::count,        Form::lanes,       Form::bits,          Form::counter,
                              Form::preset_lanes, Form::preset_bits, Form::preset_counter};

struct Strides {
    uint16_t block = 1;
    uint16_t repeat = 8;
};

struct Shape {
    Form form = Form::count;
    uint64_t mask[2] = {};  // a number of elements, or bits
    uint8_t repeats = 1;
    uint32_t width = 64;  // lanes per repeat
    Strides dst, a, b;
    bool in_place = false;  // a overlaps dst exactly

    uint32_t a_base() const { return in_place ? dst_byte : a_byte; }

    bool counts() const { return form == Form::count || form == Form::counter || form == Form::preset_counter; }
    bool by_bits() const { return form == Form::bits || form == Form::preset_bits; }
    bool takes(uint32_t lane) const {
        if (by_bits()) return (mask[lane / 64] >> lane % 64 & 1) != 0;
        return lane < mask[0];
    }
};

// Calls act(repeat, lane) for each selected element, in order.
template <class Act>
void for_each_lane(const Shape& shape, const Act& act) {
    if (shape.counts()) {
        for (uint64_t i = 0; i < shape.mask[0]; ++i) act(i / shape.width, static_cast<uint32_t>(i % shape.width));
        return;
    }
    for (uint64_t r = 0; r < shape.repeats; ++r)
        for (uint32_t lane = 0; lane < shape.width; ++lane)
            if (shape.takes(lane)) act(r, lane);
}

// The position of an element in the image.
template <class T>
uint64_t byte_of(const Shape& shape, uint32_t base, Strides strides, uint64_t repeat, uint32_t lane) {
    const uint32_t per_block = 32 / sizeof(T);
    if (shape.form == Form::count) return base + (repeat * shape.width + lane) * sizeof(T);
    return base + (repeat * strides.repeat + lane / per_block * strides.block) * 32ull + lane % per_block * sizeof(T);
}

// Makes contiguous operands frequent, since they take another path.
inline Shape random_shape(Form form, uint32_t seed, uint32_t width, uint32_t widest) {
    std::mt19937 random(seed);
    Shape shape;
    shape.form = form;
    shape.width = width;
    shape.repeats = static_cast<uint8_t>(1 + random() % 6);
    const auto whole = [&](uint32_t size) { return static_cast<uint16_t>(width * size / 32); };
    const bool contiguous = random() % 2 == 0;
    for (Strides* strides : {&shape.dst, &shape.a, &shape.b}) {
        strides->block = contiguous ? 1 : static_cast<uint16_t>(1 + random() % 3);
        strides->repeat = contiguous ? whole(widest) : static_cast<uint16_t>(random() % 28);
    }
    if (shape.counts())
        shape.mask[0] = 1 + random() % (6 * width);
    else if (shape.by_bits())
        shape.mask[0] = (uint64_t{random()} << 32) | random(), shape.mask[1] = (uint64_t{random()} << 32) | random();
    else
        shape.mask[0] = 1 + random() % width;
    if (random() % 4 == 0 && !shape.by_bits() && !shape.counts()) shape.mask[0] = width;
    return shape;
}

// Numbers of all magnitudes, some of them special values.
template <class T>
T random_number(std::mt19937& random) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
        const float special[] = {0.0f,  -0.0f, INFINITY, -INFINITY, NAN,   1.0f,
                                 -1.0f, 0.5f,  65504.0f, 1e-40f,    6e-8f, 3e38f};
        if (random() % 8 == 0) return static_cast<T>(special[random() % (sizeof special / sizeof *special)]);
        const float number = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f;
        return static_cast<T>(number * std::ldexp(1.0f, static_cast<int>(random() % 24) - 12));
    } else {
        const T special[] = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
        if (random() % 8 == 0) return special[random() % 5];
        const auto bits = (uint64_t{random()} << 32) | random();
        return random() % 2 == 0 ? static_cast<T>(bits) : static_cast<T>(static_cast<int64_t>(bits) >> 58);
    }
}

template <class T>
void fill(Image& image, uint32_t from, uint32_t to, uint32_t seed) {
    std::mt19937 random(seed);
    for (uint32_t byte = from; byte < to; byte += sizeof(T)) image.set<T>(byte, random_number<T>(random));
}

template <class T>
bool is_nan(T value) {
    if constexpr (std::numeric_limits<T>::is_integer)
        return false;
    else
        return static_cast<float>(value) != static_cast<float>(value);
}

// The distance between neighbouring numbers of type T around `value`.
template <class T>
double unit_at(double value) {
    int exponent = 0;
    std::frexp(value, &exponent);
    if constexpr (std::is_same_v<T, half>) return std::ldexp(1.0, std::max(exponent - 11, -24));
    if constexpr (std::is_same_v<T, bfloat16_t>) return std::ldexp(1.0, std::max(exponent - 8, -133));
    return std::ldexp(1.0, std::max(exponent - 24, -149));
}

// Equal, both NaN, or at most `units` units in the last place apart. Values that are too large count as infinity.
template <class T>
bool close_enough(T got, double wanted, double units) {
    const T rounded = static_cast<T>(wanted);
    if (is_nan(got) || is_nan(rounded)) return is_nan(got) && is_nan(rounded);
    if (std::memcmp(&got, &rounded, sizeof got) == 0) return true;
    if (units == 0 || std::isinf(wanted)) return false;
    if (std::isinf(static_cast<double>(got))) return std::isinf(static_cast<double>(rounded));
    return std::fabs(static_cast<double>(got) - wanted) <= units * unit_at<T>(wanted);
}

// The kernel side: one call of an operation with one source (`Call::binary` is false) or two.
template <class Call, class D, class A, class B>
struct Operation {
    Shape shape;

    template <bool set, class Mask>
    __aicore__ void masked(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<A>& a,
                           const AscendC::LocalTensor<B>& b, Mask mask) const {
        if constexpr (Call::binary) {
            Call::template masked<set>(dst, a, b, mask, shape.repeats,
                                       AscendC::BinaryRepeatParams(shape.dst.block, shape.a.block, shape.b.block,
                                                                   shape.dst.repeat, shape.a.repeat, shape.b.repeat));
        } else {
            Call::template masked<set>(
                dst, a, mask, shape.repeats,
                AscendC::UnaryRepeatParams(shape.dst.block, shape.a.block, shape.dst.repeat, shape.a.repeat));
        }
    }

    __aicore__ void run() const {
        using namespace AscendC;
        const auto dst = ub<D>(dst_byte, a_byte / sizeof(D));
        const auto a = ub<A>(shape.a_base(), (b_byte - a_byte) / sizeof(A));
        const auto b = ub<B>(b_byte, (image_bytes - b_byte) / sizeof(B));
        // The widest type determines the meaning of a lane mask.
        using Widest = std::conditional_t<(sizeof(A) > sizeof(D)), A, D>;
        switch (shape.form) {
            case Form::count:
                if constexpr (Call::binary)
                    Call::counted(dst, a, b, static_cast<int32_t>(shape.mask[0]));
                else
                    Call::counted(dst, a, static_cast<int32_t>(shape.mask[0]));
                break;
            case Form::lanes:
                masked<true>(dst, a, b, shape.mask[0]);
                break;
            case Form::bits:
                masked<true>(dst, a, b, shape.mask);
                break;
            case Form::counter:
                SetMaskCount();
                masked<true>(dst, a, b, shape.mask[0]);
                SetMaskNorm();
                break;
            case Form::preset_lanes:
                SetVectorMask<Widest>(static_cast<int32_t>(shape.mask[0]));
                masked<false>(dst, a, b, MASK_PLACEHOLDER);
                ResetMask();
                break;
            case Form::preset_bits:
                SetVectorMask<Widest, MaskMode::NORMAL>(shape.mask[1], shape.mask[0]);
                masked<false>(dst, a, b, MASK_PLACEHOLDER);
                ResetMask();
                break;
            case Form::preset_counter:
                SetMaskCount();
                SetVectorMask<Widest, MaskMode::COUNTER>(static_cast<int32_t>(shape.mask[0]));
                masked<false>(dst, a, b, MASK_PLACEHOLDER);
                SetMaskNorm();
                ResetMask();
                break;
        }
    }
};

// Runs one shape and compares it with the host. `reference(old, a, b)` returns the new element: a double for floating
// types (compared within `units`), the element itself for integers. Returns false after a failure.
template <class Call, class D, class A, class B, class Reference>
bool run_shape(const Shape& shape, uint32_t seed, double units, const Reference& reference) {
    Image image(image_bytes);
    fill<D>(image, dst_byte, a_byte, seed);
    fill<A>(image, a_byte, b_byte, seed + 1);
    fill<B>(image, b_byte, image_bytes, seed + 2);
    Image expected = image;
    Image got = image;
    const std::string failure = run_on_image(Operation<Call, D, A, B>{shape}, got);
    EXPECT_EQ(failure, "");
    bool fine = failure.empty();
    for_each_lane(shape, [&](uint64_t r, uint32_t lane) {
        const uint64_t at = byte_of<D>(shape, dst_byte, shape.dst, r, lane);
        const D old = expected.get<D>(at);
        const A a = expected.get<A>(byte_of<A>(shape, shape.a_base(), shape.a, r, lane));
        const B b = expected.get<B>(byte_of<B>(shape, b_byte, shape.b, r, lane));
        const auto wanted = reference(old, a, b);
        expected.set<D>(at, static_cast<D>(wanted));
        if (std::is_same_v<decltype(wanted), const double> && close_enough(got.get<D>(at), wanted, units))
            expected.set<D>(at, got.get<D>(at));
    });
    const auto same = same_image(got, expected);
    EXPECT_TRUE(same) << "form " << static_cast<int>(shape.form) << " repeats " << int{shape.repeats} << " mask "
                      << shape.mask[0] << " seed " << seed;
    return fine && same;
}

// Runs all forms with several shapes each, and with the destination in place of the first source.
template <class Call, class D, class A = D, class B = A, class Reference>
void run_forms(double units, const Reference& reference, uint32_t first_seed = 1) {
    constexpr uint32_t widest = sizeof(A) > sizeof(D) ? sizeof(A) : sizeof(D);
    uint32_t seed = first_seed;
    for (const Form form : all_forms)
        for (int round = 0; round < 4; ++round, ++seed) {
            Shape shape = random_shape(form, seed, 256 / widest, widest);
            if (sizeof(D) != sizeof(A) && shape.dst.block == 1 && shape.a.block == 1 && shape.b.block == 1) {
                shape.dst.repeat = static_cast<uint16_t>(shape.width * sizeof(D) / 32);
                shape.a.repeat = static_cast<uint16_t>(shape.width * sizeof(A) / 32);
                shape.b.repeat = static_cast<uint16_t>(shape.width * sizeof(B) / 32);
            }
            // Inexact results cannot be predicted where an element is written twice.
            if (units > 0 && shape.dst.repeat < 8 * shape.dst.block) shape.dst.repeat = 8 * shape.dst.block;
            if (!run_shape<Call, D, A, B>(shape, seed, units, reference)) return;
            if (std::is_same_v<D, A>) {
                shape.a = shape.dst;
                if (shape.dst.repeat < 8 * shape.dst.block) shape.dst.repeat = shape.a.repeat = 8 * shape.dst.block;
                shape.in_place = true;
                if (!run_shape<Call, D, A, B>(shape, seed, units, reference)) return;
            }
        }
}

}  // namespace cases

#endif
