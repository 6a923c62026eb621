// SPDX-License-Identifier: Apache-2.0
// Which chip the devices emulate: the user's choice, or else the chip that the program's kernels were compiled for.
// Also tests the chips whose core combines a cube and a vector unit.
#include <thread>

#include "fixtures/embedded.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

constexpr const char* for_2201 = CANOPY_TEST_KERNELS;
constexpr const char* for_2002 = CANOPY_TEST_COUPLED_KERNELS;
constexpr const char* for_3510 = CANOPY_TEST_SIMT_KERNELS;

struct Registered : Embedded {
    explicit Registered(const char* path) : Embedded(path) { canopyRegisterImage(&image); }
};

// The "chip" line of canopyDescribe: the value and its source.
std::string described_chip() {
    const std::string text = canopyDescribe();
    const std::size_t entry = text.find("\"CANOPY_CHIP\"");
    const auto word = [&](const char* key) {
        const std::size_t at = text.find('"', text.find(key, entry) + std::strlen(key) + 2) + 1;
        return text.substr(at, text.find('"', at) - at);
    };
    return word("\"value\"") + " by " + word("\"set_by\"");
}

void increments(Embedded& embedded) {
    void* counter = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&counter, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtMemset(counter, 4, 0, 4));
    ASSERT_ACL_OK(embedded.launch("increment", 1, nullptr, counter));
    ASSERT_ACL_OK(aclrtSynchronizeStream(nullptr));
    uint32_t value = 0;
    ASSERT_ACL_OK(aclrtMemcpy(&value, 4, counter, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    if (device_computes()) EXPECT_EQ(value, 1u);
    EXPECT_ACL_OK(aclrtFree(counter));
}

// ---- choosing ------------------------------------------------------------------------------------------------------

void kernels_choose_the_chip() {
    setenv("SOC_VERSION", "Ascend910B3", 1);  // a build-time setting, ignored here
    EXPECT_EQ(described_chip(), "Ascend910B1 by default");
    Registered embedded(for_2002);  // also takes effect after the runtime was queried
    EXPECT_STREQ(aclrtGetSocName(), "Ascend310P3");
    EXPECT_EQ(described_chip(), "Ascend310P3 by the program's kernels");
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    increments(embedded);
    // The choice is already made, so later images do not change it.
    Registered late(for_3510);
    EXPECT_STREQ(aclrtGetSocName(), "Ascend310P3");
}

TEST(ChipDeathTest, KernelsChooseIt) { EXPECT_IN_OWN_PROCESS(kernels_choose_the_chip); }

void every_architecture_has_its_chip() {
    Registered embedded(for_3510);
    EXPECT_STREQ(aclrtGetSocName(), "Ascend950PR_9599");
    canopyUnregisterImage(&embedded.image);
    Registered usual(for_2201);
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
    EXPECT_EQ(described_chip(), "Ascend910B1 by default");
}

TEST(ChipDeathTest, EveryArchitectureHasItsChip) { EXPECT_IN_OWN_PROCESS(every_architecture_has_its_chip); }

void a_person_chooses_before_kernels() {
    setenv("CANOPY_CHIP", "ascend910b4", 1);
    Registered embedded(for_2002);
    EXPECT_EQ(described_chip(), "Ascend910B4 by CANOPY_CHIP");
}

TEST(ChipDeathTest, APersonChoosesBeforeKernels) { EXPECT_IN_OWN_PROCESS(a_person_chooses_before_kernels); }

void a_configuration_chooses_before_kernels() {
    TemporaryDirectory directory;
    Registered embedded(for_2002);
    EXPECT_ACL_OK(aclInit(directory.write("acl.json", R"({"canopy": {"chip": "Ascend310P1"}})").c_str()));
    EXPECT_EQ(described_chip(), "Ascend310P1 by aclInit");
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_STREQ(aclrtGetSocName(), "Ascend310P1");
    increments(embedded);
}

TEST(ChipDeathTest, AConfigurationChoosesBeforeKernels) {
    EXPECT_IN_OWN_PROCESS(a_configuration_chooses_before_kernels);
}

void kernels_that_disagree_choose_nothing() {
    Registered one(for_2002), other(for_3510);
    EXPECT_EQ(described_chip(), "Ascend910B1 by default");
    EXPECT_ACL_OK(aclrtSetDevice(0));
    if (!device_computes()) return;  // the null device accepts every image
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "CANOPY_CHIP=Ascend310P3", one.launch("nothing", 1, nullptr));
}

TEST(ChipDeathTest, KernelsThatDisagreeChooseNothing) { EXPECT_IN_OWN_PROCESS(kernels_that_disagree_choose_nothing); }

// A library with images for several chips serves all of them, so it does not choose the chip.
void libraries_for_several_chips_have_no_say() {
    Embedded first(for_2201), second(for_3510);
    second.image.sites = first.image.sites;
    second.image.sites_end = first.image.sites_end;
    canopyRegisterImage(&first.image);
    canopyRegisterImage(&second.image);
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
    Registered program(for_2002);
    EXPECT_STREQ(aclrtGetSocName(), "Ascend310P3");
}

TEST(ChipDeathTest, LibrariesForSeveralChipsHaveNoSay) {
    EXPECT_IN_OWN_PROCESS(libraries_for_several_chips_have_no_say);
}

void images_come_while_devices_are_opened() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            for (int round = 0; round < 20; ++round) Registered embedded(round % 2 ? for_2002 : for_3510);
        });
    for (int device = 0; device < 4; ++device) EXPECT_ACL_OK(aclrtSetDevice(device));
    for (std::thread& thread : threads) thread.join();
    const std::string chip = aclrtGetSocName();
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_EQ(chip, aclrtGetSocName());
}

TEST(ChipDeathTest, ImagesComeWhileDevicesAreOpened) { EXPECT_IN_OWN_PROCESS(images_come_while_devices_are_opened); }

class ChipFile : public DeviceTest {};

TEST_F(ChipFile, AnImageForAnotherChipIsRefusedWithTheChipThatRunsIt) {
    if (!device_computes()) GTEST_SKIP();
    aclrtBinHandle binary = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "Set CANOPY_CHIP=Ascend310P3, which runs it, or rebuild it: canopy-cc",
                     aclrtBinaryLoadFromFile(for_2002, nullptr, &binary));
}

// ---- coupled chips -------------------------------------------------------------------------------------------------

struct CoupledChip {
    const char* name;
    int64_t architecture, cores, vector_cores;
};

void expect_facts(const CoupledChip& chip) {
    EXPECT_STREQ(aclrtGetSocName(), chip.name);
    const auto attribute = [](aclrtDevAttr which) {
        int64_t value = -1;
        EXPECT_ACL_OK(aclrtGetDeviceInfo(0, which, &value));
        return value;
    };
    EXPECT_EQ(attribute(ACL_DEV_ATTR_NPU_ARCH), chip.architecture);
    EXPECT_EQ(attribute(ACL_DEV_ATTR_AICORE_CORE_NUM), chip.cores);
    EXPECT_EQ(attribute(ACL_DEV_ATTR_CUBE_CORE_NUM), chip.cores);
    EXPECT_EQ(attribute(ACL_DEV_ATTR_VECTOR_CORE_NUM), chip.vector_cores);
    uint32_t limit = 0;
    EXPECT_ACL_OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &limit));
    EXPECT_EQ(limit, chip.cores);
    EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, static_cast<uint32_t>(chip.cores) + 1),
              ACL_ERROR_RT_PARAM_INVALID);
}

void facts_of_910a() {
    setenv("CANOPY_CHIP", "Ascend910ProA", 1);
    EXPECT_ACL_OK(aclrtSetDevice(0));
    expect_facts({"Ascend910A", 1001, 32, 0});
}
void facts_of_310p() {
    setenv("CANOPY_CHIP", "Ascend310P", 1);
    EXPECT_ACL_OK(aclrtSetDevice(0));
    expect_facts({"Ascend310P3", 2002, 8, 7});
}
void facts_of_310b() {
    setenv("CANOPY_CHIP", "Ascend310B4", 1);
    EXPECT_ACL_OK(aclrtSetDevice(0));
    expect_facts({"Ascend310B4", 3002, 1, 0});
}

TEST(ChipDeathTest, CoupledChipsTellTheirFacts) {
    EXPECT_IN_OWN_PROCESS(facts_of_910a);
    EXPECT_IN_OWN_PROCESS(facts_of_310p);
    EXPECT_IN_OWN_PROCESS(facts_of_310b);
}

// Explicit launches also find the kernels of such a chip, and every block runs once.
void blocks_run_on_coupled_cores() {
    setenv("CANOPY_CHIP", "Ascend310P3", 1);
    EXPECT_ACL_OK(aclrtSetDevice(0));
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(for_2002, nullptr, &binary));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "identify", &function));
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, 4 * 40, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function, 40, nullptr, nullptr, &memory, 8, nullptr, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(nullptr));
    std::vector<uint32_t> values(40);
    ASSERT_ACL_OK(aclrtMemcpy(values.data(), 160, memory, 160, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t block = 0; block < 40 && device_computes(); ++block) EXPECT_EQ(values[block], block + 40000);
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
}

TEST(ChipDeathTest, BlocksRunOnCoupledCores) { EXPECT_IN_OWN_PROCESS(blocks_run_on_coupled_cores); }

// The kernels of the library itself are for every chip. Several threads are the first to use them.
void the_library_reduces() {
    constexpr size_t count = 300000, threads = 4;
    EXPECT_ACL_OK(aclrtSetDevice(0));
    void* one = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&one, count, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtMemset(one, count, 1, count));
    std::vector<std::thread> all;
    for (size_t thread = 0; thread < threads; ++thread)
        all.emplace_back([one] {
            ASSERT_ACL_OK(aclrtSetDevice(0));
            aclrtStream stream = nullptr;
            void* sum = nullptr;
            ASSERT_ACL_OK(aclrtCreateStream(&stream));
            ASSERT_ACL_OK(aclrtMalloc(&sum, count, ACL_MEM_MALLOC_HUGE_FIRST));
            ASSERT_ACL_OK(aclrtMemset(sum, count, 3, count));
            ASSERT_ACL_OK(
                aclrtReduceAsync(sum, one, count, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT8, stream, nullptr));
            ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
            std::vector<int8_t> values(count);
            ASSERT_ACL_OK(aclrtMemcpy(values.data(), count, sum, count, ACL_MEMCPY_DEVICE_TO_HOST));
            if (device_computes()) EXPECT_TRUE(values == std::vector<int8_t>(count, 4));
            EXPECT_ACL_OK(aclrtFree(sum));
            EXPECT_ACL_OK(aclrtDestroyStream(stream));
        });
    for (std::thread& thread : all) thread.join();
    EXPECT_ACL_OK(aclrtFree(one));
}

TEST(ChipDeathTest, KernelsOfTheLibraryRunOnEveryChip) {
    for (const char* name : {"Ascend910B1", "Ascend950PR_9599", "Ascend910A", "Ascend310P3", "Ascend310B1"}) {
        setenv("CANOPY_CHIP", name, 1);
        EXPECT_IN_OWN_PROCESS(the_library_reduces);
    }
    unsetenv("CANOPY_CHIP");
}

}  // namespace
}  // namespace conformance
