// SPDX-License-Identifier: Apache-2.0
#include "core/queue/queue_sharing.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/error_text.h"
#include "base/helper_process.h"
#include "base/kernel_thread.h"
#include "core/base/error_codes.h"
#include "core/queue/queue.h"
#include "core/queue/routes.h"

namespace canopy {
namespace {

constexpr Nanoseconds first_pause = 200 * microsecond, longest_pause = 5 * millisecond;

// 0 if the process has ended.
std::int32_t parent_of(std::int32_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');  // a name may have spaces and brackets
    std::int32_t parent = 0;
    if (name_end != std::string::npos && std::sscanf(text.c_str() + name_end + 1, " %*c %d", &parent) == 1)
        return parent;
    return 0;
}

// Runs on the porter's thread.
class Directory : public SharedObject {
public:
    void open(const SharedPeer&, SharedQuestion&, SharedAnswer&) override {}

    void ask(const SharedPeer& peer, SharedQuestion& question, SharedAnswer& answer, LateAnswer&) override {
        QueueQuestion asked;
        if (question.bytes.size() != sizeof asked) {
            answer.code = code::param_invalid;
            return;
        }
        std::memcpy(&asked, question.bytes.data(), sizeof asked);
        Result<Pin<DataQueue>> queue = find_queue(asked.queue);
        if (!queue.ok() || !(*queue)->own) {
            answer.code = code::invalid_queue;
            return;
        }
        if (asked.for_parent != 0 && question.operation == queue_question::attach && peer.process != 0 &&
            admit_child(**queue, peer.process))
            routes_shared();
        answer.code = reply(**queue, number_of(peer), asked, question, answer);
    }

    // A process that had queues of this one ended: those who wait look again, and its buffers come back. A later
    // process with its number was granted nothing.
    void closed(const SharedPeer& peer) noexcept override {
        for_each_queue([&](DataQueue& queue) {
            if (!queue.own) return;
            queue.ring->wake_all();
            if (!peer.ended) return;
            MutexLock guard(queue.mutex);
            queue.granted.erase(number_of(peer));
        });
        sweep_queues();
    }

private:
    static std::int32_t number_of(const SharedPeer& peer) noexcept {
        return static_cast<std::int32_t>(peer.process != 0 ? peer.process : peer.id.process);
    }
    // The process of a program's CPU kernels may use what the program may use.
    static bool admit_child(DataQueue& queue, std::int32_t process) {
        const std::int32_t parent = parent_of(process);
        MutexLock guard(queue.mutex);
        std::uint32_t rights = parent == ::getpid() ? queue_right::all : 0;
        if (const auto found = queue.granted.find(parent); found != queue.granted.end()) rights |= found->second;
        if (rights != 0) queue.granted[process] = rights;
        return rights != 0;
    }

    static int reply(DataQueue& queue, std::int32_t process, const QueueQuestion& asked, SharedQuestion& question,
                     SharedAnswer& answer) {
        MutexLock guard(queue.mutex);
        const auto found = queue.granted.find(process);
        if (found == queue.granted.end()) return code::not_permitted;
        switch (question.operation) {
            case queue_question::attach:
                answer.descriptors.push_back(queue.ring->file().descriptor());
                [[fallthrough]];
            case queue_question::rights: {
                Result<BufferPool*> pool = own_pool();
                const QueueAnswer told{queue.ring->uid(),
                                       queue.ring->depth(),
                                       found->second,
                                       queue.ring->creator(),
                                       0,
                                       pool.ok() ? (*pool)->uid() : 0};
                answer.bytes.resize(sizeof told);
                std::memcpy(answer.bytes.data(), &told, sizeof told);
                return 0;
            }
            case queue_question::grant:
                if ((found->second & queue_right::manage) == 0) return code::not_permitted;
                queue.granted[asked.process] |= asked.rights & queue_right::all;
                return 0;
            case queue_question::give_pool:
                if (question.descriptors.count() == 0) {
                    PoolUse use;
                    return find_pool(asked.pool) ? 0 : code::invalid_handle;
                }
                if (question.descriptors.count() != 1) return code::param_invalid;
                return adopt_pool(question.descriptors.take(0), asked.pool).code();
            case queue_question::want_pool: {
                PoolUse use;
                BufferPool* pool = find_pool(asked.pool);
                if (pool == nullptr) return code::invalid_handle;
                answer.descriptors.push_back(pool->file().descriptor());
                return 0;
            }
            default:
                return code::param_invalid;
        }
    }
};

struct Shared {
    Mutex mutex;
    ProcessNumber process CANOPY_GUARDED_BY(mutex) = 0;  // that has shared the directory
};

}  // namespace

Status share_directory() {
    static Shared& state = *new Shared;
    MutexLock guard(state.mutex);
    if (state.process == own_process_number()) return {};
    const Result<SharedKey> key =
        share(SharedKind::queue, std::make_shared<Directory>(), Importers::anybody, KeyStrength::number);
    if (!key.ok()) return key.status();
    state.process = own_process_number();
    return {};
}

namespace {

// The creator of a queue that this process attached to.
class Creator : public Watcher {
public:
    explicit Creator(std::uint32_t number) : number_(number) {}
    void gone(const ProcessId&) noexcept override {
        if (Result<Pin<DataQueue>> queue = find_queue(number_); queue.ok()) {
            (*queue)->ring->creator_gone();
            if ((*queue)->ring->count() == 0) leave_queue(**queue);
        }
        sweep_queues();
    }

private:
    std::uint32_t number_;
};

void pause_for(Nanoseconds time) {
    const timespec duration{time / second, time % second};
    ::nanosleep(&duration, nullptr);
}

Result<QueueAnswer> ask_to_attach(Connection& connection, std::uint32_t number, int& descriptor) {
    const SharedKey key = directory_key(number);
    CANOPY_TRY(connection.ask(key, shared_operation::open).status());
    const QueueQuestion question{number, 0, 0, runs_cpu_kernels() ? 1u : 0u, 0};
    Result<SharedReply> reply = connection.ask(key, queue_question::attach, std::as_bytes(std::span(&question, 1)));
    QueueAnswer answer;
    if (!reply.ok()) {
        connection.close(key);
        return reply.status();
    }
    if (reply->bytes.size() != sizeof answer || reply->descriptors.count() != 1) {
        connection.close(key);
        return fail(code::internal, "the creator of queue {} gave a wrong answer", number);
    }
    std::memcpy(&answer, reply->bytes.data(), sizeof answer);
    descriptor = reply->descriptors.take(0);
    return answer;
}

// One attempt.
Result<std::uint32_t> attach_now(std::uint32_t number) {
    Result<std::shared_ptr<Connection>> connection = connect(directory_key(number));
    if (!connection.ok()) return connection.status();
    int descriptor = -1;
    Result<QueueAnswer> answer = ask_to_attach(**connection, number, descriptor);
    if (!answer.ok()) return answer.status();
    auto ring = std::make_unique<Ring>();
    if (!ring->adopt(descriptor, answer->uid, answer->depth, answer->creator))
        return fail(code::memory_allocation, "cannot map queue {}: {}", number, std::strerror(errno));
    auto watcher = std::make_shared<Creator>(number);
    if (!enter_queue(number, std::move(ring), answer->rights, *connection, watcher))
        return fail(code::over_limit, "too many queues are in use");
    Result<Pin<DataQueue>> queue = find_queue(number);
    if (!queue.ok()) return queue.status();
    if ((answer->rights & queue_right::dequeue) != 0) {
        // Now: what the creator puts into the queue must be there after its end.
        PoolUse use;
        std::uint32_t local = 0;
        (*queue)->pool_of(answer->pool, local);
    }
    if ((*connection)->watch(watcher))
        (*queue)->ring->set_watched();
    else
        (*queue)->ring->creator_gone();
    return answer->rights;
}

// What a queue that is attached already may be used for now.
Result<std::uint32_t> renew(DataQueue& queue) {
    const QueueQuestion question{queue.number, 0, 0, 0, 0};
    Result<SharedReply> reply = queue.connection->ask(directory_key(queue.number), queue_question::rights,
                                                      std::as_bytes(std::span(&question, 1)));
    if (!reply.ok()) return reply.status();
    QueueAnswer answer;
    if (reply->bytes.size() != sizeof answer)
        return fail(code::internal, "the creator of queue {} gave a wrong answer", queue.number);
    std::memcpy(&answer, reply->bytes.data(), sizeof answer);
    queue.rights.store(answer.rights);
    return answer.rights;
}

Mutex attaching;

}  // namespace

Status grant_queue(std::uint32_t number, std::int32_t process, std::uint32_t rights) {
    Result<Pin<DataQueue>> found = find_queue(number, queue_right::manage);
    if (!found.ok()) return found.status();
    DataQueue& queue = **found;
    if (queue.own) {
        CANOPY_TRY(share_directory());
        {
            MutexLock guard(queue.mutex);
            queue.granted[process] |= rights;
        }
        routes_shared();
        return {};
    }
    const QueueQuestion question{number, rights, process, 0, 0};
    return queue.connection->ask(directory_key(number), queue_question::grant, std::as_bytes(std::span(&question, 1)))
        .status();
}

Result<std::uint32_t> attach_queue(std::uint32_t number, Deadline deadline) {
    Nanoseconds pause = first_pause;
    for (;;) {
        Status status;
        {
            MutexLock guard(attaching);  // two attempts at once would map the queue twice
            Result<Pin<DataQueue>> known = find_queue(number);
            if (known.ok() && (*known)->own) return (*known)->rights.load();
            Result<std::uint32_t> rights = known.ok() ? renew(**known) : attach_now(number);
            if (rights.ok()) return rights;
            status = rights.status();
        }
        // No such process, or one that has granted nothing yet: it may still do so.
        const bool may_come = status.code() == code::not_permitted || status.code() == code::invalid_handle ||
                              status.code() == code::invalid_queue;
        if (!may_come) return status;
        if (deadline.at == 0 || deadline.passed()) break;
        KernelThread* const kernel = KernelThread::current();
        if (kernel && !kernel->fall_asleep(nullptr)) break;
        pause_for(pause);
        if (kernel) kernel->wake_up();
        pause = std::min(2 * pause, longest_pause);
    }
    return fail(code::not_permitted, "queue {} was not granted to process {}", number, ::getpid());
}

Status reach_queue(std::uint32_t number) {
    if (!runs_cpu_kernels() || find_queue(number).ok()) return {};
    return attach_queue(number, Deadline{0}).status();
}

}  // namespace canopy
