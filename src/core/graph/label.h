// SPDX-License-Identifier: Apache-2.0
// Labels: places in streams that are recorded for a graph, and lists of them that a jump chooses from. A jump may name
// a label that is not placed yet; both meet when the building of the graph ends (graph_build.h).
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
    Handle stream CANOPY_GUARDED_BY(lock) = 0;           // it is placed in; 0: nowhere yet
    std::uint32_t position CANOPY_GUARDED_BY(lock) = 0;  // of its task among those of the stream

    void recycle() noexcept;
};

class LabelList {
public:
    Handle self = 0;
    std::vector<Handle> labels;  // never changes

    void recycle() noexcept;
};

// In the thread's current context. 207005 when there are 65535.
Result<Handle> create_label();
// 107017 when it is not a live label, 507031 when it belongs to another context than the thread's current one.
Result<Pin<Label>> find_label(const void* label);
Status destroy_label(const void* label);

// 107017 when one of them is not a live label.
Result<Handle> create_label_list(std::span<void* const> labels);
Result<Pin<LabelList>> find_label_list(const void* list);
Status destroy_label_list(const void* list);

}  // namespace canopy
