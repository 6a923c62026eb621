// SPDX-License-Identifier: Apache-2.0
// What runs in the process of a device of kind apart: a software NPU whose streams get one kernel after the other from
// the program. Its memory is the program's memory file, mapped at the device's addresses.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error_text.h"
#include "base/local_socket.h"
#include "base/spin_lock.h"
#include "device/apart/protocol.h"
#include "device/device.h"
#include "device/soft/services.h"
#include "foundation/mutex.h"

namespace canopy::apart {
namespace {

int socket_number = -1;

void reply_with(const Reply& reply, std::span<const std::byte> bytes = {}) noexcept {
    if (!send_message(socket_number, &reply, sizeof reply, bytes.data(), bytes.size(), -1)) _exit(0);
}

void print(const char* text, std::size_t length) {
    Reply reply;
    reply.tell = Tell::print;
    for (std::size_t done = 0; done < length; done += most_bytes)
        reply_with(reply, std::as_bytes(std::span(text + done, std::min(length - done, most_bytes))));
}

void set_text(Reply& reply, std::string_view text) noexcept {
    reply.text[text.copy(reply.text, sizeof reply.text - 1)] = '\0';
}

// The stream of one lane of the program's device.
class Lane final : public QueueObserver {
public:
    Lane(Device& device, std::uint32_t priority) : checker_(device.abilities().checker) {
        QueueOptions options;
        options.priority = priority;
        options.submit_lock = &lock_;
        options.observer = this;
        auto queue = device.create_queue(options);
        if (queue.ok()) queue_ = std::move(*queue);
    }
    [[nodiscard]] bool usable() const noexcept { return queue_ != nullptr; }

    // Returns when the kernel has ended; this thread runs what it can of it.
    Status run(const LaunchWork& work, std::uint64_t number) {
        auto flight = std::make_unique<Flight>(Flight{this, number});
        Command commands[2] = {Command(Opcode::launch), Command(Opcode::inline_call)};
        commands[0].launch = work;
        commands[1].call = {&Lane::ended, flight.get(), &Lane::dropped, &Lane::dispose};
        std::uint64_t last = 0;
        {
            MutexLock stopping(stop_mutex_);  // a stop that comes late must not end this launch
            {
                SpinGuard guard(failure_lock_);
                failure_ = {};
            }
            running_.store(number, std::memory_order_release);
            SpinGuard guard(lock_);
            Result<std::uint64_t> sequence = queue_->submit(commands);
            if (!sequence.ok()) return sequence.status();
            last = *sequence;
        }
        flight.release();
        queue_->wait(last, Deadline::never());
        return {};
    }
    // Ends the launch, whether it runs or waits for cores.
    void stop(std::uint64_t number) noexcept {
        MutexLock stopping(stop_mutex_);
        if (running_.load(std::memory_order_acquire) == number) queue_->abort();
    }

    AfterFailure task_failed(const TaskFailure& failure) noexcept override {
        Reply reply;
        reply.fault = failure.kind;
        reply.block = failure.block;
        reply.address = failure.address;
        reply.thread = failure.thread;
        try {
            // Where the address lies in the program's memory is known only there.
            std::string text(failure.what);
            const std::string described = checker_ ? checker_->describe(failure.address) : std::string();
            const std::size_t at = described.empty() ? std::string::npos : text.find(described);
            if (text.starts_with("access to address") && at != std::string::npos)
                text.replace(at, described.size(), 1, described_by_owner);
            set_text(reply, text);
        } catch (...) {
        }
        SpinGuard guard(failure_lock_);
        failure_ = reply;
        return AfterFailure::go_on;
    }

private:
    struct Flight {
        Lane* lane;
        std::uint64_t number;
    };
    static void ended(void* argument) { answer(argument, FaultKind::none); }
    static void dropped(void* argument) { answer(argument, FaultKind::aborted); }
    static void answer(void* argument, FaultKind otherwise) {
        const auto& flight = *static_cast<Flight*>(argument);
        Reply reply;
        {
            SpinGuard guard(flight.lane->failure_lock_);
            reply = flight.lane->failure_;
        }
        if (reply.fault == FaultKind::none && otherwise != FaultKind::none) {
            reply.fault = otherwise;
            set_text(reply, "the task was aborted");
        }
        reply.tell = Tell::ended;
        reply.number = flight.number;
        flight.lane->running_.store(0, std::memory_order_release);
        reply_with(reply);
    }
    static void dispose(void* argument) { delete static_cast<Flight*>(argument); }

    Checker* const checker_;
    Mutex stop_mutex_;
    SpinLock lock_;
    std::atomic<std::uint64_t> running_{0};
    SpinLock failure_lock_;
    Reply failure_ CANOPY_GUARDED_BY(failure_lock_);
    std::unique_ptr<Queue> queue_;
};

// Requests are received by a pool of threads: one that gets a launch runs it, while another one receives.
class Server {
public:
    [[noreturn]] void serve() {
        Request request;
        std::vector<std::byte> bytes(most_bytes);
        std::size_t count = 0;
        int descriptor = -1;
        for (;;) {
            receiving_.fetch_add(1);
            if (!receive_message(socket_number, &request, sizeof request, bytes.data(), bytes.size(), count,
                                 &descriptor))
                _exit(0);  // the program is gone; kernels may still be running
            if (receiving_.fetch_sub(1) == 1 && request.ask == Ask::launch) std::thread([this] { serve(); }).detach();
            if (request.ask == Ask::launch)
                launch(request);
            else
                answer(request, descriptor, std::span(bytes).first(count));
        }
    }

private:
    void answer(const Request& request, int descriptor, std::span<const std::byte> bytes) {
        Reply reply;
        reply.number = request.number;
        Status status;
        MutexLock guard(mutex_);
        switch (request.ask) {
            case Ask::open:
                status = open(request, descriptor);
                break;
            case Ask::map:
                status = map(request, descriptor);
                break;
            case Ask::unmap:
                munmap(reinterpret_cast<void*>(request.address), request.size);
                break;
            case Ask::load: {
                status = load(request, descriptor);
                if (!status.ok()) break;
                const Code& code = codes_[request.code];
                reply.address = code.module->code().address.value();
                reply.size = code.module->code().size;
                std::vector<DeviceAddress> addresses;
                for (const Kernel* kernel : code.kernels) addresses.push_back(kernel->address);
                return reply_with(reply, std::as_bytes(std::span(addresses)));
            }
            case Ask::unload:
                codes_.erase(request.code);
                break;
            case Ask::symbol:
                status = symbol(request, reply);
                break;
            case Ask::read: {
                std::vector<std::byte> content(request.size);
                status = read_device(content.data(), DeviceAddress(request.address), content.size());
                if (!status.ok()) break;
                return reply_with(reply, content);
            }
            case Ask::write:
                status = write_device(DeviceAddress(request.address), bytes.data(), bytes.size());
                break;
            case Ask::launch:
                return;
            case Ask::stop:
                return stop(request);
            case Ask::close:
                lanes_.erase(request.lane);
                return;
        }
        reply.code = status.code();
        if (!status.ok()) set_text(reply, newest_error_text());
        reply_with(reply);
    }

    static Status map(const Request& request, int descriptor) {
        void* const wanted = reinterpret_cast<void*>(request.address);
        const void* mapped =
            mmap(wanted, request.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                 descriptor, static_cast<off_t>(request.offset));
        close(descriptor);
        if (mapped == wanted) return {};
        if (mapped != MAP_FAILED) munmap(const_cast<void*>(mapped), request.size);
        return fail(507033, "addresses from {:#x} on are in use", request.address);
    }

    Status open(const Request& request, int descriptor) CANOPY_REQUIRES(mutex_) {
        CANOPY_TRY(map(request, descriptor));
        const Chip* chip = find_chip(request.text);
        if (!chip) return fail(507033, "chip {} is unknown", static_cast<const char*>(request.text));
        DeviceOptions options;
        options.chip = chip;
        options.memory = std::uint64_t{64} << 20;
        options.workers = request.workers;
        options.stack_size = request.stack_size;
        auto device = open_device(*find_kind("soft"), options);
        if (!device.ok()) return device.status();
        device_ = std::move(*device);
        return {};
    }

    Status load(const Request& request, int descriptor) CANOPY_REQUIRES(mutex_) {
        void* const file = mmap(nullptr, request.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        close(descriptor);
        if (file == MAP_FAILED) return fail(207001, "no memory to load an image of {} bytes", request.size);
        auto module = device_->load({static_cast<const std::byte*>(file), request.size});
        munmap(file, request.size);
        if (!module.ok()) return module.status();
        Code& code = codes_[request.code];
        code.module = std::move(*module);
        for (const KernelInfo& info : code.module->kernels()) code.kernels.push_back(code.module->kernel(info.name));
        return {};
    }

    Status symbol(const Request& request, Reply& reply) CANOPY_REQUIRES(mutex_) {
        const auto code = codes_.find(request.code);
        if (code == codes_.end()) return fail(107000, "the code is not loaded");
        const auto found = code->second.module->symbol(request.text);
        if (!found) return fail(107042, "there is no symbol {}", static_cast<const char*>(request.text));
        reply.address = found->address.value();
        reply.size = found->size;
        return {};
    }

    void launch(const Request& request) {
        LaunchWork work{};
        std::shared_ptr<Lane> lane;
        Status status = find(request, work.kernel, lane);
        if (status.ok()) status = lane->run(described(request, work), request.number);
        if (status.ok()) return;
        Reply reply;
        reply.tell = Tell::ended;
        reply.number = request.number;
        reply.fault = FaultKind::exception;
        set_text(reply, newest_error_text());
        reply_with(reply);
    }

    Status find(const Request& request, const Kernel*& kernel, std::shared_ptr<Lane>& lane) {
        MutexLock guard(mutex_);
        const auto code = codes_.find(request.code);
        if (code == codes_.end() || request.kernel >= code->second.kernels.size())
            return fail(107000, "the kernel is not loaded");
        kernel = code->second.kernels[request.kernel];
        std::shared_ptr<Lane>& known = lanes_[request.lane];
        if (!known) known = std::make_shared<Lane>(*device_, request.priority);
        lane = known;
        return lane->usable() ? Status() : fail(207001, "no memory for a stream");
    }

    static LaunchWork described(const Request& request, LaunchWork work) noexcept {
        work.set_arguments_in_place(DeviceAddress(request.address));
        work.arguments_size = request.arguments_size;
        work.timeout = request.timeout;
        work.blocks = request.blocks;
        work.block_offset = request.block_offset;
        work.dynamic_size = request.dynamic_size;
        work.batch = request.batch;
        return work;
    }

    // Stopping waits for the kernel, so it has its own thread.
    void stop(const Request& request) CANOPY_REQUIRES(mutex_) {
        const auto lane = lanes_.find(request.lane);
        if (lane == lanes_.end()) return;
        std::thread([kept = lane->second, number = request.number] { kept->stop(number); }).detach();
    }

    struct Code {
        std::unique_ptr<Module> module;
        std::vector<const Kernel*> kernels;
    };
    Mutex mutex_;
    std::unique_ptr<Device> device_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint64_t, Code> codes_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint32_t, std::shared_ptr<Lane>> lanes_ CANOPY_GUARDED_BY(mutex_);
    std::atomic<int> receiving_{0};
};

}  // namespace
}  // namespace canopy::apart

extern "C" __attribute__((visibility("default"))) int canopy_serve_device(int socket) {
    using namespace canopy::apart;
    socket_number = socket;
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    canopy::print_kernels_with(&print);
    static Server server;
    server.serve();
}
