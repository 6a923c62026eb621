// SPDX-License-Identifier: Apache-2.0
// Labels: positions in streams recorded for a graph, and lists of labels that a jump selects from. A jump may name a
// label that is not placed yet; labels are resolved when the build of the graph ends (graph_build.h).
//
// Threads: everything from any thread. Label::lock is taken last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"

namespace canopy {

inline constexpr std::uint32_t max_labels = 65535;

class Label {
public:
    Handle self = 0;
    Handle context = 0;

    SpinLock lock;
    Handle stream CANOPY_GUARDED_BY(lock) = 0;           // where it is placed; 0: not placed yet
    std::uint32_t position CANOPY_GUARDED_BY(lock) = 0;  // index of its task in the stream

    void recycle() noexcept;
};

class LabelList {
public:
    Handle self = 0;
    std::vector<Handle> labels;  // never changes

    void recycle() noexcept;
};

// In the thread's current context. 207005 if there are 65535 already.
Result<Handle> create_label();
// 107017 if it is not a live label, 507031 if it does not belong to the thread's current context.
Result<Pin<Label>> find_label(const void* label);
Status destroy_label(const void* label);

// 107017 if one of them is not a live label.
Result<Handle> create_label_list(std::span<void* const> labels);
Result<Pin<LabelList>> find_label_list(const void* list);
Status destroy_label_list(const void* list);

}  // namespace canopy
