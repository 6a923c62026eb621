// SPDX-License-Identifier: Apache-2.0
// Fused kernels: eight element-wise steps, and a power followed by a test for infinity, as launches on a stream, as a
// graph, and as a fused graph at each level. The bound is the same work as one loop in C++. Each level runs in its own
// process, in which all contenders take turns.
#include <canopy/fusion.h>
#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>

#include "acl/super_kernel.h"
#include "graph/graph_capture.h"
#include "harness/child.h"
#include "harness/topics.h"
#include "rivals/fused_loops.h"

namespace bench {
namespace {

constexpr std::size_t step_count = 8;
constexpr std::size_t sizes[] = {1u << 10, 1u << 16, 1u << 20, 1u << 23};
constexpr std::size_t longest_tile = 4096;
constexpr float factor = 0.75f;
constexpr const char* short_tiles = "short tiles 8 Mi";  // of 2,048 floats

class Image {
public:
    Image() { BENCH_CHECK(aclrtBinaryLoadFromFile(CANOPY_BENCH_FUSION, nullptr, &handle_)); }
    ~Image() { aclrtBinaryUnLoad(handle_); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    [[nodiscard]] aclrtFuncHandle function(const char* name) const {
        aclrtFuncHandle found = nullptr;
        BENCH_CHECK(aclrtBinaryGetFunction(handle_, name, &found));
        return found;
    }

private:
    aclrtBinHandle handle_ = nullptr;
};

struct Arguments {
    void* from;
    void* to;
    float number;
    std::uint32_t padding;
    std::uint64_t tile;
    std::uint64_t tiles;
};

// The arrays of a chain: the steps pass data on through two temporaries in turn.
struct Arrays {
    explicit Arrays(std::size_t count) : x(count * 4), y(count * 4), a(count * 4), b(count * 4) {
        std::vector<float> numbers(count);
        for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i % 1000) * 0.01f;
        BENCH_CHECK(aclrtMemcpy(x.get(), count * 4, numbers.data(), count * 4, ACL_MEMCPY_HOST_TO_DEVICE));
        for (const DeviceMemory* each : {&y, &a, &b}) BENCH_CHECK(aclrtMemset(each->get(), count * 4, 0, count * 4));
        canopyFusionDeclareTemporary(a.get(), count * 4);
        canopyFusionDeclareTemporary(b.get(), count * 4);
    }
    ~Arrays() {
        canopyFusionUndeclareTemporary(a.get());
        canopyFusionUndeclareTemporary(b.get());
    }
    DeviceMemory x, y, a, b;
};

struct Chain {
    std::vector<aclrtFuncHandle> functions;
    std::vector<float> numbers;
    std::size_t count;
    std::size_t tile;
    std::uint32_t blocks;

    void issue(const Stream& stream, const Arrays& arrays) const {
        for (std::size_t step = 0; step < functions.size(); ++step) {
            void* const from = step == 0 ? arrays.x.get() : step % 2 == 1 ? arrays.a.get() : arrays.b.get();
            void* const to = step + 1 == functions.size() ? arrays.y.get()
                             : step % 2 == 0              ? arrays.a.get()
                                                          : arrays.b.get();
            Arguments arguments{from, to, numbers[step], 0, tile, count / tile};
            BENCH_CHECK(aclrtLaunchKernelWithHostArgs(functions[step], blocks, stream.get(), nullptr, &arguments,
                                                      sizeof arguments, nullptr, 0));
        }
    }
};

// Nanoseconds of one complete run, including the wait for its end.
template <class Run>
double time_runs(std::size_t count, const Stream& stream, Run&& run) {
    const std::size_t runs = std::max<std::size_t>(3, (1u << 23) / (count + (1u << 14)));
    return time_each(1, runs, [&](std::size_t times) {
        for (std::size_t i = 0; i < times; ++i) {
            run();
            stream.synchronise();
        }
    });
}

nlohmann::ordered_json report_of(const CapturedGraph& graph) {
    const char* text = nullptr;
    BENCH_CHECK(canopyFusionReport(graph.get(), &text));
    return nlohmann::ordered_json::parse(text);
}

void check_equal(const std::vector<float>& expected, const std::vector<float>& found, const char* what) {
    if (std::memcmp(expected.data(), found.data(), expected.size() * 4) != 0)
        throw std::runtime_error(fmt::format("{} has other results than its kernels one by one", what));
}

nlohmann::ordered_json measure_chain(const Chain& chain, const Options& options, bool bound) {
    const Stream stream;
    const Arrays arrays(chain.count);
    const auto issue = [&] { chain.issue(stream, arrays); };
    issue();
    stream.synchronise();
    const auto expected = arrays.y.read<float>();
    const CapturedGraph graph(stream, issue), fused(stream, issue);
    const std::uint64_t begin = now();
    BENCH_CHECK(aclskOptimize(fused.get(), nullptr));
    const std::uint64_t optimised = now();
    fused.replay(stream);
    stream.synchronise();
    const std::uint64_t first = now();
    BENCH_CHECK(canopyFusionWait(fused.get(), -1));
    BENCH_CHECK(aclrtMemset(arrays.y.get(), chain.count * 4, 0, chain.count * 4));
    fused.replay(stream);
    stream.synchronise();
    check_equal(expected, arrays.y.read<float>(), "the fused graph");

    std::vector<Contender> contenders = {
        {"stream", [&] { return time_runs(chain.count, stream, issue); }},
        {"graph", [&] { return time_runs(chain.count, stream, [&] { graph.replay(stream); }); }},
        {"fused", [&] { return time_runs(chain.count, stream, [&] { fused.replay(stream); }); }}};
    if (bound) {
        const auto* x = static_cast<const float*>(arrays.x.get());
        auto* y = static_cast<float*>(arrays.y.get());
        contenders.push_back(
            {"loop",
             [&, x, y] { return time_runs(chain.count, stream, [&] { fused_affine(x, y, factor, chain.count); }); }});
        contenders.push_back({"streaming loop", [&, x, y] {
                                  return time_runs(chain.count, stream,
                                                   [&] { fused_affine_streaming(x, y, factor, chain.count); });
                              }});
    }
    take_turns(contenders, options.rounds(12));
    nlohmann::ordered_json result;
    for (const Contender& contender : contenders) result[contender.name] = contender.summary().p50;
    result["optimise"] = optimised - begin;
    result["first launch"] = first - optimised;
    // Once more: now the compiled code is found in the cache.
    const CapturedGraph again(stream, issue);
    BENCH_CHECK(aclskOptimize(again.get(), nullptr));
    BENCH_CHECK(canopyFusionWait(again.get(), -1));
    result["report"] = report_of(fused);
    result["report again"] = report_of(again);
    return result;
}

std::string name_of(std::size_t count) {
    return count >= (1u << 20) ? fmt::format("{} Mi", count >> 20) : fmt::format("{} Ki", count >> 10);
}

Chain affine_chain(const Image& image, std::size_t count, bool walk, std::size_t tile = longest_tile) {
    tile = std::min(count, tile);
    const auto tiles = static_cast<std::uint32_t>(count / tile);
    return {std::vector<aclrtFuncHandle>(step_count, image.function("fusion_affine")),
            std::vector<float>(step_count, factor), count, tile, walk ? std::min(tiles, 8u) : tiles};
}

Chain power_chain(const Image& image, std::size_t count) {
    return {{image.function("fusion_power"), image.function("fusion_is_infinite")},
            {40.0f, std::numeric_limits<float>::infinity()},
            count,
            std::min(count, longest_tile),
            static_cast<std::uint32_t>(count / std::min(count, longest_tile))};
}

double number(const nlohmann::ordered_json& result, const char* name) { return result.at(name).get<double>(); }

void add_small(Environment& environment, const std::string& name, const nlohmann::ordered_json& results) {
    const auto& result = results.at(name);
    const double fused = number(result, "fused"), stream = number(result, "stream"), graph = number(result, "graph");
    environment.report.add({"fusion-launch", fmt::format("8 fused steps, {} floats", name), nanoseconds_text(fused),
                            "<= 1/5 of 8 launches, <= graph",
                            fmt::format("stream {}; graph {}", nanoseconds_text(stream), nanoseconds_text(graph)),
                            fmt::format("1/{:.1f} of launches, {:.2f} x graph", stream / fused, fused / graph),
                            fused * 5 <= stream && fused <= graph ? Verdict::reached : Verdict::missed, result});
}

void add_large(Environment& environment, const std::string& level, const std::string& name,
               const nlohmann::ordered_json& results, double wanted) {
    const auto& result = results.at(name);
    const double fused = number(result, "fused"), stream = number(result, "stream");
    environment.report.add({"fusion-" + level, fmt::format("8 fused steps, {} floats, {}", name, level),
                            nanoseconds_text(fused), fmt::format(">= {:.1f} x faster than unfused", wanted),
                            fmt::format("stream {}", nanoseconds_text(stream)),
                            fmt::format("{:.2f} x faster", stream / fused),
                            stream >= fused * wanted ? Verdict::reached : Verdict::missed, result});
}

void add_bound(Environment& environment, const std::string& name, const nlohmann::ordered_json& results) {
    const auto& result = results.at(name);
    const double fused = number(result, "fused");
    const double loop = std::min(number(result, "loop"), number(result, "streaming loop"));
    environment.report.add({"fusion-bound", fmt::format("8 fused steps, {} floats, loops", name),
                            nanoseconds_text(fused), "<= 1.3 x one loop in C++",
                            fmt::format("loop {}; past the caches {}", nanoseconds_text(number(result, "loop")),
                                        nanoseconds_text(number(result, "streaming loop"))),
                            fmt::format("{:.2f} x the better loop", fused / loop),
                            fused <= loop * 1.3 ? Verdict::reached : Verdict::missed, result});
}

// The time to get loops that were compiled before. Tracing is needed in either case.
void add_cache(Environment& environment, const std::string& name, const nlohmann::ordered_json& results) {
    const auto& result = results.at(name);
    const auto& again = result.at("report again").at("fused").at(0).at("variants").at(0);
    const double traced = again.at("trace_ms").get<double>();
    const double hit = again.at("total_ms").get<double>() - traced;
    const bool cached = again.at("from_cache").get<bool>();
    environment.report.add({"fusion-cache", fmt::format("loops of 8 steps over {} floats from the cache", name),
                            fmt::format("{:.1f} ms", hit), "<= 5 ms", fmt::format("tracing {:.1f} ms", traced),
                            fmt::format("first launch {}", nanoseconds_text(number(result, "first launch"))),
                            cached && hit <= 5 ? Verdict::reached : Verdict::missed, again});
}

}  // namespace

nlohmann::ordered_json child_fusion(const Options& options) {
    Session session;
    const Image image;
    nlohmann::ordered_json results;
    for (const std::size_t count : sizes) {
        results[name_of(count)] = measure_chain(affine_chain(image, count, false), options, true);
        results["walk " + name_of(count)] = measure_chain(affine_chain(image, count, true), options, false);
        results["pow-isinf " + name_of(count)] = measure_chain(power_chain(image, count), options, false);
    }
    results[short_tiles] = measure_chain(affine_chain(image, 1u << 23, false, 2048), options, false);
    return results;
}

void measure_fusion(Environment& environment) {
    const auto child = [&](const char* level) {
        return run_child("fusion", fmt::format("CANOPY_FUSION={}", level), environment.options);
    };
    const auto chains = child("chains"), loops = child("loops"), steps = child("steps");
    add_small(environment, "1 Ki", loops);
    add_small(environment, "64 Ki", loops);
    add_large(environment, "steps", "8 Mi", steps, 0.9);
    add_large(environment, "chains", "8 Mi", chains, 2.5);
    add_large(environment, "chains", short_tiles, chains, 2.5);
    add_large(environment, "loops", "8 Mi", loops, 5.0);
    add_bound(environment, "8 Mi", loops);
    add_large(environment, "loops", "walk 8 Mi", loops, 5.0);
    add_large(environment, "loops", "pow-isinf 8 Mi", loops, 1.0);
    add_cache(environment, "8 Mi", loops);
}

}  // namespace bench
