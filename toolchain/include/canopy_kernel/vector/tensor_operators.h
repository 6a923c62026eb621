// SPDX-License-Identifier: Apache-2.0
// Operators between local tensors. An operator computes nothing itself; assigning its result to a tensor does, for as
// many elements as that tensor has. A comparison writes one bit for each element of its operands.
#ifndef CANOPY_KERNEL_TENSOR_OPERATORS_H
#define CANOPY_KERNEL_TENSOR_OPERATORS_H

#include "canopy_kernel/vector/vector_binary.h"
#include "canopy_kernel/vector/vector_compare.h"

namespace canopy::kernel {

template <class Operation, class Source>
struct TensorExpression {
    LocalTensor<Source> left, right;

    template <class D>
    void compute(const LocalTensor<D>& target) const {
        Operation::apply(target, left, right, here("an operator between tensors", 0));
    }
};

#define CANOPY_TENSOR_OPERATION(Name)                                                                            \
    struct Name##Operator {                                                                                      \
        template <class T>                                                                                       \
        static void apply(const LocalTensor<T>& target, const LocalTensor<T>& left, const LocalTensor<T>& right, \
                          Where where) {                                                                         \
            AscendC::Name(target, left, right, static_cast<int32_t>(target.GetSize()), where);                   \
        }                                                                                                        \
    };
CANOPY_TENSOR_OPERATION(Add)
CANOPY_TENSOR_OPERATION(Sub)
CANOPY_TENSOR_OPERATION(Mul)
CANOPY_TENSOR_OPERATION(Div)
CANOPY_TENSOR_OPERATION(And)
CANOPY_TENSOR_OPERATION(Or)
#undef CANOPY_TENSOR_OPERATION

template <AscendC::CMPMODE mode>
struct ComparisonOperator {
    template <class D, class T>
    static void apply(const LocalTensor<D>& target, const LocalTensor<T>& left, const LocalTensor<T>& right,
                      Where where) {
        static_assert(sizeof(D) == 1, "a comparison of tensors is assigned to a tensor of bytes");
        AscendC::Compare(target, left, right, mode, left.GetSize(), where);
    }
};

}  // namespace canopy::kernel

namespace AscendC {

#define CANOPY_TENSOR_OPERATOR(symbol, ...)                                                  \
    template <class T>                                                                       \
    inline canopy::kernel::TensorExpression<canopy::kernel::__VA_ARGS__, T> operator symbol( \
        const LocalTensor<T>& left, const LocalTensor<T>& right) {                           \
        return {left, right};                                                                \
    }
CANOPY_TENSOR_OPERATOR(+, AddOperator)
CANOPY_TENSOR_OPERATOR(-, SubOperator)
CANOPY_TENSOR_OPERATOR(*, MulOperator)
CANOPY_TENSOR_OPERATOR(/, DivOperator)
CANOPY_TENSOR_OPERATOR(&, AndOperator)
CANOPY_TENSOR_OPERATOR(|, OrOperator)
CANOPY_TENSOR_OPERATOR(<, ComparisonOperator<CMPMODE::LT>)
CANOPY_TENSOR_OPERATOR(>, ComparisonOperator<CMPMODE::GT>)
CANOPY_TENSOR_OPERATOR(==, ComparisonOperator<CMPMODE::EQ>)
CANOPY_TENSOR_OPERATOR(<=, ComparisonOperator<CMPMODE::LE>)
CANOPY_TENSOR_OPERATOR(>=, ComparisonOperator<CMPMODE::GE>)
CANOPY_TENSOR_OPERATOR(!=, ComparisonOperator<CMPMODE::NE>)
#undef CANOPY_TENSOR_OPERATOR

}  // namespace AscendC

#endif
