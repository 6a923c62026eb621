// SPDX-License-Identifier: Apache-2.0
// Physical memory between processes: by a 64-bit handle with a list of processes and without, and by a fabric handle
// that travels through a socket. Each process maps it at its own address.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "partner.h"

namespace {

aclrtPhysicalMemProp properties() {
    aclrtPhysicalMemProp wanted = {};
    wanted.memAttr = ACL_HBM_MEM_HUGE;
    wanted.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    return wanted;
}

// Physical memory at an address of this process.
class Mapped {
public:
    explicit Mapped(aclrtDrvMemHandle handle) : handle_(handle) {
        aclrtPhysicalMemProp wanted = properties();
        std::size_t size = 0;
        CHECK(aclrtMemGetAllocationGranularity(&wanted, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
        CHECK(aclrtReserveMemAddress(&address_, size, 0, nullptr, 0));
        CHECK(aclrtMapMem(address_, size, 0, handle, 0));
        aclrtMemAccessDesc access = {};
        access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
        access.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
        CHECK(aclrtMemSetAccess(address_, size, &access, 1));
    }
    ~Mapped() {
        CHECK(aclrtUnmapMem(address_));
        CHECK(aclrtReleaseMemAddress(address_));
        CHECK(aclrtFreePhysical(handle_));
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;
    [[nodiscard]] std::uint32_t* words() const { return static_cast<std::uint32_t*>(address_); }

private:
    aclrtDrvMemHandle handle_;
    void* address_ = nullptr;
};

aclrtDrvMemHandle new_memory() {
    aclrtPhysicalMemProp wanted = properties();
    std::size_t size = 0;
    CHECK(aclrtMemGetAllocationGranularity(&wanted, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
    aclrtDrvMemHandle handle = nullptr;
    CHECK(aclrtMallocPhysical(&handle, size, &wanted, 0));
    return handle;
}

void write(const Mapped& memory, std::uint32_t value) {
    aclrtStream stream = programs::new_stream();
    programs::Kernels kernels;
    CHECK(kernels.launch("set_to", 1, stream, memory.words(), value));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtDestroyStreamForce(stream));
}

sockaddr_in local_address(std::uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = port;
    return address;
}

int import_handle() {
    programs::Device device;
    const programs::Line other = programs::starter();
    other.give(programs::own_number());
    aclrtDrvMemHandle handle = nullptr;
    CHECK(aclrtMemImportFromShareableHandle(other.get<std::uint64_t>(), 0, &handle));
    {
        Mapped memory(handle);
        REQUIRE(programs::to_host(memory.words(), 1)[0] == 123);
        write(memory, 456);
    }
    other.tell();
    return 0;
}

int import_fabric() {
    programs::Device device;
    const programs::Line other = programs::starter();
    const int incoming = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = local_address(0);
    socklen_t size = sizeof address;
    REQUIRE(::bind(incoming, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::getsockname(incoming, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    other.give(address.sin_port);
    aclrtMemFabricHandle fabric;
    CHECK(aclrtMemset(&fabric, sizeof fabric, 0, sizeof fabric));
    pollfd ready{incoming, POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 20000) == 1 && ::recv(incoming, &fabric, sizeof fabric, 0) == sizeof fabric);
    aclrtDrvMemHandle handle = nullptr;
    CHECK(aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &handle));
    {
        Mapped memory(handle);
        REQUIRE(programs::to_host(memory.words(), 1)[0] == 123);
        write(memory, 456);
    }
    ::close(incoming);
    other.tell();
    return 0;
}

void share_handle(bool listed) {
    programs::Partner importer("handle");
    aclrtDrvMemHandle handle = new_memory();
    Mapped memory(handle);
    write(memory, 123);
    std::uint64_t shareable = 0;
    CHECK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE,
                                          listed ? 0 : ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &shareable));
    std::int32_t process = importer.get<std::int32_t>();
    if (listed) CHECK(aclrtMemSetPidToShareableHandle(shareable, &process, 1));
    importer.give(shareable);
    importer.wait();
    REQUIRE(programs::to_host(memory.words(), 1)[0] == 456);
}

void share_fabric() {
    programs::Partner importer("fabric");
    aclrtDrvMemHandle handle = new_memory();
    Mapped memory(handle);
    write(memory, 123);
    aclrtMemFabricHandle fabric;
    CHECK(aclrtMemExportToShareableHandleV2(handle, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                            ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric));
    const sockaddr_in address = local_address(importer.get<std::uint16_t>());
    const int outgoing = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    REQUIRE(::sendto(outgoing, &fabric, sizeof fabric, 0, reinterpret_cast<const sockaddr*>(&address),
                     sizeof address) == sizeof fabric);
    ::close(outgoing);
    importer.wait();
    REQUIRE(programs::to_host(memory.words(), 1)[0] == 456);
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) return std::string(arguments[1]) == "fabric" ? import_fabric() : import_handle();
    programs::Device device;
    share_handle(true);
    share_handle(false);
    share_fabric();
    std::printf("physical_memory: by handle with a list, by handle without, by fabric handle\n");
}
