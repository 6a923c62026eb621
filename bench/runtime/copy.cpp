// SPDX-License-Identifier: Apache-2.0
// Copies of 256 MiB in each direction against one memcpy between two ordinary buffers, two streams copying at once, and
// memsets of 256 MiB against one memset of an ordinary buffer. The rivals use one thread.
#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "harness/topics.h"

namespace bench {
namespace {

constexpr std::size_t size = std::size_t{256} << 20;

// Ordinary memory with every page touched.
class HostMemory {
public:
    HostMemory() : address_(std::malloc(size)) {
        if (!address_) throw std::runtime_error("no memory for a buffer of 256 MiB");
        std::memset(address_, 1, size);
    }
    ~HostMemory() { std::free(address_); }
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;
    [[nodiscard]] void* get() const { return address_; }

private:
    void* address_;
};

class PinnedMemory {
public:
    PinnedMemory() {
        BENCH_CHECK(aclrtMallocHost(&address_, size));
        std::memset(address_, 1, size);
    }
    ~PinnedMemory() { aclrtFreeHost(address_); }
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    [[nodiscard]] void* get() const { return address_; }

private:
    void* address_ = nullptr;
};

struct Buffers {
    HostMemory host[2];
    PinnedMemory pinned[2];
    DeviceMemory device[2] = {DeviceMemory(size), DeviceMemory(size)};
    Stream streams[2];
};

void copy_now(void* destination, const void* source, aclrtMemcpyKind kind) {
    BENCH_CHECK(aclrtMemcpy(destination, size, source, size, kind));
}

void copy_async(void* destination, const void* source, aclrtMemcpyKind kind, const Stream& stream) {
    BENCH_CHECK(aclrtMemcpyAsync(destination, size, source, size, kind, stream.get()));
}

void set_now(void* destination) { BENCH_CHECK(aclrtMemset(destination, size, 3, size)); }

void set_async(void* destination, const Stream& stream) {
    BENCH_CHECK(aclrtMemsetAsync(destination, size, 5, size, stream.get()));
}

// Bytes per nanosecond; one call copies `bytes`.
template <class Copy>
Contender contender(const char* name, std::size_t bytes, Copy copy) {
    return {name, [=] {
                const std::uint64_t begin = now();
                copy();
                return static_cast<double>(bytes) / static_cast<double>(now() - begin);
            }};
}

// A pattern copied host, device, device, host must come back intact; likewise through pinned memory and streams.
void check_copies(Buffers& buffers) {
    auto* const source = static_cast<std::uint64_t*>(buffers.host[0].get());
    for (std::size_t i = 0; i < size / sizeof(*source); ++i) source[i] = i * 0x9E3779B97F4A7C15u;
    copy_now(buffers.device[0].get(), source, ACL_MEMCPY_HOST_TO_DEVICE);
    copy_now(buffers.device[1].get(), buffers.device[0].get(), ACL_MEMCPY_DEVICE_TO_DEVICE);
    copy_now(buffers.host[1].get(), buffers.device[1].get(), ACL_MEMCPY_DEVICE_TO_HOST);
    copy_async(buffers.pinned[0].get(), buffers.device[1].get(), ACL_MEMCPY_DEVICE_TO_HOST, buffers.streams[0]);
    copy_async(buffers.device[0].get(), buffers.pinned[0].get(), ACL_MEMCPY_HOST_TO_DEVICE, buffers.streams[0]);
    copy_async(buffers.pinned[1].get(), buffers.device[0].get(), ACL_MEMCPY_DEVICE_TO_HOST, buffers.streams[0]);
    buffers.streams[0].synchronise();
    if (std::memcmp(source, buffers.host[1].get(), size) != 0 ||
        std::memcmp(source, buffers.pinned[1].get(), size) != 0)
        throw std::runtime_error("copies changed the bytes");
}

void check_memsets(Buffers& buffers) {
    set_now(buffers.device[0].get());
    set_async(buffers.device[1].get(), buffers.streams[0]);
    buffers.streams[0].synchronise();
    for (int i = 0; i < 2; ++i) copy_now(buffers.host[i].get(), buffers.device[i].get(), ACL_MEMCPY_DEVICE_TO_HOST);
    const auto* const first = static_cast<const char*>(buffers.host[0].get());
    const auto* const second = static_cast<const char*>(buffers.host[1].get());
    if (first[0] != 3 || std::memcmp(first, first + 1, size - 1) != 0 || second[0] != 5 ||
        std::memcmp(second, second + 1, size - 1) != 0)
        throw std::runtime_error("memsets left other bytes");
}

std::vector<Contender> all_memsets(Buffers& all) {
    Buffers* const buffers = &all;
    return {contender("memset", size, [buffers] { std::memset(buffers->host[1].get(), 2, size); }),
            contender("memset-on-device", size, [buffers] { set_now(buffers->device[0].get()); }),
            contender("memset-on-device-async", size, [buffers] {
                set_async(buffers->device[0].get(), buffers->streams[0]);
                buffers->streams[0].synchronise();
            })};
}

std::vector<Contender> all_copies(Buffers& all) {
    Buffers* const buffers = &all;
    const auto plain = [buffers] { std::memcpy(buffers->host[1].get(), buffers->host[0].get(), size); };
    return {
        contender("memcpy", size, plain),
        contender("copy-to-device", size,
                  [buffers] { copy_now(buffers->device[0].get(), buffers->host[0].get(), ACL_MEMCPY_HOST_TO_DEVICE); }),
        contender("copy-to-host", size,
                  [buffers] { copy_now(buffers->host[1].get(), buffers->device[0].get(), ACL_MEMCPY_DEVICE_TO_HOST); }),
        contender(
            "copy-on-device", size,
            [buffers] { copy_now(buffers->device[1].get(), buffers->device[0].get(), ACL_MEMCPY_DEVICE_TO_DEVICE); }),
        contender("copy-on-device-async", size,
                  [buffers] {
                      copy_async(buffers->device[1].get(), buffers->device[0].get(), ACL_MEMCPY_DEVICE_TO_DEVICE,
                                 buffers->streams[0]);
                      buffers->streams[0].synchronise();
                  }),
        contender("copy-to-device-async", size,
                  [buffers] {
                      copy_async(buffers->device[0].get(), buffers->pinned[0].get(), ACL_MEMCPY_HOST_TO_DEVICE,
                                 buffers->streams[0]);
                      buffers->streams[0].synchronise();
                  }),
        contender("copy-to-host-async", size,
                  [buffers] {
                      copy_async(buffers->pinned[1].get(), buffers->device[0].get(), ACL_MEMCPY_DEVICE_TO_HOST,
                                 buffers->streams[0]);
                      buffers->streams[0].synchronise();
                  }),
        contender("copy-two-streams", 2 * size, [buffers] {
            for (int i = 0; i < 2; ++i)
                copy_async(buffers->device[i].get(), buffers->pinned[i].get(), ACL_MEMCPY_HOST_TO_DEVICE,
                           buffers->streams[i]);
            for (const Stream& stream : buffers->streams) stream.synchronise();
        })};
}

const char* description(const std::string& name) {
    if (name == "copy-to-device") return "256 MiB host to device";
    if (name == "copy-to-host") return "256 MiB device to host";
    if (name == "copy-on-device") return "256 MiB device to device";
    if (name == "copy-on-device-async") return "256 MiB device to device, async";
    if (name == "memset-on-device") return "memset of 256 MiB on the device";
    if (name == "memset-on-device-async") return "memset of 256 MiB on the device, async";
    if (name == "copy-to-device-async") return "256 MiB pinned to device, async";
    if (name == "copy-to-host-async") return "256 MiB device to pinned, async";
    return "2 x 256 MiB pinned to device, two streams";
}

// The first contender is the function of the C library, on one thread.
void measure(Environment& environment, std::vector<Contender> contenders) {
    take_turns(contenders, environment.options.rounds(30));
    const Summary plain = contenders[0].summary();
    for (std::size_t i = 1; i < contenders.size(); ++i) {
        const Summary ours = contenders[i].summary();
        const double ratio = ours.p50 / plain.p50;
        const double goal = contenders[i].name == "copy-two-streams" ? 1.5 : 1.0;
        const std::string& rival = contenders[0].name;
        environment.report.add({contenders[i].name,
                                description(contenders[i].name),
                                rate_text(ours.p50),
                                fmt::format(">= {:.1f} x {}", goal, rival),
                                rival + " " + rate_text(plain.p50),
                                times_text(ratio) + " " + rival,
                                ratio >= goal ? Verdict::reached : Verdict::missed,
                                {{"Canopy", to_json(ours)}, {rival, to_json(plain)}}});
    }
}

}  // namespace

void measure_copy(Environment& environment) {
    Buffers buffers;
    check_copies(buffers);
    check_memsets(buffers);
    measure(environment, all_copies(buffers));
    measure(environment, all_memsets(buffers));
}

}  // namespace bench
