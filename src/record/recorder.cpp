// SPDX-License-Identifier: Apache-2.0
#include "record/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "record/collector.h"
#include "record/names.h"

namespace canopy::record {
namespace {

// Gives the ring back when the thread ends, after the destructors of thread-local objects. What the thread does after
// that is lost, and counted.
void give_ring_back(void*) noexcept {
    thread_records.ended = true;
    if (Ring* const ring = std::exchange(thread_records.ring, nullptr))
        ring->ended.store(true, std::memory_order_release);
}

// Not a thread-local object with a destructor: to register one takes the lock of the dynamic loader, and a library that
// is being unloaded may hold it while it waits for this thread.
bool notice_end_of_thread() noexcept {
    static const std::optional<pthread_key_t> key = []() -> std::optional<pthread_key_t> {
        pthread_key_t made{};
        if (::pthread_key_create(&made, &give_ring_back) != 0) return std::nullopt;
        return made;
    }();
    return key && ::pthread_setspecific(*key, &thread_records) == 0;
}

profile::Thread calling_thread() {
    profile::Thread thread;
    thread.system_id = static_cast<std::uint32_t>(::gettid());
    thread.role = thread_records.role;
    thread.index = thread_records.index;
    if (thread_records.named) {
        thread.name = thread_records.name.data();
    } else if (::gettid() == ::getpid()) {
        thread.name = "main";
    } else {
        std::array<char, 16> name{};
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
        thread.name = name.data();
    }
    return thread;
}

}  // namespace

void make_ring() noexcept {
    if (thread_records.ring != nullptr || thread_records.ended) return;
    if (!notice_end_of_thread()) return;
    try {
        thread_records.ring = Collector::present().ring_for_thread(calling_thread());
    } catch (...) {  // no memory
    }
}

void write_without_ring(const Record& record) noexcept {
    make_ring();
    if (thread_records.ring != nullptr)
        thread_records.ring->put(record);
    else
        lose_record();
}

std::uint32_t name_number(std::string_view name) noexcept { return names().name(name); }
std::uint32_t name_number_of_literal(const char* name) noexcept { return names().literal(name); }
std::uint32_t kept_name_number(std::uint32_t& number, std::string_view name) noexcept {
    const std::atomic_ref place(number);
    if (const std::uint32_t known = place.load(std::memory_order_relaxed); known != 0) return known;
    const std::uint32_t found = name_number(name);
    place.store(found, std::memory_order_relaxed);
    return found;
}
std::uint32_t text_number(std::string_view text) noexcept { return names().text(text); }

void name_thread(profile::ThreadRole role, std::uint32_t index, std::string_view name) noexcept {
    const std::size_t size = std::min(name.size(), thread_records.name.size() - 1);
    name.copy(thread_records.name.data(), size);
    thread_records.name[size] = '\0';
    thread_records.named = true;
    thread_records.role = role;
    thread_records.index = index;
    if (thread_records.ring == nullptr) return;
    try {
        Collector::present().rename_thread(thread_records.ring, calling_thread());
    } catch (...) {  // no memory
    }
}

void listen(std::shared_ptr<Listener> listener, std::uint32_t wanted) {
    Collector::present().listen(std::move(listener), wanted);
}
void stop_listening(const std::shared_ptr<Listener>& listener) { Collector::present().stop_listening(listener); }
void flush() { Collector::present().flush(); }

void tell_device(const profile::DeviceFacts& device) {
    if (wants(everything)) Collector::present().device(device);
}
void tell_stream(const profile::StreamFacts& stream) {
    if (wants(everything)) Collector::present().stream(stream);
}

}  // namespace canopy::record
