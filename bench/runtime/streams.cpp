// SPDX-License-Identifier: Apache-2.0
// The memory held by a stream that was used and is now idle, and how many streams can be used at once. A child process
// measures it, so that nothing else allocates or frees memory.
#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <numeric>

#include "harness/child.h"
#include "harness/topics.h"

namespace bench {
namespace {

constexpr std::size_t idle_streams = 1'900;
constexpr std::size_t many_launches = 2'000;
constexpr std::size_t all_streams = 1'984;  // of a device, including its default stream

double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double total = 0, resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

nlohmann::ordered_json child_streams() {
    const Session session;
    const aclrtFuncHandle function = session.function("empty_five");
    const aclrtFuncHandle mark = session.function("mark");
    FiveArguments arguments;
    std::vector<Stream> streams;
    streams.reserve(all_streams);
    const auto use_a_new_one = [&] {
        streams.emplace_back();
        launch_empty(function, streams.back(), arguments, 1);
        streams.back().synchronise();
    };
    for (int i = 0; i < 10; ++i) use_a_new_one();
    const double before = resident_bytes();
    for (std::size_t i = 0; i < idle_streams; ++i) use_a_new_one();
    const double once = (resident_bytes() - before) / static_cast<double>(idle_streams);
    for (std::size_t i = streams.size() - idle_streams; i < streams.size(); ++i) {
        launch_empty(function, streams[i], arguments, many_launches);
        streams[i].synchronise();
    }
    const double often = (resident_bytes() - before) / static_cast<double>(idle_streams);

    while (streams.size() + 1 < all_streams) streams.emplace_back();
    std::vector<std::uint32_t> marks(all_streams, 0);
    const std::size_t size = marks.size() * sizeof(marks[0]);
    const DeviceMemory memory(size);
    BENCH_CHECK(aclrtMemcpy(memory.get(), size, marks.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
    for (std::size_t i = 0; i < streams.size(); ++i) launch(mark, streams[i].get(), memory.get(), i);
    launch(mark, nullptr, memory.get(), streams.size());
    BENCH_CHECK(aclrtSynchronizeDevice());
    marks = memory.read<std::uint32_t>();
    return {{"bytes_after_one_launch", once},
            {"bytes_after_many_launches", often},
            {"streams_used", std::accumulate(marks.begin(), marks.end(), 0u)}};
}

void measure_streams(Environment& environment) {
    const auto numbers = run_child("streams", "", environment.options);
    const double once = numbers["bytes_after_one_launch"].get<double>() / 1024;
    const double often = numbers["bytes_after_many_launches"].get<double>() / 1024;
    const std::size_t used = numbers["streams_used"];
    environment.report.add({"stream-memory", "memory of an idle stream",
                            fmt::format("{:.1f} KiB, {:.1f} KiB after 2,000 launches", once, often), "<= 256 KiB", "",
                            "", once <= 256 && often <= 256 ? Verdict::reached : Verdict::missed, numbers});
    environment.report.add({"stream-count", "streams live and used at once", fmt::format("{}", used), "1984", "", "",
                            used == all_streams ? Verdict::reached : Verdict::missed, numbers});
}

}  // namespace bench
