// SPDX-License-Identifier: Apache-2.0
// Base of the tests of objects between processes: device 0, a stream, and a check that nothing is left.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <string>

#include "fixtures/fixture.h"
#include "peer.h"
#include "until.h"

class ShareTest : public conformance::DeviceTest {
protected:
    void TearDown() override {
        // What another process had of this one comes back when the porter has heard of its end.
        EXPECT_TRUE(eventually([] {
            CanopyLiveObjects live = {};
            canopyCountLiveObjects(&live);
            return live.device_bytes == 0;
        }));
        DeviceTest::TearDown();
    }
    static std::set<std::string> entries(const char* folder) {
        std::set<std::string> names;
        if (DIR* open = opendir(folder)) {
            while (const dirent* entry = readdir(open)) names.insert(entry->d_name);
            closedir(open);
        }
        return names;
    }
    static std::size_t descriptors() { return entries("/proc/self/fd").size(); }
    static std::size_t mappings() {
        std::ifstream maps("/proc/self/maps");
        std::size_t lines = 0;
        for (std::string line; std::getline(maps, line);) ++lines;
        return lines;
    }
    static bool has_thread(const std::string& name) {
        for (const std::string& thread : entries("/proc/self/task")) {
            std::string found;
            std::getline(std::ifstream("/proc/self/task/" + thread + "/comm") >> std::ws, found);
            if (found == name) return true;
        }
        return false;
    }

    static std::size_t free_memory() {
        std::size_t free = 0, total = 0;
        EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
        return free;
    }
    static std::string export_key(void* memory, std::size_t size, std::uint64_t flags = 1) {
        char key[65] = {};
        EXPECT_ACL_OK(aclrtIpcMemGetExportKey(memory, size, key, sizeof key, flags));
        return key;
    }
    // Memory that the test frees itself.
    static void* filled(std::size_t size, int value) {
        void* memory = nullptr;
        EXPECT_ACL_OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_NORMAL_ONLY));
        EXPECT_ACL_OK(aclrtMemset(memory, size, value, size));
        return memory;
    }
    static std::size_t same(const void* memory, std::size_t size, unsigned char value) {
        std::vector<unsigned char> bytes(size);
        EXPECT_ACL_OK(aclrtMemcpy(bytes.data(), size, memory, size, ACL_MEMCPY_DEVICE_TO_HOST));
        std::size_t count = 0;
        for (const unsigned char byte : bytes) count += byte == value;
        return count;
    }
};

#define EXPECT_PEER(expected, peer, line)                                     \
    do {                                                                      \
        const Answer expect_answer = (peer).ask(line);                        \
        EXPECT_EQ(expect_answer.code, (expected)) << "the peer's " << (line); \
    } while (false)
