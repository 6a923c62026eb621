// SPDX-License-Identifier: Apache-2.0
// Functions about shared objects whose values have a type that another argument decides.
#include <acl/acl.h>
#include <acl/acl_tdt.h>
#include <acl/acl_tdt_queue.h>

#include "special.h"
#include "structures.h"

namespace canopy::python {

CANOPY_PYTHON_FUNCTION(rt_mem_export_to_shareable_handle_v2) {
    (void)module;
    const Call call{"acl.rt.mem_export_to_shareable_handle_v2", arguments, count};
    Handle<aclrtDrvMemHandle> memory;
    Number<std::uint64_t> flags;
    Number<aclrtMemSharedHandleType> type;
    if (!call.takes(3) || !memory.read(call, 0, "handle") || !flags.read(call, 1, "flags") ||
        !type.read(call, 2, "share_type"))
        return nullptr;
    union {
        aclrtMemFabricHandle fabric;
        std::uint64_t number;
    } shared{};
    const aclError ret =
        released([&] { return aclrtMemExportToShareableHandleV2(memory.value, flags.value, type.value, &shared); });
    if (type.value != ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) return answer(shared.number, ret);
    return answer(
        PyBytes_FromStringAndSize(reinterpret_cast<const char*>(shared.fabric.data), sizeof shared.fabric.data), ret);
}

CANOPY_PYTHON_FUNCTION(tdt_set_queue_attr) {
    (void)module;
    const Call call{"acl.tdt.set_queue_attr", arguments, count};
    Handle<acltdtQueueAttr*> attributes;
    Number<acltdtQueueAttrType> type;
    Text name;
    Number<std::uint32_t> depth;
    if (!call.takes(3) || !attributes.read(call, 0, "attr") || !type.read(call, 1, "type")) return nullptr;
    if (PyUnicode_Check(arguments[2]) ? !name.read(call, 2, "value") : !depth.read(call, 2, "value")) return nullptr;
    // The runtime would take a number for the address of a name.
    if ((type.value == ACL_TDT_QUEUE_NAME_PTR) != (name.value != nullptr)) {
        refuse_type(call, 2, "value", name.value ? "an int unless type is 0" : "a str if type is 0");
        return nullptr;
    }
    const aclError ret = released([&] {
        return name.value ? acltdtSetQueueAttr(attributes.value, type.value, sizeof name.value, &name.value)
                          : acltdtSetQueueAttr(attributes.value, type.value, sizeof depth.value, &depth.value);
    });
    return answer(ret);
}

CANOPY_PYTHON_FUNCTION(tdt_get_queue_attr) {
    (void)module;
    const Call call{"acl.tdt.get_queue_attr", arguments, count};
    Handle<acltdtQueueAttr*> attributes;
    Number<acltdtQueueAttrType> type;
    if (!call.takes(2) || !attributes.read(call, 0, "attr") || !type.read(call, 1, "type")) return nullptr;
    const char* name = nullptr;
    std::uint32_t depth = 0;
    std::size_t size = 0;
    const bool text = type.value == ACL_TDT_QUEUE_NAME_PTR;
    // The name lies in the attributes: no other thread may destroy them before it has been copied.
    const aclError ret = acltdtGetQueueAttr(attributes.value, type.value, text ? sizeof name : sizeof depth, &size,
                                            text ? static_cast<void*>(&name) : &depth);
    if (ret != ACL_SUCCESS || text) return answer(name, ret);
    return answer(depth, ret);
}

CANOPY_PYTHON_FUNCTION(tdt_get_dims_from_item) {
    (void)module;
    const Call call{"acl.tdt.get_dims_from_item", arguments, count};
    Handle<acltdtDataItem*> item;
    Number<std::size_t> room;
    if (!call.takes(2) || !item.read(call, 0, "data_item") || !room.read(call, 1, "dim_num")) return nullptr;
    constexpr std::size_t most = 128;
    if (room.value > most) {
        refuse(PyExc_ValueError, call, 1, "dim_num", "is above %zu", most);
        return nullptr;
    }
    std::int64_t dims[most] = {};
    std::size_t number = 0;
    const aclError ret = released([&] {
        number = acltdtGetDimNumFromItem(item.value);
        return acltdtGetDimsFromItem(item.value, room.value ? dims : nullptr, room.value);
    });
    return answer(list_of(dims, ret == ACL_SUCCESS && number <= room.value ? number : 0), ret);
}

}  // namespace canopy::python
