// SPDX-License-Identifier: Apache-2.0
// CPU kernels through the lower interface: functions by handle, and by names in the argument block.
#include <cstring>

#include "fixtures/cpu_kernel_fixture.h"
#include "runtime/rt.h"
#include "runtime/rt_external.h"
#include "runtime/runtime/rts/rts_kernel.h"

namespace conformance {
namespace {

class CpuKernelNames : public CpuKernelTest {
protected:
    // The arguments of write_value, followed by the two names.
    struct Block {
        Write write;
        std::uint64_t* room[26];
        char function[32];
        char library[32];
    };
    Block named(const char* function, const char* library, std::uint64_t value) {
        Block block = {};
        block.write = {words_, value};
        std::snprintf(block.function, sizeof block.function, "%s", function);
        std::snprintf(block.library, sizeof block.library, "%s", library);
        return block;
    }
    static rtAicpuArgsEx_t described(Block& block) {
        rtAicpuArgsEx_t described = {};
        described.args = &block;
        described.argsSize = sizeof block;
        described.kernelNameAddrOffset = offsetof(Block, function);
        described.soNameAddrOffset = offsetof(Block, library);
        return described;
    }
    rtError_t launch_named(const rtAicpuArgsEx_t& block, std::uint32_t kind = KERNEL_TYPE_AICPU_KFC,
                           std::uint32_t flags = 0) {
        return rtAicpuKernelLaunchExWithArgs(kind, "AST_DYN_AICPU", 1, &block, nullptr, stream_, flags);
    }
    std::uint64_t first_word() {
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        return read_back(words_, 1)[0];
    }
};

TEST_F(CpuKernelNames, AFunctionIsLaunchedByItsHandle) {
    Write write{words_, 17};
    rtCpuKernelArgs_t arguments = {};
    arguments.baseArgs.args = &write;
    arguments.baseArgs.argsSize = sizeof write;
    EXPECT_EQ(rtsLaunchCpuKernel(kernel("write_value"), 1, stream_, nullptr, &arguments), 0);
    EXPECT_EQ(first_word(), 17u);
    arguments.baseArgs.args = device_array(std::vector<Write>{{words_, 18}});
    arguments.baseArgs.isNoNeedH2DCopy = true;
    EXPECT_EQ(rtsLaunchCpuKernel(kernel("write_value"), 1, stream_, nullptr, &arguments), 0);
    EXPECT_EQ(first_word(), 18u);
}

TEST_F(CpuKernelNames, PointersInTheBlockPointIntoItsCopy) {
    struct {
        std::uint64_t* to;
        std::uint64_t first, second;
        std::uint64_t data[2];
    } block = {words_, 0, 0, {5, 6}};
    rtHostInputInfo_t inputs[] = {{8, 24}}, offsets[] = {{16, 32}};
    rtCpuKernelArgs_t arguments = {};
    arguments.baseArgs.args = &block;
    arguments.baseArgs.argsSize = sizeof block;
    arguments.baseArgs.hostInputInfoPtr = inputs;
    arguments.baseArgs.hostInputInfoNum = 1;
    arguments.baseArgs.kernelOffsetInfoPtr = offsets;
    arguments.baseArgs.kernelOffsetInfoNum = 1;
    EXPECT_EQ(rtsLaunchCpuKernel(kernel("follow_pointers"), 1, stream_, nullptr, &arguments), 0);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 2), (std::vector<std::uint64_t>{5, 6}));
    inputs[0].addrOffset = 36;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder 0",
                     rtsLaunchCpuKernel(kernel("follow_pointers"), 1, stream_, nullptr, &arguments));
}

TEST_F(CpuKernelNames, NamesInTheBlockStandAboveTheFunction) {
    Block block = named("variant", "", 0);
    rtCpuKernelArgs_t arguments = {};
    arguments.baseArgs = described(block);
    arguments.baseArgs.soNameAddrOffset = 0;
    EXPECT_EQ(rtsLaunchCpuKernel(kernel("write_value"), 1, stream_, nullptr, &arguments), 0);
    EXPECT_EQ(first_word(), 1u);
    arguments.baseArgs.kernelNameAddrOffset = sizeof block;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kernelNameAddrOffset",
                     rtsLaunchCpuKernel(kernel("write_value"), 1, stream_, nullptr, &arguments));
}

TEST_F(CpuKernelNames, NamesAreFoundInABlockInDeviceMemory) {
    Block block = named("variant", "", 0);
    rtCpuKernelArgs_t arguments = {};
    arguments.baseArgs = described(block);
    arguments.baseArgs.args = device_array(std::vector<Block>{block});
    arguments.baseArgs.isNoNeedH2DCopy = true;
    arguments.baseArgs.soNameAddrOffset = 0;
    EXPECT_EQ(rtsLaunchCpuKernel(kernel("write_value"), 1, stream_, nullptr, &arguments), 0);
    EXPECT_EQ(first_word(), 1u);
    std::memset(block.function, 'x', sizeof block.function + sizeof block.library);
    arguments.baseArgs.args = device_array(std::vector<Block>{block});
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not terminated",
                     rtsLaunchCpuKernel(kernel("write_value"), 1, stream_, nullptr, &arguments));
}

TEST_F(CpuKernelNames, WhatCannotBeALaunchIsRefused) {
    Write write{words_, 17};
    rtCpuKernelArgs_t arguments = {};
    arguments.baseArgs.args = &write;
    arguments.baseArgs.argsSize = sizeof write;
    aclrtFuncHandle store = kernel("write_value");
    const rtKernelLaunchCfg_t no_list = {nullptr, 0};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "attrs", rtsLaunchCpuKernel(store, 1, stream_, &no_list, &arguments));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsInfo", rtsLaunchCpuKernel(store, 1, stream_, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "numBlocks",
                     rtsLaunchCpuKernel(store, 0, stream_, nullptr, &arguments));
    arguments.baseArgs.argsSize = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsSize",
                     rtsLaunchCpuKernel(store, 1, stream_, nullptr, &arguments));
    arguments.baseArgs.argsSize = sizeof write;
    aclrtBinHandle cores = nullptr;
    aclrtFuncHandle increment = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &cores));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(cores, "increment", &increment));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "AI cores",
                     rtsLaunchCpuKernel(increment, 1, stream_, nullptr, &arguments));
    EXPECT_ACL_OK(aclrtBinaryUnLoad(cores));
}

TEST_F(CpuKernelNames, ALaunchFindsItsKernelByTheNamesInItsBlock) {
    folder_.write("named.so", bytes_of(CANOPY_TEST_CPU_1));
    aclrtBinHandle owner = loaded_file(folder_.write("named.json", "{}"), 1);
    Block block = named("write_value", "named.so", 0);
    for (std::uint32_t kind : {KERNEL_TYPE_FWK, KERNEL_TYPE_AICPU, KERNEL_TYPE_AICPU_CUSTOM, KERNEL_TYPE_AICPU_KFC}) {
        block.write.value = 100 + kind;
        EXPECT_EQ(launch_named(described(block), kind), 0) << kind << ": " << recent_error();
        EXPECT_EQ(first_word(), 100 + kind);
    }
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kernelType 3", launch_named(described(block), 3));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kernelType 99", launch_named(described(block), 99));
    unload(owner);
}

TEST_F(CpuKernelNames, ANameMeansWhatWasLoadedLastUnderIt) {
    Block block = named("variant", "same.so", 0);
    for (int round = 0; round < 4; ++round) {
        folder_.write("same.so", bytes_of(round % 2 == 0 ? CANOPY_TEST_CPU_1 : CANOPY_TEST_CPU_2));
        aclrtBinHandle owner = loaded_file(folder_.write("same.json", "{}"), 1);
        EXPECT_EQ(launch_named(described(block)), 0) << recent_error();
        EXPECT_EQ(first_word(), 1u + round % 2);
        unload(owner);
    }
}

TEST_F(CpuKernelNames, NamesThatLeadNowhereAreRefused) {
    Block block = named("write_value", "nowhere.so", 0);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "nowhere.so", launch_named(described(block)));
    block = named("nothing_of_that_name", "", 0);
    rtAicpuArgsEx_t logical = described(block);
    logical.soNameAddrOffset = 0xFFFFFFFF;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no CPU kernel nothing_of_that_name", launch_named(logical));
    std::memset(block.library, 'x', sizeof block.library);  // no terminating zero
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not terminated", launch_named(described(block)));
    block = named("", "nowhere.so", 0);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no kernel name", launch_named(described(block)));
}

TEST_F(CpuKernelNames, ALaunchWithoutALibraryRunsAnExtensionKernel) {
    folder_.write("libaicpu_extend_kernels.so", bytes_of(CANOPY_TEST_CPU_1));
    aclrtBinHandle owner = loaded_file(folder_.write("libaicpu_extend_kernels.json", "{}"), 1);
    Block block = named("write_value", "", 44);
    rtAicpuArgsEx_t logical = described(block);
    logical.soNameAddrOffset = 0xFFFFFFFF;
    EXPECT_EQ(launch_named(logical), 0) << recent_error();
    EXPECT_EQ(first_word(), 44u);
    unload(owner);
}

// ---- kernels without a shared object that load others --------------------------------------------------------------

class CpuKernelLoaders : public CpuKernelNames {
protected:
    struct [[gnu::packed]] Record {
        std::uint64_t bytes;
        std::uint32_t size;
        std::uint64_t name;
        std::uint32_t name_size;
    };
    struct [[gnu::packed]] Batch {
        std::uint32_t count;
        std::uint64_t records;
    };
    template <class T>
    std::uint64_t on_device(const T& text) {
        return reinterpret_cast<std::uint64_t>(device_array(std::vector<char>(text.begin(), text.end())));
    }
    Record record(const std::string& name, const std::string& bytes) {
        return {on_device(bytes), static_cast<std::uint32_t>(bytes.size()), on_device(name),
                static_cast<std::uint32_t>(name.size())};
    }
    template <class Arguments>
    int run(const char* name, const Arguments& arguments) {
        Block block = named(name, "", 0);
        std::memcpy(&block, &arguments, sizeof arguments);
        rtAicpuArgsEx_t logical = described(block);
        logical.soNameAddrOffset = 0xFFFFFFFF;
        return launch_named(logical, KERNEL_TYPE_AICPU);
    }
    std::uint64_t variant_of(const char* library) {
        Block block = named("variant", library, 0);
        EXPECT_EQ(launch_named(described(block)), 0) << recent_error();
        return first_word();
    }
};

TEST_F(CpuKernelLoaders, ObjectsFromDeviceMemoryAreFoundByTheirNames) {
    const Record one = record("from_memory_1.so", bytes_of(CANOPY_TEST_CPU_1)),
                 two = record("from_memory_2.so", bytes_of(CANOPY_TEST_CPU_2));
    const Batch both = {2, reinterpret_cast<std::uint64_t>(device_array(std::vector<Record>{one, two}))};
    EXPECT_EQ(run("batchLoadsoFrombuf", both), 0) << recent_error();
    EXPECT_EQ(variant_of("from_memory_1.so"), 1u);
    EXPECT_EQ(variant_of("from_memory_2.so"), 2u);
    EXPECT_EQ(run("loadOpFromBuf", record("from_memory_1.so", bytes_of(CANOPY_TEST_CPU_2))), 0) << recent_error();
    EXPECT_EQ(variant_of("from_memory_1.so"), 2u) << "the newest bytes count";
    EXPECT_EQ(run("deleteCustOp", both), 0) << recent_error();
    Block block = named("variant", "from_memory_1.so", 0);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "was not found", launch_named(described(block)));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "from_memory_1.so", run("deleteCustOp", both));
}

TEST_F(CpuKernelLoaders, WhatIsNotInDeviceMemoryIsRefused) {
    Record wrong = record("x.so", "bytes");
    wrong.size = 1u << 30;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "loadOpFromBuf", run("loadOpFromBuf", wrong));
    wrong = record("x.so", "bytes");
    wrong.name = 0x1000;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "0x1000", run("loadOpFromBuf", wrong));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "0 objects", run("batchLoadsoFrombuf", Batch{0, 0}));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "records", run("deleteCustOp", Batch{1, 0x1000}));
}

TEST_F(CpuKernelNames, OptionsWithoutAListAreRefused) {
    rtBinHandle binary = nullptr;
    const rtLoadBinaryConfig_t none = {nullptr, 0};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "options", rtsBinaryLoadFromFile("x.json", &none, &binary));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "options", rtsBinaryLoadFromData("x", 1, &none, &binary));
}

TEST_F(CpuKernelNames, TheTimeInTheBlockCountsWhenTheFlagsSaySo) {
    folder_.write("timed.so", bytes_of(CANOPY_TEST_CPU_1));
    aclrtBinHandle owner = loaded_file(folder_.write("timed.json", "{}"), 1);
    Block block = named("never_end", "timed.so", 0);
    rtAicpuArgsEx_t timed = described(block);
    timed.timeout = 1;
    EXPECT_EQ(launch_named(timed, KERNEL_TYPE_AICPU, RT_KERNEL_USE_SPECIAL_TIMEOUT), 0);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_AICPU_TIMEOUT, "never_end", aclrtSynchronizeStream(stream_));
    block = named("write_value", "timed.so", 3);
    timed.timeout = 0xFFFF;
    EXPECT_EQ(launch_named(timed, KERNEL_TYPE_AICPU, RT_KERNEL_USE_SPECIAL_TIMEOUT), 0);
    EXPECT_EQ(first_word(), 3u);
    unload(owner);
}

}  // namespace
}  // namespace conformance
