// SPDX-License-Identifier: Apache-2.0
// What events and notifies between processes have in common: a small memory file that every participant maps, a list of
// the waits of this process, and how those who sleep are woken.
//
// A wait is an object in a list (ArmedWait). Threads of devices that have nothing to do look at the list often
// (device/outside_signals.h). When none does, this process's bit in the page's `sleepers` is set, and a process that
// changes the page rings: the owner knows the bells of all, the others know the owner's, whose porter passes the ring
// on. Every change of a page is one atomic operation, so a process may end at any instruction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "core/share/porter.h"
#include "foundation/mutex.h"

namespace canopy {

// The first line of every page.
struct SignalHead {
    std::atomic<std::uint64_t> sleepers;  // bit n: participant n waits and looks only when its bell rings
};
inline constexpr std::uint32_t max_participants = 64;  // the owner is number 0

class SharedSignal : public Watcher, public std::enable_shared_from_this<SharedSignal> {
public:
    // A page of this process. Starts no porter.
    static Result<std::shared_ptr<SharedSignal>> create(std::size_t size, std::uint32_t about);
    // The page of another one. 107017 for an unknown key.
    static Result<std::shared_ptr<SharedSignal>> open(const SharedKey& key, std::size_t size);
    ~SharedSignal() override;

    // The same key every time.
    Result<SharedKey> share_page(SharedKind kind, Importers importers);
    // Nobody can open it any more.
    void unshare_page() noexcept;
    [[nodiscard]] bool shared() const noexcept { return exported_.load(std::memory_order_acquire); }
    [[nodiscard]] SharedKey key() const noexcept { return key_; }

    [[nodiscard]] bool owned() const noexcept { return !connection_; }
    [[nodiscard]] std::uint32_t participant() const noexcept { return participant_; }
    [[nodiscard]] std::uint32_t about() const noexcept { return about_; }  // a number for the importer
    [[nodiscard]] std::uint32_t device() const noexcept { return device_; }
    void set_device(std::uint32_t physical) noexcept { device_ = physical; }
    // The owner has ended, or the object belongs to the process from which this one was forked.
    [[nodiscard]] bool owner_gone() const noexcept { return gone_.load(std::memory_order_acquire); }
    [[nodiscard]] bool inherited() const noexcept;

    [[nodiscard]] std::byte* page() const noexcept { return mapping_.base(); }
    [[nodiscard]] SignalHead& head() const noexcept { return *reinterpret_cast<SignalHead*>(page()); }

    // The page has changed: wakes everybody who waits for that. Any thread.
    void ring() noexcept;
    // Called when a participant has closed or ended, on the porter's thread.
    void (*participant_lost)(SharedSignal&, std::uint32_t participant) noexcept = nullptr;
    // How many participants have ended without closing.
    [[nodiscard]] std::uint32_t deaths() const noexcept { return deaths_.load(std::memory_order_acquire); }

    void gone(const ProcessId& owner) noexcept override;

private:
    class Exported;
    friend struct Signals;
    SharedSignal() = default;

    MemoryFile file_;
    Mapping mapping_;
    std::uint32_t participant_ = 0;
    std::uint32_t about_ = 0;
    std::uint32_t device_ = 0;
    std::uint32_t forks_ = 0;
    std::atomic<bool> gone_{false};
    std::atomic<std::uint32_t> deaths_{0};
    std::atomic<bool> exported_{false};
    SharedKey key_;
    std::shared_ptr<Connection> connection_;  // to the owner
    int owner_bell_ = -1;
    Mutex mutex_;
    std::weak_ptr<Exported> object_ CANOPY_GUARDED_BY(mutex_);  // the porter holds it, for the key and for peers
};

// A wait for a change of a page.
class ArmedWait {
public:
    explicit ArmedWait(std::shared_ptr<SharedSignal> signal) noexcept : signal(std::move(signal)) {}
    virtual ~ArmedWait() = default;
    // Looks at the page. True: the wait is over and leaves the list, and `finish` is called once.
    virtual bool over() noexcept = 0;
    virtual void finish() noexcept = 0;
    const std::shared_ptr<SharedSignal> signal;
    std::shared_ptr<ArmedWait> next;  // in the list
};

// Adds it to the list and looks once.
void arm(std::shared_ptr<ArmedWait> wait) noexcept;
// Takes it out, unless it is over.
void disarm(const ArmedWait& wait) noexcept;
// Looks at all of them.
void poll_signals() noexcept;

}  // namespace canopy
