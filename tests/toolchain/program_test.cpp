// SPDX-License-Identifier: Apache-2.0
// Programs with kernels: compiled and linked by canopy-cc in all the usual ways, then run.
#include <sys/wait.h>

#include <cstdlib>

#include "compiler.h"
#include "device/execution/source_line.h"
#include "device/image.h"
#include "foundation/elf.h"

namespace canopy::test {
namespace {

class Program : public Toolchain {
protected:
    // Runs a program in the test's directory; returns its output and exit status.
    Compilation start(const std::string& command) const {
        const std::string output = directory_ + "/output";
        const int status = std::system(("cd " + directory_ + " && " + command + " >" + output + " 2>&1").c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_whole(output), {}};
    }
    void expect_built(const std::string& arguments) const {
        const auto result = run(arguments);
        ASSERT_EQ(result.status, 0) << arguments << "\n" << result.messages;
    }
    static std::string file(const std::string& name) { return source("several_files/" + name); }
};

class ProgramAtLevel : public Program, public testing::WithParamInterface<const char*> {};

TEST_P(ProgramAtLevel, EveryFormOfALaunchWorks) {
    const auto built =
        run(std::string(GetParam()) + " -Wall -Wextra -Werror " + source("launches.asc") + " -o launches");
    ASSERT_EQ(built.status, 0) << built.messages;
    EXPECT_EQ(built.messages, "");
    // Two launches are refused, which would be reported without CANOPY_QUIET.
    const auto result = start("CANOPY_QUIET=1 ./launches");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.messages, "0 failures\n");
}

INSTANTIATE_TEST_SUITE_P(Options, ProgramAtLevel,
                         testing::Values("", "-O0 -g", "-O3 -g", "-std=c++20 --npu-arch=dav-2201", "--sanitizer",
                                         "--targets=baseline -fvisibility=hidden"));

const char* const several_files_output = "0 1\n0 12\n0 9\nsymbol 0\n0 44\n0 100\n0 200\n0 4\n0 4\nfunction 0\n0 1\n";

TEST_F(Program, SourcesOnOneCommandLineMakeAProgram) {
    expect_built(file("main.asc") + " " + file("first.asc") + " " + file("second.asc") + " -o together");
    EXPECT_EQ(start("./together").messages, several_files_output);
}

TEST_F(Program, SharedAndStaticLibrariesCarryTheirKernels) {
    expect_built("-shared -fPIC " + file("first.asc") + " -o libfirst.so");
    expect_built("-lib " + file("second.asc") + " -o libsecond.a");
    expect_built(file("main.asc") + " -L. -lfirst libsecond.a '-Wl,-rpath,$ORIGIN' -o mixed");
    EXPECT_EQ(start("./mixed").messages, several_files_output);
}

TEST_F(Program, ObjectsAreLinkedByAnyCompiler) {
    expect_built("-dc " + file("first.asc") + " " + file("second.asc"));
    expect_built("-c " + file("main.asc") + " -o main.o");
    const std::string library = CANOPY_TEST_LIBRARY;
    const auto linked =
        start("c++ main.o first.o second.o -L" + library + " -lascendcl -Wl,-rpath," + library + " -o other");
    ASSERT_EQ(linked.status, 0) << linked.messages;
    EXPECT_EQ(start("./other").messages, several_files_output);
}

// A program keeps its kernels when moved to a machine of the lowest level.
TEST_F(Program, CodeForTheLowestLevelIsAlwaysThere) {
    const auto image = compile_file(source("launches.asc"));
    ASSERT_EQ(image.status, 0) << image.messages;
    EXPECT_CONTAINS(image.image, ".canopy.x86-64-v2");
}

TEST_F(Program, SeveralLibrariesWithTheSameSourceLiveTogether) {
    write("kernel.asc", R"(#include "kernel_operator.h"
static __global__ __aicore__ void k(int* out) { *out = 31; }
extern "C" int NAME(int* out, void* stream) { return k<<<1, 0, stream>>>(out); })");
    write("main.cpp", R"(#include <acl/acl.h>
#include <cstdio>
extern "C" int one(int*, void*);
extern "C" int two(int*, void*);
int main() {
    aclInit(nullptr);
    aclrtSetDevice(0);
    void* memory = nullptr;
    aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    int* p = (int*)memory;
    const int a = one(p, nullptr), b = two(p + 1, nullptr);
    std::printf("%d %d %d %d %d\n", a, b, aclrtSynchronizeDevice(), p[0], p[1]);
})");
    expect_built("-DNAME=one -c kernel.asc -o one.o");
    expect_built("-DNAME=two -shared kernel.asc -o libtwo.so");
    expect_built("main.cpp one.o -L. -ltwo '-Wl,-rpath,$ORIGIN' -o both");
    EXPECT_EQ(start("./both").messages, "0 0 0 31 31\n");
}

TEST_F(Program, OverrunsAreReportedAtTheirLine) {
    expect_built("--sanitizer " + source("overruns.asc") + " -o overruns");
    EXPECT_EQ(start("./overruns 0 8").messages, "0 \n");
    const auto array = start("./overruns 0 9");
    EXPECT_CONTAINS(array.messages, "kernel local_array");
    EXPECT_CONTAINS(array.messages, "overruns.asc:12:");
    EXPECT_CONTAINS(array.messages, "index 8 is outside of the array 'int[8]'");
    EXPECT_EQ(start("./overruns 1 64").messages, "0 \n");
    EXPECT_CONTAINS(start("./overruns 1 72").messages, "overruns.asc:21: Duplicate:");
    EXPECT_EQ(start("./overruns 2 1023").messages, "0 \n");
    const auto global = start("./overruns 2 1024");
    EXPECT_CONTAINS(global.messages, "1 byte past the end of the 4096-byte allocation");
    EXPECT_CONTAINS(global.messages, "overruns.asc:26");
}

// Debug information gives the line of a fault; damaged debug information gives none and does no harm.
TEST_F(Program, LinesComeFromDebugInformation) {
    const auto result = compile_file(source("several.cpp"), "-g --targets=baseline");
    ASSERT_EQ(result.status, 0) << result.messages;
    const auto image = read_image(std::as_bytes(std::span(result.image)));
    ASSERT_TRUE(image.ok());
    const auto bytes = image.value().targets[0].object;
    std::vector<std::byte> object(bytes.begin(), bytes.end());
    auto file = ElfFile::read(object);
    ASSERT_TRUE(file.ok());
    const auto symbols = file->symbols();
    ASSERT_TRUE(symbols.ok());
    std::uint64_t address = 0;
    for (const ElfSymbol& symbol : symbols.value())
        if (symbol.name == "count_launches") address = symbol.value;
    ASSERT_NE(address, 0u);
    EXPECT_EQ(source_line_in(object, address), "at " + source("several.cpp") + ":21");
    EXPECT_EQ(source_line_in(object, 1), "");
    EXPECT_EQ(source_line_in(std::span(object).first(100), address), "");
    const auto lines = file->section(".debug_line")->offset;
    for (std::size_t at = lines; at < lines + 600 && at < object.size(); ++at) {
        std::vector<std::byte> damaged = object;
        damaged[at] ^= std::byte{0xFF};
        source_line_in(damaged, address);
    }
}

TEST_F(Program, ErrorsAreOnTheUsersLineAndColumn) {
    const std::string head =
        "#include \"kernel_operator.h\"\n__global__ __aicore__ void k(int* p, int n) { *p = n; }\n";
    write("kernel.asc", head + "void f(int* p, void* s) {\n    k<<<1, 0, s>>>(p, missing);\n}\n");
    const auto argument = run("-c kernel.asc -o k.o");
    EXPECT_EQ(argument.status, 1);
    EXPECT_CONTAINS(argument.messages, "kernel.asc:4:23: error: use of undeclared identifier 'missing'");
    write("kernel.asc", head + "void f(int* p, void* s) {\n    k<<<blocks, 0, s>>>(p, 1); int x = y;\n}\n");
    const auto configuration = run("-c kernel.asc -o k.o");
    EXPECT_CONTAINS(configuration.messages, "kernel.asc:4:9: error: use of undeclared identifier 'blocks'");
    EXPECT_CONTAINS(configuration.messages, "kernel.asc:4:40: error: use of undeclared identifier 'y'");
    EXPECT_LACKS(configuration.messages, "canopy-cc-");
    write("kernel.asc", head + "void f(int* p, void* s) {\n    k<<<1, 0, s>>>(p);\n    unknown<<<1, 0, s>>>(p);\n}\n");
    const auto callee = run("-c kernel.asc -o k.o");
    EXPECT_CONTAINS(callee.messages, "kernel.asc:4:5: error: no matching function for call to 'k'");
    EXPECT_CONTAINS(callee.messages, "kernel.asc:5:5: error: use of undeclared identifier 'unknown'");
}

TEST_F(Program, BrokenLaunchesAreNamed) {
    const std::string head = "#include \"kernel_operator.h\"\n__global__ __aicore__ void k() {}\nvoid f() {\n";
    write("kernel.asc", head + "    k<<<1, 0, nullptr>>;\n}\n");
    const auto open = run("-c kernel.asc -o k.o");
    EXPECT_EQ(open.status, 1);
    EXPECT_CONTAINS(open.messages, "kernel.asc:4:6: error: expected '>>>'");
    write("kernel.asc", head + "    k<<<>>>();\n}\n");
    EXPECT_CONTAINS(run("-c kernel.asc -o k.o").messages, "kernel.asc:4:6: error: a launch needs the number of blocks");
    write("kernel.asc", head + "    k<<<1, 2, 3, 4, 5>>>();\n}\n");
    EXPECT_CONTAINS(run("-c kernel.asc -o k.o").messages, "kernel.asc:4:6: error: a launch takes at most four values");
}

// Other languages, and C++ without kernels, are passed to clang unchanged.
TEST_F(Program, EverythingElseIsHandedToClang) {
    write("plain.c", "#include <stdio.h>\nint main(void) { int new = 3; printf(\"%d\\n\", new); return 0; }\n");
    expect_built("plain.c -o plain");
    EXPECT_EQ(start("./plain").messages, "3\n");
    write("plain.cpp", "#include <iostream>\nint main() { std::cout << (1 << 2) << std::endl; }\n");
    expect_built("-O1 -c plain.cpp");
    expect_built("plain.o -o plain2");
    EXPECT_EQ(start("./plain2").messages, "4\n");
    EXPECT_CONTAINS(run("-E plain.c").messages, "int new = 3;");
    EXPECT_CONTAINS(run("-print-resource-dir").messages, "clang");
    EXPECT_CONTAINS(run("-dM -E -x c /dev/null").messages, "#define __clang__ 1");
}

TEST_F(Program, OptionsOfOtherKernelCompilersAreAccepted) {
    expect_built(
        "-x asc --npu-arch=dav-2201 --cce-auto-sync=off --cce-simd-vf-fusion=true --cce-res-usage "
        "--cce-disable-kernel-global-attr-check --run-mode=sim --cce-aicpu-launch-with-interface "
        "-DASCENDC_DUMP=0 -DASCENDC_DEBUG -fPIC -O2 -c " +
        file("first.asc") + " -o first.o");
}

TEST_F(Program, NameExpressionsMakeKernelsOfTemplates) {
    write("kernel.cpp", R"(#include "kernel_operator.h"
namespace n { template <class T, int N> __global__ __aicore__ void fill(T* out) { *out = N; } })");
    const auto result = compile_file("kernel.cpp",
                                     "'--name-expression=n::fill<float, 3>' "
                                     "'--name-expression=n::fill<int, 4>' --names-file=names");
    EXPECT_EQ(read_whole(directory_ + "/names"), "_ZN1n4fillIfLi3EEEvPT_\n_ZN1n4fillIiLi4EEEvPT_\n");
    const auto module = load(result);
    ASSERT_NE(module, nullptr);
    float value = 0;
    float* argument = &value;
    call(*module, "_ZN1n4fillIfLi3EEEvPT_", &argument);
    EXPECT_EQ(value, 3.0f);
}

const char* const structure_kernels = R"(#include "kernel_operator.h"
struct Tiling { int factor; short term; };
typedef struct { int64_t values[3]; } Values;
using Alias = Values;
using Number = uint32_t;
extern "C" __global__ __aicore__ void apply(GM_ADDR x, Tiling tiling, const Alias values, Number number) {
    *(__gm__ int*)x = *(__gm__ int*)x * tiling.factor + tiling.term + (int)values.values[2] + (int)number;
}
extern "C" __global__ __aicore__ void by_address(__gm__ int* x, __gm__ Tiling* tiling, __gm__ half*) { *x += tiling->factor; }
)";

const char* const launcher_start = R"(#include <acl/acl.h>
#include <stdio.h>
static int* start(void) {
    void* memory = NULL;
    aclInit(NULL);
    aclrtSetDevice(0);
    aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    *(int*)memory = 5;
    return (int*)memory;
}
static int finish(int* x, unsigned a, unsigned b) {
    const int code = aclrtSynchronizeDevice();
    return printf("%u %u %d %d\n", a, b, code, *x) < 0;
}
)";

class LaunchHeaders : public Program {
protected:
    void SetUp() override {
        write("kernels.asc", structure_kernels);
        expect_built("-O0 --targets=baseline --no-trace -c kernels.asc -o kernels.o --launch-headers=launch");
    }
    // Compiles a consumer with another compiler and returns its output.
    std::string consumer(const std::string& compiler, const std::string& name, const std::string& text) {
        write(name, launcher_start + text);
        const std::string library = CANOPY_TEST_LIBRARY, tree = CANOPY_TEST_INCLUDE;
        const auto built = start(compiler + " -Wall -Werror -I" + tree + " -Ilaunch " + name +
                                 " -c -o consumer.o && c++ consumer.o kernels.o -L" + library +
                                 " -lascendcl -Wl,-rpath," + library + " -o consumer");
        return built.status == 0 ? start("./consumer").messages : built.messages;
    }
};

const std::string structures = "struct Tiling { int factor; short term; };\nstruct Values { int64_t values[3]; };\n";
const std::string both_headers = "#include \"aclrtlaunch_apply.h\"\n#include \"aclrtlaunch_by_address.h\"\n";

TEST_F(LaunchHeaders, TakeStructuresByAddressAndByValue) {
    const std::string by_value =
        "int main() { int* x = start(); Tiling t = {2, 3}; Values v = {{1, 2, 30}}; aclFloat16* h = nullptr;\n"
        "unsigned a = ACLRT_LAUNCH_KERNEL(apply)(1, nullptr, x, t, v, 100); aclrtSynchronizeDevice();\n"
        "return finish(x, a, ACLRT_LAUNCH_KERNEL(by_address)(1, nullptr, x, &t, h)); }\n";
    EXPECT_EQ(consumer("c++", "value.cpp", structures + both_headers + by_value), "0 0 0 145\n");
    // The structures are declared after the headers, which the program includes inside extern "C".
    const std::string by_address =
        "int main() { uint8_t* x = (uint8_t*)start(); Tiling* t = new Tiling{2, 3}; Values v = {{1, 2, 30}};\n"
        "unsigned a = ACLRT_LAUNCH_KERNEL(apply)(1, nullptr, x, t, &v, 100); aclrtSynchronizeDevice();\n"
        "return finish((int*)x, a, ACLRT_LAUNCH_KERNEL(by_address)(1, nullptr, x, t, nullptr)); }\n";
    EXPECT_EQ(consumer("c++", "address.cpp", "extern \"C\" {\n" + both_headers + "}\n" + structures + by_address),
              "0 0 0 145\n");
    const std::string from_c =
        "int main(void) { int* x = start(); struct Tiling t = {2, 3}; struct Values v = {{1, 2, 30}};\n"
        "unsigned a = ACLRT_LAUNCH_KERNEL(apply)(1, NULL, x, &t, &v, 100); aclrtSynchronizeDevice();\n"
        "return finish(x, a, ACLRT_LAUNCH_KERNEL(by_address)(1, NULL, x, &t, NULL)); }\n";
    EXPECT_EQ(consumer("cc", "address.c", both_headers + structures + from_c), "0 0 0 145\n");
}

TEST_F(LaunchHeaders, RefuseAStructureThatIsNotThere) {
    const std::string wrong =
        "int main() { int* x = start(); Tiling t = {2, 3}; Values v = {};\n"
        "unsigned a = ACLRT_LAUNCH_KERNEL(apply)(1, nullptr, x, v, t, 100);\n"
        "return finish(x, a, ACLRT_LAUNCH_KERNEL(apply)(1, nullptr, x, &t, nullptr, 100)); }\n";
    EXPECT_EQ(consumer("c++", "wrong.cpp", structures + both_headers + wrong), "100000 100000 0 5\n");
}

// A source that tests the kind of its core is compiled for each kind that its kernels run on.
TEST_F(Program, EachKindOfCoreRunsTheCodeMadeForIt) {
    expect_built("-O0 -g " + source("core_kinds.asc") + " -o kinds");
    EXPECT_EQ(start("./kinds").messages, "0: 10 0 0\n0: 21 31 31\n0: 22 32 32\n0: 3 32 32\n");
    expect_built("-DONE_KIND " + source("core_kinds.asc") + " -o one_kind");
    EXPECT_EQ(start("./one_kind").messages, "0: 10 0 0\n");
}

// Specialisations for the kinds of cores are selected at compile time.
TEST_F(Program, TheKindOfTheCoreIsATemplateArgument) {
    const std::string path = write("kind.asc", R"(#include <acl/acl.h>
#include <cstdio>
#include "kernel_operator.h"
struct Kind {
    template <int32_t CORE = g_coreType>
    __aicore__ inline int operator()();
    template <>
    __aicore__ inline int operator()<AscendC::AIC>() { return 10; }
    template <>
    __aicore__ inline int operator()<AscendC::AIV>() { return 20; }
};
__global__ __mix__(1, 2) void mixed(__gm__ int* out) {
    Kind kind;
    const int at = g_coreType == AscendC::AIC ? 0 : 1 + AscendC::GetSubBlockIdx();
    out[at] = kind() + at;
}
int main() {
    aclInit(nullptr);
    aclrtSetDevice(0);
    void* memory = nullptr;
    aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    int* p = static_cast<int*>(memory);
    mixed<<<1, nullptr, nullptr>>>(p);
    const int code = aclrtSynchronizeStream(nullptr);
    std::printf("%d: %d %d %d\n", code, p[0], p[1], p[2]);
}
)");
    expect_built("-O0 --targets=native " + path + " -o kind");
    EXPECT_EQ(start("./kind").messages, "0: 10 21 22\n");
}

// Code inside an #ifdef for one kind of core counts too.
TEST_F(Program, CoresFollowFromTheTextOfEachKind) {
    const auto module = load(compile(R"(#include "kernel_operator.h"
extern "C" __global__ __aicore__ void both() {
#ifdef __DAV_C220_CUBE__
    AscendC::MmadParams params; (void)params;
#endif
#ifdef __DAV_C220_VEC__
    AscendC::TQue<AscendC::TPosition::VECIN, 1> queue; (void)queue;
#endif
}
extern "C" __global__ __aicore__ void cube() {
#if defined(__DAV_C220_CUBE__)
    AscendC::MmadParams params; (void)params;
#endif
}
extern "C" __global__ __aicore__ void vector() {
#if defined(__DAV_C220_VEC__)
    AscendC::TQue<AscendC::TPosition::VECIN, 1> queue; (void)queue;
#endif
}
extern "C" __global__ __aicore__ void declared() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
#if defined(__DAV_C220_CUBE__)
    AscendC::MmadParams params; (void)params;
#endif
}
)",
                                     "-O0"));
    ASSERT_NE(module, nullptr);
    const auto info = [&](const char* name) -> const KernelInfo& { return *module->kernel(name)->info; };
    EXPECT_EQ(info("both").core, CoreType::mix);
    EXPECT_EQ(info("both").vector_ratio, 2);
    EXPECT_EQ(info("cube").core, CoreType::cube);
    EXPECT_EQ(info("vector").core, CoreType::vector);
    EXPECT_EQ(info("declared").core, CoreType::vector);
}

// A template that runs an arbitrary class does not show which cores the class uses.
TEST_F(Program, CoresFollowFromEverythingWhenATemplateArgumentDoesTheWork) {
    const std::string adapter = R"(#include "kernel_operator.h"
struct Worker {
    __aicore__ inline void operator()(int) {
        AscendC::TQue<AscendC::TPosition::VECIN, 1> queue; (void)queue;
#ifdef WITH_CUBE
        AscendC::MmadParams params; (void)params;
#endif
    }
};
template <class Kernel>
__global__ __aicore__ void run(int value) { Kernel kernel; kernel(value); }
template <class T>
__global__ __aicore__ void plain(__gm__ T* out) { out[0] = T(1); }
)";
    const std::string names = "-O0 '--name-expression=run<Worker>' '--name-expression=plain<int>' ";
    const auto both = load(compile(adapter, names + "-DWITH_CUBE"));
    const auto vector = load(compile(adapter, names));
    ASSERT_TRUE(both && vector);
    EXPECT_EQ(both->kernel("_Z3runI6WorkerEvi")->info->core, CoreType::mix);
    EXPECT_EQ(vector->kernel("_Z3runI6WorkerEvi")->info->core, CoreType::vector);
    EXPECT_EQ(both->kernel("_Z5plainIiEvPT_")->info->core, CoreType::vector);
}

TEST_F(Program, ErrorsInTheTextOfOneKindAreShown) {
    const std::string text = R"(#include "kernel_operator.h"
#ifdef __DAV_C220_CUBE__
#error this text has no cube part
#endif
extern "C" __global__ __aicore__ void kernel(__gm__ int* out) { *out = 1; }
)";
    const auto result = compile(text);
    EXPECT_EQ(result.status, 1);
    EXPECT_CONTAINS(result.messages, "this text has no cube part");
    EXPECT_EQ(compile(text, "-O0 --npu-arch=dav-c220-vec").status, 0);
}

TEST_F(Program, CoresFollowFromWhatAKernelUses) {
    const auto module = load(compile(R"(#include "kernel_operator.h"
class Product {
public:
    __aicore__ inline void Process() { Step(); }
private:
    __aicore__ inline void Step();
};
__aicore__ inline void Product::Step() { AscendC::MmadParams params; (void)params; }
extern "C" __global__ __aicore__ void cube() { Product product; product.Process(); }
extern "C" __global__ __aicore__ void vector() { AscendC::TQue<AscendC::TPosition::VECIN, 1> queue; (void)queue; }
extern "C" __global__ __aicore__ void both() { cube(); vector(); }
extern "C" __global__ __mix__(1, 1) void chosen() { cube(); }
extern "C" __global__ __aicore__ void matmul() { int canopy_uses_matmul = 0; (void)canopy_uses_matmul; }
)"));
    ASSERT_NE(module, nullptr);
    const auto info = [&](const char* name) -> const KernelInfo& { return *module->kernel(name)->info; };
    EXPECT_EQ(info("cube").core, CoreType::cube);
    EXPECT_EQ(info("vector").core, CoreType::vector);
    EXPECT_EQ(info("both").core, CoreType::mix);
    EXPECT_EQ(info("both").vector_ratio, 2);
    EXPECT_EQ(info("chosen").vector_ratio, 1);
    EXPECT_EQ(info("matmul").core, CoreType::mix);
}

}  // namespace
}  // namespace canopy::test
