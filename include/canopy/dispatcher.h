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
// Runs that were launched before unload run; the code goes when they are done. A run that crashes or is stopped takes
// nothing with it: when CPU kernels have a process of their own (CANOPY_CPU_KERNELS=process) and that ended, the next
// call loads the runtime there again, with its newest init, under the same id.
//
// Threads: open and close by one thread, alone; everything else by any, each with the same device current.
#ifndef CANOPY_DISPATCHER_H
#define CANOPY_DISPATCHER_H

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
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
        if (answer) answer = allocate(reinterpret_cast<void**>(&block_), sizeof(*block_));
        const std::size_t size = CANOPY_DISPATCHER_MAX_RUNTIMES * sizeof(CanopyDispatcherKept);
        if (answer) answer = allocate(&kept_, size);
        if (answer) answer = acl(aclrtMemset(kept_, size, 0, size));
        runtimes_.reset(new Runtime[CANOPY_DISPATCHER_MAX_RUNTIMES]);
        if (!answer) close();
        return answer;
    }

    // Unloads what is still loaded. Launches must have ended.
    Answer close() {
        Answer answer;
        std::lock_guard<std::mutex> guard(mutex_);
        for (std::size_t i = 0; runtimes_ && i < CANOPY_DISPATCHER_MAX_RUNTIMES; ++i)
            while (runtimes_[i].loads != 0) answer = first_of(answer, ask_to_unload(runtimes_[i]));
        for (const Leaving& leaving : leaving_)
            for (aclrtEvent event : leaving.passed) answer = first_of(answer, acl(aclrtDestroyEvent(event)));
        leaving_.clear();
        runtimes_.reset();
        if (kept_) answer = first_of(answer, acl(aclrtFree(kept_)));
        if (block_) answer = first_of(answer, acl(aclrtFree(block_)));
        if (stream_) answer = first_of(answer, acl(aclrtDestroyStream(stream_)));
        if (binary_) answer = first_of(answer, acl(aclrtBinaryUnLoad(binary_)));
        kept_ = nullptr;
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
        std::vector<void*> copies;
        Answer answer = end_those_passed();
        if (answer) answer = ask(request, {{image, length, &request.arguments.load.image}}, &copies);
        if (!answer) return answer;
        runtime = request.arguments.load.runtime;
        Runtime& own = place_of(runtime);
        if (own.id.load() == runtime && own.loads != 0) {
            if (own.leaving.load())
                answer = call_back(own);
            else
                ++own.loads;
            return first_of(answer, release(copies));
        }
        // Another one of that place was lost with its process.
        if (own.loads != 0) answer = release({own.image, own.init});
        own.forget();
        own.image = copies[0];
        own.loads = 1;
        own.id.store(runtime);
        return answer;
    }
    Answer load(const std::string& file, std::uint64_t& runtime) {
        runtime = 0;
        std::string bytes;
        Answer answer = read_file(file, bytes);
        return answer ? load(bytes.data(), bytes.size(), runtime) : answer;
    }

    // Calls the runtime's init with a copy of the arguments, which lasts until the next init or the end of the runtime.
    Answer init(std::uint64_t runtime, const void* arguments = nullptr, std::size_t size = 0) {
        std::lock_guard<std::mutex> guard(mutex_);
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_INIT;
        request.arguments.call.runtime = runtime;
        std::vector<void*> copies;
        Answer answer = end_those_passed();
        if (answer) answer = ask(request, {{arguments, size, &request.arguments.call.arguments}}, &copies);
        if (!answer || copies.empty()) return answer;
        return replace(runtime, nullptr, copies[0]);
    }

    // Puts the runtime's run into the stream, with a copy of the arguments for the whole launch. All blocks reach the
    // same code, even when it is swapped between them. config: attributes of the launch, a time limit for example.
    Answer run(aclrtStream stream, std::uint64_t runtime, std::uint32_t blocks, const void* arguments = nullptr,
               std::size_t size = 0, aclrtLaunchKernelCfg* config = nullptr) {
        if (!binary_) return not_open();
        Runtime& own = place_of(runtime);
        const bool is_own = own.id.load(std::memory_order_acquire) == runtime;
        if (is_own && own.leaving.load(std::memory_order_relaxed)) return has_left(runtime);
        if (is_own) own.note(stream);
        const std::uint64_t kept = is_own ? reinterpret_cast<std::uintptr_t>(kept_) : 0;
        if (blocks == 1)
            return launch(run_, stream, 1, CanopyDispatcherKeptCall{runtime, 0, kept}, arguments, size, config);
        return launch(run_blocks_, stream, blocks, CanopyDispatcherGang{runtime, 0, 0, kept}, arguments, size, config);
    }

    // Another image behind the same id. Its init is called before the switch when there are arguments for it.
    Answer swap(std::uint64_t runtime, const void* image, std::size_t length, const void* arguments = nullptr,
                std::size_t size = 0) {
        std::lock_guard<std::mutex> guard(mutex_);
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_SWAP;
        request.arguments.swap = {runtime, 0, length, 0};
        std::vector<void*> copies;
        Answer answer = end_those_passed();
        if (answer)
            answer =
                ask(request,
                    {{image, length, &request.arguments.swap.image}, {arguments, size, &request.arguments.swap.init}},
                    &copies);
        if (copies.empty()) return answer;
        return first_of(answer, replace(runtime, copies[0], copies.size() > 1 ? copies[1] : nullptr));
    }
    Answer swap(std::uint64_t runtime, const std::string& file, const void* arguments = nullptr, std::size_t size = 0) {
        std::string bytes;
        Answer answer = read_file(file, bytes);
        return answer ? swap(runtime, bytes.data(), bytes.size(), arguments, size) : answer;
    }

    // New runs are refused from now on. What was launched before still runs: the code goes at the next request behind
    // it. Replays of captured runs do not keep it.
    Answer unload(std::uint64_t runtime) {
        std::lock_guard<std::mutex> guard(mutex_);
        if (!binary_) return not_open();
        Answer answer = end_those_passed();
        Runtime& own = place_of(runtime);
        if (own.id.load() != runtime || own.loads == 0) return first_of(answer, ask_to_unload(runtime));
        if (own.leaving.load()) return has_left(runtime);
        if (own.loads > 1) return first_of(answer, ask_to_unload(own));
        own.leaving.store(true);
        Leaving leaving = {runtime, {}, own.many_streams.load()};
        for (std::atomic<aclrtStream>& stream : own.streams)
            if (stream.load() != no_stream()) mark(stream.load(), leaving);
        leaving_.push_back(std::move(leaving));
        return first_of(answer, end_those_passed());
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
    // A value that no stream has; the default stream is nullptr.
    static aclrtStream no_stream() { return reinterpret_cast<aclrtStream>(~std::uintptr_t(0)); }

    // A runtime of this object; its place is that of its id.
    struct Runtime {
        Runtime() { forget(); }
        void forget() {
            id.store(0);
            leaving.store(false);
            many_streams.store(false);
            for (std::atomic<aclrtStream>& stream : streams) stream.store(no_stream());
            loads = 0;
            image = init = nullptr;
        }
        // Before a run is launched there.
        void note(aclrtStream stream) {
            for (std::atomic<aclrtStream>& known : streams) {
                aclrtStream present = known.load(std::memory_order_relaxed);
                if (present == stream) return;
                if (present == no_stream() && (known.compare_exchange_strong(present, stream) || present == stream))
                    return;
            }
            many_streams.store(true);
        }

        std::atomic<std::uint64_t> id;
        std::atomic<bool> leaving;       // unloaded, while launches are on their way
        std::atomic<bool> many_streams;  // more than the following
        std::atomic<aclrtStream> streams[8];
        // Guarded by the mutex of requests. The copies last as long as the dispatcher may look at them again.
        std::uint32_t loads;
        void* image;
        void* init;
    };
    // A runtime whose code goes when these events have happened.
    struct Leaving {
        std::uint64_t runtime;
        std::vector<aclrtEvent> passed;
        bool until_close;  // nobody knows when
    };

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

    static const char* run_name() { return "CanopyDispatcherRun"; }
    static std::string default_name() { return "libcanopy_dispatcher.so"; }
    static Answer not_open() { return {ACL_ERROR_RT_PARAM_INVALID, "the dispatcher is not open"}; }
    static Answer has_left(std::uint64_t runtime) {
        return {CANOPY_DISPATCHER_UNKNOWN_RUNTIME, "runtime " + std::to_string(runtime) + " has been unloaded"};
    }
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

    static Answer allocate(void** memory, std::size_t size) {
        return acl(aclrtMalloc(memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    static Answer release(const std::vector<void*>& copies) {
        Answer answer;
        for (void* copy : copies)
            if (copy) answer = first_of(answer, acl(aclrtFree(copy)));
        return answer;
    }
    Runtime& place_of(std::uint64_t runtime) { return runtimes_[runtime % CANOPY_DISPATCHER_MAX_RUNTIMES]; }

    // One request at a time; the caller holds the mutex. `lasting`: gets the copies of the parts when the request was
    // granted; otherwise they are gone.
    Answer ask(CanopyDispatcherRequest& request, const std::vector<Part>& parts,
               std::vector<void*>* lasting = nullptr) {
        if (!binary_) return not_open();
        std::vector<void*> copies;
        Answer answer;
        for (const Part& part : parts) {
            if (!answer || !part.bytes || part.size == 0) continue;
            void* copy = nullptr;
            answer = allocate(&copy, part.size);
            if (!answer) continue;
            copies.push_back(copy);
            answer = move(copy, part.bytes, part.size, ACL_MEMCPY_HOST_TO_DEVICE);
            *part.address = reinterpret_cast<std::uintptr_t>(copy);
        }
        request.kept = reinterpret_cast<std::uintptr_t>(kept_);
        const std::size_t size = sizeof(request);
        if (answer) answer = move(block_, &request, size, ACL_MEMCPY_HOST_TO_DEVICE);
        if (answer) answer = acl(aclrtLaunchKernelV2(control_, 1, block_, size, nullptr, stream_));
        if (answer) answer = move(&request, block_, size, ACL_MEMCPY_DEVICE_TO_HOST);
        answer = first_of(answer, acl(aclrtSynchronizeStream(stream_)));
        if (answer && request.result != 0) answer = {static_cast<int>(request.result), request.text};
        // Code that did not leave in time has been replaced all the same.
        const bool granted = answer || answer.code == CANOPY_DISPATCHER_BUSY;
        if (granted && lasting)
            *lasting = std::move(copies);
        else
            answer = first_of(answer, release(copies));
        return answer;
    }

    // The dispatcher looks at these copies from now on; those before are not needed any more.
    Answer replace(std::uint64_t runtime, void* image, void* init) {
        Runtime& own = place_of(runtime);
        if (own.id.load() != runtime || own.loads == 0) return release({image, init});
        std::vector<void*> old = {own.init};
        own.init = init;
        if (image) {
            old.push_back(own.image);
            own.image = image;
        }
        return release(old);
    }

    Answer ask_to_unload(std::uint64_t runtime) {
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_UNLOAD;
        request.arguments.unload.runtime = runtime;
        return ask(request, {});
    }
    Answer ask_to_unload(Runtime& own) {
        Answer answer = ask_to_unload(own.id.load());
        if (--own.loads != 0) return answer;
        answer = first_of(answer, release({own.image, own.init}));
        own.forget();
        return answer;
    }

    // It was about to leave and has been loaded again: that load takes the place of the one before.
    Answer call_back(Runtime& own) {
        Answer answer;
        for (std::size_t i = 0; i < leaving_.size(); ++i) {
            if (leaving_[i].runtime != own.id.load()) continue;
            for (aclrtEvent event : leaving_[i].passed) answer = first_of(answer, acl(aclrtDestroyEvent(event)));
            leaving_.erase(leaving_.begin() + static_cast<std::ptrdiff_t>(i));
            break;
        }
        own.leaving.store(false);
        return first_of(answer, ask_to_unload(own.id.load()));
    }

    // An event behind what the stream has now, unless it has nothing. One that is gone has nothing.
    static void mark(aclrtStream stream, Leaving& leaving) {
        aclmdlRICaptureStatus capture = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        aclmdlRI model = nullptr;
        const aclError code = aclmdlRICaptureGetInfo(stream, &capture, &model);
        if (code == ACL_ERROR_RT_INVALID_HANDLE) return;
        const bool usable = code == ACL_SUCCESS && capture == ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        if (usable && aclrtStreamQuery(stream, &status) == ACL_SUCCESS && status == ACL_STREAM_STATUS_COMPLETE) return;
        aclrtEvent event = nullptr;
        if (usable && aclrtCreateEvent(&event) == ACL_SUCCESS) {
            leaving.passed.push_back(event);
            if (aclrtRecordEvent(event, stream) == ACL_SUCCESS) return;
        }
        leaving.until_close = true;  // captured into a graph, of another context, no event left
    }

    static bool has_passed(Leaving& leaving) {
        for (aclrtEvent event : leaving.passed) {
            aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
            if (aclrtQueryEventStatus(event, &status) == ACL_SUCCESS && status != ACL_EVENT_RECORDED_STATUS_COMPLETE)
                return false;
        }
        return !leaving.until_close;
    }

    // Unloads what nothing is on its way to any more.
    Answer end_those_passed() {
        Answer answer;
        for (std::size_t i = 0; i < leaving_.size();) {
            if (!has_passed(leaving_[i])) {
                ++i;
                continue;
            }
            const Leaving leaving = std::move(leaving_[i]);
            leaving_.erase(leaving_.begin() + static_cast<std::ptrdiff_t>(i));
            for (aclrtEvent event : leaving.passed) answer = first_of(answer, acl(aclrtDestroyEvent(event)));
            Runtime& own = place_of(leaving.runtime);
            if (own.id.load() == leaving.runtime && own.loads != 0) answer = first_of(answer, ask_to_unload(own));
        }
        return answer;
    }

    // head: its member `arguments` becomes the address of the copy.
    template <class Head>
    static Answer launch(aclrtFuncHandle function, aclrtStream stream, std::uint32_t blocks, const Head& head,
                         const void* arguments, std::size_t size, aclrtLaunchKernelCfg* config) {
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
        return acl(aclrtLaunchKernelWithHostArgs(function, blocks, stream, config, place,
                                                 sizeof(Head) + (given ? size : 0), given ? &pointer : nullptr,
                                                 given ? 1 : 0));
    }

    std::mutex mutex_;  // requests
    aclrtBinHandle binary_ = nullptr;
    aclrtFuncHandle control_ = nullptr, run_ = nullptr, run_blocks_ = nullptr;
    aclrtStream stream_ = nullptr;
    CanopyDispatcherRequest* block_ = nullptr;  // on the device
    void* kept_ = nullptr;                      // on the device: what the dispatcher needs to load runtimes again
    std::int32_t device_ = 0;
    std::unique_ptr<Runtime[]> runtimes_;
    std::vector<Leaving> leaving_;  // guarded by the mutex
};

}  // namespace canopy

#endif
