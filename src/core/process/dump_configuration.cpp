// SPDX-License-Identifier: Apache-2.0
#include "core/process/dump_configuration.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error_text.h"
#include "core/base/error_codes.h"

namespace canopy {
namespace {

constexpr int error = code::invalid_dump_configuration;
constexpr std::size_t longest_path = 512, most_step_parts = 100, most_blacklist_entries = 100;

// The text of a key; `otherwise` if it is missing.
Result<std::string> read_text(const Json& object, const char* key, const char* otherwise) {
    const Json* found = object.find(key);
    if (!found) return std::string(otherwise);
    if (!found->is_string()) return fail(error, "dump.{} is {}; it must be a string", key, found->dump());
    return found->text();
}

// The text of a key, one of `words`; the first if it is missing.
Result<std::string> read_word(const Json& section, const char* key, std::initializer_list<const char*> words) {
    Result<std::string> text = read_text(section, key, *words.begin());
    if (!text.ok()) return text;
    std::string list;
    for (const char* word : words) {
        if (*text == word) return text;
        if (*word != '\0') list += (list.empty() ? "" : ", ") + std::string(word);
    }
    return fail(error, "dump.{} is \"{}\"; it must be one of {}", key, *text, list);
}

Status read_list(const Json& object, const char* key, std::vector<std::string>& out) {
    const Json* found = object.find(key);
    if (!found) return {};
    if (!found->is_array()) return fail(error, "dump: {} must be an array of strings", key);
    for (const Json& item : *found) {
        if (!item.is_string()) return fail(error, "dump: {} has {}, which is no string", key, item.dump());
        out.push_back(item.text());
    }
    return {};
}

// ---- the path -------------------------------------------------------------------------------------------------------

// The length of "a.b.c.d:" at the beginning, or 0.
std::size_t host_prefix(std::string_view path) noexcept {
    std::size_t at = 0;
    for (int part = 0; part < 4; ++part) {
        unsigned number = 0;
        const auto [end, problem] = std::from_chars(path.data() + at, path.data() + path.size(), number);
        const auto next = static_cast<std::size_t>(end - path.data());
        if (problem != std::errc() || number > 255 || next >= path.size()) return 0;
        if (path[next] != (part < 3 ? '.' : ':')) return 0;
        at = next + 1;
    }
    return at;
}

Status read_path(const Json& section, DumpConfiguration& out) {
    Result<std::string> path = read_text(section, "dump_path", "");
    if (!path.ok()) return path.status();
    if (path->empty()) {
        if (is_exception_scene(out.scene)) return {};
        return fail(error, "dump.dump_path is missing or empty");
    }
    if (path->size() > longest_path)
        return fail(error, "dump.dump_path has {} characters; at most {} are allowed", path->size(), longest_path);
    out.path = path->substr(host_prefix(*path));
    struct stat facts {};
    if (stat(out.path.c_str(), &facts) != 0)
        return fail(error, "dump.dump_path {}: {}", out.path, std::strerror(errno));
    if (!S_ISDIR(facts.st_mode)) return fail(error, "dump.dump_path {} is not a folder", out.path);
    if (access(out.path.c_str(), W_OK | X_OK) != 0)
        return fail(error, "dump.dump_path {} is not writable: {}", out.path, std::strerror(errno));
    return {};
}

// ---- steps ----------------------------------------------------------------------------------------------------------

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

Status read_steps(const Json& section, DumpConfiguration& out) {
    Result<std::string> text = read_text(section, "dump_step", "");
    if (!text.ok() || text->empty()) return text.status();
    std::string_view rest = *text;
    for (bool more = true; more;) {
        const std::size_t end = rest.find('|');
        more = end != std::string_view::npos;
        const std::string_view part = rest.substr(0, end);
        if (more) rest.remove_prefix(end + 1);
        const std::size_t dash = part.find('-');
        const auto first = number_of(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
        if (!first || !last || *first > *last)
            return fail(error, "dump.dump_step \"{}\": \"{}\" is neither a step nor a range like 3-5", *text, part);
        out.steps.emplace_back(*first, *last);
    }
    if (out.steps.size() > most_step_parts)
        return fail(error, "dump.dump_step has {} parts; at most {} are allowed", out.steps.size(), most_step_parts);
    return {};
}

// ---- the list -------------------------------------------------------------------------------------------------------

Status check_count(std::size_t count, const char* key) {
    if (count <= most_blacklist_entries) return {};
    return fail(error, "dump: {} has {} entries; at most {} are allowed", key, count, most_blacklist_entries);
}

// Entries are objects with a name, or names if `plain`. Those with positions leave out single inputs and outputs of
// models, and nothing here.
Status read_blacklist(const Json& object, const char* key, bool plain, std::vector<std::string>& out) {
    const Json* found = object.find(key);
    if (!found) return {};
    if (!found->is_array()) return fail(error, "dump: {} must be an array", key);
    CANOPY_TRY(check_count(found->size(), key));
    for (const Json& item : *found) {
        const Json* name = plain && item.is_string() ? &item : item.find("name");
        if (!name || !name->is_string())
            return fail(error, "dump: an entry of {} must be an object with a name{}", key, plain ? ", or a name" : "");
        std::vector<std::string> positions;
        CANOPY_TRY(read_list(item, "pos", positions));
        if (positions.empty()) out.push_back(name->text());
    }
    return {};
}

Status check_ranges(const Json& object, const DumpListEntry& entry) {
    const Json* found = object.find("opname_range");
    if (!found) return {};
    if (!found->is_array()) return fail(error, "dump: opname_range must be an array");
    if (entry.model.empty()) return fail(error, "dump: opname_range needs a model_name");
    for (const Json& item : *found)
        for (const char* key : {"begin", "end"})
            if (const Json* name = item.find(key); !name || !name->is_string() || name->text().empty())
                return fail(error, "dump: an entry of opname_range must be an object with begin and end");
    return {};
}

Status read_entry(const Json& object, const std::string& level, DumpConfiguration& out) {
    if (!object.is_object()) return fail(error, "dump: an entry of dump_list must be an object");
    DumpListEntry entry;
    Result<std::string> model = read_text(object, "model_name", "");
    if (!model.ok()) return model.status();
    entry.model = *model;
    if (object.contains("model_name") && entry.model.empty() && !out.launches)
        return fail(error, "dump: model_name must not be empty while dump_op_switch is off");
    CANOPY_TRY(read_list(object, "layer", entry.layers));
    if (object.contains("layer") && entry.layers.empty() && !out.launches)
        return fail(error, "dump: layer must not be empty while dump_op_switch is off");
    CANOPY_TRY(read_list(object, "watcher_nodes", entry.watched));
    const bool filters =
        object.contains("optype_blacklist") || object.contains("opname_blacklist") || object.contains("opname_range");
    if (filters && level != "op") return fail(error, "dump: blacklists and ranges need dump_level op");
    CANOPY_TRY(read_blacklist(object, "optype_blacklist", false, entry.left_out_types));
    CANOPY_TRY(read_blacklist(object, "opname_blacklist", true, entry.left_out_names));
    CANOPY_TRY(check_ranges(object, entry));
    out.list.push_back(std::move(entry));
    return {};
}

Status read_dump_list(const Json& section, const std::string& level, DumpConfiguration& out) {
    const Json* found = section.find("dump_list");
    if (!found) return {};
    if (!found->is_array()) return fail(error, "dump.dump_list must be an array");
    for (const Json& object : *found) CANOPY_TRY(read_entry(object, level, out));
    return {};
}

// ---- statistics and kernel data -------------------------------------------------------------------------------------

Status read_statistics(const Json& section, DumpConfiguration& out) {
    Result<std::string> data = read_word(section, "dump_data", {"tensor", "stats"});
    if (!data.ok()) return data.status();
    out.statistics = *data == "stats";
    if (!section.contains("dump_stats")) return {};
    CANOPY_TRY(read_list(section, "dump_stats", out.statistics_wanted));
    if (!out.statistics) return fail(error, "dump.dump_stats needs dump_data stats");
    if (out.statistics_wanted.empty()) return fail(error, "dump.dump_stats must not be empty");
    constexpr std::array names = {"Max", "Min", "Avg", "Nan", "Negative Inf", "Positive Inf", "L2norm"};
    for (const std::string& wanted : out.statistics_wanted)
        if (std::find(names.begin(), names.end(), wanted) == names.end())
            return fail(error, "dump.dump_stats: \"{}\" is no statistic", wanted);
    return {};
}

Status check_kernel_data(const Json& section) {
    Result<std::string> text = read_text(section, "dump_kernel_data", "all");
    if (!text.ok()) return text.status();
    std::string_view rest = *text;
    for (bool more = true; more;) {
        const std::size_t end = rest.find(',');
        more = end != std::string_view::npos;
        const std::string_view word = rest.substr(0, end);
        if (more) rest.remove_prefix(end + 1);
        constexpr std::array words = {"all", "printf", "tensor", "assert", "timestamp"};
        if (std::find(words.begin(), words.end(), word) == words.end())
            return fail(error, "dump.dump_kernel_data: \"{}\" is none of all, printf, tensor, assert, timestamp", word);
    }
    return {};
}

// ---- what excludes what ---------------------------------------------------------------------------------------------

Status check_watcher(const DumpConfiguration& out) {
    bool any = false;
    for (const DumpListEntry& entry : out.list) {
        any |= !entry.watched.empty();
        if (!entry.watched.empty() && out.scene != DumpScene::watcher)
            return fail(error, "dump: watcher_nodes needs dump_scene watcher");
        if (out.scene == DumpScene::watcher && !entry.model.empty())
            return fail(error, "dump: dump_scene watcher excludes model_name");
    }
    if (out.scene != DumpScene::watcher) return {};
    if (!any) return fail(error, "dump: dump_scene watcher needs watcher_nodes");
    if (out.inputs) return fail(error, "dump: dump_scene watcher needs dump_mode output");
    return {};
}

Status check_exclusions(const DumpConfiguration& out) {
    if (is_exception_scene(out.scene) && (out.overflow || out.launches))
        return fail(error, "dump: dump_scene excludes {}", out.overflow ? "dump_debug" : "dump_op_switch");
    if (out.overflow && out.launches) return fail(error, "dump: dump_debug excludes dump_op_switch");
    return check_watcher(out);
}

Status read_words(const Json& section, std::string& level, DumpConfiguration& out) {
    Result<std::string> mode = read_word(section, "dump_mode", {"output", "input", "all"});
    if (!mode.ok()) return mode.status();
    out.inputs = *mode != "output";
    out.outputs = *mode != "input";
    Result<std::string> launches = read_word(section, "dump_op_switch", {"off", "on"});
    if (!launches.ok()) return launches.status();
    out.launches = *launches == "on";
    Result<std::string> debug = read_word(section, "dump_debug", {"off", "on"});
    if (!debug.ok()) return debug.status();
    out.overflow = *debug == "on";
    Result<std::string> scene = read_word(
        section, "dump_scene",
        {"", "normal", "lite_exception", "aic_err_brief_dump", "aic_err_norm_dump", "aic_err_detail_dump", "watcher"});
    if (!scene.ok()) return scene.status();
    out.scene = dump_scene_of(*scene).value_or(DumpScene::none);
    Result<std::string> chosen = read_word(section, "dump_level", {"all", "op", "kernel"});
    if (chosen.ok()) level = *chosen;
    return chosen.status();
}

}  // namespace

std::optional<DumpScene> dump_scene_of(std::string_view word) noexcept {
    if (word == "lite_exception" || word == "aic_err_brief_dump") return DumpScene::brief;
    if (word == "aic_err_norm_dump") return DumpScene::normal;
    if (word == "aic_err_detail_dump") return DumpScene::detail;
    if (word == "watcher") return DumpScene::watcher;
    return std::nullopt;
}

bool DumpConfiguration::wants_step(std::uint64_t step) const noexcept {
    return steps.empty() || std::any_of(steps.begin(), steps.end(),
                                        [&](const auto& range) { return step >= range.first && step <= range.second; });
}

Result<DumpConfiguration> read_dump_configuration(const Json& section) {
    if (!section.is_object()) return fail(error, "dump must be an object");
    DumpConfiguration out;
    std::string level;
    CANOPY_TRY(read_words(section, level, out));
    CANOPY_TRY(read_statistics(section, out));
    CANOPY_TRY(read_steps(section, out));
    CANOPY_TRY(check_kernel_data(section));
    CANOPY_TRY(read_dump_list(section, level, out));
    CANOPY_TRY(check_exclusions(out));
    CANOPY_TRY(read_path(section, out));
    return out;
}

}  // namespace canopy
