// SPDX-License-Identifier: Apache-2.0
#include "dump/dump_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace canopy::dump {
namespace {

bool read_at(int file, std::uint64_t place, std::span<std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t count = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(place));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        place += static_cast<std::uint64_t>(count);
    }
    return true;
}

DataPart part_of(const char* kind, std::size_t index, const Tensor& tensor) {
    return {
        kind, index, tensor.data_type, tensor.format, tensor.shape, tensor.size, tensor.address, tensor.argument_index,
        0};
}
DataPart part_of(const char* kind, std::size_t index, const Space& space) {
    return {kind, index, 0, 2, {space.size}, space.size, 0, space.argument_index, 0};
}

}  // namespace

Expected<DumpFile> DumpFile::open(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // not to wait for the writer of a pipe
    if (file < 0) return Problem{"cannot open ", path, ": ", std::strerror(errno)};
    DumpFile opened(file);
    if (Problem problem = opened.read_head()) return Problem{path, ": ", problem.message()};
    return opened;
}

Problem DumpFile::read_head() {
    struct stat facts {};
    if (fstat(file_, &facts) != 0 || !S_ISREG(facts.st_mode)) return Problem{"not a file"};
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    std::array<std::byte, length_size> length_bytes{};
    if (size < length_size || !read_at(file_, 0, length_bytes))
        return Problem{"not a dump: it has ", size, " bytes, less than the length of a head takes"};
    std::uint64_t length = 0;
    for (std::size_t byte = length_size; byte-- > 0;)
        length = length << 8 | static_cast<std::uint8_t>(length_bytes[byte]);
    if (length > largest_head) return Problem{"not a dump: its head would have ", length, " bytes"};
    if (length > size - length_size)
        return Problem{"cut off: its head has ", length, " bytes, ", size - length_size, " are there"};
    std::vector<std::byte> bytes(static_cast<std::size_t>(length));
    if (!read_at(file_, length_size, bytes)) return Problem{"cannot be read: ", std::strerror(errno)};
    Expected<DumpHead> head = decode(bytes);
    if (!head.ok()) return head.problem();
    head_ = std::move(*head);
    const std::uint64_t promised = data_size(head_), there = size - length_size - length;
    if (promised > there)
        return Problem{"cut off: its head promises ", promised, " bytes of data, ", there, " are there"};

    std::uint64_t place = length_size + length;
    const auto add = [&](const char* kind, const auto& all) {
        for (std::size_t index = 0; index < all.size(); ++index) {
            DataPart& part = parts_.emplace_back(part_of(kind, index, all[index]));
            part.place = place;
            place += part.size;
        }
    };
    add("input", head_.inputs);
    add("output", head_.outputs);
    add("buffer", head_.buffers);
    add("workspace", head_.workspaces);
    return {};
}

Problem DumpFile::read(const DataPart& part, std::uint64_t from, std::span<std::byte> bytes) const {
    if (from > part.size || bytes.size() > part.size - from)
        return Problem{"byte ", from + bytes.size(), " of a part of ", part.size, " bytes"};
    if (!read_at(file_, part.place + from, bytes)) return Problem{"the file has become shorter, or cannot be read"};
    return {};
}

DumpFile::~DumpFile() {
    if (file_ >= 0) close(file_);
}

}  // namespace canopy::dump
