// SPDX-License-Identifier: Apache-2.0
// canopy::Dispatcher: inner runtimes on a device's CPU cores, for host programs (C++17, nothing to link but the runtime
// library). It writes the descriptor of libcanopy_dispatcher.so, loads it, looks its functions up and launches them:
//
//     canopy::Dispatcher dispatcher;
//     std::uint64_t runtime = 0;
//     dispatcher.open();                                    // on the device that is current
//     dispatcher.load("libcontrol.so", runtime);            // or bytes; many may be loaded at once
//     dispatcher.init(runtime, &settings, sizeof settings);
//     dispatcher.run(stream, runtime, 4, &work, sizeof work);
//     dispatcher.swap(runtime, "libcontrol_2.so");          // while others run it
//     dispatcher.unload(runtime);
//
// Every call returns an Answer: 0, a code of the acl interface, a value of CanopyDispatcherResult, or what the inner
// runtime's init returned; and why. load, init, swap and unload wait until they are done; run does not, and what it
// fails with comes at the next synchronisation of its stream (507018, and newest_text()).
//
// Threads: open and close by one thread, alone; everything else by any, each with the same device current.
#ifndef CANOPY_DISPATCHER_H
#define CANOPY_DISPATCHER_H

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "canopy/dispatcher_abi.h"

namespace canopy {

class Dispatcher {
public:
    struct Answer {
        int code = 0;
        std::string text;
        explicit operator bool() const noexcept { return code == 0; }
    };

    Dispatcher() = default;
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;
    ~Dispatcher() { close(); }

    // library: of the dispatcher; empty: the one that lies beside the runtime library.
    Answer open(const std::string& library = std::string()) {
        if (binary_) return {};
        std::string path = library.empty() ? own_library() : library;
        char absolute[PATH_MAX];
        if (path.empty() || !realpath(path.c_str(), absolute))
            return {ACL_ERROR_RT_PARAM_INVALID, "the dispatcher " + (path.empty() ? default_name() : path) +
                                                    " was not found beside the runtime library"};
        Answer answer = load_dispatcher(absolute);
        for (const auto& wanted : {Wanted{"CanopyDispatcherControl", &control_}, Wanted{run_name(), &run_},
                                   Wanted{"CanopyDispatcherRunBlocks", &run_blocks_}})
            if (answer) answer = acl(aclrtBinaryGetFunction(binary_, wanted.name, wanted.function));
        if (answer) answer = acl(aclrtGetDevice(&device_));
        if (answer) answer = acl(aclrtCreateStream(&stream_));
        if (answer)
            answer = acl(aclrtMalloc(reinterpret_cast<void**>(&block_), sizeof(*block_), ACL_MEM_MALLOC_HUGE_FIRST));
        if (!answer) close();
        return answer;
    }

    // Unloads what is still loaded. Launches must have ended.
    Answer close() {
        Answer answer;
        while (!loaded_.empty()) answer = first_of(answer, unload(std::uint64_t(loaded_.back())));
        if (block_) answer = first_of(answer, acl(aclrtFree(block_)));
        if (stream_) answer = first_of(answer, acl(aclrtDestroyStream(stream_)));
        if (binary_) answer = first_of(answer, acl(aclrtBinaryUnLoad(binary_)));
        block_ = nullptr;
        stream_ = nullptr;
        binary_ = nullptr;
        return answer;
    }

    // The same bytes loaded twice are one runtime; it is unloaded as often as it was loaded.
    Answer load(const void* image, std::size_t length, std::uint64_t& runtime) {
        runtime = 0;
        std::lock_guard<std::mutex> guard(mutex_);
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_LOAD;
        request.arguments.load = {0, length, static_cast<std::uint64_t>(device_), 0};
        Answer answer = ask(request, {{image, length, &request.arguments.load.image}});
        if (!answer) return answer;
        runtime = request.arguments.load.runtime;
        loaded_.push_back(runtime);
        return answer;
    }
    Answer load(const std::string& file, std::uint64_t& runtime) {
        runtime = 0;
        std::string bytes;
        Answer answer = read_file(file, bytes);
        return answer ? load(bytes.data(), bytes.size(), runtime) : answer;
    }

    // Calls the runtime's init with a copy of the arguments that lasts as long as the call.
    Answer init(std::uint64_t runtime, const void* arguments = nullptr, std::size_t size = 0) {
        std::lock_guard<std::mutex> guard(mutex_);
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_INIT;
        request.arguments.call.runtime = runtime;
        return ask(request, {{arguments, size, &request.arguments.call.arguments}});
    }

    // Puts the runtime's run into the stream, with a copy of the arguments for the whole launch. All blocks reach the
    // same code, even when it is swapped between them.
    Answer run(aclrtStream stream, std::uint64_t runtime, std::uint32_t blocks, const void* arguments = nullptr,
               std::size_t size = 0) {
        if (!binary_) return not_open();
        if (blocks == 1) return launch(run_, stream, 1, CanopyDispatcherCall{runtime, 0}, arguments, size);
        return launch(run_blocks_, stream, blocks, CanopyDispatcherGang{runtime, 0, 0, blocks, blocks}, arguments,
                      size);
    }

    // Another image behind the same id. Its init is called before the switch when there are arguments for it.
    Answer swap(std::uint64_t runtime, const void* image, std::size_t length, const void* arguments = nullptr,
                std::size_t size = 0) {
        std::lock_guard<std::mutex> guard(mutex_);
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_SWAP;
        request.arguments.swap = {runtime, 0, length, 0};
        return ask(request,
                   {{image, length, &request.arguments.swap.image}, {arguments, size, &request.arguments.swap.init}});
    }
    Answer swap(std::uint64_t runtime, const std::string& file, const void* arguments = nullptr, std::size_t size = 0) {
        std::string bytes;
        Answer answer = read_file(file, bytes);
        return answer ? swap(runtime, bytes.data(), bytes.size(), arguments, size) : answer;
    }

    // Launches that have not begun are refused; synchronise first when they should run.
    Answer unload(std::uint64_t runtime) {
        std::lock_guard<std::mutex> guard(mutex_);
        const auto place = std::find(loaded_.begin(), loaded_.end(), runtime);
        if (place != loaded_.end()) loaded_.erase(place);
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_UNLOAD;
        request.arguments.unload.runtime = runtime;
        return ask(request, {});
    }

    // Why the newest call on the device failed, runs included.
    std::string newest_text() {
        std::lock_guard<std::mutex> guard(mutex_);
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_TEXT;
        Answer answer = ask(request, {});
        return answer ? std::string(request.text) : answer.text;
    }

private:
    struct Wanted {
        const char* name;
        aclrtFuncHandle* function;
    };
    // Bytes that go to the device for a request, and where their address is wanted.
    struct Part {
        const void* bytes;
        std::size_t size;
        std::uint64_t* address;
    };

    static const char* run_name() { return "DynTileFwkDispatcherRun"; }
    static std::string default_name() { return "libcanopy_dispatcher.so"; }
    static Answer not_open() { return {ACL_ERROR_RT_PARAM_INVALID, "the dispatcher is not open"}; }
    static Answer first_of(const Answer& one, const Answer& other) { return one ? other : one; }

    static Answer acl(aclError code) {
        if (code == ACL_SUCCESS) return {};
        const char* text = aclGetRecentErrMsg();
        return {code, text ? text : ""};
    }

    static Answer read_file(const std::string& path, std::string& bytes) {
        std::ifstream file(path, std::ios::binary);
        if (!file) return {ACL_ERROR_RT_PARAM_INVALID, "cannot open " + path + ": " + std::strerror(errno)};
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        return {};
    }

    static std::string own_library() {
        if (void* runtime = dlopen("libascendcl.so", RTLD_LAZY | RTLD_NOLOAD)) {
            char folder[PATH_MAX] = {};
            const int known = dlinfo(runtime, RTLD_DI_ORIGIN, folder);
            dlclose(runtime);
            const std::string path = std::string(folder) + "/" + default_name();
            if (known == 0 && access(path.c_str(), R_OK) == 0) return path;
        }
        const char* home = getenv("ASCEND_HOME_PATH");
        return home ? std::string(home) + "/lib64/" + default_name() : std::string();
    }

    static std::string descriptor() {
        std::string text = "{";
        for (const char* name : {"CanopyDispatcherControl", run_name(), "CanopyDispatcherRunBlocks"})
            text += std::string(text.size() > 1 ? "," : "") + "\n  \"" + name +
                    "\": {\"opInfo\": {\"functionName\": \"" + name +
                    "\", \"kernelSo\": \"dispatcher.so\", \"opKernelLib\": \"AICPUKernel\"}}";
        return text + "\n}\n";
    }

    // A descriptor and its object have the same name but for the ending; both are read when they are loaded.
    Answer load_dispatcher(const char* library) {
        const char* place = getenv("TMPDIR");
        std::string folder = std::string(place && *place ? place : "/tmp") + "/canopy-dispatcher-XXXXXX";
        if (!mkdtemp(folder.data()))
            return {ACL_ERROR_RT_PARAM_INVALID, "cannot make a folder " + folder + ": " + std::strerror(errno)};
        const std::string json = folder + "/dispatcher.json", object = folder + "/dispatcher.so";
        std::ofstream(json) << descriptor();
        Answer answer;
        if (symlink(library, object.c_str()) != 0)
            answer = {ACL_ERROR_RT_PARAM_INVALID, "cannot make " + object + ": " + std::strerror(errno)};
        aclrtBinaryLoadOption option = {};
        option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
        option.value.cpuKernelMode = 1;
        aclrtBinaryLoadOptions options = {&option, 1};
        if (answer) answer = acl(aclrtBinaryLoadFromFile(json.c_str(), &options, &binary_));
        unlink(json.c_str());
        unlink(object.c_str());
        rmdir(folder.c_str());
        return answer;
    }

    // On the own stream: a plain copy would wait for what other streams are doing.
    Answer move(void* to, const void* from, std::size_t size, aclrtMemcpyKind kind) {
        return acl(aclrtMemcpyAsync(to, size, from, size, kind, stream_));
    }

    // One request at a time; the caller holds the mutex.
    Answer ask(CanopyDispatcherRequest& request, const std::vector<Part>& parts) {
        if (!binary_) return not_open();
        std::vector<void*> copies;
        Answer answer;
        for (const Part& part : parts) {
            if (!answer || !part.bytes || part.size == 0) continue;
            void* copy = nullptr;
            answer = acl(aclrtMalloc(&copy, part.size, ACL_MEM_MALLOC_HUGE_FIRST));
            if (!answer) continue;
            copies.push_back(copy);
            answer = move(copy, part.bytes, part.size, ACL_MEMCPY_HOST_TO_DEVICE);
            *part.address = reinterpret_cast<std::uintptr_t>(copy);
        }
        const std::size_t size = sizeof(request);
        if (answer) answer = move(block_, &request, size, ACL_MEMCPY_HOST_TO_DEVICE);
        if (answer) answer = acl(aclrtLaunchKernelV2(control_, 1, block_, size, nullptr, stream_));
        if (answer) answer = move(&request, block_, size, ACL_MEMCPY_DEVICE_TO_HOST);
        answer = first_of(answer, acl(aclrtSynchronizeStream(stream_)));
        for (void* copy : copies) answer = first_of(answer, acl(aclrtFree(copy)));
        if (answer && request.result != 0) answer = {static_cast<int>(request.result), request.text};
        return answer;
    }

    // head: its member `arguments` becomes the address of the copy.
    template <class Head>
    static Answer launch(aclrtFuncHandle function, aclrtStream stream, std::uint32_t blocks, const Head& head,
                         const void* arguments, std::size_t size) {
        constexpr std::size_t usual = 1024;
        alignas(std::max_align_t) char usual_place[usual];
        std::vector<char> large;
        char* place = usual_place;
        if (sizeof(Head) + size > usual) {
            large.resize(sizeof(Head) + size);
            place = large.data();
        }
        std::memcpy(place, &head, sizeof(Head));
        const bool given = arguments && size != 0;
        if (given) std::memcpy(place + sizeof(Head), arguments, size);
        aclrtPlaceHolderInfo pointer = {offsetof(Head, arguments), sizeof(Head)};
        return acl(aclrtLaunchKernelWithHostArgs(function, blocks, stream, nullptr, place,
                                                 sizeof(Head) + (given ? size : 0), given ? &pointer : nullptr,
                                                 given ? 1 : 0));
    }

    std::mutex mutex_;  // requests
    aclrtBinHandle binary_ = nullptr;
    aclrtFuncHandle control_ = nullptr, run_ = nullptr, run_blocks_ = nullptr;
    aclrtStream stream_ = nullptr;
    CanopyDispatcherRequest* block_ = nullptr;  // on the device
    std::int32_t device_ = 0;
    std::vector<std::uint64_t> loaded_;
};

}  // namespace canopy

#endif
