// SPDX-License-Identifier: Apache-2.0
// Copies and sets: checks of addresses and directions, the copy on the calling thread, and the commands of those that
// run in a stream. Addresses decide the direction; the kind a program names is a hint. All functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "core/base/handles.h"
#include "device/command.h"

namespace canopy {

// The numbers of aclrtMemcpyKind.
enum class CopyKind : std::int32_t {
    host_to_host = 0,
    host_to_device = 1,
    device_to_host = 2,
    device_to_device = 3,
    automatic = 4,
    host_to_buffer_to_device = 5,  // the source may be changed or freed when the call returns
    inside_device = 6,
    between_devices = 7,
};

struct Copy {
    void* destination = nullptr;
    std::size_t capacity = 0;
    const void* source = nullptr;
    std::size_t count = 0;
};

// Rows of `width` bytes, the beginnings of two rows a pitch apart.
struct RowCopy {
    void* destination = nullptr;
    std::size_t destination_pitch = 0;
    const void* source = nullptr;
    std::size_t source_pitch = 0;
    std::size_t width = 0;
    std::size_t height = 0;
};

struct Fill {
    void* destination = nullptr;
    std::size_t capacity = 0;  // bytes
    std::uint32_t value = 0;
    std::size_t count = 0;      // elements
    std::uint32_t element = 1;  // bytes of one: 1 or 4
};

// Copies on the calling thread, after everything in the current context that can run has finished.
Status copy_now(const Copy& copy);
Status copy_now(const RowCopy& copy);
Status copy_now(std::span<const Copy> copies);  // each one checked before the first byte moves
Status fill_now(const Fill& fill);

// Copies in the order of a stream. Memory a device cannot reach by itself makes the call wait for its own copy.
Status copy_in_stream(const Copy& copy, CopyKind kind, const void* stream);
Status copy_in_stream(const RowCopy& copy, const void* stream);
Status copy_in_stream(std::span<const Copy> copies, const void* stream);
Status fill_in_stream(const Fill& fill, const void* stream);

// Checks of one element of a batch; the direction is the same for the whole batch.
enum class BatchDirection : std::uint8_t { host_to_device, device_to_host };
Status check_batch_copy(const Copy& copy, BatchDirection direction, std::uint32_t device);

// Copies whose addresses lie in memory themselves: *destination_slot + destination_offset and so on. Slots in device
// memory are read when the stream reaches the copy.
struct IndirectCopy {
    void** destination_slot = nullptr;
    std::size_t capacity = 0;
    std::size_t destination_offset = 0;
    const void** source_slot = nullptr;
    std::size_t count = 0;
    std::size_t source_offset = 0;
};
Status copy_in_stream(const IndirectCopy& copy, CopyKind kind, const void* stream);

// A copy between two places of one device, described in device memory.
inline constexpr std::size_t copy_descriptor_size = 64;
Status write_copy_descriptor(void* descriptor, const void* source, void* destination, std::size_t count);
Status copy_by_descriptor(const void* descriptor, const void* stream);

// Puts a command of the memory functions into a stream.
Status submit_to(const void* stream, Command& command);
// Fails a stream from inside work that runs in it; the next synchronisation reports it.
void fail_stream(Handle stream, int code, const char* what) noexcept;
// A command without effect that has its place and number in the stream.
Status submit_nothing(const void* stream);

}  // namespace canopy
