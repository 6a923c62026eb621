// SPDX-License-Identifier: Apache-2.0
// Kernels on the device's CPU cores: what launching an empty one costs beside an empty kernel of an AI core, and how
// long it takes from the bytes of a library to the end of its first launch.
#include <fmt/core.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "topics.h"

namespace bench {
namespace {

std::string image_bytes() {
    std::ifstream file(CANOPY_BENCH_CPU_IMAGE, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.empty()) throw std::runtime_error("the library with the CPU kernel cannot be read");
    return bytes;
}

class CpuBinary {
public:
    explicit CpuBinary(const std::string& bytes) {
        aclrtBinaryLoadOption option = {};
        option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
        option.value.cpuKernelMode = 2;
        aclrtBinaryLoadOptions options = {&option, 1};
        BENCH_CHECK(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary_));
        BENCH_CHECK(aclrtRegisterCpuFunc(binary_, "empty_cpu_kernel", "Empty", &function_));
    }
    ~CpuBinary() { aclrtBinaryUnLoad(binary_); }
    CpuBinary(const CpuBinary&) = delete;
    CpuBinary& operator=(const CpuBinary&) = delete;
    [[nodiscard]] aclrtFuncHandle function() const { return function_; }

private:
    aclrtBinHandle binary_ = nullptr;
    aclrtFuncHandle function_ = nullptr;
};

void measure_launches(Environment& environment, const std::string& bytes) {
    constexpr std::size_t warm_up = 1'000, batch = 20'000;
    const Stream stream;
    const CpuBinary binary(bytes);
    FiveArguments arguments;
    const auto launches = [&](aclrtFuncHandle function) {
        return [&, function] {
            return time_each(warm_up, batch, [&](std::size_t count) {
                launch_empty(function, stream, arguments, count);
                stream.synchronise();
            });
        };
    };
    std::vector<Contender> contenders = {{"Canopy", launches(binary.function())},
                                         {"AI-core kernel", launches(environment.session.function("empty_five"))}};
    take_turns(contenders, environment.options.rounds(60));
    const double ours = contenders[0].summary().p50, core = contenders[1].summary().p50;
    environment.report.add({"cpu-launch", "launch of an empty CPU kernel, sustained", nanoseconds_text(ours),
                            "<= 1.5 x an AI-core kernel", fmt::format("AI-core kernel {}", nanoseconds_text(core)),
                            fmt::format("{:.2f} x", ours / core),
                            ours <= 1.5 * core ? Verdict::reached : Verdict::missed, to_json(contenders)});
}

// Every round loads other bytes: a number behind the last section, which the loader does not look at.
void measure_load(Environment& environment, std::string bytes) {
    const Stream stream;
    FiveArguments arguments;
    std::uint64_t number = 0;
    bytes.append(sizeof(number), '\0');
    std::vector<Contender> contenders = {{"Canopy", [&] {
                                              ++number;
                                              std::memcpy(bytes.data() + bytes.size() - sizeof(number), &number,
                                                          sizeof(number));
                                              return time_each(0, 1, [&](std::size_t) {
                                                  const CpuBinary binary(bytes);
                                                  launch_empty(binary.function(), stream, arguments, 1);
                                                  stream.synchronise();
                                              });
                                          }}};
    take_turns(contenders, environment.options.rounds(60));
    const double ours = contenders[0].summary().p50;
    environment.report.add({"cpu-load", "from the bytes of a library of 1 MiB to the end of its first launch",
                            fmt::format("{:.2f} ms", ours / 1e6), "<= 2 ms", "", "",
                            ours <= 2e6 ? Verdict::reached : Verdict::missed, to_json(contenders)});
}

}  // namespace

void measure_cpu_kernel(Environment& environment) {
    const std::string bytes = image_bytes();
    measure_launches(environment, bytes);
    measure_load(environment, bytes);
}

}  // namespace bench
