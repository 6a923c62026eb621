// SPDX-License-Identifier: Apache-2.0
// The kernel language: the one header a kernel source includes. It is parsed several times for every image, so it
// stays light: of the C++ library it includes only the two small headers that kernels use without naming them.
//
// canopy_kernel/target.h is the layer that knows what the code runs on; the other headers build on it alone.
#ifndef CANOPY_KERNEL_OPERATOR_H
#define CANOPY_KERNEL_OPERATOR_H

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "kernel_operator.h needs C++17 or newer"
#endif

// Another compiler says only this about the language.
#ifndef __clang__
#error "canopy-cc (also called bisheng and ccec) compiles kernels; this compiler cannot"
#else

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <type_traits>
#include <utility>

// Of <math.h>, which is too large to include here.
#ifndef INFINITY
#define INFINITY (__builtin_inff())
#endif
#ifndef NAN
#define NAN (__builtin_nanf(""))
#endif

// Loops below ask to be vectorised; where a compilation does not do it (-O0, -O1), nobody needs to hear of it.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"

#include "canopy_kernel/architecture.h"
#include "canopy_kernel/qualifiers.h"
#include "canopy_kernel/target.h"

#include "canopy_kernel/atomic.h"
#include "canopy_kernel/block.h"
#include "canopy_kernel/co1_copy.h"
#include "canopy_kernel/control.h"
#include "canopy_kernel/copy.h"
#include "canopy_kernel/core.h"
#include "canopy_kernel/cube_image.h"
#include "canopy_kernel/cube_load.h"
#include "canopy_kernel/cube_multiply.h"
#include "canopy_kernel/data_copy.h"
#include "canopy_kernel/data_copy_pad.h"
#include "canopy_kernel/debug.h"
#include "canopy_kernel/fixpipe.h"
#include "canopy_kernel/flags.h"
#include "canopy_kernel/float8.h"
#include "canopy_kernel/fractal_copy.h"
#include "canopy_kernel/gather.h"
#include "canopy_kernel/mask.h"
#include "canopy_kernel/pipe.h"
#include "canopy_kernel/reduce_names.h"
#include "canopy_kernel/reorder.h"
#include "canopy_kernel/repeat.h"
#include "canopy_kernel/simt.h"
#include "canopy_kernel/sort.h"
#include "canopy_kernel/synchronise.h"
#include "canopy_kernel/template_arguments.h"
#include "canopy_kernel/tensor.h"
#include "canopy_kernel/tensor_operators.h"
#include "canopy_kernel/tiling.h"
#include "canopy_kernel/transpose.h"
#include "canopy_kernel/utility.h"
#include "canopy_kernel/vector_binary.h"
#include "canopy_kernel/vector_cast.h"
#include "canopy_kernel/vector_compare.h"
#include "canopy_kernel/vector_fill.h"
#include "canopy_kernel/vector_scalar.h"
#include "canopy_kernel/vector_select.h"
#include "canopy_kernel/vector_ternary.h"
#include "canopy_kernel/vector_unary.h"

// canopy-cc leaves the instructions out of sources that name none.
#ifndef CANOPY_WITHOUT_INSTRUCTIONS
#include "canopy_kernel/intrinsics.h"
#include "canopy_kernel/intrinsics_vector.h"
#endif

#pragma clang diagnostic pop

#endif

#endif
