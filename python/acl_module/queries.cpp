// SPDX-License-Identifier: Apache-2.0
// Queries that return a list, or whose result type depends on the arguments.
#include <acl/acl.h>
#include <acl/acl_prof.h>

#include "special.h"
#include "structures.h"

namespace canopy::python {

namespace {

using LengthFunction = aclError (*)(const void*, std::size_t, std::uint32_t, std::size_t*);
using TextFunction = aclError (*)(const void*, std::size_t, std::uint32_t, char*, std::size_t);

// A string about a profiled operator, with the length that the interface reports for it.
PyObject* operator_text(const Call& call, LengthFunction length_of, TextFunction text_of) {
    Source info;
    Number<std::size_t> size;
    Number<std::uint32_t> index;
    if (!call.takes(3) || !info.read(call, 0, "op_info") || !size.read(call, 1, "len") ||
        !index.read(call, 2, "index") || !info.holds(call, 0, "op_info", size.value))
        return nullptr;
    std::vector<char> text;
    const aclError ret = released([&] {
        std::size_t length = 0;
        const aclError first = length_of(info.value, size.value, index.value, &length);
        if (first != ACL_SUCCESS) return first;
        text.resize(length + 1);
        return text_of(info.value, size.value, index.value, text.data(), length);
    });
    return answer(ret == ACL_SUCCESS ? static_cast<const char*>(text.data()) : nullptr, ret);
}

}  // namespace

CANOPY_PYTHON_FUNCTION(acl_get_cann_attribute_list) {
    (void)module;
    const Call call{"acl.get_cann_attribute_list", arguments, count};
    if (!call.takes(0)) return nullptr;
    const aclCannAttr* attributes = nullptr;
    std::size_t number = 0;
    const aclError ret = aclGetCannAttributeList(&attributes, &number);
    if (ret != ACL_SUCCESS) number = 0;
    return answer(list_of(attributes, number), number, ret);
}

CANOPY_PYTHON_FUNCTION(rt_get_stream_attribute) {
    (void)module;
    const Call call{"acl.rt.get_stream_attribute", arguments, count};
    Handle<aclrtStream> stream;
    Number<aclrtStreamAttr> type;
    if (!call.takes(2) || !stream.read(call, 0, "stream") || !type.read(call, 1, "attr_type")) return nullptr;
    aclrtStreamAttrValue value{};
    const aclError ret = released([&] { return aclrtGetStreamAttribute(stream.value, type.value, &value); });
    return answer(ret == ACL_SUCCESS ? to_python(type.value, value) : PyDict_New(), ret);
}

CANOPY_PYTHON_FUNCTION(rt_get_mem_uce_info) {
    (void)module;
    const Call call{"acl.rt.get_mem_uce_info", arguments, count};
    Number<std::int32_t> device;
    Number<std::uint32_t> room;
    if (!call.takes(2) || !device.read(call, 0, "device_id") || !room.read(call, 1, "array_size")) return nullptr;
    constexpr std::uint32_t most = 65536;
    if (room.value > most) {
        refuse(PyExc_ValueError, call, 1, "array_size", "is above %u", most);
        return nullptr;
    }
    std::vector<aclrtMemUceInfo> ranges(room.value);
    std::size_t found = 0;
    const aclError ret =
        released([&] { return aclrtGetMemUceInfo(device.value, ranges.data(), ranges.size(), &found); });
    if (ret != ACL_SUCCESS || found > ranges.size()) found = 0;
    return answer(list_of(ranges.data(), found), ret);
}

CANOPY_PYTHON_FUNCTION(rt_get_group_info_detail) {
    (void)module;
    const Call call{"acl.rt.get_group_info_detail", arguments, count};
    Handle<void*> groups;
    Number<std::int32_t> group;
    Number<aclrtGroupAttr> attribute;
    if (!call.takes(3) || !groups.read(call, 0, "handle") || !group.read(call, 1, "group_id") ||
        !attribute.read(call, 2, "attr"))
        return nullptr;
    std::int32_t values[64] = {};
    std::size_t bytes = 0;
    const aclError ret = released([&] {
        return aclrtGetGroupInfoDetail(static_cast<const aclrtGroupInfo*>(groups.value), group.value, attribute.value,
                                       values, sizeof values, &bytes);
    });
    if (ret != ACL_SUCCESS) return PyErr_Format(PyExc_RuntimeError, "%s failed with code %d", call.name, ret);
    return answer(list_of(values, bytes > sizeof values ? 64 : bytes / sizeof values[0]), ret);
}

CANOPY_PYTHON_FUNCTION(prof_get_op_type_v2) {
    (void)module;
    return operator_text({"acl.prof.get_op_type_v2", arguments, count}, &aclprofGetOpTypeLen, &aclprofGetOpType);
}

CANOPY_PYTHON_FUNCTION(prof_get_op_name_v2) {
    (void)module;
    return operator_text({"acl.prof.get_op_name_v2", arguments, count}, &aclprofGetOpNameLen, &aclprofGetOpName);
}

}  // namespace canopy::python
