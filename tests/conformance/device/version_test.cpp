// SPDX-License-Identifier: Apache-2.0
// Versions of the interface and of installed packages.
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "fixtures/fixture.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

// An install tree containing one package.
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

TEST_F(VersionTest, TheInterfaceHasOne) {
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

}  // namespace
}  // namespace conformance
