// SPDX-License-Identifier: Apache-2.0
#include "core/dump/failure_dump.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/dump/dumping.h"
#include "core/dump/failed_launch.h"
#include "core/launch/exceptions.h"
#include "core/memory/memory.h"
#include "core/process/variables.h"
#include "dump/dump_format.h"
#include "dump/elements.h"

namespace canopy {

FailedLaunch::FailedLaunch(const Stream& of, const TaskFailure& failed, int with_code)
    : stream(of),
      failure(failed),
      code(with_code),
      text(describe_failure(failed)),
      kernel(*(failed.fused ? failed.fused : failed.kernel)->info) {
    arguments.resize(failure.arguments_size);
    if (!read_device(arguments.data(), failure.arguments, arguments.size()).ok()) arguments.clear();
    if (!failure.graph) kept = kept_before(stream, failure.task);
    for (const PointedBuffer& buffer : pointed_buffers(kernel, arguments, *stream.device)) {
        const auto same = [&](const FailedMemory& each) { return each.range.base == buffer.allocation.base; };
        if (std::any_of(memories.begin(), memories.end(), same)) continue;
        FailedMemory memory{buffer.allocation,
                            buffer.argument_index,
                            buffer.address - buffer.allocation.base,
                            buffer.data_type,
                            {buffer.allocation.base, buffer.allocation.size}};
        if (kept)
            for (const KeptMemory& copy : *kept)
                if (copy.allocation.base == memory.range.base && copy.bytes.size() == memory.range.size)
                    memory.source.address = device_address(copy.bytes.data());
        memories.push_back(memory);
    }
}

dump::Tensor tensor_of(const FailedMemory& memory) {
    const dump::ElementType* type = dump::element_type(memory.data_type);
    dump::Tensor tensor;
    tensor.data_type = memory.data_type;
    tensor.size = memory.range.size;
    tensor.shape = {tensor.size / (type ? type->size : 1)};
    tensor.original_shape = tensor.shape;
    tensor.address = memory.range.base.value();
    tensor.offset = memory.offset;
    tensor.argument_index = memory.argument_index;
    return tensor;
}

std::string hexadecimal(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text;
}

namespace {

dump::DumpHead head_of(const FailedLaunch& launch) {
    dump::DumpHead head;
    head.time = dump_time_microseconds();
    head.operator_name = launch.kernel.name;
    head.message = launch.text;
    head.attributes = {{"kernel", launch.failure.kernel->info->name},
                       {"block", std::to_string(launch.failure.block)},
                       {"blocks", std::to_string(launch.failure.launch->blocks)},
                       {"error", std::to_string(launch.code)},
                       {"stream", std::to_string(launch.stream.id)},
                       {"task", std::to_string(launch.failure.task)},
                       {"memory", launch.kept ? "before the launch" : "as the failed kernel left it"}};
    for (const FailedMemory& memory : launch.memories) head.inputs.push_back(tensor_of(memory));
    return head;
}

std::vector<DumpSource> sources_of(const FailedLaunch& launch) {
    std::vector<DumpSource> sources;
    for (const FailedMemory& memory : launch.memories) sources.push_back(memory.source);
    return sources;
}

// An ELF core file: a segment for every allocation at its address, and the head of a dump as a note.
std::string core_head(const FailedLaunch& launch) {
    const std::string note = dump::encode(head_of(launch));
    constexpr char owner[8] = "Canopy";
    const std::uint64_t note_size = sizeof(Elf64_Nhdr) + sizeof(owner) + (note.size() + 3) / 4 * 4;
    std::vector<Elf64_Phdr> segments(1 + launch.memories.size());
    std::uint64_t place = sizeof(Elf64_Ehdr) + segments.size() * sizeof(Elf64_Phdr);
    segments[0].p_type = PT_NOTE;
    segments[0].p_offset = place;
    segments[0].p_filesz = note_size;
    segments[0].p_align = 4;
    place += note_size;
    for (std::size_t index = 0; index < launch.memories.size(); ++index) {
        Elf64_Phdr& segment = segments[index + 1];
        segment.p_type = PT_LOAD;
        segment.p_flags = PF_R | PF_W;
        segment.p_offset = place;
        segment.p_vaddr = launch.memories[index].range.base.value();
        segment.p_filesz = segment.p_memsz = launch.memories[index].range.size;
        segment.p_align = 1;
        place += segment.p_filesz;
    }
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_CORE;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_phoff = header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(segments.size());
    const Elf64_Nhdr note_header{sizeof(owner), static_cast<Elf64_Word>(note.size()), 1};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    bytes.append(reinterpret_cast<const char*>(segments.data()), segments.size() * sizeof(Elf64_Phdr));
    bytes.append(reinterpret_cast<const char*>(&note_header), sizeof(note_header));
    bytes.append(owner, sizeof(owner)).append(note);
    bytes.resize(segments[0].p_offset + note_size);
    return bytes;
}

void write_scene(const FailedLaunch& launch, DumpScene scene) {
    const std::string kernel = dump_name_part(launch.kernel.name), time = unique_dump_time();
    const std::string folder = exception_folder(launch.stream.record->index);
    const std::vector<DumpSource> sources = sources_of(launch);
    const std::uint32_t task = launch.failure.task;
    dump::DumpHead head = head_of(launch);
    switch (scene) {
        case DumpScene::brief:
            write_dump({folder, fmt::format("exception_info.{}.{}.{}", launch.stream.id, task, time)},
                       dump::encode(head), sources);
            break;
        case DumpScene::normal:
            head.attributes.push_back({"arguments", hexadecimal(launch.arguments)});
            write_dump({folder, fmt::format("{}.{}.{}.{}", kernel, kernel, task, time)}, dump::encode(head), sources);
            break;
        case DumpScene::detail:
            write_dump({folder, fmt::format("{}.{}.{}.{}.core", kernel, launch.stream.id, task, time)},
                       core_head(launch), sources);
            break;
        default:
            break;
    }
}

}  // namespace

void dump_failure(Stream& stream, const TaskFailure& failure, int code) noexcept {
    try {
        if (!failure.kernel || !failure.launch || failure.kernel->built_in != 0) return;
        const DumpScene scene = exception_scene();
        const auto parent = environment_variable("CANOPY_DUMP_EXCEPTION");
        if (scene == DumpScene::none && !parent) return;
        const FailedLaunch launch(stream, failure, code);
        if (scene != DumpScene::none) write_scene(launch, scene);
        if (parent) write_replay_folder(launch, std::string(*parent));
    } catch (...) {
        report_dump_problem("out of memory: the dump of a failed kernel is missing");
    }
}

// ---- what programs save themselves ----------------------------------------------------------------------------------

namespace {

Status check_tensor(const acldumpTensorInfo& tensor, std::size_t index) {
    constexpr int error = code::invalid_parameter;
    if (tensor.shapeNum > ACL_DUMP_MAX_SHAPE_NUM || tensor.originShapeNum > ACL_DUMP_MAX_SHAPE_NUM)
        return fail(error, "tensor {} has {} dimensions; at most {} are allowed", index,
                    std::max(tensor.shapeNum, tensor.originShapeNum), ACL_DUMP_MAX_SHAPE_NUM);
    if (tensor.addrType != ACL_DUMP_ADDR_RAW)
        return fail(error, "the address of tensor {} is of type {}; only raw addresses can be saved", index,
                    static_cast<int>(tensor.addrType));
    if (tensor.placement != ACL_DUMP_PLACEMENT_DEVICE) return fail(error, "tensor {} is not in device memory", index);
    if (tensor.tensorAddr == nullptr || tensor.tensorSize == 0)
        return fail(error, "tensor {} has no address or no size", index);
    if (tensor.type < ACL_DUMP_TENSOR_INPUT || tensor.type > ACL_DUMP_TENSOR_WORKSPACE)
        return fail(error, "tensor {} is of type {}, neither input, output nor workspace", index,
                    static_cast<int>(tensor.type));
    return {};
}

dump::Tensor described(const acldumpTensorInfo& info) {
    dump::Tensor tensor;
    const dump::ElementType* type = dump::element_type_of_acl(info.dataType);
    tensor.data_type = type ? type->number : dump::unknown_type;
    tensor.format = info.format;
    tensor.shape.assign(info.shape, info.shape + info.shapeNum);
    tensor.original_shape.assign(info.originShape, info.originShape + info.originShapeNum);
    tensor.size = info.tensorSize;
    tensor.address = device_address(info.tensorAddr).value();
    tensor.argument_index = info.argsOffset;
    return tensor;
}

// Memory that is not allocated holds no tensor, and may not even be readable.
Status check_memory(const acldumpTensorInfo& tensor, std::size_t index) {
    const DeviceAddress address = device_address(tensor.tensorAddr);
    if (classify(address).on_device() && reachable(address, tensor.tensorSize)) return {};
    return fail(code::invalid_parameter, "tensor {}: {} bytes at {} are not device memory", index, tensor.tensorSize,
                address);
}

}  // namespace

Status save_exception_info(std::uint32_t device, std::string_view name, std::string_view tag,
                           std::span<const acldumpTensorInfo> tensors) {
    for (std::size_t index = 0; index < tensors.size(); ++index) {
        CANOPY_TRY(check_tensor(tensors[index], index));
        CANOPY_TRY(check_memory(tensors[index], index));
    }
    const std::string folder = exception_folder(device);
    if (folder.empty()) return fail(code::internal, "no exception dump is configured");
    dump::DumpHead head;
    head.time = dump_time_microseconds();
    head.operator_name = std::string(name);
    if (!tag.empty()) head.attributes.push_back({"user_tag", std::string(tag)});
    std::vector<DumpSource> sources;
    for (const acldumpTensorType type : {ACL_DUMP_TENSOR_INPUT, ACL_DUMP_TENSOR_OUTPUT, ACL_DUMP_TENSOR_WORKSPACE}) {
        for (const acldumpTensorInfo& tensor : tensors) {
            if (tensor.type != type) continue;
            if (type == ACL_DUMP_TENSOR_INPUT) head.inputs.push_back(described(tensor));
            if (type == ACL_DUMP_TENSOR_OUTPUT) head.outputs.push_back(described(tensor));
            if (type == ACL_DUMP_TENSOR_WORKSPACE) head.workspaces.push_back({0, tensor.tensorSize, tensor.argsOffset});
            sources.push_back({device_address(tensor.tensorAddr), tensor.tensorSize});
        }
    }
    const DumpTarget target{folder, fmt::format("{}.custom.{}", name, unique_dump_time()), 0400};
    if (write_dump(target, dump::encode(head), sources)) return {};
    return fail(code::internal, "{}/{} could not be written, or not completely", target.folder, target.name);
}

}  // namespace canopy
