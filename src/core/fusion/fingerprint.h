// SPDX-License-Identifier: Apache-2.0
// A hash of everything that determines the compiler's output; names entries in the cache of compiled code.
//
// Threads: one fingerprint belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace canopy {

class Fingerprint {
public:
    Fingerprint();
    ~Fingerprint();
    Fingerprint(const Fingerprint&) = delete;
    Fingerprint& operator=(const Fingerprint&) = delete;

    void add(std::span<const std::byte> bytes);
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    void add_number(std::uint64_t number) { add(std::as_bytes(std::span(&number, 1))); }
    // The features of this processor.
    void add_processor();
    // The compiler at that path as it is now (size and modification time).
    void add_compiler(const std::string& path);
    // This library as built.
    void add_runtime();

    // 32 hexadecimal digits.
    [[nodiscard]] std::string name() const;

private:
    void add_file(const std::string& path);

    struct State;
    const std::unique_ptr<State> state_;
};

}  // namespace canopy
