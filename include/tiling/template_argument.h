// SPDX-License-Identifier: Apache-2.0
// Another name of kernel_tiling/template_argument.h.
#include "../kernel_tiling/template_argument.h"
