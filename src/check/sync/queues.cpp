// SPDX-License-Identifier: Apache-2.0
#include "check/sync/queues.h"

#include <fmt/core.h>

#include "check/sync/keys.h"

namespace canopy::check {

namespace {

constexpr std::size_t buffers_of_pipe = 64;  // of a TPipe

// Positions, as the kernel language numbers them (TPosition).
enum Position : std::uint8_t { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, SPM, TSCM, C2PIPE2GM };

enum class Home { global, vector, l1, operand, product, fixpipe };

Home home_of(std::uint8_t position, bool old_chip) {
    switch (position) {
        case A1:
        case B1:
        case SPM:
        case TSCM:
            return Home::l1;
        case C1:
            return old_chip ? Home::vector : Home::l1;
        case A2:
        case B2:
            return Home::operand;
        case C2:
            return old_chip ? Home::product : Home::operand;
        case CO1:
            return Home::product;
        case CO2:
            return old_chip ? Home::vector : Home::global;
        case VECIN:
        case VECOUT:
        case VECCALC:
            return Home::vector;
        case C2PIPE2GM:
            return Home::fixpipe;
        default:
            return Home::global;
    }
}

constexpr PipePair pair(unsigned from, unsigned to) {
    return {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to)};
}

// The flag between what fills a buffer of a queue that has one position, and what reads it.
PipePair of_one_position(std::uint8_t position, bool old_chip) {
    if (position == VECIN) return pair(CANOPY_CHECK_MTE2, CANOPY_CHECK_V);
    if (position == VECOUT) return pair(CANOPY_CHECK_V, CANOPY_CHECK_MTE3);
    if (position == VECCALC) return pair(CANOPY_CHECK_MTE2, CANOPY_CHECK_MTE3);
    if (position == C2PIPE2GM) return pair(CANOPY_CHECK_MTE1, CANOPY_CHECK_FIX);
    switch (home_of(position, old_chip)) {
        case Home::l1:
            return pair(CANOPY_CHECK_MTE2, CANOPY_CHECK_MTE1);
        case Home::operand:
            return pair(CANOPY_CHECK_MTE1, CANOPY_CHECK_M);
        case Home::product:
            return pair(CANOPY_CHECK_M, old_chip ? CANOPY_CHECK_V : CANOPY_CHECK_FIX);
        case Home::vector:
            return position == CO2 ? pair(CANOPY_CHECK_V, CANOPY_CHECK_MTE3) : pair(CANOPY_CHECK_MTE2, CANOPY_CHECK_V);
        default:
            return pair(CANOPY_CHECK_MTE2, CANOPY_CHECK_MTE3);
    }
}

// The same for a buffer that is filled as one position and read as another.
PipePair between(Home source, Home destination, bool old_chip) {
    switch (source) {
        case Home::global:
            return pair(CANOPY_CHECK_MTE2, destination == Home::l1 ? CANOPY_CHECK_MTE1 : CANOPY_CHECK_V);
        case Home::vector:
            if (destination == Home::global) return pair(CANOPY_CHECK_V, CANOPY_CHECK_MTE3);
            if (destination == Home::l1) return pair(CANOPY_CHECK_MTE3, CANOPY_CHECK_MTE1);
            return pair(CANOPY_CHECK_MTE2, CANOPY_CHECK_MTE3);
        case Home::l1:
            if (destination == Home::operand) return pair(CANOPY_CHECK_MTE1, CANOPY_CHECK_M);
            if (destination == Home::fixpipe) return pair(CANOPY_CHECK_MTE1, CANOPY_CHECK_FIX);
            if (destination == Home::vector) return pair(CANOPY_CHECK_MTE1, CANOPY_CHECK_V);
            return pair(CANOPY_CHECK_MTE2, destination == Home::global ? CANOPY_CHECK_MTE3 : CANOPY_CHECK_MTE1);
        case Home::product:
            return pair(CANOPY_CHECK_M, old_chip ? CANOPY_CHECK_V : CANOPY_CHECK_FIX);
        case Home::operand:
            return pair(CANOPY_CHECK_MTE1, CANOPY_CHECK_M);
        case Home::fixpipe:
            break;
    }
    return pair(CANOPY_CHECK_MTE1, CANOPY_CHECK_FIX);
}

constexpr PipePair back(PipePair event) { return {event.to, event.from}; }

const char* name_of(Buffers::State state) {
    switch (state) {
        case Buffers::State::fresh:
            return "was never allocated";
        case Buffers::State::taken:
            return "is in use";
        case Buffers::State::queued:
            return "waits in its queue";
        case Buffers::State::free:
            return "is free already";
    }
    return "";
}

}  // namespace

Queues::Queues(Core& core, Buffers& buffers, EventIds& ids)
    : core_(core), buffers_(buffers), ids_(ids), has_ids_(core.launch.facts.architecture != 3510 || core.facts.cube) {}

PipePair Queues::filled_event(std::uint8_t source, std::uint8_t destination) const {
    const std::uint32_t architecture = core_.launch.facts.architecture;
    const bool old_chip = architecture == 2002 || architecture == 1001;
    if (source == destination) return of_one_position(source, old_chip);
    if (source == GM && destination == VECIN) return of_one_position(VECIN, old_chip);
    if (source == VECOUT && destination == GM) return of_one_position(VECOUT, old_chip);
    return between(home_of(source, old_chip), home_of(destination, old_chip), old_chip);
}

// EnQue and DeQue may name other positions than the queue.
PipePair Queues::filled_event(const CanopyCheckBuffer& event, const Region& region) const {
    if (event.source != event.destination) return filled_event(event.source, event.destination);
    return filled_event(region.source, region.destination);
}

void Queues::report(const std::string& text, const CanopyCheckSite* earlier, const CanopyCheckSite& site) {
    const Reports::Side here{.site = site, .core = &core_};
    if (earlier == nullptr)
        report_sync(core_, Level::error, "sync.queue", "misused queue", text, "", {here});
    else
        report_sync(core_, Level::error, "sync.queue", "misused queue", text, "",
                    {{.site = *earlier, .core = &core_}, here});
}

Queues::Taken Queues::buffer(const CanopyCheckBuffer& event) {
    switch (event.event) {
        case CANOPY_CHECK_BUFFER_INIT:
            init(event);
            return {};
        case CANOPY_CHECK_BUFFER_ALLOCATE:
            return allocate(event);
        case CANOPY_CHECK_BUFFER_ENQUEUE:
            enqueue(event);
            return {};
        case CANOPY_CHECK_BUFFER_DEQUEUE:
            dequeue(event);
            return {};
        case CANOPY_CHECK_BUFFER_FREE:
            free(event);
            return {};
        case CANOPY_CHECK_BUFFER_FREE_EVENTS:
            if (Region* region = buffers_.of_queue(event.queue)) free_events(*region, event.site);
            return {};
        case CANOPY_CHECK_PIPE_INIT:
            pipe_seen_ = true;
            give_up(false, event.site);
            ids_.pipe_begins();
            return {};
        case CANOPY_CHECK_PIPE_RESET:
            give_up(false, event.site);
            ids_.pipe_begins();
            return {};
        case CANOPY_CHECK_PIPE_DESTROY:
            give_up(true, event.site);
            core_.order.barrier(CANOPY_CHECK_ALL, event.site);
            return {};
        default:
            return {};
    }
}

void Queues::init(const CanopyCheckBuffer& event) {
    Region* region = buffers_.add(event);
    if (region == nullptr) return;
    if (buffers_.count() > buffers_of_pipe)
        report(fmt::format("{} buffers in one TPipe; there may be {}", buffers_.count(), buffers_of_pipe), nullptr,
               event.site);
    if (region->queue == nullptr || region->depth != 0) return;
    // Without depth both ids belong to the buffers for good, and each is free from the start.
    const PipePair filled = filled_event(region->source, region->destination);
    for (std::uint32_t index = 0; index < region->buffers.size(); ++index) {
        if (has_ids_) {
            ids_.take(filled, event.site);
            ids_.take(back(filled), event.site);
        }
        core_.order.put(free_key(region->address_of(index)), filled.to, event.site);
        region->buffers[index].waits_free = true;
    }
}

// The buffer that an event names, and whether it is one of the queue that is named; reports what is wrong.
Queues::Found Queues::find(const CanopyCheckBuffer& event, const char* call) {
    Region* queue = buffers_.of_queue(event.queue);
    const auto address = reinterpret_cast<std::uint64_t>(event.address);
    Region* region = buffers_.find(address);
    if (queue == nullptr && (region == nullptr || region->queue == nullptr)) {
        report(fmt::format("{} on a queue without buffers; InitBuffer gives it some", call), nullptr, event.site);
        return {};
    }
    if (region == nullptr || (queue != nullptr && region != queue)) {
        report(
            fmt::format("{}: the tensor is not from this queue", call),
            region == nullptr || region->queue == nullptr ? nullptr : &region->buffers[region->index_of(address)].site,
            event.site);
        return {};
    }
    return {region, region->index_of(address)};
}

Queues::Taken Queues::allocate(const CanopyCheckBuffer& event) {
    if (event.address == nullptr) {
        Region* queue = buffers_.of_queue(event.queue);
        report(queue == nullptr
                   ? "AllocTensor on a queue without buffers; InitBuffer gives it some"
                   : fmt::format("AllocTensor: none of the {} buffers of this queue is free", queue->buffers.size()),
               queue == nullptr ? nullptr : &queue->buffers.front().site, event.site);
        return {};
    }
    const Found found = find(event, "AllocTensor");
    if (found.region == nullptr) return {};
    wait_free(*found.region, found.index, event.site);
    found.buffer().state = Buffers::State::taken;
    found.buffer().site = event.site;
    return {found.address(), found.address() + found.region->bytes};
}

void Queues::enqueue(const CanopyCheckBuffer& event) {
    const Found found = find(event, "EnQue");
    if (found.region == nullptr) return;
    Region& region = *found.region;
    Buffer& buffer = found.buffer();
    if (buffer.state != Buffers::State::taken) {
        report(fmt::format("EnQue of a tensor that {}", name_of(buffer.state)), &buffer.site, event.site);
        if (buffer.state == Buffers::State::queued) return;
    }
    if (region.depth > 0 && region.queued.size() >= static_cast<std::size_t>(region.depth))
        report(fmt::format("EnQue: the queue has room for {} and is full", region.depth),
               &region.buffers[region.queued.front()].site, event.site);
    const PipePair filled = filled_event(event, region);
    if (has_ids_ && region.depth != 0) ids_.take(filled, event.site);
    core_.order.put(filled_key(found.address()), filled.from, event.site);
    buffer = {Buffers::State::queued, buffer.waits_free, filled.from, filled.to, event.site};
    region.queued.push_back(found.index);
}

void Queues::dequeue(const CanopyCheckBuffer& event) {
    Region* region = buffers_.of_queue(event.queue);
    if (region == nullptr && event.address != nullptr)
        region = buffers_.find(reinterpret_cast<std::uint64_t>(event.address));
    if (region == nullptr || region->queue == nullptr) {
        report("DeQue on a queue without buffers; InitBuffer gives it some", nullptr, event.site);
        return;
    }
    if (region->queued.empty()) {
        report("DeQue of an empty queue: a chip waits for ever", nullptr, event.site);
        return;
    }
    const std::uint32_t index = region->queued.front();
    region->queued.pop_front();
    Buffer& buffer = region->buffers[index];
    const PipePair set{buffer.filled_from, buffer.filled_to}, waited = filled_event(event, *region);
    if (set == waited)
        core_.order.take(filled_key(region->address_of(index)), waited.to, event.site);
    else
        report(fmt::format("DeQue waits for {}, but EnQue has set {}", event_name(waited), event_name(set)),
               &buffer.site, event.site);
    if (has_ids_ && region->depth != 0) ids_.give_back(set);
    buffer.state = Buffers::State::taken;
    buffer.site = event.site;
}

void Queues::free(const CanopyCheckBuffer& event) {
    const Found found = find(event, "FreeTensor");
    if (found.region == nullptr) return;
    Buffer& buffer = found.buffer();
    if (buffer.state != Buffers::State::taken) {
        report(fmt::format("FreeTensor of a tensor that {}", name_of(buffer.state)), &buffer.site, event.site);
        return;
    }
    const PipePair event_back = back(filled_event(found.region->source, found.region->destination));
    if (has_ids_ && found.region->depth != 0) ids_.take(event_back, event.site);
    core_.order.put(free_key(found.address()), event_back.from, event.site);
    buffer.state = Buffers::State::free;
    buffer.waits_free = true;
    buffer.site = event.site;
}

void Queues::wait_free(Region& region, std::uint32_t index, const CanopyCheckSite& site) {
    Buffer& buffer = region.buffers[index];
    if (!buffer.waits_free) return;
    const PipePair event = back(filled_event(region.source, region.destination));
    core_.order.take(free_key(region.address_of(index)), event.to, site);
    if (has_ids_ && region.depth != 0) ids_.give_back(event);
    buffer.waits_free = false;
}

void Queues::free_events(Region& region, const CanopyCheckSite& site) {
    for (std::uint32_t index = 0; index < region.buffers.size(); ++index) wait_free(region, index, site);
}

// Reset and Destroy wait for the flags of free buffers; a queued tensor's flag stays up.
void Queues::give_up(bool destroyed, const CanopyCheckSite& site) {
    report_left(destroyed);
    for (auto& [begin, region] : buffers_.regions())
        if (region.queue != nullptr) free_events(region, site);
    buffers_.reset(site, destroyed);
    ids_.reset();
}

void Queues::report_left(bool destroyed) {
    for (const auto& [begin, region] : buffers_.regions()) {
        if (region.queue == nullptr) continue;
        for (const Buffer& buffer : region.buffers) {
            if (buffer.state == Buffers::State::queued)
                report_sync(core_, Level::error, "sync.leak", "queued tensor left",
                            fmt::format("EnQue has set {}, and no DeQue waits for it: the next kernel finds it set",
                                        event_name(buffer.filled_from, buffer.filled_to)),
                            "DeQue", {{.site = buffer.site, .core = &core_}});
            else if (destroyed && buffer.state == Buffers::State::taken)
                report_sync(core_, Level::warning, "sync.leak", "tensor not freed",
                            "the tensor is in use when its TPipe or the kernel ends", "FreeTensor",
                            {{.site = buffer.site, .core = &core_}});
        }
    }
}

void Queues::end() {
    report_left(true);
    buffers_.regions().clear();
}

}  // namespace canopy::check
