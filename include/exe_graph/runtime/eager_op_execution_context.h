// SPDX-License-Identifier: Apache-2.0
// Another name of exe_graph/runtime/context.h.
#include "context.h"
