// SPDX-License-Identifier: Apache-2.0
// The process that runs a device's CPU kernels outside the program. Its executable is embedded in the library and
// started from a memory file; its arguments are the descriptors of its socket and, if there is one, of the library's
// file, which it opens for images that call functions of the runtime. It ends with the program, or when a kernel
// crashes.
//
// Threads: the main thread reads requests; every block of a launch has its own thread.
#include <canopy/kernel_abi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>

#include "base/local_socket.h"
#include "device/engine/cpu/cpu_process_protocol.h"
#include "device/engine/cpu/launch_end.h"

namespace canopy::cpu_process {
namespace {

constexpr std::size_t stack_size = 8 * 1024 * 1024;
constexpr std::size_t signal_stack_size = 64 * 1024;

int socket_number = -1;
int library_file = -1;
// Tells the runtime, if an image has it, that the thread runs a block, and where to count it while it waits.
std::atomic<void (*)(std::uint32_t*)> serve_kernel{nullptr};

struct Launch {
    Request request;
    void* function;
    std::atomic<std::uint32_t> finished{0};
    std::atomic<bool> failed{false};
    Reply reply{};  // written by the first block that fails
    LaunchEnd end;
};

struct Block {
    Launch* launch;
    std::uint32_t index;
};

thread_local const Block* running = nullptr;
thread_local CanopyBlock identity{};

void tell(const Reply& reply) { send(socket_number, &reply, sizeof reply, MSG_NOSIGNAL); }

// ---- crashes -------------------------------------------------------------------------------------------------------

void on_fault(int signal, siginfo_t* info, void*) {
    Reply reply{};
    reply.tell = Tell::fault;
    reply.signal = signal;
    const bool on_memory = signal == SIGSEGV || signal == SIGBUS;
    reply.address = on_memory ? reinterpret_cast<std::uint64_t>(info->si_addr) : 0;
    if (running) {
        reply.number = running->launch->request.number;
        reply.block = running->launch->request.offset + running->index;
    }
    tell(reply);
    _exit(128 + signal);
}

void catch_crashes() {
    struct sigaction action {};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
}

// ---- services for images -------------------------------------------------------------------------------------------

CanopyBlock* current_block() { return &identity; }
void trap() { __builtin_trap(); }
void print(const char* text, std::size_t length) {
    std::fwrite(text, 1, length, stdout);
    std::fflush(stdout);
}
void yield() { sched_yield(); }
std::uint32_t at_launch_end(void (*function)(void*), void* data) {
    return running && running->launch->end.add(function, data) ? 1 : 0;
}

CanopyServices make_services() {
    CanopyServices services{};
    services.version = CANOPY_KERNEL_ABI_VERSION;
    services.size = sizeof services;
    services.current_block = &current_block;
    services.trap = &trap;
    services.print = &print;
    services.yield = &yield;
    services.at_launch_end = &at_launch_end;
    return services;
}
const CanopyServices services = make_services();

// ---- launches ------------------------------------------------------------------------------------------------------

struct BlockOfCpu {
    std::uint32_t count, index;
};

std::uint32_t call(const Launch& launch, std::uint32_t index) {
    auto* arguments = reinterpret_cast<void*>(launch.request.address);
    if (launch.request.with_block == 0) return reinterpret_cast<std::uint32_t (*)(void*)>(launch.function)(arguments);
    BlockOfCpu block = {launch.request.blocks, index};
    return reinterpret_cast<std::uint32_t (*)(void*, BlockOfCpu*)>(launch.function)(arguments, &block);
}

void note_failure(Launch& launch, Tell kind, std::uint32_t block, std::uint32_t result, const char* text) {
    if (launch.failed.exchange(true)) return;
    launch.reply.tell = kind;
    launch.reply.block = block;
    launch.reply.result = result;
    std::snprintf(launch.reply.text, sizeof launch.reply.text, "%s", text);
}

void finish(Launch& launch, std::uint32_t blocks) {
    if (launch.finished.fetch_add(blocks) + blocks != launch.request.blocks) return;
    launch.end.run();
    launch.reply.number = launch.request.number;
    tell(launch.reply);
    delete &launch;
}

void* run_block(void* data) {
    const Block block = *static_cast<Block*>(data);
    delete static_cast<Block*>(data);
    Launch& launch = *block.launch;
    stack_t stack{};
    stack.ss_sp = std::malloc(signal_stack_size);
    stack.ss_size = signal_stack_size;
    if (stack.ss_sp) sigaltstack(&stack, nullptr);
    const std::uint32_t index = launch.request.offset + block.index;
    identity = {};
    identity.index = index;
    identity.count = launch.request.blocks;
    identity.sub_count = 1;
    identity.core_type = 100;
    running = &block;
    if (auto* serve = serve_kernel.load()) serve(reinterpret_cast<std::uint32_t*>(launch.request.asleep));
    try {
        const std::uint32_t result = call(launch, index);
        if (result != 0) note_failure(launch, Tell::ended, index, result, "");
    } catch (const std::exception& exception) {
        note_failure(launch, Tell::threw, index, 0, exception.what());
    } catch (...) {
        note_failure(launch, Tell::threw, index, 0, "not a std::exception");
    }
    running = nullptr;
    finish(launch, 1);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
    std::free(stack.ss_sp);
    return nullptr;
}

void start(Launch& launch) {
    launch.reply.tell = Tell::ended;
    const std::uint32_t blocks = launch.request.blocks;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (std::uint32_t index = 0; index < blocks; ++index) {
        auto* block = new Block{&launch, index};
        pthread_t thread;
        if (pthread_create(&thread, &attributes, &run_block, block) == 0) continue;
        delete block;
        note_failure(launch, Tell::threw, launch.request.offset + index, 0,
                     "the system cannot create a thread for the block");
        finish(launch, blocks - index);
        break;
    }
    pthread_attr_destroy(&attributes);
}

// ---- requests ------------------------------------------------------------------------------------------------------

class Process {
public:
    void answer(const Request& request, int descriptor) {
        switch (request.ask) {
            case Ask::map:
                return map(request, descriptor);
            case Ask::unmap:
                munmap(reinterpret_cast<void*>(request.address), request.size);
                return;
            case Ask::load:
                return load(request, descriptor);
            case Ask::unload:
                return unload(request.image);
            case Ask::launch:
                return launch(request);
        }
    }

private:
    struct Image {
        void* library = nullptr;
        int descriptor = -1;
        char problem[256] = {};
    };

    static void map(const Request& request, int descriptor) {
        Reply reply{};
        reply.number = request.number;
        void* wanted = reinterpret_cast<void*>(request.address);
        const void* mapped =
            mmap(wanted, request.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                 descriptor, static_cast<off_t>(request.file_offset));
        close(descriptor);
        if (mapped != wanted) std::snprintf(reply.text, sizeof reply.text, "its addresses are in use");
        tell(reply);
    }

    // `opened`: the runtime, or an image that brought it. It has threads, so it stays when the image goes.
    static void begin_serving(void* opened) {
        auto* serve = opened ? dlsym(opened, "canopy_serve_cpu_kernels") : nullptr;
        if (!serve || serve_kernel.load()) return;
        Dl_info where{};
        if (dladdr(serve, &where) == 0 || !dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)) return;
        serve_kernel.store(reinterpret_cast<void (*)(std::uint32_t*)>(serve));
    }

    // An image that does not load may call functions of the runtime.
    static void* open_image(const char* path) {
        constexpr int how = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
        void* image = dlopen(path, how);
        if (!image && library_file >= 0) {
            char library[64];
            std::snprintf(library, sizeof library, "/proc/self/fd/%d", library_file);
            begin_serving(dlopen(library, RTLD_NOW | RTLD_GLOBAL));
            image = dlopen(path, how);
        }
        begin_serving(image);
        return image;
    }

    void load(const Request& request, int descriptor) {
        Image& image = images_[request.image];
        image.descriptor = descriptor;
        char path[64];
        std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        image.library = open_image(path);
        if (!image.library) {
            const char* reason = dlerror();
            std::snprintf(image.problem, sizeof image.problem, "%s", reason ? reason : "no reason given");
        } else if (auto* place = static_cast<const CanopyServices**>(dlsym(image.library, "canopy_image_services"))) {
            *place = &services;
        }
        Reply reply{};
        reply.number = request.number;
        std::memcpy(reply.text, image.problem, sizeof reply.text);
        tell(reply);
    }

    void unload(std::uint64_t number) {
        const auto found = images_.find(number);
        if (found == images_.end()) return;
        // The file stays open if the code stays loaded: no other file may reuse its path.
        if (found->second.library) dlclose(found->second.library);
        char path[64];
        std::snprintf(path, sizeof path, "/proc/self/fd/%d", found->second.descriptor);
        void* still_there = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        if (still_there)
            dlclose(still_there);
        else
            close(found->second.descriptor);
        images_.erase(found);
    }

    void launch(const Request& request) {
        const auto found = images_.find(request.image);
        void* library = found == images_.end() ? nullptr : found->second.library;
        void* function = library ? dlsym(library, request.symbol) : nullptr;
        if (!function) {
            Reply reply{};
            reply.tell = Tell::missing;
            reply.number = request.number;
            const char* reason = library ? dlerror() : nullptr;
            if (found != images_.end() && !library) reason = found->second.problem;
            std::snprintf(reply.text, sizeof reply.text, "%s", reason ? reason : "its image is not loaded");
            return tell(reply);
        }
        auto* launch = new Launch;
        launch->request = request;
        launch->function = function;
        start(*launch);
    }

    std::map<std::uint64_t, Image> images_;
};

int serve() {
    prctl(PR_SET_NAME, "canopy-cpu");
    catch_crashes();
    Process process;
    Request request{};
    int descriptor = -1;
    std::size_t more = 0;
    while (receive_message(socket_number, &request, sizeof request, nullptr, 0, more, &descriptor))
        process.answer(request, descriptor);
    _exit(0);  // kernels may still be running
}

}  // namespace
}  // namespace canopy::cpu_process

int main(int count, char** arguments) {
    if (count < 2) return 2;
    canopy::cpu_process::socket_number = std::atoi(arguments[1]);
    if (count > 2) canopy::cpu_process::library_file = std::atoi(arguments[2]);
    return canopy::cpu_process::serve();
}
