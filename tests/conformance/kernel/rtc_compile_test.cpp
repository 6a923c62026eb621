// SPDX-License-Identifier: Apache-2.0
// Run-time compilation: source to image, the log, names, and refused input.
#include <stdlib.h>

#include <thread>

#include "acl/acl_rt_compile.h"
#include "fixtures/fixture.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

constexpr const char* source = R"(
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void rtc_add(__gm__ uint32_t* out, uint32_t a, uint32_t b) { *out = a + b + EXTRA; }
)";

// Destroys its program at the end of its life.
class Program {
public:
    explicit Program(const char* text, const char* name = "test.cpp", std::vector<const char*> headers = {},
                     std::vector<const char*> names = {}) {
        EXPECT_ACL_OK(
            aclrtcCreateProg(&handle_, text, name, static_cast<int>(headers.size()), headers.data(), names.data()));
    }
    ~Program() {
        if (handle_) EXPECT_ACL_OK(aclrtcDestroyProg(&handle_));
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Options that compile quickly, since the generated code is not tested.
    aclError compile(std::vector<const char*> options = {"-DEXTRA=0"}) {
        options.insert(options.end(), {"-O0", "--targets=baseline"});
        return aclrtcCompileProg(handle_, static_cast<int>(options.size()), options.data());
    }
    std::string log() {
        size_t size = 0;
        EXPECT_ACL_OK(aclrtcGetCompileLogSize(handle_, &size));
        std::string text(size, '?');
        EXPECT_ACL_OK(aclrtcGetCompileLog(handle_, text.data()));
        EXPECT_EQ(text.back(), '\0');
        text.pop_back();
        return text;
    }
    std::vector<char> image() {
        size_t size = 0;
        EXPECT_ACL_OK(aclrtcGetBinDataSize(handle_, &size));
        std::vector<char> bytes(size);
        EXPECT_ACL_OK(aclrtcGetBinData(handle_, bytes.data()));
        return bytes;
    }
    std::string lowered(const char* expression) {
        const char* name = nullptr;
        EXPECT_ACL_OK(aclrtcGetLoweredName(handle_, expression, &name));
        return name ? name : "";
    }
    aclrtcProg handle_ = nullptr;
};

class Rtc : public DeviceTest {
protected:
    void SetUp() override {
        setenv("CANOPY_CC", CANOPY_TEST_CC, 1);
        DeviceTest::SetUp();
    }
    void TearDown() override {
        for (aclrtBinHandle binary : binaries_) EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
        unsetenv("CANOPY_CC");
        DeviceTest::TearDown();
    }
    aclrtFuncHandle load(const std::vector<char>& image, const std::string& name) {
        aclrtBinHandle binary = nullptr;
        aclrtFuncHandle function = nullptr;
        EXPECT_ACL_OK(aclrtBinaryLoadFromData(image.data(), image.size(), nullptr, &binary));
        if (binary) binaries_.push_back(binary);
        EXPECT_ACL_OK(aclrtBinaryGetFunction(binary, name.c_str(), &function));
        return function;
    }
    uint32_t run_add(const std::vector<char>& image, uint32_t a, uint32_t b) {
        const aclrtFuncHandle function = load(image, "rtc_add");
        auto* out = device_array<uint32_t>({0});
        void* arguments[] = {&out, &a, &b};
        EXPECT_ACL_OK(aclrtLaunchKernelWithArgsArray(function, 1, stream_, nullptr, arguments));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        return read_back(out, 1)[0];
    }
    std::vector<aclrtBinHandle> binaries_;
};

TEST_F(Rtc, CompilesLoadsAndLaunches) {
    Program program(source);
    ASSERT_ACL_OK(program.compile({"-DEXTRA=100"}));
    const std::vector<char> image = program.image();
    if (device_computes()) EXPECT_EQ(run_add(image, 2, 3), 105u);
}

TEST_F(Rtc, HeadersAreFoundByTheirNames) {
    const char* text = "#include \"sizes/extra.h\"\n#include <kernel.h>\n";
    Program program(text, "test.cpp", {"#pragma once\n#define EXTRA 7\n", source}, {"sizes/extra.h", "kernel.h"});
    ASSERT_ACL_OK(program.compile({}));
    if (device_computes()) EXPECT_EQ(run_add(program.image(), 1, 1), 9u);
}

TEST_F(Rtc, BrokenSourceLeavesDiagnosticsOnItsOwnLines) {
    const std::string text =
        "#include \"kernel_operator.h\"\n\n__global__ __aicore__ void k() { undeclared_name(); }\n";
    Program program(text.c_str(), "mine/broken.asc");
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "undeclared_name", program.compile());
    EXPECT_NE(program.log().find("mine/broken.asc:3:"), std::string::npos) << program.log();
    size_t size = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "did not compile", aclrtcGetBinDataSize(program.handle_, &size));
    char byte = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "did not compile", aclrtcGetBinData(program.handle_, &byte));
}

TEST_F(Rtc, NameThatIsNotSupportedIsExplainedInTheLog) {
    const std::string text =
        "#include \"kernel_operator.h\"\n__global__ __aicore__ void k() { AscendC::Hccl<> group; }\n";
    Program program(text.c_str());
    EXPECT_EQ(program.compile(), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_NE(program.log().find("AscendC::Hccl is not supported by Canopy yet"), std::string::npos) << program.log();
}

TEST_F(Rtc, MistakeThatHidesTheKernelsIsReported) {
    const std::string text = "#include \"kernel_operator.h\"\nint broken = undeclared_name;\n";
    Program program(text.c_str());
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "undeclared_name", program.compile());
    Program none("int number = 1;\n");
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no kernel", none.compile());
}

TEST_F(Rtc, BrokenHeaderIsNamed) {
    const std::string text = std::string("#include \"inner.h\"\n") + source;
    Program program(text.c_str(), "test.cpp", {"\nint broken = undeclared_name;\n"}, {"inner.h"});
    EXPECT_EQ(program.compile(), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_NE(program.log().find("inner.h:2:"), std::string::npos) << program.log();
}

TEST_F(Rtc, UnknownOptionsAreTheCompilersToRefuse) {
    Program program(source);
    EXPECT_EQ(program.compile({"-DEXTRA=0", "--targets=abacus"}), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_NE(program.log().find("abacus"), std::string::npos) << program.log();
}

TEST_F(Rtc, ProgramThatFailedCanBeCompiledAgain) {
    Program program(source);
    EXPECT_EQ(program.compile({}), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_NE(program.log().find("EXTRA"), std::string::npos);
    ASSERT_ACL_OK(program.compile());
    EXPECT_FALSE(program.image().empty());
}

TEST(RtcChip, IsThatOfTheDevices) {
    EXPECT_IN_OWN_PROCESS([] {
        setenv("CANOPY_CHIP", "Ascend950PR_9599", 1);
        setenv("CANOPY_CC", CANOPY_TEST_CC, 1);
        Program program(source);
        EXPECT_ACL_OK(program.compile());
        const std::vector<char> image = program.image();
        EXPECT_ACL_OK(aclInit(nullptr));
        EXPECT_ACL_OK(aclrtSetDevice(0));
        aclrtBinHandle binary = nullptr;
        EXPECT_ACL_OK(aclrtBinaryLoadFromData(image.data(), image.size(), nullptr, &binary));
    });
}

TEST_F(Rtc, IsUsedByManyThreads) {
    std::vector<std::thread> threads;
    std::vector<std::vector<char>> images(3);
    for (std::size_t t = 0; t < images.size(); ++t)
        threads.emplace_back([&, t] {
            Program program(source);
            const std::string extra = "-DEXTRA=" + std::to_string(t);
            EXPECT_ACL_OK(program.compile({extra.c_str()}));
            images[t] = program.image();
        });
    for (std::thread& thread : threads) thread.join();
    if (!device_computes()) return;
    for (std::size_t t = 0; t < images.size(); ++t) EXPECT_EQ(run_add(images[t], 1, 2), 3u + t);
}

// ---- names ---------------------------------------------------------------------------------------------------------

constexpr const char* named_source = R"(
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void plain_kernel(__gm__ uint32_t* out) { *out = 1; }
__gm__ uint32_t plain_word = 5;
)";

TEST_F(Rtc, LoweredNamesFindKernelsAndVariables) {
    Program program(named_source);
    ASSERT_ACL_OK(aclrtcAddNameExpr(program.handle_, "plain_kernel"));
    ASSERT_ACL_OK(aclrtcAddNameExpr(program.handle_, "&plain_word"));
    ASSERT_ACL_OK(aclrtcAddNameExpr(program.handle_, "plain_kernel"));
    ASSERT_ACL_OK(program.compile({}));
    EXPECT_EQ(program.lowered("plain_kernel"), "plain_kernel");
    const std::string word = program.lowered("&plain_word");
    if (!device_computes()) return;
    load(program.image(), program.lowered("plain_kernel"));
    void* address = nullptr;
    size_t size = 0;
    ASSERT_ACL_OK(aclrtBinaryGetGlobal(binaries_.back(), word.c_str(), &address, &size));
    EXPECT_EQ(size, 4u);
}

constexpr const char* template_source = R"(
#include "kernel_operator.h"
namespace scaled {
template <class T, int factor>
__global__ __aicore__ void scale(__gm__ T* out, T value) { *out = value * factor; }
}
__global__ __aicore__ void same_name(__gm__ uint32_t* out) { *out = 1; }
__global__ __aicore__ void same_name(__gm__ uint64_t* out) { *out = 2; }
)";

TEST_F(Rtc, TemplatesAreInstantiatedByName) {
    Program program(template_source);
    const char* const floats = "scaled::scale<float, 3>";
    const char* const numbers = "&scaled::scale<uint32_t, 5>";
    const char* const overload = "static_cast<void (*)(__gm__ uint64_t*)>(same_name)";
    for (const char* each : {floats, numbers, overload}) ASSERT_ACL_OK(aclrtcAddNameExpr(program.handle_, each));
    ASSERT_ACL_OK(program.compile({}));
    EXPECT_NE(program.lowered(floats), program.lowered(numbers));
    if (!device_computes()) return;
    const std::vector<char> image = program.image();
    auto* number = device_array<uint32_t>({0});
    auto* real = device_array<float>({0});
    auto* wide = device_array<uint64_t>({0});
    uint32_t four = 4;
    float half = 0.5f;
    void* number_arguments[] = {&number, &four};
    void* real_arguments[] = {&real, &half};
    void* wide_arguments[] = {&wide};
    const auto run = [&](const char* expression, void** arguments) {
        EXPECT_ACL_OK(
            aclrtLaunchKernelWithArgsArray(load(image, program.lowered(expression)), 1, stream_, nullptr, arguments));
    };
    run(numbers, number_arguments);
    run(floats, real_arguments);
    run(overload, wide_arguments);
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(number, 1)[0], 20u);
    EXPECT_EQ(read_back(real, 1)[0], 1.5f);
    EXPECT_EQ(read_back(wide, 1)[0], 2u);
}

TEST_F(Rtc, WrongNameExpressionIsInTheLog) {
    Program program(named_source);
    ASSERT_ACL_OK(aclrtcAddNameExpr(program.handle_, "no_such_kernel<float>"));
    EXPECT_EQ(program.compile({}), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_NE(program.log().find("name expression 'no_such_kernel<float>'"), std::string::npos) << program.log();
}

TEST_F(Rtc, NameExpressionsComeBeforeCompiling) {
    Program program(named_source);
    const char* name = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not been compiled",
                     aclrtcGetLoweredName(program.handle_, "plain_kernel", &name));
    ASSERT_ACL_OK(program.compile({}));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "before", aclrtcAddNameExpr(program.handle_, "plain_kernel"));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aclrtcAddNameExpr",
                     aclrtcGetLoweredName(program.handle_, "plain_kernel", &name));
}

// ---- what is refused -----------------------------------------------------------------------------------------------

TEST_F(Rtc, NullAndWrongArgumentsAreRefused) {
    aclrtcProg program = nullptr;
    const char* header = "";
    const char* name = "a.h";
    const char* null = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prog", aclrtcCreateProg(nullptr, "", "", 0, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src", aclrtcCreateProg(&program, nullptr, "", 0, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "numHeaders", aclrtcCreateProg(&program, "", "", -1, &header, &name));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "headers", aclrtcCreateProg(&program, "", "", 1, nullptr, &name));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "includeNames", aclrtcCreateProg(&program, "", "", 1, &header, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "headers[0]", aclrtcCreateProg(&program, "", "", 1, &null, &name));
    for (const char* bad : {"", "/etc/a.h", "../a.h", "a/../../b.h", "a/"})
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "includeNames",
                         aclrtcCreateProg(&program, "", "", 1, &header, &bad));
    EXPECT_EQ(program, nullptr);

    Program good("", nullptr);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "numOptions", aclrtcCompileProg(good.handle_, -1, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "options", aclrtcCompileProg(good.handle_, 1, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "options[0]", aclrtcCompileProg(good.handle_, 1, &null));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "nameExpression", aclrtcAddNameExpr(good.handle_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "empty", aclrtcAddNameExpr(good.handle_, ""));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "loweredName", aclrtcGetLoweredName(good.handle_, "a", nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "nameExpression", aclrtcGetLoweredName(good.handle_, nullptr, &name));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binDataSizeRet", aclrtcGetBinDataSize(good.handle_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binData", aclrtcGetBinData(good.handle_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "logSizeRet", aclrtcGetCompileLogSize(good.handle_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "log", aclrtcGetCompileLog(good.handle_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prog", aclrtcDestroyProg(nullptr));
    EXPECT_EQ(good.log(), "");
}

TEST_F(Rtc, HandlesThatAreNoProgramsAreRefused) {
    aclrtcProg ended = nullptr;
    ASSERT_ACL_OK(aclrtcCreateProg(&ended, "", "", 0, nullptr, nullptr));
    aclrtcProg copy = ended;
    ASSERT_ACL_OK(aclrtcDestroyProg(&ended));
    EXPECT_EQ(ended, nullptr);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prog", aclrtcDestroyProg(&ended));
    size_t size = 0;
    char text[8];
    const char* name = nullptr;
    for (aclrtcProg wrong : {copy, static_cast<aclrtcProg>(stream_), static_cast<aclrtcProg>(&size)}) {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "prog", aclrtcCompileProg(wrong, 0, nullptr));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "prog", aclrtcAddNameExpr(wrong, "a"));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "prog", aclrtcGetLoweredName(wrong, "a", &name));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "prog", aclrtcGetBinData(wrong, text));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "prog", aclrtcGetBinDataSize(wrong, &size));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "prog", aclrtcGetCompileLog(wrong, text));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "prog", aclrtcGetCompileLogSize(wrong, &size));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "prog", aclrtcDestroyProg(&wrong));
    }
}

TEST_F(Rtc, MissingCompilerIsNamed) {
    Program program(source);
    setenv("CANOPY_CC", "/no/such/canopy-cc", 1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "/no/such/canopy-cc", program.compile());
    EXPECT_NE(program.log().find("CANOPY_CC"), std::string::npos) << program.log();
}

#ifdef CANOPY_TEST_CC_BESIDE_LIBRARY
TEST_F(Rtc, CompilerBesideTheLibraryIsFound) {
    unsetenv("CANOPY_CC");
    Program program(source);
    EXPECT_ACL_OK(program.compile());
}
#endif

TEST_F(Rtc, CompilerThatDiesIsAFailure) {
    Program program(source);
    setenv("CANOPY_CC", "/bin/false", 1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "does not compile", program.compile());
    setenv("CANOPY_CC", "/bin/true", 1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "does not compile", program.compile());
    setenv("CANOPY_CC", "/etc/passwd", 1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "/etc/passwd", program.compile());
}

}  // namespace
}  // namespace conformance
