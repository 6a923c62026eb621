// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the reader of dump heads: it must refuse them, or return a head that can be written and read
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "dump/dump_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace dump = canopy::dump;
    const auto read = dump::decode(std::as_bytes(std::span(data, size)));
    if (!read.ok()) return 0;
    const std::string written = dump::encode(read.value());
    const auto again = dump::decode(std::as_bytes(std::span(written)).subspan(dump::length_size));
    if (!again.ok() || dump::encode(again.value()) != written) std::abort();
    if (dump::data_size(again.value()) != dump::data_size(read.value())) std::abort();
    return 0;
}
