// SPDX-License-Identifier: Apache-2.0
#include "formats.h"

#include <string_view>
#include <utility>

#include "profile/csv.h"
#include "profile/page.h"
#include "profile/trace_json.h"

namespace canopy_tool {
namespace {

using canopy::Problem;
using canopy::profile::ProfileFile;
using canopy::profile::Summary;

struct FormatName {
    Format format;
    const char* word;
    const char* ending;
    const char* file;  // in a folder
};
constexpr FormatName format_names[] = {{Format::html, "html", ".html", "timeline.html"},
                                       {Format::json_gz, "json.gz", ".json.gz", "trace.json.gz"},
                                       {Format::json, "json", ".json", "trace.json"},
                                       {Format::csv, "csv", "", ""},
                                       {Format::prof, "prof", ".canopyprof", "profile.canopyprof"}};

}  // namespace

std::optional<std::vector<Format>> formats_of(const std::string& list) {
    std::vector<Format> formats;
    for (std::string_view rest = list;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        bool found = false;
        for (const FormatName& known : format_names) {
            if (word != known.word) continue;
            formats.push_back(known.format);
            found = true;
        }
        if (!found) return std::nullopt;
        if (comma == std::string_view::npos) return formats;
        rest.remove_prefix(comma + 1);
    }
}

std::optional<Format> format_of_file(const std::string& path) {
    for (const FormatName& known : format_names)
        if (*known.ending != '\0' && path.ends_with(known.ending)) return known.format;
    return std::nullopt;
}

Problem write_format(ProfileFile& file, const Summary& summary, Format format, const std::string& path) {
    switch (format) {
        case Format::html: {
            canopy::profile::PageOptions page;
            page.summary = &summary;
            return write_page(file, path, page);
        }
        case Format::json:
        case Format::json_gz:
            return write_trace_json(file, path);
        case Format::prof:
            return file.copy_to(path);
        case Format::csv:
            break;
    }
    return Problem{"tables need a folder"};
}

Written write_formats(ProfileFile& file, const Summary& summary, const std::vector<Format>& formats,
                      const std::string& folder) {
    Written written;
    const auto note = [&](const std::string& path, const Problem& problem) {
        if (problem)
            written.problems.push_back(problem.message());
        else
            written.files.push_back(path);
    };
    for (const Format format : formats) {
        if (format == Format::csv) {
            const auto tables = canopy::profile::write_tables(file, summary, folder, std::to_string(file.process()));
            written.files.insert(written.files.end(), tables.files.begin(), tables.files.end());
            if (tables.problem) written.problems.push_back(tables.problem.message());
            continue;
        }
        for (const FormatName& known : format_names) {
            if (known.format != format) continue;
            const std::string path = folder + "/" + known.file;
            note(path, write_format(file, summary, format, path));
        }
    }
    return written;
}

}  // namespace canopy_tool
