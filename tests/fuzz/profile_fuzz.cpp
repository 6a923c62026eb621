// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the reader of profiles, in two ways: as a file, and as the contents of chunks whose checksums are
// right, so that the code behind the checksums is reached. It must refuse the file, or read it up to the damage.
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

// Chunks of the input: a byte for the type, two for the size, then the content.
std::vector<std::byte> file_of_chunks(std::span<const std::uint8_t> input) {
    std::vector<std::byte> file;
    const FileHead head;
    append(file, &head, sizeof head);
    while (input.size() >= 3) {
        const std::size_t wanted = input[1] | std::size_t{input[2]} << 8;
        const auto content = std::as_bytes(input.subspan(3, std::min(wanted, input.size() - 3)));
        const ChunkHead chunk{input[0], static_cast<std::uint32_t>(content.size()), chunk_hash(input[0], content)};
        append(file, &chunk, sizeof chunk);
        append(file, content.data(), content.size());
        input = input.subspan(3 + content.size());
    }
    return file;
}

void read(std::span<const std::byte> bytes) {
    static const int descriptor = ::memfd_create("profile", MFD_CLOEXEC);
    static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    if (::ftruncate(descriptor, 0) != 0 ||
        ::pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
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
    read(std::as_bytes(input));
    read(file_of_chunks(input));
    return 0;
}
