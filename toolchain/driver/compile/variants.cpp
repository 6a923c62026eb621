// SPDX-License-Identifier: Apache-2.0
#include "compile/variants.h"

#include <fmt/core.h>

#include <algorithm>

namespace canopy_cc {
namespace {

constexpr const char* words[] = {"__DAV_C220_VEC__", "__DAV_C220_CUBE__", "__DAV_C310_VEC__", "__DAV_C310_CUBE__",
                                 "__DAV_VEC__",      "__DAV_CUBE__",      "g_coreType"};

const KernelDescription* find(const std::vector<KernelDescription>& kernels, const std::string& key) {
    const auto found =
        std::find_if(kernels.begin(), kernels.end(), [&](const KernelDescription& one) { return one.key == key; });
    return found == kernels.end() ? nullptr : &*found;
}

// Makes every symbol of the object local, except the renamed entries and the shared variables.
int separate(const CompileJob& job, const Variant& variant, const std::vector<KernelDescription>& all,
             std::string_view kind, std::string& messages) {
    std::string names, kept = "canopy_image_services\ncanopy_image_checker\n";
    for (std::size_t index = 0; index < all.size(); ++index) {
        const KernelDescription* kernel = find(variant.kernels, all[index].key);
        if (kernel == nullptr) continue;
        names += fmt::format("{} canopy_{}_{}\n", kernel->entry, kind, index);
        kept += fmt::format("canopy_{}_{}\n", kind, index);
    }
    for (const std::string& variable : job.shared_variables) kept += variable + "\n";
    const std::string base = variant.path, names_file = base + ".names", kept_file = base + ".kept";
    if (!write_file(names_file, names) || !write_file(kept_file, kept)) return 3;
    // With groups the linker would keep only one of two different functions with the same name.
    const int status = run_tool(
        job, {job.tree.compiler, "-r", "-nostdlib", "-Wl,--force-group-allocation", base, "-o", base + ".whole"},
        messages);
    if (status != 0) return status;
    const int renamed = run_tool(job,
                                 {"objcopy", "--redefine-syms=" + names_file, "--globalize-symbols=" + kept_file,
                                  base + ".whole", base + ".named"},
                                 messages);
    if (renamed != 0) return renamed;
    return run_tool(job, {"objcopy", "--keep-global-symbols=" + kept_file, base + ".named", base}, messages);
}

std::string entry_text(const std::vector<KernelDescription>& all, const Variant& vector, const Variant& cube) {
    std::string text = "#include <canopy/kernel_abi.h>\nextern const CanopyServices* canopy_image_services;\n";
    for (std::size_t index = 0; index < all.size(); ++index) {
        const bool on_vector = find(vector.kernels, all[index].key) != nullptr;
        const bool on_cube = find(cube.kernels, all[index].key) != nullptr;
        if (on_vector) text += fmt::format("extern void canopy_vector_{}(const void*);\n", index);
        if (on_cube) text += fmt::format("extern void canopy_cube_{}(const void*);\n", index);
        text += fmt::format(
            "__attribute__((used, retain)) void canopy_entry_{0}(const void* arguments) {{\n"
            "    const _Bool cube = canopy_image_services->current_block()->core_type == CANOPY_CORE_CUBE;\n"
            "    {1}\n    {2}\n}}\n",
            index, on_cube ? fmt::format("if (cube) canopy_cube_{}(arguments);", index) : "",
            on_vector ? fmt::format("if (!cube) canopy_vector_{}(arguments);", index) : "");
    }
    return text;
}

}  // namespace

bool tests_core_kind(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
        std::string text;
        if (!read_file(file, text)) continue;
        for (const char* word : words)
            if (text.find(word) != std::string::npos) return true;
    }
    return false;
}

std::vector<std::string> core_kind_flags(std::uint32_t architecture, bool cube) {
    const char* family = architecture == 2201 ? "C220" : "C310";
    const char* kind = cube ? "CUBE" : "VEC";
    return {fmt::format("-D__DAV_{}_{}__=1", family, kind), fmt::format("-D__DAV_{}__=1", kind)};
}

int join_variants(const CompileJob& job, const std::string& target, const Variant& vector, const Variant& cube,
                  std::vector<std::string>& objects, std::vector<KernelDescription>& kernels, std::string& messages) {
    kernels = vector.kernels;
    for (const KernelDescription& kernel : cube.kernels)
        if (find(kernels, kernel.key) == nullptr) kernels.push_back(kernel);
    if (const int status = separate(job, vector, kernels, "vector", messages); status != 0) return status;
    if (const int status = separate(job, cube, kernels, "cube", messages); status != 0) return status;
    const std::string base = job.directory + "/" + target + ".entries";
    if (!write_file(base + ".c", entry_text(kernels, vector, cube))) return 3;
    const int status = run_tool(job,
                                {job.tree.c_compiler, "-O2", "-fPIC", "-c", "-ffunction-sections", "-isystem",
                                 job.tree.headers, base + ".c", "-o", base + ".o"},
                                messages);
    if (status != 0) return status;
    for (std::size_t index = 0; index < kernels.size(); ++index)
        kernels[index].entry = fmt::format("canopy_entry_{}", index);
    objects = {vector.path, cube.path, base + ".o"};
    return 0;
}

}  // namespace canopy_cc
