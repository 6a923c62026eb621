// SPDX-License-Identifier: Apache-2.0
// The file with the figures of this process: made when its first device is opened, locked as long as it lives, removed
// when it ends. Other programs of the user read it (processes.h).
//
// Threads: any; each page takes its own lock.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foundation/mutex.h"
#include "foundation/problem.h"
#include "watch/figures.h"

namespace canopy::watch {

// The part of one device.
class DevicePage {
public:
    DevicePage(void* memory, std::uint32_t index, std::uint32_t physical) noexcept;

    // Replaces what readers see. `device` gets the numbers of the device.
    void publish(DeviceFigures& device, std::span<const StreamFigures> streams,
                 std::span<const RunningFigures> running) noexcept;
    void set_memory(std::uint64_t used, std::uint64_t peak, std::uint64_t allocations) noexcept;

private:
    [[nodiscard]] PageHeader& header() const noexcept { return *reinterpret_cast<PageHeader*>(page_); }
    // False in a forked child, where the memory is not mapped.
    [[nodiscard]] bool is_here() const noexcept;
    char* const page_;
    const std::uint32_t index_, physical_;
    const std::uint32_t forks_;  // of the process before it was made
    Mutex mutex_;
};

class FiguresFile {
public:
    // In the run folder. `name` is that of the program.
    static Expected<std::unique_ptr<FiguresFile>> create(std::string_view name);
    ~FiguresFile();
    FiguresFile(const FiguresFile&) = delete;
    FiguresFile& operator=(const FiguresFile&) = delete;

    // nullptr if the file system has no room. The page lives as long as the process.
    DevicePage* add_device(std::uint32_t index, std::uint32_t physical) noexcept;
    [[nodiscard]] int process() const noexcept { return process_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // Removes the name. The pages stay usable.
    void remove() noexcept;

private:
    FiguresFile(int descriptor, std::string path) noexcept;
    const int descriptor_;
    std::string path_;
    const int process_;  // that made it: a forked child must leave the file alone
    std::uint32_t devices_ = 0;
};

}  // namespace canopy::watch
