// SPDX-License-Identifier: Apache-2.0
#include "core/share/signals.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error_text.h"
#include "base/locked_files.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/share/fork.h"
#include "device/outside_signals.h"

namespace canopy {

// The waits of this process, and the pages that others of it may ring for.
struct Signals {
    Mutex mutex;
    std::shared_ptr<ArmedWait> waits CANOPY_GUARDED_BY(mutex);  // the first
    std::vector<std::weak_ptr<SharedSignal>> owned CANOPY_GUARDED_BY(mutex);
    std::uint32_t pollers CANOPY_GUARDED_BY(mutex) = 0;

    static Signals& instance() { return process_state<Signals>(); }

    void set_sleeping(bool sleeping) noexcept CANOPY_REQUIRES(mutex) {
        for (const ArmedWait* wait = waits.get(); wait; wait = wait->next.get()) {
            const std::uint64_t bit = std::uint64_t{1} << wait->signal->participant();
            if (sleeping)
                wait->signal->head().sleepers.fetch_or(bit, std::memory_order_seq_cst);
            else
                wait->signal->head().sleepers.fetch_and(~bit, std::memory_order_seq_cst);
        }
    }
    // Takes those that are over out of the list and returns them as one.
    std::shared_ptr<ArmedWait> look() noexcept CANOPY_REQUIRES(mutex);
};

namespace {

struct OpenAnswer {
    std::uint32_t participant = 0;
    std::uint32_t about = 0;
    std::uint32_t device = 0;
    std::uint32_t unused = 0;
};

void ring_bell(int bell) noexcept {
    const char one = 1;
    // Full: it rings already. Anything else: another process gave something that is no bell.
    static_cast<void>(send(bell, &one, sizeof one, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void begin_polling() noexcept {
    Signals& signals = Signals::instance();
    MutexLock guard(signals.mutex);
    if (signals.pollers++ == 0) signals.set_sleeping(false);
}

void end_polling() noexcept {
    Signals& signals = Signals::instance();
    {
        MutexLock guard(signals.mutex);
        if (--signals.pollers != 0) return;
        signals.set_sleeping(true);
    }
    poll_signals();  // what came before the bits were set
}

void finish_all(std::shared_ptr<ArmedWait> ended) noexcept {
    while (ended) {
        std::shared_ptr<ArmedWait> next = std::move(ended->next);
        ended->finish();
        ended = std::move(next);
    }
}

// The callers look again soon, so another thread that looks is enough.
void poll_now() noexcept {
    Signals& signals = Signals::instance();
    if (!signals.mutex.try_lock()) return;
    std::shared_ptr<ArmedWait> ended = signals.look();
    signals.mutex.unlock();
    finish_all(std::move(ended));
}

constexpr OutsideSignals polling{begin_polling, end_polling, poll_now};

// On the porter's thread: looks, goes back to sleep, and passes the ring on to others that sleep.
void rung() noexcept {
    Signals& signals = Signals::instance();
    std::vector<std::shared_ptr<SharedSignal>> owned;
    poll_signals();
    {
        MutexLock guard(signals.mutex);
        if (signals.pollers == 0) signals.set_sleeping(true);
        std::erase_if(signals.owned, [](const auto& weak) { return weak.expired(); });
        for (const auto& weak : signals.owned)
            if (auto signal = weak.lock()) owned.push_back(std::move(signal));
    }
    poll_signals();
    for (const auto& signal : owned) signal->ring();
}

}  // namespace

std::shared_ptr<ArmedWait> Signals::look() noexcept {
    std::shared_ptr<ArmedWait> ended;
    for (std::shared_ptr<ArmedWait>* link = &waits; *link;) {
        if (!(*link)->over()) {
            link = &(*link)->next;
            continue;
        }
        std::shared_ptr<ArmedWait> over = std::exchange(*link, std::move((*link)->next));
        over->next = std::move(ended);
        ended = std::move(over);
    }
    if (!waits) outside_signals.store(nullptr, std::memory_order_relaxed);
    return ended;
}

void poll_signals() noexcept {
    Signals& signals = Signals::instance();
    std::shared_ptr<ArmedWait> ended;
    {
        MutexLock guard(signals.mutex);
        ended = signals.look();
    }
    finish_all(std::move(ended));
}

void arm(std::shared_ptr<ArmedWait> wait) noexcept {
    Signals& signals = Signals::instance();
    {
        MutexLock guard(signals.mutex);
        SharedSignal& signal = *wait->signal;
        wait->next = std::move(signals.waits);
        signals.waits = std::move(wait);
        if (signals.pollers == 0)
            signal.head().sleepers.fetch_or(std::uint64_t{1} << signal.participant(), std::memory_order_seq_cst);
        outside_signals.store(&polling, std::memory_order_relaxed);
    }
    poll_signals();
}

void disarm(const ArmedWait& wait) noexcept {
    Signals& signals = Signals::instance();
    std::shared_ptr<ArmedWait> removed;  // destroyed without the lock
    MutexLock guard(signals.mutex);
    std::shared_ptr<ArmedWait>* link = &signals.waits;
    while (*link && link->get() != &wait) link = &(*link)->next;
    if (!*link) return;
    removed = std::exchange(*link, std::move((*link)->next));
    guard.unlock();
}

// ---- pages ----------------------------------------------------------------------------------------------------------

// Hands the page out. Outlives the program's handle while others have it.
class SharedSignal::Exported final : public SharedObject {
public:
    explicit Exported(SharedSignal& signal) noexcept : signal_(signal.shared_from_this()) {}

    void open(const SharedPeer& peer, SharedQuestion& question, SharedAnswer& answer) override {
        MutexLock guard(mutex_);
        std::uint32_t number = 0;
        if (const auto found = peers_.find(peer.connection); found != peers_.end()) {
            number = found->second.participant;
        } else {
            std::uint64_t taken = 1;
            for (const auto& [connection, one] : peers_) taken |= std::uint64_t{1} << one.participant;
            if (~taken == 0 || question.descriptors[0] < 0) {
                answer.code = code::resource_alloc;
                return;
            }
            number = static_cast<std::uint32_t>(std::countr_one(taken));
            peers_[peer.connection] = {number, std::move(question.descriptors)};
        }
        const OpenAnswer facts{number, signal_->about(), signal_->device(), 0};
        const auto bytes = std::as_bytes(std::span(&facts, 1));
        answer.bytes.assign(bytes.begin(), bytes.end());
        answer.descriptors = {signal_->file_.descriptor(), bell_};
    }
    void closed(const SharedPeer& peer) noexcept override {
        std::uint32_t number = 0;
        {
            MutexLock guard(mutex_);
            const auto found = peers_.find(peer.connection);
            if (found == peers_.end()) return;
            number = found->second.participant;
            signal_->head().sleepers.fetch_and(~(std::uint64_t{1} << number), std::memory_order_seq_cst);
            peers_.erase(found);
        }
        if (peer.ended) signal_->deaths_.fetch_add(1, std::memory_order_acq_rel);
        if (signal_->participant_lost) signal_->participant_lost(*signal_, number);
        // It may have ended between a change of the page and the ring for it.
        poll_signals();
        signal_->ring();
    }
    void ring(std::uint64_t sleepers) noexcept {
        MutexLock guard(mutex_);
        for (const auto& [connection, peer] : peers_)
            if ((sleepers >> peer.participant & 1) != 0) ring_bell(peer.bell[0]);
    }

    int bell_ = -1;

private:
    struct Peer {
        std::uint32_t participant = 0;
        ReceivedDescriptors bell;
    };
    const std::shared_ptr<SharedSignal> signal_;
    Mutex mutex_;
    std::map<std::uint64_t, Peer> peers_ CANOPY_GUARDED_BY(mutex_);
};

Result<std::shared_ptr<SharedSignal>> SharedSignal::create(std::size_t size, std::uint32_t about) {
    size = round_up(size, page_size());
    Result<MemoryFile> file = MemoryFile::create("canopy-signal", size);
    if (!file.ok()) return file.status();
    Result<Mapping> mapping = Mapping::reserve(size, page_size());
    if (!mapping.ok()) return mapping.status();
    if (!file->map(*mapping, 0, size, 0, Access::read_write))
        return fail(code::memory_allocation, "the system refuses to map {} bytes", size);
    std::shared_ptr<SharedSignal> made(new SharedSignal);
    made->file_ = std::move(*file);
    made->mapping_ = std::move(*mapping);
    made->about_ = about;
    made->forks_ = fork_count();
    return made;
}

Result<std::shared_ptr<SharedSignal>> SharedSignal::open(const SharedKey& key, std::size_t size) {
    size = round_up(size, page_size());
    Result<int> bell = process_bell(rung);
    if (!bell.ok()) return bell.status();
    // One for each object: a participant is a connection.
    Result<std::shared_ptr<Connection>> connection = connect(key, ConnectionUse::alone);
    if (!connection.ok()) return connection.status();
    Result<SharedReply> reply = (*connection)->ask(key, shared_operation::open, {}, std::span(&*bell, 1));
    if (!reply.ok()) {
        if (reply.status().code() != code::lost_heartbeat) return reply.status();
        return fail(code::invalid_handle, "process {}, which shared the object, has ended", key.owner.process);
    }
    OpenAnswer facts;
    if (reply->bytes.size() != sizeof facts || reply->descriptors[0] < 0 || reply->descriptors[1] < 0)
        return fail(code::resource_alloc, "no descriptor is left for an object of process {}", key.owner.process);
    std::memcpy(&facts, reply->bytes.data(), sizeof facts);
    Result<MemoryFile> file = MemoryFile::copy(reply->descriptors[0]);
    if (!file.ok()) return file.status();
    Result<Mapping> mapping = Mapping::reserve(size, page_size());
    if (!mapping.ok()) return mapping.status();
    if (facts.participant == 0 || facts.participant >= max_participants || !file->holds(0, size) ||
        !file->map(*mapping, 0, size, 0, Access::read_write))
        return fail(code::driver_internal, "process {} shares something else under this key", key.owner.process);
    std::shared_ptr<SharedSignal> made(new SharedSignal);
    made->mapping_ = std::move(*mapping);
    made->participant_ = facts.participant;
    made->about_ = facts.about;
    made->device_ = facts.device;
    made->forks_ = fork_count();
    made->key_ = key;
    made->owner_bell_ = reply->descriptors.take(1);
    made->connection_ = std::move(*connection);
    if (!made->connection_->watch(made->weak_from_this())) made->gone_.store(true, std::memory_order_release);
    return made;
}

SharedSignal::~SharedSignal() {
    if (inherited()) return;
    if (connection_) connection_->close(key_);
    if (owner_bell_ >= 0) close_received(owner_bell_);
}

bool SharedSignal::inherited() const noexcept { return forks_ != fork_count(); }

Result<SharedKey> SharedSignal::share_page(SharedKind kind, Importers importers) {
    MutexLock guard(mutex_);
    if (shared()) return key_;
    Result<int> bell = process_bell(rung);
    if (!bell.ok()) return bell.status();
    auto object = std::make_shared<Exported>(*this);
    object->bell_ = *bell;
    Result<SharedKey> key = share(kind, object, importers);
    if (!key.ok()) return key.status();
    key_ = *key;
    object_ = object;
    exported_.store(true, std::memory_order_release);
    Signals& signals = Signals::instance();
    MutexLock list(signals.mutex);
    signals.owned.push_back(weak_from_this());
    return key;
}

void SharedSignal::unshare_page() noexcept {
    if (owned() && shared() && !inherited()) unshare(key_);
}

void SharedSignal::ring() noexcept {
    std::uint64_t sleepers = head().sleepers.load(std::memory_order_seq_cst);
    if (sleepers == 0) [[likely]]
        return;
    const std::uint64_t own = std::uint64_t{1} << participant_;
    if ((sleepers & own) != 0) poll_signals();
    sleepers &= ~own;
    if (sleepers == 0) return;
    if (!owned()) {
        head().sleepers.fetch_and(~std::uint64_t{1}, std::memory_order_seq_cst);
        ring_bell(owner_bell_);
        return;
    }
    // Each of them sets its bit again before it sleeps again.
    sleepers &= head().sleepers.fetch_and(~sleepers, std::memory_order_seq_cst);
    std::shared_ptr<Exported> object;
    {
        MutexLock guard(mutex_);
        object = object_.lock();
    }
    if (object) object->ring(sleepers);
}

void SharedSignal::gone(const ProcessId&) noexcept {
    gone_.store(true, std::memory_order_release);
    poll_signals();
}

}  // namespace canopy
