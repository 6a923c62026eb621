// SPDX-License-Identifier: Apache-2.0
#include "core/memory/allocator_registry.h"

#include <map>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct AllocatorRegistry {
    Mutex mutex;
    std::map<AllocatorHandle, AllocatorDescription> descriptions CANOPY_GUARDED_BY(mutex);
    std::map<Handle, RegisteredAllocator> streams CANOPY_GUARDED_BY(mutex);
    AllocatorHandle next CANOPY_GUARDED_BY(mutex) = first;

    // Too high for a pointer, so that a description passed as something else is detected.
    static constexpr AllocatorHandle first = (AllocatorHandle{0xD5} << 56) + 1;

    static AllocatorRegistry& instance() { return process_state<AllocatorRegistry>(); }
};

Status unknown(AllocatorHandle handle) {
    return fail(code::invalid_handle, "allocatorDesc {} is not a description, or was destroyed", opaque_of(handle));
}

}  // namespace

AllocatorHandle create_allocator_description() {
    AllocatorRegistry& registry = AllocatorRegistry::instance();
    MutexLock guard(registry.mutex);
    registry.descriptions.emplace(registry.next, AllocatorDescription{});
    return registry.next++;
}

Status destroy_allocator_description(AllocatorHandle handle) {
    AllocatorRegistry& registry = AllocatorRegistry::instance();
    MutexLock guard(registry.mutex);
    return registry.descriptions.erase(handle) != 0 ? Status() : unknown(handle);
}

Status change_allocator_description(AllocatorHandle handle, void (*change)(AllocatorDescription&, void*), void* value) {
    AllocatorRegistry& registry = AllocatorRegistry::instance();
    MutexLock guard(registry.mutex);
    auto found = registry.descriptions.find(handle);
    if (found == registry.descriptions.end()) return unknown(handle);
    change(found->second, value);
    return {};
}

Status register_allocator(Handle stream, AllocatorHandle handle) {
    AllocatorRegistry& registry = AllocatorRegistry::instance();
    MutexLock guard(registry.mutex);
    auto found = registry.descriptions.find(handle);
    if (found == registry.descriptions.end()) return unknown(handle);
    const AllocatorDescription& description = found->second;
    if (!description.object) return fail_null("allocatorDesc->obj");
    if (!description.allocate) return fail_null("allocatorDesc->allocFunc");
    if (!description.release) return fail_null("allocatorDesc->freeFunc");
    if (!description.address_of) return fail_null("allocatorDesc->getAddrFromBlockFunc");
    registry.streams[stream] = {handle, description};
    return {};
}

void unregister_allocator(Handle stream) {
    AllocatorRegistry& registry = AllocatorRegistry::instance();
    MutexLock guard(registry.mutex);
    registry.streams.erase(stream);
}

Result<RegisteredAllocator> find_allocator(Handle stream) {
    AllocatorRegistry& registry = AllocatorRegistry::instance();
    MutexLock guard(registry.mutex);
    auto found = registry.streams.find(stream);
    if (found == registry.streams.end())
        return fail(code::invalid_parameter, "stream {} has no allocator", opaque_of(stream));
    return found->second;
}

std::size_t allocator_count() noexcept {
    AllocatorRegistry& registry = AllocatorRegistry::instance();
    MutexLock guard(registry.mutex);
    return registry.descriptions.size() + registry.streams.size();
}

}  // namespace canopy
