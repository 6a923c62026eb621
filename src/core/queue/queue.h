// SPDX-License-Identifier: Apache-2.0
// The queues this process knows: those it created and those that others granted to it. A queue's number has the pid of
// its creator and a number of ten bits, so that a granted process finds the creator. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/queue/buffers.h"
#include "core/queue/shared/ring.h"
#include "core/share/porter.h"
#include "foundation/mutex.h"

namespace canopy {

// Values of ACL_TDT_QUEUE_PERMISSION_*.
namespace queue_right {
inline constexpr std::uint32_t manage = 1, dequeue = 2, enqueue = 4, all = 7;
}  // namespace queue_right

// What the processes of a queue ask its creator; QueueQuestion is the form of all of them.
namespace queue_question {
inline constexpr std::uint32_t attach = shared_operation::first_own;
inline constexpr std::uint32_t grant = attach + 1;
inline constexpr std::uint32_t give_pool = attach + 2;  // without a descriptor: 107017 if the creator needs it
inline constexpr std::uint32_t want_pool = attach + 3;
inline constexpr std::uint32_t rights = attach + 4;  // as attach, without the file
}  // namespace queue_question

struct QueueQuestion {
    std::uint32_t queue = 0;
    std::uint32_t rights = 0;
    std::int32_t process = 0;
    std::uint32_t for_parent = 0;  // attach: 1 if the process runs CPU kernels of its parent and has its rights
    std::uint64_t pool = 0;
};
struct QueueAnswer {
    std::uint64_t uid = 0;
    std::uint32_t depth = 0;
    std::uint32_t rights = 0;
    ProcessNumber creator = 0;
    std::uint32_t unused = 0;
    std::uint64_t pool = 0;  // the creator's own
};

class DataQueue {
public:
    Handle self = 0;
    std::uint32_t number = 0;
    std::string name;
    std::unique_ptr<Ring> ring;
    bool own = false;
    std::atomic<std::uint32_t> rights{0};
    std::shared_ptr<Connection> connection;  // to the creator, unless own
    std::shared_ptr<Watcher> watcher;
    // Bound routes that begin or end here.
    std::atomic<std::uint32_t> routes_from{0}, routes_to{0};
    std::atomic<std::uint32_t> deaths_seen{0};  // of Ring::deaths

    Mutex mutex;
    std::map<std::int32_t, std::uint32_t> granted CANOPY_GUARDED_BY(mutex);  // rights by pid
    std::set<std::uint64_t> announced CANOPY_GUARDED_BY(mutex);              // pools that the creator has

    void recycle() noexcept;

    // The creator keeps the pool from now on, so that the buffers in it outlive this process.
    Status announce(BufferPool& pool);
    // A pool whose buffer is in the queue; asks the creator if it is not mapped here. nullptr: nobody has it any more.
    BufferPool* pool_of(std::uint64_t uid, std::uint32_t& local_number);
    // Frees what is left in a closed queue.
    void drain() noexcept;
};

SharedKey directory_key(std::uint32_t queue) noexcept;

// 207012: too many. 100000: the name is in use.
Result<std::uint32_t> create_queue(const std::string& name, std::uint32_t depth);
// 100032: no such queue here. 207006: not this process's right. 500000: it is part of a route.
Status destroy_queue(std::uint32_t number);
Result<Pin<DataQueue>> find_queue(std::uint32_t number);
// With one of the rights.
Result<Pin<DataQueue>> find_queue(std::uint32_t number, std::uint32_t rights);
// A queue of another process of which nothing can be had any more: closed, or empty after its creator ended. Gives its
// memory back.
void leave_queue(DataQueue& queue);
// A queue of another process; false if it is known already.
bool enter_queue(std::uint32_t number, std::unique_ptr<Ring> ring, std::uint32_t rights,
                 std::shared_ptr<Connection> connection, std::shared_ptr<Watcher> watcher);

// Buffers of processes that ended go back to their pools or queues.
void sweep_queues();
void for_each_queue(const std::function<void(DataQueue&)>& visit);

}  // namespace canopy
