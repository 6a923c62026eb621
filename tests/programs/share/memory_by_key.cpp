// SPDX-License-Identifier: Apache-2.0
// Device memory by key, with a list of processes and without: a kernel of one process writes, nobody synchronises, and
// a kernel of the other process reads what was written. The processes close in the order in which programs do it: the
// one that made the key does not wait for the other.
#include "partner.h"

namespace {

constexpr std::size_t bytes = 1 << 20;

int import() {
    programs::Device device;
    const programs::Line other = programs::starter();
    other.give(programs::own_number());
    const auto key = other.get<programs::Key>();
    void* memory = nullptr;
    CHECK(aclrtIpcMemImportByKey(&memory, key.text, ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
    aclrtStream stream = programs::new_stream();
    programs::Kernels kernels;
    CHECK(kernels.launch("add_one", 1, stream, memory));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(programs::to_host(static_cast<std::uint32_t*>(memory), 1)[0] == 124);
    other.tell();
    CHECK(aclrtIpcMemClose(key.text));
    aclrtFree(memory);  // programs do so and ignore the code; it frees nothing
    CHECK(aclrtDestroyStreamForce(stream));
    return 0;
}

void share(bool listed) {
    programs::Partner importer("import");
    aclrtStream stream = programs::new_stream();
    void* memory = nullptr;
    CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    programs::Kernels kernels;
    CHECK(kernels.launch("set_to", 1, stream, memory, 123u));
    programs::Key key;
    CHECK(aclrtIpcMemGetExportKey(
        memory, bytes, key.text, sizeof key.text,
        listed ? ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT : ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    std::int32_t process = importer.get<std::int32_t>();
    if (listed) CHECK(aclrtIpcMemSetImportPid(key.text, &process, 1));
    importer.give(key);
    importer.wait();
    CHECK(aclrtIpcMemClose(key.text));
    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStreamForce(stream));
}

}  // namespace

int main(int count, char**) {
    if (count > 1) return import();
    programs::Device device;
    share(true);
    share(false);
    std::printf("memory_by_key: one word in two processes, with a list and without\n");
}
