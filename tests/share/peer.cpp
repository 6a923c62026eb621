// SPDX-License-Identifier: Apache-2.0
#include "peer.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "until.h"
#include "wire.h"

extern char** environ;

Peer::Peer() {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, sockets[1], sockets[1]);
    std::string number = std::to_string(sockets[1]);
    char program[] = "/proc/self/exe";
    char role[] = "--peer";
    char* arguments[] = {program, role, number.data(), nullptr};
    if (posix_spawn(&process_, program, &actions, nullptr, arguments, environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&actions);
    close(sockets[1]);
    socket_ = sockets[0];
}

Peer::~Peer() {
    kill();
    close(socket_);
}

void Peer::send(const std::string& line) const { ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL); }

Answer Peer::receive() const {
    char text[8192];
    pollfd state{socket_, POLLIN, 0};
    const auto limit = std::chrono::milliseconds(patience).count();
    if (poll(&state, 1, static_cast<int>(limit)) <= 0) return {};
    const ssize_t size = recv(socket_, text, sizeof text - 1, 0);
    if (size <= 0) return {};
    text[size] = 0;
    Answer answer;
    std::istringstream words(text);
    words >> answer.code >> std::ws;
    std::getline(words, answer.value);
    return answer;
}

Answer Peer::ask(const std::string& line) const {
    send(line);
    return receive();
}

void Peer::kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
}

int Peer::finish() {
    send("end");
    int status = 0;
    if (process_ <= 0 || waitpid(process_, &status, 0) != process_) return -1;
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

namespace {

std::string hex(const void* bytes, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", static_cast<const unsigned char*>(bytes)[i]);
        text += two;
    }
    return text;
}

void unhex(const std::string& text, void* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size && 2 * i + 1 < text.size(); ++i)
        static_cast<unsigned char*>(bytes)[i] =
            static_cast<unsigned char>(std::strtoul(text.substr(2 * i, 2).c_str(), nullptr, 16));
}

struct Served {
    aclrtStream stream = nullptr;
    std::vector<void*> addresses;
    std::vector<aclrtNotify> notifies;
    std::vector<aclrtEvent> events;
    std::vector<aclrtDrvMemHandle> handles;

    // The code of the call; `words` holds its arguments and `out` takes what it gave.
    int call(const std::string& verb, std::istringstream& words, std::ostringstream& out) {
        std::string key;
        std::uint64_t number = 0, other = 0;
        if (verb == "start") {
            words >> number;
            int code = aclInit(nullptr);
            if (code == 0) code = aclrtSetDevice(static_cast<int>(number));
            return code != 0 ? code : aclrtCreateStream(&stream);
        }
        if (verb == "user") return words >> number, setresuid(number, number, number) == 0 ? 0 : -1;
        if (verb == "intrude") {  // process, user: how many bytes its porter answers to a stranger
            words >> number >> other;
            const int stranger = wire::connect_to(static_cast<std::uint32_t>(number), static_cast<uid_t>(other));
            wire::Head head;
            wire::send(stranger, &head, sizeof head, {});
            out << std::max<ssize_t>(wire::receive(stranger, &head, sizeof head), 0);
            close(stranger);
            return stranger >= 0 ? 0 : -1;
        }
        if (verb == "import") {
            words >> key >> number;
            addresses.push_back(nullptr);
            const int code = aclrtIpcMemImportByKey(&addresses.back(), key.c_str(), number);
            out << reinterpret_cast<std::uint64_t>(addresses.back());
            if (code != 0) addresses.pop_back();
            return code;
        }
        if (verb == "export") {  // a new block of that size, filled with a value
            words >> number >> other;
            char text[65] = {};
            addresses.push_back(nullptr);
            int code = aclrtMalloc(&addresses.back(), number, ACL_MEM_MALLOC_NORMAL_ONLY);
            if (code == 0) code = aclrtMemset(addresses.back(), number, static_cast<int>(other), number);
            if (code == 0) code = aclrtIpcMemGetExportKey(addresses.back(), number, text, sizeof text, 1);
            out << text;
            return code;
        }
        if (verb == "close") {
            words >> key;
            return aclrtIpcMemClose(key.c_str());
        }
        if (verb == "free") return words >> number, aclrtFree(addresses.at(number));
        if (verb == "fill") {  // address, offset, bytes, value
            std::uint64_t size = 0, value = 0;
            words >> number >> other >> size >> value;
            return aclrtMemset(static_cast<char*>(addresses.at(number)) + other, size, static_cast<int>(value), size);
        }
        if (verb == "same") {  // address, bytes, value: how many of the bytes have the value
            std::uint64_t value = 0;
            words >> number >> other >> value;
            std::vector<unsigned char> bytes(other);
            const int code = aclrtMemcpy(bytes.data(), other, addresses.at(number), other, ACL_MEMCPY_DEVICE_TO_HOST);
            std::uint64_t count = 0;
            for (const unsigned char byte : bytes) count += byte == value;
            out << count;
            return code;
        }
        if (verb == "attributes") {
            words >> number;
            aclrtPtrAttributes attributes{};
            const int code = aclrtPointerGetAttributes(addresses.at(number), &attributes);
            out << attributes.location.type << ' ' << attributes.location.id;
            return code;
        }
        if (verb == "notify") {
            notifies.push_back(nullptr);
            words >> key >> number;
            const int code = aclrtNotifyImportByKey(&notifies.back(), key.c_str(), number);
            if (code != 0) notifies.pop_back();
            return code;
        }
        if (verb == "make_notify") {
            char text[65] = {};
            notifies.push_back(nullptr);
            int code = aclrtCreateNotify(&notifies.back(), 0);
            if (code == 0) code = aclrtNotifyGetExportKey(notifies.back(), text, sizeof text, 2);
            out << text;
            return code;
        }
        if (verb == "notify_number") {
            std::uint32_t id = 0;
            words >> number;
            const int code = aclrtGetNotifyId(notifies.at(number), &id);
            out << id;
            return code;
        }
        if (verb == "record_notify") return words >> number, aclrtRecordNotify(notifies.at(number), stream);
        if (verb == "wait_notify") return words >> number, aclrtWaitAndResetNotify(notifies.at(number), stream, 0);
        if (verb == "destroy_notify") return words >> number, aclrtDestroyNotify(notifies.at(number));
        if (verb == "event") {
            aclrtIpcEventHandle handle{};
            words >> key;
            unhex(key, &handle, sizeof handle);
            events.push_back(nullptr);
            const int code = aclrtIpcOpenEventHandle(handle, &events.back());
            if (code != 0) events.pop_back();
            return code;
        }
        if (verb == "make_event") {
            aclrtIpcEventHandle handle{};
            events.push_back(nullptr);
            int code = aclrtCreateEventExWithFlag(&events.back(), ACL_EVENT_IPC);
            if (code == 0) code = aclrtIpcGetEventHandle(events.back(), &handle);
            out << hex(&handle, sizeof handle);
            return code;
        }
        if (verb == "record_event") return words >> number, aclrtRecordEvent(events.at(number), stream);
        if (verb == "wait_event") return words >> number, aclrtStreamWaitEvent(stream, events.at(number));
        if (verb == "synchronise_event") return words >> number, aclrtSynchronizeEvent(events.at(number));
        if (verb == "query_event") {
            aclrtEventRecordedStatus status{};
            words >> number;
            const int code = aclrtQueryEventStatus(events.at(number), &status);
            out << static_cast<int>(status);
            return code;
        }
        if (verb == "destroy_event") return words >> number, aclrtDestroyEvent(events.at(number));
        if (verb == "synchronise") return aclrtSynchronizeStream(stream);
        if (verb == "block") {  // the stream, until `unblock`
            notifies.push_back(nullptr);
            const int code = aclrtCreateNotify(&notifies.back(), 0);
            out << notifies.size() - 1;
            return code != 0 ? code : aclrtWaitAndResetNotify(notifies.back(), stream, 0);
        }
        if (verb == "handle") {
            words >> number >> other;
            handles.push_back(nullptr);
            const int code = aclrtMemImportFromShareableHandle(number, static_cast<int>(other), &handles.back());
            if (code != 0) handles.pop_back();
            return code;
        }
        if (verb == "map") {  // handle, bytes: at new addresses
            words >> number >> other;
            void* base = nullptr;
            int code = aclrtReserveMemAddress(&base, other, 0, nullptr, 0);
            if (code == 0) code = aclrtMapMem(base, other, 0, handles.at(number), 0);
            if (code != 0) return code;
            aclrtMemAccessDesc access{};
            access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
            access.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
            addresses.push_back(base);
            return aclrtMemSetAccess(base, other, &access, 1);
        }
        if (verb == "unmap") {
            words >> number;
            const int code = aclrtUnmapMem(addresses.at(number));
            return code != 0 ? code : aclrtReleaseMemAddress(addresses.at(number));
        }
        if (verb == "free_handle") return words >> number, aclrtFreePhysical(handles.at(number));
        if (verb == "fork") {  // a process that lives on and does nothing
            const pid_t child = fork();
            if (child == 0)
                for (;;) pause();
            out << child;
            return child > 0 ? 0 : -1;
        }
        if (verb == "share_together") {  // several threads are the first to share something
            std::atomic<int> code{0};
            std::vector<std::thread> threads;
            for (int thread = 0; thread < 6; ++thread)
                threads.emplace_back([&code, thread] {
                    char text[65] = {};
                    void* memory = nullptr;
                    aclrtNotify notify = nullptr;
                    const auto must = [&](int result) {
                        if (result != 0) code = result;
                    };
                    must(aclrtSetDevice(0));
                    if (thread % 2) {
                        must(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
                        must(aclrtIpcMemGetExportKey(memory, 4096, text, sizeof text, 1));
                        must(aclrtIpcMemClose(text));
                        must(aclrtFree(memory));
                    } else {
                        must(aclrtCreateNotify(&notify, 0));
                        must(aclrtNotifyGetExportKey(notify, text, sizeof text, 2));
                        must(aclrtDestroyNotify(notify));
                    }
                });
            for (std::thread& thread : threads) thread.join();
            return code;
        }
        if (verb == "churn") {  // imports and closes for ever: somebody will kill this process
            words >> key;
            for (;;) {
                void* address = nullptr;
                if (const int code = aclrtIpcMemImportByKey(&address, key.c_str(), 0); code != 0) return code;
                if (const int code = aclrtIpcMemClose(key.c_str()); code != 0) return code;
            }
        }
        if (verb == "churn_notify") {
            words >> key;
            for (;;) {
                aclrtNotify notify = nullptr;
                if (const int code = aclrtNotifyImportByKey(&notify, key.c_str(), 0); code != 0) return code;
                aclrtRecordNotify(notify, stream);
                aclrtSynchronizeStream(stream);
                aclrtDestroyNotify(notify);
            }
        }
        if (verb == "churn_event") {
            words >> number;
            for (;;) {
                aclrtRecordEvent(events.at(number), stream);
                aclrtSynchronizeStream(stream);
            }
        }
        return -2;
    }
};

}  // namespace

int serve_peer(int socket) {
    Served served;
    for (;;) {
        char text[8192];
        const ssize_t size = recv(socket, text, sizeof text - 1, 0);
        if (size <= 0) return 0;
        text[size] = 0;
        std::istringstream words(text);
        std::string verb;
        words >> verb;
        if (verb == "end") return 0;
        std::ostringstream out;
        const int code = served.call(verb, words, out);
        const std::string reply = std::to_string(code) + " " + out.str();
        if (::send(socket, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return 1;
    }
}
