// SPDX-License-Identifier: Apache-2.0
#include "image/metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/process.h"
#include "foundation/json.h"
#include "foundation/sha256.h"

namespace canopy_cc {
namespace {

using canopy::Json;

bool ends(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The names used in the file for the cores of a kernel.
struct CoreNames {
    const char* kernel_type;
    const char* core_type;
    const char* short_core_type;
    const char* magic;
    const char* ratio;
    const char* function;  // key of the kernel function
};

CoreNames core_names(const KernelDescription& kernel) {
    if (kernel.core == CoreType::cube)
        return {"KERNEL_TYPE_AIC_ONLY", "CubeCore", "AIC", "RT_DEV_BINARY_MAGIC_ELF_AICUBE", "1:0", "dav-c220-cube"};
    if (kernel.core == CoreType::vector)
        return {"KERNEL_TYPE_AIV_ONLY", "VectorCore", "AIV", "RT_DEV_BINARY_MAGIC_ELF_AIVEC", "0:1", "dav-c220-vec"};
    const char* magic = "RT_DEV_BINARY_MAGIC_ELF";
    if (kernel.cube_ratio == 0) return {"KERNEL_TYPE_MIX_AIV_1_0", "MIX", "MIX", magic, "0:1", "dav-c220-vec"};
    if (kernel.vector_ratio == 0) return {"KERNEL_TYPE_MIX_AIC_1_0", "MIX", "MIX", magic, "1:0", "dav-c220-cube"};
    if (kernel.vector_ratio == 1) return {"KERNEL_TYPE_MIX_AIC_1_1", "MIX", "MIX", magic, "1:1", "AiCore"};
    return {"KERNEL_TYPE_MIX_AIC_1_2", "MIX", "MIX", magic, "1:2", "AiCore"};
}

const LaunchFunction* signature_of(const MetadataJob& job, const KernelDescription& kernel) {
    for (const LaunchFunction& signature : job.signatures)
        if (signature.kernel == kernel.name && signature.types.size() == kernel.parameters.size()) return &signature;
    return nullptr;
}

// How a kernel uses a parameter, as far as its declaration shows: pointers to const are inputs, and names that end in
// _in__ or _out_ give the direction.
const char* access_of(const std::string& name, const std::string& type, bool indirect, std::uint32_t size) {
    const bool pointer = ends(type, "*");
    if (indirect) return "unknown";
    if (ends(name, "_in__") || type == "const void*") return "in";
    if (ends(name, "_out_")) return "out";
    if (pointer && (name == "workspace" || name == "usrWorkspace")) return "inout";
    // A four-byte word cannot hold an address.
    return !pointer && size <= 4 ? "value" : "unknown";
}

Json parameter_table(const MetadataJob& job, const KernelDescription& kernel) {
    const LaunchFunction* signature = signature_of(job, kernel);
    Json table = Json::array();
    for (std::size_t index = 0; index < kernel.parameters.size(); ++index) {
        const canopy::ParameterInfo& parameter = kernel.parameters[index];
        const std::string name = signature != nullptr ? signature->names[index] : fmt::format("arg{}", index);
        const char* access = signature == nullptr || job.has_variables
                                 ? "unknown"
                                 : access_of(name, signature->types[index], signature->indirect[index], parameter.size);
        table.push_back({{"name", name}, {"offset", parameter.offset}, {"size", parameter.size}, {"access", access}});
    }
    return table;
}

// Each word of the argument block gets a name; a parameter of several words gets several.
Json slot_names(const Json& parameters, std::uint32_t arguments_size) {
    Json names = Json::array();
    for (std::uint32_t slot = 0; slot < arguments_size / 8; ++slot) {
        std::string name = fmt::format("slot{}", slot);
        for (const Json& parameter : parameters) {
            const auto offset = parameter.at("offset").get<std::uint32_t>(),
                       size = parameter.at("size").get<std::uint32_t>();
            if (slot * 8 < offset || slot * 8 >= offset + size) continue;
            name = parameter.at("name").text();
            if (slot * 8 != offset) name += fmt::format("_{}", slot - offset / 8);
        }
        names.push_back(name);
    }
    return names;
}

bool uses_sync_all(const MetadataJob& job) {
    return std::any_of(job.files.begin(), job.files.end(), [](const std::string& file) {
        std::string text;
        return read_file(file, text) && text.find("SyncAll") != std::string::npos;
    });
}

// "name_17" is the variant of "name" for tiling key 17.
bool split_key(const std::string& name, std::string& base, std::uint64_t& key) {
    const std::size_t line = name.find_last_of('_');
    if (line == std::string::npos || line == 0 || line + 1 == name.size() || name.size() - line > 19) return false;
    if (name.find_first_not_of("0123456789", line + 1) != std::string::npos) return false;
    base = name.substr(0, line);
    key = std::stoull(name.substr(line + 1));
    return true;
}

using Variants = std::map<std::uint64_t, const KernelDescription*>;

// Treats all kernels of the image as variants of one if their names say so.
bool find_variants(const MetadataJob& job, std::string& base, Variants& variants) {
    for (const KernelDescription& kernel : job.kernels) {
        std::string name;
        std::uint64_t key = 0;
        if (!split_key(kernel.name, name, key) || (!base.empty() && base != name)) return false;
        base = name;
        variants[key] = &kernel;
    }
    const std::string& wanted = job.options.metadata.kernel;
    return variants.size() > 1 && (wanted.empty() || wanted == base);
}

std::string choose(const MetadataJob& job, const KernelDescription*& chosen) {
    const std::string& wanted = job.options.metadata.kernel;
    std::string names;
    for (const KernelDescription& kernel : job.kernels) {
        names += (names.empty() ? "" : ", ") + kernel.name;
        if (kernel.name == wanted || (wanted.empty() && job.kernels.size() == 1)) chosen = &kernel;
    }
    if (chosen != nullptr) return {};
    if (wanted.empty()) return fmt::format("the image has several kernels; choose one with --metadata=NAME: {}", names);
    return fmt::format("the image has no kernel {}; it has {}", wanted, names);
}

Json function_entry(const std::string& name, const std::string& output, std::uint32_t copies) {
    Json entry = {{"func_name", name}, {"obj_files", output}};
    for (std::uint32_t copy = 1; copy < copies; ++copy) entry[fmt::format("obj_files_split{}", copy)] = output;
    return entry;
}

// The part used by launches.
Json launch_part(const MetadataJob& job, const KernelDescription& kernel, const std::string& name) {
    const MetadataOptions& metadata = job.options.metadata;
    const CoreNames cores = core_names(kernel);
    Json file;
    file["binFileName"] = std::filesystem::path(job.output).stem().string();
    file["binFileSuffix"] = std::filesystem::path(job.output).extension().string();
    file["blockDim"] = metadata.blocks;
    file["coreType"] = cores.core_type;
    file["core_type"] = cores.short_core_type;
    file["intercoreSync"] = kernel.core == CoreType::mix ? 1 : 0;
    file["kernelName"] = name;
    file["magic"] = cores.magic;
    file["memoryStamping"] = Json::array();
    file["opParaSize"] = 0;
    file["parameters"] = Json(std::vector<std::nullptr_t>(kernel.parameters.size()));
    file["sha256"] = canopy::sha256(job.image);
    file["taskRation"] = cores.ratio;
    file["localMemorySize"] = 0;
    file["debugOptions"] = "";
    file["debugBufSize"] = 0;
    if (!metadata.workspaces.empty())
        file["workspace"] = {{"num", metadata.workspaces.size()},
                             {"size", metadata.workspaces},
                             {"type", std::vector<int>(metadata.workspaces.size(), 0)}};
    return file;
}

// The part used by fusion.
void add_fusion_part(const MetadataJob& job, const KernelDescription& kernel, const Variants& variants,
                     const std::string& name, Json& file) {
    const std::uint32_t copies = job.options.metadata.split_mode;
    const std::string output = std::filesystem::absolute(job.output).lexically_normal().string();
    const Json parameters = parameter_table(job, kernel);
    file["supportSuperKernel"] = 1;
    file["sub_operator_params"] = slot_names(parameters, kernel.arguments_size);
    file["sub_operator_kernel_type"] = core_names(kernel).kernel_type;
    Json functions;
    functions[core_names(kernel).function] = function_entry(kernel.name, output, copies);
    for (const auto& [key, variant] : variants) {
        Json entry = function_entry(variant->name, output, copies);
        entry["kernel_type"] = core_names(*variant).kernel_type;
        functions["dynamic_func_names"][std::to_string(key)] = entry;
    }
    file["sub_operator_kernel_name"] = functions;
    for (const char* flag : {"sub_operator_early_start_set_flag", "sub_operator_early_start_wait_flag",
                             "sub_operator_call_dcci_before_kernel_start", "sub_operator_call_dcci_after_kernel_end"})
        file[flag] = false;
    file["sub_op_with_sync_all"] = uses_sync_all(job);
    if (copies != 0) file["split_mode"] = copies;
    file["canopy"] = {{"kernel", name},
                      {"architecture", job.options.architecture},
                      {"arguments_size", kernel.arguments_size},
                      {"parameters", parameters}};
}

}  // namespace

std::string metadata_path(const std::string& image_path) {
    return std::filesystem::path(image_path).replace_extension(".json").string();
}

std::string metadata_text(const MetadataJob& job, std::string& text) {
    const KernelDescription* kernel = nullptr;
    std::string name;
    Variants variants;
    if (find_variants(job, name, variants)) {
        kernel = variants.begin()->second;
        for (const auto& [key, variant] : variants)
            if (variant->arguments_size != kernel->arguments_size)
                return fmt::format("the variants {} and {} take different arguments", kernel->name, variant->name);
    } else {
        variants.clear();
        if (const std::string problem = choose(job, kernel); !problem.empty()) return problem;
        name = kernel->name;
    }
    if (metadata_path(job.output) == job.output) return "the image and its metadata would be the same file";
    Json file = launch_part(job, *kernel, name);
    add_fusion_part(job, *kernel, variants, name, file);
    text = file.dump(4) + "\n";
    return {};
}

}  // namespace canopy_cc
