// SPDX-License-Identifier: Apache-2.0
#include "core/profile/operator_ranges.h"

#include <unordered_map>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/profile/mark_records.h"
#include "foundation/hash.h"
#include "foundation/json.h"
#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy {
namespace {

constexpr std::size_t most_hashed_texts = 1u << 20;

struct Texts {
    Mutex mutex;
    std::unordered_map<std::uint64_t, std::string> by_hash CANOPY_GUARDED_BY(mutex);  // never removed
};

Texts& texts() { return process_state<Texts>(); }

std::string text_or_number(std::uint64_t hash) {
    const std::string* const text = text_of_hash(hash);
    return text ? *text : std::to_string(hash);
}

std::string describe(const OperatorFacts& facts) {
    Json inputs = Json::array(), outputs = Json::array();
    for (const OperatorTensor& tensor : facts.tensors) {
        Json entry;
        entry["shape"] = tensor.shape;
        entry["type"] = tensor.data_type;
        entry["format"] = tensor.format;
        (tensor.output ? outputs : inputs).push_back(std::move(entry));
    }
    Json all;
    all["name"] = text_or_number(facts.name);
    all["type"] = text_or_number(facts.type);
    all["kernel_type"] = facts.kernel_type;
    all["blocks"] = facts.blocks;
    all["inputs"] = std::move(inputs);
    all["outputs"] = std::move(outputs);
    return all.dump();
}

}  // namespace

std::uint64_t hash_text(std::string_view text) {
    Texts& all = texts();
    std::uint64_t hash = hash_of(text);
    MutexLock guard(all.mutex);
    // Another text with the same hash gets the next free number.
    for (;; ++hash) {
        if (hash == UINT64_MAX) hash = 0;
        const auto found = all.by_hash.find(hash);
        if (found == all.by_hash.end()) break;
        if (found->second == text) return hash;
    }
    if (all.by_hash.size() >= most_hashed_texts) return UINT64_MAX;
    all.by_hash.emplace(hash, text);
    return hash;
}

const std::string* text_of_hash(std::uint64_t hash) {
    Texts& all = texts();
    MutexLock guard(all.mutex);
    const auto found = all.by_hash.find(hash);
    return found == all.by_hash.end() ? nullptr : &found->second;
}

void push_operator(const OperatorFacts& facts) {
    OpenMark mark;
    if (record::wants(record::marks)) {
        mark.name = record::name_number_of_literal("operators");
        mark.text = record::text_number(describe(facts));
        mark.argument.form = profile::MarkForm::pushed;
        mark.link = next_mark_number();
        mark.begin = ticks();
    }
    push_on(RangeStack::operators, std::move(mark));
}

Status pop_operator() {
    if (pop_from(RangeStack::operators)) return {};
    return fail(code::profiling_failure, "this thread has no range that aclprofRangePop could close");
}

}  // namespace canopy
