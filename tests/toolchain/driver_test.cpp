// SPDX-License-Identifier: Apache-2.0
// canopy-cc as users see it: what it accepts, its messages, and its exit status.
#include <filesystem>

#include "compiler.h"
#include "device/image.h"

namespace canopy::test {
namespace {

class Driver : public Toolchain {};

const std::string header = "#include \"kernel_operator.h\"\n";
const std::string empty_kernel = header + "extern \"C\" __global__ __aicore__ void nothing() {}\n";

std::vector<std::string> targets_of(const Compilation& compilation) {
    const auto image = read_image(std::as_bytes(std::span(compilation.image)));
    std::vector<std::string> names;
    if (!image.ok()) return names;
    for (const ImageTarget& target : image.value().targets) names.push_back(target.name);
    return names;
}

TEST_F(Driver, ReportsASyntaxErrorOnTheUsersLine) {
    const auto result = compile(header + "\nextern \"C\" __global__ __aicore__ void k(int* p) {\n    *p = 1\n}\n");
    EXPECT_EQ(result.status, 1);
    EXPECT_TRUE(result.image.empty());
    EXPECT_CONTAINS(result.messages, "kernel.cpp:4:11: error: expected ';'");
    EXPECT_LACKS(result.messages, "canopy-cc-");
}

TEST_F(Driver, ReportsAnUndefinedFunctionAKernelCalls) {
    const auto result = compile(header +
                                "extern \"C\" int elsewhere();\n"
                                "extern \"C\" __global__ __aicore__ void k(int* p) { *p = elsewhere(); }\n");
    EXPECT_EQ(result.status, 1);
    EXPECT_CONTAINS(result.messages, "elsewhere");
}

TEST_F(Driver, WarnsOnceHoweverManyTargets) {
    const auto result = compile(header + "extern \"C\" __global__ __aicore__ void k() { int unused; }\n",
                                "-Wall --targets=x86-64-v2,x86-64-v3,x86-64-v4");
    EXPECT_EQ(result.status, 0);
    const std::size_t first = result.messages.find("kernel.cpp:2:");
    ASSERT_NE(first, std::string::npos) << result.messages;
    EXPECT_EQ(result.messages.find("kernel.cpp:2:", first + 1), std::string::npos) << result.messages;
}

TEST_F(Driver, OwnHeadersAndEntriesAreFreeOfWarnings) {
    const auto result = compile_file(source("structures.cpp"),
                                     "-Wall -Wextra -Wmissing-variable-declarations -Wold-style-cast "
                                     "-Wconversion -Werror");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.messages, "");
}

TEST_F(Driver, ASourceWithoutKernelIsRefused) {
    const auto result = compile(header + "void helper() {}\n__global__ void only_declared();\n");
    EXPECT_EQ(result.status, 1);
    EXPECT_CONTAINS(result.messages, "no kernel in kernel.cpp");
    const auto generic = compile(header + "template <class T> __global__ __aicore__ void k(T*) {}\n");
    EXPECT_EQ(generic.status, 1);
    EXPECT_CONTAINS(generic.messages, "every kernel in the source is a template");
}

TEST_F(Driver, KernelsThatShareANameAreFoundByTheirSymbols) {
    const auto result = compile(header +
                                "namespace a { __global__ void k() {} }\nnamespace b { __global__ void k() {} }\n"
                                "__global__ void k(int) {}\n__global__ void alone(float) {}\n");
    ASSERT_EQ(result.status, 0) << result.messages;
    const auto image = read_image(std::as_bytes(std::span(result.image)));
    ASSERT_TRUE(image.ok());
    std::vector<std::string> names, keys;
    for (const ImageKernel& kernel : image.value().kernels) {
        names.push_back(kernel.name);
        keys.push_back(kernel.key);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"_ZN1a1kEv", "_ZN1b1kEv", "_Z1ki", "alone"}));
    EXPECT_EQ(keys, (std::vector<std::string>{"void a::k()", "void b::k()", "void k(int)", "void alone(float)"}));
}

TEST_F(Driver, ParametersADeviceCannotTakeAreRefused) {
    const auto reference = compile(header + "extern \"C\" __global__ __aicore__ void k(int a, int& b) {}\n");
    EXPECT_EQ(reference.status, 1);
    EXPECT_CONTAINS(reference.messages, "kernel.cpp:2:");
    EXPECT_CONTAINS(reference.messages, "parameter 2 of kernel 'k' is a reference");
    const auto owner = compile(header + "struct Owner { ~Owner(); };\n__global__ __aicore__ void k(Owner o) {}\n");
    EXPECT_EQ(owner.status, 1);
    EXPECT_CONTAINS(owner.messages, "must be trivially copyable");
    const auto value = compile(header + "__global__ __aicore__ int k() { return 1; }\n");
    EXPECT_EQ(value.status, 1);
    EXPECT_CONTAINS(value.messages, "kernel 'k' must return void");
    const auto mix = compile(header + "__global__ __mix__(2,1) void k() {}\n");
    EXPECT_EQ(mix.status, 1);
    EXPECT_CONTAINS(mix.messages, "__mix__ takes");
}

TEST_F(Driver, FlagsReachTheCompiler) {
    write("forced.h", "#define FORCED 20\n");
    const auto module = load(
        compile(header + "extern \"C\" __global__ __aicore__ void k(int* p) { *p = GIVEN + FORCED + __NPU_ARCH__; }\n",
                "-D GIVEN=3 -I. -include forced.h -std=c++20 -march=x86-64-v2 -ffast-math "
                "--cce-auto-sync -x asc -c -fPIC --enable-simt"));
    ASSERT_NE(module, nullptr);
    int result = 0;
    int* argument = &result;
    call(*module, "k", &argument);
    EXPECT_EQ(result, 2224);
}

TEST_F(Driver, ChipsAreChosenInEverySpelling) {
    for (const char* flag : {"--npu-arch=dav-3510", "--npu-arch dav-3510", "-arch dav-3510",
                             "--npu-soc=Ascend950PR_9599", "--cce-aicore-arch=dav-c310"}) {
        const auto result = compile(empty_kernel, flag);
        ASSERT_EQ(result.status, 0) << flag << result.messages;
        const auto image = read_image(std::as_bytes(std::span(result.image)));
        ASSERT_TRUE(image.ok());
        EXPECT_EQ(image.value().architectures, std::vector<std::uint32_t>{3510}) << flag;
    }
    struct Coupled {
        const char* flag;
        std::uint32_t architecture;
    };
    for (const Coupled& chip : {Coupled{"--npu-arch=dav-m200", 2002}, Coupled{"--npu-soc=Ascend310P3", 2002},
                                Coupled{"--npu-soc=Ascend910ProA", 1001}, Coupled{"--npu-soc=Ascend310B1", 3002}}) {
        const auto result = compile("#include \"kernel_operator.h\"\n__global__ __vector__ void k() {}", chip.flag);
        ASSERT_EQ(result.status, 0) << chip.flag << result.messages;
        const auto image = read_image(std::as_bytes(std::span(result.image)));
        ASSERT_TRUE(image.ok());
        EXPECT_EQ(image.value().architectures, std::vector<std::uint32_t>{chip.architecture}) << chip.flag;
        EXPECT_EQ(image.value().kernels.at(0).core, CoreType::aicore) << chip.flag;
    }
    const auto every = compile(empty_kernel, "--npu-arch=any");
    ASSERT_EQ(every.status, 0) << every.messages;
    const auto image = read_image(std::as_bytes(std::span(every.image)));
    ASSERT_TRUE(image.ok());
    EXPECT_EQ(image.value().architectures, (std::vector<std::uint32_t>{2201, 3510, 1001, 2002, 3002}));
    const auto unknown = compile(empty_kernel, "--npu-arch=dav-9");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_CONTAINS(unknown.messages, "unknown architecture 'dav-9'");
}

TEST_F(Driver, TargetsAreChosen) {
    EXPECT_EQ(targets_of(compile(empty_kernel, "--targets=x86-64-v3,baseline,x86-64-v3")),
              (std::vector<std::string>{"x86-64-v3", "x86-64-v2"}));
    const auto normal = targets_of(compile(empty_kernel));
    ASSERT_FALSE(normal.empty());
    EXPECT_EQ(normal[0], "x86-64-v2");
    const auto unknown = compile(empty_kernel, "--targets=sparc");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_CONTAINS(unknown.messages, "unknown target 'sparc'");
}

// One parse serves all targets; each target uses the instructions of its own level.
TEST_F(Driver, TargetsGetTheirOwnInstructions) {
    const auto result = compile(R"(int helper(int x) { return x * 3; }
struct Global { Global() : value(helper(4)) {} int value; } global;
extern "C" __global__ __aicore__ void k(float* p, int n) {
    for (int i = 0; i < n; ++i) p[i] = p[i] * 2.0f + 1.0f;
})",
                                "-O2 --targets=x86-64-v2,x86-64-v4");
    ASSERT_EQ(result.status, 0) << result.messages;
    const auto image = read_image(std::as_bytes(std::span(result.image)));
    ASSERT_TRUE(image.ok());
    std::vector<std::string> code;
    for (const ImageTarget& target : image.value().targets) {
        write("object.so", std::string(reinterpret_cast<const char*>(target.object.data()), target.object.size()));
        ASSERT_EQ(std::system(("objdump -d " + directory_ + "/object.so >" + directory_ + "/code").c_str()), 0);
        code.push_back(read_whole(directory_ + "/code"));
    }
    ASSERT_EQ(code.size(), 2u);
    EXPECT_CONTAINS(code[0], "%xmm");
    EXPECT_LACKS(code[0], "%ymm");
    EXPECT_CONTAINS(code[1], "%zmm");
    EXPECT_LACKS(code[1], "vfmadd") << "no fused operation that the source does not ask for";
    for (const std::string& one : code) EXPECT_LACKS(one, "helper") << "host code is left out";
}

TEST_F(Driver, TimingShowsTheStages) {
    const auto result = compile(empty_kernel, "--timing --targets=x86-64-v2,x86-64-v3");
    ASSERT_EQ(result.status, 0);
    for (const char* stage : {"preprocess ", "rewrite ", "device: parse ", "device: x86-64-v2 ", "device: x86-64-v3 ",
                              "tracing ", "link: x86-64-v2 ", "pack ", "total "})
        EXPECT_CONTAINS(result.messages, std::string("\n  ") + stage);
    EXPECT_CONTAINS(result.messages, " ms of processor time\n");
    EXPECT_EQ(compile(empty_kernel, "--targets=baseline --no-trace").messages, "");
}

// Instruction headers are parsed only if the source names an instruction, even in a system header.
TEST_F(Driver, InstructionsAreDeclaredWhereTheyAreNamed) {
    const std::string flags = "--targets=baseline --no-trace -MD -MF " + directory_ + "/deps.d";
    ASSERT_EQ(compile(empty_kernel, flags).status, 0);
    EXPECT_LACKS(read_whole(directory_ + "/deps.d"), "intrinsics.h");
    std::filesystem::create_directory(directory_ + "/library");
    write("library/mask.h", "__aicore__ inline void all_elements() { set_vector_mask(~0ull, ~0ull); }\n");
    const auto result =
        compile(header + "#include <mask.h>\nextern \"C\" __global__ __aicore__ void k() { all_elements(); }\n",
                flags + " -isystem " + directory_ + "/library");
    EXPECT_EQ(result.status, 0) << result.messages;
    EXPECT_CONTAINS(read_whole(directory_ + "/deps.d"), "intrinsics.h");
}

// The same for every family of the language: a source gets those that it names, and what these need.
TEST_F(Driver, FamiliesAreDeclaredWhereTheyAreNamed) {
    const std::string flags = "--targets=baseline --no-trace --npu-arch=dav-3510 -MD -MF " + directory_ + "/deps.d";
    const auto headers_for = [&](const std::string& statement) {
        const auto result =
            compile(header + "extern \"C\" __global__ __aicore__ void k() { " + statement + " }\n", flags);
        EXPECT_EQ(result.status, 0) << result.messages;
        return read_whole(directory_ + "/deps.d");
    };
    const std::string none = headers_for("");
    for (const char* family : {"high_level/", "registers/", "c_interface/", "tensor_interface/"})
        EXPECT_LACKS(none, std::string("canopy_kernel/") + family);
    const std::string softmax = headers_for("AscendC::SoftMaxShapeInfo shape; (void)shape;");
    EXPECT_CONTAINS(softmax, "high_level/softmax.h");
    EXPECT_LACKS(softmax, "high_level/sorting.h");
    EXPECT_LACKS(softmax, "registers/registers.h");
    EXPECT_LACKS(headers_for("class SoftMax {} own; (void)own; SoftMax other; (void)other;"), "high_level/softmax.h")
        << "the program has a type with that name";
    EXPECT_CONTAINS(headers_for("AscendC::Reg::MaskReg mask; (void)mask;"), "registers/registers.h");
    EXPECT_CONTAINS(headers_for("asc_init();"), "c_interface/c_interface.h");
    EXPECT_CONTAINS(headers_for("auto shape = AscendC::Te::MakeShape(1, 2); (void)shape;"),
                    "tensor_interface/tensor_interface.h");
}

TEST_F(Driver, ImagesOfKernelsWithOperationsCarryTracingCode) {
    const std::string copies = header +
                               "extern \"C\" __global__ __aicore__ void k(GM_ADDR x) {\n"
                               "    AscendC::GlobalTensor<float> all;\n"
                               "    all.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 64);\n"
                               "    AscendC::TPipe pipe;\n"
                               "    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;\n"
                               "    pipe.InitBuffer(buffer, 256);\n"
                               "    auto local = buffer.Get<float>();\n"
                               "    AscendC::DataCopy(local, all, 64);\n"
                               "    AscendC::Adds(local, local, 1.0f, 64);\n"
                               "    AscendC::DataCopy(all, local, 64);\n"
                               "}\n";
    const std::vector<std::string> traced = {"x86-64-v2", "trace", "trace-bitcode"}, plain = {"x86-64-v2"};
    EXPECT_EQ(targets_of(compile(copies, "--targets=baseline")), traced);
    EXPECT_EQ(targets_of(compile(copies, "--targets=baseline --no-trace")), plain);
    EXPECT_EQ(targets_of(compile(copies, "--targets=baseline -ffast-math")), plain);
    EXPECT_EQ(targets_of(compile(empty_kernel, "--targets=baseline")), plain) << "it has nothing to tell";
    const auto first = compile(copies), second = compile(copies);
    ASSERT_FALSE(first.image.empty());
    EXPECT_TRUE(first.image == second.image);
}

TEST_F(Driver, TheSameSourceGivesTheSameBytes) {
    const auto first = compile_file(source("several.cpp"), "-g"), second = compile_file(source("several.cpp"), "-g");
    ASSERT_FALSE(first.image.empty());
    EXPECT_TRUE(first.image == second.image);
}

TEST_F(Driver, DebugInformationNamesTheUsersLines) {
    const auto result =
        compile(header + "extern \"C\" __global__ __aicore__ void k(int* p) {\n    p[0] = 1;\n    p[1] = 2;\n}\n",
                "-g -O0 --targets=baseline");
    ASSERT_EQ(result.status, 0) << result.messages;
    const auto image = read_image(std::as_bytes(std::span(result.image)));
    ASSERT_TRUE(image.ok());
    const auto object = image.value().targets[0].object;
    write("object.so", std::string(reinterpret_cast<const char*>(object.data()), object.size()));
    const std::string lines = directory_ + "/lines";
    ASSERT_EQ(std::system(("readelf --debug-dump=decodedline " + directory_ + "/object.so >" + lines).c_str()), 0);
    const std::string text = read_whole(lines);
    for (const char* line :
         {"kernel.cpp                                     2", "kernel.cpp                                     3",
          "kernel.cpp                                     4"})
        EXPECT_CONTAINS(text, line);
    EXPECT_LACKS(text, "/tmp/canopy-cc-");
}

TEST_F(Driver, WritesADependencyFile) {
    const auto result = compile_file(source("several.cpp"), "-MMD -MF deps.d -MT wanted.o");
    ASSERT_EQ(result.status, 0) << result.messages;
    const std::string text = read_whole(directory_ + "/deps.d");
    EXPECT_EQ(text.rfind("wanted.o:", 0), 0u) << text;
    EXPECT_CONTAINS(text, "several.cpp");
    EXPECT_CONTAINS(text, "sources/offsets.h");
    EXPECT_CONTAINS(text, "kernel_operator.h");
    EXPECT_LACKS(text, "/usr/include");
}

TEST_F(Driver, ASourceWithByteOrderMarkAndWithoutLastNewlineCompiles) {
    EXPECT_EQ(compile("\xEF\xBB\xBF" + header + "extern \"C\" __global__ __aicore__ void k() {} // end").status, 0);
}

TEST_F(Driver, CommandLinesThatCannotWorkExitWithTwo) {
    write("kernel.cpp", empty_kernel);
    EXPECT_EQ(run("").status, 2);
    EXPECT_EQ(run("-lib kernel.cpp").status, 2);
    EXPECT_EQ(run("-c kernel.cpp kernel.cpp -o x.o").status, 2);
    const auto unknown = run("-c --frobnicate kernel.cpp -o x.o");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_CONTAINS(unknown.messages, "unknown option '--frobnicate'");
    EXPECT_EQ(run("--image").status, 2);
    EXPECT_EQ(run("--image kernel.cpp kernel.cpp").status, 2);
    EXPECT_EQ(run("--image kernel.cpp -o").status, 2);
    EXPECT_EQ(run("--image -E kernel.cpp").status, 2);
}

TEST_F(Driver, MissingFilesAreNamed) {
    const auto missing = run("--image no_such_file.cpp");
    EXPECT_EQ(missing.status, 1);
    EXPECT_CONTAINS(missing.messages, "no_such_file.cpp");
    write("kernel.cpp", empty_kernel);
    const auto unwritable = run("--image kernel.cpp -o no_such_directory/x.o");
    EXPECT_EQ(unwritable.status, 3);
    EXPECT_CONTAINS(unwritable.messages, "no_such_directory/x.o");
}

TEST_F(Driver, HelpAndVersionExitWithZero) {
    const auto help = run("--help");
    EXPECT_EQ(help.status, 0);
    EXPECT_CONTAINS(help.messages, "--targets=");
    const auto version = run("--version");
    EXPECT_EQ(version.status, 0);
    EXPECT_CONTAINS(version.messages, "canopy-cc ");
}

}  // namespace
}  // namespace canopy::test
