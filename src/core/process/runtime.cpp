// SPDX-License-Identifier: Apache-2.0
#include "core/process/runtime.h"

#include <utility>

#include "base/error_text.h"
#include "base/notice.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/check/process_check.h"
#include "core/check/watched_device.h"
#include "core/process/process_hooks.h"
#include "core/process/process_log.h"
#include "core/process/visible_figures.h"
#include "foundation/mutex.h"
#include "record/process_recording.h"
#include "record/recorder.h"

namespace canopy {

namespace {
std::atomic<Runtime*> made{nullptr};
}  // namespace

Runtime& Runtime::instance() {
    static Runtime& runtime = []() -> Runtime& {
        auto* fresh = new Runtime;
        made.store(fresh, std::memory_order_release);  // pairs with existing
        return *fresh;
    }();
    return runtime;
}

Runtime* Runtime::existing() noexcept { return made.load(std::memory_order_acquire); }

Runtime::Runtime() {
    for (std::uint32_t index = 0; index < max_devices; ++index) devices_[index].index = index;
    record::set_source_of_facts(process_hooks.tell_facts);
    Settings settings = choose_chip(read_settings(), process_hooks.chip_of_kernels());
    // A profile needs none unless the process is killed, so only one that was asked for is a problem if it is missing.
    if (settings.black_box || !settings.profile.empty())
        if (Problem problem = record::keep_black_box(settings.black_box); problem && settings.black_box)
            settings.problems.push_back("CANOPY_BLACKBOX: none is kept: " + problem.message());
    if (!settings.profile.empty())
        if (Problem problem = record::record_process(settings.profile, settings.profile_wanted, settings.quiet))
            settings.problems.push_back("CANOPY_PROFILE: nothing is recorded: " + problem.message());
    if (!settings.checked.empty()) {
        ProcessCheck::begin(settings.checked, settings.check_options, settings.quiet, settings.problems);
        ProcessCheck::present()->set_hooks(check_hooks);
        HostCheck::begin();
    }
    publish(std::move(settings));
}

// Only called while no device is open, so no thread reads the records' copies of the changed values.
void Runtime::publish(Settings settings) {
    auto snapshot = std::make_unique<const Settings>(std::move(settings));
    for (std::uint32_t index = 0; index < max_devices; ++index) {
        devices_[index].chip = snapshot->chip;
        devices_[index].physical = index < snapshot->visible.size() ? snapshot->visible[index] : index;
    }
    settings_.store(snapshot.get(), std::memory_order_release);
    all_settings_.push_back(std::move(snapshot));
}

bool Runtime::any_opened() const noexcept {
    for (const DeviceRecord& record : devices_)
        if (record.opened()) return true;
    return false;
}

bool Runtime::change(const SettingsChange& change) {
    MutexLock guard(open_mutex_);
    if (any_opened()) return false;
    publish(change_settings(settings(), change));
    return true;
}

Status Runtime::prepare_check(const std::string& classes, const std::string& options) {
    MutexLock guard(open_mutex_);
    if (ProcessCheck::present()) return {};
    if (any_opened()) return fail(code::invalid_parameter, "a device is open; prepare for checks before");
    if (const Problem problem = ProcessCheck::prepare(classes, options))
        return fail(code::invalid_parameter, "{}", problem.message());
    ProcessCheck::present()->set_hooks(check_hooks);
    HostCheck::begin();
    return {};
}

bool Runtime::change_stack_size(std::uint32_t bytes) {
    MutexLock guard(open_mutex_);
    if (settings().stack_size == bytes) return true;
    if (any_opened()) return false;
    Settings changed = settings();
    changed.stack_size = bytes;
    publish(std::move(changed));
    return true;
}

// The caller holds open_mutex_ and no device is open.
void Runtime::choose_chip_of_images() {
    Settings chosen = choose_chip(settings(), process_hooks.chip_of_kernels());
    if (chosen.chip != settings().chip) publish(std::move(chosen));
}

// Must not wait: an image may be registered while another thread opens a device, and that thread may need the dynamic
// loader lock, which the caller holds. Opening a device checks the images itself.
void Runtime::images_changed() noexcept {
    try {
        if (!open_mutex_.try_lock()) return;
        if (!any_opened()) choose_chip_of_images();
    } catch (...) {  // no memory: opening a device tries again
    }
    open_mutex_.unlock();
}

void Runtime::report_problems() noexcept {
    if (problems_reported_.exchange(true, std::memory_order_relaxed)) return;
    if (settings().quiet) return;
    for (const std::string& problem : settings().problems) print_notice(problem);
}

void Runtime::set_kernel_timeout(std::uint64_t timeout) noexcept {
    MutexLock guard(open_mutex_);  // a device that is being opened reads the value
    kernel_timeout.store(timeout, std::memory_order_relaxed);
    for (DeviceRecord& record : devices_)
        if (Device* device = record.opened()) device->set_kernel_timeout(timeout);
}

Result<DeviceRecord*> Runtime::device(std::int64_t id) {
    const std::uint32_t count = device_count();
    if (id < 0 || id >= static_cast<std::int64_t>(count)) [[unlikely]]
        return fail(code::invalid_device, "device id {} is not in [0, {})", id, count);
    return &devices_[static_cast<std::size_t>(id)];
}

DeviceRecord* Runtime::device_of(DeviceAddress address) noexcept {
    const std::uint32_t count = device_count();
    for (std::uint32_t index = 0; index < count; ++index)
        if (devices_[index].holds(address)) return &devices_[index];
    return nullptr;
}

bool Runtime::any_device_holds(DeviceAddress address) noexcept {
    Runtime* const runtime = existing();
    return runtime != nullptr && runtime->device_of(address) != nullptr;
}

Result<Device*> DeviceRecord::open() {
    if (Device* device = opened()) return device;
    Runtime& runtime = Runtime::instance();
    MutexLock guard(runtime.open_mutex_);
    if (Device* device = opened()) return device;
    if (!runtime.any_opened()) runtime.choose_chip_of_images();
    runtime.report_problems();
    auto device = open_kind(runtime.settings());
    if (device.ok()) (*device)->set_kernel_timeout(runtime.kernel_timeout.load(std::memory_order_relaxed));
    return device;
}

void DeviceRecord::enable_peer(std::uint32_t physical_number) noexcept {
    const auto& visible = Runtime::instance().settings().visible;
    for (std::size_t other = 0; other < visible.size() && other < 64; ++other)
        if (visible[other] == physical_number && other != index)
            peers.fetch_or(std::uint64_t{1} << other, std::memory_order_relaxed);
}

void DeviceRecord::tell_facts() const {
    const Device* device = opened();
    if (!device || !record::wants(record::everything)) return;
    const DeviceInfo& info = device->info();
    const MemoryUsage memory = device->memory_usage();
    profile::DeviceFacts facts;
    facts.number = index;
    facts.kind = info.kind;
    facts.chip = info.chip->name;
    facts.cube_cores = info.chip->cube_cores;
    facts.vector_cores = info.chip->vector_cores;
    facts.cpu_cores = info.cpu_cores;
    facts.workers = info.workers;
    facts.memory = memory.total;
    record::tell_device(facts);
}

// The caller holds the runtime's open_mutex_.
Result<Device*> DeviceRecord::open_kind(const Settings& settings) {
    const std::string& name = settings.kind_of(physical);
    DeviceKind* kind = find_kind(name);
    if (kind == nullptr) return fail(code::no_device, "there is no kind of device named \"{}\" (CANOPY_DEVICE)", name);
    if (kind->count() <= index)
        return fail(code::no_device, "this machine has {} devices of kind \"{}\"", kind->count(), name);
    DeviceOptions options;
    options.index = index;
    options.chip = settings.chip;
    options.memory = settings.memory;
    options.workers = settings.workers;
    options.stack_size = settings.stack_size;
    options.checking = settings.checking;
    options.cpu_cores = settings.cpu_cores;
    options.cpu_pinned = settings.cpu_pinned;
    options.cpu_isolated = settings.cpu_isolated;
    options.place = settings.place;
    options.launch_checker = ProcessCheck::present();
    auto device = open_device(*kind, options);
    if (!device.ok())
        return fail(code::device_setup, "device {} ({}, {} bytes of memory) could not be opened: code {}", index, name,
                    settings.memory, device.status().code());
    if (HostCheck* const check = HostCheck::present()) *device = watch_device(*check, std::move(*device), index);
    CANOPY_TRY(process_hooks.device_opened(**device));
    owned_ = std::move(*device);
    const bool first = !Runtime::instance().any_opened();
    device_.store(owned_.get(), std::memory_order_release);
    Runtime::only_device_.store(first ? owned_.get() : nullptr, std::memory_order_release);
    tell_facts();
    CANOPY_TRY(process_hooks.device_opened(*owned_));  // what was allocated before other threads saw the device
    show_figures(*owned_, index, physical);
    const DeviceInfo& info = owned_->info();
    log_line(LogModule::runtime, LogLevel::information, "device",
             "device {} is open: {} of kind {}, {} bytes of memory, {} workers", index, info.chip->name, info.kind,
             settings.memory, info.workers);
    return owned_.get();
}

}  // namespace canopy
