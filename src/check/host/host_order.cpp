// SPDX-License-Identifier: Apache-2.0
#include "check/host/host_order.h"

#include <utility>

#include "check/host/host_model.h"

namespace canopy::check {

// Calls body() under the lock, then tells what was found.
template <class Body>
auto HostOrder::change(Body&& body) const {
    std::vector<UnorderedUses> found;
    struct Tell {
        const HostOrder& order;
        const std::vector<UnorderedUses>& found;
        ~Tell() {
            for (const UnorderedUses& uses : found) order.sink_.add(make_finding(uses, order.texts_));
        }
    } const tell{*this, found};
    MutexLock guard(mutex_);
    struct Take {
        HostModel& model;
        std::vector<UnorderedUses>& found;
        ~Take() { found = model.take_found(); }
    } const take{*model_, found};
    return body();
}

HostOrder::HostOrder(FindingSink& sink, FindingTexts texts)
    : sink_(sink), texts_(std::move(texts)), model_(std::make_unique<HostModel>()) {}
HostOrder::~HostOrder() = default;

std::string_view HostOrder::kept_name(std::string_view kernel) {
    return change([&] { return model_->kept(kernel); });
}
HostOrder::Agent* HostOrder::add_stream(std::uint32_t number, unsigned device,
                                        std::function<std::uint64_t()> completed) {
    return change([&] { return model_->add(number, device, std::move(completed)); });
}
void HostOrder::remove_stream(Agent* stream) {
    change([&] { model_->remove(stream); });
}
void HostOrder::submit(Agent& stream, std::span<HostCommand> commands) {
    change([&] { model_->submit(stream, commands); });
}
void HostOrder::kernel_ended(std::uint32_t stream, std::uint32_t task, const std::vector<TouchedRange>& ranges) {
    change([&] { model_->ended(stream, task, ranges); });
}
void HostOrder::kernel_ended(const void* executable, GraphPosition position, const std::vector<TouchedRange>& ranges) {
    change([&] { model_->ended(executable, position, ranges); });
}
void HostOrder::function_begins(Agent& stream, std::uint64_t number) {
    change([&] { model_->function_begins(stream, number); });
}
void HostOrder::function_ends(Agent& stream, std::uint64_t number) {
    change([&] { model_->function_ends(stream, number); });
}
void HostOrder::synchronised(Agent& stream, std::uint64_t number) {
    change([&] { model_->synchronised(stream, number); });
}
void HostOrder::reached(FenceName fence, std::uint64_t value) {
    change([&] { model_->reached(fence, value); });
}
void HostOrder::add_fence(FenceName fence) {
    change([&] { model_->add_fence(fence); });
}
void HostOrder::used_by_host(const HostCall& call, std::span<const CommandUse> uses) {
    change([&] { model_->used_by_host(call, uses); });
}
void HostOrder::freed(std::uint64_t begin, std::uint64_t bytes, const HostCall& call) {
    change([&] { model_->freed(begin, bytes, call); });
}
void HostOrder::handed_over(std::uint64_t begin, std::uint64_t bytes) {
    change([&] { model_->handed_over(begin, bytes); });
}
bool HostOrder::known_complete(const Agent& stream, std::uint64_t number) const {
    return change([&] { return model_->known(stream, number); });
}
std::size_t HostOrder::agents() const {
    return change([&] { return model_->agents(); });
}
std::size_t HostOrder::remembered() const {
    return change([&] { return model_->remembered(); });
}

}  // namespace canopy::check
