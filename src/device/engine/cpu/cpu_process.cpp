// SPDX-License-Identifier: Apache-2.0
#include "device/engine/cpu/cpu_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error_text.h"
#include "base/helper_process.h"
#include "base/kernel_thread.h"
#include "base/local_socket.h"
#include "device/device.h"
#include "device/engine/cpu/cpu_launch.h"

namespace canopy {

using cpu_process::Ask;
using cpu_process::Reply;
using cpu_process::Request;
using cpu_process::Tell;

namespace {

constexpr int bad_image = 107000;
// The address layout of a process is random: one whose own mappings overlap the device memory is replaced.
constexpr int most_attempts = 50;
constexpr Nanoseconds load_patience = 60 * second;

bool receive(int socket, Reply& reply) noexcept {
    ssize_t size = 0;
    do size = recv(socket, &reply, sizeof reply, 0);
    while (size < 0 && errno == EINTR);
    return size == static_cast<ssize_t>(sizeof reply);
}

void set_text(CpuOutcome& outcome, std::string_view text) noexcept {
    const std::size_t length = text.copy(outcome.text, sizeof outcome.text - 1);
    outcome.text[length] = '\0';
}

void fail_with(CpuLaunch& launch, FaultKind kind, std::string_view text) noexcept {
    launch.outcome.fault.kind = kind;
    set_text(launch.outcome, text);
}

void end_process(pid_t process) noexcept {
    kill(process, SIGKILL);
    wait_for_helper(process);
}

}  // namespace

CpuProcess::~CpuProcess() {
    MutexLock lock(mutex_);
    if (process_ != 0) kill(process_, SIGKILL);
    while (reading_) news_.wait(mutex_);
    if (library_ >= 0) close(library_);
}

// Called in that process, on the thread of every block.
extern "C" __attribute__((visibility("default"))) void canopy_serve_cpu_kernels(std::uint32_t* asleep) {
    set_runs_cpu_kernels();
    set_kernel_of_process(asleep);
}

// ---- the process ---------------------------------------------------------------------------------------------------

bool CpuProcess::ask(Request& request, int descriptor) noexcept {
    return send_message(socket_, &request, sizeof request, nullptr, 0, descriptor);
}

bool CpuProcess::spawn(std::string& problem) {
    if (program_.descriptor() < 0) {
        auto program = CodeFile::create("canopy-cpu", cpu_process_program());
        if (!program.ok()) {
            problem = "no memory file for the program of the CPU kernels' process";
            return false;
        }
        program_ = std::move(*program);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // that process is never built with a sanitizer
        // Without it, images that call functions of the runtime do not load.
        Dl_info own{};
        if (dladdr(reinterpret_cast<void*>(&cpu_process_program), &own) != 0 && own.dli_fname)
            library_ = open(own.dli_fname, O_RDONLY | O_CLOEXEC);
#endif
    }
    std::string reason = "it ended at once";
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
            reason = std::strerror(errno);
            break;
        }
        const pid_t process = library_ < 0 ? start_helper(program_, "canopy-cpu", {ends[1]})
                                           : start_helper(program_, "canopy-cpu", {ends[1], library_});
        if (process < 0) reason = std::strerror(errno);
        close(ends[1]);
        socket_ = ends[0];
        if (process < 0) {
            close(std::exchange(socket_, -1));
            break;
        }
        Request request{};
        request.ask = Ask::map;
        request.address = memory_.range.base.value();
        request.size = memory_.range.size;
        Reply reply{};
        if (ask(request, memory_.descriptor) && receive(socket_, reply) && reply.text[0] == '\0') {
            process_ = process;
            return true;
        }
        if (reply.text[0] != '\0') reason = reply.text;
        end_process(process);
        close(std::exchange(socket_, -1));
    }
    problem = fmt::format("the process of the CPU kernels cannot be started: {}", reason);
    return false;
}

bool CpuProcess::ensure_running(std::string& problem) {
    // Until the reader of the last process has ended; meanwhile another thread may start the next process.
    while (process_ == 0 && reading_) news_.wait(mutex_);
    if (process_ != 0) return true;
    if (!spawn(problem)) return false;
    loaded_.clear();
    for (const auto& [address, memory] : mapped_) map_there(memory, 0);
    reading_ = true;
    try {
        std::thread([this, socket = socket_, process = process_] { reader_main(socket, process); }).detach();
    } catch (...) {
        reading_ = false;
        end_process(std::exchange(process_, 0));
        close(std::exchange(socket_, -1));
        problem = "the system cannot create a thread for the CPU kernels' process";
        return false;
    }
    return true;
}

void CpuProcess::reader_main(int socket, pid_t process) noexcept {
    pthread_setname_np(pthread_self(), "canopy-cpu");
    Reply reply{};
    while (receive(socket, reply)) take(reply);
    kill(process, SIGKILL);  // it closed its socket or sent an invalid message
    process_ended(wait_for_helper(process));
}

// Fails everything that ran there, even if another kernel was at fault.
void CpuProcess::process_ended(int status) noexcept {
    MutexLock lock(mutex_);
    process_ = 0;
    close(std::exchange(socket_, -1));
    loaded_.clear();
    std::string how = "ended";
    try {
        if (WIFSIGNALED(status)) how = fmt::format("was ended by signal {}", WTERMSIG(status));
        if (WIFEXITED(status)) how = fmt::format("ended with exit status {}", WEXITSTATUS(status));
        how = fmt::format("the process of the CPU kernels {} while the kernel ran", how);
    } catch (...) {
    }
    for (auto& [number, flight] : flights_)
        if (flight.launch->outcome.fault.kind == FaultKind::none) fail_with(*flight.launch, FaultKind::exception, how);
    while (!flights_.empty()) complete(flights_.begin()->first);
    for (auto& [number, answer] : answers_) answer = how;
    reading_ = false;
    news_.notify_all();
}

void CpuProcess::take(const Reply& reply) noexcept {
    MutexLock lock(mutex_);
    if (const auto waiting = answers_.find(reply.number); reply.tell == Tell::answered) {
        if (waiting == answers_.end()) return;
        try {
            waiting->second = reply.text[0] != '\0' ? reply.text : "ok";
        } catch (...) {
        }
        news_.notify_all();
        return;
    }
    const auto found = flights_.find(reply.number);
    if (found == flights_.end()) return;
    CpuLaunch& launch = *found->second.launch;
    CpuOutcome& outcome = launch.outcome;
    outcome.block = reply.block;
    outcome.result = reply.result;
    char text[sizeof outcome.text];
    switch (reply.tell) {
        case Tell::fault:
            if (outcome.fault.kind != FaultKind::none) return;
            outcome.fault.kind = reply.signal == SIGILL ? FaultKind::trap : FaultKind::exception;
            outcome.fault.signal = reply.signal;
            outcome.fault.address = reply.address;
            return;  // the process ends next
        case Tell::threw:
            std::snprintf(text, sizeof text, "the kernel threw an exception: %.200s", reply.text);
            fail_with(launch, FaultKind::exception, text);
            break;
        case Tell::missing:
            std::snprintf(text, sizeof text, "the kernel is missing: %.200s", reply.text);
            fail_with(launch, FaultKind::exception, text);
            break;
        default:
            if (reply.result == 0) break;
            std::snprintf(text, sizeof text, "the kernel returned %u", unsigned{reply.result});
            fail_with(launch, FaultKind::returned, text);
            break;
    }
    complete(reply.number);
}

// Continues the owner without the lock, since it may launch the next kernel.
void CpuProcess::complete(std::uint64_t number) noexcept {
    const auto found = flights_.find(number);
    const Flight flight = found->second;
    flights_.erase(found);
    if (flight.arguments) driver_.release(flight.arguments).ignore();
    flight.launch->state = CpuLaunch::State::idle;
    mutex_.unlock();
    flight.launch->owner->continue_after_launch();
    mutex_.lock();
}

// ---- images --------------------------------------------------------------------------------------------------------

bool CpuProcess::load_there(std::uint64_t number, std::uint64_t answer_to) noexcept {
    Request request{};
    request.ask = Ask::load;
    request.image = number;
    request.number = answer_to;
    loaded_.insert(number);
    return ask(request, images_.at(number).first);
}

// The text is "ok", the problem, or empty if there is no answer.
std::string CpuProcess::wait_for_answer(std::uint64_t request) {
    const Deadline until = Deadline::after(load_patience);
    while (answers_[request].empty() && news_.wait(mutex_, until)) {
    }
    std::string answer = answers_[request];
    answers_.erase(request);
    return answer;
}

bool CpuProcess::map_there(const HostMemory& memory, std::uint64_t answer_to) noexcept {
    Request request{};
    request.ask = Ask::map;
    request.number = answer_to;
    request.address = reinterpret_cast<std::uint64_t>(memory.range.base);
    request.size = memory.range.size;
    request.file_offset = memory.offset;
    return ask(request, memory.file);
}

Status CpuProcess::map(const HostMemory& memory) {
    MutexLock lock(mutex_);
    if (!mapped_.add(memory)) return {};
    if (process_ == 0) return {};  // it gets everything when it starts
    const std::uint64_t request = ++numbers_;
    answers_[request] = "";
    map_there(memory, request);
    const std::string answer = wait_for_answer(request);
    if (answer == "ok" || process_ == 0) return {};
    return fail(207001, "the process of the CPU kernels cannot use the memory at {}: {}", as_address(memory.range.base),
                answer);
}

void CpuProcess::unmap(const HostMemory& memory) noexcept {
    MutexLock lock(mutex_);
    if (!mapped_.remove(memory) || process_ == 0) return;
    Request request{};
    request.ask = Ask::unmap;
    request.address = reinterpret_cast<std::uint64_t>(memory.range.base);
    request.size = memory.range.size;
    ask(request, -1);
}

Status CpuProcess::load(const CodeFile& file, const std::string& name, std::uint64_t& number) {
    MutexLock lock(mutex_);
    std::string answer;
    number = ++numbers_;
    images_[number] = {file.descriptor(), name};
    const std::uint64_t request = ++numbers_;
    if (ensure_running(answer)) {
        answers_[request] = "";
        load_there(number, request);
        answer = wait_for_answer(request);
    }
    if (answer == "ok") return {};
    images_.erase(number);
    return fail(bad_image, "{} does not load: {}", name,
                answer.empty() ? "its initialisation does not return" : answer);
}

void CpuProcess::unload(std::uint64_t number) noexcept {
    MutexLock lock(mutex_);
    images_.erase(number);
    if (loaded_.erase(number) == 0 || process_ == 0) return;
    Request request{};
    request.ask = Ask::unload;
    request.image = number;
    ask(request, -1);
}

// ---- launches ------------------------------------------------------------------------------------------------------

// Pointers from the argument block into itself are relocated. The memory has zeros behind them.
DeviceAddress CpuProcess::copy_arguments(const CpuLaunch& launch, std::size_t size) {
    Result<DeviceAddress> memory = driver_.allocate(size, 0);
    if (!memory.ok()) return {};
    std::vector<char> bytes(size);
    std::memcpy(bytes.data(), launch.arguments, launch.arguments_size);
    const auto from = reinterpret_cast<std::uint64_t>(launch.arguments);
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= launch.arguments_size; at += sizeof(std::uint32_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if (word - from >= launch.arguments_size) continue;
        word = memory->value() + (word - from);
        std::memcpy(bytes.data() + at, &word, sizeof word);
    }
    if (write_device(*memory, bytes.data(), bytes.size()).ok()) return *memory;
    driver_.release(*memory).ignore();
    return {};
}

bool CpuProcess::send_launch(CpuLaunch& launch, std::string& problem) {
    Request request{};
    request.ask = Ask::launch;
    request.blocks = launch.blocks;
    request.offset = launch.offset;
    request.with_block = launch.kernel->with_block ? 1 : 0;
    request.number = ++numbers_;
    request.image = launch.kernel->process_image;
    const std::string& name = launch.kernel->info->name;
    if (name.size() >= sizeof request.symbol) {
        problem = "the name of the kernel is too long";
        return false;
    }
    name.copy(request.symbol, name.size());
    DeviceAddress copy{}, asleep{};
    if (launch.arguments_size != 0) {
        const std::size_t behind = (std::size_t{launch.arguments_size} + 63) / 64 * 64;
        if (!(copy = copy_arguments(launch, behind + sizeof(std::uint32_t)))) {
            problem = "no device memory for the arguments";
            return false;
        }
        asleep = DeviceAddress(copy.value() + behind);
        request.asleep = asleep.value();
    }
    request.address = (copy ? copy : device_address(launch.arguments)).value();
    const bool limited = launch.timeout < std::uint64_t{INT64_MAX};
    const Deadline deadline = limited ? Deadline::after(static_cast<Nanoseconds>(launch.timeout)) : Deadline::never();
    launch.state = CpuLaunch::State::running;
    flights_[request.number] = {&launch, copy, asleep, deadline};
    if (loaded_.count(request.image) == 0) load_there(request.image, 0);
    ask(request, -1);  // if the process is gone, the reader ends the flight
    return true;
}

bool CpuProcess::start(CpuLaunch& launch) noexcept {
    std::string problem;
    try {
        MutexLock lock(mutex_);
        if (ensure_running(problem) && send_launch(launch, problem)) return true;
    } catch (...) {
        problem = "no memory for the launch";
    }
    launch.state = CpuLaunch::State::idle;
    fail_with(launch, FaultKind::exception, problem);
    return false;
}

void CpuProcess::stop(CpuLaunch& launch, std::uint64_t limit) noexcept {
    MutexLock lock(mutex_);
    if (launch.state == CpuLaunch::State::idle || launch.sequence >= limit) return;
    if (launch.outcome.fault.kind == FaultKind::none) launch.outcome.fault.kind = FaultKind::aborted;
    if (process_ != 0) kill(process_, SIGKILL);
}

bool CpuProcess::asleep(const CpuLaunch& launch) noexcept {
    if (!mutex_.try_lock()) return false;
    std::uint32_t count = 0;
    for (const auto& [number, flight] : flights_)
        if (flight.launch == &launch && flight.asleep) read_device(&count, flight.asleep, sizeof count).ignore();
    mutex_.unlock();
    return count != 0;
}

void CpuProcess::end_late() noexcept {
    if (!mutex_.try_lock()) return;  // another thread has it: try again at the next tick
    kill_late();
    mutex_.unlock();
}

void CpuProcess::kill_late() noexcept {
    if (process_ == 0) return;
    for (auto& [number, flight] : flights_) {
        if (!flight.deadline.passed()) continue;
        if (flight.launch->outcome.fault.kind == FaultKind::none)
            fail_with(*flight.launch, FaultKind::timeout, "the kernel did not finish in time");
        kill(process_, SIGKILL);
    }
}

}  // namespace canopy
