// SPDX-License-Identifier: Apache-2.0
#include "processes/partner.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

// The partner finds the descriptors here.
constexpr int first_descriptor = 200;
constexpr std::size_t most_message = std::size_t{1} << 20;

std::vector<int*> all_of(Descriptors& descriptors) {
    return {&descriptors.control, &descriptors.there[0],   &descriptors.there[1],  &descriptors.back[0],
            &descriptors.back[1], &descriptors.sockets[0], &descriptors.sockets[1]};
}

Control* map_control(int descriptor) {
    void* page = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED) throw std::runtime_error("cannot map the control page");
    return static_cast<Control*>(page);
}

// Soon if the other is awake, without taking the processor from it for long otherwise.
template <class Ready>
void wait_until(Ready&& ready) {
    for (int look = 0; !ready(); ++look) {
        if (look < 20'000)
            __builtin_ia32_pause();
        else
            usleep(20);
    }
}

}  // namespace

void stay_on(Side side) {
    cpu_set_t allowed, chosen;
    CPU_ZERO(&allowed);
    CPU_ZERO(&chosen);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    int left = static_cast<int>(side);
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &allowed) && left-- == 0) {
            CPU_SET(processor, &chosen);
            sched_setaffinity(0, sizeof(chosen), &chosen);
            return;
        }
    throw std::runtime_error("two processors are needed");
}

Partner::Partner() {
    Descriptors& own = descriptors_;
    own.control = memfd_create("control", MFD_CLOEXEC);
    if (own.control < 0 || ftruncate(own.control, sizeof(Control)) != 0 || pipe2(own.there.data(), O_CLOEXEC) != 0 ||
        pipe2(own.back.data(), O_CLOEXEC) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, own.sockets.data()) != 0)
        throw std::runtime_error("no descriptors for the partner");
    // As large as the longest message, as far as the system allows it.
    const int size = most_message;
    for (const int pipe : {own.there[1], own.back[1]}) fcntl(pipe, F_SETPIPE_SZ, size);
    for (const int socket : own.sockets) setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    control_ = map_control(own.control);

    char path[PATH_MAX] = {};
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) throw std::runtime_error("cannot find this program");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("cannot start the partner");
    if (pid_ == 0) {
        int next = first_descriptor;
        for (const int* descriptor : all_of(own)) dup2(*descriptor, next++);
        cpu_set_t all;
        CPU_ZERO(&all);
        for (int processor = 0; processor < CPU_SETSIZE; ++processor) CPU_SET(processor, &all);
        sched_setaffinity(0, sizeof(all), &all);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(path, path, "--child", "partner", nullptr);
        _exit(127);
    }
}

Partner::~Partner() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    for (const int* descriptor : all_of(descriptors_))
        if (*descriptor >= 0) close(*descriptor);
    if (control_) munmap(control_, sizeof(Control));
}

void Partner::check_alive() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == 0) return;
    pid_ = -1;
    throw std::runtime_error("the partner process has ended");
}

void Partner::ask(Task task, std::uint32_t wire, std::uint32_t count, std::uint32_t size) {
    check_alive();
    control_->task = task;
    control_->wire = wire;
    control_->count = count;
    control_->size = size;
    control_->steps[0].store(0, std::memory_order_relaxed);
    control_->steps[1].store(0, std::memory_order_relaxed);
    control_->asked.store(++asked_, std::memory_order_release);
}

void Partner::finish() {
    wait_until([&] {
        if (control_->done.load(std::memory_order_acquire) == asked_) return true;
        check_alive();
        return false;
    });
    if (control_->failed.load() != 0) throw std::runtime_error(fmt::format("the partner: {}", control_->text[1]));
}

void Partner::await_step(std::uint32_t step) {
    wait_until([&] {
        if (control_->steps[1].load(std::memory_order_acquire) >= step) return true;
        if (control_->failed.load() != 0) throw std::runtime_error(fmt::format("the partner: {}", control_->text[1]));
        return false;
    });
}

void Partner::make_step() { control_->steps[0].fetch_add(1, std::memory_order_acq_rel); }

void Partner::await_death() {
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

int serve_leader(void (*serve)(Control&, const Descriptors&)) {
    Descriptors descriptors;
    int next = first_descriptor;
    for (int* descriptor : all_of(descriptors)) *descriptor = next++;
    Control& control = *map_control(descriptors.control);
    for (std::uint32_t asked = 1;; ++asked) {
        wait_until([&] { return control.asked.load(std::memory_order_acquire) == asked; });
        try {
            serve(control, descriptors);
        } catch (const std::exception& problem) {
            fmt::format_to_n(control.text[1], sizeof(control.text[1]) - 1, "{}", problem.what());
            control.failed.store(1);
        }
        control.done.store(asked, std::memory_order_release);
    }
}

void await_leader_step(const Control& control, std::uint32_t step) {
    wait_until([&] { return control.steps[0].load(std::memory_order_acquire) >= step; });
}

void make_partner_step(Control& control) { control.steps[1].fetch_add(1, std::memory_order_acq_rel); }

}  // namespace bench
