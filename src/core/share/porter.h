// SPDX-License-Identifier: Apache-2.0
// Objects that this process shares with others, and those it has from others.
//
//   Exporting: derive from SharedObject, call `share`, give the key to the program. When another process asks for the
//   object, the porter checks the key and the list of pids and calls `open`, which fills in the answer: a few bytes,
//   and descriptors. `closed` tells that this process has let go of it, or has ended.
//   Importing: `connect` to the owner of a key and `ask` with SharedOperation::open. Keep the Connection as long as the
//   object is used: its end is how the owner knows that this process is gone, and `watch` tells when the owner is gone.
//
// The porter is one thread of the process, started by the first `share` or `connect`, asleep in the kernel while nobody
// asks. Everything below may be called from any thread; what a SharedObject or Watcher does runs on the porter's
// thread, without locks of the porter, and must neither block nor ask another process. A process that shares nothing
// has no porter, no socket and no page for any of this.
//
// Codes: unknown or ended keys 107017, not on the list of pids 207006, another version of this library 207000, the
// other process ended during the call 507010.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/local_socket.h"
#include "base/result.h"
#include "core/share/key.h"
#include "foundation/clock.h"

namespace canopy {

inline constexpr std::size_t max_shared_bytes = 4096;  // of a question or an answer
inline constexpr std::size_t max_import_pids = 32768;

// Numbers from `first_own` on mean what the kind of object makes of them.
namespace shared_operation {
inline constexpr std::uint32_t open = 0;
inline constexpr std::uint32_t close = 1;
inline constexpr std::uint32_t first_own = 16;
}  // namespace shared_operation

// A connected process, as the porter sees it.
struct SharedPeer {
    ProcessId id;
    pid_t process = 0;             // as this process sees it; 0: it is in another pid namespace
    bool ended = false;            // in `closed`: it has not said so itself
    std::uint64_t connection = 0;  // never used twice
};

struct SharedQuestion {
    std::uint32_t operation = 0;
    std::span<const std::byte> bytes;
    ReceivedDescriptors descriptors;
};

struct SharedAnswer {
    int code = 0;
    std::vector<std::byte> bytes;
    std::vector<int> descriptors;  // stay the object's own; sent before the call that fills this in is forgotten
};

// Answers a question later; any thread. Destroyed without an answer, it says 507010.
class LateAnswer {
public:
    LateAnswer() noexcept = default;
    LateAnswer(std::uint64_t connection, std::uint32_t forks) noexcept : connection_(connection), forks_(forks) {}
    LateAnswer(LateAnswer&& other) noexcept : connection_(other.connection_), forks_(other.forks_) {
        other.connection_ = 0;
    }
    LateAnswer& operator=(LateAnswer&& other) noexcept {
        std::swap(connection_, other.connection_);
        std::swap(forks_, other.forks_);
        return *this;
    }
    ~LateAnswer();
    void give(const SharedAnswer& answer) noexcept;
    // The question is answered otherwise.
    void forget() noexcept { connection_ = 0; }
    [[nodiscard]] bool taken() const noexcept { return connection_ == 0; }

private:
    std::uint64_t connection_ = 0;
    std::uint32_t forks_ = 0;
};

class SharedObject {
public:
    virtual ~SharedObject() = default;
    // A process that has the key and may have the object asks for it, perhaps more than once.
    virtual void open(const SharedPeer& peer, SharedQuestion& question, SharedAnswer& answer) = 0;
    // Any other question of a process that has opened it. To answer later, move `late` away and leave `answer` alone.
    virtual void ask(const SharedPeer& peer, SharedQuestion& question, SharedAnswer& answer, LateAnswer& late);
    // The process has closed as often as it opened, or its connection ended. Called once for each peer that opened it.
    virtual void closed(const SharedPeer& peer) noexcept = 0;
};

enum class Importers : std::uint8_t { listed, anybody };

// The object can be asked for from now on; the porter holds it until `unshare` and until all peers have closed it.
// 207012 if too many objects are shared.
Result<SharedKey> share(SharedKind kind, std::shared_ptr<SharedObject> object, Importers importers,
                        KeyStrength strength = KeyStrength::full);
// Adds to the list of processes that may open it. 207012 above max_import_pids, 107017 for an unknown key.
Status allow_import(const SharedKey& key, std::span<const std::int32_t> processes);
// True if the key names an object of this process that can be asked for.
bool is_shared(const SharedKey& key) noexcept;
bool anybody_may_import(const SharedKey& key) noexcept;
// Nobody can ask for it any more; those that have it keep it. False if the key names no object of this process.
bool unshare(const SharedKey& key) noexcept;

class Watcher {
public:
    virtual ~Watcher() = default;
    // The process at the other end of a connection has ended, or has closed it. Called once.
    virtual void gone(const ProcessId& peer) noexcept = 0;
};

struct SharedReply {
    std::vector<std::byte> bytes;
    ReceivedDescriptors descriptors;
};

// A connection to the process that owns a key.
class Connection {
public:
    virtual ~Connection() = default;
    [[nodiscard]] virtual const ProcessId& peer() const noexcept = 0;
    [[nodiscard]] virtual bool gone() const noexcept = 0;
    // Asks and waits for the answer; questions of several threads wait for each other. A code that the object answered
    // comes back as that code. A question that the other process leaves unanswered until the deadline is 107019 and
    // ends the connection.
    virtual Result<SharedReply> ask(const SharedKey& key, std::uint32_t operation,
                                    std::span<const std::byte> bytes = {}, std::span<const int> descriptors = {},
                                    Deadline deadline = Deadline::after(30 * second)) = 0;
    // Says that one `open` of the key is no longer used; nobody answers.
    virtual void close(const SharedKey& key) noexcept = 0;
    // False: the other process is gone already, and the watcher will not be called.
    virtual bool watch(std::weak_ptr<Watcher> watcher) = 0;
};

// The connection of this process to the owner of a key, shared by all that ask for it; `alone`: a new one, for a
// question that may be answered late. 107017 if there is no such process.
enum class ConnectionUse : std::uint8_t { common, alone };
Result<std::shared_ptr<Connection>> connect(const SharedKey& key, ConnectionUse use = ConnectionUse::common);

// The bell of this process: a socket that others may be given. A message to it calls `rung` on the porter's thread. The
// same for every caller; the first one's function is called. (Not an event descriptor: a process that has one can make
// all who write to it wait. Sending with MSG_DONTWAIT does not wait, whatever another process does to the socket or
// gives instead of one.)
Result<int> process_bell(void (*rung)() noexcept);

}  // namespace canopy
