// SPDX-License-Identifier: Apache-2.0
// Loading CPU kernels: the three modes, the descriptor, file names, function lookup, unloading.
#include "fixtures/cpu_kernel_fixture.h"

namespace conformance {
namespace {

class CpuKernelLoad : public CpuKernelTest {
protected:
    // Writes a descriptor with one op type and its shared object next to it.
    std::string write_pair(const std::string& stem, const char* library = CANOPY_TEST_CPU_1) {
        folder_.write(stem + ".so", bytes_of(library));
        return folder_.write(stem + ".json", "{" + entry("Write", "write_value", stem + ".so") + "}");
    }
    aclError load(const std::string& path, int mode) {
        aclrtBinHandle binary = nullptr;
        const aclError code = load_file(path, mode, &binary);
        kept(binary);
        return code;
    }
    aclrtBinHandle descriptor(const std::string& text) { return loaded_file(folder_.write("d.json", text), 0); }
    // Expects the descriptor to be refused with a message that contains `words`.
    void expect_refused(const std::string& text, const std::string& words) {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, words, load(folder_.write("d.json", text), 0));
    }
    void expect_no_function(aclrtBinHandle binary, const char* name, const std::string& words) {
        aclrtFuncHandle found = nullptr;
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, words, aclrtBinaryGetFunction(binary, name, &found));
    }
};

// ---- modes ---------------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLoad, EveryModeTakesWhatItIsFor) {
    const std::string path = write_pair("good");
    const std::string library = bytes_of(CANOPY_TEST_CPU_1);
    aclrtBinHandle none = nullptr;
    EXPECT_ACL_OK(load(path, 0));
    EXPECT_ACL_OK(load(path, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "cpuKernelMode 2", load(path, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "cpuKernelMode 3", load(path, 3));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "cpuKernelMode -1", load(path, -1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "cpuKernelMode 0", load_data(library, 0, &none));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "cpuKernelMode 1", load_data(library, 1, &none));
    EXPECT_ACL_OK(load_data(library, 2, &none));
    kept(none);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "JSON descriptor", load_data("  {}", 2, &none));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "missing.json", load(folder_.path() + "/missing.json", 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "missing.json", load(folder_.path() + "/missing.json", 1));
    const std::string alone = folder_.write("alone.json", "{}");
    EXPECT_ACL_OK(load(alone, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "alone.so", load(alone, 1));
}

TEST_F(CpuKernelLoad, OptionsThatMakeNoSenseTogetherAreRefused) {
    const std::string path = write_pair("good");
    aclrtBinaryLoadOption options[2] = {};
    options[0].type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    options[1].type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    options[1].value.magic = ACL_RT_BINARY_MAGIC_ELF_AICORE;
    aclrtBinaryLoadOptions all = {options, 2};
    aclrtBinHandle none = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "magic", aclrtBinaryLoadFromFile(path.c_str(), &all, &none));
    options[1].type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
    options[1].value.isLazyLoad = 2;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "isLazyLoad", aclrtBinaryLoadFromFile(path.c_str(), &all, &none));
    options[1].type = static_cast<aclrtBinaryLoadOptionType>(4);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "option 4", aclrtBinaryLoadFromFile(path.c_str(), &all, &none));
}

TEST_F(CpuKernelLoad, TheLibraryBesideADescriptorRuns) {
    aclrtBinHandle binary = loaded_file(write_pair("pair"), 1);
    EXPECT_EQ(written_by(function(binary, "Write"), 42), 42u);
}

TEST_F(CpuKernelLoad, ALibraryFromMemoryRunsUnderRegisteredNames) {
    aclrtFuncHandle first = nullptr, second = nullptr, other = nullptr;
    ASSERT_ACL_OK(aclrtRegisterCpuFunc(binary_, "write_value", "Store", &first));
    EXPECT_ACL_OK(aclrtRegisterCpuFunc(binary_, "write_value", "Store", &second));
    EXPECT_EQ(first, second);
    EXPECT_EQ(function(binary_, "Store"), first);
    EXPECT_ACL_OK(aclrtRegisterCpuFunc(binary_, "write_value", "StoreToo", &other));
    EXPECT_NE(first, other);
    EXPECT_EQ(written_by(first, 5), 5u);
    EXPECT_EQ(written_by(other, 6), 6u);
    expect_no_function(binary_, "write_value", "aclrtRegisterCpuFunc");
}

TEST_F(CpuKernelLoad, FunctionsAreRegisteredForLibrariesOnly) {
    aclrtBinHandle cores = nullptr;
    aclrtFuncHandle found = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &cores));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "AI cores", aclrtRegisterCpuFunc(cores, "f", "k", &found));
    EXPECT_ACL_OK(aclrtBinaryUnLoad(cores));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no shared object",
                     aclrtRegisterCpuFunc(descriptor("{}"), "f", "k", &found));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no function nowhere",
                     aclrtRegisterCpuFunc(binary_, "nowhere", "k", &found));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not_a_function",
                     aclrtRegisterCpuFunc(binary_, "not_a_function", "k", &found));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "characters", aclrtRegisterCpuFunc(binary_, "", "k", &found));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "funcName", aclrtRegisterCpuFunc(binary_, nullptr, "k", &found));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kernelName", aclrtRegisterCpuFunc(binary_, "f", nullptr, &found));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "funcHandle", aclrtRegisterCpuFunc(binary_, "f", "k", nullptr));
}

TEST_F(CpuKernelLoad, BytesThatAreNoLibraryAreRefusedWithTheLoadersReason) {
    aclrtFuncHandle found = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "ELF",
                     aclrtRegisterCpuFunc(loaded_data("these are no instructions"), "f", "k", &found));
    EXPECT_ACL_FAILS(
        ACL_ERROR_RT_PARAM_INVALID, "function_that_nobody_defines",
        aclrtRegisterCpuFunc(loaded_data(bytes_of(CANOPY_TEST_CPU_UNRESOLVED)), "write_value", "k", &found));
}

TEST_F(CpuKernelLoad, AFileThatIsPlainlyADescriptorNeedsNoMode) {
    aclrtBinHandle binary = nullptr;
    const std::string text = " \n\t{" + entry("Write", "write_value", "lib.so") + "}";
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(folder_.write("plain", text).c_str(), nullptr, &binary));
    kept(binary);
    expect_no_function(binary, "Other", "Write");
}

TEST_F(CpuKernelLoad, LoadingAndUnloadingNeedNoContext) {
    const std::string path = write_pair("early");
    std::thread([&] {
        aclrtBinHandle binary = nullptr;
        EXPECT_ACL_OK(load_file(path, 1, &binary));
        EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
    }).join();
}

// ---- names of files ------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLoad, APathIsCutAtItsLastDot) {
    const std::string path = write_pair("x");
    const std::string stem = path.substr(0, path.rfind('.'));
    for (const char* extension : {".json", ".so", ".o", "."}) EXPECT_ACL_OK(load(stem + extension, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "extension", load(stem, 1));
    ASSERT_EQ(std::system(("mkdir '" + folder_.path() + "/a.b'").c_str()), 0);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "folder", load(folder_.path() + "/a.b/x", 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no extension", load("no_dot_at_all", 0));
    write_pair("two.dots");
    EXPECT_ACL_OK(load(folder_.path() + "/two.dots.bin", 1));
}

// ---- the descriptor ------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLoad, ABrokenDescriptorIsRefusedWithItsPlace) {
    expect_refused("{\n  \"Op\": {\"opInfo\": {\"functionName\" \"f\"}}\n}", "line 2, column 38");
    expect_refused("{\"Op\": ", "line 1");
    expect_refused("[1, 2]", "an array");
    expect_refused("7", "a number");
    expect_refused("{} {}", "column 4");
    expect_refused("{\"a\": " + std::string(1000, '['), "levels");
    expect_refused(std::string("{\"a\xff\": 1}"), "line 1");
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "0 bytes", load(folder_.write("d.json", ""), 0));
}

TEST_F(CpuKernelLoad, DamagedDescriptorsAreRefusedOrRead) {
    const std::string whole = "{" + entry("One", "write_value", "a.so") + ",\n" + entry("Two", "f", "b.so") + "}";
    std::uint32_t state = 1;
    const auto random = [&](std::size_t below) { return (state = state * 1664525 + 1013904223) % below; };
    int refused = 0;
    for (int round = 0; round < 500; ++round) {
        std::string text = whole;
        for (std::size_t changes = 1 + random(3); changes != 0; --changes)
            text[random(text.size())] = "{}[]\",:\\ \n\0x1"[random(14)];
        text.resize(1 + random(2 * text.size()), ' ');
        aclrtBinHandle binary = nullptr;
        const aclError code = load_file(folder_.write("d.json", text), 0, &binary);
        if (code == 0) {
            EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
            continue;
        }
        ++refused;
        EXPECT_EQ(code, ACL_ERROR_RT_PARAM_INVALID);
        EXPECT_NE(recent_error().find("d.json"), std::string::npos);
    }
    EXPECT_GT(refused, 100);
}

TEST_F(CpuKernelLoad, AnEmptyDescriptorIsABinaryWithoutFunctions) {
    expect_no_function(descriptor("{}"), "Anything", "it has: none");
}

TEST_F(CpuKernelLoad, MembersThatAreNotUsableAreSkipped) {
    const std::string library = folder_.path() + "/d.so";
    folder_.write("d.so", bytes_of(CANOPY_TEST_CPU_1));
    folder_.write("d.json",
                  "{\"NoInfo\": {\"input0\": {\"type\": \"DT_INT8\"}}, \"Number\": 5,\n"
                  "\"InfoList\": {\"opInfo\": []},\n"
                  "\"BadName\": {\"opInfo\": {\"functionName\": 7, \"opKernelLib\": \"AICPUKernel\"}},\n"
                  "\"BadKind\": {\"opInfo\": {\"functionName\": \"f\", \"opKernelLib\": {\"x\": \"y\"}}},\n"
                  "\"Zero\": {\"opInfo\": {\"functionName\": \"write_value\\u0000x\"}},\n" +
                      entry("Good", "write_value", "any.so") + "}");
    aclrtBinHandle binary = loaded_file(library, 1);
    expect_no_function(binary, "NoInfo", "no opInfo");
    expect_no_function(binary, "Number", "a number");
    expect_no_function(binary, "InfoList", "an array");
    expect_no_function(binary, "BadName", "functionName is a number, not a string (line 3)");
    expect_no_function(binary, "BadKind", "opKernelLib is an object");
    expect_no_function(binary, "Zero", "not a name");
    EXPECT_EQ(written_by(function(binary, "Good"), 9), 9u);
}

TEST_F(CpuKernelLoad, MissingKeysAreNoticedWhenTheyAreNeeded) {
    folder_.write("d.so", bytes_of(CANOPY_TEST_CPU_1));
    aclrtBinHandle binary =
        loaded_file(folder_.write("d.json",
                                  "{\"NoName\": {\"opInfo\": {\"kernelSo\": \"d.so\", \"opKernelLib\": \"TFKernel\"}},"
                                  "\"NoLibrary\": {\"opInfo\": {\"functionName\": \"write_value\","
                                  " \"opKernelLib\": \"AICPUKernel\"}},"
                                  "\"NoKind\": {\"opInfo\": {\"functionName\": \"write_value\"}}}"),
                    1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "functionName",
                     launch(function(binary, "NoName"), 1, stream_, Write{words_, 1}));
    EXPECT_EQ(written_by(function(binary, "NoLibrary"), 3), 3u);  // its shared object is next to the descriptor
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "opKernelLib",
                     launch(function(binary, "NoKind"), 1, stream_, Write{words_, 1}));
}

TEST_F(CpuKernelLoad, TheFirstOfTwoEqualOpTypesCounts) {
    folder_.write("d.so", bytes_of(CANOPY_TEST_CPU_1));
    aclrtBinHandle binary = loaded_file(
        folder_.write("d.json", "{" + entry("Op", "write_value", "d.so") + "," + entry("Op", "variant", "d.so") + "}"),
        1);
    EXPECT_EQ(written_by(function(binary, "Op"), 77), 77u);
}

TEST_F(CpuKernelLoad, EveryKindOfKernelRuns) {
    folder_.write("d.so", bytes_of(CANOPY_TEST_CPU_1));
    std::string text;
    const std::vector<std::string> kinds = {"AICPUKernel", "CUSTAICPUKernel", "TFKernel", "KFCKernel", "CUSTKFCKernel"};
    for (const std::string& kind : kinds) text += (text.empty() ? "{" : ",") + entry(kind, "write_value", "d.so", kind);
    aclrtBinHandle binary = loaded_file(folder_.write("d.json", text + "}"), 1);
    std::uint64_t value = 100;
    for (const std::string& kind : kinds) {
        EXPECT_EQ(written_by(function(binary, kind.c_str()), ++value), value) << kind;
        aclrtFuncHandle found = function(binary, kind.c_str());
        std::int64_t type = 0;
        EXPECT_ACL_OK(aclrtGetFunctionAttribute(found, ACL_FUNC_ATTR_KERNEL_TYPE, &type));
        EXPECT_EQ(type, ACL_KERNEL_TYPE_AICPU);
        char name[64] = {};
        EXPECT_ACL_OK(aclrtGetFunctionName(found, sizeof name, name));
        EXPECT_EQ(name, kind);
    }
}

// ---- looking up ----------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLoad, FunctionsAreFoundByOpTypeAndNotByFunctionName) {
    aclrtBinHandle binary = loaded_file(write_pair("names"), 1);
    expect_no_function(binary, "write_value", "function of op type Write");
    expect_no_function(binary, "Nothing", "it has: Write");
    EXPECT_EQ(function(binary, "Write"), function(binary, "Write"));
}

TEST_F(CpuKernelLoad, AnObjectThatIsNotThereIsReportedWithThePlacesTried) {
    setenv("ASCEND_AICPU_KERNEL_PATH", ("/nowhere/at/all:" + folder_.path()).c_str(), 1);
    aclrtBinHandle binary = descriptor("{" + entry("Op", "write_value", "libabsent.so") + "," +
                                       entry("Climb", "write_value", "../d.so") + "}");
    expect_no_function(binary, "Op", "/nowhere/at/all, " + folder_.path());
    expect_no_function(binary, "Climb", "cannot be the name");
    folder_.write("libabsent.so", bytes_of(CANOPY_TEST_CPU_1));
    EXPECT_EQ(written_by(function(binary, "Op"), 8), 8u);
    unsetenv("ASCEND_AICPU_KERNEL_PATH");
}

TEST_F(CpuKernelLoad, ADescriptorFindsALibraryThatThisProcessLoaded) {
    aclrtBinHandle owner = loaded_file(write_pair("shared"), 1);
    aclrtBinHandle binary = descriptor("{" + entry("Op", "write_value", "shared.so") + "}");
    EXPECT_EQ(written_by(function(binary, "Op"), 8), 8u);
    unload(owner);
    EXPECT_EQ(written_by(function(binary, "Op"), 9), 9u) << "what was found stays";
    expect_no_function(descriptor("{" + entry("Op", "write_value", "shared.so") + "}"), "Op", "was not found");
}

// ---- unloading -----------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLoad, TheSameNameLoadedAgainHasTheNewBytes) {
    for (int round = 0; round < 3; ++round) {
        aclrtBinHandle first = loaded_file(write_pair("x", CANOPY_TEST_CPU_1), 1);
        aclrtFuncHandle one = nullptr, two = nullptr;
        ASSERT_ACL_OK(aclrtRegisterCpuFunc(first, "variant", "Variant", &one));
        EXPECT_EQ(written_by(one), 1u);
        aclrtBinHandle second = loaded_file(write_pair("x", CANOPY_TEST_CPU_2), 1);
        ASSERT_ACL_OK(aclrtRegisterCpuFunc(second, "variant", "Variant", &two));
        EXPECT_EQ(written_by(two), 2u);
        EXPECT_EQ(written_by(one), 1u) << "the file has changed, the binary has not";
        unload(first);
        EXPECT_EQ(written_by(two), 2u);
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "function", launch(one, 1, stream_, Write{words_, 0}));
        unload(second);
    }
}

TEST_F(CpuKernelLoad, ObjectsThatExportTheSameSymbolsAreNeverMixed) {
    constexpr std::uint64_t launches = 2000;
    aclrtBinHandle other = loaded_data(bytes_of(CANOPY_TEST_CPU_2));
    aclrtFuncHandle variants[2] = {kernel("variant"), nullptr};
    ASSERT_ACL_OK(aclrtRegisterCpuFunc(other, "variant", "variant", &variants[1]));
    std::uint64_t* seen = device_array(std::vector<std::uint64_t>(launches, 0));
    for (std::uint64_t i = 0; i < launches; ++i) EXPECT_ACL_OK(launch(variants[i % 2], 1, stream_, Write{seen + i, 0}));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    const std::vector<std::uint64_t> result = read_back(seen, launches);
    for (std::uint64_t i = 0; i < launches; ++i) ASSERT_EQ(result[i], 1 + i % 2) << i;
}

TEST_F(CpuKernelLoad, QueuedWorkRunsAfterItsBinaryIsUnloaded) {
    aclrtBinHandle binary = loaded_data(bytes_of(CANOPY_TEST_CPU_2));
    aclrtFuncHandle wait = nullptr, variant = nullptr;
    ASSERT_ACL_OK(aclrtRegisterCpuFunc(binary, "wait_for_word", "Wait", &wait));
    ASSERT_ACL_OK(aclrtRegisterCpuFunc(binary, "variant", "Variant", &variant));
    SharedWord word;
    EXPECT_ACL_OK(launch(wait, 1, stream_, word.device()));
    EXPECT_ACL_OK(launch(variant, 1, stream_, Write{words_, 0}));
    unload(binary);
    word.set(1);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 1)[0], 2u);
}

TEST_F(CpuKernelLoad, ThreadsLoadAndUnloadTheSameObjects) {
    const std::string one = write_pair("one"), two = write_pair("two", CANOPY_TEST_CPU_2);
    std::vector<std::thread> threads;
    for (std::uint64_t number = 0; number < 4; ++number)
        threads.emplace_back([&, number] {
            EXPECT_ACL_OK(aclrtSetDevice(0));
            aclrtStream stream = nullptr;
            EXPECT_ACL_OK(aclrtCreateStream(&stream));
            for (std::uint64_t round = 0; round < 25; ++round) {
                aclrtBinHandle binary = nullptr;
                aclrtFuncHandle store = nullptr;
                EXPECT_ACL_OK(load_file((round + number) % 2 == 0 ? one : two, 1, &binary));
                EXPECT_ACL_OK(aclrtBinaryGetFunction(binary, "Write", &store));
                EXPECT_ACL_OK(launch(store, 1, stream, Write{words_ + number, round}));
                EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));  // usually before it has run
            }
            EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
            EXPECT_ACL_OK(aclrtDestroyStream(stream));
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(read_back(words_, 4), std::vector<std::uint64_t>(4, 24));
}

TEST_F(CpuKernelLoad, AContextOfItsOwnRunsTheSameBinary) {
    aclrtFuncHandle store = kernel("write_value");
    aclrtContext before = nullptr, context = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&before));
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    EXPECT_EQ(function(binary_, "write_value"), store);
    EXPECT_ACL_OK(launch(store, 1, nullptr, Write{words_, 12}));
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_ACL_OK(aclrtDestroyContext(context));
    ASSERT_ACL_OK(aclrtSetCurrentContext(before));
    EXPECT_EQ(read_back(words_, 1)[0], 12u);
}

}  // namespace
}  // namespace conformance
