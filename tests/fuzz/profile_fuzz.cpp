// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the reader of profiles, in two ways: as a file, and as the contents of chunks whose checksums are
// right, so that the code behind the checksums is reached; one of them may begin a ring of a black box. It must refuse
// the file, or read it up to the damage.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "profile/profile_file.h"

namespace {

using namespace canopy::profile;

void append(std::vector<std::byte>& to, const void* bytes, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(bytes);
    to.insert(to.end(), first, first + size);
}

struct MadeFile {
    std::vector<std::byte> bytes;
    std::size_t gap_at = 0, gap = 0;  // so many zero bytes there; of a ring
};

void append_chunk(std::vector<std::byte>& file, std::uint32_t type, std::span<const std::byte> content) {
    const ChunkHead chunk{type, static_cast<std::uint32_t>(content.size()), canopy::profile::chunk_hash(type, content)};
    append(file, &chunk, sizeof chunk);
    append(file, content.data(), content.size());
}

// A ring of a few records: their number, then their bytes.
void append_ring(MadeFile& file, std::span<const std::byte> content) {
    constexpr std::size_t most = 4096;
    Bytes place;
    place.number(ring_head_size * (1 + file.bytes.size() / ring_head_size));
    append_chunk(file.bytes, static_cast<std::uint32_t>(Chunk::ring), place.span());
    const std::size_t start = ring_head_size * (1 + (file.bytes.size() - 1) / ring_head_size);
    file.bytes.resize(start);
    const RingHead head{content.empty() ? 0 : std::uint64_t{std::to_integer<std::uint8_t>(content.front())}, 0};
    append(file.bytes, &head, sizeof head);
    file.bytes.resize(start + ring_head_size);
    append(file.bytes, content.data(), std::min(content.size(), most));
    file.bytes.resize(start + ring_head_size + most);
    file.gap_at = file.bytes.size();
    file.gap = ring_size - ring_head_size - most;
}

// Chunks of the input: a byte for the type, two for the size, then the content.
MadeFile file_of_chunks(std::span<const std::uint8_t> input) {
    MadeFile file;
    const FileHead head;
    append(file.bytes, &head, sizeof head);
    while (input.size() >= 3) {
        const std::size_t wanted = input[1] | std::size_t{input[2]} << 8;
        const auto content = std::as_bytes(input.subspan(3, std::min(wanted, input.size() - 3)));
        if (static_cast<Chunk>(input[0]) == Chunk::ring && file.gap == 0)
            append_ring(file, content);
        else
            append_chunk(file.bytes, input[0], content);
        input = input.subspan(3 + content.size());
    }
    return file;
}

bool write_at(int descriptor, std::span<const std::byte> bytes, std::size_t offset) {
    return ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(bytes.size());
}

void read(const MadeFile& made) {
    static const int descriptor = ::memfd_create("profile", MFD_CLOEXEC);
    static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    const std::span bytes(made.bytes);
    const std::size_t gap_at = made.gap == 0 ? bytes.size() : made.gap_at;
    if (::ftruncate(descriptor, 0) != 0 || !write_at(descriptor, bytes.first(gap_at), 0) ||
        ::ftruncate(descriptor, static_cast<off_t>(gap_at + made.gap)) != 0 ||
        !write_at(descriptor, bytes.subspan(gap_at), gap_at + made.gap))
        std::abort();
    auto file = ProfileFile::open(path);
    if (!file.ok()) {
        if (file.message().empty()) std::abort();
        return;
    }
    std::uint64_t count = 0;
    file->visit([&](const Thread& thread, std::span<const Record> records) {
        if (thread.name.size() > longest_text) std::abort();
        count += records.size();
        for (const Record& record : records) {
            if (record.what() >= Kind::count_) std::abort();
            static_cast<void>(file->name(record));
            static_cast<void>(file->unix_time(record.begin));
        }
    });
    if (count > file->record_count()) std::abort();
    for (const auto& [number, device] : file->devices())
        if (number != device.number) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::uint8_t> input(data, size);
    const auto raw = std::as_bytes(input);
    read({std::vector<std::byte>(raw.begin(), raw.end())});
    read(file_of_chunks(input));
    return 0;
}
