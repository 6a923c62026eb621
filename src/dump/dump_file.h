// SPDX-License-Identifier: Apache-2.0
// DumpFile: a dump file as its readers see it. Opening it reads the head; the bytes behind it are read when they are
// asked for. No number of the file is trusted: a file that is cut off or no dump gives a Problem.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dump/dump_format.h"
#include "foundation/problem.h"

namespace canopy::dump {

// A piece of the data behind the head.
struct DataPart {
    std::string kind;       // input, output, buffer, workspace
    std::size_t index = 0;  // among those of its kind
    std::int32_t data_type = 0;
    std::int32_t format = 0;
    std::vector<std::uint64_t> shape;
    std::uint64_t size = 0;
    std::uint64_t address = 0;
    std::uint32_t argument_index = 0;
    std::uint64_t place = 0;  // in the file
};

class DumpFile {
public:
    static Expected<DumpFile> open(const std::string& path);
    DumpFile(DumpFile&& other) noexcept
        : head_(std::move(other.head_)), parts_(std::move(other.parts_)), file_(std::exchange(other.file_, -1)) {}
    DumpFile& operator=(DumpFile&&) = delete;
    ~DumpFile();

    [[nodiscard]] const DumpHead& head() const noexcept { return head_; }
    [[nodiscard]] const std::vector<DataPart>& parts() const noexcept { return parts_; }
    // Fills `bytes` from a part, `from` bytes after its beginning.
    Problem read(const DataPart& part, std::uint64_t from, std::span<std::byte> bytes) const;

private:
    explicit DumpFile(int file) noexcept : file_(file) {}
    Problem read_head();

    DumpHead head_;
    std::vector<DataPart> parts_;
    int file_ = -1;
};

}  // namespace canopy::dump
