// SPDX-License-Identifier: Apache-2.0
// Another name of the tiling library's header.
#include "../../tiling/tiling_api.h"
