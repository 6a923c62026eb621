// SPDX-License-Identifier: Apache-2.0
// Another name of exe_graph/runtime/shape.h.
#include "shape.h"
