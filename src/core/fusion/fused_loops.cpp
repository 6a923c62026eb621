// SPDX-License-Identifier: Apache-2.0
// The compiler runs as a child process: canopy-cc, which passes C on to the clang it uses for kernels. The kernels'
// functions are passed as bitcode; clang inlines those that are called into the loop and optimises the result for this
// processor.
#include "core/fusion/fused_loops.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/fusion/fingerprint.h"
#include "core/fusion/loop_text.h"
#include "core/kernel/source_program.h"
#include "foundation/clock.h"
#include "foundation/code_cache.h"
#include "foundation/files.h"
#include "foundation/subprocess.h"

namespace canopy {
namespace {

using Bytes = std::span<const std::byte>;

constexpr CodeKind loop_cache = CodeKind::loops;

// Without duplicates.
std::vector<Bytes> distinct_bitcodes(const LoopRequest& request) {
    std::vector<Bytes> found;
    for (const LoopStep& step : request.steps) {
        const bool known = std::any_of(found.begin(), found.end(), [&](Bytes one) {
            return one.data() == step.bitcode.data() ||
                   std::equal(one.begin(), one.end(), step.bitcode.begin(), step.bitcode.end());
        });
        if (!known) found.push_back(step.bitcode);
    }
    return found;
}

Status write_input(const std::string& path, std::string_view content) {
    if (write_file(path, content)) return {};
    return fail(code::internal, "cannot write {}: {}", path, std::strerror(errno));
}

Result<std::vector<std::byte>> compile(const std::string& compiler, const std::string& text,
                                       std::span<const Bytes> bitcodes, ProcessStop* stop) {
    Expected<TemporaryFolder> folder = TemporaryFolder::create("loops");
    if (!folder.ok()) return fail(code::internal, "{}", folder.message());
    const std::string source = folder->path() + "/loops.c", output = folder->path() + "/loops.so";
    CANOPY_TRY(write_input(source, text));
    std::vector<std::string> command = {compiler};
    for (std::size_t index = 0; index < bitcodes.size(); ++index) {
        const std::string path = fmt::format("{}/{}.bc", folder->path(), index);
        CANOPY_TRY(write_input(path, {reinterpret_cast<const char*>(bitcodes[index].data()), bitcodes[index].size()}));
        for (const char* flag : {"-Xclang", "-mlink-builtin-bitcode", "-Xclang"}) command.emplace_back(flag);
        command.push_back(path);
    }
    for (const char* flag : {"-shared", "-nostartfiles", "-fPIC", "-O3", "-march=native", "-ffp-contract=off",
                             "-fno-strict-aliasing", "-fno-math-errno", "-w", "-mprefer-vector-width=512"})
        command.emplace_back(flag);
    command.insert(command.end(), {source, "-o", output});
    Expected<Finished> finished = run_to_end(command, {stop, folder->path()});
    if (!finished.ok()) return fail(code::internal, "{}", finished.message());
    if (finished->status != 0)
        return fail(code::internal, "the loops of a fused kernel do not compile: {:.300}", finished->output);
    std::vector<std::byte> object;
    if (!read_file(output, object)) return fail(code::internal, "cannot read {}: {}", output, std::strerror(errno));
    return object;
}

// Size of the L3 cache of CPU 0; results larger than that do not stay cached. Read from sysfs because sysconf adds up
// the caches of all sockets on some machines.
std::uint64_t largest_cache() {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
    std::uint64_t number = 0;
    char unit = 0;
    if (!(file >> number) || number == 0) return 32u << 20;
    file >> unit;
    return number << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

Result<std::shared_ptr<FusedLoops>> open_loops(Device& device, Bytes object, const std::string& name,
                                               std::size_t functions) {
    Fusing* const fusing = device.abilities().fusing;
    if (!fusing) return fail(code::not_supported, "a device of kind {} has no loops", device.info().kind);
    Result<std::shared_ptr<const Code>> code = fusing->load_code(object, "loops." + name.substr(0, 12));
    if (!code.ok()) return code.status();
    auto loops = std::make_shared<FusedLoops>();
    loops->code = *code;
    for (std::size_t shape = 0; shape < functions; ++shape) {
        void* symbol = (*code)->symbol(loop_name(shape));
        if (symbol == nullptr) return fail(code::internal, "the compiled loops lack {}", loop_name(shape));
        loops->functions.push_back(reinterpret_cast<LoopFunction>(symbol));
    }
    return loops;
}

void add_pieces(const LoopRequest& request, const LoopFlow& flow, FusedLoops& loops) {
    for (const FlowPiece& piece : flow.pieces) {
        const std::size_t pointers = flow.shapes[piece.shape].pointer_sizes.size();
        loops.pieces.push_back({piece.shape, static_cast<std::uint32_t>(loops.pointers.size()),
                                static_cast<std::uint32_t>(pointers), piece.count, request.first_step + piece.step});
        for (std::size_t index = 0; index < pointers; ++index) {
            const TraceAddress& place = flow.pointers[piece.first_pointer + index];
            const LoopRegion& region = request.regions[static_cast<std::size_t>(place.region)];
            loops.pointers.push_back({region.slot, place.offset - region.slot_offset});
        }
    }
}

}  // namespace

Result<CompiledLoops> compile_loops(Device& device, const LoopRequest& request) {
    const Nanoseconds begin = now();
    for (const LoopStep& step : request.steps)
        if (step.bitcode.empty()) return fail(code::not_supported, "the image of a step has no bitcode");
    Result<LoopFlow> flow = find_loops(request);
    if (!flow.ok()) return flow.status();
    Result<std::string> compiler = find_kernel_compiler();
    if (!compiler.ok()) return compiler.status();
    // If as much is loaded as stored, results larger than half the cache evict each other.
    const std::string text = loop_text(*flow, flow->bytes_stored > largest_cache() / 2);
    const std::vector<Bytes> bitcodes = distinct_bitcodes(request);
    Fingerprint fingerprint;
    fingerprint.add(text);
    for (const Bytes bitcode : bitcodes) fingerprint.add(bitcode);
    fingerprint.add_processor();
    fingerprint.add_compiler(*compiler);

    CompiledLoops result;
    const CodeCache cache(loop_cache);
    const std::string name = fingerprint.name();
    std::optional<std::vector<std::byte>> object = cache.find(name);
    result.from_cache = object.has_value();
    if (!object) {
        const Nanoseconds start = now();
        Result<std::vector<std::byte>> made = compile(*compiler, text, bitcodes, request.stop);
        if (!made.ok()) return made.status();
        result.compile_time = static_cast<std::uint64_t>(now() - start);
        object = std::move(*made);
        cache.keep(name, *object);
    }
    Result<std::shared_ptr<FusedLoops>> loops = open_loops(device, *object, name, flow->shapes.size());
    if (!loops.ok()) return loops.status();
    add_pieces(request, *flow, **loops);
    result.loops = std::move(*loops);
    result.name = name;
    result.stores_dropped = flow->stores_dropped;
    result.total_time = static_cast<std::uint64_t>(now() - begin);
    return result;
}

std::shared_ptr<FusedLoops> find_compiled_loops(Device& device, const std::string& name, std::size_t functions) {
    const std::optional<std::vector<std::byte>> object = CodeCache(loop_cache).find(name);
    if (!object) return nullptr;
    Result<std::shared_ptr<FusedLoops>> loops = open_loops(device, *object, name, functions);
    return loops.ok() ? *loops : nullptr;
}

}  // namespace canopy
