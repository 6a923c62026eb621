// SPDX-License-Identifier: Apache-2.0
// The interpreters that the generated table names in its lines INTERPRETED(interpreter, type).
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_INTERPRETERS_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_INTERPRETERS_H

#include "random_layers.h"

namespace programs::interpreters {

#define RANDOM_INTERPRETER(Name, ...) \
    template <class T>                \
    using Name = programs::__VA_ARGS__;

// Copies, fills, shifts.
RANDOM_INTERPRETER(CopyIn, CopyIn<T>)
RANDOM_INTERPRETER(CopyRows, CopyRows<T>)
RANDOM_INTERPRETER(CopyOut, CopyOut<T, false>)
RANDOM_INTERPRETER(CopyOutAtomic, CopyOut<T, true>)
RANDOM_INTERPRETER(PadIn, PadIn<T>)
RANDOM_INTERPRETER(PadOut, PadOut<T>)
RANDOM_INTERPRETER(CopyInside, CopyInside<T>)
RANDOM_INTERPRETER(CopyMasked, CopyMasked<T>)
RANDOM_INTERPRETER(Filled, Filled<T>)
RANDOM_INTERPRETER(Numbered, Numbered<T>)
RANDOM_INTERPRETER(ShiftedLeft, Shifted<T, true>)
RANDOM_INTERPRETER(ShiftedRight, Shifted<T, false>)

// Comparison, selection, mask registers.
RANDOM_INTERPRETER(Compared, Compared<T>)
RANDOM_INTERPRETER(ComparedWithNumber, ComparedWithNumber<T, false>)
RANDOM_INTERPRETER(ComparedWithScalar, ComparedWithNumber<T, true>)
RANDOM_INTERPRETER(ComparedInRegister, ComparedInRegister<T>)
RANDOM_INTERPRETER(Selected, Selected<T>)
RANDOM_INTERPRETER(CountedByRegister, CountedByRegister<T>)
RANDOM_INTERPRETER(MaskedByRegister, MaskedByRegister<T>)

// Reductions.
RANDOM_INTERPRETER(ReducedSum, ReducedTensor<T, 0>)
RANDOM_INTERPRETER(ReducedMax, ReducedTensor<T, 1>)
RANDOM_INTERPRETER(ReducedMin, ReducedTensor<T, 2>)
RANDOM_INTERPRETER(SumOfRepeats, SumOfRepeats<T, 0>)
RANDOM_INTERPRETER(OldSumOfRepeats, SumOfRepeats<T, 1>)
RANDOM_INTERPRETER(NewSumOfRepeats, SumOfRepeats<T, 2>)
RANDOM_INTERPRETER(MaxOfRepeats, ExtremeOfRepeats<T, 0>)
RANDOM_INTERPRETER(MinOfRepeats, ExtremeOfRepeats<T, 1>)
RANDOM_INTERPRETER(SumOfBlocks, ReducedBlocks<T, 0>)
RANDOM_INTERPRETER(MaxOfBlocks, ReducedBlocks<T, 1>)
RANDOM_INTERPRETER(MinOfBlocks, ReducedBlocks<T, 2>)
RANDOM_INTERPRETER(NewSumOfBlocks, ReducedBlocks<T, 3>)
RANDOM_INTERPRETER(SumOfPairs, ReducedPairs<T, false>)
RANDOM_INTERPRETER(NewSumOfPairs, ReducedPairs<T, true>)

// Offsets, reordering, sorting.
RANDOM_INTERPRETER(Gathered, Gathered<T>)
RANDOM_INTERPRETER(GatheredBlocks, GatheredBlocks<T>)
RANDOM_INTERPRETER(Scattered, Scattered<T>)
RANDOM_INTERPRETER(GatheredByMask, GatheredByMask<T>)
RANDOM_INTERPRETER(SpreadOverBlocks, SpreadOverBlocks<T>)
RANDOM_INTERPRETER(RepeatedRow, BroadcastAlongAxis<T, 0>)
RANDOM_INTERPRETER(RepeatedColumn, BroadcastAlongAxis<T, 1>)
RANDOM_INTERPRETER(Interleaved, Interleaved<T, false>)
RANDOM_INTERPRETER(Deinterleaved, Interleaved<T, true>)
RANDOM_INTERPRETER(Transposed, Transposed<T>)
RANDOM_INTERPRETER(TransposedLists, TransposedLists<T>)
RANDOM_INTERPRETER(SortedPairs, SortedPairs<T>)
RANDOM_INTERPRETER(SortedTensor, SortedTensor<T>)

// Matrices.
RANDOM_INTERPRETER(RunningSumsOfRows, RunningSums<T, true>)
RANDOM_INTERPRETER(RunningSumsOfColumns, RunningSums<T, false>)
RANDOM_INTERPRETER(SumsOfRows, SumsOfRows<T, false>)
RANDOM_INTERPRETER(MeansOfRows, SumsOfRows<T, true>)
RANDOM_INTERPRETER(SumOfEachRow, ReducedMatrix<T, sum_, true>)
RANDOM_INTERPRETER(SumOfEachColumn, ReducedMatrix<T, sum_, false>)
RANDOM_INTERPRETER(MaxOfEachRow, ReducedMatrix<T, max_, true>)
RANDOM_INTERPRETER(MaxOfEachColumn, ReducedMatrix<T, max_, false>)
RANDOM_INTERPRETER(MinOfEachRow, ReducedMatrix<T, min_, true>)
RANDOM_INTERPRETER(MinOfEachColumn, ReducedMatrix<T, min_, false>)
RANDOM_INTERPRETER(MeanOfEachRow, ReducedMatrix<T, mean_, true>)
RANDOM_INTERPRETER(MeanOfEachColumn, ReducedMatrix<T, mean_, false>)
RANDOM_INTERPRETER(ProductOfEachRow, ReducedMatrix<T, prod_, true>)
RANDOM_INTERPRETER(ProductOfEachColumn, ReducedMatrix<T, prod_, false>)
RANDOM_INTERPRETER(AnyOfEachRow, ReducedMatrix<T, any_, true>)
RANDOM_INTERPRETER(AnyOfEachColumn, ReducedMatrix<T, any_, false>)
RANDOM_INTERPRETER(AllOfEachRow, ReducedMatrix<T, all_, true>)
RANDOM_INTERPRETER(AllOfEachColumn, ReducedMatrix<T, all_, false>)
RANDOM_INTERPRETER(SumOfDifferentBits, SumOfDifferentBits<T>)

// Functions with several results or conditions.
RANDOM_INTERPRETER(SineAndCosine, SineAndCosine<T>)
RANDOM_INTERPRETER(ClampedBetween, ClampedBetween<T>)
RANDOM_INTERPRETER(ChosenByCondition, ChosenByCondition<T>)
RANDOM_INTERPRETER(Progression, Progression<T>)

// Layers, each with the types of its operands.
RANDOM_INTERPRETER(Softmax, Softmax)
RANDOM_INTERPRETER(LogarithmOfSoftmax, LogarithmOfSoftmax)
RANDOM_INTERPRETER(SoftmaxInStretches, SoftmaxInStretches)
RANDOM_INTERPRETER(GradientOfSoftmax, GradientOfSoftmax)
RANDOM_INTERPRETER(NormalisedByRoot, NormalisedByRoot)
RANDOM_INTERPRETER(NormalisedLayer, NormalisedLayer)
RANDOM_INTERPRETER(UpdatedMoments, UpdatedMoments)
RANDOM_INTERPRETER(BestOfRows, BestOfRows)
RANDOM_INTERPRETER(QuantisedTensor, Quantised<false>)
RANDOM_INTERPRETER(QuantisedChannels, Quantised<true>)
RANDOM_INTERPRETER(Dequantised, Dequantised)
RANDOM_INTERPRETER(Antiquantised, Antiquantised)
RANDOM_INTERPRETER(BroadcastColumns, BroadcastColumns)
RANDOM_INTERPRETER(Padded, Padded<false>)
RANDOM_INTERPRETER(Unpadded, Padded<true>)
RANDOM_INTERPRETER(DroppedOut, DroppedOut)
RANDOM_INTERPRETER(SelectedByBytes, SelectedByBytes)

#undef RANDOM_INTERPRETER

}  // namespace programs::interpreters

#endif
