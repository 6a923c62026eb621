// SPDX-License-Identifier: Apache-2.0
// Two locks: Porter::mutex for its tables, taken for a few instructions and never while an object or watcher is called;
// and one in each outgoing connection, which orders questions with their answers.
#include "core/share/porter.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/process/variables.h"
#include "core/share/addresses.h"
#include "core/share/fork.h"
#include "core/share/messages.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

class Link;

struct Given {
    std::uint64_t random = 0;
    std::uint64_t count = 0;
    std::shared_ptr<SharedObject> object;
};

// A process that is connected to this one. Used by the porter's thread only, but for `socket`, which late answers use
// under the porter's lock.
struct Incoming {
    int socket = -1;
    SharedPeer peer;
    std::map<std::uint32_t, Given> given;
};

struct Entry {
    SharedKind kind = SharedKind::none;
    KeyStrength strength = KeyStrength::full;
    Importers importers = Importers::listed;
    std::uint64_t random = 0;
    std::shared_ptr<SharedObject> object;
    std::set<std::int32_t> processes;
};

struct Porter {
    Mutex mutex;
    std::uint32_t forks = 0;
    int epoll = -1;
    int listener = -1;
    int path_listener = -1;
    int bell = -1;        // what others are given
    int heard_bell = -1;  // where their messages arrive
    std::atomic<void (*)() noexcept> rung{nullptr};
    int spare = -1;  // given up for a moment when there are no descriptors left to accept with
    std::string path;
    std::uint64_t next_id CANOPY_GUARDED_BY(mutex) = 16;
    std::uint32_t next_number CANOPY_GUARDED_BY(mutex) = 0;
    std::map<std::uint32_t, Entry> objects CANOPY_GUARDED_BY(mutex);
    std::map<std::uint64_t, std::unique_ptr<Incoming>> incoming CANOPY_GUARDED_BY(mutex);
    std::map<std::uint64_t, Link*> outgoing CANOPY_GUARDED_BY(mutex);
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::weak_ptr<Link>> common CANOPY_GUARDED_BY(mutex);

    [[noreturn]] void serve() noexcept;
    void accept_one(int from) noexcept;
    // False: the connection must end.
    bool hear(Incoming& from);
    void answer(Incoming& from, const MessageHead& head, SharedQuestion& question);
    std::shared_ptr<SharedObject> find(Incoming& from, const MessageHead& head, bool opening, int& code);
    void drop(std::uint64_t id) noexcept;
    void hung_up(std::uint64_t id) noexcept;
};

constexpr std::uint64_t listener_id = 0, path_listener_id = 1, bell_id = 2;

std::atomic<Porter*> running{nullptr};
Mutex start_mutex;    // held while the porter starts
Mutex connect_mutex;  // held while this process connects to another

std::uint64_t random_bits() noexcept {
    std::uint64_t bits = 0;
    while (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) continue;
    return bits;
}

MessageHead head_for(const SharedKey& key, std::uint32_t operation) noexcept {
    MessageHead head;
    head.from = this_process();
    head.operation = operation;
    head.number = key.number;
    head.random = key.random;
    head.owner = key.owner;
    head.kind = static_cast<std::uint8_t>(key.kind);
    head.strength = static_cast<std::uint8_t>(key.strength);
    return head;
}

bool same_library(const MessageHead& head) noexcept {
    const MessageHead own;
    return head.version == own.version && std::memcmp(head.library, own.library, sizeof own.library) == 0;
}

bool send_answer(int socket, int code, const SharedAnswer& answer) noexcept {
    MessageHead head;
    head.from = this_process();
    head.code = code;
    const bool good = code == 0;
    const iovec parts[2] = {{&head, sizeof head}, {const_cast<std::byte*>(answer.bytes.data()), answer.bytes.size()}};
    if (send_bytes(socket, std::span(parts, good && !answer.bytes.empty() ? 2 : 1),
                   good ? std::span<const int>(answer.descriptors) : std::span<const int>(), MSG_DONTWAIT) >= 0)
        return true;
    if (!good || answer.descriptors.empty() || errno == EPIPE || errno == EAGAIN) return false;
    return send_answer(socket, code::resource_alloc, {});  // too many descriptors under way
}

// ---- an outgoing connection -----------------------------------------------------------------------------------------

class Link final : public Connection, public std::enable_shared_from_this<Link> {
public:
    Link(int socket, const ProcessId& peer) noexcept : socket_(socket), forks_(fork_count()), peer_(peer) {}
    ~Link() override;

    const ProcessId& peer() const noexcept override { return peer_; }
    bool gone() const noexcept override { return gone_.load(std::memory_order_acquire) || forks_ != fork_count(); }
    Result<SharedReply> ask(const SharedKey& key, std::uint32_t operation, std::span<const std::byte> bytes,
                            std::span<const int> descriptors, Deadline deadline) override;
    void close(const SharedKey& key) noexcept override;
    bool watch(std::weak_ptr<Watcher> watcher) override;

    void hung_up() noexcept;

    std::uint64_t id = 0;
    const int socket_;

private:
    bool send(std::span<const iovec> parts, std::span<const int> descriptors, Deadline deadline) noexcept;
    [[nodiscard]] Status ended() const {
        return fail(code::lost_heartbeat, "process {} has ended, or has closed the connection", peer_.process);
    }

    const std::uint32_t forks_;
    const ProcessId peer_;
    std::atomic<bool> gone_{false};
    Mutex asking_;
    Mutex watching_;
    std::vector<std::weak_ptr<Watcher>> watchers_ CANOPY_GUARDED_BY(watching_);
};

Link::~Link() {
    if (forks_ != fork_count()) return;  // the handler of the fork has closed it
    Porter* porter = running.load(std::memory_order_acquire);
    MutexLock guard(porter->mutex);
    porter->outgoing.erase(id);
    const auto found = porter->common.find({peer_.name_space, peer_.process});
    if (found != porter->common.end() && found->second.expired()) porter->common.erase(found);
    ::close(socket_);  // also ends what epoll knows of it
}

bool Link::send(std::span<const iovec> parts, std::span<const int> descriptors, Deadline deadline) noexcept {
    while (send_bytes(socket_, parts, descriptors, MSG_DONTWAIT) < 0)
        if (errno != EAGAIN || !wait_for(socket_, POLLOUT, deadline)) return false;
    return true;
}

Result<SharedReply> Link::ask(const SharedKey& key, std::uint32_t operation, std::span<const std::byte> bytes,
                              std::span<const int> descriptors, Deadline deadline) {
    if (forks_ != fork_count())
        return fail(code::invalid_handle, "the object belongs to the process from which this one was forked");
    if (bytes.size() > max_shared_bytes) return fail(code::param_invalid, "{} bytes are too many", bytes.size());
    MutexLock guard(asking_);
    if (gone_.load(std::memory_order_acquire)) return ended();
    MessageHead head = head_for(key, operation);
    const iovec parts[2] = {{&head, sizeof head}, {const_cast<std::byte*>(bytes.data()), bytes.size()}};
    if (!send(std::span(parts, bytes.empty() ? 1 : 2), descriptors, deadline)) return ended();
    SharedReply reply;
    reply.bytes.resize(max_shared_bytes);
    const iovec into[2] = {{&head, sizeof head}, {reply.bytes.data(), reply.bytes.size()}};
    if (!wait_for(socket_, POLLIN, deadline)) {
        shutdown(socket_, SHUT_RDWR);  // the answer, should it come, must not be taken for another one's
        return fail(code::wait_timeout, "process {} did not answer in time", peer_.process);
    }
    const ssize_t size = receive_bytes(socket_, into, reply.descriptors, MSG_DONTWAIT);
    if (size < 0 || static_cast<std::size_t>(size) < offsetof(MessageHead, from) || head.magic != message_magic)
        return ended();
    if (!same_library(head)) {
        head.library[sizeof head.library - 1] = 0;
        return fail(code::not_supported,
                    "process {} uses version {} of this library and this process {}: both must use the same",
                    peer_.process, head.library, CANOPY_VERSION);
    }
    if (static_cast<std::size_t>(size) < sizeof head) return ended();
    reply.bytes.resize(static_cast<std::size_t>(size) - sizeof head);
    switch (head.code) {
        case 0:
            return reply;
        case code::invalid_handle:
            return fail(code::invalid_handle, "process {} shares no object with this key", peer_.process);
        case code::not_permitted:
            return fail(code::not_permitted, "process {} does not share the object with process {}", peer_.process,
                        getpid());
        default:
            return fail(head.code, "process {} answered with code {}", peer_.process, head.code);
    }
}

void Link::close(const SharedKey& key) noexcept {
    if (gone()) return;
    MessageHead head = head_for(key, shared_operation::close);
    head.unanswered = 1;
    const iovec part{&head, sizeof head};
    send(std::span(&part, 1), {}, Deadline::after(second));
}

bool Link::watch(std::weak_ptr<Watcher> watcher) {
    MutexLock guard(watching_);
    if (gone()) return false;
    std::erase_if(watchers_, [](const std::weak_ptr<Watcher>& old) { return old.expired(); });
    watchers_.push_back(std::move(watcher));
    return true;
}

void Link::hung_up() noexcept {
    std::vector<std::weak_ptr<Watcher>> told;
    {
        MutexLock guard(watching_);
        if (gone_.exchange(true, std::memory_order_acq_rel)) return;
        told.swap(watchers_);
    }
    for (const std::weak_ptr<Watcher>& weak : told)
        if (const std::shared_ptr<Watcher> watcher = weak.lock()) watcher->gone(peer_);
}

// ---- the porter's thread --------------------------------------------------------------------------------------------

void Porter::accept_one(int from) noexcept {
    const int socket = accept4(from, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
        if ((errno == EMFILE || errno == ENFILE) && spare >= 0) {  // turn the caller away instead of being asked again
            ::close(spare);
            const int refused = accept4(from, nullptr, nullptr, SOCK_CLOEXEC);
            if (refused >= 0) ::close(refused);
            spare = dup(epoll);
        }
        return;
    }
    PeerCredentials credentials;
    if (!peer_credentials(socket, credentials) || credentials.user != geteuid()) {
        ::close(socket);
        return;
    }
    try {
        auto fresh = std::make_unique<Incoming>();
        fresh->socket = socket;
        fresh->peer.process = credentials.process;
        MutexLock guard(mutex);
        const std::uint64_t id = next_id++;
        fresh->peer.connection = id;
        epoll_event event{};
        event.events = EPOLLIN | EPOLLRDHUP;
        event.data.u64 = id;
        incoming.emplace(id, std::move(fresh));
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) == 0) return;
        incoming.erase(id);
    } catch (...) {  // no memory: the caller is turned away
    }
    ::close(socket);
}

void Porter::drop(std::uint64_t id) noexcept {
    std::unique_ptr<Incoming> gone;
    {
        MutexLock guard(mutex);
        const auto found = incoming.find(id);
        if (found == incoming.end()) return;
        gone = std::move(found->second);
        incoming.erase(found);
        ::close(std::exchange(gone->socket, -1));
        gone->peer.ended = true;
    }
    for (const auto& [number, given] : gone->given)
        if (given.count != 0) given.object->closed(gone->peer);
}

void Porter::hung_up(std::uint64_t id) noexcept {
    std::shared_ptr<Link> link;
    {
        MutexLock guard(mutex);
        const auto found = outgoing.find(id);
        if (found == outgoing.end()) return;
        epoll_ctl(epoll, EPOLL_CTL_DEL, found->second->socket_, nullptr);
        // Its last owner may be about to destroy it; then nobody watches it either.
        link = found->second->weak_from_this().lock();
    }
    if (link) link->hung_up();
}

std::shared_ptr<SharedObject> Porter::find(Incoming& from, const MessageHead& head, bool opening, int& code) {
    code = code::invalid_handle;
    if (const auto held = from.given.find(head.number); held != from.given.end() && !opening) {
        if ((held->second.random ^ head.random) & SharedKey::random_mask(static_cast<KeyStrength>(head.strength)))
            return nullptr;
        return held->second.object;
    }
    if (!opening) return nullptr;
    const ProcessId own = this_process();
    MutexLock guard(mutex);
    const auto found = objects.find(head.number);
    if (found == objects.end()) return nullptr;
    const Entry& entry = found->second;
    if (static_cast<std::uint8_t>(entry.kind) != head.kind ||
        static_cast<std::uint8_t>(entry.strength) != head.strength)
        return nullptr;
    if (((entry.random ^ head.random) & SharedKey::random_mask(entry.strength)) != 0) return nullptr;
    if (entry.strength == KeyStrength::full ? !(head.owner == own) : head.owner.process != own.process) return nullptr;
    if (entry.importers == Importers::listed) {
        // A process of another pid namespace has no number here; it has the same user, so its own word is taken.
        const auto number = static_cast<std::int32_t>(
            from.peer.process != 0 ? static_cast<std::uint32_t>(from.peer.process) : from.peer.id.process);
        if (!entry.processes.contains(number)) {
            code = code::not_permitted;
            return nullptr;
        }
    }
    code = 0;
    return entry.object;
}

void Porter::answer(Incoming& from, const MessageHead& head, SharedQuestion& question) {
    SharedAnswer answer;
    LateAnswer late(from.peer.connection, forks);
    const bool opening = question.operation == shared_operation::open;
    const std::shared_ptr<SharedObject> object = find(from, head, opening, answer.code);
    if (object) {
        answer.code = 0;
        if (opening) {
            Given& given = from.given[head.number];  // first, so that nothing can fail once the object has counted it
            if (given.object && given.object != object) {
                answer.code =
                    code::resource_alloc;  // the number is in use again, and the peer still has its old object
            } else {
                object->open(from.peer, question, answer);
                if (answer.code == 0) given = {head.random, given.count + 1, object};
            }
            if (given.count == 0) from.given.erase(head.number);
        } else if (question.operation == shared_operation::close) {
            const auto held = from.given.find(head.number);
            if (--held->second.count == 0) {
                from.given.erase(held);
                object->closed(from.peer);
            }
        } else {
            object->ask(from.peer, question, answer, late);
        }
    }
    const bool answered_later = late.taken();
    late.forget();
    if (head.unanswered != 0 || answered_later) return;
    if (!send_answer(from.socket, answer.code, answer)) shutdown(from.socket, SHUT_RDWR);
}

bool Porter::hear(Incoming& from) {
    for (int turn = 0; turn < 64; ++turn) {  // others wait, too
        MessageHead head;
        std::byte bytes[max_shared_bytes + 1];
        const iovec parts[2] = {{&head, sizeof head}, {bytes, sizeof bytes}};
        SharedQuestion question;
        const ssize_t size = receive_bytes(from.socket, parts, question.descriptors, MSG_DONTWAIT);
        if (size < 0) return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM;
        if (static_cast<std::size_t>(size) < offsetof(MessageHead, from) || head.magic != message_magic) return false;
        if (!same_library(head)) {
            if (!send_answer(from.socket, code::not_supported, {})) return false;
            continue;
        }
        if (static_cast<std::size_t>(size) < sizeof head ||
            static_cast<std::size_t>(size) > sizeof head + max_shared_bytes)
            return false;
        // The kernel's word counts; what the process says of itself must agree with it.
        if (from.peer.process != 0 && head.from.name_space == this_process().name_space &&
            head.from.process != static_cast<std::uint32_t>(from.peer.process))
            return false;
        if (from.peer.id.process == 0) from.peer.id = head.from;
        if (!(from.peer.id == head.from)) return false;
        question.operation = head.operation;
        question.bytes = std::span(bytes, static_cast<std::size_t>(size) - sizeof head);
        answer(from, head, question);
    }
    return true;
}

void Porter::serve() noexcept {
    pthread_setname_np(pthread_self(), "canopy-porter");
    for (;;) {
        epoll_event events[32];
        const int count = epoll_wait(epoll, events, 32, -1);
        for (int index = 0; index < count; ++index) {
            const std::uint64_t id = events[index].data.u64;
            if (id == listener_id || id == path_listener_id) {
                accept_one(id == listener_id ? listener : path_listener);
                continue;
            }
            if (id == bell_id) {
                char ring = 0;
                bool any = false;
                for (int turn = 0; turn < 64 && recv(heard_bell, &ring, sizeof ring, MSG_DONTWAIT) >= 0; ++turn)
                    any = true;
                if (any) rung.load(std::memory_order_acquire)();
                continue;
            }
            Incoming* from = nullptr;
            {
                MutexLock guard(mutex);
                if (const auto found = incoming.find(id); found != incoming.end()) from = found->second.get();
            }
            if (from == nullptr) {
                hung_up(id);
                continue;
            }
            bool keep = false;
            try {
                // What was said before the end still counts.
                keep = (events[index].events & EPOLLIN) == 0 || hear(*from);
            } catch (...) {  // no memory: the connection ends, and the peer is told by that
            }
            if (!keep || (events[index].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) drop(id);
        }
    }
}

// ---- start and fork -------------------------------------------------------------------------------------------------

void remove_path() noexcept {
    const Porter* porter = running.load(std::memory_order_acquire);
    if (porter && porter->forks == fork_count() && !porter->path.empty()) unlink(porter->path.c_str());
}

void before_fork() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    connect_mutex.lock();
    start_mutex.lock();
    if (Porter* porter = running.load(std::memory_order_acquire)) porter->mutex.lock();
}

void after_fork_in_parent() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    if (Porter* porter = running.load(std::memory_order_acquire)) porter->mutex.unlock();
    start_mutex.unlock();
    connect_mutex.unlock();
}

// The child has no porter, and its copies of the sockets would hide the end of its parent. Objects of the parent stay
// as they are: destroying them here would touch memory that both have.
void after_fork_in_child() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    forks_so_far.fetch_add(1, std::memory_order_relaxed);
    if (Porter* porter = running.exchange(nullptr, std::memory_order_acq_rel)) {
        for (const auto& [id, incoming] : porter->incoming) ::close(incoming->socket);
        for (const auto& [id, link] : porter->outgoing) ::close(link->socket_);
        for (const int descriptor :
             {porter->epoll, porter->listener, porter->path_listener, porter->bell, porter->heard_bell, porter->spare})
            if (descriptor >= 0) ::close(descriptor);
        porter->mutex.unlock();
    }
    start_mutex.unlock();
    connect_mutex.unlock();
}

Status start(Porter& porter) {
    const ProcessId own = this_process();
    porter.forks = fork_count();
    porter.epoll = epoll_create1(EPOLL_CLOEXEC);
    porter.listener = listen_for(own);
    if (porter.epoll < 0 || porter.listener < 0)
        return fail(code::resource_alloc, "no socket for sharing with other processes: {}", std::strerror(errno));
    porter.spare = dup(porter.epoll);
    if (const auto folder = environment_variable("CANOPY_RUN_DIR")) {
        porter.path = path_name(*folder, own);
        porter.path_listener = listen_at_path(*folder, porter.path);
        if (porter.path_listener < 0)
            return fail(code::resource_alloc, "no socket at {} (CANOPY_RUN_DIR): {}", porter.path,
                        std::strerror(errno));
    }
    const auto add = [&](int socket, std::uint64_t id) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = id;
        return socket < 0 || epoll_ctl(porter.epoll, EPOLL_CTL_ADD, socket, &event) == 0;
    };
    if (!add(porter.listener, listener_id) || !add(porter.path_listener, path_listener_id))
        return fail(code::resource_alloc, "the system watches no more sockets: {}", std::strerror(errno));
    return {};
}

Result<Porter*> porter_running() {
    if (Porter* porter = running.load(std::memory_order_acquire)) return porter;
    MutexLock guard(start_mutex);
    if (Porter* porter = running.load(std::memory_order_acquire)) return porter;
    [[maybe_unused]] static const bool prepared =
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0 && std::atexit(remove_path) == 0;
    auto fresh = std::make_unique<Porter>();
    const Status status = start(*fresh);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = false;
    if (status.ok()) {
        try {
            std::thread([porter = fresh.get()] { porter->serve(); }).detach();
            started = true;
        } catch (...) {  // reported below
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    if (!started) {
        for (const int descriptor : {fresh->epoll, fresh->listener, fresh->path_listener, fresh->spare})
            if (descriptor >= 0) ::close(descriptor);
        if (fresh->path_listener >= 0) unlink(fresh->path.c_str());
        if (!status.ok()) return status;
        return fail(code::resource_alloc, "no thread for sharing with other processes");
    }
    running.store(fresh.get(), std::memory_order_release);
    return fresh.release();
}

}  // namespace

void SharedObject::ask(const SharedPeer&, SharedQuestion&, SharedAnswer& answer, LateAnswer&) {
    answer.code = code::param_invalid;
}

LateAnswer::~LateAnswer() {
    if (connection_ == 0) return;
    SharedAnswer none;
    none.code = code::lost_heartbeat;
    give(none);
}

void LateAnswer::give(const SharedAnswer& answer) noexcept {
    const std::uint64_t connection = std::exchange(connection_, 0);
    Porter* porter = running.load(std::memory_order_acquire);
    if (connection == 0 || porter == nullptr || porter->forks != forks_) return;
    MutexLock guard(porter->mutex);
    const auto found = porter->incoming.find(connection);
    if (found == porter->incoming.end()) return;
    if (!send_answer(found->second->socket, answer.code, answer)) shutdown(found->second->socket, SHUT_RDWR);
}

Result<SharedKey> share(SharedKind kind, std::shared_ptr<SharedObject> object, Importers importers,
                        KeyStrength strength) {
    Result<Porter*> porter = porter_running();
    if (!porter.ok()) return porter.status();
    SharedKey key{kind, strength, this_process(), 0, random_bits()};
    MutexLock guard((*porter)->mutex);
    auto& objects = (*porter)->objects;
    if (objects.size() >= SharedKey::max_number)
        return fail(code::over_limit, "this process shares {} objects, the maximum", objects.size());
    // An object found by its number alone is the process's only one of its kind, and has number 0. Others get theirs in
    // turn, so that a number comes back late.
    std::uint32_t& next = (*porter)->next_number;
    if (strength != KeyStrength::number) {
        do next = (next + 1) & SharedKey::max_number;
        while (next == 0 || objects.contains(next));
        key.number = next;
    } else if (objects.contains(0)) {
        return fail(code::over_limit, "this process has an object that is found by its number already");
    }
    objects[key.number] = {kind, strength, importers, key.random, std::move(object), {}};
    return key;
}

namespace {

Entry* own_entry(Porter& porter, const SharedKey& key) noexcept CANOPY_REQUIRES(porter.mutex) {
    if (key.owner.process != this_process().process) return nullptr;
    const auto found = porter.objects.find(key.number);
    if (found == porter.objects.end() || found->second.kind != key.kind) return nullptr;
    return ((found->second.random ^ key.random) & SharedKey::random_mask(key.strength)) == 0 ? &found->second : nullptr;
}

}  // namespace

Status allow_import(const SharedKey& key, std::span<const std::int32_t> processes) {
    Porter* porter = running.load(std::memory_order_acquire);
    if (porter) {
        MutexLock guard(porter->mutex);
        if (Entry* entry = own_entry(*porter, key)) {
            std::set<std::int32_t> added = entry->processes;  // all of them or none
            added.insert(processes.begin(), processes.end());
            if (added.size() > max_import_pids)
                return fail(code::over_limit, "{} processes are more than the maximum of {}", added.size(),
                            max_import_pids);
            entry->processes.swap(added);
            return {};
        }
    }
    return fail(code::invalid_handle, "this process shares no object with this key");
}

bool is_shared(const SharedKey& key) noexcept {
    Porter* porter = running.load(std::memory_order_acquire);
    if (porter == nullptr) return false;
    MutexLock guard(porter->mutex);
    return own_entry(*porter, key) != nullptr;
}

bool anybody_may_import(const SharedKey& key) noexcept {
    Porter* porter = running.load(std::memory_order_acquire);
    if (porter == nullptr) return false;
    MutexLock guard(porter->mutex);
    const Entry* entry = own_entry(*porter, key);
    return entry && entry->importers == Importers::anybody;
}

bool unshare(const SharedKey& key) noexcept {
    Porter* porter = running.load(std::memory_order_acquire);
    if (porter == nullptr) return false;
    std::shared_ptr<SharedObject> object;  // destroyed without the lock
    MutexLock guard(porter->mutex);
    Entry* entry = own_entry(*porter, key);
    if (entry == nullptr) return false;
    object = std::move(entry->object);
    porter->objects.erase(key.number);
    guard.unlock();
    return true;
}

Result<std::shared_ptr<Connection>> connect(const SharedKey& key, ConnectionUse use) {
    Result<Porter*> started = porter_running();
    if (!started.ok()) return started.status();
    Porter& porter = **started;
    const std::pair place{key.owner.name_space, key.owner.process};
    MutexLock connecting(connect_mutex);
    if (use == ConnectionUse::common) {
        MutexLock guard(porter.mutex);
        if (const auto found = porter.common.find(place); found != porter.common.end())
            if (std::shared_ptr<Link> link = found->second.lock(); link && !link->gone()) {
                guard.unlock();
                return std::shared_ptr<Connection>(std::move(link));
            }
    }
    Result<int> socket = connect_to(key);
    if (!socket.ok()) return socket.status();
    auto link = std::make_shared<Link>(*socket, key.owner);
    {
        MutexLock guard(porter.mutex);
        link->id = porter.next_id++;
        porter.outgoing[link->id] = link.get();
        if (use == ConnectionUse::common) porter.common[place] = link;
        epoll_event event{};
        event.events = EPOLLRDHUP;
        event.data.u64 = link->id;
        if (epoll_ctl(porter.epoll, EPOLL_CTL_ADD, *socket, &event) != 0) {
            guard.unlock();
            return fail(code::resource_alloc, "the system watches no more sockets: {}", std::strerror(errno));
        }
    }
    return std::shared_ptr<Connection>(std::move(link));
}

Result<int> process_bell(void (*rung)() noexcept) {
    Result<Porter*> started = porter_running();
    if (!started.ok()) return started.status();
    Porter& porter = **started;
    MutexLock guard(porter.mutex);
    if (porter.bell >= 0) return porter.bell;
    int ends[2] = {-1, -1};
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = bell_id;
    porter.rung.store(rung, std::memory_order_release);
    const bool made = socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0;
    porter.heard_bell = ends[0];
    if (!made || epoll_ctl(porter.epoll, EPOLL_CTL_ADD, ends[0], &event) != 0) {
        for (const int end : ends)
            if (end >= 0) ::close(end);
        porter.heard_bell = -1;
        return fail(code::resource_alloc, "no socket for signals between processes: {}", std::strerror(errno));
    }
    porter.bell = ends[1];
    return porter.bell;
}

}  // namespace canopy
