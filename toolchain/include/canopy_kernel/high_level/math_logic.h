// SPDX-License-Identifier: Apache-2.0
// Bits and truth values: logic on integers and on what is not zero, classes of floats, and a choice by a condition.
// Truth values are stored as bytes 0 and 1.
#ifndef CANOPY_KERNEL_MATH_LOGIC_H
#define CANOPY_KERNEL_MATH_LOGIC_H

#include "canopy_kernel/high_level/operands.h"

namespace AscendC {

#define CANOPY_REUSE_CONFIG(Config, DEFAULT) \
    struct Config {                          \
        bool isReuseSource;                  \
    };                                       \
    inline constexpr Config DEFAULT = {false};

CANOPY_REUSE_CONFIG(BitwiseAndConfig, DEFAULT_BITWISE_AND_CONFIG)
CANOPY_REUSE_CONFIG(BitwiseOrConfig, DEFAULT_BITWISE_OR_CONFIG)
CANOPY_REUSE_CONFIG(BitwiseXorConfig, DEFAULT_BITWISE_XOR_CONFIG)
CANOPY_REUSE_CONFIG(BitwiseNotConfig, DEFAULT_BITWISE_NOT_CONFIG)
CANOPY_REUSE_CONFIG(LogicalAndConfig, DEFAULT_LOGICAL_AND_CONFIG)
CANOPY_REUSE_CONFIG(LogicalOrConfig, DEFAULT_LOGICAL_OR_CONFIG)
CANOPY_REUSE_CONFIG(LogicalXorConfig, DEFAULT_LOGICAL_XOR_CONFIG)
CANOPY_REUSE_CONFIG(LogicalNotConfig, DEFAULT_LOGICAL_NOT_CONFIG)
CANOPY_REUSE_CONFIG(IsInfConfig, DEFAULT_IS_INF_CONFIG)
CANOPY_REUSE_CONFIG(IsNanConfig, DEFAULT_IS_NAN_CONFIG)

#undef CANOPY_REUSE_CONFIG

// If both operands are tensors, element 0 of the one with this index is the number.
struct LogicalAndsConfig {
    bool isReuseSource;
    int8_t scalarTensorIndex;
};
inline constexpr LogicalAndsConfig DEFAULT_LOGICAL_ANDS_CONFIG = {false, 1};
struct LogicalOrsConfig {
    bool isReuseSource;
    int8_t scalarTensorIndex;
};
inline constexpr LogicalOrsConfig DEFAULT_LOGICAL_ORS_CONFIG = {false, 1};

}  // namespace AscendC

namespace canopy::kernel {

template <class T>
inline constexpr bool has_truth_value = is_same<T, bool> || is_integer<T> || is_vector_float<T>;
// Where a truth value can be stored.
template <class T>
inline constexpr bool holds_truth = is_any_of<T, bool, uint8_t, int8_t>;

struct BitwiseAndOperation {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct BitwiseOrOperation {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};
struct BitwiseXorOperation {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};
struct BitwiseNotOperation {
    template <class T>
    T operator()(T a) const {
        return static_cast<T>(~a);
    }
};

struct LogicalAndOperation {
    template <class T>
    uint8_t operator()(T a, T b) const {
        return static_cast<uint8_t>((a != T(0)) & (b != T(0)));
    }
};
struct LogicalOrOperation {
    template <class T>
    uint8_t operator()(T a, T b) const {
        return static_cast<uint8_t>((a != T(0)) | (b != T(0)));
    }
};
struct LogicalXorOperation {
    template <class T>
    uint8_t operator()(T a, T b) const {
        return static_cast<uint8_t>((a != T(0)) ^ (b != T(0)));
    }
};
struct LogicalNotOperation {
    template <class T>
    uint8_t operator()(T a) const {
        return static_cast<uint8_t>(a == T(0));
    }
};
template <class Operation>
struct LogicalWithNumber {
    bool number;
    template <class T>
    uint8_t operator()(T a) const {
        return Operation{}(static_cast<uint8_t>(a != T(0)), static_cast<uint8_t>(number));
    }
};

// 1 or 0 in the type of the destination.
template <class D, class Test>
struct ClassOperation {
    Wide<D> operator()(float x) const { return Test{}(x) ? Wide<D>(1) : Wide<D>(0); }
};
struct FiniteTest {
    bool operator()(float x) const { return math::absolute(x) < __builtin_inff(); }
};
struct InfiniteTest {
    bool operator()(float x) const { return math::absolute(x) == __builtin_inff(); }
};
struct NanTest {
    bool operator()(float x) const { return x != x; }
};

template <class Test, class D, class S>
inline void apply_test(const char* name, uint32_t count, Scratch scratch, Where where, const LocalTensor<D>& dst,
                       const LocalTensor<S>& src) {
    static_assert(is_vector_float<S>, "IsFinite, IsInf, IsNan: the source is half, bfloat16_t or float");
    static_assert(is_same<D, S> || holds_truth<D>,
                  "IsFinite, IsInf, IsNan: the destination is bool or has the type of the source");
    apply(name, ClassOperation<Stored<D>, Test>{}, count, scratch, where, named("dst", dst), named("src", src));
}

template <class Operand>
inline bool truth_of([[maybe_unused]] const char* name, [[maybe_unused]] const char* operand, const Operand& value,
                     [[maybe_unused]] Where where) {
    if constexpr (is_tensor<Operand>) {
        check_operands(name, 1, where, named(operand, value));
        return *elements_of(value) != 0;
    } else {
        return value != 0;
    }
}

// One operand is a number, or element 0 of the tensor with the given index.
template <class Operation, int8_t scalar_index, class D, class A, class B>
inline void apply_with_number(const char* name, uint32_t count, Where where, const LocalTensor<D>& dst, const A& a,
                              const B& b) {
    static_assert(holds_truth<D>, "LogicalAnds, LogicalOrs: the destination is bool");
    static_assert(is_tensor<A> || is_tensor<B>, "LogicalAnds, LogicalOrs: one of the sources is a tensor");
    static_assert(scalar_index == 0 || scalar_index == 1, "LogicalAnds, LogicalOrs: scalarTensorIndex is 0 or 1");
    if (on_cube_core()) return;
    const JoinedInstruction instruction(PIPE_V, name, where);
    if constexpr (!is_tensor<A> || (is_tensor<B> && scalar_index == 0))
        apply(name, LogicalWithNumber<Operation>{truth_of(name, "src0", a, where)}, count, nullptr, where,
              named("dst", dst), named("src1", b));
    else
        apply(name, LogicalWithNumber<Operation>{truth_of(name, "src1", b, where)}, count, nullptr, where,
              named("dst", dst), named("src0", a));
}

struct WhereOperation {
    template <class T, class V>
    T operator()(V condition, T yes, T no) const {
        return condition != 0 ? yes : no;
    }
};

}  // namespace canopy::kernel

namespace AscendC {

#define CANOPY_BITWISE(Name, DEFAULT)                                                                   \
    template <const Name##Config& config = DEFAULT, typename T>                                         \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, \
                     const uint32_t count, CANOPY_WHERE) {                                              \
        using namespace canopy::kernel;                                                                 \
        static_assert(is_integer<T>, #Name ": the elements are integers");                              \
        apply(#Name, Name##Operation{}, count, nullptr, where, named("dst", dst), named("src0", src0),  \
              named("src1", src1));                                                                     \
    }
CANOPY_BITWISE(BitwiseAnd, DEFAULT_BITWISE_AND_CONFIG)
CANOPY_BITWISE(BitwiseOr, DEFAULT_BITWISE_OR_CONFIG)
CANOPY_BITWISE(BitwiseXor, DEFAULT_BITWISE_XOR_CONFIG)
#undef CANOPY_BITWISE

template <const BitwiseNotConfig& config = DEFAULT_BITWISE_NOT_CONFIG, typename T>
inline void BitwiseNot(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(is_integer<T>, "BitwiseNot: the elements are integers");
    apply("BitwiseNot", BitwiseNotOperation{}, count, nullptr, where, named("dst", dst), named("src", src));
}

#define CANOPY_LOGICAL(Name, DEFAULT)                                                                                \
    template <const Name##Config& config = DEFAULT, typename T, typename U>                                          \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,              \
                     const uint32_t count, CANOPY_WHERE) {                                                           \
        using namespace canopy::kernel;                                                                              \
        static_assert(holds_truth<T> && has_truth_value<U>, #Name ": the destination is bool, the sources numbers"); \
        apply(#Name, Name##Operation{}, count, nullptr, where, named("dst", dst), named("src0", src0),               \
              named("src1", src1));                                                                                  \
    }
CANOPY_LOGICAL(LogicalAnd, DEFAULT_LOGICAL_AND_CONFIG)
CANOPY_LOGICAL(LogicalOr, DEFAULT_LOGICAL_OR_CONFIG)
CANOPY_LOGICAL(LogicalXor, DEFAULT_LOGICAL_XOR_CONFIG)
#undef CANOPY_LOGICAL

template <const LogicalNotConfig& config = DEFAULT_LOGICAL_NOT_CONFIG, typename T, typename U>
inline void LogicalNot(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(holds_truth<T> && has_truth_value<U>, "LogicalNot: the destination is bool, the source numbers");
    apply("LogicalNot", LogicalNotOperation{}, count, nullptr, where, named("dst", dst), named("src", src));
}

template <const LogicalAndsConfig& config = DEFAULT_LOGICAL_ANDS_CONFIG, typename T, typename U, typename S>
inline void LogicalAnds(const LocalTensor<T>& dst, const U& src0, const S& src1, const uint32_t count, CANOPY_WHERE) {
    canopy::kernel::apply_with_number<canopy::kernel::LogicalAndOperation, config.scalarTensorIndex>(
        "LogicalAnds", count, where, dst, src0, src1);
}
template <const LogicalOrsConfig& config = DEFAULT_LOGICAL_ORS_CONFIG, typename T, typename U, typename S>
inline void LogicalOrs(const LocalTensor<T>& dst, const U& src0, const S& src1, const uint32_t count, CANOPY_WHERE) {
    canopy::kernel::apply_with_number<canopy::kernel::LogicalOrOperation, config.scalarTensorIndex>(
        "LogicalOrs", count, where, dst, src0, src1);
}

// The source's type comes first here.
template <typename T, typename U>
inline void IsFinite(const LocalTensor<U>& dst, const LocalTensor<T>& src, uint32_t calCount, CANOPY_WHERE) {
    canopy::kernel::apply_test<canopy::kernel::FiniteTest>("IsFinite", calCount, nullptr, where, dst, src);
}
template <const IsInfConfig& config = DEFAULT_IS_INF_CONFIG, typename T, typename U>
inline void IsInf(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count, CANOPY_WHERE) {
    canopy::kernel::apply_test<canopy::kernel::InfiniteTest>("IsInf", count, nullptr, where, dst, src);
}
template <const IsInfConfig& config = DEFAULT_IS_INF_CONFIG, typename T, typename U>
inline void IsInf(const LocalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                  const uint32_t count, CANOPY_WHERE) {
    canopy::kernel::apply_test<canopy::kernel::InfiniteTest>("IsInf", count, &sharedTmpBuffer, where, dst, src);
}
template <const IsNanConfig& config = DEFAULT_IS_NAN_CONFIG, typename T, typename U>
inline void IsNan(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count, CANOPY_WHERE) {
    canopy::kernel::apply_test<canopy::kernel::NanTest>("IsNan", count, nullptr, where, dst, src);
}
template <const IsNanConfig& config = DEFAULT_IS_NAN_CONFIG, typename T, typename U>
inline void IsNan(const LocalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                  const uint32_t count, CANOPY_WHERE) {
    canopy::kernel::apply_test<canopy::kernel::NanTest>("IsNan", count, &sharedTmpBuffer, where, dst, src);
}

// dst = condition ? src0 : src1; the sources are tensors or numbers.
template <typename T, typename U, typename S, typename V>
inline void Where(const LocalTensor<T>& dst, const U& src0, const S& src1, const LocalTensor<V>& condition,
                  const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(holds_truth<V>, "Where: the condition is bool");
    apply_mixed("Where", WhereOperation{}, count, where, named("dst", dst), named("condition", condition),
                mixed<T>("src0", src0), mixed<T>("src1", src1));
}

}  // namespace AscendC

#endif
