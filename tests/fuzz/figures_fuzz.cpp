// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the reader of figures of other processes, with a checksum that fits: what it accepts must be
// safe to show.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "foundation/hash.h"
#include "watch/processes.h"

namespace {

using namespace canopy::watch;

bool is_text(const char* field, std::size_t size) {
    const char* end = std::find(field, field + size, '\0');
    return end != field + size && std::all_of(field, end, [](char letter) { return letter >= 0x20 && letter < 0x7F; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    auto page = std::make_unique<std::array<char, page_size>>();
    std::memcpy(page->data(), data, std::min(size, page_size));
    std::uint32_t length = 0;
    std::memcpy(&length, page->data() + offsetof(PageHeader, length), sizeof length);
    if (length <= page_size - sizeof(PageHeader)) {
        const auto bytes = std::as_bytes(std::span(*page)).subspan(sizeof(PageHeader), length);
        const std::uint64_t checksum = canopy::hash_of(bytes);
        std::memcpy(page->data() + offsetof(PageHeader, checksum), &checksum, sizeof checksum);
    }
    Device device;
    if (!decode_page(*page, device)) return 0;
    if (device.streams.size() > most_streams || device.running.size() > most_running) std::abort();
    if (!is_text(device.figures.kind, sizeof device.figures.kind)) std::abort();
    if (!is_text(device.figures.chip, sizeof device.figures.chip)) std::abort();
    for (const RunningFigures& running : device.running) {
        if (!is_text(running.name, sizeof running.name)) std::abort();
        if (static_cast<std::size_t>(running.unit) >= units) std::abort();
    }
    for (const StreamFigures& stream : device.streams)
        if (stream.completed > stream.submitted || static_cast<std::size_t>(stream.state) >= stream_states)
            std::abort();
    return 0;
}
