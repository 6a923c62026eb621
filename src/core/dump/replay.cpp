// SPDX-License-Identifier: Apache-2.0
#include "core/dump/replay.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/dump/dump_output.h"
#include "core/kernel/kernel.h"
#include "core/kernel/program/registered_images.h"
#include "core/launch/launch.h"
#include "core/process/process_hooks.h"
#include "core/stream/stream.h"
#include "dump/dump_file.h"
#include "foundation/files.h"
#include "foundation/json.h"

namespace canopy {
namespace {

constexpr std::size_t largest_arguments = 65536;

// replay.json.
struct Record {
    std::string kernel, chip;
    std::uint32_t block = 0, blocks = 0, block_offset = 0, dynamic_size = 0, stack_size = 0;
    std::uint64_t time_limit = 0, device_memory = 0, place = 0, place_size = 0;
    bool simt = false, checking = false;
    std::vector<std::byte> arguments;
    std::vector<Placeholder> placeholders;
    ReplayOutcome outcome;
};

Status damaged(const std::string& folder, std::string_view why) {
    return fail(code::param_invalid, "{} is no complete dump of a failed launch: {}", folder, why);
}

std::uint32_t small(const Json& root, const char* key) {
    const auto number = root.at(key).get<std::uint64_t>();
    if (number > UINT32_MAX) throw JsonError(std::string(key) + " is too large");
    return static_cast<std::uint32_t>(number);
}

std::vector<std::byte> bytes_of(const std::string& text) {
    if (text.size() % 2 != 0 || text.size() / 2 > largest_arguments) throw JsonError("arguments have a wrong length");
    std::vector<std::byte> bytes(text.size() / 2);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        unsigned value = 0;
        const char* begin = text.data() + 2 * at;
        if (const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
            error != std::errc() || end != begin + 2)
            throw JsonError("arguments are not hexadecimal");
        bytes[at] = static_cast<std::byte>(value);
    }
    return bytes;
}

void read_placeholders(const Json& root, Record& record) {
    for (const Json& pair : root.at("placeholders")) {
        const auto from = pair.at(std::size_t{0}).get<std::uint64_t>(), to = pair.at(1).get<std::uint64_t>();
        if (from % 8 != 0 || from + 8 > record.arguments.size() || from > largest_arguments ||
            to >= record.arguments.size())
            throw JsonError("a placeholder lies outside of the arguments");
        record.placeholders.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)});
    }
    if (record.placeholders.size() > UINT16_MAX) throw JsonError("too many placeholders");
}

void read_outcome(const Json& root, Record& record) {
    ReplayOutcome& outcome = record.outcome;
    outcome.kernel = record.kernel;
    outcome.block = record.block;
    outcome.blocks = record.blocks;
    outcome.recorded = root.at("message").text();
    outcome.recorded_what = root.at("what").text();
    outcome.memory = root.at("memory_as_of").text() == "failure"
                         ? "memory as the failed kernel left it: what it had changed before is changed"
                         : "memory as it was before the launch";
    if (const std::size_t count = root.at("not_followed").list().size())
        outcome.memory += fmt::format("; {}{} addresses inside it lead to memory that was not kept",
                                      count >= 16 ? "at least " : "", count);
}

Record read_record(const Json& root) {
    Record record;
    if (root.at("version").get<std::uint64_t>() != 1) throw JsonError("its version is unknown");
    record.kernel = root.at("kernel").text();
    record.chip = root.at("chip").text();
    record.simt = root.at("simt").get<bool>();
    record.checking = root.at("checking").get<bool>();
    record.block = small(root, "block");
    record.blocks = small(root, "blocks");
    record.block_offset = small(root, "block_offset");
    record.dynamic_size = small(root, "dynamic_size");
    record.stack_size = small(root, "stack_size");
    record.time_limit = root.at("time_limit").get<std::uint64_t>();
    record.device_memory = root.at("device_memory").get<std::uint64_t>();
    record.place = root.at("place").get<std::uint64_t>();
    record.place_size = root.at("place_size").get<std::uint64_t>();
    if (record.blocks == 0 || record.blocks > max_blocks || record.block >= record.blocks)
        throw JsonError("its block is not one of its blocks");
    record.arguments = bytes_of(root.at("arguments").text());
    read_placeholders(root, record);
    read_outcome(root, record);
    return record;
}

Result<Record> read_record(const std::string& folder) {
    std::string text;
    if (!read_file(folder + "/replay.json", text))
        return damaged(folder, fmt::format("replay.json: {}", std::strerror(errno)));
    const std::optional<Json> root = parse_json(text);
    if (!root || !root->is_object()) return damaged(folder, "replay.json is not a JSON object");
    try {
        if (!root->at("replayable").get<bool>())
            return fail(code::not_supported, "this launch cannot run again: {}", root->at("reason").text());
        return read_record(*root);
    } catch (const JsonError& error) {
        return damaged(folder, error.what());
    }
}

// ---- the device -----------------------------------------------------------------------------------------------------

Result<DeviceRecord*> open_device(const Record& record) {
    Runtime& runtime = Runtime::instance();
    const Chip* chip = find_chip(record.chip);
    if (!chip) return fail(code::param_invalid, "chip {} is not known", record.chip);
    SettingsChange change;
    change.chip = record.chip;
    change.memory = record.device_memory;
    change.checking = record.checking;
    change.place = record.place;
    if (!runtime.change(change)) return fail(code::not_supported, "this process has used a device before");
    if (record.stack_size != 0) runtime.change_stack_size(record.stack_size);
    CANOPY_TRY(process_hooks.set_device(0));
    Result<DeviceRecord*> device = runtime.device(0);
    if (!device.ok()) return device;
    Result<Device*> opened = (*device)->open();
    if (!opened.ok()) return opened.status();
    if (!(*opened)->abilities().placement)
        return fail(code::not_supported, "a block runs again on the software NPU only: unset CANOPY_DEVICE");
    return device;
}

Status fill_allocation(const dump::DumpFile& file, const dump::DataPart& part) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(part.size, dump_piece)));
    for (std::uint64_t at = 0; at < part.size; at += dump_piece) {
        const std::span<std::byte> some(bytes.data(),
                                        static_cast<std::size_t>(std::min<std::uint64_t>(part.size - at, dump_piece)));
        if (const Problem problem = file.read(part, at, some))
            return fail(code::param_invalid, "{}", problem.message());
        CANOPY_TRY(write_device(DeviceAddress(part.address + at), some.data(), some.size()));
    }
    return {};
}

Status fill_memory(const std::string& folder, Placement& placement) {
    Expected<dump::DumpFile> file = dump::DumpFile::open(folder + "/memory");
    if (!file.ok()) return damaged(folder, file.message());
    for (const dump::DataPart& part : file->parts()) {
        CANOPY_TRY(placement.allocate_at(DeviceAddress(part.address), static_cast<std::size_t>(part.size)));
        CANOPY_TRY(fill_allocation(*file, part));
    }
    return {};
}

// ---- the launch -----------------------------------------------------------------------------------------------------

Result<Handle> load_kernel(const std::string& folder, const Record& record) {
    std::vector<std::byte> image;
    if (!read_file(folder + "/image", image)) return damaged(folder, fmt::format("image: {}", std::strerror(errno)));
    Result<Handle> binary = load_binary(std::move(image), {});
    if (!binary.ok()) return binary.status();
    return get_function(opaque_of(*binary), record.kernel);
}

Status launch(const Record& record, Handle function, std::int64_t block) {
    LaunchRequest request(record.arguments.data(), record.arguments.size(), record.blocks);
    LaunchWork& work = request.work();
    work.block_offset = record.block_offset;
    work.dynamic_size = record.dynamic_size;
    work.timeout = record.time_limit != 0 ? record.time_limit : UINT64_MAX;
    work.placeholders = record.placeholders.data();
    work.placeholder_count = static_cast<std::uint16_t>(record.placeholders.size());
    work.single = block != all_blocks && record.blocks > 1;
    work.single_block = static_cast<std::uint16_t>(block == failed_block ? record.block : block);
    request.threads = record.simt;
    return launch_function(opaque_of(function), nullptr, request);
}

}  // namespace

Result<ReplayOutcome> replay(const std::string& folder, std::int64_t block) {
    Result<Record> record = read_record(folder);
    if (!record.ok()) return record.status();
    if (block < all_blocks || block >= std::int64_t{record->blocks})
        return fail(code::param_invalid, "block {} is not between 0 and {}", block, record->blocks - 1);
    Result<DeviceRecord*> device = open_device(*record);
    if (!device.ok()) return device.status();
    ReplayOutcome& outcome = record->outcome;
    Placement& placement = *(*device)->opened()->abilities().placement;
    if (placement.addresses().base.value() != record->place) {
        outcome.place_taken = true;
        return outcome;
    }
    if (placement.addresses().size != record->place_size)
        return fail(code::not_supported, "the device has {} bytes of addresses here, {} in the dump",
                    placement.addresses().size, record->place_size);
    CANOPY_TRY(fill_memory(folder, placement));
    Result<Handle> function = load_kernel(folder, *record);
    if (!function.ok()) return function.status();
    CANOPY_TRY(launch(*record, *function, block));
    if (block >= 0) outcome.block = static_cast<std::uint32_t>(block);
    Result<Pin<Stream>> stream = find_stream(nullptr, true);
    if (!stream.ok()) return stream.status();
    if (const Status status = synchronise_stream(**stream, Deadline::never()); !status.ok()) {
        outcome.code = status.code();
        outcome.message = newest_error_text();
    }
    return outcome;
}

}  // namespace canopy
