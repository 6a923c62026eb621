// SPDX-License-Identifier: Apache-2.0
// A device whose kernels run in a separate process: whatever they do, they cannot touch the program. The device's
// memory is one memory file. The process has it at the device's addresses; here those addresses are reserved and
// inaccessible, and the runtime copies through a second mapping.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "base/heap.h"
#include "device/apart/process.h"
#include "device/device.h"
#include "device/engine/stream/scheduler.h"
#include "device/engine/stream/strand.h"
#include "device/heap_allocations.h"
#include "device/heap_checker.h"
#include "device/host_ranges.h"
#include "device/image.h"
#include "device/launch_checker.h"
#include "device/opaque_pointer.h"
#include "foundation/mutex.h"

namespace canopy {
namespace apart {
namespace {

constexpr int lost = 507010;
// Where devices have their memory: far from where programs have anything.
constexpr std::uintptr_t first_place = 0x1000'0000'0000;
constexpr std::uintptr_t place_distance = std::uintptr_t{1} << 40;

std::uintptr_t number(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

class ApartDriver;

struct ApartKernel : Kernel {
    std::uint64_t code = 0;
    std::uint32_t index = 0;
};

class ApartCode final : public LoadedCode {
public:
    ApartCode(ApartDriver& driver, const Image& image);
    ~ApartCode() override;
    Status load();
    [[nodiscard]] Kernel& kernel(std::size_t index) override { return kernels_[index]; }
    [[nodiscard]] std::optional<SymbolInfo> symbol(std::string_view name) override;

private:
    ApartDriver& driver_;
    std::uint64_t number_ = 0;
    CodeFile file_;
    std::size_t size_ = 0;
    std::vector<ApartKernel> kernels_;
};

class ApartSlot final : public LaunchSlot, public Flight {
public:
    ApartSlot(Strand& owner, ApartDriver& driver, std::uint32_t lane) noexcept
        : owner_(owner), driver_(driver), lane_(lane) {}
    ~ApartSlot() override;

    Step run(Worker& worker, Command& command, std::uint64_t sequence) noexcept override;
    void stop(std::uint64_t limit) noexcept override;
    void drop() noexcept override;
    void ended(const Reply& reply) noexcept override;

private:
    Status send(const Command& command, std::uint64_t sequence);
    Result<DeviceAddress> copy_arguments(const LaunchWork& work);
    void free_arguments() noexcept;

    Strand& owner_;
    ApartDriver& driver_;
    const std::uint32_t lane_;
    bool running_ = false;  // a launch was sent, and its outcome has not been taken
    DeviceAddress arguments_{};
    Reply outcome_;
    std::atomic<std::uint64_t> sequence_{0};
    std::atomic<std::uint64_t> number_{0};   // of the launch; 0: none is running
    std::atomic<std::uint64_t> stopped_{0};  // the launch that was told to stop
};

class ApartDriver final : public Driver {
public:
    ApartDriver(const DeviceOptions& options, std::unique_ptr<Heap> heap, Mapping addresses)
        : launch_checker_(options.launch_checker),
          heap_(std::move(heap)),
          addresses_(std::move(addresses)),
          distance_(addresses_.base() - static_cast<std::byte*>(heap_->range().base)),
          checker_(*heap_, distance_),
          allocations_(*heap_, distance_),
          shared_file_{heap_->file(), {device_address(addresses_.base()), heap_->range().size}} {
        info_.kind = "apart";
        info_.chip = options.chip;
        info_.name = std::string(options.chip->name);
        info_.checking = options.checking;
        info_.addressable = false;
        open_.ask = Ask::open;
        open_.address = number(addresses_.base());
        open_.size = heap_->range().size;
        open_.workers = options.workers;
        open_.stack_size = options.stack_size;
        options.chip->name.copy(open_.text, sizeof open_.text - 1);
    }

    // Its kernels are not checked inside.
    void tell_unchecked(const Kernel& kernel) noexcept {
        if (launch_checker_ && kernel.built_in == 0 && launch_checker_->wants(kernel.info->name))
            launch_checker_->not_checked(kernel.info->name,
                                         "its device is in a separate process (CANOPY_DEVICE=apart)");
    }

    Status start() { return process_.start(open_, heap_->file()); }

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] Abilities abilities() noexcept override {
        return {.checker = &checker_, .shared_file = &shared_file_, .allocations = &allocations_};
    }
    [[nodiscard]] MemoryUsage memory_usage() const noexcept override { return heap_->usage(); }
    Result<DeviceAddress> allocate(std::size_t size, std::uint32_t flags) noexcept override {
        Result<void*> memory = heap_->allocate(size, flags);
        if (!memory.ok()) return memory.status();
        return outside(*memory);
    }
    Status release(DeviceAddress address) noexcept override {
        if (!in_memory(address)) return fail(107000, "address {} is not memory of this device", address);
        return heap_->release(inside(address));
    }
    [[nodiscard]] std::optional<DeviceRange> find(DeviceAddress address) const noexcept override {
        if (!in_memory(address)) return variable_at(address);
        const std::optional<MemoryRange> range = heap_->find(inside(address));
        if (!range) return std::nullopt;
        return DeviceRange{outside(range->base), range->size};
    }
    [[nodiscard]] bool owns(DeviceAddress address) const noexcept override {
        return in_memory(address) || in_variable(address);
    }

    // Another process can map files, but not memory that only this one has.
    Result<DeviceAddress> map_host(const HostMemory& memory) noexcept override {
        if (memory.file < 0)
            return fail(207000,
                        "kernels of a device of kind apart cannot use memory at {}: only memory of aclrtMallocHost and "
                        "managed memory can be shared with their process",
                        as_address(memory.range.base));
        MutexLock guard(mutex_);
        try {
            if (!mapped_.add(memory)) return device_address(memory.range.base);
        } catch (...) {
            return fail(207001, "out of host memory");
        }
        if (const Status status = map_there(memory); !status.ok()) {
            mapped_.remove(memory);
            return status;
        }
        return device_address(memory.range.base);
    }
    void unmap_host(const HostMemory& memory) noexcept override {
        MutexLock guard(mutex_);
        if (!mapped_.remove(memory)) return;
        Request request;
        request.ask = Ask::unmap;
        request.address = number(memory.range.base);
        request.size = memory.range.size;
        process_.ask(request).status().ignore();
    }

    Status transfer(DeviceAddress to, DeviceAddress from, std::size_t bytes) noexcept override {
        if (in_variable(to)) return write_variable(to, from, bytes);
        if (in_variable(from)) return read_variable(to, from, bytes);
        void* const target = here(to);
        const void* const source = here(from);
        const auto bits = number(target) | number(source);
        if (bytes == sizeof(std::uint64_t) && bits % sizeof(std::uint64_t) == 0)
            __atomic_store_n(static_cast<std::uint64_t*>(target),
                             __atomic_load_n(static_cast<const std::uint64_t*>(source), __ATOMIC_ACQUIRE),
                             __ATOMIC_RELEASE);
        else
            std::memmove(target, source, bytes);
        return {};
    }
    Status fill(DeviceAddress to, std::uint32_t value, std::uint32_t element_size,
                std::size_t count) noexcept override {
        if (in_variable(to)) {
            std::vector<std::byte> bytes(count * element_size);
            CANOPY_TRY(canopy::fill(device_address(bytes.data()), value, element_size, count));
            return write_variable(to, device_address(bytes.data()), bytes.size());
        }
        return canopy::fill(device_address(inside(to)), value, element_size, count);
    }

    Result<std::unique_ptr<LoadedCode>> load(const Image& image) override {
        auto code = std::make_unique<ApartCode>(*this, image);
        CANOPY_TRY(code->load());
        return std::unique_ptr<LoadedCode>(std::move(code));
    }
    [[nodiscard]] std::unique_ptr<LaunchSlot> make_slot(Strand& owner) noexcept override {
        const std::uint32_t lane = lanes_.fetch_add(1, std::memory_order_relaxed) + 1;
        return std::unique_ptr<LaunchSlot>(new (std::nothrow) ApartSlot(owner, *this, lane));
    }

    // The memory is still there; the process gets everything that was mapped and loaded again.
    Status revive() noexcept override {
        if (process_.alive()) return {};
        MutexLock guard(mutex_);
        {
            WriterLock lock(variables_mutex_);
            for (auto& [address, variable] : variables_) variable.code = gone;
        }
        CANOPY_TRY(start());
        for (const auto& [address, memory] : mapped_) CANOPY_TRY(map_there(memory));
        for (const auto& [number, code] : codes_) CANOPY_TRY(load_there(number, code, nullptr).status());
        return {};
    }

    // ---- for slots and codes
    struct CodeBytes {
        int file = -1;
        std::size_t size = 0;
    };
    // The answer says where the code lies; the addresses of its kernels are the bytes after it.
    Result<Reply> load_code(const CodeBytes& bytes, std::uint64_t& number, std::vector<std::byte>& kernels) {
        MutexLock guard(mutex_);
        number = ++codes_made_;
        Result<Reply> loaded = load_there(number, bytes, &kernels);
        if (loaded.ok()) codes_[number] = bytes;
        return loaded;
    }
    void unload_code(std::uint64_t number) noexcept {
        MutexLock guard(mutex_);
        if (codes_.erase(number) == 0) return;
        {
            WriterLock lock(variables_mutex_);
            std::erase_if(variables_, [&](const auto& entry) { return entry.second.code == number; });
        }
        Request request;
        request.ask = Ask::unload;
        request.code = number;
        process_.ask(request).status().ignore();
    }
    void note_variable(const SymbolInfo& symbol, std::uint64_t code) {
        if (symbol.size == 0) return;
        WriterLock lock(variables_mutex_);
        variables_[symbol.address.value()] = {symbol.size, code};
        has_variables_.store(true, std::memory_order_release);
    }
    [[nodiscard]] DeviceProcess& process() noexcept { return process_; }
    [[nodiscard]] Checker& checker() noexcept { return checker_; }

private:
    [[nodiscard]] bool in_memory(DeviceAddress address) const noexcept { return shared_file_.range.contains(address); }
    // The same byte in the memory of this process, and back.
    [[nodiscard]] void* inside(DeviceAddress address) const noexcept {
        return static_cast<std::byte*>(heap_->range().base) + (address - shared_file_.range.base);
    }
    [[nodiscard]] DeviceAddress outside(const void* memory) const noexcept {
        return shared_file_.range.base + heap_->offset_of(memory);
    }
    [[nodiscard]] void* here(DeviceAddress address) const noexcept {
        return in_memory(address) ? inside(address) : opaque_pointer(address);
    }
    [[nodiscard]] bool in_variable(DeviceAddress address) const noexcept { return variable_at(address).has_value(); }
    [[nodiscard]] std::optional<DeviceRange> variable_at(DeviceAddress address) const noexcept {
        if (!has_variables_.load(std::memory_order_acquire)) return std::nullopt;
        ReaderLock lock(variables_mutex_);
        auto after = variables_.upper_bound(address.value());
        if (after == variables_.begin()) return std::nullopt;
        --after;
        const DeviceRange variable{DeviceAddress(after->first), after->second.size};
        return variable.contains(address) ? std::optional(variable) : std::nullopt;
    }

    Status check_variable(DeviceAddress address) noexcept {
        ReaderLock lock(variables_mutex_);
        auto after = variables_.upper_bound(address.value());
        if (after != variables_.begin() && std::prev(after)->second.code != gone) return {};
        return fail(lost, "the variable at {} went with the process of the device; ask for its address again", address);
    }
    Status write_variable(DeviceAddress to, DeviceAddress from, std::size_t bytes) noexcept {
        CANOPY_TRY(check_variable(to));
        const auto* source = static_cast<const std::byte*>(here(from));
        for (std::size_t done = 0; done < bytes; done += most_bytes) {
            Request request;
            request.ask = Ask::write;
            request.address = to.value() + done;
            CANOPY_TRY(process_.ask(request, -1, {source + done, std::min(bytes - done, most_bytes)}).status());
        }
        return {};
    }
    Status read_variable(DeviceAddress to, DeviceAddress from, std::size_t bytes) noexcept {
        CANOPY_TRY(check_variable(from));
        auto* target = static_cast<std::byte*>(here(to));
        for (std::size_t done = 0; done < bytes; done += most_bytes) {
            Request request;
            request.ask = Ask::read;
            request.address = from.value() + done;
            request.size = std::min(bytes - done, most_bytes);
            std::vector<std::byte> content;
            CANOPY_TRY(process_.ask(request, -1, {}, &content).status());
            if (content.size() != request.size) return fail(lost, "the process of the device sent too little");
            std::memcpy(target + done, content.data(), content.size());
        }
        return {};
    }
    Status map_there(const HostMemory& memory) {
        Request request;
        request.ask = Ask::map;
        request.address = number(memory.range.base);
        request.size = memory.range.size;
        request.offset = memory.offset;
        return process_.ask(request, memory.file).status();
    }
    Result<Reply> load_there(std::uint64_t code, const CodeBytes& bytes, std::vector<std::byte>* kernels) {
        Request request;
        request.ask = Ask::load;
        request.code = code;
        request.size = bytes.size;
        return process_.ask(request, bytes.file, {}, kernels);
    }

    DeviceInfo info_;
    Request open_;
    LaunchChecker* const launch_checker_;  // null: launches are not checked
    std::unique_ptr<Heap> heap_;
    Mapping addresses_;  // the device's addresses: inaccessible here
    const std::ptrdiff_t distance_;
    HeapChecker checker_;
    HeapAllocations allocations_;
    SharedFile shared_file_;
    std::atomic<std::uint32_t> lanes_{0};
    Mutex mutex_;
    HostRanges mapped_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint64_t, CodeBytes> codes_ CANOPY_GUARDED_BY(mutex_);
    std::uint64_t codes_made_ CANOPY_GUARDED_BY(mutex_) = 0;
    mutable SharedMutex variables_mutex_;
    static constexpr std::uint64_t gone = 0;
    struct Variable {
        std::size_t size;
        std::uint64_t code;  // gone: the process that had it has ended
    };
    std::map<std::uintptr_t, Variable> variables_ CANOPY_GUARDED_BY(variables_mutex_);  // of loaded code
    std::atomic<bool> has_variables_{false};
    DeviceProcess process_;
};

// ---- code -----------------------------------------------------------------------------------------------------------

ApartCode::ApartCode(ApartDriver& driver, const Image& image) : driver_(driver), size_(image.bytes.size()) {
    auto file = CodeFile::create("canopy-image", image.bytes);
    if (file.ok()) file_ = std::move(*file);
    kernels_.resize(image.kernels.size());
    for (std::uint32_t index = 0; index < kernels_.size(); ++index) kernels_[index].index = index;
}

ApartCode::~ApartCode() {
    if (number_ != 0) driver_.unload_code(number_);
}

Status ApartCode::load() {
    if (file_.descriptor() < 0) return fail(207001, "no memory file for an image of {} bytes", size_);
    std::uint64_t made = 0;
    std::vector<std::byte> addresses;
    Result<Reply> loaded = driver_.load_code({file_.descriptor(), size_}, made, addresses);
    if (!loaded.ok()) return loaded.status();
    number_ = made;
    range = {DeviceAddress(loaded->address), loaded->size};
    for (ApartKernel& kernel : kernels_) {
        kernel.code = number_;
        if ((kernel.index + 1) * sizeof kernel.address <= addresses.size())
            std::memcpy(&kernel.address, addresses.data() + kernel.index * sizeof kernel.address,
                        sizeof kernel.address);
    }
    return {};
}

std::optional<SymbolInfo> ApartCode::symbol(std::string_view name) {
    Request request;
    request.ask = Ask::symbol;
    request.code = number_;
    if (name.empty() || name.size() >= sizeof request.text) return std::nullopt;
    name.copy(request.text, name.size());
    Result<Reply> reply = driver_.process().ask(request);
    if (!reply.ok()) return std::nullopt;
    const SymbolInfo found{DeviceAddress(reply->address), reply->size};
    driver_.note_variable(found, number_);
    return found;
}

// ---- launches -------------------------------------------------------------------------------------------------------

ApartSlot::~ApartSlot() {
    Request request;
    request.ask = Ask::close;
    request.lane = lane_;
    driver_.process().tell(request);
}

// The kernel gets its own copy in device memory; pointers from the block into itself are relocated.
Result<DeviceAddress> ApartSlot::copy_arguments(const LaunchWork& work) {
    Result<DeviceAddress> memory = driver_.allocate(work.arguments_size, memory_default);
    if (!memory.ok()) return memory;
    std::vector<std::byte> bytes(work.arguments_size);
    std::memcpy(bytes.data(), work.host_arguments(), bytes.size());
    const std::uintptr_t from = work.arguments().value();
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint32_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if (word - from >= bytes.size()) continue;
        word = memory->value() + (word - from);
        std::memcpy(bytes.data() + at, &word, sizeof word);
    }
    driver_.transfer(*memory, device_address(bytes.data()), bytes.size()).ignore();
    return memory;
}

void ApartSlot::free_arguments() noexcept {
    if (arguments_) driver_.release(std::exchange(arguments_, DeviceAddress{})).ignore();
}

Status ApartSlot::send(const Command& command, std::uint64_t sequence) {
    const LaunchWork& work = command.launch;
    const auto& kernel = static_cast<const ApartKernel&>(*work.kernel);
    Request request;
    request.ask = Ask::launch;
    request.lane = lane_;
    request.code = kernel.code;
    request.kernel = kernel.index;
    request.blocks = work.blocks;
    request.block_offset = work.block_offset;
    request.dynamic_size = work.dynamic_size;
    request.arguments_size = work.arguments_size;
    request.batch = work.batch;
    request.priority = owner_.priority();
    request.timeout = owner_.timeout_of(work);
    request.address = work.arguments().value();
    if (!work.arguments_in_place() && work.arguments_size != 0) {
        Result<DeviceAddress> copy = copy_arguments(work);
        if (!copy.ok()) return copy.status();
        arguments_ = *copy;
        request.address = arguments_.value();
    }
    outcome_ = {};
    running_ = true;
    sequence_.store(sequence, std::memory_order_relaxed);
    number_.store(UINT64_MAX, std::memory_order_release);
    if (driver_.process().launch(*this, request, number_)) return {};
    running_ = false;
    number_.store(0, std::memory_order_release);
    return fail(lost, "the process of the device {}", driver_.process().how_it_ended());
}

Step ApartSlot::run(Worker&, Command& command, std::uint64_t sequence) noexcept {
    if (!running_) {
        driver_.tell_unchecked(*command.launch.kernel);
        Status status;
        try {
            status = send(command, sequence);
        } catch (...) {
            status = fail(207001, "out of host memory for a launch");
        }
        if (status.ok()) return Step::left;  // another thread may own the strand already
        free_arguments();
        owner_.report(command, {.kind = status.code() == lost ? FaultKind::lost : FaultKind::memory}, 0,
                      newest_error_text());
        return Step::done;
    }
    owner_.take_wait_result();
    running_ = false;
    free_arguments();
    if (outcome_.fault == FaultKind::none) {
        if (owner_.scheduler().checks()) owner_.check_memory(command);
        return Step::done;
    }
    std::string text = outcome_.text;
    if (const std::size_t at = text.find(described_by_owner); at != std::string::npos)
        text.replace(at, 1, driver_.checker().describe(outcome_.address));
    Fault fault;
    fault.kind = outcome_.fault;
    fault.address = outcome_.address;
    owner_.report(command, fault, outcome_.block, text);
    return Step::done;
}

void ApartSlot::ended(const Reply& reply) noexcept {
    outcome_ = reply;
    number_.store(0, std::memory_order_release);
    owner_.continue_after_launch();
}

// The process is told once for each launch; it may have ended meanwhile.
void ApartSlot::stop(std::uint64_t limit) noexcept {
    const std::uint64_t number = number_.load(std::memory_order_acquire);
    if (number == 0 || number == UINT64_MAX || sequence_.load(std::memory_order_relaxed) >= limit) return;
    if (stopped_.exchange(number, std::memory_order_acq_rel) == number) return;
    Request request;
    request.ask = Ask::stop;
    request.lane = lane_;
    request.number = number;
    driver_.process().tell(request);
}

void ApartSlot::drop() noexcept {
    running_ = false;
    free_arguments();
}

// ---- the kind -------------------------------------------------------------------------------------------------------

class ApartKind final : public DeviceKind {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "apart"; }
    [[nodiscard]] std::uint32_t count() noexcept override { return UINT32_MAX; }
    [[nodiscard]] bool addressable() const noexcept override { return false; }
    Result<std::unique_ptr<Driver>> open(const DeviceOptions& options) override {
        Result<std::unique_ptr<Heap>> heap =
            Heap::create({fmt::format("canopy-apart-{}", options.index), options.memory, options.checking});
        if (!heap.ok()) return heap.status();
        Result<Mapping> addresses =
            Mapping::reserve((*heap)->range().size, std::size_t{2} << 20, first_place + options.index * place_distance);
        if (!addresses.ok()) return addresses.status();
        auto driver = std::make_unique<ApartDriver>(options, std::move(*heap), std::move(*addresses));
        CANOPY_TRY(driver->start());
        return std::unique_ptr<Driver>(std::move(driver));
    }
};

}  // namespace
}  // namespace apart

DeviceKind& apart_kind() noexcept {
    static apart::ApartKind kind;
    return kind;
}

}  // namespace canopy
