// SPDX-License-Identifier: Apache-2.0
#include "core/process/visible_figures.h"

#include <errno.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <utility>

#include "device/device.h"
#include "watch/figures_file.h"

namespace canopy {
namespace {

std::atomic<watch::FiguresFile*> file{nullptr};  // never destroyed: devices write to its pages to the end

// A process that was killed leaves its file to the next reader, which removes it.
[[gnu::destructor]] void remove_file() {
    if (watch::FiguresFile* made = file.load(std::memory_order_acquire)) made->remove();
}

watch::FiguresFile* file_of_this_process() {
    watch::FiguresFile* made = file.load(std::memory_order_acquire);
    if (made && made->process() == getpid()) return made;
    Expected<std::unique_ptr<watch::FiguresFile>> created = watch::FiguresFile::create(program_invocation_short_name);
    if (!created.ok()) return nullptr;
    made = created->release();
    file.store(made, std::memory_order_release);
    return made;
}

}  // namespace

void show_figures(Device& device, std::uint32_t index, std::uint32_t physical) noexcept {
    try {
        watch::FiguresFile* made = file_of_this_process();
        watch::DevicePage* page = made ? made->add_device(index, physical) : nullptr;
        if (page) device.show_on(*page);
    } catch (...) {  // no memory: nobody sees this device
    }
}

}  // namespace canopy
