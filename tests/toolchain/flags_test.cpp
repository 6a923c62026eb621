// SPDX-License-Identifier: Apache-2.0
// Command lines from build files written for other compilers of the kernel language.
#include <filesystem>

#include "compiler.h"
#include "device/image.h"

namespace canopy::test {
namespace {

class Flags : public Toolchain {
protected:
    // The core type of the only kernel of an image.
    static CoreType core_of(const Compilation& compilation) {
        EXPECT_EQ(compilation.status, 0) << compilation.messages;
        const auto image = read_image(std::as_bytes(std::span(compilation.image)));
        if (!image.ok() || image.value().kernels.size() != 1) {
            ADD_FAILURE() << "not an image with one kernel";
            return CoreType::mix;
        }
        return image.value().kernels[0].core;
    }
    Compilation quick(const std::string& text, const std::string& flags) const {
        return compile(text, "-O0 --targets=baseline --no-trace " + flags);
    }
};

const std::string header = "#include \"kernel_operator.h\"\n";
const std::string kernel = "extern \"C\" __global__ __aicore__ void k(int* p) { *p = 3; }\n";

const std::string foreign_words =
    "-mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000 "
    "-mllvm -cce-aicore-record-overflow=true -mllvm -cce-aicore-addr-transform "
    "-mllvm -cce-aicore-dcci-insert-for-scalar=false -mllvm -cce-aicore-jump-expand=true -mllvm -api-deps-filter "
    "-mllvm -api-deps-filter=true -mllvm=-cce-aicore-stack-size=0x8000 '-mllvm -cce-aicore-long-call' "
    "-Xclang -mllvm -Xclang -cce-aicore-mask-opt=false -Xclang -fcce-vf-vl=256 -fcce-kernel-launch -aicore "
    "--cce-aicore-lang --cce-aicore-enable-tl --cce-auto-sync --cce-long-call=true --cce-fatobj-link "
    "--cce-fatobj-compile --cce-aicore-input-parameter-size 1536 --cce-aicore-input-parameter-size=1536 "
    "--cce-aicore-block-local-init --cce-mask-opt --cce-aicore-record-overflow false "
    "--cce-disable-kernel-global-attr-check "
    "-Xhost-start -Xhost-end -forward-options-to-host-compiler -fmath-errno -D_GLIBCXX_USE_CXX11_ABI=0 ";

TEST_F(Flags, OfOtherKernelCompilersAreAcceptedWithKernels) {
    for (const char* language : {"-xcce", "-x cce"}) {
        const auto result = quick(kernel, foreign_words + language + " -std=c++17 -Werror");
        EXPECT_EQ(result.status, 0) << result.messages;
        EXPECT_EQ(result.messages, "");
    }
}

TEST_F(Flags, ForHostCodeDoNotReachKernels) {
    EXPECT_EQ(quick(kernel, "-Xarch_host -fnot-a-flag").status, 0);  // an image has no host code
    write("both.asc", header + kernel + "int main() { return 0; }\n");
    const auto refused = run("-O0 --targets=baseline --no-trace -c both.asc -Xarch_host -fnot-a-flag");
    EXPECT_NE(refused.status, 0);
    EXPECT_CONTAINS(refused.messages, "-fnot-a-flag");
    const auto lacking = run("-c both.asc -Xarch_host");
    EXPECT_EQ(lacking.status, 2);
    EXPECT_CONTAINS(lacking.messages, "-Xarch_host needs a value");
}

TEST_F(Flags, OfOtherKernelCompilersAreAcceptedWithoutKernels) {
    write("plain.cpp", "int main() { return _GLIBCXX_USE_CXX11_ABI; }\n");
    write("plain.c", "int f(void) { return 1; }\n");
    for (const char* arguments : {"-c plain.cpp", "-c plain.c -Werror", "plain.cpp -o plain", "-E -xcce plain.cpp"}) {
        const auto result = run(foreign_words + arguments);
        EXPECT_EQ(result.status, 0) << arguments << "\n" << result.messages;
        EXPECT_LACKS(result.messages, "warning");
    }
}

TEST_F(Flags, OfLlvmReachTheCompiler) {
    const auto unknown = quick(kernel, "-mllvm -no-such-option");
    EXPECT_EQ(unknown.status, 1);
    EXPECT_CONTAINS(unknown.messages, "no-such-option");
    EXPECT_EQ(quick(kernel, "-mllvm -inline-threshold=100").status, 0);
}

TEST_F(Flags, ThatNobodyKnowsAreRefused) {
    const auto unknown = quick(kernel, "--ccf-auto-sync");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_CONTAINS(unknown.messages, "unknown option '--ccf-auto-sync'");
}

TEST_F(Flags, ComeFromResponseFiles) {
    write("outer.rsp", "-DFIRST=1 @inner.rsp\n  '-DTEXT=\"a b\"'\n");
    write("inner.rsp", "-DSECOND=\"2\" -mllvm\n-cce-aicore-stack-size=0x8000\n");
    const auto result = quick(
        "static_assert(FIRST + SECOND == 3 && sizeof(TEXT) == 4, \"\");\n"
        "extern \"C\" __global__ __aicore__ void k() {}\n",
        "@outer.rsp");
    EXPECT_EQ(result.status, 0) << result.messages;
    write("loop.rsp", "@loop.rsp");
    const auto endless = quick(kernel, "@loop.rsp");
    EXPECT_EQ(endless.status, 2);
    EXPECT_CONTAINS(endless.messages, "response file 'loop.rsp' contains itself");
    EXPECT_CONTAINS(quick(kernel, "@nowhere.rsp").messages, "@nowhere.rsp");
}

TEST_F(Flags, ComeFromTheEnvironmentFirst) {
    write("inner.rsp", "-DSECOND=2");
    setenv("CANOPY_CC_FLAGS", "-DFIRST=1 '-DTEXT=\"a b\"' -USECOND @inner.rsp", 1);
    const auto result = quick(
        "static_assert(FIRST + SECOND == 7 && sizeof(TEXT) == 4, \"\");\n"
        "extern \"C\" __global__ __aicore__ void k() {}\n",
        "-USECOND -DSECOND=6");
    setenv("CANOPY_CC_FLAGS", "--ccf-auto-sync", 1);
    const auto unknown = quick(kernel, "");
    unsetenv("CANOPY_CC_FLAGS");
    EXPECT_EQ(result.status, 0) << result.messages;
    EXPECT_EQ(unknown.status, 2);
    EXPECT_CONTAINS(unknown.messages, "unknown option '--ccf-auto-sync'");
}

TEST_F(Flags, FoldersAreSearchedInTheirOrder) {
    for (const char* folder : {"a", "b"}) {
        std::filesystem::create_directory(directory_ + "/" + folder);
        write(std::string(folder) + "/value.h", std::string("#define VALUE '") + folder + "'\n");
    }
    write("main.cpp", "#include \"value.h\"\n" + kernel + "int main() { return VALUE == 'b' ? 0 : 1; }\n");
    const auto built = run("-O2 -I b -O0 -I a main.cpp -o main && ./main");
    EXPECT_EQ(built.status, 0) << built.messages;
}

TEST_F(Flags, ChooseTheCoreOfKernelsWithoutAQualifier) {
    for (const char* flag :
         {"--cce-aicore-arch=dav-c220-cube", "--cce-aicore-arch dav-c220-cube", "--cce-aicore-arch=dav-c310-cube",
          "--npu-arch=dav-c220-cube", "--cce-soc-version=Ascend910B1 --cce-soc-core-type=CubeCore"})
        EXPECT_EQ(core_of(quick(kernel, flag)), CoreType::cube) << flag;
    const std::string uses_cube =
        header + "extern \"C\" __global__ __aicore__ void k() { AscendC::MmadParams params; (void)params; }\n";
    for (const char* flag : {"--cce-aicore-arch=dav-c220-vec", "--cce-soc-core-type=VecCore"})
        EXPECT_EQ(core_of(quick(uses_cube, flag)), CoreType::vector) << flag;
    EXPECT_EQ(core_of(quick(uses_cube, "--cce-soc-core-type=AICore")), CoreType::cube);
    const auto unknown = quick(kernel, "--cce-soc-core-type=Other");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_CONTAINS(unknown.messages, "unknown core type 'Other'");
}

TEST_F(Flags, DefineTheWordsOfTheCoreTheyChoose) {
    const auto expects = [&](const std::string& flag, const std::string& defined, const std::string& undefined) {
        const auto result = quick(
            "#if !defined(" + defined + ") || defined(" + undefined + ")\n#error wrong core\n#endif\n" + kernel, flag);
        EXPECT_EQ(result.status, 0) << result.messages;
    };
    expects("--cce-aicore-arch=dav-c220-cube", "__DAV_C220_CUBE__", "__DAV_VEC__");
    expects("--cce-aicore-arch=dav-c310-vec", "__DAV_C310_VEC__", "__DAV_CUBE__");
}

TEST_F(Flags, DoNotChangeTheCoresAKernelChoosesItself) {
    const auto result = quick("extern \"C\" __global__ __vector__ void k() {}\n", "--cce-aicore-arch=dav-c220-cube");
    EXPECT_EQ(core_of(result), CoreType::vector);
    EXPECT_CONTAINS(result.messages, "kernel.cpp:1:39: warning: kernel 'k' declares its core type");
}

TEST_F(Flags, NameOlderArchitectures) {
    for (const auto& [name, number] : std::vector<std::pair<std::string, std::uint32_t>>{
             {"dav-c100", 1001}, {"dav-m200", 2002}, {"dav-m200-vec", 2002}, {"dav-m300", 3002}}) {
        const auto result = quick(kernel, "--cce-aicore-arch=" + name);
        ASSERT_EQ(result.status, 0) << result.messages;
        const auto image = read_image(std::as_bytes(std::span(result.image)));
        ASSERT_TRUE(image.ok());
        EXPECT_EQ(image.value().architectures, std::vector<std::uint32_t>{number}) << name;
    }
}

TEST_F(Flags, AskForDeviceCodeAlone) {
    write("kernel.cpp", kernel);
    const auto result = run("-O0 -c --cce-aicore-only kernel.cpp -o device.o");
    EXPECT_EQ(result.status, 0) << result.messages;
    const std::string bytes = read_whole(directory_ + "/device.o");
    EXPECT_TRUE(read_image(std::as_bytes(std::span(bytes))).ok());
}

TEST_F(Flags, AskForTheCommandsOfAKernelAndForThoseOfClang) {
    const auto explained = quick(kernel, "-v");
    EXPECT_EQ(explained.status, 0);
    EXPECT_CONTAINS(explained.messages, "-march=x86-64-v2");
    EXPECT_LACKS(explained.messages, "clang version");
    EXPECT_CONTAINS(run("-v").messages, "clang version");
    write("plain.c", "int f(void) { return 1; }\n");
    EXPECT_CONTAINS(run("-v -c plain.c").messages, "-cc1");
}

TEST_F(Flags, WordsOfTheLanguageMayBeWrittenOut) {
    const auto module = load(quick(header + R"(
#ifndef __global__
#define __global__
#endif
#define __aicore__ [aicore]
#define KERNEL __attribute__((cce_kernel))
class Step {
public:
    __aicore__ inline Step() {}
    [aicore] ~Step() {}
    __aicore__ inline int value() const { return table[aicore] + 1; }
private:
    static constexpr int aicore = 1;
    int table[2] = {10, 20};
};
template <class T> [host, aicore] inline T twice(T x) { int aicore = 2; return [aicore](T y) { return y * aicore; }(x); }
static [host] [aicore] int once() { return 1; }
extern "C" KERNEL [aicore] void k(__attribute__((cce_global)) int* p) { Step step; *p = twice(step.value()) + once(); }
)",
                                   "-Wall -Werror"));
    ASSERT_NE(module, nullptr);
    int result = 0;
    int* argument = &result;
    call(*module, "k", &argument);
    EXPECT_EQ(result, 43);
}

}  // namespace
}  // namespace canopy::test
