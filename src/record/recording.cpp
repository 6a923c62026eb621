// SPDX-License-Identifier: Apache-2.0
// A listener that writes a profile's file.
#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foundation/clock.h"
#include "foundation/files.h"
#include "foundation/mutex.h"
#include "profile/profile_writer.h"
#include "record/black_box.h"
#include "record/process_facts.h"
#include "record/recorder.h"

namespace canopy::record {
namespace {

constexpr std::uint64_t room_for_end = 1u << 20;        // what is written when there is no room for records any more
constexpr Nanoseconds clock_every = 100 * millisecond;  // so that a file without an end has the clock's rate, too

std::string processor_name() {
    std::string text;
    read_file("/proc/cpuinfo", text);
    const std::size_t line = text.find("model name");
    const std::size_t start = line == std::string::npos ? line : text.find(": ", line);
    if (start == std::string::npos) return {};
    return text.substr(start + 2, text.find('\n', start) - start - 2);
}

// What it takes to note the time and put a record into a ring, in nanoseconds.
double cost_of_a_record() {
    Ring* const ring = Ring::create();
    if (ring == nullptr) return 0;
    constexpr std::uint32_t count = 1000, rounds = 5;
    Nanoseconds best = second;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        const Nanoseconds start = now();
        for (std::uint32_t i = 0; i < count; ++i) {
            Record record{};
            record.begin = ticks();
            record.link = i;
            ring->put(record);
        }
        best = std::min(best, now() - start);
    }
    Ring::destroy(ring);
    return static_cast<double>(best) / count;
}

// Which records belong to the devices that a file is about.
class DeviceFilter {
public:
    explicit DeviceFilter(std::uint64_t devices) noexcept : devices_(devices) {}
    void stream(const profile::StreamFacts& stream) {
        if (devices_ != ~0ull) device_of_stream_[stream.number] = stream.device;
    }
    [[nodiscard]] bool keeps_all() const noexcept { return devices_ == ~0ull; }
    // Those of `records` that are kept, valid until the next call.
    std::span<const Record> kept(std::span<const Record> records) {
        if (devices_ == ~0ull) return records;
        kept_.clear();
        for (const Record& record : records)
            if (const std::uint32_t device = device_of(record); device >= 64 || (devices_ >> device & 1) != 0)
                kept_.push_back(record);
        return kept_;
    }

private:
    // profile::all_devices if a record belongs to none.
    [[nodiscard]] std::uint32_t device_of(const Record& record) const {
        switch (record.what()) {
            case profile::Kind::task:
            case profile::Kind::node:
                return profile::TaskObject::of(record.object).device;
            case profile::Kind::block:
            case profile::Kind::step:
            case profile::Kind::piece:
            case profile::Kind::detail: {
                const auto found = device_of_stream_.find(profile::stream_of(record.link));
                return found == device_of_stream_.end() ? profile::all_devices : found->second;
            }
            case profile::Kind::memory:
                return profile::MemoryObject::of(record.object).device;
            case profile::Kind::counter:
                return record.object;
            case profile::Kind::step_point:
                return profile::StepObject::of(record.object).device;
            default:
                return profile::all_devices;
        }
    }

    const std::uint64_t devices_;
    std::unordered_map<std::uint32_t, std::uint32_t> device_of_stream_;
    std::vector<Record> kept_;
};

class FileListener final : public Listener {
public:
    FileListener(profile::ProfileWriter writer, const FileOptions& options)
        : writer_(std::move(writer)), filter_(options.devices), limit_(options.limit) {}

    void records(std::uint32_t thread, std::span<const Record> records) override {
        MutexLock lock(mutex_);
        records = filter_.kept(records);
        if (records.empty()) return;
        if (writer_.problem()) {
            missing_ += records.size();
            return;
        }
        if (is_full(records.size())) {
            beyond_limit_[thread] += records.size();
            return;
        }
        writer_.records(thread, records);
        if (writer_.problem()) missing_ += records.size();
        note_clock(clock_every);
    }
    void text(std::uint32_t number, std::string_view text) override {
        MutexLock lock(mutex_);
        if (!is_full(0)) writer_.text(number, text);
    }
    void thread(const profile::Thread& thread) override {
        MutexLock lock(mutex_);
        writer_.thread(thread.number, thread.system_id, thread.role, thread.index, thread.name);
    }
    void device(const profile::DeviceFacts& device) override {
        MutexLock lock(mutex_);
        writer_.device(device.number, device.kind, device.chip, device.cube_cores, device.vector_cores,
                       device.cpu_cores, device.workers, device.memory);
    }
    void stream(const profile::StreamFacts& stream) override {
        MutexLock lock(mutex_);
        filter_.stream(stream);
        writer_.stream(stream.number, stream.device, stream.priority);
    }
    void lost(std::uint32_t thread, std::uint64_t count) override {
        MutexLock lock(mutex_);
        if (is_full(0))
            beyond_limit_[thread] += count;
        else
            writer_.lost(thread, count);
    }

    void write_facts() {
        MutexLock lock(mutex_);
        BlackBox* const box = BlackBox::present();
        if (box != nullptr && limit_ == 0 && filter_.keeps_all()) {
            writer_.fact("blackbox", box->path());
            writer_.fact("blackbox_start", std::to_string(box->start()));
        }
        writer_.fact("program", program_path());
        writer_.fact("arguments", command_line());
        utsname system{};
        if (::uname(&system) == 0) writer_.fact("host", system.nodename);
        writer_.fact("processor", processor_name());
        writer_.fact("processors", std::to_string(std::thread::hardware_concurrency()));
        writer_.fact("version", CANOPY_VERSION);
        writer_.fact("cost_of_a_record_ns", fmt::format("{:.1f}", cost_of_a_record()));
        note_clock(0);
    }
    Problem close() {
        MutexLock lock(mutex_);
        note_clock(0);
        for (const auto& [thread, count] : beyond_limit_) writer_.lost(thread, count);
        if (!beyond_limit_.empty()) writer_.fact("storage_limit", std::to_string(limit_));
        writer_.close();
        if (missing_ == 0) return writer_.problem();
        return {writer_.problem().message(), "; ", missing_, " records are missing at the end of the profile"};
    }

private:
    // Once one piece found no room, none does: a profile ends at one moment.
    bool is_full(std::size_t records) CANOPY_REQUIRES(mutex_) {
        if (limit_ == 0 || !beyond_limit_.empty()) return limit_ != 0;
        const std::uint64_t most = records * profile::largest_chunk / profile::most_records_in_chunk;
        return writer_.size() + most + room_for_end > limit_;
    }
    void note_clock(Nanoseconds interval) CANOPY_REQUIRES(mutex_) {
        const Nanoseconds time = now();
        if (!beyond_limit_.empty() && interval != 0) return;
        if (time - last_clock_ < interval) return;
        last_clock_ = time;
        const Ticks stamp = ticks();
        writer_.clock(stamp, now());
    }

    Mutex mutex_;
    profile::ProfileWriter writer_ CANOPY_GUARDED_BY(mutex_);
    DeviceFilter filter_ CANOPY_GUARDED_BY(mutex_);
    const std::uint64_t limit_;
    std::map<std::uint32_t, std::uint64_t> beyond_limit_ CANOPY_GUARDED_BY(mutex_);  // records, by thread
    std::uint64_t missing_ CANOPY_GUARDED_BY(mutex_) = 0;
    Nanoseconds last_clock_ CANOPY_GUARDED_BY(mutex_) = 0;
};

class FileRecording final : public Recording {
public:
    FileRecording(std::string path, std::shared_ptr<FileListener> listener)
        : path_(std::move(path)), listener_(std::move(listener)), process_(::getpid()) {}
    ~FileRecording() override { static_cast<void>(FileRecording::finish()); }

    // A child made by fork leaves the file to its parent.
    Problem finish() override {
        const auto listener = std::exchange(listener_, nullptr);
        if (!listener || process_ != ::getpid()) return {};
        stop_listening(listener);
        return listener->close();
    }
    [[nodiscard]] const std::string& path() const noexcept override { return path_; }

private:
    std::string path_;
    std::shared_ptr<FileListener> listener_;
    pid_t process_;
};

}  // namespace

Expected<std::unique_ptr<Recording>> record_to(const std::string& path, std::uint32_t wanted,
                                               const FileOptions& options) {
    auto writer = profile::ProfileWriter::create(path, head_of_process());
    if (!writer.ok()) return writer.problem();
    auto listener = std::make_shared<FileListener>(std::move(*writer), options);
    listener->write_facts();
    listen(listener, wanted);
    return std::unique_ptr<Recording>(new FileRecording(path, std::move(listener)));
}

}  // namespace canopy::record
