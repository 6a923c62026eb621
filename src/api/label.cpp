// SPDX-License-Identifier: Apache-2.0
// Labels and jumps to them.
#include "core/graph/label.h"

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/graph/graph_build.h"
#include "core/memory/memory.h"
#include "core/process/context.h"

using namespace canopy;

aclError aclrtCreateLabel(aclrtLabel* label) {
    return api([&]() -> Status {
        CANOPY_TRY(required(label, "label"));
        Result<Handle> handle = create_label();
        if (!handle.ok()) return handle.status();
        *label = opaque_of(*handle);
        return {};
    });
}

aclError aclrtDestroyLabel(aclrtLabel label) {
    return api([&]() -> Status {
        CANOPY_TRY(required(label, "label"));
        return destroy_label(label);
    });
}

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(label, "label"));
        CANOPY_TRY(required(stream, "stream"));
        Result<Pin<Label>> pinned = find_label(label);
        if (!pinned.ok()) return pinned.status();
        return place_label(**pinned, stream);
    });
}

aclError aclrtCreateLabelList(aclrtLabel* labels, size_t num, aclrtLabelList* labelList) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(labels, "labels"));
        CANOPY_TRY(required(labelList, "labelList"));
        if (num == 0 || num > max_labels)
            return fail(code::param_invalid, "num {} is not between 1 and {}", num, max_labels);
        Result<Handle> handle = create_label_list({labels, num});
        if (!handle.ok()) return handle.status();
        *labelList = opaque_of(*handle);
        return {};
    });
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(labelList, "labelList"));
        return destroy_label_list(labelList);
    });
}

aclError aclrtSwitchLabelByIndex(void* ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        CANOPY_TRY(required(labelList, "labelList"));
        CANOPY_TRY(required(stream, "stream"));
        Result<Pin<LabelList>> list = find_label_list(labelList);
        if (!list.ok()) return list.status();
        CANOPY_TRY(require_context());
        Result<MemoryPlace> place = usable_place(device_address(ptr), sizeof(std::uint32_t), "ptr");
        if (!place.ok()) return place.status();
        if (place->pageable() || reinterpret_cast<std::uintptr_t>(ptr) % sizeof(std::uint32_t) != 0)
            return fail(code::param_invalid, "ptr {} is not a 32-bit word in device memory", as_address(ptr));
        return record_jump(device_address(ptr), maxValue, **list, stream);
    });
}
