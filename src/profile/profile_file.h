// SPDX-License-Identifier: Apache-2.0
// ProfileFile: a profile as its readers see it. Opening it reads everything but the records, which are then visited in
// pieces as often as needed, so memory does not grow with them. The bytes are not trusted: a file that is not a profile
// gives a Problem, one that ends early or is damaged is read up to there and says so in `damage`.
//
// A black box (the rings of a process that was killed) is opened in the same way. It holds the last records of each
// thread; one that was being written is not shown. `open_with_black_box` also finds the black box that the profile of a
// killed process names, and shows the records that the profile lacks as its last ones.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "foundation/clock.h"
#include "foundation/problem.h"
#include "profile/profile_format.h"
#include "profile/record.h"

namespace canopy::profile {

struct Thread {
    std::uint32_t number = 0;
    std::uint32_t system_id = 0;
    ThreadRole role = ThreadRole::host;
    std::uint32_t index = 0;  // among the threads of its role and device
    std::string name;
    std::uint64_t lost = 0;  // records that its ring dropped
};

struct DeviceFacts {
    std::uint32_t number = 0;
    std::string kind, chip;
    std::uint32_t cube_cores = 0, vector_cores = 0, cpu_cores = 0, workers = 0;
    std::uint64_t memory = 0;
};

struct StreamFacts {
    std::uint32_t number = 0;
    std::uint32_t device = 0;
    std::uint32_t priority = 0;
};

class ProfileFile {
public:
    static Expected<ProfileFile> open(const std::string& path);
    static Expected<ProfileFile> open_with_black_box(const std::string& path);
    ProfileFile(ProfileFile&&) noexcept;
    ProfileFile& operator=(ProfileFile&&) noexcept;
    ~ProfileFile();

    // Calls visit(thread, records) for all records, each thread's in the order in which they were written. If damage is
    // found that `open` could not see, it ends there and `damage` says so.
    void visit(const std::function<void(const Thread&, std::span<const Record>)>& visit);

    [[nodiscard]] std::string_view text(std::uint32_t number) const noexcept;  // empty if there is none
    [[nodiscard]] std::string_view name(const Record& record) const noexcept {
        return text(static_cast<std::uint32_t>(record.name));
    }
    [[nodiscard]] const std::vector<Thread>& threads() const noexcept { return threads_; }
    [[nodiscard]] const std::map<std::uint32_t, DeviceFacts>& devices() const noexcept { return devices_; }
    [[nodiscard]] const std::map<std::uint32_t, StreamFacts>& streams() const noexcept { return streams_; }
    [[nodiscard]] std::string_view fact(std::string_view key) const noexcept;  // empty if there is none
    // The black box whose records this one shows as well; empty if there is none.
    [[nodiscard]] const std::string& black_box() const noexcept { return black_box_path_; }
    // Writes the same into another file, for its owner only, in place of one that is there.
    Problem copy_to(const std::string& path) const;
    [[nodiscard]] std::uint64_t process() const noexcept { return head_.process; }
    [[nodiscard]] std::uint64_t lost() const noexcept;  // records of all threads that were dropped
    [[nodiscard]] std::uint64_t record_count() const noexcept { return record_count_; }
    // Why the file ends early; empty if its writer closed it.
    [[nodiscard]] const std::string& damage() const noexcept { return damage_; }

    // On the monotonic clock, and as unix time.
    [[nodiscard]] double nanoseconds(std::uint64_t ticks) const noexcept;
    [[nodiscard]] double duration(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * rate_; }
    [[nodiscard]] std::int64_t unix_time(std::uint64_t ticks) const noexcept;

private:
    struct Piece {
        std::uint64_t offset;
        std::uint32_t size;
    };
    struct Owner {
        std::uint64_t first;
        std::uint32_t thread;
    };
    // The records [begin, end) of a ring are shown.
    struct RingPart {
        std::uint64_t place, begin, end, collected;
        std::vector<Owner> owners;
    };
    using Visit = std::function<void(const Thread&, std::span<const Record>)>;
    ProfileFile() = default;
    bool take_ring(std::span<const std::byte> content, std::uint64_t& offset);
    void read_ring_heads();
    // Calls visit(number, thread, records) with the numbers of the first record.
    void visit_ring(const RingPart& ring,
                    const std::function<void(std::uint64_t, std::uint32_t, std::span<const Record>)>& visit) const;
    void visit_rings(const std::vector<RingPart>& rings, const ProfileFile& from, const Visit& visit);
    void join(const std::string& path);
    void skip_known_records(const ProfileFile& box, RingPart& ring);
    Problem copy_joined(const std::string& path) const;
    Problem read_head();
    void read_chunks();
    bool read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
    void take(Chunk type, std::span<const std::byte> content, std::uint64_t offset);
    Thread& thread(std::uint32_t number);
    void settle_clock();

    int file_ = -1;
    std::uint64_t size_ = 0;
    FileHead head_;
    std::vector<Piece> pieces_;
    std::unordered_map<std::uint32_t, Piece> last_pieces_;  // of each thread
    std::vector<RingPart> rings_;
    std::unique_ptr<ProfileFile> box_;
    std::string black_box_path_;
    std::uint64_t whole_ = 0;  // bytes up to the damage
    std::vector<Thread> threads_;
    std::unordered_map<std::uint32_t, std::size_t> thread_index_;
    std::unordered_map<std::uint32_t, std::string> texts_;
    std::map<std::uint32_t, DeviceFacts> devices_;
    std::map<std::uint32_t, StreamFacts> streams_;
    std::map<std::string, std::string, std::less<>> facts_;
    std::string damage_;
    std::uint64_t record_count_ = 0;
    std::uint64_t last_clock_ticks_ = 0;
    std::int64_t last_clock_time_ = 0;
    double rate_ = 1;  // nanoseconds per tick
    bool closed_ = false;
};

}  // namespace canopy::profile
