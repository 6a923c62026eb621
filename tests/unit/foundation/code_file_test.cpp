// SPDX-License-Identifier: Apache-2.0
// Code in sealed memory files, content hashes, and error messages.
#include "foundation/code_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "foundation/elf.h"
#include "foundation/files.h"
#include "foundation/hash.h"
#include "foundation/problem.h"
#include "foundation/sha256.h"

namespace canopy {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(CodeFile, ItsContentCannotBeChanged) {
    auto file = CodeFile::create("some code", bytes_of("content"));
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(write(file->descriptor(), "x", 1), -1);
    EXPECT_EQ(ftruncate(file->descriptor(), 100), -1);
    EXPECT_NE(fcntl(file->descriptor(), F_GET_SEALS) & F_SEAL_WRITE, 0);
    std::string content;
    ASSERT_TRUE(read_file(file->path(), content));
    EXPECT_EQ(content, "content");
}

TEST(CodeFile, BytesThatAreNotCodeDoNotLoad) {
    auto file = CodeFile::create(std::string(1000, 'n'), bytes_of("no code"));
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(file->load_apart(), nullptr);
    EXPECT_NE(std::string(loader_message()), "no reason given");
    EXPECT_EQ(std::string(loader_message()), "no reason given") << "the loader says it once";
    EXPECT_EQ(file->library(), nullptr);
}

TEST(CodeFile, TwoOfTheSameBytesAreApart) {
    std::string code;
    ASSERT_TRUE(read_file(CPU_IMAGE_1, code));
    auto elf = ElfFile::read(bytes_of(code));
    ASSERT_TRUE(elf.ok());
    const std::vector<std::byte> image = without_unique_symbols(*elf, bytes_of(code));  // else it is never unloaded
    ASSERT_FALSE(image.empty());
    auto one = CodeFile::create("one", image), two = CodeFile::create("two", image);
    ASSERT_TRUE(one.ok() && two.ok());
    ASSERT_NE(one->load_apart(), nullptr) << loader_message();
    ASSERT_NE(two->load_apart(), nullptr) << loader_message();
    EXPECT_NE(one->library(), two->library());
    const std::string path = one->path();
    one = Problem{"closed"};
    EXPECT_EQ(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "closed with its file";
}

TEST(Hash, TellsContentsApart) {
    EXPECT_EQ(hash_of("kernel"), hash_of(bytes_of("kernel")));
    EXPECT_NE(hash_of("kernel"), hash_of("kernes"));
    EXPECT_EQ(content_key(bytes_of("kernel"))[2], 6u);
    EXPECT_NE(wide_hash_of("kernel"), wide_hash_of("kernes"));
}

TEST(Hash, Sha256IsTheStandards) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Problem, IsMadeOfTextsAndNumbers) {
    const std::string name = "code";
    const Problem problem{"section ", name, " has ", std::uint64_t{18446744073709551615u}, " bytes, not ", -5};
    EXPECT_TRUE(static_cast<bool>(problem));
    EXPECT_EQ(problem.message(), "section code has 18446744073709551615 bytes, not -5");
    EXPECT_FALSE(static_cast<bool>(Problem()));
}

TEST(Files, AnUnusableFolderIsAProblem) {
    const char* before = getenv("TMPDIR");
    const std::string kept = before ? before : "";
    setenv("TMPDIR", "/nowhere/at/all", 1);
    const auto folder = TemporaryFolder::create("test");
    before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
    EXPECT_FALSE(folder.ok());
    EXPECT_NE(folder.message().find("/nowhere/at/all/canopy-test-"), std::string::npos) << folder.message();
    EXPECT_FALSE(write_file("/nowhere/at/all", "text"));
    std::string content;
    EXPECT_FALSE(read_file("/nowhere/at/all", content));
    EXPECT_TRUE(write_file("/dev/null", "text")) << "a device is written to, not replaced";
    struct stat facts {};
    EXPECT_TRUE(stat("/dev/null", &facts) == 0 && S_ISCHR(facts.st_mode));
}

}  // namespace
}  // namespace canopy
