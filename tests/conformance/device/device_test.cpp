// SPDX-License-Identifier: Apache-2.0
// Devices: set and reset, queries, limits, peers, callbacks, abort.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fixtures/fixture.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

using DeviceQueryTest = RuntimeTest;
using DeviceUseTest = DeviceTest;

constexpr int32_t beyond = 64;  // more than any possible number of devices

TEST_F(DeviceQueryTest, FourDevicesAreThereByDefault) {
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    EXPECT_GE(count, 4u);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "count", aclrtGetDeviceCount(nullptr));
}

TEST_F(DeviceQueryTest, TheChipHasANameOfOneWord) {
    const char* name = aclrtGetSocName();
    ASSERT_NE(name, nullptr);
    const std::string text = name;
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"),
              std::string::npos);
}

TEST_F(DeviceQueryTest, ProgramsRunOnTheHost) {
    aclrtRunMode mode = ACL_DEVICE;
    EXPECT_ACL_OK(aclrtGetRunMode(&mode));
    EXPECT_EQ(mode, ACL_HOST);
    int32_t pid = 0;
    EXPECT_ACL_OK(aclrtDeviceGetBareTgid(&pid));
    EXPECT_EQ(pid, getpid());
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "pid", aclrtDeviceGetBareTgid(nullptr));
}

TEST_F(DeviceQueryTest, SettingADeviceMakesItCurrentInThisThreadOnly) {
    int32_t device = -1;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "no current context", aclrtGetDevice(&device));
    EXPECT_ACL_OK(aclrtSetDevice(1));
    EXPECT_ACL_OK(aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
    std::thread([] {
        int32_t other = -1;
        EXPECT_EQ(aclrtGetDevice(&other), ACL_ERROR_RT_CONTEXT_NULL);
    }).join();
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "deviceId", aclrtGetDevice(nullptr));
    EXPECT_ACL_OK(aclrtResetDevice(1));
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(DeviceQueryTest, DeviceIdsOutOfRangeAreRefusedEverywhere) {
    int64_t wide = 0;
    int32_t narrow = 0;
    uint32_t number = 0;
    uint64_t bits = 0;
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_NORMAL;
    aclrtUtilizationInfo rates = {};
    aclrtUuid uuid = {};
    char bus[13] = {};
    aclrtAtomicOperation operation = ACL_RT_ATOMIC_OPERATION_INTEGER_ADD;
    for (const int32_t id : {-1, beyond, INT32_MIN, INT32_MAX}) {
        const auto unsigned_id = static_cast<uint32_t>(id);
        const int bad = ACL_ERROR_RT_INVALID_DEVICEID;
        EXPECT_ACL_FAILS(bad, "device id", aclrtSetDevice(id));
        EXPECT_ACL_FAILS(bad, "device id", aclrtResetDevice(id));
        EXPECT_ACL_FAILS(bad, "device id", aclrtResetDeviceForce(id));
        EXPECT_ACL_FAILS(bad, "device id", aclrtQueryDeviceStatus(id, &status));
        EXPECT_ACL_FAILS(bad, "device id", aclrtGetDeviceUtilizationRate(id, &rates));
        EXPECT_ACL_FAILS(bad, "device id", aclrtGetDeviceInfo(unsigned_id, ACL_DEV_ATTR_CUBE_CORE_NUM, &wide));
        EXPECT_ACL_FAILS(bad, "device id", aclGetDeviceCapability(unsigned_id, ACL_DEVICE_INFO_L2_SIZE, &wide));
        EXPECT_ACL_FAILS(bad, "device id",
                         aclrtGetDeviceCapability(id, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, &narrow));
        EXPECT_ACL_FAILS(bad, "device id", aclrtDeviceTaskAbort(id, 0));
        EXPECT_ACL_FAILS(bad, "device id", aclrtGetDeviceResLimit(id, ACL_RT_DEV_RES_CUBE_CORE, &number));
        EXPECT_ACL_FAILS(bad, "device id", aclrtSetDeviceResLimit(id, ACL_RT_DEV_RES_CUBE_CORE, 1));
        EXPECT_ACL_FAILS(bad, "device id", aclrtResetDeviceResLimit(id));
        EXPECT_ACL_FAILS(bad, "device id", aclrtDeviceCanAccessPeer(&narrow, 0, id));
        EXPECT_ACL_FAILS(bad, "device id", aclrtDeviceCanAccessPeer(&narrow, id, 0));
        EXPECT_ACL_FAILS(bad, "device id", aclrtDevicePeerAccessStatus(id, 0, &narrow));
        EXPECT_ACL_FAILS(bad, "device id", aclrtGetDevicesTopo(0, unsigned_id, &bits));
        EXPECT_ACL_FAILS(bad, "device id", aclrtDeviceGetUuid(id, &uuid));
        EXPECT_ACL_FAILS(bad, "device id", aclrtDeviceGetPCIBusId(id, bus, sizeof(bus)));
        EXPECT_ACL_FAILS(bad, "device id", aclrtDeviceGetHostAtomicCapabilities(&number, &operation, 1, id));
        EXPECT_ACL_FAILS(bad, "device id", aclrtDeviceGetP2PAtomicCapabilities(&number, &operation, 1, 0, id));
        EXPECT_ACL_FAILS(bad, "device id", aclrtGetLogicDevIdByUserDevId(id, &narrow));
        EXPECT_ACL_FAILS(bad, "number", aclrtGetUserDevIdByLogicDevId(id, &narrow));
        EXPECT_ACL_FAILS(bad, "device id", aclrtGetPhyDevIdByUserDevId(id, &narrow));
        EXPECT_ACL_FAILS(bad, "number", aclrtGetUserDevIdByPhyDevId(id, &narrow));
    }
}

TEST_F(DeviceQueryTest, ResetCountsAndForceEnds) {
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "not set", aclrtResetDevice(0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "not set", aclrtResetDeviceForce(0));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    int32_t device = -1;
    EXPECT_ACL_OK(aclrtResetDevice(0));
    EXPECT_ACL_OK(aclrtGetDevice(&device));
    EXPECT_ACL_OK(aclrtResetDeviceForce(0));
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtResetDeviceForce(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(DeviceQueryTest, AnotherThreadMayResetByForceAndTheFirstFinalises) {
    EXPECT_ACL_OK(aclrtSetDevice(0));
    std::thread([] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        EXPECT_ACL_OK(aclrtResetDeviceForce(0));
    }).join();
    EXPECT_ACL_OK(aclFinalize());
}

TEST_F(DeviceQueryTest, DevicesAreResetInAnyOrder) {
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtSetDevice(1));
    EXPECT_ACL_OK(aclrtResetDevice(1));
    EXPECT_ACL_OK(aclrtResetDevice(0));
}

TEST_F(DeviceQueryTest, AttributesFollowTheChip) {
    int64_t cube = 0, vector = 0, value = 0;
    EXPECT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &cube));
    EXPECT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &vector));
    EXPECT_GT(cube, 0);
    EXPECT_EQ(vector, 2 * cube);
    for (const auto attribute :
         {ACL_DEV_ATTR_AICPU_CORE_NUM, ACL_DEV_ATTR_AICORE_CORE_NUM, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE,
          ACL_DEV_ATTR_L2_CACHE_SIZE, ACL_DEV_ATTR_NPU_ARCH}) {
        EXPECT_ACL_OK(aclrtGetDeviceInfo(0, attribute, &value));
        EXPECT_GT(value, 0) << attribute;
    }
    for (int attribute = ACL_DEV_ATTR_SMP_ID; attribute <= ACL_DEV_ATTR_MAINBOARD_ID; ++attribute)
        EXPECT_ACL_OK(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(attribute), &value));
    EXPECT_ACL_OK(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_PHY_CHIP_ID, &value));
    EXPECT_EQ(value, 1);
    EXPECT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_IS_VIRTUAL, &value));
    EXPECT_EQ(value, 0);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "attr", aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(7), &value));
}

void simt_attributes_follow_the_chip(const char* chip, bool simt) {
    setenv("CANOPY_CHIP", chip, 1);
    int64_t value = -1;
    EXPECT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE, &value));
    EXPECT_EQ(value, simt ? 32 : 0);
    EXPECT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_MAX_BLOCK_DIM_Z, &value));
    EXPECT_EQ(value > 0, simt);
    EXPECT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE, &value));
    EXPECT_EQ(value > 0, simt);
    EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_HD_CONNECT_TYPE, &value),
              simt ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_DEVICE_FORM_FACTOR, &value),
              simt ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    size_t limit = 0;
    EXPECT_EQ(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, &limit),
              simt ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE, 1 << 20),
              simt ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST(DeviceDeathTest, SimtAttributesAreZeroOnChipsWithoutIt) {
    EXPECT_IN_OWN_PROCESS([] { simt_attributes_follow_the_chip("Ascend910B1", false); });
    EXPECT_IN_OWN_PROCESS([] { simt_attributes_follow_the_chip("Ascend910_9391", false); });
    EXPECT_IN_OWN_PROCESS([] { simt_attributes_follow_the_chip("Ascend950", true); });
}

TEST_F(DeviceQueryTest, CapabilitiesAnswer) {
    int64_t value = 0;
    for (const auto what : {ACL_DEVICE_INFO_AI_CORE_NUM, ACL_DEVICE_INFO_VECTOR_CORE_NUM, ACL_DEVICE_INFO_L2_SIZE}) {
        EXPECT_ACL_OK(aclGetDeviceCapability(0, what, &value));
        EXPECT_GT(value, 0);
    }
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "deviceInfo",
                     aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, nullptr));
    int32_t feature = -1;
    for (const auto what : {ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV}) {
        EXPECT_ACL_OK(aclrtGetDeviceCapability(0, what, &feature));
        EXPECT_TRUE(feature == ACL_DEV_FEATURE_SUPPORT || feature == ACL_DEV_FEATURE_NOT_SUPPORT);
    }
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devFeatureType",
                     aclrtGetDeviceCapability(0, static_cast<aclrtDevFeatureType>(2), &feature));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value",
                     aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, nullptr));
}

TEST_F(DeviceQueryTest, StatusUtilisationAndPriorities) {
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
    EXPECT_ACL_OK(aclrtQueryDeviceStatus(0, &status));
    EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "deviceStatus", aclrtQueryDeviceStatus(0, nullptr));
    aclrtUtilizationInfo rates = {};
    EXPECT_ACL_OK(aclrtGetDeviceUtilizationRate(0, &rates));
    EXPECT_EQ(rates.memoryUtilization, -1);
    for (const int rate : {rates.cubeUtilization, rates.vectorUtilization, rates.aicpuUtilization}) {
        EXPECT_GE(rate, -1);
        EXPECT_LE(rate, 100);
    }
    rates.utilizationExtend = reinterpret_cast<aclrtUtilizationExtendInfo*>(&status);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "utilizationExtend", aclrtGetDeviceUtilizationRate(0, &rates));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "utilizationInfo", aclrtGetDeviceUtilizationRate(0, nullptr));
    int32_t least = -1, greatest = -1;
    EXPECT_ACL_OK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT_EQ(least, 7);
    EXPECT_EQ(greatest, 0);
    EXPECT_ACL_OK(aclrtDeviceGetStreamPriorityRange(nullptr, nullptr));
}

TEST_F(DeviceQueryTest, ArchitecturesAreComparedByChip) {
    int32_t compatible = 0;
    EXPECT_ACL_OK(aclrtCheckArchCompatibility(aclrtGetSocName(), &compatible));
    EXPECT_EQ(compatible, 1);
    EXPECT_ACL_OK(aclrtCheckArchCompatibility("Ascend910B4", &compatible));
    EXPECT_EQ(compatible, 1);
    EXPECT_ACL_OK(aclrtCheckArchCompatibility("Ascend950", &compatible));
    EXPECT_EQ(compatible, 0);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_SOC_VERSION, "Nothing9", aclrtCheckArchCompatibility("Nothing9", &compatible));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "socVersion", aclrtCheckArchCompatibility(nullptr, &compatible));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "canCompatible", aclrtCheckArchCompatibility("Ascend910B4", nullptr));
}

TEST_F(DeviceQueryTest, BusIdsLeadBackToTheirDevices) {
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    std::set<std::string> seen;
    for (int32_t device = 0; device < static_cast<int32_t>(count); ++device) {
        char bus[13] = {};
        EXPECT_ACL_OK(aclrtDeviceGetPCIBusId(device, bus, sizeof(bus)));
        EXPECT_EQ(std::strlen(bus), 12u);
        seen.insert(bus);
        int32_t found = -1;
        EXPECT_ACL_OK(aclrtDeviceGetByPCIBusId(bus, &found));
        EXPECT_EQ(found, device);
        std::string upper = bus;
        for (char& letter : upper) letter = static_cast<char>(toupper(letter));
        EXPECT_ACL_OK(aclrtDeviceGetByPCIBusId(upper.c_str(), &found));
        EXPECT_EQ(found, device);
    }
    EXPECT_EQ(seen.size(), count);
    char bus[16] = {};
    int32_t found = -1;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "len", aclrtDeviceGetPCIBusId(0, bus, 12));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "pciBusId", aclrtDeviceGetPCIBusId(0, nullptr, 13));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "pciBusId", aclrtDeviceGetByPCIBusId(nullptr, &found));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "deviceId", aclrtDeviceGetByPCIBusId("0000:c1:00.0", nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "pciBusId", aclrtDeviceGetByPCIBusId("c1:00.0", &found));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "pciBusId", aclrtDeviceGetByPCIBusId("ffff:ff:1f.7", &found));
}

TEST_F(DeviceQueryTest, UuidsAreStableAndDifferent) {
    aclrtUuid first = {}, again = {}, other = {};
    EXPECT_ACL_OK(aclrtDeviceGetUuid(0, &first));
    EXPECT_ACL_OK(aclrtDeviceGetUuid(0, &again));
    EXPECT_ACL_OK(aclrtDeviceGetUuid(1, &other));
    EXPECT_EQ(std::memcmp(&first, &again, sizeof(first)), 0);
    EXPECT_NE(std::memcmp(&first, &other, sizeof(first)), 0);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "uuid", aclrtDeviceGetUuid(0, nullptr));
}

TEST_F(DeviceQueryTest, IdMapsCheckTheirOutput) {
    const int bad = ACL_ERROR_INVALID_PARAM;
    EXPECT_ACL_FAILS(bad, "logicDevId", aclrtGetLogicDevIdByUserDevId(0, nullptr));
    EXPECT_ACL_FAILS(bad, "userDevid", aclrtGetUserDevIdByLogicDevId(0, nullptr));
    EXPECT_ACL_FAILS(bad, "phyDevId", aclrtGetPhyDevIdByUserDevId(0, nullptr));
    EXPECT_ACL_FAILS(bad, "userDevId", aclrtGetUserDevIdByPhyDevId(0, nullptr));
    EXPECT_ACL_FAILS(bad, "phyDevId", aclrtGetPhyDevIdByLogicDevId(0, nullptr));
    EXPECT_ACL_FAILS(bad, "logicDevId", aclrtGetLogicDevIdByPhyDevId(0, nullptr));
}

TEST_F(DeviceQueryTest, TopologyNamesALink) {
    uint64_t links = 0;
    EXPECT_ACL_OK(aclrtGetDevicesTopo(0, 1, &links));
    EXPECT_NE(links, 0u);
    EXPECT_EQ(links & ~uint64_t{0x7F}, 0u);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "twice", aclrtGetDevicesTopo(1, 1, &links));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtGetDevicesTopo(0, 1, nullptr));
}

TEST_F(DeviceQueryTest, ChipsWithoutGroupsSaySo) {
    uint32_t count = 0;
    size_t size = 0;
    auto* group = reinterpret_cast<aclrtGroupInfo*>(&count);
    const int none = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    EXPECT_EQ(aclrtCreateGroupInfo(), nullptr);
    EXPECT_NE(recent_error().find("groups"), std::string::npos);
    EXPECT_ACL_FAILS(none, "groups", aclrtSetGroup(0));
    EXPECT_ACL_FAILS(none, "groups", aclrtGetGroupCount(&count));
    EXPECT_ACL_FAILS(none, "groups", aclrtGetAllGroupInfo(group));
    EXPECT_ACL_FAILS(none, "groups", aclrtDestroyGroupInfo(group));
    EXPECT_ACL_FAILS(none, "groups", aclrtGetGroupInfoDetail(group, 0, ACL_GROUP_AICORE_INT, &count, 4, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "count", aclrtGetGroupCount(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "groupInfo", aclrtDestroyGroupInfo(nullptr));
}

TEST_F(DeviceQueryTest, AtomicCapabilitiesAreListedPerOperation) {
    const aclrtAtomicOperation operations[] = {ACL_RT_ATOMIC_OPERATION_INTEGER_ADD, ACL_RT_ATOMIC_OPERATION_CAS,
                                               ACL_RT_ATOMIC_OPERATION_FLOAT_ADD,
                                               static_cast<aclrtAtomicOperation>(1000)};
    uint32_t capabilities[4] = {7, 7, 7, 7};
    EXPECT_ACL_OK(aclrtDeviceGetHostAtomicCapabilities(capabilities, operations, 4, 0));
    EXPECT_NE(capabilities[0] & ACL_RT_ATOMIC_CAPABILITY_SCALAR32, 0u);
    EXPECT_NE(capabilities[1] & ACL_RT_ATOMIC_CAPABILITY_SCALAR64, 0u);
    EXPECT_NE(capabilities[2], 0u);
    EXPECT_EQ(capabilities[3], 0u);
    EXPECT_ACL_OK(aclrtDeviceGetP2PAtomicCapabilities(capabilities, operations, 4, 0, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "count",
                     aclrtDeviceGetHostAtomicCapabilities(capabilities, operations, 0, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "capabilities",
                     aclrtDeviceGetHostAtomicCapabilities(nullptr, operations, 4, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "operations",
                     aclrtDeviceGetP2PAtomicCapabilities(capabilities, nullptr, 4, 0, 1));
}

TEST_F(DeviceQueryTest, SmallCallsCheckTheirArguments) {
    EXPECT_ACL_OK(aclrtSetTsDevice(ACL_TS_ID_AICORE));
    EXPECT_ACL_OK(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "tsId", aclrtSetTsDevice(ACL_TS_ID_RESERVED));
    int reserved = 0;
    EXPECT_ACL_OK(aclrtDeviceL2CacheFlush(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "rsv", aclrtDeviceL2CacheFlush(&reserved));
}

TEST_F(DeviceUseTest, PeerAccessGoesOneWay) {
    int32_t can = 0, status = -1;
    EXPECT_ACL_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_EQ(can, 1);
    EXPECT_ACL_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    EXPECT_EQ(status, 0);
    EXPECT_ACL_OK(aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT_ACL_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    EXPECT_EQ(status, 1);
    EXPECT_ACL_OK(aclrtDevicePeerAccessStatus(1, 0, &status));
    EXPECT_EQ(status, 0);
    EXPECT_ACL_OK(aclrtDeviceDisablePeerAccess(1));
    EXPECT_ACL_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    EXPECT_EQ(status, 0);
}

TEST_F(DeviceUseTest, PeerArgumentsAreChecked) {
    int32_t value = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "twice", aclrtDeviceCanAccessPeer(&value, 1, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "canAccessPeer", aclrtDeviceCanAccessPeer(nullptr, 0, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "twice", aclrtDeviceEnablePeerAccess(0, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_FEATURE_UNSUPPORTED, "flags", aclrtDeviceEnablePeerAccess(1, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device id", aclrtDeviceEnablePeerAccess(beyond, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "twice", aclrtDeviceDisablePeerAccess(0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "status", aclrtDevicePeerAccessStatus(0, 1, nullptr));
    std::thread([] {
        EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_ERROR_RT_CONTEXT_NULL);
        EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_CONTEXT_NULL);
    }).join();
}

TEST_F(DeviceUseTest, SynchroniseDeviceWaitsForTheContext) {
    std::vector<uint32_t> zeros(1024, 0);
    uint32_t* memory = device_array(zeros);
    EXPECT_ACL_OK(aclrtMemsetAsync(memory, 4096, 0x5A, 4096, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    if (device_computes()) {
        EXPECT_EQ(read_back(memory, 1024), std::vector<uint32_t>(1024, 0x5A5A5A5Au));
    }
    EXPECT_ACL_OK(aclrtSynchronizeDeviceWithTimeout(-1));
    EXPECT_ACL_OK(aclrtSynchronizeDeviceWithTimeout(1000));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclrtSynchronizeDeviceWithTimeout(0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclrtSynchronizeDeviceWithTimeout(-2));
    std::thread([] { EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL); }).join();
}

TEST_F(DeviceUseTest, SynchroniseDeviceTimesOutBeforeAWaitThatIsNeverSatisfied) {
    if (!device_computes()) GTEST_SKIP() << "this device never waits";
    uint64_t* word = device_array(std::vector<uint64_t>{0});
    EXPECT_ACL_OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "", aclrtSynchronizeDeviceWithTimeout(5));
    const uint64_t one = 1;
    EXPECT_ACL_OK(aclrtMemcpy(word, sizeof(one), &one, sizeof(one), ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
}

TEST_F(DeviceUseTest, CoreLimitsOfTheProcessAreSeenByAllThreads) {
    uint32_t all = 0, value = 0;
    EXPECT_ACL_OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &all));
    EXPECT_GT(all, 1u);
    EXPECT_ACL_OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 3));
    std::thread([] {
        uint32_t seen = 0;
        EXPECT_ACL_OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &seen));
        EXPECT_EQ(seen, 3u);
    }).join();
    EXPECT_ACL_OK(aclrtGetDeviceResLimit(1, ACL_RT_DEV_RES_CUBE_CORE, &value));
    EXPECT_EQ(value, all);
    EXPECT_ACL_OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &value));
    EXPECT_EQ(value, 3u);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "value", aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "value", aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, all + 1));
    const auto unknown = static_cast<aclrtDevResLimitType>(2);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "type", aclrtSetDeviceResLimit(0, unknown, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "type", aclrtGetDeviceResLimit(0, unknown, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, nullptr));
    EXPECT_ACL_OK(aclrtResetDeviceResLimit(0));
    EXPECT_ACL_OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &value));
    EXPECT_EQ(value, all);
}

TEST_F(DeviceUseTest, AThreadUsesTheLimitOfItsStreamThenOfTheProcess) {
    const auto kind = ACL_RT_DEV_RES_VECTOR_CORE;
    uint32_t all = 0, value = 0;
    EXPECT_ACL_OK(aclrtGetResInCurrentThread(kind, &all));
    EXPECT_ACL_OK(aclrtSetDeviceResLimit(0, kind, 9));
    EXPECT_ACL_OK(aclrtGetStreamResLimit(stream_, kind, &value));
    EXPECT_EQ(value, 9u);
    EXPECT_ACL_OK(aclrtSetStreamResLimit(stream_, kind, 5));
    EXPECT_ACL_OK(aclrtGetStreamResLimit(stream_, kind, &value));
    EXPECT_EQ(value, 5u);
    EXPECT_ACL_OK(aclrtGetResInCurrentThread(kind, &value));
    EXPECT_EQ(value, 9u);
    EXPECT_ACL_OK(aclrtUseStreamResInCurrentThread(stream_));
    EXPECT_ACL_OK(aclrtGetResInCurrentThread(kind, &value));
    EXPECT_EQ(value, 5u);
    EXPECT_ACL_OK(aclrtResetStreamResLimit(stream_));
    EXPECT_ACL_OK(aclrtGetResInCurrentThread(kind, &value));
    EXPECT_EQ(value, 9u);
    EXPECT_ACL_OK(aclrtUnuseStreamResInCurrentThread(stream_));
    EXPECT_ACL_OK(aclrtResetDeviceResLimit(0));
    EXPECT_ACL_OK(aclrtGetResInCurrentThread(kind, &value));
    EXPECT_EQ(value, all);
}

TEST_F(DeviceUseTest, TheDefaultStreamHasLimitsToo) {
    uint32_t value = 0;
    EXPECT_ACL_OK(aclrtSetStreamResLimit(nullptr, ACL_RT_DEV_RES_VECTOR_CORE, 4));
    EXPECT_ACL_OK(aclrtUseStreamResInCurrentThread(nullptr));
    EXPECT_ACL_OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &value));
    EXPECT_EQ(value, 4u);
    EXPECT_ACL_OK(aclrtUnuseStreamResInCurrentThread(nullptr));
}

TEST_F(DeviceUseTest, StreamLimitsCheckTheirArguments) {
    uint32_t value = 0;
    aclrtStream gone = nullptr;
    EXPECT_ACL_OK(aclrtCreateStream(&gone));
    EXPECT_ACL_OK(aclrtUseStreamResInCurrentThread(gone));
    EXPECT_ACL_OK(aclrtSetStreamResLimit(gone, ACL_RT_DEV_RES_CUBE_CORE, 2));
    EXPECT_ACL_OK(aclrtDestroyStream(gone));
    // A limit ends with its stream.
    EXPECT_ACL_OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &value));
    EXPECT_GT(value, 2u);
    const int stale = ACL_ERROR_RT_INVALID_HANDLE;
    EXPECT_EQ(aclrtSetStreamResLimit(gone, ACL_RT_DEV_RES_CUBE_CORE, 1), stale);
    EXPECT_EQ(aclrtGetStreamResLimit(gone, ACL_RT_DEV_RES_CUBE_CORE, &value), stale);
    EXPECT_EQ(aclrtResetStreamResLimit(gone), stale);
    EXPECT_EQ(aclrtUseStreamResInCurrentThread(gone), stale);
    EXPECT_EQ(aclrtUnuseStreamResInCurrentThread(gone), stale);
    EXPECT_EQ(aclrtUseStreamResInCurrentThread(&value), stale);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value",
                     aclrtGetStreamResLimit(stream_, ACL_RT_DEV_RES_CUBE_CORE, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "value",
                     aclrtSetStreamResLimit(stream_, ACL_RT_DEV_RES_CUBE_CORE, 100000));
    std::thread([] {
        uint32_t none = 0;
        EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &none), ACL_ERROR_RT_CONTEXT_NULL);
    }).join();
}

TEST_F(DeviceUseTest, SaturationModeIsKeptPerDevice) {
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    EXPECT_ACL_OK(aclrtGetDeviceSatMode(&mode));
    EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
    EXPECT_ACL_OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
    EXPECT_ACL_OK(aclrtGetDeviceSatMode(&mode));
    EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_SATURATION);
    EXPECT_ACL_OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mode", aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "mode", aclrtGetDeviceSatMode(nullptr));
}

TEST_F(DeviceUseTest, OverflowStatusIsWrittenInStreamOrder) {
    std::vector<uint8_t> ones(64, 0xFF);
    uint8_t* status = device_array(ones);
    const auto expect_zeros = [&] {
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (device_computes()) {
            EXPECT_EQ(read_back(status, 64), std::vector<uint8_t>(64, 0));
        }
        EXPECT_ACL_OK(aclrtMemset(status, 64, 0xFF, 64));
    };
    EXPECT_ACL_OK(aclrtGetOverflowStatus(status, 64, stream_));
    expect_zeros();
    EXPECT_ACL_OK(aclrtGetFloatOverflowStatus(status, 64, stream_));
    expect_zeros();
    EXPECT_ACL_OK(aclrtNpuGetFloatOverFlowStatus(status, 64, 0, stream_));
    expect_zeros();
    EXPECT_ACL_OK(aclrtResetOverflowStatus(stream_));
    EXPECT_ACL_OK(aclrtResetFloatOverflowStatus(nullptr));
    EXPECT_ACL_OK(aclrtNpuClearFloatOverFlowStatus(0, stream_));
}

TEST_F(DeviceUseTest, OverflowStatusChecksItsArguments) {
    void* status = device_memory(64);
    char host[64] = {};
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "outputAddr", aclrtGetOverflowStatus(nullptr, 64, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "outputSize", aclrtGetOverflowStatus(status, 63, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "outputAddr", aclrtGetOverflowStatus(host, 64, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "outputAddr",
                     aclrtGetOverflowStatus(reinterpret_cast<void*>(16), 64, stream_));
    EXPECT_EQ(aclrtGetOverflowStatus(status, 64, host), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtResetOverflowStatus(host), ACL_ERROR_RT_INVALID_HANDLE);
    aclrtContext context = nullptr;
    EXPECT_ACL_OK(aclrtCreateContext(&context, 0));
    EXPECT_EQ(aclrtGetOverflowStatus(status, 64, stream_), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtNpuClearFloatOverFlowStatus(0, stream_), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_ACL_OK(aclrtDestroyContext(context));
}

TEST_F(DeviceQueryTest, PrintfBuffersHaveALimit) {
    const auto limit = ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE;
    size_t value = 0;
    EXPECT_ACL_OK(aclrtDeviceGetLimit(limit, &value));
    EXPECT_EQ(value, 32768u);
    EXPECT_ACL_OK(aclrtDeviceSetLimit(limit, 4097));
    EXPECT_ACL_OK(aclrtDeviceGetLimit(limit, &value));
    EXPECT_EQ(value, 4104u);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "FIFO", aclrtDeviceSetLimit(limit, 1023));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "FIFO", aclrtDeviceSetLimit(limit, (64u << 20) + 1));
    EXPECT_ACL_OK(aclrtDeviceSetLimit(limit, 32768));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "limit", aclrtDeviceGetLimit(static_cast<aclrtDeviceLimit>(5), &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "limit", aclrtDeviceSetLimit(static_cast<aclrtDeviceLimit>(-1), 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtDeviceGetLimit(limit, nullptr));
}

void stacks_are_sized_before_the_first_device() {
    const auto limit = ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE;
    size_t value = 0;
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclrtDeviceGetLimit(limit, &value));
    EXPECT_EQ(value, 32768u);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "multiple", aclrtDeviceSetLimit(limit, 40000));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "STACK", aclrtDeviceSetLimit(limit, 208 * 1024));
    EXPECT_ACL_OK(aclrtDeviceSetLimit(limit, 64 * 1024));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtDeviceSetLimit(limit, 64 * 1024));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "before the first device", aclrtDeviceSetLimit(limit, 32 * 1024));
    EXPECT_ACL_OK(aclrtDeviceGetLimit(limit, &value));
    EXPECT_EQ(value, 64u * 1024);
    EXPECT_ACL_OK(aclrtResetDevice(0));
    EXPECT_ACL_OK(aclFinalize());
}

TEST(DeviceDeathTest, StacksAreSizedBeforeTheFirstDevice) {
    EXPECT_IN_OWN_PROCESS(stacks_are_sized_before_the_first_device);
}

struct Stages {
    std::vector<std::pair<int32_t, int>> seen;
};

void on_device_state(int32_t device, aclrtDeviceState state, void* args) {
    static_cast<Stages*>(args)->seen.emplace_back(device, state);
}

TEST_F(DeviceQueryTest, StateCallbacksHearSetAndReset) {
    Stages stages;
    EXPECT_ACL_OK(aclrtRegDeviceStateCallback("watch", on_device_state, &stages));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "watch",
                     aclrtRegDeviceStateCallback("watch", on_device_state, &stages));
    EXPECT_ACL_OK(aclrtSetDevice(1));
    EXPECT_ACL_OK(aclrtResetDevice(1));
    const std::vector<std::pair<int32_t, int>> expected = {{1, ACL_RT_DEVICE_STATE_SET_PRE},
                                                           {1, ACL_RT_DEVICE_STATE_SET_POST},
                                                           {1, ACL_RT_DEVICE_STATE_RESET_PRE},
                                                           {1, ACL_RT_DEVICE_STATE_RESET_POST}};
    EXPECT_EQ(stages.seen, expected);
    EXPECT_ACL_OK(aclrtRegDeviceStateCallback("watch", nullptr, nullptr));
    EXPECT_ACL_OK(aclrtSetDevice(1));
    EXPECT_ACL_OK(aclrtResetDevice(1));
    EXPECT_EQ(stages.seen.size(), 4u);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "watch", aclrtRegDeviceStateCallback("watch", nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "regName",
                     aclrtRegDeviceStateCallback(nullptr, on_device_state, nullptr));
}

struct AbortLog {
    std::vector<int> stages;
    uint32_t timeout = 0;
    int32_t answer = 0;
};

int32_t on_abort(int32_t, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void* args) {
    auto& log = *static_cast<AbortLog*>(args);
    log.stages.push_back(stage);
    log.timeout = timeout;
    return log.answer;
}

TEST_F(DeviceUseTest, AbortCallbacksStandAroundTheAbort) {
    AbortLog log;
    EXPECT_ACL_OK(aclrtSetDeviceTaskAbortCallback("watch", on_abort, &log));
    EXPECT_ACL_OK(aclrtDeviceTaskAbort(0, 2000));
    EXPECT_EQ(log.stages, (std::vector<int>{ACL_RT_DEVICE_TASK_ABORT_PRE, ACL_RT_DEVICE_TASK_ABORT_POST}));
    EXPECT_EQ(log.timeout, 2000u);
    log.answer = 5;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INTERNAL_ERROR, "callback", aclrtDeviceTaskAbort(0, 0));
    EXPECT_ACL_OK(aclrtSetDeviceTaskAbortCallback("watch", nullptr, nullptr));
    EXPECT_ACL_OK(aclrtDeviceTaskAbort(0, 0));
    EXPECT_EQ(log.stages.size(), 3u);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclrtDeviceTaskAbort(0, 36 * 60 * 1000 + 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "regName", aclrtSetDeviceTaskAbortCallback(nullptr, on_abort, &log));
}

TEST_F(DeviceUseTest, AbortDropsWhatIsQueuedAndTheWaiterHearsIt) {
    if (!device_computes()) GTEST_SKIP() << "this device never has work left";
    uint64_t* words = device_array(std::vector<uint64_t>{0, 0});
    EXPECT_ACL_OK(aclrtValueWait(words, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_));
    EXPECT_ACL_OK(aclrtValueWrite(words + 1, 7, 0, stream_));
    EXPECT_ACL_OK(aclrtDeviceTaskAbort(0, 0));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_DEVICE_TASK_ABORT);
    EXPECT_EQ(read_back(words, 2), (std::vector<uint64_t>{0, 0}));
    EXPECT_ACL_OK(aclrtMemsetAsync(words, 16, 0x11, 16, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words, 1)[0], 0x1111111111111111u);
}

TEST_F(DeviceQueryTest, ManyThreadsSetAndResetTheSameDevices) {
    std::vector<std::thread> threads;
    for (int index = 0; index < 8; ++index) {
        threads.emplace_back([index] {
            for (int round = 0; round < 50; ++round) {
                const int32_t device = (index + round) % 3;
                EXPECT_ACL_OK(aclrtSetDevice(device));
                int32_t current = -1;
                EXPECT_ACL_OK(aclrtGetDevice(&current));
                EXPECT_EQ(current, device);
                EXPECT_ACL_OK(aclrtSynchronizeDevice());
                EXPECT_ACL_OK(aclrtResetDevice(device));
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace conformance
