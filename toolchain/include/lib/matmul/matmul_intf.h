// SPDX-License-Identifier: Apache-2.0
// Another name of the header for matrix products.
#include "../../lib/matmul_intf.h"
