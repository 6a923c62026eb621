// SPDX-License-Identifier: Apache-2.0
#include "check/trace.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <utility>

namespace canopy::check {

namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

void add(std::string& text, const CanopyCheckAccess& access) {
    fmt::format_to(std::back_inserter(text), "access {} {} {} {} {} {} {:x} {} {} {} {} {} {:x} {} {}", access.kind,
                   access.memory, access.atomic, access.element, access.element_type, access.whole_register,
                   number_of(access.address), access.bytes, access.step, access.pieces, access.repeat_step,
                   access.repeats, number_of(access.tensor), access.tensor_bytes, access.lanes_per_bit);
    if (access.lanes != nullptr)
        fmt::format_to(std::back_inserter(text), " {:x} {:x}", access.lanes[0], access.lanes[1]);
    text += '\n';
}

class TracedCore final : public CoreCheck {
public:
    TracedCore(CoreCheck& check, TraceFile& file, std::uint64_t launch, std::size_t core)
        : check_(check), file_(file), begin_(fmt::format("{} {} ", launch, core)) {}

    void operation(const CanopyCheckOperation& operation) override {
        write_operation("operation", operation);
        check_.operation(operation);
    }
    void flag(bool set, std::uint32_t from, std::uint32_t to, std::int32_t id, const CanopyCheckSite& site) override {
        write("flag {} {} {} {} {}", int{set}, from, to, id, site.line);
        check_.flag(set, from, to, id, site);
    }
    void barrier(std::uint32_t pipe, const CanopyCheckSite& site) override {
        write("barrier {} {}", pipe, site.line);
        check_.barrier(pipe, site);
    }
    void data_barrier(std::uint32_t kind, const CanopyCheckSite& site) override {
        write("data_barrier {} {}", kind, site.line);
        check_.data_barrier(kind, site);
    }
    void buffer(const CanopyCheckBuffer& buffer) override {
        write("buffer {} {} {:x} {:x} {} {} {} {} {} {} {}", buffer.event, buffer.buffers, number_of(buffer.queue),
              number_of(buffer.address), buffer.bytes, buffer.depth, buffer.source, buffer.destination, buffer.memory,
              buffer.bound, buffer.site.line);
        check_.buffer(buffer);
    }
    void event_id(std::uint32_t event, std::uint32_t from, std::uint32_t to, std::int32_t id,
                  const CanopyCheckSite& site) override {
        write("event_id {} {} {} {} {}", event, from, to, id, site.line);
        check_.event_id(event, from, to, id, site);
    }
    void mutex(bool lock, std::uint32_t pipe, std::uint32_t id, const CanopyCheckSite& site) override {
        write("mutex {} {} {} {}", int{lock}, pipe, id, site.line);
        check_.mutex(lock, pipe, id, site);
    }
    void core_flag(bool set, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id,
                   const CanopyCheckSite& site) override {
        write("core_flag {} {} {} {} {}", int{set}, mode, pipe, id, site.line);
        check_.core_flag(set, mode, pipe, id, site);
    }
    void meet(std::uint32_t kind, std::uint32_t scope, bool begin, std::uint32_t trigger, std::uint32_t wait,
              const CanopyCheckSite& site) override {
        write("meet {} {} {} {} {} {}", kind, scope, int{begin}, trigger, wait, site.line);
        check_.meet(kind, scope, begin, trigger, wait, site);
    }
    void word(std::uint32_t event, const void* address, const CanopyCheckSite& site) override {
        write("word {} {:x} {}", event, number_of(address), site.line);
        check_.word(event, address, site);
    }
    void cache(std::uint32_t event, const void* address, const CanopyCheckSite& site) override {
        write("cache {} {:x} {}", event, number_of(address), site.line);
        check_.cache(event, address, site);
    }
    void region(std::uint32_t kind, bool begin, const CanopyCheckOperation* operation) override {
        if (operation != nullptr)
            write_operation("call", *operation);
        else
            write("region {} {}", kind, int{begin});
        check_.region(kind, begin, operation);
    }
    void not_modelled(const char* what, const CanopyCheckSite& site) override {
        write("not_modelled {} {}", site.line, what);
        check_.not_modelled(what, site);
    }
    void misuse(const char* id, const char* text, const CanopyCheckSite& site) override {
        write("misuse {} {} {}", site.line, id, text);
        check_.misuse(id, text, site);
    }
    void raw(const void* address, std::uint32_t bytes, std::uint32_t kind, const void* instruction) override {
        write("raw {:x} {} {} {:x}", number_of(address), bytes, kind, number_of(instruction));
        check_.raw(address, bytes, kind, instruction);
    }
    void order(std::uint32_t from, std::uint32_t to, const CanopyCheckSite& site) override {
        write("order {} {} {}", from, to, site.line);
        check_.order(from, to, site);
    }
    void end(bool complete) override {
        write("end {}", int{complete});
        check_.end(complete);
    }

private:
    template <class... Values>
    void write(fmt::format_string<Values...> format, Values&&... values) {
        std::string text = begin_;
        fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
        text += '\n';
        file_.write(text);
    }

    void write_operation(const char* kind, const CanopyCheckOperation& operation) {
        std::string text = begin_;
        fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {} {} {} {} {} {}\n", kind, operation.pipe,
                       operation.flow, operation.unit_flag, operation.flags, operation.m, operation.n, operation.k,
                       operation.access_count, operation.site.line,
                       operation.site.operation == nullptr ? "" : operation.site.operation);
        for (std::uint32_t i = 0; i < operation.access_count; ++i) {
            text += begin_;
            add(text, operation.accesses[i]);
        }
        file_.write(text);
    }

    CoreCheck& check_;
    TraceFile& file_;
    const std::string begin_;
};

class TracedLaunch final : public LaunchCheck {
public:
    TracedLaunch(std::unique_ptr<LaunchCheck> check, const LaunchFacts& facts, std::shared_ptr<TraceFile> file)
        : check_(std::move(check)), file_(std::move(file)), number_(file_->next_launch()) {
        file_->write(fmt::format("{} launch {} {} {} {} {} {} {} {}\n", number_, facts.kernel, facts.architecture,
                                 facts.blocks, facts.vector_cores, facts.cube_cores, int{facts.mix},
                                 int{facts.autosync}, facts.cores_of_chip));
    }

    CoreCheck& core(const CoreFacts& facts) override {
        CoreCheck& check = check_->core(facts);
        const MutexLock lock(mutex_);
        const std::size_t core = cores_.size();
        std::string text =
            fmt::format("{} core {} {} {} {}", number_, core, facts.block, facts.sub_index, int{facts.cube});
        for (const CoreFacts::Memory& memory : facts.memory)
            fmt::format_to(std::back_inserter(text), " {:x}:{}", memory.base, memory.size);
        file_->write(text + '\n');
        return cores_.emplace_back(check, *file_, number_, core);
    }
    [[nodiscard]] std::uint64_t order_events() const override { return check_->order_events(); }
    std::vector<TouchedRange> end() override {
        std::vector<TouchedRange> touched = check_->end();
        file_->flush();
        return touched;
    }

private:
    std::unique_ptr<LaunchCheck> check_;
    const std::shared_ptr<TraceFile> file_;
    const std::uint64_t number_;
    Mutex mutex_;
    std::deque<TracedCore> cores_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<TraceFile> TraceFile::create(const std::string& path, Problem& problem) {
    std::FILE* file = std::fopen(path.c_str(), "we");
    if (file == nullptr) {
        problem = Problem{path, " cannot be written: ", std::strerror(errno)};
        return nullptr;
    }
    return std::shared_ptr<TraceFile>(new TraceFile(file));
}

TraceFile::~TraceFile() { std::fclose(file_); }

std::uint64_t TraceFile::next_launch() noexcept {
    const MutexLock lock(mutex_);
    return ++launches_;
}

void TraceFile::write(const std::string& text) noexcept {
    const MutexLock lock(mutex_);
    std::fwrite(text.data(), 1, text.size(), file_);
}

void TraceFile::flush() noexcept {
    const MutexLock lock(mutex_);
    std::fflush(file_);
}

std::unique_ptr<LaunchCheck> traced(std::unique_ptr<LaunchCheck> check, const LaunchFacts& facts,
                                    std::shared_ptr<TraceFile> file) {
    return std::make_unique<TracedLaunch>(std::move(check), facts, std::move(file));
}

}  // namespace canopy::check
