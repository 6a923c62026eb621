// SPDX-License-Identifier: Apache-2.0
// Relations between devices: peer access, topology, and their numbers and names.
#include <cstring>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/base/thread_state.h"
#include "core/process/context.h"
#include "core/process/device_facts.h"
#include "core/process/runtime.h"

using namespace canopy;

namespace {

constexpr std::int32_t bus_id_bytes = 13;  // with the terminating zero

struct DevicePair {
    DeviceRecord* one;
    DeviceRecord* other;
};

// Two different existing devices.
Result<DevicePair> find_pair(std::int64_t one, std::int64_t other) {
    auto first = Runtime::instance().device(one);
    if (!first.ok()) return first.status();
    auto second = Runtime::instance().device(other);
    if (!second.ok()) return second.status();
    if (one == other) return fail(code::invalid_parameter, "device {} is named twice; two are needed", one);
    return DevicePair{*first, *second};
}

// The thread's device and a different one.
Result<DevicePair> find_peer(std::int32_t peer) {
    CANOPY_TRY(require_context());
    return find_pair(thread_state.device, peer);
}

std::uint64_t bit_of(const DeviceRecord& record) { return 1ull << record.index; }

// Atomicity of integer, bitwise and floating-point operations of kernels on memory shared by host and devices.
std::uint32_t atomic_capability(std::int32_t operation) {
    constexpr std::uint32_t both_signs = ACL_RT_ATOMIC_CAPABILITY_SIGNED | ACL_RT_ATOMIC_CAPABILITY_UNSIGNED;
    constexpr std::uint32_t words = ACL_RT_ATOMIC_CAPABILITY_SCALAR32 | ACL_RT_ATOMIC_CAPABILITY_SCALAR64;
    constexpr std::uint32_t small = ACL_RT_ATOMIC_CAPABILITY_SCALAR8 | ACL_RT_ATOMIC_CAPABILITY_SCALAR16;
    if (operation >= ACL_RT_ATOMIC_OPERATION_INTEGER_ADD && operation <= ACL_RT_ATOMIC_OPERATION_INTEGER_DECREMENT)
        return both_signs | words | ACL_RT_ATOMIC_CAPABILITY_REDUCTION;
    if (operation >= ACL_RT_ATOMIC_OPERATION_AND && operation <= ACL_RT_ATOMIC_OPERATION_CAS) return both_signs | words;
    if (operation >= ACL_RT_ATOMIC_OPERATION_FLOAT_ADD && operation <= ACL_RT_ATOMIC_OPERATION_FLOAT_MAX)
        return ACL_RT_ATOMIC_CAPABILITY_SIGNED | ACL_RT_ATOMIC_CAPABILITY_REDUCTION | ACL_RT_ATOMIC_CAPABILITY_SCALAR32;
    if (operation == ACL_RT_ATOMIC_OPERATION_DMA_ADD)
        return ACL_RT_ATOMIC_CAPABILITY_SIGNED | ACL_RT_ATOMIC_CAPABILITY_REDUCTION | small |
               ACL_RT_ATOMIC_CAPABILITY_SCALAR32;
    return 0;
}

Status fill_capabilities(uint32_t* capabilities, const aclrtAtomicOperation* operations, uint32_t count) {
    CANOPY_TRY(required(capabilities, "capabilities"));
    CANOPY_TRY(required(operations, "operations"));
    if (count == 0) return fail(code::param_invalid, "count must not be 0");
    for (uint32_t index = 0; index < count; ++index)
        capabilities[index] = atomic_capability(static_cast<std::int32_t>(operations[index]));
    return {};
}

// The device's number before the visible list is applied, from its index in the list.
Status physical_of_user(std::int32_t user, std::int32_t* out, const char* out_name) {
    CANOPY_TRY(required(out, out_name));
    auto record = Runtime::instance().device(user);
    if (!record.ok()) return record.status();
    *out = static_cast<std::int32_t>(Runtime::instance().settings().visible[(*record)->index]);
    return {};
}

Status user_of_physical(std::int32_t physical, std::int32_t* out, const char* out_name) {
    CANOPY_TRY(required(out, out_name));
    const auto& visible = Runtime::instance().settings().visible;
    for (std::size_t index = 0; index < visible.size(); ++index) {
        if (static_cast<std::int64_t>(visible[index]) != physical) continue;
        *out = static_cast<std::int32_t>(index);
        return {};
    }
    return fail(code::invalid_device, "no visible device has the number {}", physical);
}

}  // namespace

extern "C" {

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
    return api([&]() -> Status {
        CANOPY_TRY(required(canAccessPeer, "canAccessPeer"));
        CANOPY_TRY(find_pair(deviceId, peerDeviceId).status());
        *canAccessPeer = 1;
        return {};
    });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
    return api([&]() -> Status {
        if (flags != 0) return fail(code::feature_unsupported, "flags {} is reserved and must be 0", flags);
        auto pair = find_peer(peerDeviceId);
        if (!pair.ok()) return pair.status();
        CANOPY_TRY(pair->one->open().status());
        CANOPY_TRY(pair->other->open().status());
        pair->one->peers.fetch_or(bit_of(*pair->other), std::memory_order_release);
        return {};
    });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
    return api([&]() -> Status {
        auto pair = find_peer(peerDeviceId);
        if (!pair.ok()) return pair.status();
        pair->one->peers.fetch_and(~bit_of(*pair->other), std::memory_order_release);
        return {};
    });
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
    return api([&]() -> Status {
        CANOPY_TRY(required(status, "status"));
        auto pair = find_pair(deviceId, peerDeviceId);
        if (!pair.ok()) return pair.status();
        *status = (pair->one->peers.load(std::memory_order_acquire) & bit_of(*pair->other)) != 0 ? 1 : 0;
        return {};
    });
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        auto pair = find_pair(deviceId, otherDeviceId);
        if (!pair.ok()) return pair.status();
        *value = device_topology(*pair->one, *pair->other);
        return {};
    });
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t* capabilities, const aclrtAtomicOperation* operations,
                                             const uint32_t count, int32_t srcDeviceId, int32_t dstDeviceId) {
    return api([&]() -> Status {
        CANOPY_TRY(Runtime::instance().device(srcDeviceId).status());
        CANOPY_TRY(Runtime::instance().device(dstDeviceId).status());
        return fill_capabilities(capabilities, operations, count);
    });
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t* capabilities, const aclrtAtomicOperation* operations,
                                              const uint32_t count, int32_t deviceId) {
    return api([&]() -> Status {
        CANOPY_TRY(Runtime::instance().device(deviceId).status());
        return fill_capabilities(capabilities, operations, count);
    });
}

aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len) {
    return api([&]() -> Status {
        CANOPY_TRY(required(pciBusId, "pciBusId"));
        if (len < bus_id_bytes)
            return fail(code::param_invalid, "len {} is less than the {} bytes of a bus id", len, bus_id_bytes);
        std::int32_t physical = 0;
        CANOPY_TRY(physical_of_user(deviceId, &physical, "physical"));
        std::memcpy(pciBusId, pci_bus_id(static_cast<std::uint32_t>(physical)).c_str(), bus_id_bytes);
        return {};
    });
}

aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId) {
    return api([&]() -> Status {
        CANOPY_TRY(required(pciBusId, "pciBusId"));
        CANOPY_TRY(required(deviceId, "deviceId"));
        const auto found = device_with_pci_bus_id(pciBusId);
        if (!found.ok()) return found.status();
        *deviceId = found.value();
        return {};
    });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
    return api([&]() -> Status {
        CANOPY_TRY(required(uuid, "uuid"));
        std::int32_t physical = 0;
        CANOPY_TRY(physical_of_user(deviceId, &physical, "physical"));
        device_uuid(static_cast<std::uint32_t>(physical), uuid->bytes);
        return {};
    });
}

// A logic id is the device's number before the visible list is applied. So is a physical id: all devices are on one
// machine.

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
    return api([&]() -> Status { return physical_of_user(userDevid, logicDevId, "logicDevId"); });
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid) {
    return api([&]() -> Status { return user_of_physical(logicDevId, userDevid, "userDevid"); });
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId) {
    return api([&]() -> Status { return physical_of_user(userDevId, phyDevId, "phyDevId"); });
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId) {
    return api([&]() -> Status { return user_of_physical(phyDevId, userDevId, "userDevId"); });
}

// In these two names "logic" means the number a program uses, after the visible list.

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId) {
    return api([&]() -> Status { return physical_of_user(logicDevId, phyDevId, "phyDevId"); });
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId) {
    return api([&]() -> Status { return user_of_physical(phyDevId, logicDevId, "logicDevId"); });
}

}  // extern "C"
