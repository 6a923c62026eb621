// SPDX-License-Identifier: Apache-2.0
#include "record/black_box.h"

#include <unistd.h>

#include <new>
#include <utility>

#include "base/ticks.h"
#include "foundation/run_folder.h"
#include "profile/black_boxes.h"
#include "record/process_facts.h"

namespace canopy::record {
namespace {

constexpr std::size_t old_ones_kept = 4;  // of processes that were killed
constexpr Nanoseconds longest_without_clock = 10 * millisecond;

}  // namespace

std::atomic<BlackBox*> BlackBox::present_{nullptr};

Problem BlackBox::begin() {
    if (present() != nullptr) return {};
    Expected<std::string> folder = run_folder();
    if (!folder.ok()) return folder.problem();
    profile::remove_old_black_boxes(old_ones_kept);
    std::string path = *folder + "/" + profile::black_box_prefix + std::to_string(::getpid());
    const profile::FileHead head = head_of_process();
    Expected<profile::ProfileWriter> writer = profile::ProfileWriter::create(path, head);
    if (!writer.ok()) return writer.problem();
    auto* const box = new BlackBox(std::move(*writer), std::move(path), head.unix_time);
    box->write_facts();
    present_.store(box, std::memory_order_release);
    return {};
}

// The lock of the file is that of the parent, as long as the child does not keep it open.
void BlackBox::leave_to_parent() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    if (BlackBox* const box = present_.exchange(nullptr)) box->writer_ = nullptr;
}

void BlackBox::write_facts() {
    MutexLock lock(mutex_);
    writer_->fact("program", program_path());
    writer_->fact("arguments", command_line());
    writer_->fact("version", CANOPY_VERSION);
    note_clock();
}

void BlackBox::note_clock() {
    const Nanoseconds time = now();
    if (time - last_clock_ < longest_without_clock) return;
    last_clock_ = time;
    const Ticks stamp = ticks();
    writer_->clock(stamp, now());
}

template <class Write>
void BlackBox::append(const Write& write) noexcept {
    try {
        MutexLock lock(mutex_);
        if (!writer_) return;
        write(*writer_);
        note_clock();
    } catch (...) {  // no memory: it is missing there
    }
}

Ring* BlackBox::ring(std::uint64_t& place) noexcept {
    void* memory = nullptr;
    append([&](profile::ProfileWriter& writer) { memory = writer.ring(place); });
    if (memory == nullptr) place = 0;
    return static_cast<Ring*>(memory);
}

void BlackBox::owner(std::uint64_t place, std::uint32_t thread, std::uint64_t first) noexcept {
    append([&](profile::ProfileWriter& writer) { writer.owner(place, thread, first); });
}

void BlackBox::text(std::uint32_t number, std::string_view text) noexcept {
    append([&](profile::ProfileWriter& writer) { writer.text(number, text); });
}

void BlackBox::thread(const profile::Thread& thread) noexcept {
    append([&](profile::ProfileWriter& writer) {
        writer.thread(thread.number, thread.system_id, thread.role, thread.index, thread.name);
    });
}

void BlackBox::device(const profile::DeviceFacts& device) noexcept {
    append([&](profile::ProfileWriter& writer) {
        writer.device(device.number, device.kind, device.chip, device.cube_cores, device.vector_cores, device.cpu_cores,
                      device.workers, device.memory);
    });
}

void BlackBox::stream(const profile::StreamFacts& stream) noexcept {
    append([&](profile::ProfileWriter& writer) { writer.stream(stream.number, stream.device, stream.priority); });
}

void BlackBox::remove() noexcept { ::unlink(path_.c_str()); }

}  // namespace canopy::record
