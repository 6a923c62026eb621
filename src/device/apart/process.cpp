// SPDX-License-Identifier: Apache-2.0
#include "device/apart/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/error_text.h"
#include "base/helper_process.h"
#include "base/local_socket.h"

namespace canopy::apart {
namespace {

constexpr int device_setup = 507033;
constexpr int lost = 507010;
// The address layout of a process is random: one whose own mappings are in the way of the device's memory is replaced.
constexpr int most_attempts = 50;
constexpr Nanoseconds patience = 5 * second;  // beyond the time limit of a kernel
constexpr int poll_interval = 500;            // milliseconds

}  // namespace

DeviceProcess::~DeviceProcess() {
    end();
    MutexLock lock(mutex_);
    if (library_ >= 0) close(library_);
}

void DeviceProcess::end() noexcept {
    MutexLock lock(mutex_);
    if (process_ != 0) kill(process_, SIGKILL);
    while (reading_) news_.wait(mutex_);
}

std::string DeviceProcess::how_it_ended() {
    MutexLock lock(mutex_);
    return how_it_ended_;
}

bool DeviceProcess::spawn(std::string& problem) {
    if (library_ < 0) {
        Dl_info own{};
        if (dladdr(reinterpret_cast<void*>(&stub_program), &own) == 0 || !own.dli_fname ||
            (library_ = open(own.dli_fname, O_RDONLY | O_CLOEXEC)) < 0) {
            problem = "the file of the runtime library cannot be opened";
            return false;
        }
    }
    if (program_.descriptor() < 0) {
        auto program = CodeFile::create("canopy-device", stub_program());
        if (!program.ok()) {
            problem = "no memory file for its program";
            return false;
        }
        program_ = std::move(*program);
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        problem = std::strerror(errno);
        return false;
    }
    const pid_t process = start_helper(program_, "canopy-device", {ends[1], library_});
    if (process < 0) problem = std::strerror(errno);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return false;
    }
    MutexLock sending(send_mutex_);
    socket_ = ends[0];
    connected_ = ++processes_made_;
    process_ = process;
    return true;
}

Status DeviceProcess::start(const Request& open, int memory) {
    std::string problem;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        {
            MutexLock lock(mutex_);
            while (reading_) news_.wait(mutex_);
            if (!spawn(problem)) break;
            reading_ = true;
            alive_.store(true, std::memory_order_release);
            try {
                MutexLock sending(send_mutex_);
                std::thread([this, socket = socket_, process = process_] { reader_main(socket, process); }).detach();
            } catch (...) {
                reading_ = false;
                alive_.store(false, std::memory_order_release);
                kill(process_, SIGKILL);
                wait_for_helper(std::exchange(process_, 0));
                MutexLock sending(send_mutex_);
                close(std::exchange(socket_, -1));
                problem = "the system cannot create a thread";
                break;
            }
        }
        Result<Reply> answer = ask(open, memory);
        if (answer.ok()) return {};
        problem = newest_error_text();
        end();
    }
    return fail(device_setup, "the process of the device cannot be started: {}", problem);
}

Result<Reply> DeviceProcess::ask(Request request, int descriptor, std::span<const std::byte> bytes,
                                 std::vector<std::byte>* answer) {
    std::uint64_t process = 0;
    {
        MutexLock lock(mutex_);
        if (process_ == 0) return fail(lost, "the process of the device is gone: it {}", how_it_ended_);
        process = processes_made_;
        request.number = ++numbers_;
        answers_[request.number];
    }
    send(process, request, descriptor, bytes);
    MutexLock lock(mutex_);
    while (!answers_[request.number].here && process_ != 0 && processes_made_ == process) news_.wait(mutex_);
    Answer got = std::move(answers_[request.number]);
    answers_.erase(request.number);
    if (!got.here) return fail(lost, "the process of the device is gone: it {}", how_it_ended_);
    if (got.reply.code != 0) return fail(got.reply.code, "{}", static_cast<const char*>(got.reply.text));
    if (answer) *answer = std::move(got.bytes);
    return got.reply;
}

void DeviceProcess::send(std::uint64_t process, const Request& request, int descriptor,
                         std::span<const std::byte> bytes) noexcept {
    MutexLock sending(send_mutex_);
    if (socket_ < 0 || connected_ != process) return;
    send_message(socket_, &request, sizeof request, bytes.data(), bytes.size(), descriptor);
}

void DeviceProcess::tell(const Request& request) noexcept {
    std::uint64_t process = 0;
    {
        MutexLock lock(mutex_);
        process = processes_made_;
    }
    send(process, request);
}

bool DeviceProcess::launch(Flight& flight, Request& request, std::atomic<std::uint64_t>& number) noexcept {
    const bool limited = request.timeout != 0 && request.timeout < std::uint64_t{INT64_MAX} - patience;
    const Deadline deadline =
        limited ? Deadline::after(static_cast<Nanoseconds>(request.timeout) + patience) : Deadline::never();
    std::uint64_t process = 0;
    {
        MutexLock lock(mutex_);
        if (process_ == 0) return false;
        process = processes_made_;
        request.number = ++numbers_;
        try {
            flights_[request.number] = {&flight, deadline};
        } catch (...) {
            return false;
        }
        number.store(request.number, std::memory_order_release);
    }
    // If the process is gone, its reader ends the flight, perhaps before this returns.
    send(process, request);
    return true;
}

void DeviceProcess::reader_main(int socket, pid_t process) noexcept {
    pthread_setname_np(pthread_self(), "canopy-device");
    std::vector<std::byte> bytes;
    try {
        bytes.resize(most_bytes);
    } catch (...) {
    }
    Reply reply;
    std::size_t count = 0;
    for (;;) {
        pollfd news = {socket, POLLIN, 0};
        const int ready = poll(&news, 1, poll_interval);
        if (ready == 0) kill_late();
        if (ready <= 0 && (ready == 0 || errno == EINTR)) continue;
        if (ready < 0 || !receive_message(socket, &reply, sizeof reply, bytes.data(), bytes.size(), count, nullptr))
            break;
        take(reply, std::span(bytes).first(count));
    }
    kill(process, SIGKILL);  // it closed its socket or sent an invalid message
    process_ended(wait_for_helper(process));
}

void DeviceProcess::take(const Reply& reply, std::span<const std::byte> bytes) noexcept {
    if (reply.tell == Tell::print) {
        std::fwrite(bytes.data(), 1, bytes.size(), stdout);
        std::fflush(stdout);
        return;
    }
    Flight* flight = nullptr;
    {
        MutexLock lock(mutex_);
        if (reply.tell == Tell::answered) {
            const auto waiting = answers_.find(reply.number);
            if (waiting == answers_.end()) return;
            try {
                waiting->second.bytes.assign(bytes.begin(), bytes.end());
                waiting->second.reply = reply;
            } catch (...) {
                waiting->second.reply.code = 207001;
            }
            waiting->second.here = true;
            news_.notify_all();
            return;
        }
        const auto found = flights_.find(reply.number);
        if (found == flights_.end()) return;
        flight = found->second.flight;
        flights_.erase(found);
    }
    flight->ended(reply);
}

void DeviceProcess::kill_late() noexcept {
    MutexLock lock(mutex_);
    for (const auto& [number, flight] : flights_)
        if (flight.deadline.passed() && process_ != 0) kill(process_, SIGKILL);
}

// Fails everything that ran there.
void DeviceProcess::process_ended(int status) noexcept {
    std::map<std::uint64_t, InFlight> failed;
    Reply reply;
    reply.tell = Tell::ended;
    reply.fault = FaultKind::lost;
    {
        MutexLock lock(mutex_);
        alive_.store(false, std::memory_order_release);
        process_ = 0;
        {
            MutexLock sending(send_mutex_);
            close(std::exchange(socket_, -1));
        }
        try {
            how_it_ended_ = WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                            : WIFEXITED(status) ? fmt::format("ended with exit status {}", WEXITSTATUS(status))
                                                : "ended";
            std::snprintf(reply.text, sizeof reply.text, "the process of the device %s", how_it_ended_.c_str());
        } catch (...) {
        }
        failed.swap(flights_);
        news_.notify_all();
    }
    for (const auto& [number, flight] : failed) {
        reply.number = number;
        flight.flight->ended(reply);
    }
    MutexLock lock(mutex_);
    reading_ = false;
    news_.notify_all();
}

}  // namespace canopy::apart
