// SPDX-License-Identifier: Apache-2.0
// Stream configurations (aclrtStreamConfigHandle). Programs may read these handles as structures, so they are pointers
// and not table indices; the live ones are tracked so that an invalid one is rejected before it is dereferenced. Any
// thread.
#pragma once

#include <acl/acl_rt.h>

#include "base/result.h"

namespace canopy {

aclrtStreamConfigHandle* make_stream_configuration();
// Both give 107017 for a pointer that is not a live configuration.
Status destroy_stream_configuration(aclrtStreamConfigHandle* handle);
Status check_stream_configuration(const aclrtStreamConfigHandle* handle);

}  // namespace canopy
