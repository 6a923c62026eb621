// SPDX-License-Identifier: Apache-2.0
#include "profile/page.h"

#include <optional>

#include "foundation/json.h"
#include "profile/page_records.h"
#include "profile/page_stream.h"

namespace canopy::profile {
namespace {

Json place_json(const PageRecords& records, const Place& place) {
    return {{"begin", records.time(place.begin)},
            {"end", records.time(place.end)},
            {"thread", records.thread_place(place.thread)},
            {"stream", stream_of(place.link)},
            {"task", task_of(place.link)}};
}

void put_durations(Json& json, const Durations& durations) {
    json["count"] = durations.count;
    json["total"] = durations.total;
    json["least"] = durations.least;
    json["average"] = durations.average();
    json["median"] = durations.median;
    json["most"] = durations.most;
}

Json kernels_json(const PageRecords& records, const Summary& summary) {
    Json list = Json::array();
    for (const KernelSummary& kernel : summary.kernels) {
        Json json = {{"name", kernel.name},
                     {"text", records.text_place(kernel.name_number)},
                     {"core", static_cast<std::uint32_t>(kernel.core)},
                     {"cpu", kernel.cpu_kernel},
                     {"builtIn", kernel.built_in},
                     {"share", kernel.share},
                     {"inGraphs", kernel.in_graphs},
                     {"leastBlocks", kernel.least_blocks},
                     {"mostBlocks", kernel.most_blocks},
                     {"failed", kernel.failed},
                     {"spark", std::vector<float>(kernel.spark.begin(), kernel.spark.end())},
                     {"longest", place_json(records, kernel.longest)}};
        put_durations(json, kernel.runs);
        list.push_back(std::move(json));
    }
    return list;
}

Json calls_json(const PageRecords& records, const Summary& summary) {
    Json list = Json::array();
    for (const CallSummary& call : summary.calls) {
        Json json = {{"name", call.name},
                     {"text", records.text_place(call.name_number)},
                     {"failed", call.failed},
                     {"submitted", call.submitted},
                     {"deviceIdle", call.device_idle},
                     {"longest", place_json(records, call.longest)}};
        put_durations(json, call.runs);
        list.push_back(std::move(json));
    }
    return list;
}

Json findings_json(const PageRecords& records, const Summary& summary) {
    Json list = Json::array();
    for (const Finding& finding : summary.findings) {
        Json json = {
            {"about", static_cast<std::uint32_t>(finding.about)}, {"text", finding.text}, {"stake", finding.stake}};
        if (finding.place) json["place"] = place_json(records, *finding.place);
        list.push_back(std::move(json));
    }
    return list;
}

Json copies_json(const Summary& summary) {
    Json list = Json::array();
    for (const CopySummary& copy : summary.copies) {
        Json json = {{"kind", copy_word(copy.kind)},
                     {"device", copy.device},
                     {"bytes", copy.bytes},
                     {"bandwidth", copy.bandwidth()}};
        put_durations(json, copy.runs);
        list.push_back(std::move(json));
    }
    return list;
}

Json streams_json(const ProfileFile& file, const Summary& summary) {
    Json list = Json::array();
    for (const auto& [number, stream] : file.streams())
        list.push_back({{"number", number}, {"device", stream.device}, {"priority", stream.priority}});
    Json sums = Json::array();
    for (const StreamSummary& stream : summary.streams)
        sums.push_back({{"number", stream.number},
                        {"device", stream.device},
                        {"tasks", stream.tasks},
                        {"busy", stream.busy},
                        {"waiting", stream.waiting},
                        {"idle", stream.idle}});
    return {{"known", std::move(list)}, {"sums", std::move(sums)}};
}

Json devices_json(const ProfileFile& file, const Summary& summary) {
    Json list = Json::array();
    for (const auto& [number, device] : file.devices())
        list.push_back({{"number", number},
                        {"kind", device.kind},
                        {"chip", device.chip},
                        {"cubeCores", device.cube_cores},
                        {"vectorCores", device.vector_cores},
                        {"cpuCores", device.cpu_cores},
                        {"workers", device.workers},
                        {"memory", device.memory}});
    Json sums = Json::array();
    for (const DeviceSummary& device : summary.devices) {
        Json json = {{"number", device.number},
                     {"cores", device.cores},
                     {"workers", device.workers},
                     {"tasks", device.tasks},
                     {"busy", device.busy}};
        if (device.utilisation) json["utilisation"] = *device.utilisation;
        if (device.memory_peak) json["memoryPeak"] = *device.memory_peak;
        sums.push_back(std::move(json));
    }
    return {{"known", std::move(list)}, {"sums", std::move(sums)}};
}

Json threads_json(const ProfileFile& file) {
    Json list = Json::array();
    for (const Thread& thread : file.threads())
        list.push_back({{"number", thread.number},
                        {"id", thread.system_id},
                        {"role", static_cast<std::uint32_t>(thread.role)},
                        {"index", thread.index},
                        {"name", thread.name},
                        {"lost", thread.lost}});
    return list;
}

Json head_json(const ProfileFile& file, const PageRecords& records, const Summary& summary, std::string_view title) {
    Json facts = Json::array();
    for (const std::string_view key : {"program", "arguments", "host", "processor", "version"})
        if (const std::string_view value = file.fact(key); !value.empty()) facts.push_back({Json(key), Json(value)});
    return {{"title", title.empty() ? file.fact("program") : title},
            {"facts", std::move(facts)},
            {"process", file.process()},
            {"startedAt", file.unix_time(records.first_ticks()) / 1'000'000},
            {"length", records.length()},
            {"records", file.record_count()},
            {"count", records.count()},
            {"lost", file.lost()},
            {"damage", file.damage()},
            {"recordCost", summary.cost_of_a_record},
            {"costShare", summary.cost_share},
            {"threads", threads_json(file)},
            {"devices", devices_json(file, summary)},
            {"streams", streams_json(file, summary)},
            {"kernels", kernels_json(records, summary)},
            {"calls", calls_json(records, summary)},
            {"copies", copies_json(summary)},
            {"findings", findings_json(records, summary)}};
}

}  // namespace

Problem write_page(ProfileFile& file, const std::string& path, const PageOptions& options) {
    std::optional<Summary> made;
    if (options.summary == nullptr) made = summarise(file);
    const Summary& summary = options.summary != nullptr ? *options.summary : *made;
    PageRecords records(file);

    const std::string_view page = page_template();
    const std::size_t mark = page.find(page_mark);
    if (mark == std::string_view::npos) return Problem{"the page has no place for a profile"};
    Expected<PageStream> created = PageStream::create(path);
    if (!created.ok()) return created.problem();
    PageStream stream = std::move(created).value();
    stream.text(page.substr(0, mark));
    Bytes size;
    const std::string head = head_json(file, records, summary, options.title).dump();
    size.number(head.size());
    stream.compressed(size.span());
    stream.compressed(std::as_bytes(std::span(head)));
    records.write_texts(stream);
    records.write_records(stream);
    stream.end_compressed();
    stream.text(page.substr(mark + page_mark.size()));
    return stream.close();
}

}  // namespace canopy::profile
