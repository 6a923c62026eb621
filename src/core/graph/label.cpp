// SPDX-License-Identifier: Apache-2.0
#include "core/graph/label.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/process/context.h"
#include "core/process/runtime.h"

namespace canopy {

void Label::recycle() noexcept {
    self = context = 0;
    SpinGuard guard(lock);
    stream = 0;
    position = 0;
}

void LabelList::recycle() noexcept {
    self = 0;
    labels = {};
}

Result<Handle> create_label() {
    CANOPY_TRY(require_context());
    HandleTable<Label>& table = Runtime::instance().labels;
    Handle handle = 0;
    if (table.live() < max_labels)
        handle = table.open([](Label& label, Handle self) {
            label.self = self;
            label.context = thread_state.context;
        });
    if (handle == 0) return fail(code::resource_alloc, "there are already {} labels, the maximum", max_labels);
    return handle;
}

Result<Pin<Label>> find_label(const void* opaque) {
    CANOPY_TRY(require_context());
    Pin<Label> label = Runtime::instance().labels.pin(handle_of(opaque));
    if (!label)
        return fail(code::invalid_handle,
                    "label {} is not a live label: never created, destroyed, or another kind of handle",
                    as_address(opaque));
    if (label->context != thread_state.context)
        return fail(code::label_context, "label {} belongs to another context, not the thread's current one",
                    as_address(opaque));
    return label;
}

Status destroy_label(const void* opaque) {
    Result<Pin<Label>> label = find_label(opaque);
    if (!label.ok()) return label.status();
    if (!Runtime::instance().labels.close((*label)->self))
        return fail(code::invalid_handle, "label {} was already destroyed", as_address(opaque));
    return {};
}

Result<Handle> create_label_list(std::span<void* const> labels) {
    CANOPY_TRY(require_context());
    std::vector<Handle> handles;
    handles.reserve(labels.size());
    for (const void* opaque : labels) {
        Result<Pin<Label>> label = find_label(opaque);
        if (!label.ok()) return label.status();
        handles.push_back((*label)->self);
    }
    const Handle handle = Runtime::instance().label_lists.open([&](LabelList& list, Handle self) {
        list.self = self;
        list.labels = std::move(handles);
    });
    if (handle == 0) return fail(code::resource_alloc, "too many label lists are alive");
    return handle;
}

Result<Pin<LabelList>> find_label_list(const void* opaque) {
    Pin<LabelList> list = Runtime::instance().label_lists.pin(handle_of(opaque));
    if (!list)
        return fail(code::invalid_handle,
                    "label list {} is not a live label list: never created, destroyed, or another kind of handle",
                    as_address(opaque));
    return list;
}

Status destroy_label_list(const void* opaque) {
    if (!Runtime::instance().label_lists.close(handle_of(opaque)))
        return fail(code::invalid_handle, "label list {} is not a live label list", as_address(opaque));
    return {};
}

}  // namespace canopy
