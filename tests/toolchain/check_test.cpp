// SPDX-License-Identifier: Apache-2.0
// The checking variant of images: compiled ahead, and from the text that is kept for later.
#include <canopy/kernel_check.h>
#include <stdlib.h>

#include <filesystem>

#include "base/error_text.h"
#include "compiler.h"
#include "device/image.h"
#include "device/opaque_pointer.h"
#include "recording_checker.h"

namespace canopy::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* counts = R"(#include "kernel_operator.h"
extern "C" __global__ __aicore__ void counts(__gm__ int* counter) {
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(1);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(1);
    AscendC::PipeBarrier<PIPE_V>();
    counter[1] = 2;
    *counter += 3;
})";

const std::string quick = "--no-trace --targets=baseline ";

class Check : public Toolchain {
protected:
    Check() { setenv("CANOPY_CACHE_DIR", cache().c_str(), 1); }
    ~Check() override {
        unsetenv("CANOPY_CACHE_DIR");
        unsetenv("CANOPY_CACHE_SIZE");
    }

    [[nodiscard]] std::string cache() const { return directory_ + "/cache"; }
    static Image image_of(const Compilation& compilation) {
        EXPECT_EQ(compilation.status, 0) << compilation.messages;
        auto image = read_image(std::as_bytes(std::span(compilation.image)));
        EXPECT_TRUE(image.ok());
        return image.ok() ? std::move(*image) : Image{};
    }
    static bool has_target(const Image& image, std::string_view name) {
        for (const ImageTarget& target : image.targets)
            if (target.name == name) return true;
        return false;
    }
    // The text that the image names, in a file. In the cache its checksum follows.
    [[nodiscard]] std::string write_text(const Image& image) const {
        const std::string kept = read_whole(cache() + "/texts/" + image.check_text);
        EXPECT_GT(kept.size(), 8u);
        return write("text", kept.substr(0, kept.size() - 8));
    }
    static std::unique_ptr<Driver> open_checked(RecordingChecker& checker) {
        DeviceOptions options;
        options.chip = find_chip("Ascend910B1");
        options.memory = std::uint64_t{64} << 20;
        options.launch_checker = &checker;
        return std::move(*find_kind("soft")->open(options));
    }
};

// ---- what the code tells -------------------------------------------------------------------------------------------

std::vector<std::string> told;

void tell(const char* what, const CanopyCheckSite* site) {
    told.push_back(std::string(what) + " " + fs::path(site->file).filename().string() + ":" +
                   std::to_string(site->line));
}

int counter[2];

CanopyChecker make_recorder() {
    CanopyChecker table{};
    table.size = sizeof table;
    table.flag = [](std::uint32_t set, std::uint32_t, std::uint32_t, std::int32_t, const CanopyCheckSite* site) {
        tell(set != 0 ? "set" : "wait", site);
    };
    table.barrier = [](std::uint32_t, const CanopyCheckSite* site) { tell("barrier", site); };
    // Others are to the stack.
    table.raw = [](const void* address, std::uint32_t bytes, std::uint32_t kind, const void*) {
        if (address == &counter[0] || address == &counter[1])
            told.push_back("raw " + std::to_string(kind) + " of " + std::to_string(bytes));
    };
    return table;
}

const CanopyChecker recorder = make_recorder();

void record_accesses(Module& module) {
    const auto place = module.symbol("canopy_image_checker");
    ASSERT_TRUE(place);
    *static_cast<const CanopyChecker**>(opaque_pointer(place->address)) = &recorder;
    told.clear();
}

TEST_F(Check, CodeCompiledAheadTellsInOrderWithLines) {
    const Compilation compilation = compile(counts, quick + "--check");
    const Image image = image_of(compilation);
    EXPECT_TRUE(has_target(image, CANOPY_CHECK_TARGET));
    EXPECT_EQ(image.check_text, "") << "it needs no text";
    RecordingChecker checker;
    const std::unique_ptr<Driver> driver = open_checked(checker);
    const auto module = load(compilation, *driver);
    ASSERT_NE(module, nullptr);
    record_accesses(*module);
    counter[0] = 4;
    int* argument = counter;
    call(*module, "counts", &argument);
    EXPECT_EQ(counter[0], 7);
    EXPECT_EQ(counter[1], 2);
    const std::vector<std::string> expected = {"set kernel.cpp:3", "wait kernel.cpp:4", "barrier kernel.cpp:5",
                                               "raw 2 of 4", "raw 3 of 4"};
    EXPECT_EQ(told, expected);
}

TEST_F(Check, SourcesWithoutTheKernelLanguageTellTheirAccesses) {
    const Compilation compilation =
        compile("extern \"C\" __global__ __aicore__ void plain(int* where) { *where = 1; }", quick + "--check");
    RecordingChecker checker;
    const std::unique_ptr<Driver> driver = open_checked(checker);
    const auto module = load(compilation, *driver);
    ASSERT_NE(module, nullptr);
    record_accesses(*module);
    int* argument = counter;
    call(*module, "plain", &argument);
    EXPECT_EQ(told, std::vector<std::string>{"raw 2 of 4"});
}

TEST_F(Check, UncheckedDevicesLoadNothingOfIt) {
    const auto module = load(compile(counts, quick + "--check"));
    ASSERT_NE(module, nullptr);
    EXPECT_FALSE(module->symbol("canopy_image_checker"));
}

TEST_F(Check, SourcesForTwoKindsOfCoresHaveOneTableForBoth) {
    const Compilation compilation = compile(R"(#include "kernel_operator.h"
extern "C" __global__ __mix__(1, 1) void both(__gm__ int* where) {
#ifdef __DAV_C220_CUBE__
    where[0] = 1;
#endif
    if ASCEND_IS_AIV where[1] = 2;
})",
                                            quick + "--check");
    RecordingChecker checker;
    const std::unique_ptr<Driver> driver = open_checked(checker);
    const auto module = load(compilation, *driver);
    ASSERT_NE(module, nullptr);
    record_accesses(*module);
    int* argument = counter;
    for (const CanopyCoreType kind : {CANOPY_CORE_CUBE, CANOPY_CORE_VECTOR}) {
        recorded().block.core_type = kind;
        call(*module, "both", &argument);
    }
    EXPECT_EQ(told, std::vector<std::string>(2, "raw 2 of 4"));
}

// ---- the text for later --------------------------------------------------------------------------------------------

TEST_F(Check, TheTextIsKeptAndMadeIntoTheSameCode) {
    const Compilation compilation = compile(counts, quick + "-I. -DUNUSED=1");
    const Image image = image_of(compilation);
    EXPECT_FALSE(has_target(image, CANOPY_CHECK_TARGET));
    ASSERT_NE(image.check_text, "");
    const Compilation made = run("--checking-code=" + write_text(image) + " -o " + directory_ + "/code");
    EXPECT_EQ(made.status, 0) << made.messages;
    const std::string code = read_whole(directory_ + "/code");
    RecordingChecker checker;
    checker.known_text = image.check_text;
    const auto bytes = std::as_bytes(std::span(code));
    checker.its_code.assign(bytes.begin(), bytes.end());
    const std::unique_ptr<Driver> driver = open_checked(checker);
    const auto module = load(compilation, *driver);
    ASSERT_NE(module, nullptr);
    EXPECT_TRUE(module->symbol("canopy_image_checker"));
}

TEST_F(Check, TheSameSourceKeepsOneText) {
    const Image first = image_of(compile(counts, quick));
    const std::string name = first.check_text;
    EXPECT_EQ(image_of(compile(counts, quick)).check_text, name);
    EXPECT_NE(image_of(compile(counts, quick + "-O1")).check_text, name);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& file : fs::directory_iterator(cache() + "/texts")) ++files;
    EXPECT_EQ(files, 2u);
}

TEST_F(Check, NothingIsKeptWhereItIsNotWanted) {
    EXPECT_EQ(image_of(compile(counts, quick + "--no-check")).check_text, "");
    EXPECT_FALSE(fs::exists(cache() + "/texts"));
    setenv("CANOPY_CACHE_SIZE", "0", 1);
    EXPECT_NE(image_of(compile(counts, quick)).check_text, "");
    EXPECT_FALSE(fs::exists(cache() + "/texts"));
}

TEST_F(Check, ADamagedTextIsRefused) {
    std::string text = read_whole(write_text(image_of(compile(counts, quick))));
    text[text.size() / 2] ^= 1;
    for (const std::string& damaged : {std::string("no text"), text.substr(0, text.size() / 2), std::string()}) {
        const Compilation refused = run("--checking-code=" + write("damaged", damaged) + " -o code");
        EXPECT_EQ(refused.status, 1);
        EXPECT_CONTAINS(refused.messages, "has no text for checking code");
    }
}

// ---- automatic synchronisation -------------------------------------------------------------------------------------

TEST_F(Check, TheImageSaysWhetherSynchronisationIsAutomatic) {
    for (const auto& [flags, expected] :
         {std::pair("", true), std::pair("--cce-auto-sync=on", true), std::pair("--cce-auto-sync", true),
          std::pair("--cce-auto-sync=off", false), std::pair("--cce-auto-sync off", false)})
        EXPECT_EQ(image_of(compile(counts, quick + flags)).autosync, expected) << flags;
}

}  // namespace
}  // namespace canopy::test
