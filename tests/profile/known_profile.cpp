// SPDX-License-Identifier: Apache-2.0
// Writes profiles whose content is known, alone or in place of a program that is profiled.
//     known_profile write FILE [TASKS]   the example, or so many tasks and calls
//     known_profile name FILE TEXT       a kernel of this name, which waits for another one
//     known_profile exit STATUS          writes what CANOPY_PROFILE asks for and ends
//     known_profile kill                 the same, without the end of the file, and ends by SIGKILL
//     known_profile wait                 the same, says "ready" and ends with 7 at SIGINT
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "profile_maker.h"

namespace {

using namespace canopy::profile;

std::string path_of_variable() {
    const char* const variable = std::getenv("CANOPY_PROFILE");
    std::string path = variable ? variable : "";
    if (const std::size_t place = path.find("%p"); place != std::string::npos)
        path.replace(place, 2, std::to_string(getpid()));
    return path;
}

void make_tasks(ProfileMaker& maker, std::uint32_t count) {
    maker.device(0, 2);
    maker.host_thread(main_thread, 100, "main");
    for (std::uint32_t i = 1; i <= count; ++i) {
        const std::uint64_t at = std::uint64_t{200} * i;
        maker.call(main_thread, "aclrtLaunchKernel", at, at + 80, link_of(1 + i % 4, i));
        maker.task(runtime_thread, {TaskType::kernel, static_cast<std::uint8_t>(CoreKind::vector)},
                   "kernel_" + std::to_string(i % 40), link_of(1 + i % 4, i), at + 90, at + 190, 8);
    }
}

void write_example(const std::string& path, bool close) {
    ProfileMaker maker(path, static_cast<std::uint64_t>(getpid()));
    make_example(maker);
    maker.finish(close);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "write" && argc > 3) {
        ProfileMaker maker(argv[2]);
        make_tasks(maker, static_cast<std::uint32_t>(std::atol(argv[3])));
        maker.finish();
        return 0;
    }
    if (what == "write" && argc > 2) {
        ProfileMaker maker(argv[2]);
        make_example(maker);
        maker.finish();
        return 0;
    }
    if (what == "name" && argc > 3) {
        ProfileMaker maker(argv[2]);
        maker.task(runtime_thread, {TaskType::kernel}, argv[3], link_of(1, 1), 0, 100, 1);
        maker.task(runtime_thread, {TaskType::signal}, "record event", link_of(1, 2), 100, 110);
        maker.task(runtime_thread, {TaskType::wait}, "wait for event", link_of(2, 1), 0, 110);
        maker.detail(runtime_thread, Detail::released_by, link_of(2, 1), link_of(1, 2));
        maker.finish();
        return 0;
    }
    if (what == "exit" && argc > 2) {
        write_example(path_of_variable(), true);
        return std::atoi(argv[2]);
    }
    if (what == "kill") {
        write_example(path_of_variable(), false);
        raise(SIGKILL);
    }
    if (what == "wait") {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigprocmask(SIG_BLOCK, &signals, nullptr);
        std::puts("ready");
        std::fflush(stdout);
        int got = 0;
        sigwait(&signals, &got);
        write_example(path_of_variable(), true);
        return 7;
    }
    return 2;
}
