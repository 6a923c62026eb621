// SPDX-License-Identifier: Apache-2.0
// SoftCore: the memories and registers that a block gets when it opens its core. A core belongs to the fiber that runs
// the block, or to the executor for launches of one block, and the next blocks there reuse it.
//
// Threads: the registers are used by one thread at a time, and so are the memories, except that other cores of a group
// may write into them: the program orders that. describe_core_address may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "canopy/kernel_abi.h"

namespace canopy {

// Size in bytes of a memory on that architecture; 0 if it has none.
std::uint32_t core_memory_size(std::uint32_t architecture, CanopyMemory memory) noexcept;

class SoftCore {
public:
    // none: the memories have addresses, but cannot be read or written.
    enum class Access : std::uint8_t { usual, none };
    // nullptr: no memory.
    static std::unique_ptr<SoftCore> create(std::uint32_t architecture, Access access = Access::usual) noexcept;
    ~SoftCore();
    SoftCore(const SoftCore&) = delete;
    SoftCore& operator=(const SoftCore&) = delete;

    [[nodiscard]] std::uint32_t architecture() const noexcept { return architecture_; }
    // Clears the first registers; the other registers and the memories keep their contents.
    CanopyCore& open() noexcept;
    [[nodiscard]] CanopyCore& state() noexcept { return core_; }
    // As CanopyServices::block_memory; a block begins when it opens the core. nullptr: no memory.
    void* block_memory(const void* key, std::size_t size, std::size_t alignment, const void* initial) noexcept;
    // Describes an address that lies just outside one of its memories; else empty.
    [[nodiscard]] std::string describe(std::uintptr_t address) const;

private:
    // Kept for the next block that uses the key.
    struct Piece {
        struct Release {
            std::align_val_t alignment;
            void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }
        };
        const void* key = nullptr;
        std::size_t size = 0;
        std::unique_ptr<std::byte[], Release> memory;
        bool used = false;  // by the running block
    };

    SoftCore() = default;
    bool map(Access access) noexcept;

    CanopyCore core_{};
    std::uint32_t architecture_ = 0;
    std::byte* mapping_ = nullptr;
    std::size_t mapping_size_ = 0;
    std::vector<Piece> pieces_;
    SoftCore* next_ = nullptr;  // the list of all cores
    SoftCore* previous_ = nullptr;
    friend std::string describe_core_address(std::uintptr_t address);
};

// The same for all cores of the process.
std::string describe_core_address(std::uintptr_t address);

// Opens the core in `slot`; makes or replaces it first if there is none of that architecture. nullptr: no memory.
CanopyCore* open_core(std::unique_ptr<SoftCore>& slot, std::uint32_t architecture) noexcept;

}  // namespace canopy
