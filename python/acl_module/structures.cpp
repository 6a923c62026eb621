// SPDX-License-Identifier: Apache-2.0
#include "structures.h"

#include <cstring>

namespace canopy::python {

namespace {

// The argument that contains a dict, for error messages.
struct Place {
    const Call& call;
    Py_ssize_t index;
    const char* name;
};

enum class Presence { required, optional };

bool refuse(const Place& place, const char* format, const char* detail) {
    return refuse(PyExc_ValueError, place.call, place.index, place.name, format, detail);
}

// The number under `key`; 0 if it is optional and missing.
template <class T>
bool read_entry(const Place& place, PyObject* dict, const char* key, T& value, Presence presence = Presence::optional) {
    PyObject* item = PyDict_GetItemString(dict, key);
    if (!item) {
        value = {};
        return presence == Presence::optional || refuse(place, "lacks \"%s\"", key);
    }
    const Call call{place.call.name, &item, 1, place.index};
    std::conditional_t<std::is_pointer_v<T>, Handle<T>, Number<T>> number;
    if (!number.read(call, 0, key)) return false;
    value = number.value;
    return true;
}

// Reads every element of a list of dicts with `read(dict, element)`.
template <class T, class Read>
bool read_dicts(PyObject* list, std::vector<T>& items, Read read) {
    const Py_ssize_t length = PyList_Size(list);
    for (Py_ssize_t i = 0; i < length; ++i) {
        PyObject* item = PyList_GetItem(list, i);
        if (!item) return false;
        T element{};
        if (!read(item, element)) return false;
        items.push_back(element);
    }
    return true;
}

bool is_dict(const Place& place, PyObject* item) {
    if (PyDict_Check(item)) return true;
    const Call call{place.call.name, &item, 1, place.index};
    return refuse_type(call, 0, place.name, "a list of dicts");
}

bool is_list(const Place& place) {
    return PyList_Check(place.call.arguments[place.index]) ||
           refuse_type(place.call, place.index, place.name, "a list");
}

// The value of an attribute: a number, or a dict whose only entry is that number, {"schemMode": 1}.
template <class T>
bool read_value(const Place& place, PyObject* dict, T& value) {
    PyObject* item = PyDict_GetItemString(dict, "value");
    if (!item) return refuse(place, "lacks \"%s\"", "value");
    if (PyDict_Check(item) && PyDict_Size(item) == 1) {
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        PyDict_Next(item, &position, &key, &item);
    }
    const Call call{place.call.name, &item, 1, place.index};
    Number<T> number;
    if (!number.read(call, 0, "value")) return false;
    value = number.value;
    return true;
}

// Puts a name and a value into a dict; takes over the reference to the value.
bool put(PyObject* dict, const char* name, PyObject* value) {
    const bool good = value && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return good;
}

PyObject* dict_or_null(PyObject* dict, bool whole) {
    if (whole) return dict;
    Py_XDECREF(dict);
    return nullptr;
}

}  // namespace

bool MallocConfig::read(const Call& call, Py_ssize_t index, const char* name) {
    const Place place{call, index, name};
    PyObject* dict = call.arguments[index];
    if (!PyDict_Check(dict)) return refuse_type(call, index, name, "a dict");
    if (PyDict_Size(dict) == 0) return true;
    PyObject* list = PyDict_GetItemString(dict, "attrs");
    if (!list) return refuse(place, "lacks \"%s\"", "attrs");
    if (!PyList_Check(list)) return refuse(place, "has \"%s\" that is not a list", "attrs");
    const bool good = read_dicts(list, attributes_, [&](PyObject* item, aclrtMallocAttribute& attribute) {
        if (!is_dict(place, item) || !read_entry(place, item, "attr", attribute.attr, Presence::required)) return false;
        return attribute.attr == ACL_RT_MEM_ATTR_MODULE_ID ? read_value(place, item, attribute.value.moduleId)
                                                           : read_value(place, item, attribute.value.deviceId);
    });
    std::size_t count = attributes_.size();
    if (!good || (PyDict_GetItemString(dict, "numAttrs") && !read_entry(place, dict, "numAttrs", count))) return false;
    if (count > attributes_.size()) return refuse(place, "has a \"%s\" above the length of its attrs", "numAttrs");
    config_ = {attributes_.data(), count};
    value = &config_;
    return true;
}

bool PhysicalProperties::read(const Call& call, Py_ssize_t index, const char* name) {
    const Place place{call, index, name};
    PyObject* dict = call.arguments[index];
    if (!PyDict_Check(dict)) return refuse_type(call, index, name, "a dict");
    PyObject* location = PyDict_GetItemString(dict, "location");
    if (!location || !PyDict_Check(location)) return refuse(place, "lacks \"%s\", a dict with id and type", "location");
    return read_entry(place, dict, "handleType", properties_.handleType) &&
           read_entry(place, dict, "allocationType", properties_.allocationType) &&
           read_entry(place, dict, "memAttr", properties_.memAttr) &&
           read_entry(place, location, "id", properties_.location.id) &&
           read_entry(place, location, "type", properties_.location.type) &&
           read_entry(place, dict, "reserve", properties_.reserve);
}

bool StreamAttribute::read(const Call& call, Py_ssize_t index, const char* name) {
    const Place place{call, index, name};
    PyObject* dict = call.arguments[index];
    if (!PyDict_Check(dict)) return refuse_type(call, index, name, "a dict");
    const auto has = [&](const char* key) { return PyDict_GetItemString(dict, key) != nullptr; };
    if (has("failureMode")) return read_entry(place, dict, "failureMode", attribute_.failureMode);
    for (const char* key : {"overflowSwitch", "userCustomTag", "cacheOpInfoSwitch", "streamPriority"})
        if (has(key)) return read_entry(place, dict, key, attribute_.overflowSwitch);
    PyObject* list = PyDict_GetItemString(dict, "reserved");
    if (!list || !PyList_Check(list) || PyList_Size(list) > 4)
        return refuse(place, "has none of the entries %s",
                      "failureMode, overflowSwitch, userCustomTag, cacheOpInfoSwitch, streamPriority, reserved");
    for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
        PyObject* item = PyList_GetItem(list, i);
        Number<std::uint32_t> number;
        if (!number.read(Call{call.name, &item, 1, index}, 0, "reserved")) return false;
        attribute_.reserve[i] = number.value;
    }
    return true;
}

bool LoadOptions::read(const Call& call, Py_ssize_t index, const char* name) {
    const Place place{call, index, name};
    if (!is_list(place)) return false;
    if (!read_dicts(call.arguments[index], options_, [&](PyObject* item, aclrtBinaryLoadOption& option) {
            return is_dict(place, item) && read_entry(place, item, "type", option.type, Presence::required) &&
                   read_value(place, item, option.value.magic);
        }))
        return false;
    list_ = {options_.data(), options_.size()};
    if (!options_.empty()) value = &list_;
    return true;
}

bool LaunchConfig::read_attributes(const Call& call, Py_ssize_t index, const char* name) {
    const Place place{call, index, name};
    if (!is_list(place)) return false;
    const auto read = [&](PyObject* item, aclrtLaunchKernelAttr& attribute) {
        std::uint64_t number = 0;
        if (!is_dict(place, item) || !read_entry(place, item, "id", attribute.id, Presence::required) ||
            !read_value(place, item, number))
            return false;
        // The smaller members of the union are in its first bytes.
        if (attribute.id != ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US && number > 0xFFFFFFFFu)
            return refuse(place, "has a \"%s\" that is out of range", "value");
        std::memcpy(&attribute.value, &number, sizeof number);
        return true;
    };
    if (!read_dicts(call.arguments[index], attributes_, read)) return false;
    config_ = {attributes_.data(), attributes_.size()};
    if (!attributes_.empty()) value = &config_;
    return true;
}

bool PlaceHolders::read(const Call& call, Py_ssize_t index, const char* name) {
    const Place place{call, index, name};
    if (!is_list(place)) return false;
    const auto read = [&](PyObject* item, aclrtPlaceHolderInfo& info) {
        if (PyTuple_Check(item) && PyTuple_Size(item) == 2) {
            PyObject* offsets[2] = {PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1)};
            const Call inner{call.name, offsets, 2, index};
            Number<std::uint32_t> address, data;
            if (!address.read(inner, 0, name) || !data.read(inner, 1, name)) return false;
            info = {address.value, data.value};
            return true;
        }
        return is_dict(place, item) && read_entry(place, item, "addrOffset", info.addrOffset, Presence::required) &&
               read_entry(place, item, "dataOffset", info.dataOffset, Presence::required);
    };
    if (!read_dicts(call.arguments[index], items_, read)) return false;
    size = items_.size();
    if (size) value = items_.data();
    return true;
}

bool PlaceHolders::holds(const Call& call, Py_ssize_t index, const char* name, std::size_t needed) const {
    if (needed <= size) return true;
    return canopy::python::refuse(PyExc_ValueError, call, index, name, "has %zu entries, but the call says %zu", size,
                                  needed);
}

bool UceList::read(const Call& call, Py_ssize_t index, const char* name) {
    const Place place{call, index, name};
    if (!is_list(place)) return false;
    if (!read_dicts(call.arguments[index], items_, [&](PyObject* item, aclrtMemUceInfo& range) {
            return is_dict(place, item) && read_entry(place, item, "addr", range.addr, Presence::required) &&
                   read_entry(place, item, "len", range.len, Presence::required);
        }))
        return false;
    value = items_.data();
    size = items_.size();
    return true;
}

bool ServerPids::read(const Call& call, Py_ssize_t index, const char* name) {
    const Place place{call, index, name};
    if (!is_list(place)) return false;
    PyObject* list = call.arguments[index];
    const auto length = static_cast<std::size_t>(PyList_Size(list));
    lists_.resize(length);
    const auto read = [&](PyObject* item, aclrtServerPid& server) {
        if (!is_dict(place, item) || !read_entry(place, item, "sdid", server.sdid)) return false;
        PyObject* pids = PyDict_GetItemString(item, "pid");
        if (!pids) return refuse(place, "lacks \"%s\"", "pid");
        if (servers_.size() == length) return refuse(place, "%s while it was read", "grew");
        List<std::int32_t>& numbers = lists_[servers_.size()];
        if (!numbers.read(Call{call.name, &pids, 1, index}, 0, "pid")) return false;
        server.pid = numbers.value;
        server.num = numbers.size;
        return true;
    };
    if (!read_dicts(list, servers_, read)) return false;
    value = servers_.data();
    size = servers_.size();
    return true;
}

bool EventHandle::read(const Call& call, Py_ssize_t index, const char* name) {
    PyObject* object = call.arguments[index];
    if (!PyBytes_Check(object)) return refuse_type(call, index, name, "bytes");
    if (PyBytes_Size(object) != sizeof value.reserved)
        return canopy::python::refuse(PyExc_ValueError, call, index, name, "has %zd bytes, not %zu",
                                      PyBytes_Size(object), sizeof value.reserved);
    std::memcpy(value.reserved, PyBytes_AsString(object), sizeof value.reserved);
    return true;
}

bool ShareableHandle::read(const Call& call, Py_ssize_t index, const char* name) {
    PyObject* object = call.arguments[index];
    if (PyBytes_Check(object)) {
        if (PyBytes_Size(object) != sizeof bytes_.data)
            return canopy::python::refuse(PyExc_ValueError, call, index, name, "has %zd bytes, not %zu",
                                          PyBytes_Size(object), sizeof bytes_.data);
        std::memcpy(bytes_.data, PyBytes_AsString(object), sizeof bytes_.data);
        return true;
    }
    Number<std::uint64_t> number;
    if (!PyIndex_Check(object)) return refuse_type(call, index, name, "an int or bytes");
    if (!number.read(call, index, name)) return false;
    std::memcpy(bytes_.data, &number.value, sizeof number.value);
    return true;
}

PyObject* to_python(const aclCANNPackageVersion& version) {
    PyObject* dict = PyDict_New();
    const auto text = [](const char* value, std::size_t room) {
        return PyUnicode_DecodeUTF8(value, static_cast<Py_ssize_t>(strnlen(value, room)), "replace");
    };
    return dict_or_null(dict,
                        dict && put(dict, "version", text(version.version, sizeof version.version)) &&
                            put(dict, "major_version", text(version.majorVersion, sizeof version.majorVersion)) &&
                            put(dict, "minor_version", text(version.minorVersion, sizeof version.minorVersion)) &&
                            put(dict, "release_version", text(version.releaseVersion, sizeof version.releaseVersion)) &&
                            put(dict, "patch_version", text(version.patchVersion, sizeof version.patchVersion)) &&
                            put(dict, "reserved", text(version.reserved, sizeof version.reserved)));
}

PyObject* to_python(const aclrtUtilizationInfo& utilization) {
    PyObject* dict = PyDict_New();
    return dict_or_null(dict, dict && put(dict, "cube_utilization", to_python(utilization.cubeUtilization)) &&
                                  put(dict, "vector_utilization", to_python(utilization.vectorUtilization)) &&
                                  put(dict, "aicpu_utilization", to_python(utilization.aicpuUtilization)) &&
                                  put(dict, "memory_utilization", to_python(utilization.memoryUtilization)) &&
                                  put(dict, "utilization_extend", to_python(utilization.utilizationExtend)));
}

PyObject* to_python(const aclrtUuid& uuid) {
    PyObject* dict = PyDict_New();
    return dict_or_null(
        dict,
        dict && put(dict, "bytes", list_of(reinterpret_cast<const unsigned char*>(uuid.bytes), sizeof uuid.bytes)));
}

PyObject* to_python(const aclrtPtrAttributes& attributes) {
    PyObject* dict = PyDict_New();
    PyObject* location = PyDict_New();
    const bool placed = location && put(location, "id", to_python(attributes.location.id)) &&
                        put(location, "type", to_python(attributes.location.type));
    location = dict_or_null(location, placed);
    return dict_or_null(dict, dict && put(dict, "location", location) &&
                                  put(dict, "page_size", to_python(attributes.pageSize)) &&
                                  put(dict, "rsv", list_of(attributes.rsv, 4)));
}

PyObject* to_python(const aclrtMemUceInfo& range) {
    PyObject* dict = PyDict_New();
    return dict_or_null(dict, dict && put(dict, "addr", to_python(range.addr)) &&
                                  put(dict, "len", to_python(range.len)) &&
                                  put(dict, "reserved", list_of(range.reserved, 14)));
}

PyObject* to_python(aclrtStreamAttr type, const aclrtStreamAttrValue& value) {
    PyObject* dict = PyDict_New();
    const auto only = [&](const char* name, PyObject* number) {
        return dict_or_null(dict, dict && put(dict, name, number));
    };
    switch (type) {
        case ACL_STREAM_ATTR_FAILURE_MODE:
            return only("failureMode", to_python(value.failureMode));
        case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
            return only("overflowSwitch", to_python(value.overflowSwitch));
        case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
            return only("userCustomTag", to_python(value.userCustomTag));
        case ACL_STREAM_ATTR_CACHE_OP_INFO:
            return only("cacheOpInfoSwitch", to_python(value.cacheOpInfoSwitch));
        case ACL_STREAM_ATTR_PRIORITY:
            return only("streamPriority", to_python(value.streamPriority));
        default:
            return only("reserved", list_of(value.reserve, 4));
    }
}

}  // namespace canopy::python
