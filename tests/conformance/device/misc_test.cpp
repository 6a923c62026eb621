// SPDX-License-Identifier: Apache-2.0
// Versions, attributes, data types, half precision, data buffers, the log, the platform, groups.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl_platform.h"
#include "fixtures/fixture.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

using MiscTest = RuntimeTest;

TEST_F(MiscTest, TheInterfaceHasAVersion) {
    int32_t major = 0, minor = 0, patch = -1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    EXPECT_ACL_OK(aclrtGetVersion(&major, &minor, &patch));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "majorVersion", aclrtGetVersion(nullptr, &minor, &patch));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "minorVersion", aclrtGetVersion(&major, nullptr, &patch));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "patchVersion", aclrtGetVersion(&major, &minor, nullptr));
#pragma GCC diagnostic pop
    EXPECT_EQ(major, 1);
    EXPECT_EQ(minor, 17);
    EXPECT_EQ(patch, 0);
}

// An install tree with one package in it, for one test.
class VersionTest : public RuntimeTest {
protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        if (const char* value = std::getenv("ASCEND_HOME_PATH")) before_ = value;
        setenv("ASCEND_HOME_PATH", tree_.path().c_str(), 1);
        for (const char* part : {"/share", "/share/info", "/share/info/runtime"})
            ASSERT_EQ(mkdir((tree_.path() + part).c_str(), 0755), 0);
    }
    void TearDown() override {
        if (before_.empty())
            unsetenv("ASCEND_HOME_PATH");
        else
            setenv("ASCEND_HOME_PATH", before_.c_str(), 1);
        RuntimeTest::TearDown();
    }
    void package(const std::string& text) { tree_.write("share/info/runtime/version.info", text); }

    char name_[16] = "runtime";
    char version_[ACL_PKG_VERSION_MAX_SIZE] = {};
    int32_t number_ = -1;

private:
    TemporaryDirectory tree_;
    std::string before_;
};

TEST_F(VersionTest, PackagesSayTheirVersion) {
    package("# comment\nVersion=8.5.2-rc.3\nother=1\n");
    EXPECT_ACL_OK(aclsysGetVersionStr(name_, version_));
    EXPECT_STREQ(version_, "8.5.2-rc.3");
    EXPECT_ACL_OK(aclsysGetVersionNum(name_, &number_));
    EXPECT_EQ(number_, 80502000 - 100 + 3);
}

TEST_F(VersionTest, TheOldCallSplitsTheVersion) {
    package("version=8.5.2.7\n");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    aclCANNPackageVersion version = {};
    EXPECT_ACL_OK(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version));
    EXPECT_STREQ(version.version, "8.5.2.7");
    EXPECT_STREQ(version.majorVersion, "8");
    EXPECT_STREQ(version.minorVersion, "5");
    EXPECT_STREQ(version.releaseVersion, "2");
    EXPECT_STREQ(version.patchVersion, "7");
    EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &version), ACL_ERROR_INVALID_FILE);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "name",
                     aclsysGetCANNVersion(static_cast<aclCANNPackageName>(8), &version));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "version", aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, nullptr));
#pragma GCC diagnostic pop
}

TEST_F(VersionTest, MissingAndBrokenFilesHaveCodes) {
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_FILE, "version file", aclsysGetVersionStr(name_, version_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_FILE, "version file", aclsysGetVersionNum(name_, &number_));
    package("nothing to see\n");
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_FILE, "Version=", aclsysGetVersionStr(name_, version_));
    package("Version=new\n");
    EXPECT_ACL_OK(aclsysGetVersionStr(name_, version_));
    EXPECT_EQ(aclsysGetVersionNum(name_, &number_), ACL_ERROR_INTERNAL_ERROR);
    char outside[] = "../info/runtime";
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_FILE, "name of a package", aclsysGetVersionStr(outside, version_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "pkgName", aclsysGetVersionStr(nullptr, version_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "versionStr", aclsysGetVersionStr(name_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "pkgName", aclsysGetVersionNum(nullptr, &number_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "versionNum", aclsysGetVersionNum(name_, nullptr));
}

TEST_F(VersionTest, LongVersionsAreCutToTheBuffer) {
    package("Version=1." + std::string(500, '2') + "\n");
    EXPECT_ACL_OK(aclsysGetVersionStr(name_, version_));
    EXPECT_EQ(std::strlen(version_), static_cast<std::size_t>(ACL_PKG_VERSION_MAX_SIZE - 1));
}

TEST_F(MiscTest, AttributesAreListedAndAnswer) {
    const aclCannAttr* list = nullptr;
    size_t count = 0;
    EXPECT_ACL_OK(aclGetCannAttributeList(&list, &count));
    ASSERT_EQ(count, 3u);
    for (size_t index = 0; index < count; ++index) {
        int32_t value = -1;
        EXPECT_ACL_OK(aclGetCannAttribute(list[index], &value));
        EXPECT_TRUE(value == 0 || value == 1);
    }
    int32_t value = -1;
    EXPECT_ACL_OK(aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, &value));
    EXPECT_EQ(value, 1);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cannAttr", aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cannAttrList", aclGetCannAttributeList(nullptr, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "num", aclGetCannAttributeList(&list, nullptr));
}

TEST_F(MiscTest, DataTypesHaveSizes) {
    const std::vector<std::pair<aclDataType, size_t>> sizes = {
        {ACL_DT_UNDEFINED, 0}, {ACL_FLOAT, 4},       {ACL_FLOAT16, 2},       {ACL_INT8, 1},        {ACL_INT32, 4},
        {ACL_UINT8, 1},        {ACL_INT16, 2},       {ACL_UINT16, 2},        {ACL_UINT32, 4},      {ACL_INT64, 8},
        {ACL_UINT64, 8},       {ACL_DOUBLE, 8},      {ACL_BOOL, 1},          {ACL_STRING, 0},      {ACL_COMPLEX64, 8},
        {ACL_COMPLEX128, 16},  {ACL_BF16, 2},        {ACL_INT4, 1},          {ACL_UINT1, 1},       {ACL_COMPLEX32, 4},
        {ACL_HIFLOAT8, 1},     {ACL_FLOAT8_E5M2, 1}, {ACL_FLOAT8_E4M3FN, 1}, {ACL_FLOAT8_E8M0, 1}, {ACL_FLOAT6_E3M2, 8},
        {ACL_FLOAT6_E2M3, 8},  {ACL_FLOAT4_E2M1, 8}, {ACL_FLOAT4_E1M2, 8}};
    for (const auto& [type, size] : sizes) EXPECT_EQ(aclDataTypeSize(type), size) << type;
    EXPECT_EQ(aclDataTypeSize(static_cast<aclDataType>(999)), 8u);
}

TEST_F(MiscTest, HalfPrecisionIsFiniteOnly) {
    EXPECT_EQ(aclFloatToFloat16(1.625f), 0x3E80);
    EXPECT_EQ(aclFloat16ToFloat(0x3E80), 1.625f);
    EXPECT_EQ(aclFloat16ToFloat(0x7C00), 65536.0f);
    EXPECT_EQ(aclFloat16ToFloat(0x7E00), 98304.0f);
    EXPECT_EQ(aclFloatToFloat16(INFINITY), 0x7BFF);
    EXPECT_EQ(aclFloatToFloat16(-INFINITY), 0xFBFF);
    EXPECT_EQ(aclFloatToFloat16(NAN), 0x7BFF);
}

TEST_F(MiscTest, DataBuffersHoldAnAddressAndASize) {
    int data = 0, other = 0;
    aclDataBuffer* buffer = aclCreateDataBuffer(&data, sizeof(data));
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(aclGetDataBufferAddr(buffer), &data);
    EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof(data));
    EXPECT_ACL_OK(aclUpdateDataBuffer(buffer, &other, size_t{5} << 32 | 7));
    EXPECT_EQ(aclGetDataBufferAddr(buffer), &other);
    EXPECT_EQ(aclGetDataBufferSizeV2(buffer), size_t{5} << 32 | 7);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    EXPECT_EQ(aclGetDataBufferSize(buffer), 7u);
#pragma GCC diagnostic pop
    EXPECT_ACL_OK(aclDestroyDataBuffer(buffer));
    aclDataBuffer* empty = aclCreateDataBuffer(nullptr, 0);
    ASSERT_NE(empty, nullptr);
    EXPECT_EQ(aclGetDataBufferAddr(empty), nullptr);
    EXPECT_ACL_OK(aclDestroyDataBuffer(empty));
}

TEST_F(MiscTest, DataBuffersThatAreNoneAreRefused) {
    int data = 0;
    aclDataBuffer* gone = aclCreateDataBuffer(&data, 4);
    EXPECT_ACL_OK(aclDestroyDataBuffer(gone));
    for (aclDataBuffer* bad : {gone, reinterpret_cast<aclDataBuffer*>(&data), reinterpret_cast<aclDataBuffer*>(1)}) {
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataBuffer", aclDestroyDataBuffer(bad));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataBuffer", aclUpdateDataBuffer(bad, &data, 4));
        EXPECT_EQ(aclGetDataBufferAddr(bad), nullptr);
        EXPECT_EQ(aclGetDataBufferSizeV2(bad), 0u);
    }
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataBuffer", aclDestroyDataBuffer(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataBuffer", aclUpdateDataBuffer(nullptr, &data, 4));
    EXPECT_EQ(aclGetDataBufferAddr(nullptr), nullptr);
    EXPECT_EQ(aclGetDataBufferSizeV2(nullptr), 0u);
}

TEST_F(MiscTest, DataBuffersAreMadeByManyThreads) {
    std::vector<std::thread> threads;
    for (int index = 0; index < 4; ++index) {
        threads.emplace_back([] {
            std::vector<aclDataBuffer*> buffers;
            for (size_t size = 0; size < 500; ++size) buffers.push_back(aclCreateDataBuffer(&buffers, size));
            for (size_t size = 0; size < 500; ++size) {
                EXPECT_EQ(aclGetDataBufferSizeV2(buffers[size]), size);
                EXPECT_ACL_OK(aclDestroyDataBuffer(buffers[size]));
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

// Everything in the files of a directory, one after the other.
std::string contents_of(const std::string& directory) {
    std::string text;
    if (DIR* entries = opendir(directory.c_str())) {
        while (const dirent* entry = readdir(entries)) {
            std::ifstream file(directory + "/" + entry->d_name);
            std::stringstream buffer;
            buffer << file.rdbuf();
            text += buffer.str();
        }
        closedir(entries);
    }
    return text;
}

void only_errors_are_logged_by_default() {
    TemporaryDirectory directory;
    setenv("ASCEND_PROCESS_LOG_PATH", directory.path().c_str(), 1);
    unsetenv("ASCEND_GLOBAL_LOG_LEVEL");
    unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    aclAppLog(ACL_WARNING, "work", "/src/main.cpp", 3, "quiet");
    struct stat facts {};
    EXPECT_NE(stat((directory.path() + "/debug").c_str(), &facts), 0);
    aclAppLog(ACL_ERROR, "work", "/src/main.cpp", 12, "lost %d of %s", 3, "five");
    aclAppLog(ACL_ERROR, nullptr, nullptr, 0, "%s", std::string(5000, 'x').c_str());
    aclAppLog(ACL_ERROR, "work", "main.cpp", 0, nullptr);
    const std::string text = contents_of(directory.path() + "/debug/plog");
    EXPECT_EQ(text.rfind("[ERROR]", 0), 0u) << text;
    EXPECT_NE(text.find("[main.cpp:12]"), std::string::npos) << text;
    EXPECT_NE(text.find("work: lost 3 of five\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("quiet"), std::string::npos);
    EXPECT_EQ(text.find(std::string(1024, 'x')), std::string::npos);
    EXPECT_NE(text.find(std::string(1023, 'x')), std::string::npos);
}

TEST(LogDeathTest, OnlyErrorsAreLoggedByDefault) { EXPECT_IN_OWN_PROCESS(only_errors_are_logged_by_default); }

void the_log_goes_to_standard_output_when_asked() {
    TemporaryDirectory directory;
    setenv("ASCEND_PROCESS_LOG_PATH", directory.path().c_str(), 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
    setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
    const std::string output = directory.path() + "/output";
    const int file = open(output.c_str(), O_WRONLY | O_CREAT, 0600);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    dup2(file, STDOUT_FILENO);
    aclAppLog(ACL_DEBUG, "work", "main.cpp", 1, "hidden");
    aclAppLog(ACL_INFO, "work", "main.cpp", 2, "shown");
    dup2(before, STDOUT_FILENO);
    close(before);
    close(file);
    std::ifstream written(output);
    std::stringstream text;
    text << written.rdbuf();
    EXPECT_NE(text.str().find("[INFO]"), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("shown"), std::string::npos);
    EXPECT_EQ(text.str().find("hidden"), std::string::npos);
    struct stat facts {};
    EXPECT_NE(stat((directory.path() + "/debug").c_str(), &facts), 0);
}

TEST(LogDeathTest, TheLogGoesToStandardOutputWhenAsked) {
    EXPECT_IN_OWN_PROCESS(the_log_goes_to_standard_output_when_asked);
}

TEST_F(MiscTest, ThePlatformAnswersInText) {
    char text[64] = {};
    for (int info = ACL_PLATFORM_AICORE_CNT; info <= ACL_PLATFORM_MEMORY_TYPE; ++info) {
        text[0] = '\0';
        EXPECT_ACL_OK(aclplatformGetDeviceInfo(static_cast<aclplatformDevInfo>(info), text, sizeof(text)));
        EXPECT_NE(text[0], '\0') << info;
    }
    EXPECT_ACL_OK(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, sizeof(text)));
    EXPECT_STREQ(text, aclrtGetSocName());
    const auto exact = static_cast<uint32_t>(std::strlen(text) + 1);
    EXPECT_ACL_OK(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, exact));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "maxLen",
                     aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, exact - 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "infoType",
                     aclplatformGetDeviceInfo(static_cast<aclplatformDevInfo>(17), text, sizeof(text)));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclplatformGetDeviceInfo(ACL_PLATFORM_L2_SIZE, nullptr, 9));
}

TEST_F(MiscTest, InstructionsNameTheirTypes) {
    char text[128] = {};
    const auto core = ACL_PLATFORM_CORE_TYPE_AI_CORE;
    EXPECT_ACL_OK(aclplatformGetInstructionInfo(core, "Intrinsic_vadd", text, sizeof(text)));
    EXPECT_NE(std::string(text).find("float16"), std::string::npos);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "instruction",
                     aclplatformGetInstructionInfo(core, "Intrinsic_dance", text, sizeof(text)));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "instruction",
                     aclplatformGetInstructionInfo(ACL_PLATFORM_CORE_TYPE_VECTOR_CORE, "Intrinsic_mmad", text, 128));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "type",
                     aclplatformGetInstructionInfo(static_cast<aclplatformCoreType>(2), "Intrinsic_vadd", text, 128));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "instruction", aclplatformGetInstructionInfo(core, nullptr, text, 128));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value",
                     aclplatformGetInstructionInfo(core, "Intrinsic_vadd", nullptr, 128));
}

TEST_F(MiscTest, ChipsWithoutGroupsSaySo) {
    uint32_t count = 0;
    size_t size = 0;
    auto* group = reinterpret_cast<aclrtGroupInfo*>(&count);
    const int none = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    EXPECT_EQ(aclrtCreateGroupInfo(), nullptr);
    EXPECT_NE(recent_error().find("groups"), std::string::npos);
    EXPECT_ACL_FAILS(none, "groups", aclrtSetGroup(0));
    EXPECT_ACL_FAILS(none, "groups", aclrtGetGroupCount(&count));
    EXPECT_ACL_FAILS(none, "groups", aclrtGetAllGroupInfo(group));
    EXPECT_ACL_FAILS(none, "groups", aclrtDestroyGroupInfo(group));
    EXPECT_ACL_FAILS(none, "groups", aclrtGetGroupInfoDetail(group, 0, ACL_GROUP_AICORE_INT, &count, 4, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "count", aclrtGetGroupCount(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "groupInfo", aclrtDestroyGroupInfo(nullptr));
}

TEST_F(MiscTest, TheLibraryDescribesItself) {
    const std::string text = canopyDescribe();
    EXPECT_NE(text.find("\"devices\""), std::string::npos);
    EXPECT_NE(text.find(aclrtGetSocName()), std::string::npos);
    EXPECT_NE(text.find("CANOPY_DEVICE_MEMORY"), std::string::npos);
}

}  // namespace
}  // namespace conformance
