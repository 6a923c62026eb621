// SPDX-License-Identifier: Apache-2.0
// Another name of exe_graph/runtime/tensor.h.
#include "tensor.h"
