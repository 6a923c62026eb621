// SPDX-License-Identifier: Apache-2.0
// Running compiled images: arguments, identities, globals, traps, printing, several modules at once.
#include <link.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>

#include "base/error_text.h"
#include "compiler.h"
#include "device/image.h"
#include "device/opaque_pointer.h"

namespace canopy::test {
namespace {

class ImageRun : public Toolchain {};
class ImageRunAtLevel : public Toolchain, public testing::WithParamInterface<const char*> {};

// A handler turns a kernel's signal (SIGILL for a trap) into an exit status that a test can expect.
constexpr int ended_by_signal = 42;

void exit_on(int signal) {
    struct sigaction action {};
    action.sa_handler = [](int) { _exit(ended_by_signal); };
    sigaction(signal, &action, nullptr);
}

TEST_P(ImageRunAtLevel, AddsTwoVectorsInBlocks) {
    const auto module = load(compile_file(source("several.cpp"), GetParam()));
    ASSERT_NE(module, nullptr);
    const float x[5] = {1, 2, 3, 4, 5}, y[5] = {10, 20, 30, 40, 50};
    float z[5] = {};
    const struct {
        const void *x, *y;
        void* z;
        std::uint32_t count;
    } arguments{x, y, z, 5};
    recorded().block.count = 2;
    for (recorded().block.index = 0; recorded().block.index < 2; ++recorded().block.index)
        call(*module, "add", &arguments);
    for (int index = 0; index < 5; ++index) EXPECT_EQ(z[index], x[index] + y[index]);
}

TEST_P(ImageRunAtLevel, StructureArgumentsArriveIntact) {
    const auto module = load(compile_file(source("structures.cpp"), GetParam()));
    ASSERT_NE(module, nullptr);
    const KernelInfo& info = *module->kernel("structures")->info;
    ASSERT_EQ(info.parameters.size(), 6u);
    const std::uint32_t expected[6][3] = {{0, 1, 8}, {8, 24, 8}, {32, 32, 32}, {64, 1, 8}, {72, 1, 8}, {80, 8, 8}};
    for (int index = 0; index < 6; ++index) {
        EXPECT_EQ(info.parameters[index].offset, expected[index][0]) << index;
        EXPECT_EQ(info.parameters[index].size, expected[index][1]) << index;
        EXPECT_EQ(info.parameters[index].alignment, expected[index][2]) << index;
    }
    ASSERT_EQ(info.arguments_size, 88u);

    struct Tiling {
        struct {
            std::uint8_t tag;
            std::uint16_t width;
        } inner[2];
        double scale;
        std::uint8_t last;
    } tiling{{{1, 2}, {3, 777}}, 2.25, 9};
    double result[6] = {};
    double* result_address = result;
    const std::uint32_t wide[8] = {0, 1, 2, 3, 4, 5, 6, 99};
    alignas(8) unsigned char bytes[88 + 8] = {};
    // An argument block need not be aligned to its widest parameter.
    unsigned char* block = bytes + 8;
    block[0] = 1;
    std::memcpy(block + 8, &tiling, sizeof tiling);
    std::memcpy(block + 32, wide, sizeof wide);
    block[64] = 200;
    std::memcpy(block + 80, &result_address, sizeof result_address);
    call(*module, "structures", block);
    const double wanted[6] = {1, 777, 2.25, 9, 99, 200};
    for (int index = 0; index < 6; ++index) EXPECT_EQ(result[index], wanted[index]) << index;
}

TEST_P(ImageRunAtLevel, EveryTrapOfAKernelFaults) {
    const auto module = load(compile(R"(#include "kernel_operator.h"
extern "C" __global__ __aicore__ void trapping(int which) {
    if (which == 1) asm("trap");
    if (which == 2) { asm("trap"); }
    if (which == 3) AscendC::Trap();
    if (which == 4) throw which;
}
extern "C" __global__ __aicore__ void also_trapping() { asm volatile("trap"); })",
                                     GetParam()));
    ASSERT_NE(module, nullptr);
    const auto trap = [&](const char* kernel, std::int64_t which) {
        exit_on(SIGILL);
        call(*module, kernel, &which);
        _exit(0);
    };
    EXPECT_EXIT(trap("trapping", 0), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(trap("trapping", 1), testing::ExitedWithCode(ended_by_signal), "");
    EXPECT_EXIT(trap("trapping", 2), testing::ExitedWithCode(ended_by_signal), "");
    EXPECT_EXIT(trap("trapping", 3), testing::ExitedWithCode(43), "");
    EXPECT_EXIT(trap("trapping", 4), testing::ExitedWithCode(43), "");
    EXPECT_EXIT(trap("also_trapping", 0), testing::ExitedWithCode(ended_by_signal), "");
}

INSTANTIATE_TEST_SUITE_P(Optimisation, ImageRunAtLevel, testing::Values("-O0 -g", "-O2", "-O3 -g", "-Os"));

TEST_F(ImageRun, BlocksKnowWhoTheyAre) {
    const auto module = load(compile_file(source("several.cpp")));
    ASSERT_NE(module, nullptr);
    std::int64_t result[5] = {};
    std::int64_t* argument = result;
    recorded().block = {3, 8, 1, 2, CANOPY_CORE_VECTOR, 0, nullptr};
    call(*module, "identities", &argument);
    EXPECT_EQ(result[0], 7);
    EXPECT_EQ(result[1], 8);
    EXPECT_EQ(result[2], 1);
    EXPECT_EQ(result[3], 803);
    EXPECT_EQ(result[4], 5);
    recorded().block = {3, 8, 0, 1, CANOPY_CORE_CUBE, 0, nullptr};
    call(*module, "identities", &argument);
    EXPECT_EQ(result[0], 3);
}

TEST_F(ImageRun, SyncAllAsksTheDevice) {
    const auto module = load(compile_file(source("several.cpp")));
    ASSERT_NE(module, nullptr);
    call(*module, "meets", nullptr);
    EXPECT_EQ(recorded().meetings, 2);
}

TEST_F(ImageRun, QualifiersReachTheMetadata) {
    const auto module = load(compile_file(source("several.cpp")));
    ASSERT_NE(module, nullptr);
    ASSERT_EQ(module->kernels().size(), 6u);
    const auto info = [&](const char* name) -> const KernelInfo& { return *module->kernel(name)->info; };
    EXPECT_EQ(info("add").core, CoreType::vector);
    EXPECT_EQ(info("add").arguments_size, 32u);
    EXPECT_EQ(info("add").source, source("several.cpp"));
    EXPECT_GT(info("add").code_size, 0u);
    EXPECT_EQ(info("count_launches").core, CoreType::cube);
    EXPECT_EQ(info("identities").core, CoreType::mix);
    EXPECT_EQ(info("identities").cube_ratio, 1);
    EXPECT_EQ(info("identities").vector_ratio, 2);
    EXPECT_TRUE(info("identities").batch);
    EXPECT_FALSE(info("add").batch);
    EXPECT_EQ(info("old_style").core, CoreType::mix);
    EXPECT_EQ(info("old_style").vector_ratio, 1);
    EXPECT_EQ(info("meets").arguments_size, 0u);
    EXPECT_EQ(module->kernel("host_code"), nullptr);
}

TEST_F(ImageRun, GlobalsAreFoundAndBelongToOneModule) {
    const Compilation compilation = compile_file(source("several.cpp"));
    const auto first = load(compilation), second = load(compilation);
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    const auto launches = first->symbol("launches");
    ASSERT_TRUE(launches.has_value());
    EXPECT_EQ(launches->size, sizeof(int));
    EXPECT_EQ(*static_cast<int*>(opaque_pointer(launches->address)), 41);
    EXPECT_EQ(first->symbol("weights")->size, 12u);
    EXPECT_FALSE(first->symbol("nothing of that name").has_value());
    int result = 0;
    int* argument = &result;
    call(*first, "count_launches", &argument);
    call(*first, "count_launches", &argument);
    EXPECT_EQ(result, 43);
    call(*second, "count_launches", &argument);
    EXPECT_EQ(result, 42);
}

TEST_F(ImageRun, KernelsInNamespacesAreCalledByTheirName) {
    const auto module = load(compile_file(source("several.cpp")));
    ASSERT_NE(module, nullptr);
    float result = 0;
    const struct {
        float* result;
        float factor;
    } arguments{&result, 4.0f};
    call(*module, "scaled", &arguments);
    EXPECT_EQ(result, 10.0f);
    EXPECT_EQ(module->kernel("_ZN5outer7version12_GLOBAL__N_16scaledEPff"), module->kernel("scaled"));
}

TEST_F(ImageRun, TheAddressOfAKernelIsThatOfItsFunction) {
    const auto module = load(compile_file(source("several.cpp"), "-O3"));
    ASSERT_NE(module, nullptr);
    const auto function = module->symbol("add");
    ASSERT_TRUE(function.has_value());
    EXPECT_EQ(module->kernel("add")->address, function->address);
    EXPECT_EQ(module->kernel("add")->info->code_size, function->size);
}

TEST_F(ImageRun, CodeLiesWhereTheModuleSays) {
    const auto module = load(compile_file(source("several.cpp")));
    ASSERT_NE(module, nullptr);
    const auto* start = static_cast<const char*>(opaque_pointer(module->code().address));
    for (const KernelInfo& info : module->kernels()) {
        const auto* address = static_cast<const char*>(opaque_pointer(module->kernel(info.name)->address));
        EXPECT_GE(address, start);
        EXPECT_GT(info.code_size, 0u);
        EXPECT_LE(address + info.code_size, start + module->code().size);
    }
}

// A kernel keeps its identity even if the process has a function of the same name.
TEST_F(ImageRun, NamesOfTheProcessDoNotGetIn) {
    const auto module = load(compile(R"(#include "kernel_operator.h"
extern "C" int getpid() { return -5; }
extern "C" __global__ __aicore__ void write(int* result) { *result = getpid(); }
extern "C" __global__ __aicore__ void both(int* result) { write(result); })"));
    ASSERT_NE(module, nullptr);
    int result = 0;
    int* argument = &result;
    call(*module, "both", &argument);
    EXPECT_EQ(result, -5);
}

// A device times out such a kernel; the compiler must not let it run on into the code that follows.
TEST_F(ImageRun, ALoopWithoutEndIsKept) {
    const auto module = load(compile(R"(#include "kernel_operator.h"
extern "C" __global__ __aicore__ void forever() { while (true) { } })"));
    ASSERT_NE(module, nullptr);
    const auto loop = [&] {
        const itimerval soon{{0, 0}, {0, 10000}};
        setitimer(ITIMER_VIRTUAL, &soon, nullptr);
        call(*module, "forever", nullptr);
        _exit(0);
    };
    EXPECT_EXIT(loop(), testing::KilledBySignal(SIGVTALRM), "");
}

TEST_F(ImageRun, PrintsThroughTheDevice) {
    const auto module = load(compile(R"(#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void prints() {
    AscendC::printf("block %d of %d: %s %.2f\n", block_idx, block_num, "text", 1.5f);
    PRINTF("%700d|", 7);
    int block_idx = 12;
    AscendC::printf("%d", block_idx);
})"));
    ASSERT_NE(module, nullptr);
    recorded().block.index = 2;
    recorded().block.count = 9;
    call(*module, "prints", nullptr);
    EXPECT_EQ(recorded().printed, "block 2 of 9: text 1.50\n" + std::string(699, ' ') + "7|12");
}

TEST_F(ImageRun, PrintingCanBeCompiledOut) {
    const auto module = load(compile(R"(#include "kernel_operator.h"
extern "C" __global__ __aicore__ void prints() { AscendC::printf("%d", 1); })",
                                     "-DASCENDC_DUMP=0"));
    ASSERT_NE(module, nullptr);
    call(*module, "prints", nullptr);
    EXPECT_EQ(recorded().printed, "");
}

TEST_F(ImageRun, AnImageForAnotherChipIsRefusedWithTheCommandThatRebuildsIt) {
    const Compilation compilation = compile_file(source("several.cpp"), "--npu-arch=dav-3510");
    ASSERT_EQ(compilation.status, 0) << compilation.messages;
    take_error_text();
    const auto bytes = std::as_bytes(std::span(compilation.image));
    EXPECT_TRUE(load_on(*find_chip("Ascend950PR_9599"), bytes).ok());
    const auto refused = load_on(*find_chip("Ascend910B1"), bytes);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), 107000);
    const std::string text = take_error_text();
    EXPECT_CONTAINS(text, "architecture 3510");
    EXPECT_CONTAINS(text, "canopy-cc --image --npu-arch=dav-2201 -o IMAGE " + source("several.cpp"));
}

std::size_t loaded_objects() {
    std::size_t count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info*, std::size_t, void* counter) {
            ++*static_cast<std::size_t*>(counter);
            return 0;
        },
        &count);
    return count;
}

TEST_F(ImageRun, ADestroyedModuleLeavesTheProcess) {
    const Compilation compilation = compile_file(source("several.cpp"));
    const std::size_t before = loaded_objects();
    for (int round = 0; round < 20; ++round) {
        const auto module = load(compilation);
        ASSERT_NE(module, nullptr);
        EXPECT_EQ(loaded_objects(), before + 1);
    }
    EXPECT_EQ(loaded_objects(), before);
}

// Passes truncated and damaged copies of a real image to the loader that would run its code.
TEST_F(ImageRun, DamagedImagesAreNotLoaded) {
    const Compilation compilation = compile_file(source("several.cpp"), "--targets=baseline");
    ASSERT_EQ(compilation.status, 0) << compilation.messages;
    const Chip& chip = *find_chip("Ascend910B1");
    const std::string& image = compilation.image;
    for (std::size_t size = 0; size < image.size(); size += 1 + size / 50) {
        const std::string prefix = image.substr(0, size);
        EXPECT_EQ(load_on(chip, std::as_bytes(std::span(prefix))).status().code(), 107000) << size;
    }
    const auto whole = read_image(std::as_bytes(std::span(image)));
    ASSERT_TRUE(whole.ok());
    const auto object = whole.value().targets[0].object;
    const auto start = static_cast<std::size_t>(reinterpret_cast<const char*>(object.data()) - image.data());
    for (std::size_t at = start; at < start + object.size(); at += 97) {
        std::string damaged = image;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        EXPECT_EQ(load_on(chip, std::as_bytes(std::span(damaged))).status().code(), 107000) << at;
    }
    take_error_text();
}

}  // namespace
}  // namespace canopy::test
