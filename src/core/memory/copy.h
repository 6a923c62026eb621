// SPDX-License-Identifier: Apache-2.0
// Copies and fills: checks of addresses and directions, copies on the calling thread, and the commands for copies in a
// stream. Addresses decide the direction; the kind a program passes is a hint. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/device_address.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "device/command.h"

namespace canopy {

// Values of aclrtMemcpyKind.
enum class CopyKind : std::int32_t {
    host_to_host = 0,
    host_to_device = 1,
    device_to_host = 2,
    device_to_device = 3,
    automatic = 4,
    host_to_buffer_to_device = 5,  // the source may be changed or freed once the call returns
    inside_device = 6,
    between_devices = 7,
};

struct Copy {
    DeviceAddress destination{};
    std::size_t capacity = 0;
    DeviceAddress source{};
    std::size_t count = 0;
};

// Rows of `width` bytes; rows start one pitch apart.
struct RowCopy {
    DeviceAddress destination{};
    std::size_t destination_pitch = 0;
    DeviceAddress source{};
    std::size_t source_pitch = 0;
    std::size_t width = 0;
    std::size_t height = 0;
};

struct Fill {
    DeviceAddress destination{};
    std::size_t capacity = 0;  // bytes
    std::uint32_t value = 0;
    std::size_t count = 0;      // elements
    std::uint32_t element = 1;  // bytes per element: 1 or 4
};

// Copies before the call returns, after all runnable work on the current context's device has finished.
Status copy_now(const Copy& copy);
Status copy_now(const RowCopy& copy);
Status copy_now(std::span<const Copy> copies);  // already checked with check_batch_copy
Status fill_now(const Fill& fill);

// Copies in stream order. For memory that a device cannot access by itself, the call waits for its own copy.
Status copy_in_stream(const Copy& copy, CopyKind kind, const void* stream);
Status copy_in_stream(const RowCopy& copy, const void* stream);
Status copy_in_stream(std::span<const Copy> copies, const void* stream);
Status fill_in_stream(const Fill& fill, const void* stream);

// Checks one element of a batch; the whole batch has the same direction.
enum class BatchDirection : std::uint8_t { host_to_device, device_to_host };
Status check_batch_copy(const Copy& copy, BatchDirection direction, std::uint32_t device);

// Copies whose addresses are themselves in memory: *destination_slot + destination_offset, and so on. Slots in device
// memory are read when the stream reaches the copy.
struct IndirectCopy {
    DeviceAddress destination_slot{};
    std::size_t capacity = 0;
    std::size_t destination_offset = 0;
    DeviceAddress source_slot{};
    std::size_t count = 0;
    std::size_t source_offset = 0;
};
Status copy_in_stream(const IndirectCopy& copy, CopyKind kind, const void* stream);

// A copy within one device, described in device memory.
inline constexpr std::size_t copy_descriptor_size = 64;
Status write_copy_descriptor(DeviceAddress descriptor, DeviceAddress source, DeviceAddress destination,
                             std::size_t count);
Status copy_by_descriptor(DeviceAddress descriptor, const void* stream);

// Submits a memory command to a stream.
Status submit_to(const void* stream, Command& command);
// Fails a stream from inside work running on it; the next synchronisation reports it.
void fail_stream(Handle stream, int code, const char* what) noexcept;
// Submits a no-op that takes a place and a task number in the stream.
Status submit_nothing(const void* stream);

}  // namespace canopy
