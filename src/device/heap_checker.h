// SPDX-License-Identifier: Apache-2.0
// HeapChecker: the Checker of a device whose memory is a Heap.
#pragma once

#include <cstddef>
#include <string>

#include "base/heap.h"
#include "device/driver.h"

namespace canopy {

class HeapChecker final : public Checker {
public:
    // `distance`: from the heap's addresses to those of the device.
    explicit HeapChecker(Heap& heap, std::ptrdiff_t distance = 0) noexcept : heap_(heap), distance_(distance) {}
    bool damaged(std::string& what) noexcept override {
        try {
            std::optional<CheckFinding> finding = heap_.check();
            if (!finding) return false;
            finding->base = static_cast<std::byte*>(finding->base) + distance_;
            what = finding->describe();
            return true;
        } catch (...) {
            return false;
        }
    }
    std::string describe(std::uintptr_t address) noexcept override {
        try {
            return heap_.describe(reinterpret_cast<const void*>(address - static_cast<std::uintptr_t>(distance_)));
        } catch (...) {
            return {};
        }
    }
    [[nodiscard]] bool enabled() const noexcept override { return heap_.checking(); }

private:
    Heap& heap_;
    const std::ptrdiff_t distance_;
};

}  // namespace canopy
