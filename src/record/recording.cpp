// SPDX-License-Identifier: Apache-2.0
// A listener that writes a profile's file.
#include <fmt/core.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "foundation/clock.h"
#include "foundation/files.h"
#include "foundation/mutex.h"
#include "profile/profile_writer.h"
#include "record/recorder.h"

namespace canopy::record {
namespace {

constexpr Nanoseconds clock_every = 100 * millisecond;  // so that a file without an end has the clock's rate, too

profile::FileHead head_of_process() {
    profile::FileHead head;
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    head.process = static_cast<std::uint64_t>(::getpid());
    head.unix_time = time.tv_sec * second + time.tv_nsec;
    head.monotonic_time = now();
    head.ticks = ticks();
    return head;
}

std::string program_path() {
    std::string path(PATH_MAX, '\0');
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
    path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return path;
}

// The command line as one would type it.
std::string command_line() {
    std::string raw, line;
    read_file("/proc/self/cmdline", raw);
    for (std::size_t start = 0; start < raw.size();) {
        const std::size_t end = std::min(raw.find('\0', start), raw.size());
        const std::string_view word(raw.data() + start, end - start);
        if (!line.empty()) line += ' ';
        const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?`#~") == std::string_view::npos;
        line += plain ? std::string(word) : fmt::format("'{}'", word);
        start = end + 1;
    }
    return line;
}

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

class FileListener final : public Listener {
public:
    explicit FileListener(profile::ProfileWriter writer) : writer_(std::move(writer)) {}

    void records(std::uint32_t thread, std::span<const Record> records) override {
        MutexLock lock(mutex_);
        if (writer_.problem()) {
            missing_ += records.size();
            return;
        }
        writer_.records(thread, records);
        if (writer_.problem()) missing_ += records.size();
        note_clock(clock_every);
    }
    void text(std::uint32_t number, std::string_view text) override {
        MutexLock lock(mutex_);
        writer_.text(number, text);
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
        writer_.stream(stream.number, stream.device, stream.priority);
    }
    void lost(std::uint32_t thread, std::uint64_t count) override {
        MutexLock lock(mutex_);
        writer_.lost(thread, count);
    }

    void write_facts() {
        MutexLock lock(mutex_);
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
        writer_.close();
        if (missing_ == 0) return writer_.problem();
        return {writer_.problem().message(), "; ", missing_, " records are missing at the end of the profile"};
    }

private:
    void note_clock(Nanoseconds interval) CANOPY_REQUIRES(mutex_) {
        const Nanoseconds time = now();
        if (time - last_clock_ < interval) return;
        last_clock_ = time;
        const Ticks stamp = ticks();
        writer_.clock(stamp, now());
    }

    Mutex mutex_;
    profile::ProfileWriter writer_ CANOPY_GUARDED_BY(mutex_);
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

Expected<std::unique_ptr<Recording>> record_to(const std::string& path, std::uint32_t wanted) {
    auto writer = profile::ProfileWriter::create(path, head_of_process());
    if (!writer.ok()) return writer.problem();
    auto listener = std::make_shared<FileListener>(std::move(*writer));
    listener->write_facts();
    listen(listener, wanted);
    return std::unique_ptr<Recording>(new FileRecording(path, std::move(listener)));
}

}  // namespace canopy::record
