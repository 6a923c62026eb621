// SPDX-License-Identifier: Apache-2.0
// What is written when a kernel fails: the file of the scene that is configured (dumping.h), and with
// CANOPY_DUMP_EXCEPTION a folder that holds all that is needed to run the block again (replay.h). Memory is written as
// the failed kernel left it. On the thread that ran the task.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "acl/acl_dump.h"
#include "base/result.h"
#include "core/stream/stream.h"
#include "device/device.h"

namespace canopy {

void dump_failure(Stream& stream, const TaskFailure& failure, int code) noexcept;

// acldumpSaveExceptionInfo for the current device.
Status save_exception_info(std::uint32_t device, std::string_view name, std::string_view tag,
                           std::span<const acldumpTensorInfo> tensors);

}  // namespace canopy
