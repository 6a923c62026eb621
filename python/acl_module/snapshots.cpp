// SPDX-License-Identifier: Apache-2.0
// Python functions that are called at the stages of a snapshot. The runtime knows a function by its address, so there
// is a fixed number of slots, each with its own C function. Everything here is accessed under the interpreter's lock.
#include <acl/acl.h>

#include <array>

#include "entrance.h"
#include "special.h"
#include "structures.h"

namespace canopy::python {

namespace {

constexpr std::size_t stage_slots = 64;
constexpr std::uint32_t callback_failed = 1;

struct StageSlot {
    PyObject* function = nullptr;  // null: free
    PyObject* argument = nullptr;
    aclrtSnapShotStage stage{};
};
StageSlot stage_slot[stage_slots];

void empty_slot(StageSlot& slot) {
    Py_CLEAR(slot.function);
    Py_CLEAR(slot.argument);
}

// The result is that of the function, with 0 for None.
std::uint32_t call_stage(std::size_t index, std::int32_t device) {
    const Entrance entrance;
    if (!entrance || !stage_slot[index].function) return 0;
    PyObject* function = stage_slot[index].function;
    PyObject* argument = stage_slot[index].argument;
    Py_INCREF(function);  // the function may unregister itself
    Py_INCREF(argument);
    PyObject* number = to_python(device);
    PyObject* result = number ? PyObject_CallFunctionObjArgs(function, number, argument, nullptr) : nullptr;
    Number<std::uint32_t> code;
    const bool good =
        result && (result == Py_None || code.read(Call{"acl.rt snapshot callback", &result, 1}, 0, "result"));
    if (!good) PyErr_WriteUnraisable(function);
    Py_XDECREF(result);
    Py_XDECREF(number);
    Py_DECREF(argument);
    Py_DECREF(function);
    return good ? code.value : callback_failed;
}

template <std::size_t index>
std::uint32_t stage_function(std::int32_t device, void*) {
    return call_stage(index, device);
}

template <std::size_t... index>
constexpr std::array<aclrtSnapShotCallBack, sizeof...(index)> stage_functions_of(std::index_sequence<index...>) {
    return {&stage_function<index>...};
}
constexpr auto stage_functions = stage_functions_of(std::make_index_sequence<stage_slots>());

// Bound methods are new objects each time, so functions are compared as Python does. stage_slots: not found; with an
// exception if the comparison raised one.
std::size_t find_slot(aclrtSnapShotStage stage, PyObject* function) {
    for (std::size_t i = 0; i < stage_slots; ++i) {
        if (!stage_slot[i].function || stage_slot[i].stage != stage) continue;
        PyObject* other = stage_slot[i].function;
        Py_INCREF(other);
        const int equal = PyObject_RichCompareBool(other, function, Py_EQ);
        Py_DECREF(other);
        if (equal < 0) return stage_slots;
        if (equal) return i;
    }
    return stage_slots;
}

bool read_stage(const Call& call, Number<aclrtSnapShotStage>& stage) {
    if (!stage.read(call, 0, "stage")) return false;
    return PyCallable_Check(call.arguments[1]) || refuse_type(call, 1, "callback", "callable");
}

}  // namespace

CANOPY_PYTHON_FUNCTION(rt_snap_shot_callback_register) {
    (void)module;
    const Call call{"acl.rt.snap_shot_callback_register", arguments, count};
    Number<aclrtSnapShotStage> stage;
    if (!call.takes(3) || !read_stage(call, stage)) return nullptr;
    std::size_t index = find_slot(stage.value, arguments[1]);
    if (PyErr_Occurred()) return nullptr;
    // One that is registered for the stage already is passed on: the runtime has the code for that.
    const bool fresh = index == stage_slots;
    if (fresh) {
        index = 0;
        while (index < stage_slots && stage_slot[index].function) ++index;
        if (index == stage_slots)
            return PyErr_Format(PyExc_RuntimeError, "%s: %zu functions are registered, the maximum", call.name,
                                stage_slots);
        Py_INCREF(arguments[1]);
        Py_INCREF(arguments[2]);
        stage_slot[index] = {arguments[1], arguments[2], stage.value};
    }
    const aclError ret =
        released([&] { return aclrtSnapShotCallbackRegister(stage.value, stage_functions[index], nullptr); });
    if (fresh && ret != ACL_SUCCESS) empty_slot(stage_slot[index]);
    return answer(ret);
}

CANOPY_PYTHON_FUNCTION(rt_snap_shot_callback_unregister) {
    (void)module;
    const Call call{"acl.rt.snap_shot_callback_unregister", arguments, count};
    Number<aclrtSnapShotStage> stage;
    if (!call.takes(2) || !read_stage(call, stage)) return nullptr;
    const std::size_t index = find_slot(stage.value, arguments[1]);
    if (PyErr_Occurred()) return nullptr;
    // No slot has this function, so the runtime answers as for one that was never registered.
    static const aclrtSnapShotCallBack unknown = [](std::int32_t, void*) -> std::uint32_t { return 0; };
    const aclError ret = released([&] {
        return aclrtSnapShotCallbackUnregister(stage.value, index == stage_slots ? unknown : stage_functions[index]);
    });
    if (ret == ACL_SUCCESS && index != stage_slots) empty_slot(stage_slot[index]);
    return answer(ret);
}

}  // namespace canopy::python
