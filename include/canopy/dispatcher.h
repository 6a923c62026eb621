// SPDX-License-Identifier: Apache-2.0
// canopy::Dispatcher: inner runtimes on the CPU cores of a device, for host programs (C++17; link only the runtime
// library). It loads libcanopy_dispatcher.so and launches its functions:
//
//     canopy::Dispatcher dispatcher;
//     std::uint64_t runtime = 0;
//     dispatcher.open();                                    // on the current device
//     dispatcher.load("libcontrol.so", runtime);            // or bytes; several may be loaded at once
//     dispatcher.init(runtime, &settings, sizeof settings);
//     dispatcher.run(stream, runtime, 4, &work, sizeof work);
//     dispatcher.swap(runtime, "libcontrol_2.so");          // while others run it
//     dispatcher.unload(runtime);
//
// Every call returns an Answer: a code (0, an acl error, a CanopyDispatcherResult, or the value returned by the inner
// runtime's init) and an error message. load, init, swap and unload are synchronous. run is not: its error is returned
// by the next synchronisation of its stream (507018; newest_text() has the message).
//
// Runs launched before unload still run; the code is unloaded afterwards. A run that crashes or is stopped harms
// nothing else: if CPU kernels run in a separate process (CANOPY_CPU_KERNELS=process) and it has died, the next call
// loads the runtime again in a new one, with its latest init, under the same id.
//
// Threads: open and close must not overlap other calls; everything else may be called by any thread, with the same
// current device.
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
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "canopy/canopy.h"
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

    // library: path of the dispatcher; empty: the one next to the runtime library.
    Answer open(const std::string& library = std::string()) {
        if (binary_) return {};
        std::string path = library.empty() ? own_library() : library;
        char absolute[PATH_MAX];
        if (path.empty() || !realpath(path.c_str(), absolute))
            return {ACL_ERROR_RT_PARAM_INVALID, "the dispatcher " + (path.empty() ? default_name() : path) +
                                                    " was not found next to the runtime library"};
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
        graphs_ = std::make_shared<Graphs>();
        captures_ = canopyCapturesInProgress();
        if (!answer) close();
        return answer;
    }

    // Unloads all runtimes. Launches must have ended.
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

    // Loading the same bytes twice gives one runtime, which must be unloaded twice.
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

    // Calls the runtime's init with a copy of the arguments, which stays valid until the next init or unload.
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

    // Launches a run on the stream, with a copy of the arguments. All blocks execute the same code, even if the runtime
    // is swapped meanwhile. config: launch attributes, for example a time limit.
    Answer run(aclrtStream stream, std::uint64_t runtime, std::uint32_t blocks, const void* arguments = nullptr,
               std::size_t size = 0, aclrtLaunchKernelCfg* config = nullptr) {
        if (!binary_) return not_open();
        Runtime& own = place_of(runtime);
        const bool is_own = own.id.load(std::memory_order_acquire) == runtime;
        if (is_own && own.leaving.load(std::memory_order_relaxed)) return has_left(runtime);
        if (is_own) own.note(stream);
        const std::uint64_t kept = is_own ? reinterpret_cast<std::uintptr_t>(kept_) : 0;
        Answer answer =
            blocks == 1 ? launch(run_, stream, 1, CanopyDispatcherKeptCall{runtime, 0, kept}, arguments, size, config)
                        : launch(run_blocks_, stream, blocks, CanopyDispatcherGang{runtime, 0, 0, kept}, arguments,
                                 size, config);
        if (is_own && answer && __atomic_load_n(captures_, __ATOMIC_RELAXED) != 0) return note_graph(stream, runtime);
        return answer;
    }

    // Replaces the image behind the id. Calls the new image's init before the switch if there are arguments for it.
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

    // Refuses new runs at once. Runs launched before still run: the code is unloaded by the first request after them.
    // A graph with captured runs of it can be replayed until it is destroyed; it keeps the code loaded until then.
    Answer unload(std::uint64_t runtime) {
        std::lock_guard<std::mutex> guard(mutex_);
        if (!binary_) return not_open();
        Answer answer = end_those_passed();
        Runtime& own = place_of(runtime);
        if (own.id.load() != runtime || own.loads == 0) return first_of(answer, ask_to_unload(runtime));
        if (own.leaving.load()) return has_left(runtime);
        if (own.loads > 1) return first_of(answer, ask_to_unload(own));
        own.leaving.store(true);
        Leaving leaving = {runtime, {}, {}, own.many_streams.load()};
        for (std::atomic<aclrtStream>& stream : own.streams)
            if (stream.load() != no_stream()) mark(stream.load(), leaving);
        leaving_.push_back(std::move(leaving));
        return first_of(answer, end_those_passed());
    }

    // The message of the latest failure on the device, including runs.
    std::string newest_text() {
        std::lock_guard<std::mutex> guard(mutex_);
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_TEXT;
        Answer answer = ask(request, {});
        return answer ? std::string(request.text) : answer.text;
    }

private:
    // Not a valid stream; the default stream is nullptr.
    static aclrtStream no_stream() { return reinterpret_cast<aclrtStream>(~std::uintptr_t(0)); }

    // A runtime loaded by this object; its slot follows from its id.
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
        // Called before a run is launched on the stream.
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
        std::atomic<bool> leaving;       // unload requested, but launches are still queued
        std::atomic<bool> many_streams;  // used on more streams than fit below
        std::atomic<aclrtStream> streams[8];
        // Guarded by the mutex. The copies live as long as the dispatcher may read them.
        std::uint32_t loads;
        void* image;
        void* init;
    };
    // A runtime whose code is unloaded when these events have happened.
    struct Leaving {
        std::uint64_t runtime;
        std::vector<aclrtEvent> passed;
        std::vector<aclrtStream> captured;  // their events are recorded when the capture ends
        bool until_close;                   // its end cannot be determined
    };

    // Graphs with runs of a runtime. They may outlive the dispatcher.
    struct Graphs {
        std::mutex mutex;
        std::set<std::pair<std::uint64_t, aclmdlRI>> of_runtimes;
    };
    struct GraphOfRuntime {
        std::shared_ptr<Graphs> all;
        std::uint64_t runtime;
        aclmdlRI graph;
    };
    static void forget_graph(void* data) {
        const std::unique_ptr<GraphOfRuntime> ended(static_cast<GraphOfRuntime*>(data));
        std::lock_guard<std::mutex> guard(ended->all->mutex);
        ended->all->of_runtimes.erase({ended->runtime, ended->graph});
    }
    // After a run that may have been captured: its graph keeps the runtime loaded until it is destroyed.
    Answer note_graph(aclrtStream stream, std::uint64_t runtime) {
        if (stream == nullptr) return {};  // default streams cannot be captured
        aclmdlRICaptureStatus capture = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        aclmdlRI graph = nullptr;
        Answer answer = acl(aclmdlRICaptureGetInfo(stream, &capture, &graph));
        if (!answer || capture != ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE) return answer;
        std::lock_guard<std::mutex> guard(graphs_->mutex);
        if (!graphs_->of_runtimes.insert({runtime, graph}).second) return {};
        std::unique_ptr<GraphOfRuntime> noted(new GraphOfRuntime{graphs_, runtime, graph});
        answer = acl(aclmdlRIDestroyRegisterCallback(graph, &forget_graph, noted.get()));
        if (answer)
            noted.release();
        else
            graphs_->of_runtimes.erase({runtime, graph});
        return answer;
    }
    bool in_a_graph(std::uint64_t runtime) const {
        std::lock_guard<std::mutex> guard(graphs_->mutex);
        const auto first = graphs_->of_runtimes.lower_bound({runtime, nullptr});
        return first != graphs_->of_runtimes.end() && first->first == runtime;
    }

    struct Wanted {
        const char* name;
        aclrtFuncHandle* function;
    };
    // Bytes to copy to the device for a request, and where to store their address.
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

    // Descriptor and object differ only in their extension; both are read completely when they are loaded.
    Answer load_dispatcher(const char* library) {
        const char* place = getenv("TMPDIR");
        std::string folder = std::string(place && *place ? place : "/tmp") + "/canopy-dispatcher-XXXXXX";
        if (!mkdtemp(folder.data()))
            return {ACL_ERROR_RT_PARAM_INVALID, "cannot create a folder " + folder + ": " + std::strerror(errno)};
        const std::string json = folder + "/dispatcher.json", object = folder + "/dispatcher.so";
        std::ofstream(json) << descriptor();
        Answer answer;
        if (symlink(library, object.c_str()) != 0)
            answer = {ACL_ERROR_RT_PARAM_INVALID, "cannot create " + object + ": " + std::strerror(errno)};
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

    // On our own stream: a synchronous copy would wait for other streams.
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

    // One request at a time; the caller holds the mutex. `lasting` receives the copies of the parts if the request
    // succeeds; otherwise they are freed.
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
        // The image was replaced even if calls did not leave the old code in time.
        const bool granted = answer || answer.code == CANOPY_DISPATCHER_BUSY;
        if (granted && lasting)
            *lasting = std::move(copies);
        else
            answer = first_of(answer, release(copies));
        return answer;
    }

    // The dispatcher reads these copies from now on; frees the earlier ones.
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

    // Loaded again while its unload was pending: the new load replaces the old one.
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

    // Records an event after the work now in the stream, unless the stream is idle or destroyed.
    static void mark(aclrtStream stream, Leaving& leaving) {
        aclmdlRICaptureStatus capture = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        aclmdlRI model = nullptr;
        const aclError code = aclmdlRICaptureGetInfo(stream, &capture, &model);
        if (code == ACL_ERROR_RT_INVALID_HANDLE) return;
        if (code == ACL_SUCCESS && capture != ACL_MODEL_RI_CAPTURE_STATUS_NONE) {
            leaving.captured.push_back(stream);
            return;
        }
        const bool usable = code == ACL_SUCCESS;
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        if (usable && aclrtStreamQuery(stream, &status) == ACL_SUCCESS && status == ACL_STREAM_STATUS_COMPLETE) return;
        aclrtEvent event = nullptr;
        if (usable && aclrtCreateEvent(&event) == ACL_SUCCESS) {
            leaving.passed.push_back(event);
            if (aclrtRecordEvent(event, stream) == ACL_SUCCESS) return;
        }
        leaving.until_close = true;  // in another context, or out of events
    }

    bool has_passed(Leaving& leaving) const {
        std::vector<aclrtStream> captured;
        captured.swap(leaving.captured);
        for (aclrtStream stream : captured) mark(stream, leaving);
        if (!leaving.captured.empty() || in_a_graph(leaving.runtime)) return false;
        for (aclrtEvent event : leaving.passed) {
            aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
            if (aclrtQueryEventStatus(event, &status) == ACL_SUCCESS && status != ACL_EVENT_RECORDED_STATUS_COMPLETE)
                return false;
        }
        return !leaving.until_close;
    }

    // Unloads the runtimes whose queued runs have ended.
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

    // The member `arguments` of head becomes the address of the copy.
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
    void* kept_ = nullptr;                      // on the device: records for reloading runtimes
    std::int32_t device_ = 0;
    std::unique_ptr<Runtime[]> runtimes_;
    std::shared_ptr<Graphs> graphs_;
    const std::uint32_t* captures_ = nullptr;
    std::vector<Leaving> leaving_;  // guarded by the mutex
};

}  // namespace canopy

#endif
