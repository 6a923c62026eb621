// SPDX-License-Identifier: Apache-2.0
// The operations of Te::Copy that move data without changing it: into the core, inside it, and from UB to global
// memory. What is copied follows from the two layouts; the patterns only limit the pairs that a chip has.
#ifndef CANOPY_KERNEL_TENSOR_COPY_OPERATIONS_H
#define CANOPY_KERNEL_TENSOR_COPY_OPERATIONS_H

#include "canopy_kernel/cube/cube_image.h"
#include "canopy_kernel/tensor_interface/copy_check.h"
#include "canopy_kernel/tensor_interface/told_tensors.h"

namespace AscendC::Te {

namespace CopyMode {
struct NORMAL {};
struct TRANS {};
struct TRANS_B8B4 {};
}  // namespace CopyMode

// The trait of an operation and the type that names its default.
#define CANOPY_COPY_TRAIT(Operation, DEFAULT)             \
    struct Operation##Trait {};                           \
    inline constexpr Operation##Trait DEFAULT{};          \
    struct Operation##TraitDefault {                      \
        using TraitType = Operation##Trait;               \
        static constexpr const TraitType value = DEFAULT; \
    };
CANOPY_COPY_TRAIT(CopyGM2L1, DEFAULT_COPY_GM_TO_L1_TRAIT)
CANOPY_COPY_TRAIT(CopyGM2UB, DEFAULT_COPY_GM_TO_UB_TRAIT)
CANOPY_COPY_TRAIT(CopyUB2GM, DEFAULT_COPY_UB_TO_GM_TRAIT)
CANOPY_COPY_TRAIT(CopyUB2UB, DEFAULT_COPY_UB_TO_UB_TRAIT)
CANOPY_COPY_TRAIT(CopyUB2L1, DEFAULT_COPY_UB_TO_L1_TRAIT)
CANOPY_COPY_TRAIT(CopyL12UB, DEFAULT_COPY_L1_TO_UB_TRAIT)
CANOPY_COPY_TRAIT(CopyL12L0A, DEFAULT_COPY_L1_TO_L0A_TRAIT)
CANOPY_COPY_TRAIT(CopyL12L0B, DEFAULT_COPY_L1_TO_L0B_TRAIT)
CANOPY_COPY_TRAIT(CopyL12L0ScaleA, DEFAULT_COPY_L1_TO_L0SCALEA_TRAIT)
CANOPY_COPY_TRAIT(CopyL12L0ScaleB, DEFAULT_COPY_L1_TO_L0SCALEB_TRAIT)
CANOPY_COPY_TRAIT(CopyL12BT, DEFAULT_COPY_L1_BT_TRAIT)
CANOPY_COPY_TRAIT(CopyL12FB, DEFAULT_COPY_L1_FB_TRAIT)
#undef CANOPY_COPY_TRAIT

// A convolution's matrix from an image: its size (0: that of the destination), padding (left, right, top, bottom),
// strides, filter and dilation.
template <class T>
struct Img2ColParams {
    uint16_t mExtension = 0;
    uint16_t kExtension = 0;
    uint8_t padList[4] = {0, 0, 0, 0};
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool transpose = false;
    bool fMatrixCtrl = false;
    T padValue = 0;
};

}  // namespace AscendC::Te

namespace canopy::kernel::te {

enum class Runs : uint8_t { on_cube_cores, on_vector_cores };

template <Runs runs>
inline bool leaves_out() {
    return runs == Runs::on_cube_cores ? on_vector_core() : on_cube_core();
}

// The common part of the operations below.
template <class From, class To, Runs runs, class D, class S>
inline void copy_tensor(const char* operation, const D& dst, const S& src, bool pad, Where where) {
    using T = typename D::valueType;
    static_assert(is_in<S, From>, "Copy: the source is not in the memory that this operation copies from");
    static_assert(is_in<D, To>, "Copy: the destination is not in the memory that this operation copies to");
    static_assert(same_type<D, S>, "Copy: this operation does not convert; both tensors have one element type");
    if (leaves_out<runs>()) return;
    const Matrices target = view_of(dst), source = view_of(src);
    check_operand<From>(operation, "source", src, source, where);
    check_operand<To>(operation, "destination", dst, target, where);
    T* to = const_cast<T*>(address_of(dst));
    if constexpr (is_same<From, Location::L1> && is_same<To, Location::UB>)
        to = in_vector_core(operation, to, extent_of(target, sizeof(T) * 8 / packing<T>), 0, where);
    if constexpr (is_same<From, Location::UB> && is_same<To, Location::L1>)
        to = in_cube_core(operation, to, extent_of(target, sizeof(T) * 8 / packing<T>), where);
    const Instruction instruction(copy_pipe<From, To>(), operation, where, copy_flow<D, S>);
    if constexpr (is_checking_variant) add_copy<D, S>(to, target, address_of(src), source, pad);
    if constexpr (is_same<To, Location::GM>) {
        OutOfCore move(element_kind<T>);
        copy_matrices<T>(to, target, address_of(src), source, move);
    } else {
        choose<is_same<From, Location::GM>, IntoCore, InsideCore> move;
        if (is_same<From, Location::GM>) check_fits(operation, target, source, where);
        copy_matrices<T>(to, target, address_of(src), source, move, pad);
    }
}

template <class D, class S, class Pattern>
inline constexpr bool both = has_pattern<D, Pattern>&& has_pattern<S, Pattern>;

template <class D, class S>
inline constexpr bool have_same_pattern =
    both<D, S, NDLayoutPtn> || both<D, S, DNLayoutPtn> || both<D, S, NZLayoutPtn> || both<D, S, ZNLayoutPtn>;

// Whole blocks of 32 bytes.
template <class S>
inline void check_blocks(const char* operation, const S& src, Where where) {
    if constexpr (checked) {
        const auto columns = static_cast<uint64_t>(GetTotalColumnShape(src.Layout()));
        const uint64_t bytes = bytes_of<typename S::valueType>(columns);
        if (bytes % block_bytes != 0)
            fail(where, "%s: rows of %llu bytes are not a multiple of 32", operation, printable(bytes));
    }
}

template <class D, class S, class P>
inline void copy_image(const D& dst, const S& src, const Img2ColParams<P>& params, Where where) {
    using T = typename D::valueType;
    static_assert(is_in<S, Location::L1> && is_in<D, Location::L0A>, "CopyL12L0A with Img2ColParams copies L1 to L0A");
    static_assert(same_type<D, S>, "CopyL12L0A: both tensors have one element type");
    static_assert(is_same<pattern_of<S>, NC1HWC0LayoutPtn> && has_pattern<D, NZLayoutPtn>,
                  "CopyL12L0A with Img2ColParams: NZ <- NC1HWC0");
    static_assert(packing<T> == 1, "CopyL12L0A with Img2ColParams: elements fill whole bytes");
    if (on_vector_core()) return;
    const Matrices image = view_of(src), target = view_of(dst).joined();
    check_operand<Location::L1>("CopyL12L0A", "source", src, image, where);
    check_operand<Location::L0A>("CopyL12L0A", "destination", dst, target, where);
    ImageView<T> view{};
    view.source = address_of(src);
    view.height = static_cast<uint32_t>(image.row.blocks);
    view.width = static_cast<uint32_t>(image.row.inner);
    view.channels = static_cast<uint32_t>(image.column.size());
    view.left = params.padList[0], view.right = params.padList[1];
    view.top = params.padList[2], view.bottom = params.padList[3];
    view.stride_x = params.strideW, view.stride_y = params.strideH;
    view.filter_x = params.filterW + (params.filterSizeW ? 256u : 0u);
    view.filter_y = params.filterH + (params.filterSizeH ? 256u : 0u);
    view.dilation_x = params.dilationFilterW, view.dilation_y = params.dilationFilterH;
    view.padding = static_cast<T>(params.padValue);
    T* to = address_of(dst);
    const int64_t m =
        params.mExtension != 0 ? params.mExtension : (params.transpose ? target.column.size() : target.row.size());
    const int64_t k =
        params.kExtension != 0 ? params.kExtension : (params.transpose ? target.row.size() : target.column.size());
    const Instruction instruction(PIPE_MTE1, "CopyL12L0A", where, CANOPY_CHECK_FILL);
    if constexpr (is_checking_variant) {
        LocalTensor<T> local;
        local.place(const_cast<T*>(view.source), static_cast<uint32_t>(image.row.size() * image.column.size()),
                    TPosition::A1);
        add_image_source(local, view, {0, 0, static_cast<uint32_t>(m), static_cast<uint32_t>(k), params.transpose});
        add_tensor<D>(CANOPY_CHECK_WRITE, "dst", to, target,
                      {smaller(params.transpose ? k : m, target.row.size()),
                       smaller(params.transpose ? m : k, target.column.size()), 1});
    }
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < k; ++j) {
            const int64_t row = params.transpose ? j : i, column = params.transpose ? i : j;
            if (row >= target.row.size() || column >= target.column.size()) continue;
            to[target.row.at(row) + target.column.at(column)] =
                view.at(static_cast<uint32_t>(i), static_cast<uint32_t>(j));
        }
}

// The bias may be half or bfloat16_t and becomes float.
template <class D, class S>
inline void copy_bias(const D& dst, const S& src, Where where) {
    using T = typename D::valueType;
    using U = typename S::valueType;
    if (on_vector_core()) return;
    const Matrices target = view_of(dst).joined(), source = view_of(src).joined();
    check_operand<Location::L1>("CopyL12BT", "source", src, source, where);
    check_operand<Location::BIAS>("CopyL12BT", "destination", dst, target, where);
    const int64_t rows = common_rows(target, source), columns = common_columns(target, source);
    T* to = address_of(dst);
    const U* from = address_of(src);
    const Instruction instruction(PIPE_MTE1, "CopyL12BT", where);
    if constexpr (is_checking_variant) {
        add_tensor<S>(CANOPY_CHECK_READ, "src", from, source, {rows, columns, 1});
        add_tensor<D>(CANOPY_CHECK_WRITE, "dst", to, target, {rows, columns, 1});
    }
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            to[target.row.at(r) + target.column.at(c)] = static_cast<T>(from[source.row.at(r) + source.column.at(c)]);
}

}  // namespace canopy::kernel::te

namespace AscendC::Te {

// `Pairs` is the condition on the patterns of the tensors D and S.
#define CANOPY_PLAIN_COPY(Operation, From, To, Where_, Pairs, pad, text)                               \
    struct Operation {                                                                                 \
        using Default = Operation##TraitDefault;                                                       \
        using With = Operation;                                                                        \
        template <const auto& trait, class D, class S>                                                 \
        static void Copy(canopy::kernel::Where where, const D& dst, const S& src) {                    \
            using namespace canopy::kernel;                                                            \
            using namespace canopy::kernel::te;                                                        \
            static_assert(Pairs, text);                                                                \
            copy_tensor<Location::From, Location::To, Runs::Where_>(#Operation, dst, src, pad, where); \
        }                                                                                              \
    };

CANOPY_PLAIN_COPY(CopyGM2UB, GM, UB, on_vector_cores, (have_same_pattern<D, S>), false,
                  "CopyGM2UB: both tensors have the pattern ND, DN, NZ or ZN")
CANOPY_PLAIN_COPY(CopyUB2GM, UB, GM, on_vector_cores, (have_same_pattern<D, S>), false,
                  "CopyUB2GM: both tensors have the pattern ND, DN, NZ or ZN")
CANOPY_PLAIN_COPY(CopyUB2UB, UB, UB, on_vector_cores, (have_same_pattern<D, S>), false,
                  "CopyUB2UB: both tensors have the pattern ND, DN, NZ or ZN")
CANOPY_PLAIN_COPY(CopyUB2L1, UB, L1, on_vector_cores, (have_same_pattern<D, S>), false,
                  "CopyUB2L1: both tensors have the pattern ND, DN, NZ or ZN")
CANOPY_PLAIN_COPY(CopyL12UB, L1, UB, on_cube_cores, (have_same_pattern<D, S>), false,
                  "CopyL12UB: both tensors have the pattern ND, DN, NZ or ZN")
CANOPY_PLAIN_COPY(CopyL12L0B, L1, L0B, on_cube_cores,
                  (has_pattern<D, ZNLayoutPtn> && has_pattern<S, ZNLayoutPtn, NZLayoutPtn>), false,
                  "CopyL12L0B: the destination is ZN, the source ZN or NZ")
CANOPY_PLAIN_COPY(CopyL12L0ScaleA, L1, L0ScaleA, on_cube_cores, (both<D, S, ZZLayoutPtn>), false,
                  "CopyL12L0ScaleA: both tensors are ZZ")
CANOPY_PLAIN_COPY(CopyL12L0ScaleB, L1, L0ScaleB, on_cube_cores, (both<D, S, NNLayoutPtn>), false,
                  "CopyL12L0ScaleB: both tensors are NN")
CANOPY_PLAIN_COPY(CopyL12FB, L1, FIXBUF, on_cube_cores,
                  (both<D, S, NDLayoutPtn> && canopy::kernel::is_same<typename S::valueType, uint64_t>), false,
                  "CopyL12FB: both tensors are ND, of uint64_t")
#undef CANOPY_PLAIN_COPY

struct CopyGM2L1 {
    using Default = CopyGM2L1TraitDefault;
    using With = CopyGM2L1;
    template <const auto& trait, class D, class S>
    static void Copy(canopy::kernel::Where where, const D& dst, const S& src) {
        using namespace canopy::kernel;
        using namespace canopy::kernel::te;
        constexpr bool plain = both<D, S, NDLayoutPtn> || both<D, S, NZLayoutPtn> || both<D, S, ZNLayoutPtn> ||
                               both<D, S, ZZLayoutPtn> || both<D, S, NNLayoutPtn> || both<D, S, NC1HWC0LayoutPtn>;
        constexpr bool changes =
            (has_pattern<D, NZLayoutPtn, ZNLayoutPtn> && has_pattern<S, NDLayoutPtn, DNLayoutPtn>) ||
            (has_pattern<D, ZZLayoutPtn> && has_pattern<S, ScaleANDLayoutPtn, ScaleADNLayoutPtn>) ||
            (has_pattern<D, NNLayoutPtn> && has_pattern<S, ScaleBNDLayoutPtn, ScaleBDNLayoutPtn>) ||
            (has_pattern<D, NC1HWC0LayoutPtn> && has_pattern<S, NHWCLayoutPtn, NCHWLayoutPtn>);
        static_assert(
            plain || changes,
            "CopyGM2L1: the pairs are ND <- ND, NZ <- ND, DN, NZ, ZN <- ND, DN, ZN, ZZ <- ScaleAND, ScaleADN, ZZ, "
            "NN <- ScaleBND, ScaleBDN, NN, and NC1HWC0 <- NHWC, NCHW, NC1HWC0");
        if constexpr (is_any_of<pattern_of<D>, NDLayoutPtn, NDExtLayoutPtn>)
            if (!on_vector_core()) check_blocks("CopyGM2L1", src, where);
        constexpr bool pad = !plain && !is_any_of<pattern_of<D>, Std::ignore_t>;
        copy_tensor<Location::GM, Location::L1, Runs::on_cube_cores>("CopyGM2L1", dst, src, pad, where);
    }
};

struct CopyL12L0AWith {
    using Default = CopyL12L0ATraitDefault;
    using With = CopyL12L0AWith;
    template <class P>
    static constexpr Img2ColParams<P> parameters(const Img2ColParams<P>& params) {
        return params;
    }
    template <const auto& trait, class D, class S, class P>
    static void Copy(canopy::kernel::Where where, const Img2ColParams<P>& params, const D& dst, const S& src) {
        canopy::kernel::te::copy_image(dst, src, params, where);
    }
};

struct CopyL12L0A {
    using Default = CopyL12L0ATraitDefault;
    using With = CopyL12L0AWith;
    template <const auto& trait, class D, class S>
    static void Copy(canopy::kernel::Where where, const D& dst, const S& src) {
        using namespace canopy::kernel;
        using namespace canopy::kernel::te;
        if constexpr (is_same<pattern_of<S>, NC1HWC0LayoutPtn>) {
            copy_image(dst, src, Img2ColParams<typename D::valueType>{}, where);
        } else {
            static_assert(has_pattern<D, NZLayoutPtn> && has_pattern<S, NZLayoutPtn, ZNLayoutPtn>,
                          "CopyL12L0A: the destination is NZ, the source NZ, ZN or NC1HWC0");
            copy_tensor<Location::L1, Location::L0A, Runs::on_cube_cores>("CopyL12L0A", dst, src, false, where);
        }
    }
};

struct CopyL12BT {
    using Default = CopyL12BTTraitDefault;
    using With = CopyL12BT;
    template <const auto& trait, class D, class S>
    static void Copy(canopy::kernel::Where where, const D& dst, const S& src) {
        using namespace canopy::kernel;
        using namespace canopy::kernel::te;
        using T = typename D::valueType;
        using U = typename S::valueType;
        static_assert(is_in<S, Location::L1> && is_in<D, Location::BIAS>, "CopyL12BT copies L1 to BIAS");
        static_assert(both<D, S, NDLayoutPtn>, "CopyL12BT: both tensors are ND");
        static_assert((is_same<T, float> && is_any_of<U, half, bfloat16_t, float>) ||
                          (is_same<T, int32_t> && is_same<U, int32_t>),
                      "CopyL12BT: float <- half, bfloat16_t, float, or int32_t <- int32_t");
        copy_bias(dst, src, where);
    }
};

}  // namespace AscendC::Te

#endif
