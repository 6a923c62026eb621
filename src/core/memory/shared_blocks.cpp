// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_blocks.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/share/porter.h"

namespace canopy {

void settle(SharedMemory& memory, const std::shared_ptr<SharedBlock>& block) {
    if (!block->holders.empty()) return;
    if (!block->freed && block->keys != 0) return;
    if (memory.blocks.erase(block->address) == 0) return;
    shared_memory_parts.fetch_sub(1, std::memory_order_relaxed);
    if (block->freed) block->record->opened()->release(block->address).ignore();
}

std::optional<Status> release_shared(DeviceAddress address) {
    SharedMemory& memory = SharedMemory::instance();
    MutexLock guard(memory.mutex);
    if (const auto found = memory.blocks.find(address); found != memory.blocks.end()) {
        const std::shared_ptr<SharedBlock> block = found->second;
        if (block->freed) return fail(code::param_invalid, "devPtr {} was already freed", address);
        for (const SharedKey& key : block->exports) unshare(key);
        block->exports.clear();
        block->keys = 0;
        block->freed = true;
        settle(memory, block);
        return Status();
    }
    for (const auto& [key, blocks] : memory.imports)
        for (const ImportedBlock& import : blocks)
            if (import.address == address)
                return fail(code::param_invalid,
                            "devPtr {} is memory of another process; end its use with aclrtIpcMemClose", address);
    return std::nullopt;
}

}  // namespace canopy
