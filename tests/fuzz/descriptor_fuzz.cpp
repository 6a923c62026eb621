// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the reader of CPU kernel descriptors: it must refuse them or return valid names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error_text.h"
#include "core/kernel/cpu/cpu_descriptor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    canopy::Result<canopy::CpuDescriptor> read = canopy::read_cpu_descriptor(text, "input");
    canopy::take_error_text();
    if (!read.ok()) return 0;
    for (const auto& [op_type, entry] : read->entries) {
        if (op_type != entry->op_type) std::abort();
        for (const std::string* name : {&entry->op_type, &entry->function, &entry->library})
            if (name->find('\0') != std::string::npos || name->size() > 4095) std::abort();
    }
    return 0;
}
