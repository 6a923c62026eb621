// SPDX-License-Identifier: Apache-2.0
// The program of the tests, and what it does when a test started it as a partner.
#include "queue_fixture.h"

namespace {

void tell(const std::string& line) {
    const std::string text = line + "\n";
    if (::write(1, text.data(), text.size()) < 0) ::_exit(3);
}
void wait_for_line() {
    char letter = 0;
    while (::read(0, &letter, 1) == 1 && letter != '\n') continue;
}

int play_attach(uint32_t queue) {
    uint32_t rights = 0;
    tell("attach " + std::to_string(acltdtAttachQueue(queue, 0, &rights)));
    wait_for_line();
    const int code = acltdtAttachQueue(queue, 20000, &rights);
    tell("attach " + std::to_string(code) + " " + std::to_string(rights));
    uint64_t value = 0;
    tell("put " + std::to_string(put(queue, 17)));
    tell("take " + std::to_string(take(queue, value)));
    tell("grant " + std::to_string(acltdtGrantQueue(queue, ::getpid(), 1, 0)));
    tell("destroy " + std::to_string(acltdtDestroyQueue(queue)));
    return 0;
}

int play_producer(uint32_t queue) {
    uint32_t rights = 0;
    if (acltdtAttachQueue(queue, 20000, &rights) != 0) return 1;
    for (uint64_t i = 0; i < 6; ++i) {
        acltdtBuf buffer = nullptr;
        void* data = nullptr;
        size_t size = 0;
        const uint64_t value = 100 + i;
        if (acltdtAllocBuf(100000, 0, &buffer) != 0 || acltdtGetBufData(buffer, &data, &size) != 0) return 2;
        std::memcpy(data, &value, sizeof value);
        acltdtSetBufDataLen(buffer, 100000);
        if (acltdtEnqueue(queue, buffer, 1000) != 0) return 3;
    }
    tell("done");
    ::pause();
    return 0;
}

int play_creator(int32_t other) {
    acltdtQueueAttr* attr = acltdtCreateQueueAttr();
    uint32_t queue = 0;
    if (acltdtCreateQueue(attr, &queue) != 0 || put(queue, 1) != 0) return 1;
    if (acltdtGrantQueue(queue, other, all_rights, 0) != 0) return 2;
    tell(std::to_string(queue));
    ::pause();
    return 0;
}

int play_writer(uint32_t queue) {
    uint32_t rights = 0;
    if (acltdtAttachQueue(queue, 20000, &rights) != 0) return 1;
    for (uint64_t i = 0; i < 300; ++i) {
        if (i % 3 != 0) {
            if (put(queue, i, 20000) != 0) return 2;
            continue;
        }
        std::vector<uint64_t> large(64, i);
        if (acltdtEnqueueData(queue, large.data(), 512, nullptr, 0, 20000, 0) != 0) return 3;
    }
    wait_for_line();  // until the other end closes
    return 0;
}

int play_reader(uint32_t queue) {
    uint32_t rights = 0;
    if (acltdtAttachQueue(queue, 20000, &rights) != 0) return 1;
    for (uint64_t i = 0; i < 300; ++i) {
        std::vector<uint64_t> large(64);
        size_t size = 0;
        if (const int code = acltdtDequeueData(queue, large.data(), 512, &size, nullptr, 0, 20000); code != 0) {
            tell("failed with " + std::to_string(code) + " at " + std::to_string(i));
            return 2;
        }
        if (large[0] != i) {
            tell("item " + std::to_string(i) + " is " + std::to_string(large[0]));
            return 3;
        }
    }
    tell("got 300 in order");
    return 0;
}

int play_counter(uint32_t queue) {
    uint32_t rights = 0;
    if (acltdtAttachQueue(queue, 20000, &rights) != 0) return 1;
    std::vector<uint64_t> large(32);
    for (uint64_t i = 0;; ++i) {
        large[0] = i;
        const int code = i % 2 ? put(queue, i, -1) : acltdtEnqueueData(queue, large.data(), 8, nullptr, 0, -1, 0);
        if (code != 0) return 2;
        if (i < 4000) tell(std::to_string(i + 1));
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 3 && arguments[1][0] != '-') {
        const std::string role = arguments[1];
        const auto argument = static_cast<uint32_t>(std::stoul(arguments[2]));
        const std::map<std::string, std::function<int()>> roles{
            {"attach", [&] { return play_attach(argument); }},
            {"producer", [&] { return play_producer(argument); }},
            {"creator", [&] { return play_creator(static_cast<int32_t>(argument)); }},
            {"writer", [&] { return play_writer(argument); }},
            {"reader", [&] { return play_reader(argument); }},
            {"counter", [&] { return play_counter(argument); }},
        };
        if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 9;
        return roles.at(role)();
    }
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
