// SPDX-License-Identifier: Apache-2.0
// A name for everything that decides what the compiler makes, for things that are kept in the cache of compiled code.
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
    // What this processor can do.
    void add_processor();
    // The compiler at that path as it is now.
    void add_compiler(const std::string& path);
    // This library as it was built.
    void add_runtime();

    // 32 hexadecimal digits.
    [[nodiscard]] std::string name() const;

private:
    void add_file(const std::string& path);

    struct State;
    const std::unique_ptr<State> state_;
};

}  // namespace canopy
