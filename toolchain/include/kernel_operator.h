// SPDX-License-Identifier: Apache-2.0
// The kernel language: the only header a kernel source includes. It is parsed several times for every image, so it
// stays light: from the C++ library it includes only the two small headers that kernels use without including them.
//
// canopy_kernel/target/target.h is the only layer that depends on the target.
#ifndef CANOPY_KERNEL_OPERATOR_H
#define CANOPY_KERNEL_OPERATOR_H

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "kernel_operator.h needs C++17 or newer"
#endif

// Other compilers only get this message.
#ifndef __clang__
#error "canopy-cc (also called bisheng and ccec) compiles kernels; this compiler cannot"
#else

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <kernel_tiling/template_argument.h>

#include <type_traits>
#include <utility>

// From <math.h>, which is too large to include here.
#ifndef INFINITY
#define INFINITY (__builtin_inff())
#endif
#ifndef NAN
#define NAN (__builtin_nanf(""))
#endif

// The loops below request vectorisation; no warning if the compiler does not do it (-O0, -O1).
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"

#include "canopy_kernel/target/architecture.h"
#include "canopy_kernel/target/qualifiers.h"
#include "canopy_kernel/target/target.h"

#include "canopy_kernel/copy/atomic.h"
#include "canopy_kernel/copy/copy.h"
#include "canopy_kernel/copy/data_copy.h"
#include "canopy_kernel/copy/data_copy_pad.h"
#include "canopy_kernel/copy/fractal_copy.h"
#include "canopy_kernel/core/block.h"
#include "canopy_kernel/core/control.h"
#include "canopy_kernel/core/core.h"
#include "canopy_kernel/core/debug.h"
#include "canopy_kernel/core/flags.h"
#include "canopy_kernel/core/float8.h"
#include "canopy_kernel/core/mask.h"
#include "canopy_kernel/core/pipe.h"
#include "canopy_kernel/core/repeat.h"
#include "canopy_kernel/core/synchronise.h"
#include "canopy_kernel/core/tensor.h"
#include "canopy_kernel/core/tiling.h"
#include "canopy_kernel/core/utility.h"
#include "canopy_kernel/cube/co1_copy.h"
#include "canopy_kernel/cube/cube_image.h"
#include "canopy_kernel/cube/cube_load.h"
#include "canopy_kernel/cube/cube_multiply.h"
#include "canopy_kernel/cube/fixpipe.h"
#include "canopy_kernel/simt/simt.h"
#include "canopy_kernel/vector/gather.h"
#include "canopy_kernel/vector/reduce_names.h"
#include "canopy_kernel/vector/reorder.h"
#include "canopy_kernel/vector/sort.h"
#include "canopy_kernel/vector/tensor_operators.h"
#include "canopy_kernel/vector/transpose.h"
#include "canopy_kernel/vector/vector_binary.h"
#include "canopy_kernel/vector/vector_cast.h"
#include "canopy_kernel/vector/vector_compare.h"
#include "canopy_kernel/vector/vector_fill.h"
#include "canopy_kernel/vector/vector_scalar.h"
#include "canopy_kernel/vector/vector_select.h"
#include "canopy_kernel/vector/vector_ternary.h"
#include "canopy_kernel/vector/vector_unary.h"

// Families of functions. canopy-cc omits those of which the source names nothing.
#ifndef CANOPY_WITHOUT_INSTRUCTIONS
#include "canopy_kernel/intrinsics/intrinsics.h"
#include "canopy_kernel/intrinsics/intrinsics_vector.h"
#endif
#ifndef CANOPY_WITHOUT_MATH
#include "canopy_kernel/high_level/math.h"
#endif
#ifndef CANOPY_WITHOUT_ACTIVATION
#include "canopy_kernel/high_level/activation.h"
#endif
#ifndef CANOPY_WITHOUT_SOFTMAX
#include "canopy_kernel/high_level/softmax.h"
#endif
#ifndef CANOPY_WITHOUT_NORMALIZATION
#include "canopy_kernel/high_level/normalization.h"
#endif
#ifndef CANOPY_WITHOUT_REDUCTION
#include "canopy_kernel/high_level/reduction.h"
#endif
#ifndef CANOPY_WITHOUT_SORTING
#include "canopy_kernel/high_level/sorting.h"
#endif
#ifndef CANOPY_WITHOUT_QUANTIZATION
#include "canopy_kernel/high_level/quantization.h"
#endif
#ifndef CANOPY_WITHOUT_LAYOUT
#include "canopy_kernel/high_level/layout.h"
#endif
#ifndef CANOPY_WITHOUT_SCALED_PRODUCT
#include "canopy_kernel/cube/scaled_product.h"
#endif
#ifndef CANOPY_WITHOUT_REGISTERS
#include "canopy_kernel/registers/registers.h"
#endif
#ifndef CANOPY_WITHOUT_C_INTERFACE
#include "canopy_kernel/c_interface/c_interface.h"
#endif
#ifndef CANOPY_WITHOUT_TENSOR_INTERFACE
#include "canopy_kernel/tensor_interface/tensor_interface.h"
#endif

#pragma clang diagnostic pop

#endif

#endif
