// SPDX-License-Identifier: Apache-2.0
// The dispatcher with the argument blocks of other projects: loaded by its own descriptor, and bootstrapped by the
// extension kernels through the names in the block.
#include <array>

#include "dispatcher_fixture.h"
#include "runtime/rt.h"
#include "runtime/rt_external.h"
#include "runtime/runtime/kernel.h"

namespace conformance {
namespace {

class DispatcherLayouts : public DispatcherTest {
protected:
    void SetUp() override {
        DispatcherTest::SetUp();
        if (IsSkipped()) return;
        aclrtBinaryLoadOption option = {};
        option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
        option.value.cpuKernelMode = 2;
        aclrtBinaryLoadOptions options = {&option, 1};
        const std::string bytes = bytes_of(CANOPY_TEST_DISPATCHER);
        ASSERT_ACL_OK(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary_));
    }
    void TearDown() override {
        if (binary_) {
            EXPECT_ACL_OK(aclrtBinaryUnLoad(binary_));
        }
        DispatcherTest::TearDown();
    }

    struct Image {
        std::uint64_t address = 0, length = 0;
    };
    Image on_device(const std::string& path) {
        const std::string bytes = bytes_of(path);
        const char* copy = device_array(std::vector<char>(bytes.begin(), bytes.end()));
        return {reinterpret_cast<std::uintptr_t>(copy), bytes.size()};
    }
    // 160 bytes: an image at 96, the device at 112, a second image at 120.
    void* device_arguments(Image image, Image inner) {
        std::vector<std::uint64_t> words(20, 0);
        words[12] = image.address;
        words[13] = image.length;
        words[15] = inner.address;
        words[16] = inner.length;
        return device_array(words);
    }
    aclError call(const char* function, InnerWork work) {
        aclrtFuncHandle found = nullptr;
        EXPECT_ACL_OK(aclrtRegisterCpuFunc(binary_, function, function, &found));
        EXPECT_ACL_OK(aclrtLaunchKernelWithHostArgs(found, 1, stream_, nullptr, &work, sizeof work, nullptr, 0));
        return aclrtSynchronizeStream(stream_);
    }
    // 304 bytes with the names at 208 and 240, launched as a KFC kernel.
    int call_extension(const char* function, InnerWork work) {
        std::array<char, 304> block = {};
        constexpr std::uint32_t function_at = 208, library_at = 240;
        std::memcpy(block.data(), &work, sizeof work);
        std::snprintf(block.data() + function_at, 32, "%s", function);
        std::snprintf(block.data() + library_at, 32, "libaicpu_extend_kernels.so");
        rtAicpuArgsEx_t arguments = {};
        arguments.args = block.data();
        arguments.argsSize = block.size();
        arguments.kernelNameAddrOffset = function_at;
        arguments.soNameAddrOffset = library_at;
        EXPECT_EQ(
            rtAicpuKernelLaunchExWithArgs(KERNEL_TYPE_AICPU_KFC, "AST_DYN_AICPU", 1, &arguments, nullptr, stream_, 0),
            0)
            << recent_error();
        return aclrtSynchronizeStream(stream_);
    }
    InnerWork work(void* arguments, std::uint64_t value) const {
        return {InnerWork::add, words_, value, nullptr, 0, arguments};
    }

    aclrtBinHandle binary_ = nullptr;
};

TEST_F(DispatcherLayouts, AnImageAt96IsLoadedAndRun) {
    void* one = device_arguments(on_device(CANOPY_TEST_INNER_1), {});
    void* two = device_arguments(on_device(CANOPY_TEST_INNER_2), {1, 1});  // the words after it are unrelated
    for (void* arguments : {one, two}) {
        EXPECT_ACL_OK(call("DynPyptoKernelServerNull", work(arguments, 0)));
        EXPECT_ACL_OK(call("DynPyptoKernelServerInit", work(arguments, 0)));
    }
    EXPECT_ACL_OK(call("DynPyptoKernelServer", work(one, 1)));
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServer", work(two, 1)));
    EXPECT_ACL_OK(call("StaticTileFwkBackendKernelServer", work(one, 1)));
    EXPECT_EQ(read_back(words_, 1)[0], 11u + 12 + 11);
}

TEST_F(DispatcherLayouts, AnImageAt120BesideTheDispatcherIsLoadedAndRun) {
    const Image outer = on_device(CANOPY_TEST_DISPATCHER);
    void* one = device_arguments(outer, on_device(CANOPY_TEST_INNER_1));
    void* two = device_arguments(outer, on_device(CANOPY_TEST_INNER_2));
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServerInit", work(one, 0)));
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServerInit", work(two, 0)));
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServer", work(two, 3)));
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServer", work(one, 3)));
    EXPECT_EQ(read_back(words_, 1)[0], 32u + 31);
}

TEST_F(DispatcherLayouts, OtherBytesAtTheSamePlaceAreAnotherRuntimeAfterInit) {
    const std::string one = bytes_of(CANOPY_TEST_INNER_1);
    std::string two = bytes_of(CANOPY_TEST_INNER_2);
    two.resize(std::max(one.size(), two.size()));
    std::string first = one;
    first.resize(two.size());
    char* place = device_array(std::vector<char>(first.begin(), first.end()));
    void* arguments = device_arguments({reinterpret_cast<std::uintptr_t>(place), two.size()}, {});
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServerInit", work(arguments, 0)));
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServer", work(arguments, 1)));
    ASSERT_ACL_OK(aclrtMemcpy(place, two.size(), two.data(), two.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServerInit", work(arguments, 0)));
    EXPECT_ACL_OK(call("DynTileFwkBackendKernelServer", work(arguments, 1)));
    EXPECT_EQ(read_back(words_, 1)[0], 11u + 12);
}

TEST_F(DispatcherLayouts, ABlockWithoutAnImageIsRefused) {
    EXPECT_ACL_FAILS(507018, "11001", call("DynTileFwkBackendKernelServerInit", work(device_arguments({}, {}), 0)));
    void* never = device_arguments(on_device(CANOPY_TEST_INNER_1), {});
    EXPECT_ACL_FAILS(507018, "11021", call("DynTileFwkBackendKernelServer", work(never, 0)));
}

TEST_F(DispatcherLayouts, ExtensionKernelsOpenWhatABlockNames) {
    void* one = device_arguments(on_device(CANOPY_TEST_INNER_1), {});
    void* two = device_arguments(on_device(CANOPY_TEST_DISPATCHER), on_device(CANOPY_TEST_INNER_2));
    EXPECT_ACL_OK(call_extension("DynTileFwkKernelServerInit", work(one, 0)));
    EXPECT_ACL_OK(call_extension("DynTileFwkKernelServerInit", work(two, 0)));
    EXPECT_ACL_OK(call_extension("DynTileFwkKernelServer", work(one, 1)));
    EXPECT_ACL_OK(call_extension("DynTileFwkKernelServer", work(two, 1)));
    EXPECT_EQ(read_back(words_, 1)[0], 11u + 12);
    void* wrong = device_arguments(on_device(CANOPY_TEST_NO_INNER), {});
    EXPECT_ACL_FAILS(507018, "11003", call_extension("DynTileFwkKernelServerInit", work(wrong, 0)));
}

}  // namespace
}  // namespace conformance
