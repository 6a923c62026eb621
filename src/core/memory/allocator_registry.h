// SPDX-License-Identifier: Apache-2.0
// Allocators that programs register for a stream, so that libraries working on the stream find them. Bookkeeping only:
// the runtime never calls one. Descriptions are identified by numbers. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

// The functions are the interface's own function pointers.
struct AllocatorDescription {
    void* object = nullptr;
    void* (*allocate)(void* object, std::size_t size) = nullptr;
    void (*release)(void* object, void* block) = nullptr;
    void* (*allocate_near)(void* object, std::size_t size, void* address) = nullptr;  // optional
    void* (*address_of)(void* block) = nullptr;
};

using AllocatorHandle = std::uint64_t;

struct RegisteredAllocator {
    AllocatorHandle description = 0;  // the description it was registered from; may be destroyed by now
    AllocatorDescription allocator;
};

// Never 0.
AllocatorHandle create_allocator_description();
// 107017 for a description that does not exist, here and below.
Status destroy_allocator_description(AllocatorHandle handle);
Status change_allocator_description(AllocatorHandle handle, void (*change)(AllocatorDescription&, void*), void* value);
// Replaces the stream's allocator. 100000 if the description lacks its object or a required function.
Status register_allocator(Handle stream, AllocatorHandle handle);
// Does nothing if the stream has no allocator.
void unregister_allocator(Handle stream);
// 100000 if the stream has no allocator.
Result<RegisteredAllocator> find_allocator(Handle stream);
// Number of descriptions and registrations.
[[nodiscard]] std::size_t allocator_count() noexcept;

}  // namespace canopy
