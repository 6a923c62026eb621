// SPDX-License-Identifier: Apache-2.0
// Two passes over the traces. The first numbers each range of global memory that is loaded or stored, and makes sure
// that different ranges do not overlap if one of them is stored. The second follows the values. Both must be fast: a
// launch over 8 Mi elements has tens of thousands of records, and a cached loop should be ready at once.
#include "core/fusion/loop_flow.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/error_text.h"
#include "core/base/error_codes.h"

namespace canopy {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

// A range of global memory, numbered in the order the steps access it.
struct Range {
    std::uint32_t region = 0;
    bool stored = false;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint32_t first = none;    // for stored ranges: the first value that touches it
    std::uint32_t initial = none;  // the value before the steps, once it is loaded
    std::uint32_t current = none;  // the value stored last
    std::uint32_t next = none;     // another range that finally holds the same value
};

// Range numbers by location; an open-addressing hash table sized to the number of copies.
class RangeTable {
public:
    explicit RangeTable(std::size_t most) {
        std::size_t size = 64;
        while (size < most * 2) size *= 2;
        slots_.assign(size, none);
        ranges.reserve(most);
    }
    std::uint32_t find_or_add(std::uint32_t region, std::uint64_t offset, std::uint64_t bytes) {
        std::uint64_t hash = (offset ^ (bytes << 40) ^ (std::uint64_t{region} << 56)) * 0x9e3779b97f4a7c15ull;
        for (std::size_t slot = hash >> 20;; ++slot) {
            std::uint32_t& number = slots_[slot & (slots_.size() - 1)];
            if (number == none) {
                number = static_cast<std::uint32_t>(ranges.size());
                ranges.push_back({region, false, offset, bytes});
                return number;
            }
            const Range& known = ranges[number];
            if (known.offset == offset && known.bytes == bytes && known.region == region) return number;
        }
    }
    std::vector<Range> ranges;

private:
    std::vector<std::uint32_t> slots_;
};

// A value: the result of a load or of an operation on other values.
struct Value {
    std::uint32_t operation = none;  // none: loaded
    std::uint32_t object = 0;        // index of its constants
    std::uint32_t range = none;      // loads only
    std::uint32_t step = 0;
    std::uint64_t count = 0;  // bytes of a load, else elements
    std::uint32_t sources[3] = {none, none, none};
    std::uint32_t parent = none;  // towards the root that represents its piece
    std::uint32_t kept = none;    // the first non-temporary range that finally holds it
};

// Bytes of the unified buffer that hold one whole value.
struct LocalEntry {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t value = none;
};

std::uint64_t bytes_of(std::uint64_t count, std::uint8_t size) noexcept {
    return size == 0 ? (count + 7) / 8 : count * size;
}

class FlowFinder {
public:
    explicit FlowFinder(const LoopRequest& request) : request_(request), table_(count_copies(request)) {}
    Result<LoopFlow> find();

private:
    static std::size_t count_copies(const LoopRequest& request);

    Status number_ranges();
    Status check_overlaps();
    Status follow_step(std::uint32_t step);
    Status follow(const TraceRecord& record, std::uint32_t step);
    Status follow_compute(const TraceRecord& record, std::uint32_t step);
    Status build_pieces();
    Status build_piece(std::span<const std::uint32_t> values);
    Result<std::uint64_t> element_count(std::span<const std::uint32_t> values) const;
    Status add_nodes(std::span<const std::uint32_t> values, std::uint64_t count);
    Status add_stores(std::span<const std::uint32_t> values, std::uint64_t count);
    std::uint32_t shape_number();
    void merge_pieces();

    std::uint32_t operation_number(const TraceOperation& operation);
    std::uint32_t object_number(std::span<const std::byte> bytes);
    std::uint32_t pointer_number(std::uint32_t range, std::uint8_t size);

    [[nodiscard]] std::uint32_t held(std::uint64_t offset, std::uint64_t bytes) const noexcept;
    void hold(std::uint64_t offset, std::uint64_t bytes, std::uint32_t value);
    void touch(Range& range, std::uint32_t value);
    std::uint32_t loaded(std::uint32_t range, std::uint32_t step);
    std::uint32_t find_root(std::uint32_t value) noexcept;
    void join(std::uint32_t one, std::uint32_t other) noexcept;

    const LoopRequest& request_;
    RangeTable table_;
    std::vector<std::uint32_t> record_ranges_;  // per copy from or to global memory, in record order
    std::size_t next_range_ = 0;
    std::vector<Value> values_;
    std::vector<LocalEntry> local_;
    std::vector<std::uint32_t> operation_numbers_;  // for the current step's operations
    std::vector<std::vector<std::byte>> objects_;
    std::uint32_t last_object_operation_ = none, last_object_offset_ = 0, last_object_ = 0;

    // State of the current piece.
    LoopShape shape_;
    std::vector<std::uint32_t> piece_ranges_;  // one per pointer
    std::vector<std::uint32_t> node_of_;       // by value
    std::vector<std::uint8_t> live_;           // by value
    std::unordered_map<std::string, std::uint32_t> shape_numbers_;
    LoopFlow flow_;
};

std::size_t FlowFinder::count_copies(const LoopRequest& request) {
    std::size_t count = 0;
    for (const LoopStep& step : request.steps)
        for (const TraceRecord& record : step.trace->records)
            count += record.kind == TraceKind::load || record.kind == TraceKind::store;
    return count;
}

Status FlowFinder::number_ranges() {
    for (const LoopStep& step : request_.steps) {
        for (const TraceRecord& record : step.trace->records) {
            const bool store = record.kind == TraceKind::store;
            if (!store && record.kind != TraceKind::load) continue;
            const TraceAddress& place = store ? record.target : record.sources[0];
            if (place.region < 0 || static_cast<std::size_t>(place.region) >= request_.regions.size())
                return fail(code::param_invalid, "a trace names the unknown region {}", place.region);
            const std::uint32_t number =
                table_.find_or_add(static_cast<std::uint32_t>(place.region), place.offset, record.count);
            record_ranges_.push_back(number);
            if (store) table_.ranges[number].stored = true;
        }
    }
    return {};
}

Status FlowFinder::check_overlaps() {
    std::vector<std::uint32_t> order(table_.ranges.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const Range& left = table_.ranges[a];
        const Range& right = table_.ranges[b];
        return left.region != right.region ? left.region < right.region : left.offset < right.offset;
    };
    // Steps walk upwards through each region, so sorting by region is often enough.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return table_.ranges[a].region < table_.ranges[b].region;
    });
    if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
    std::uint32_t region = none;
    std::uint64_t any_end = 0, stored_end = 0;
    for (const std::uint32_t number : order) {
        const Range& range = table_.ranges[number];
        if (range.region != region) any_end = stored_end = 0;
        region = range.region;
        if (range.offset < stored_end || (range.stored && range.offset < any_end))
            return fail(code::not_supported, "the steps store to ranges of memory that overlap only in part");
        any_end = std::max(any_end, range.offset + range.bytes);
        if (range.stored) stored_end = std::max(stored_end, range.offset + range.bytes);
    }
    return {};
}

std::uint32_t FlowFinder::find_root(std::uint32_t value) noexcept {
    while (values_[value].parent != value) {
        values_[value].parent = values_[values_[value].parent].parent;
        value = values_[value].parent;
    }
    return value;
}

// The earlier value becomes the root: roots precede the values they represent.
void FlowFinder::join(std::uint32_t one, std::uint32_t other) noexcept {
    one = find_root(one);
    other = find_root(other);
    values_[std::max(one, other)].parent = std::min(one, other);
}

std::uint32_t FlowFinder::held(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    for (const LocalEntry& entry : local_)
        if (entry.begin == offset && entry.end == offset + bytes) return entry.value;
    return none;
}

void FlowFinder::hold(std::uint64_t offset, std::uint64_t bytes, std::uint32_t value) {
    const std::uint64_t end = offset + bytes;
    std::erase_if(local_, [&](const LocalEntry& entry) { return entry.begin < end && offset < entry.end; });
    if (value != none) local_.push_back({offset, end, value});
}

// All values that touch a stored range belong to the same piece.
void FlowFinder::touch(Range& range, std::uint32_t value) {
    if (!range.stored) return;
    if (range.first == none)
        range.first = value;
    else
        join(range.first, value);
}

std::uint32_t FlowFinder::loaded(std::uint32_t number, std::uint32_t step) {
    Range& range = table_.ranges[number];
    if (range.current != none) return range.current;
    if (range.stored && range.initial != none) return range.initial;
    const auto value = static_cast<std::uint32_t>(values_.size());
    Value& made = values_.emplace_back();
    made.range = number;
    made.step = step;
    made.count = range.bytes;
    made.parent = value;
    range.initial = value;
    touch(range, value);
    return value;
}

std::uint32_t FlowFinder::operation_number(const TraceOperation& operation) {
    for (std::size_t index = 0; index < flow_.operations.size(); ++index)
        if (flow_.operations[index] == operation) return static_cast<std::uint32_t>(index);
    flow_.operations.push_back(operation);
    return static_cast<std::uint32_t>(flow_.operations.size() - 1);
}

std::uint32_t FlowFinder::object_number(std::span<const std::byte> bytes) {
    for (std::size_t index = 0; index < objects_.size(); ++index)
        if (std::equal(bytes.begin(), bytes.end(), objects_[index].begin(), objects_[index].end()))
            return static_cast<std::uint32_t>(index);
    objects_.emplace_back(bytes.begin(), bytes.end());
    return static_cast<std::uint32_t>(objects_.size() - 1);
}

Status FlowFinder::follow_compute(const TraceRecord& record, std::uint32_t step) {
    const LaunchTrace& trace = *request_.steps[step].trace;
    const TraceOperation& operation = trace.operations[record.operation];
    const auto number = static_cast<std::uint32_t>(values_.size());
    Value value;
    value.operation = operation_numbers_[record.operation];
    value.step = step;
    value.count = record.count;
    value.parent = number;
    const std::uint64_t begin = record.target.offset, end = begin + bytes_of(record.count, operation.target_size);
    for (int i = 0; i < operation.source_count; ++i) {
        const std::uint64_t from = record.sources[i].offset;
        const std::uint64_t bytes = bytes_of(record.count, operation.source_sizes[i]);
        value.sources[i] = held(from, bytes);
        if (value.sources[i] == none)
            return fail(code::not_supported,
                        "an operation of step {} reads {} bytes of the unified buffer that nothing has written as a "
                        "whole",
                        request_.first_step + step, bytes);
        if (from < end && begin < from + bytes && (from != begin || from + bytes != end))
            return fail(code::not_supported, "an operation of step {} writes over a part of what it reads",
                        request_.first_step + step);
    }
    if (last_object_operation_ != record.operation || last_object_offset_ != record.object) {
        last_object_operation_ = record.operation;
        last_object_offset_ = record.object;
        last_object_ = object_number(std::span(trace.objects).subspan(record.object, operation.object_size));
    }
    value.object = last_object_;
    values_.push_back(value);
    for (int i = 0; i < operation.source_count; ++i) join(number, value.sources[i]);
    hold(begin, end - begin, number);
    return {};
}

Status FlowFinder::follow(const TraceRecord& record, std::uint32_t step) {
    switch (record.kind) {
        case TraceKind::load:
            hold(record.target.offset, record.count, loaded(record_ranges_[next_range_++], step));
            return {};
        case TraceKind::store:
        case TraceKind::move: {
            const std::uint32_t value = held(record.sources[0].offset, record.count);
            if (value == none)
                return fail(code::not_supported,
                            "step {} copies {} bytes of the unified buffer that nothing has written as a whole",
                            request_.first_step + step, record.count);
            if (record.kind == TraceKind::move) {
                hold(record.target.offset, record.count, value);
                return {};
            }
            Range& range = table_.ranges[record_ranges_[next_range_++]];
            range.current = value;
            touch(range, value);
            return {};
        }
        case TraceKind::forget:
            hold(record.target.offset, record.count, none);
            return {};
        case TraceKind::compute:
            return follow_compute(record, step);
    }
    return fail(code::internal, "a trace has records of an unknown kind");
}

Status FlowFinder::follow_step(std::uint32_t step) {
    const LaunchTrace& trace = *request_.steps[step].trace;
    operation_numbers_.clear();
    for (const TraceOperation& operation : trace.operations) operation_numbers_.push_back(operation_number(operation));
    last_object_operation_ = none;
    for (std::size_t block = 0; block + 1 < trace.block_begin.size(); ++block) {
        local_.clear();
        for (std::size_t index = trace.block_begin[block]; index < trace.block_begin[block + 1]; ++index)
            CANOPY_TRY(follow(trace.records[index], step));
    }
    return {};
}

std::uint32_t FlowFinder::pointer_number(std::uint32_t range, std::uint8_t size) {
    for (std::size_t index = 0; index < piece_ranges_.size(); ++index)
        if (piece_ranges_[index] == range) return static_cast<std::uint32_t>(index);
    piece_ranges_.push_back(range);
    shape_.pointer_sizes.push_back(size);
    return static_cast<std::uint32_t>(piece_ranges_.size() - 1);
}

// All operations of a piece have the same element count; for pure copies it follows from the bytes.
Result<std::uint64_t> FlowFinder::element_count(std::span<const std::uint32_t> values) const {
    std::uint64_t count = 0;
    for (const std::uint32_t number : values) {
        const Value& value = values_[number];
        if (value.operation == none || !live_[number]) continue;
        if (count != 0 && count != value.count)
            return fail(code::not_supported, "operations on {} and on {} elements depend on each other", count,
                        value.count);
        count = value.count;
    }
    if (count != 0) return count;
    std::uint64_t bytes = 0;
    for (const std::uint32_t number : values) {
        if (!live_[number]) continue;
        if (bytes != 0 && bytes != values_[number].count)
            return fail(code::not_supported, "copies of {} and of {} bytes depend on each other", bytes,
                        values_[number].count);
        bytes = values_[number].count;
    }
    for (const std::uint64_t size : {8, 4, 2})
        if (bytes % size == 0) return bytes / size;
    return bytes;
}

Status FlowFinder::add_nodes(std::span<const std::uint32_t> values, std::uint64_t count) {
    for (const std::uint32_t number : values) {
        const Value& value = values_[number];
        if (!live_[number]) continue;
        LoopNode node;
        if (value.operation == none) {
            const std::uint64_t size = value.count / count;
            if (size * count != value.count || (size != 1 && size != 2 && size != 4 && size != 8))
                return fail(code::not_supported,
                            "{} bytes of memory hold {} elements of a size that loops do not support", value.count,
                            count);
            node.is_load = true;
            node.size = static_cast<std::uint8_t>(size);
            node.pointer = pointer_number(value.range, node.size);
            // Several steps may load a range that is never stored.
            const auto same = std::find_if(shape_.nodes.begin(), shape_.nodes.end(), [&](const LoopNode& one) {
                return one.is_load && one.pointer == node.pointer;
            });
            if (same != shape_.nodes.end()) {
                node_of_[number] = static_cast<std::uint32_t>(same - shape_.nodes.begin());
                continue;
            }
        } else {
            const TraceOperation& operation = flow_.operations[value.operation];
            node.operation = value.operation;
            node.size = operation.target_size;
            node.object = objects_[value.object];
            for (int i = 0; i < operation.source_count; ++i) {
                node.sources[i] = node_of_[value.sources[i]];
                if (shape_.nodes[node.sources[i]].size != operation.source_sizes[i])
                    return fail(code::not_supported, "elements of {} bytes are used as elements of {} bytes",
                                shape_.nodes[node.sources[i]].size, operation.source_sizes[i]);
            }
        }
        node_of_[number] = static_cast<std::uint32_t>(shape_.nodes.size());
        shape_.nodes.push_back(std::move(node));
    }
    return {};
}

Status FlowFinder::add_stores(std::span<const std::uint32_t> values, std::uint64_t count) {
    for (const std::uint32_t number : values) {
        for (std::uint32_t range = values_[number].kept; range != none; range = table_.ranges[range].next) {
            const std::uint32_t node = node_of_[number];
            const std::uint8_t size = shape_.nodes[node].size;
            if (size == 0) return fail(code::not_supported, "the steps store bits to memory");
            const bool fresh = std::find(piece_ranges_.begin(), piece_ranges_.end(), range) == piece_ranges_.end();
            shape_.stores.push_back({node, pointer_number(range, size), fresh});
            flow_.bytes_stored += count * size;
        }
    }
    return {};
}

std::uint32_t FlowFinder::shape_number() {
    std::string key;
    const auto add = [&](const auto& number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
    for (const LoopNode& node : shape_.nodes) {
        add(node.is_load);
        add(node.size);
        add(node.pointer);
        add(node.operation);
        add(node.sources);
        key.append(reinterpret_cast<const char*>(node.object.data()), node.object.size());
    }
    for (const LoopStore& store : shape_.stores) {
        add(store.node);
        add(store.pointer);
        add(store.fresh);
    }
    const auto [known, added] = shape_numbers_.try_emplace(std::move(key), flow_.shapes.size());
    if (added) flow_.shapes.push_back(shape_);
    return known->second;
}

Status FlowFinder::build_piece(std::span<const std::uint32_t> values) {
    bool live = false;
    for (std::size_t index = values.size(); index-- > 0;) {
        const std::uint32_t number = values[index];
        if (values_[number].kept != none) live_[number] = 1;
        if (!live_[number]) continue;
        live = true;
        for (const std::uint32_t source : values_[number].sources)
            if (source != none) live_[source] = 1;
    }
    if (!live) return {};
    Result<std::uint64_t> count = element_count(values);
    if (!count.ok()) return count.status();
    shape_.nodes.clear();
    shape_.stores.clear();
    shape_.pointer_sizes.clear();
    piece_ranges_.clear();
    CANOPY_TRY(add_nodes(values, *count));
    CANOPY_TRY(add_stores(values, *count));
    FlowPiece& piece = flow_.pieces.emplace_back();
    piece.shape = shape_number();
    piece.first_pointer = static_cast<std::uint32_t>(flow_.pointers.size());
    piece.step = values_[values.front()].step;
    piece.count = *count;
    for (const std::uint32_t range : piece_ranges_)
        flow_.pointers.push_back({static_cast<std::int32_t>(table_.ranges[range].region), table_.ranges[range].offset});
    return {};
}

Status FlowFinder::build_pieces() {
    for (auto number = static_cast<std::uint32_t>(table_.ranges.size()); number-- > 0;) {
        Range& range = table_.ranges[number];
        if (range.current == none) continue;
        if (request_.regions[range.region].temporary) {
            ++flow_.stores_dropped;
            continue;
        }
        range.next = values_[range.current].kept;
        values_[range.current].kept = number;
    }
    live_.assign(values_.size(), 0);
    node_of_.assign(values_.size(), no_node);
    // Values by piece, each piece in creation order.
    std::vector<std::uint32_t> begin(values_.size() + 1, 0), ordered(values_.size());
    for (std::uint32_t value = 0; value < values_.size(); ++value) ++begin[find_root(value) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t value = 0; value < values_.size(); ++value) ordered[next[find_root(value)]++] = value;
    for (std::uint32_t root = 0; root < values_.size(); ++root)
        if (begin[root + 1] != begin[root])
            CANOPY_TRY(build_piece(std::span(ordered).subspan(begin[root], begin[root + 1] - begin[root])));
    return {};
}

// Merges adjacent pieces while enough of them remain for all threads.
void FlowFinder::merge_pieces() {
    constexpr std::uint64_t most_elements = 65536, wanted_pieces = 64;
    std::uint64_t total = 0;
    for (const FlowPiece& piece : flow_.pieces) total += piece.count;
    const std::uint64_t limit = std::min(most_elements, total / wanted_pieces);
    const auto places = [&](const FlowPiece& piece) { return flow_.pointers.data() + piece.first_pointer; };
    const auto before = [&](const FlowPiece& a, const FlowPiece& b) {
        if (a.shape != b.shape) return a.shape < b.shape;
        const TraceAddress &left = places(a)[0], &right = places(b)[0];
        return left.region != right.region ? left.region < right.region : left.offset < right.offset;
    };
    if (!std::is_sorted(flow_.pieces.begin(), flow_.pieces.end(), before))
        std::sort(flow_.pieces.begin(), flow_.pieces.end(), before);
    std::vector<FlowPiece> merged;
    for (const FlowPiece& piece : flow_.pieces) {
        bool joins =
            !merged.empty() && merged.back().shape == piece.shape && merged.back().count + piece.count <= limit;
        const std::vector<std::uint8_t>& sizes = flow_.shapes[piece.shape].pointer_sizes;
        for (std::size_t i = 0; joins && i < sizes.size(); ++i) {
            const TraceAddress &last = places(merged.back())[i], &next = places(piece)[i];
            joins = last.region == next.region && next.offset == last.offset + merged.back().count * sizes[i];
        }
        if (joins)
            merged.back().count += piece.count;
        else
            merged.push_back(piece);
    }
    flow_.pieces = std::move(merged);
}

Result<LoopFlow> FlowFinder::find() {
    CANOPY_TRY(number_ranges());
    CANOPY_TRY(check_overlaps());
    for (std::uint32_t step = 0; step < request_.steps.size(); ++step) CANOPY_TRY(follow_step(step));
    CANOPY_TRY(build_pieces());
    merge_pieces();
    return std::move(flow_);
}

}  // namespace

Result<LoopFlow> find_loops(const LoopRequest& request) { return FlowFinder(request).find(); }

}  // namespace canopy
