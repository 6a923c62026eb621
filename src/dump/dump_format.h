// SPDX-License-Identifier: Apache-2.0
// The form of a dump file: the length of its head (64 bits, little-endian), the head, a DumpData message in protobuf's
// encoding, then the bytes of the inputs, outputs, buffers and workspaces, in this order and without gaps.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foundation/problem.h"

namespace canopy::dump {

// An input or an output.
struct Tensor {
    std::int32_t data_type = 0;  // of the file, see elements.h; 0: unknown
    std::int32_t format = 2;     // an aclFormat; 2: ND
    std::vector<std::uint64_t> shape;
    std::vector<std::uint64_t> original_shape;
    std::uint64_t size = 0;  // bytes
    std::uint64_t address = 0;
    std::uint64_t offset = 0;          // of the address in its allocation
    std::uint32_t argument_index = 0;  // of the kernel's parameter that points there
};

// A buffer or a workspace.
struct Space {
    std::uint32_t type = 0;
    std::uint64_t size = 0;
    std::uint32_t argument_index = 0;
};

struct Attribute {
    std::string name, value;
};

struct DumpHead {
    std::string version = "2.0";
    std::uint64_t time = 0;  // microseconds of unix time
    std::string operator_name;
    std::vector<Tensor> inputs, outputs;
    std::vector<Space> buffers, workspaces;
    std::vector<Attribute> attributes;
    std::string message;
};

inline constexpr std::size_t length_size = 8;  // of the length in front of the head
inline constexpr std::uint64_t largest_head = std::uint64_t{16} << 20;
// A head that lists more is refused: a short one could ask for much memory.
inline constexpr std::size_t most_parts = 4096;
inline constexpr std::size_t most_dimensions = 32;  // as numpy

// The head as it stands in a file, with its length in front.
std::string encode(const DumpHead& head);

// Reads the bytes of a head, without the length. Unknown fields are skipped.
Expected<DumpHead> decode(std::span<const std::byte> bytes);

// The bytes behind the head; UINT64_MAX if the sizes add up to more than 64 bits hold.
std::uint64_t data_size(const DumpHead& head) noexcept;

}  // namespace canopy::dump
