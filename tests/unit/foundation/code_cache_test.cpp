// SPDX-License-Identifier: Apache-2.0
// The cache of compiled code: hits, eviction, and file system errors.
#include "foundation/code_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace canopy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t entry_size = 1000, checksum_size = 8;
constexpr std::size_t file_size = entry_size + checksum_size;

std::vector<std::byte> code(const std::string& name, std::size_t size = entry_size) {
    return std::vector<std::byte>(size, static_cast<std::byte>(std::hash<std::string>()(name)));
}

class CodeCacheTest : public testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/canopy-cache-XXXXXX";
        ASSERT_NE(mkdtemp(pattern), nullptr);
        root_ = pattern;
        setenv("CANOPY_CACHE_DIR", cache_folder().c_str(), 1);
        unsetenv("CANOPY_CACHE_SIZE");
    }
    void TearDown() override {
        unsetenv("CANOPY_CACHE_DIR");
        unsetenv("CANOPY_CACHE_SIZE");
        std::error_code error;
        fs::remove_all(root_, error);
    }

    std::string cache_folder() const { return root_ + "/cache"; }
    std::string loops() const { return cache_folder() + "/loops"; }
    static void set_limit(std::size_t bytes) { setenv("CANOPY_CACHE_SIZE", std::to_string(bytes).c_str(), 1); }
    static void keep(const std::string& name, CodeKind kind = CodeKind::loops) {
        CodeCache(kind).keep(name, code(name));
    }
    static bool holds(const std::string& name, CodeKind kind = CodeKind::loops) {
        const auto found = CodeCache(kind).find(name);
        if (found) EXPECT_EQ(*found, code(name));
        return found.has_value();
    }
    // Makes the file look as if it was last used this many seconds ago.
    static void age(const std::string& path, long seconds) {
        timespec times[2] = {{time(nullptr) - seconds, 0}, {time(nullptr) - seconds, 0}};
        ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(cache_folder()))
            if (entry.is_regular_file()) names.push_back(entry.path().filename());
        return names;
    }
    std::uintmax_t bytes() const {
        std::uintmax_t total = 0;
        for (const auto& entry : fs::recursive_directory_iterator(cache_folder()))
            if (entry.is_regular_file()) total += entry.file_size();
        return total;
    }

    std::string root_;
};

// Runs `body` in a child process and returns its status. Bodies use no expectations; they return true on success.
int status_of_child(const std::function<bool()>& body) {
    const pid_t child = fork();
    if (child == 0) _exit(body() ? 0 : 1);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

TEST_F(CodeCacheTest, FindsWhatItKept) {
    EXPECT_FALSE(holds("one"));
    keep("one");
    keep("one", CodeKind::recipes);
    EXPECT_TRUE(holds("one"));
    EXPECT_TRUE(holds("one", CodeKind::recipes));
    EXPECT_FALSE(holds("two"));
    EXPECT_EQ(files().size(), 2u);
}

TEST_F(CodeCacheTest, LooksInTheUsersCacheByDefault) {
    unsetenv("CANOPY_CACHE_DIR");
    setenv("XDG_CACHE_HOME", root_.c_str(), 1);
    EXPECT_EQ(CodeCache(CodeKind::loops).folder(), root_ + "/canopy/loops");
    unsetenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const std::string before = home ? home : "";
    setenv("HOME", root_.c_str(), 1);
    EXPECT_EQ(CodeCache(CodeKind::loops).folder(), root_ + "/.cache/canopy/loops");
    unsetenv("HOME");
    EXPECT_EQ(CodeCache(CodeKind::loops).folder(), "");
    if (home) setenv("HOME", before.c_str(), 1);
}

TEST_F(CodeCacheTest, ForgetsWhatWasNotUsedForLongest) {
    set_limit(3 * file_size);
    for (const char* name : {"a", "b", "c"}) keep(name);
    age(loops() + "/a", 300);
    age(loops() + "/b", 200);
    age(loops() + "/c", 100);
    EXPECT_TRUE(holds("a"));  // marks it as used now
    keep("d");
    EXPECT_TRUE(holds("a"));
    EXPECT_FALSE(holds("b"));
    EXPECT_TRUE(holds("c"));
    EXPECT_TRUE(holds("d"));
    EXPECT_EQ(bytes(), 3 * file_size);
}

TEST_F(CodeCacheTest, TheLimitIsForAllKindsTogether) {
    set_limit(2 * file_size);
    keep("a", CodeKind::recipes);
    keep("b");
    age(cache_folder() + "/recipes/a", 100);
    keep("c");
    EXPECT_FALSE(holds("a", CodeKind::recipes));
    EXPECT_TRUE(holds("b"));
    EXPECT_TRUE(holds("c"));
}

TEST_F(CodeCacheTest, ASmallerLimitTakesEffectAtTheNextEntry) {
    for (int i = 0; i < 10; ++i) keep(std::to_string(i));
    EXPECT_EQ(files().size(), 10u);
    set_limit(4 * file_size);
    keep("new");
    EXPECT_EQ(files().size(), 4u);
    EXPECT_TRUE(holds("new"));
}

TEST_F(CodeCacheTest, WhatIsLargerThanTheLimitIsNotKept) {
    set_limit(2 * file_size);
    keep("small");
    CodeCache(CodeKind::loops).keep("large", code("large", 2 * file_size));
    EXPECT_FALSE(CodeCache(CodeKind::loops).find("large"));
    EXPECT_TRUE(holds("small"));
    EXPECT_EQ(files().size(), 1u);
}

TEST_F(CodeCacheTest, ALimitOfZeroTurnsItOff) {
    keep("before");
    set_limit(0);
    EXPECT_EQ(CodeCache(CodeKind::loops).folder(), "");
    EXPECT_FALSE(holds("before"));
    keep("one");
    EXPECT_FALSE(holds("one"));
    EXPECT_EQ(files(), std::vector<std::string>{"before"});
}

TEST_F(CodeCacheTest, ALimitThatIsNoSizeLeavesTheDefault) {
    setenv("CANOPY_CACHE_SIZE", "a lot", 1);
    keep("one");
    EXPECT_TRUE(holds("one"));
}

TEST_F(CodeCacheTest, FilesOfOthersInItsFoldersAreLeftAlone) {
    set_limit(file_size);
    keep("one");
    fs::create_directories(cache_folder() + "/images");
    const std::string image = cache_folder() + "/images/kernel.o", inner = loops() + "/folder";
    std::ofstream(image) << std::string(5000, 'x');
    fs::create_directories(inner);
    fs::create_symlink(image, loops() + "/link");
    keep("two");
    EXPECT_TRUE(fs::exists(image) && fs::exists(inner) && fs::exists(loops() + "/link"));
    EXPECT_FALSE(CodeCache(CodeKind::loops).find("link"));
    EXPECT_FALSE(CodeCache(CodeKind::loops).find("folder"));
    EXPECT_TRUE(holds("two"));
}

TEST_F(CodeCacheTest, DamagedFilesAreNotUsedAndReplaced) {
    keep("one");
    const std::string path = loops() + "/one";
    for (const std::size_t size : {std::size_t{0}, checksum_size, file_size / 2, file_size - 1}) {
        fs::resize_file(path, size);
        EXPECT_FALSE(holds("one")) << size;
    }
    keep("one");
    EXPECT_TRUE(holds("one"));
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(17).put('?');
    EXPECT_FALSE(holds("one"));
    keep("one");
    EXPECT_TRUE(holds("one"));
    ASSERT_EQ(chmod(path.c_str(), 0666), 0);  // another user could have written it
    EXPECT_FALSE(holds("one"));
}

TEST_F(CodeCacheTest, AFolderThatOthersCanWriteIsNotUsed) {
    keep("one");
    ASSERT_EQ(chmod(loops().c_str(), 0777), 0);
    EXPECT_EQ(CodeCache(CodeKind::loops).folder(), "");
    EXPECT_FALSE(holds("one"));
}

TEST_F(CodeCacheTest, NothingIsKeptWhereThereIsNoFolder) {
    std::ofstream(root_ + "/file") << "in the way";
    setenv("CANOPY_CACHE_DIR", (root_ + "/file").c_str(), 1);
    EXPECT_EQ(CodeCache(CodeKind::loops).folder(), "");
    keep("one");
    EXPECT_FALSE(holds("one"));
    setenv("CANOPY_CACHE_DIR", "/proc/nowhere", 1);
    keep("one");
    EXPECT_FALSE(holds("one"));
}

TEST_F(CodeCacheTest, AFolderThatCannotBeWrittenIsReadOnly) {
    ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
    EXPECT_EQ(status_of_child([&] {
                  constexpr uid_t nobody = 65534;
                  if (geteuid() == 0 && setuid(nobody) != 0) return false;  // root can write everywhere
                  setenv("CANOPY_CACHE_DIR", (root_ + "/other").c_str(), 1);
                  keep("one");
                  if (!holds("one") || chmod((root_ + "/other/loops").c_str(), 0500) != 0) return false;
                  keep("two");
                  const bool right = holds("one") && !holds("two");
                  return chmod((root_ + "/other/loops").c_str(), 0700) == 0 && right;
              }),
              0);
}

// A file size limit makes writes fail half-way, as a full disk does.
TEST_F(CodeCacheTest, ADiskThatIsFullLeavesNothingBehind) {
    keep("before");
    EXPECT_EQ(status_of_child([&] {
                  signal(SIGXFSZ, SIG_IGN);
                  const rlimit limit = {file_size / 2, RLIM_INFINITY};
                  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
                  keep("one");
                  return !holds("one") && holds("before");
              }),
              0);
    EXPECT_EQ(files(), std::vector<std::string>{"before"});
    keep("one");
    EXPECT_TRUE(holds("one"));
}

TEST_F(CodeCacheTest, WhatACrashedWriterLeftGoesAfterAnHour) {
    keep("one");
    const std::string young = loops() + "/two.ABCDEF.part", old = loops() + "/three.ABCDEF.part";
    std::ofstream(young) << "half";
    std::ofstream(old) << "half";
    age(old, 2 * 3600);
    keep("two");
    EXPECT_TRUE(fs::exists(young));
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(holds("one") && holds("two"));
}

// Writers are killed at random points; the next one must find only complete entries.
TEST_F(CodeCacheTest, KilledWritersLeaveWholeEntriesOrNone) {
    set_limit(20 * file_size);
    for (int round = 0; round < 20; ++round) {
        int ready[2];
        ASSERT_EQ(pipe(ready), 0);
        const pid_t child = fork();
        if (child == 0) {
            for (int i = 0;; ++i) {
                keep(std::to_string(i % 30));
                if (i == round && write(ready[1], "x", 1) != 1) _exit(1);
            }
        }
        close(ready[1]);  // so that the end of a child that fails ends the reading
        char told = 0;
        EXPECT_EQ(read(ready[0], &told, 1), 1);
        kill(child, SIGKILL);
        EXPECT_EQ(waitpid(child, nullptr, 0), child);
        close(ready[0]);
        int found = 0;
        for (int i = 0; i < 30; ++i) found += holds(std::to_string(i));
        EXPECT_GE(found, 1);
    }
    keep("last");
    EXPECT_TRUE(holds("last"));
    EXPECT_LE(bytes(), 20 * file_size);
}

TEST_F(CodeCacheTest, ManyProcessesShareIt) {
    constexpr int processes = 4, names = 40, rounds = 200;
    set_limit(10 * file_size);
    std::vector<pid_t> children;
    for (int process = 0; process < processes; ++process) {
        const pid_t child = fork();
        if (child == 0) {
            std::srand(static_cast<unsigned>(process));
            for (int round = 0; round < rounds; ++round) {
                const std::string name = std::to_string(std::rand() % names);
                if (const auto found = CodeCache(CodeKind::loops).find(name))
                    if (*found != code(name)) _exit(1);
                keep(name);
            }
            _exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    keep("last");
    EXPECT_TRUE(holds("last"));
    EXPECT_LE(bytes(), 10 * file_size);
    for (const std::string& name : files()) EXPECT_TRUE(holds(name)) << name;
}

}  // namespace
}  // namespace canopy
