// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/cpu/cpu_loading_kernels.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/kernel/cpu/cpu_images.h"
#include "core/memory/memory.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::string_view load_one = "loadOpFromBuf", load_many = "batchLoadsoFrombuf", forget_many = "deleteCustOp";
constexpr std::uint32_t most_objects = 1024;

struct [[gnu::packed]] Record {
    std::uint64_t bytes;
    std::uint32_t size;
    std::uint64_t name;
    std::uint32_t name_size;
};
static_assert(sizeof(Record) == 24);

struct Loaded {
    Mutex mutex;
    std::map<std::string, std::uint64_t, std::less<>> numbers CANOPY_GUARDED_BY(mutex);  // registration numbers
};
Loaded& loaded() { return process_state<Loaded>(); }

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

// A copy of bytes in device memory.
Result<std::vector<std::byte>> device_bytes(DeviceAddress address, std::size_t size, const char* what) {
    Result<MemoryPlace> place = usable_place(address, size, what);
    if (!place.ok()) return place.status();
    if (!address || size == 0 || place->kind == MemoryKind::unknown)
        return fail(code::param_invalid, "{}: {} is not the address of {} bytes of device memory", what, address, size);
    std::vector<std::byte> bytes(size);
    CANOPY_TRY(read_device(bytes.data(), address, size));
    return bytes;
}

// The records of a batch. Their address follows the count directly, or at the next aligned offset.
Result<std::vector<std::byte>> records_of(std::string_view kernel, std::span<const std::byte> arguments) {
    constexpr std::size_t packed = 4, aligned = 8, word = 8;
    if (arguments.size() < packed + word)
        return fail(code::param_invalid, "{} needs a count and an address; it got {} bytes", kernel, arguments.size());
    const auto count = value_at<std::uint32_t>(arguments, 0);
    if (count == 0 || count > most_objects)
        return fail(code::param_invalid, "{}: {} objects; 1 to {} can be named", kernel, count, most_objects);
    auto address = value_at<DeviceAddress>(arguments, packed);
    const bool known = classify(address).kind != MemoryKind::unknown;
    if (!known && arguments.size() >= aligned + word) address = value_at<DeviceAddress>(arguments, aligned);
    return device_bytes(address, count * sizeof(Record), "the records of the objects");
}

Result<std::string> name_of(const Record& record) {
    Result<std::vector<std::byte>> bytes =
        device_bytes(DeviceAddress(record.name), record.name_size, "the name of the object");
    if (!bytes.ok()) return bytes.status();
    const auto* text = reinterpret_cast<const char*>(bytes->data());
    return std::string(text, strnlen(text, bytes->size()));
}

Status load(const Record& record) {
    Result<std::string> name = name_of(record);
    if (!name.ok()) return name.status();
    Result<std::vector<std::byte>> bytes =
        device_bytes(DeviceAddress(record.bytes), record.size, "the bytes of the object");
    if (!bytes.ok()) return bytes.status();
    auto copy = std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
    Loaded& all = loaded();
    MutexLock guard(all.mutex);
    std::uint64_t& number = all.numbers[*name];
    const std::uint64_t replaced = std::exchange(number, register_cpu_image(*name, std::move(copy)));
    if (replaced != 0) unregister_cpu_image(replaced);
    return {};
}

Status forget(const Record& record) {
    Result<std::string> name = name_of(record);
    if (!name.ok()) return name.status();
    Loaded& all = loaded();
    MutexLock guard(all.mutex);
    const auto found = all.numbers.find(*name);
    if (found == all.numbers.end()) return fail(code::param_invalid, "no shared object {} was loaded", *name);
    unregister_cpu_image(found->second);
    all.numbers.erase(found);
    return {};
}

}  // namespace

bool is_loading_kernel(std::string_view name) noexcept {
    return name == load_one || name == load_many || name == forget_many;
}

Status run_loading_kernel(std::string_view name, std::span<const std::byte> arguments) {
    if (name == load_one) {
        if (arguments.size() < sizeof(Record))
            return fail(code::param_invalid, "{} needs a record of {} bytes; it got {}", name, sizeof(Record),
                        arguments.size());
        return load(value_at<Record>(arguments, 0));
    }
    Result<std::vector<std::byte>> records = records_of(name, arguments);
    if (!records.ok()) return records.status();
    for (std::size_t at = 0; at < records->size(); at += sizeof(Record)) {
        const auto record = value_at<Record>(*records, at);
        CANOPY_TRY(name == load_many ? load(record) : forget(record));
    }
    return {};
}

}  // namespace canopy
