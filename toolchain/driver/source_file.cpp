// SPDX-License-Identifier: Apache-2.0
#include "source_file.h"

#include <canopy/chips.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/complaint.h"
#include "base/process.h"
#include "compile/checking.h"
#include "compile/compile.h"
#include "compile/sanitizer.h"
#include "compile/variants.h"
#include "foundation/code_cache.h"
#include "foundation/hash.h"
#include "foundation/image_writer.h"
#include "image/embed.h"
#include "image/metadata.h"
#include "source/rewrite.h"

namespace canopy_cc {
namespace {

constexpr const char* producer = "canopy-cc " CANOPY_CC_VERSION;

// The same text compiled with the same flags gives the same image and the same symbol.
std::string image_symbol(const Options& options, const std::string& text) {
    std::string all = text;
    for (const auto* list : {&options.compiler_flags, &options.targets})
        for (const std::string& one : *list) all += '\0' + one;
    if (options.checking) all += "check";
    if (!options.autosync) all += "autosync";
    const canopy::Hash128 hash = canopy::wide_hash_of(all);
    return fmt::format("canopy_image_{:016x}{:016x}", hash[1], hash[0]);
}

// Extracts the function name from the compiler's description: "k" in "void ns::k(int) [T = int]".
std::string plain_name(const std::string& key) {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t end = 0;
    while ((end = key.find('(', end)) != std::string::npos && key.compare(end, unnamed.size(), unnamed) == 0)
        end += unnamed.size();
    if (end == std::string::npos) return key;
    if (end > 0 && key[end - 1] == '>') {
        int depth = 0;
        while (end > 0) {
            --end;
            if (key[end] == '>') ++depth;
            if (key[end] == '<' && --depth == 0) break;
        }
    }
    const std::size_t begin = key.find_last_of(" :*&", end == 0 ? 0 : end - 1);
    return key.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1));
}

// Kernels are named by their plain name if it is unique, else by their symbol.
void name_kernels(std::vector<KernelDescription>& kernels) {
    std::map<std::string, int> uses;
    for (const KernelDescription& kernel : kernels) ++uses[plain_name(kernel.key)];
    for (KernelDescription& kernel : kernels) {
        const std::string plain = plain_name(kernel.key);
        kernel.name = uses[plain] == 1 || kernel.symbol == plain ? plain : kernel.symbol;
    }
}

std::vector<std::uint32_t> architectures_of(const Options& options) {
    std::vector<std::uint32_t> all = {options.architecture};
    if (!options.any_architecture) return all;
    for (const canopy::Chip& chip : canopy::chip_table)
        if (std::find(all.begin(), all.end(), chip.architecture) == all.end()) all.push_back(chip.architecture);
    return all;
}

// Keeps the text for checking code in the cache; returns its name.
std::string keep_check_text(const CompileJob& job, const Texts& texts) {
    if (!job.options.keeps_check_text || job.options.checking) return {};
    const Timing::Stage stage(job.timing, "keep text");
    const std::vector<std::byte> packed = packed_texts(job, texts);
    if (packed.empty()) return {};
    const canopy::Hash128 hash = canopy::wide_hash_of(packed);
    std::string name = fmt::format("{:016x}{:016x}", hash[1], hash[0]);
    const canopy::CodeCache cache(canopy::CodeKind::texts);
    if (!cache.has(name)) cache.keep(name, packed);
    return name;
}

std::string make_image(const Options& options, Compiled& compiled) {
    canopy::ImageFile image;
    image.architectures = architectures_of(options);
    image.producer = producer;
    image.autosync = options.autosync;
    image.check_text = compiled.check_text;
    name_kernels(compiled.kernels);
    image.kernels.assign(compiled.kernels.begin(), compiled.kernels.end());
    for (const auto& target : compiled.targets)
        image.targets.push_back({target.name, std::as_bytes(std::span(target.object))});
    return canopy::write_image(image);
}

// The macros HAVE_WORKSPACE and HAVE_TILING declare the last parameters of kernels, in this order.
std::size_t workspace_from_end(const Options& options) {
    bool workspace = false, tiling = false;
    for (const std::string& flag : options.compiler_flags) {
        std::string name = flag.substr(0, flag.find('='));
        if (name.rfind("-D", 0) == 0) name.erase(0, 2);
        workspace = workspace || name == "HAVE_WORKSPACE";
        tiling = tiling || name == "HAVE_TILING";
    }
    return !workspace ? 0 : tiling ? 2 : 1;
}

int write_output(const std::string& path, const std::string& bytes) {
    if (write_file(path, bytes)) return success;
    return complain(broken_toolchain, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

int write_image(const Options& options, Compiled& compiled, const RewrittenSource& texts, const std::string& output,
                Timing& timing) {
    if (compiled.kernels.empty())
        return complain(bad_source,
                        "no kernel was compiled: every kernel in the source is a template, and none is instantiated by "
                        "a launch, an explicit instantiation or --name-expression=");
    if (!options.names_file.empty()) {
        std::string names;
        for (const std::string& symbol : compiled.names) names += symbol + "\n";
        if (const int status = write_output(options.names_file, names); status != success) return status;
    }
    const Timing::Stage stage(timing, "pack");
    const std::string image = make_image(options, compiled);
    if (options.metadata.wanted) {
        std::string text;
        const MetadataJob job{
            options, compiled.kernels, texts.launch_functions, texts.files, texts.has_variables, image, output};
        if (const std::string problem = metadata_text(job, text); !problem.empty())
            return complain(bad_source, problem);
        if (const int status = write_output(metadata_path(output), text); status != success) return status;
    }
    return write_output(output, image);
}

void add_sanitizer(Texts& texts) {
    if (!texts.host.empty()) texts.host += sanitizer_host_text();
    if (!texts.device.empty()) texts.device += sanitizer_text();
    if (!texts.cube.empty()) texts.cube += sanitizer_text();
}

// The cores chosen on the command line.
std::optional<Cores> chosen_cores(CoreChoice core) {
    if (core == CoreChoice::none) return std::nullopt;
    return core == CoreChoice::cube ? Cores{CANOPY_CORE_CUBE, 1, 0} : Cores{CANOPY_CORE_VECTOR, 0, 1};
}

std::vector<std::string> chosen_core_flags(const Options& options) {
    if (options.core == CoreChoice::none) return {};
    return core_kind_flags(options.architecture, options.core == CoreChoice::cube);
}

int status_of(int compiler_status) {
    if (compiler_status == 0 || compiler_status == bad_command_line) return compiler_status;
    return compiler_status == 1 ? bad_source : broken_toolchain;
}

RewrittenSource timed_rewrite(const CompileJob& job, const std::string& text, const RewriteJob& rewrite_job) {
    const Timing::Stage stage(job.timing, "rewrite");
    return rewrite(text, rewrite_job);
}

// The source text for each kind of core; each is preprocessed when first needed.
class KindTexts {
public:
    explicit KindTexts(const CompileJob& job) : job_(job) {}

    int rewritten(bool cube, const RewriteJob& rewrite_job, RewrittenSource& texts) {
        std::optional<std::string>& preprocessed = cube ? cube_ : vector_;
        if (!preprocessed) {
            std::string messages;
            const int status =
                preprocess(job_, core_kind_flags(job_.options.architecture, cube), preprocessed.emplace(), messages);
            if (status != 0) fmt::print(stderr, "{}", messages);
            if (status != 0) return status_of(status);
        }
        texts = timed_rewrite(job_, *preprocessed, rewrite_job);
        return success;
    }

private:
    const CompileJob& job_;
    std::optional<std::string> vector_, cube_;
};

// True if the source tests the kind of core at compile time and the chip has two kinds.
bool asks_for_kind(const Options& options, const RewrittenSource& texts) {
    const bool split = options.architecture == 2201 || options.architecture == 3510;
    return texts.has_kernels && split && tests_core_kind(texts.files);
}

// The names a kernel uses on one kind of core may appear only in the text for that kind.
int examine_kinds(KindTexts& kinds, RewriteJob& rewrite_job) {
    NamesOfKernels used;
    for (const bool cube : {false, true}) {
        RewrittenSource texts;
        if (const int status = kinds.rewritten(cube, rewrite_job, texts); status != success) return status;
        for (const auto& [place, names] : texts.inferred) used[place].add(names);
    }
    rewrite_job.language.also_used = std::move(used);
    return success;
}

// The device text for one kind of core.
int text_for(KindTexts& kinds, const RewriteJob& rewrite_job, bool cube, std::string& text) {
    RewrittenSource texts;
    if (const int status = kinds.rewritten(cube, rewrite_job, texts); status != success) return status;
    for (const std::string& problem : texts.problems) fmt::print(stderr, "{}\n", problem);
    text = std::move(texts.device);
    return texts.problems.empty() ? success : bad_source;
}

// A source that tests the kind of its core gets a text for each kind it runs on.
int choose_core_kinds(CoreChoice core, KindTexts& kinds, const RewriteJob& rewrite_job, const RewrittenSource& texts,
                      Texts& to_compile) {
    // The text is already for the cores chosen on the command line.
    if ((core == CoreChoice::cube && !texts.on_vector) || (core == CoreChoice::vector && !texts.on_cube))
        return success;
    const int status = text_for(kinds, rewrite_job, !texts.on_vector, to_compile.device);
    if (status != success || !texts.on_vector || !texts.on_cube) return status;
    return text_for(kinds, rewrite_job, true, to_compile.cube);
}

}  // namespace

int compile_source(const Options& options, const Tree& tree, const std::string& source, const std::string& output,
                   Timing& timing) {
    if (access(source.c_str(), R_OK) != 0)
        return complain(bad_source, fmt::format("cannot read {}: {}", source, std::strerror(errno)));
    const auto directory = canopy::TemporaryFolder::create("cc");
    if (!directory.ok()) return complain(broken_toolchain, directory.message());
    CompileJob job{options, tree, source, directory->path(), {}, {}, {}, timing};
    if (options.dependencies) {
        job.dependency_target = options.dependency_target.empty() ? output : options.dependency_target;
        job.dependency_file = options.dependency_file.empty() ? output.substr(0, output.find_last_of('.')) + ".d"
                                                              : options.dependency_file;
    }
    std::string preprocessed, messages;
    const int preprocessor = preprocess(job, chosen_core_flags(options), preprocessed, messages);
    fmt::print(stderr, "{}", messages);
    if (preprocessor != 0) return status_of(preprocessor);

    const bool image_only = options.output_kind == Output::image;
    RewriteJob rewrite_job{{options.architecture, options.simt, chosen_cores(options.core)},
                           source,
                           image_symbol(options, preprocessed),
                           !options.launch_headers.empty() || options.metadata.wanted,
                           workspace_from_end(options),
                           options.names};
    RewrittenSource texts = timed_rewrite(job, preprocessed, rewrite_job);
    KindTexts kinds(job);
    const bool has_kinds = asks_for_kind(options, texts);
    if (has_kinds && !texts.inferred.empty()) {
        if (const int status = examine_kinds(kinds, rewrite_job); status != success) return status;
        texts = timed_rewrite(job, preprocessed, rewrite_job);
    }
    for (const auto* list : {&texts.warnings, &texts.problems})
        for (const std::string& text : *list) fmt::print(stderr, "{}\n", text);
    if (!texts.problems.empty()) return bad_source;
    if (image_only && !texts.has_kernels) {
        // An error in the source may hide the kernels; report that error instead.
        const Compiled tried = compile_texts(job, {texts.host, "", ""});
        if (tried.status == 1) fmt::print(stderr, "{}", tried.messages);
        if (tried.status == 1) return bad_source;
        return complain(bad_source, fmt::format("no kernel in {}: expected extern \"C\" __global__ __aicore__ void "
                                                "NAME(...)",
                                                source));
    }
    if (!options.launch_headers.empty())
        if (const std::string problem = write_launch_headers(texts.launch_functions, options.launch_headers);
            !problem.empty())
            return complain(broken_toolchain, problem);
    job.shared_variables = texts.shared_variables;
    Texts to_compile{image_only ? "" : texts.host, texts.device, ""};
    if (has_kinds)
        if (const int status = choose_core_kinds(options.core, kinds, rewrite_job, texts, to_compile);
            status != success)
            return status;
    if (options.sanitizer) add_sanitizer(to_compile);
    Compiled compiled = compile_texts(job, to_compile);
    fmt::print(stderr, "{}", compiled.messages);
    if (compiled.status != 0) return status_of(compiled.status);
    if (texts.has_kernels) compiled.check_text = keep_check_text(job, to_compile);
    if (image_only) return write_image(options, compiled, texts, output, timing);
    if (!texts.has_kernels) return write_output(output, compiled.host_object);
    const Timing::Stage stage(timing, "pack");
    const std::string image = embedded_object(make_image(options, compiled), rewrite_job.image_symbol);
    const int status = join_objects(job, compiled.host_object, image, output);
    return status == 0 ? success : broken_toolchain;
}

int compile_checking_code(const Options& options, const Tree& tree, Timing& timing) {
    std::vector<std::byte> bytes;
    UnpackedTexts unpacked;
    if (!canopy::read_file(options.check_text, bytes) || !unpack_texts(bytes, unpacked))
        return complain(bad_source, fmt::format("{} has no text for checking code", options.check_text));
    const auto directory = canopy::TemporaryFolder::create("cc");
    if (!directory.ok()) return complain(broken_toolchain, directory.message());
    unpacked.options.verbose = options.verbose;
    const CompileJob job{unpacked.options,          tree,  options.check_text, directory->path(), {}, {},
                         unpacked.shared_variables, timing};
    const CheckingVariant made = compile_checking(job, unpacked.texts, options.targets.back());
    fmt::print(stderr, "{}", made.messages);
    return made.status == 0 ? write_output(options.output, made.object) : status_of(made.status);
}

}  // namespace canopy_cc
