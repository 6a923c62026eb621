// SPDX-License-Identifier: Apache-2.0
// A notify and memory between processes on two devices, with a list of processes and without: the stream of one waits
// until the other has written, and its kernel then finds what was written.
#include "partner.h"

namespace {

constexpr std::int32_t waiting_device = 2, writing_device = 3;

struct Keys {
    programs::Key memory, notify;
};

void reach(std::int32_t other) {
    std::int32_t can = 0, own = 0;
    CHECK(aclrtGetDevice(&own));
    CHECK(aclrtDeviceCanAccessPeer(&can, own, other));
    REQUIRE(can == 1);
    CHECK(aclrtDeviceEnablePeerAccess(other, 0));
}

int write() {
    programs::Device device(writing_device);
    reach(waiting_device);
    const programs::Line other = programs::starter();
    other.give(programs::own_number());
    const auto keys = other.get<Keys>();
    void* memory = nullptr;
    CHECK(aclrtIpcMemImportByKey(&memory, keys.memory.text, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
    aclrtNotify notify = nullptr;
    CHECK(aclrtNotifyImportByKey(&notify, keys.notify.text, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
    other.wait();  // until the other stream waits
    aclrtStream stream = programs::new_stream();
    programs::Kernels kernels;
    CHECK(kernels.launch("set_to", 1, stream, memory, 41u));
    CHECK(aclrtRecordNotify(notify, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtIpcMemClose(keys.memory.text));
    CHECK(aclrtDestroyNotify(notify));
    CHECK(aclrtDestroyStreamForce(stream));
    return 0;
}

void wait(bool listed) {
    programs::Partner writer("write");
    aclrtStream stream = programs::new_stream();
    std::uint32_t* word = programs::to_device(std::vector<std::uint32_t>(1024, 0));
    aclrtNotify notify = nullptr;
    CHECK(aclrtCreateNotify(&notify, 0));
    Keys keys;
    CHECK(aclrtIpcMemGetExportKey(word, 4096, keys.memory.text, sizeof keys.memory.text,
                                  ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    CHECK(aclrtNotifyGetExportKey(
        notify, keys.notify.text, sizeof keys.notify.text,
        listed ? ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT : ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    std::int32_t process = writer.get<std::int32_t>();
    if (listed) CHECK(aclrtNotifySetImportPid(notify, &process, 1));
    writer.give(keys);
    programs::Kernels kernels;
    CHECK(aclrtWaitAndResetNotify(notify, stream, 0));
    CHECK(kernels.launch("add_one", 1, stream, word));
    CHECK_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 1));
    writer.tell();
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(programs::to_host(word, 1)[0] == 42);
    CHECK(aclrtIpcMemClose(keys.memory.text));
    CHECK(aclrtFree(word));
    CHECK(aclrtDestroyNotify(notify));
    CHECK(aclrtDestroyStreamForce(stream));
}

}  // namespace

int main(int count, char**) {
    if (count > 1) return write();
    programs::Device device(waiting_device);
    reach(writing_device);
    wait(true);
    wait(false);
    std::printf("notifies: devices %d and %d, with a list and without\n", waiting_device, writing_device);
}
