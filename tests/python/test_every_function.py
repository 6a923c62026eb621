# SPDX-License-Identifier: Apache-2.0
"""Every function of the table: how many arguments it takes, what it refuses, the shape of its answer, its help and its
stub. The cases come from the table of the module itself."""
import ast
import inspect
import json
import os
import sys

import pytest

import acl
from conftest import run_program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "apigen"))
import python_module  # noqa: E402

FUNCTIONS = python_module.read_table(os.path.join(ROOT, "include"))
NAMES = [function.full for function in FUNCTIONS]
# Specials say their types in the stubs only; these of theirs take any object.
ANYTHING = {"Any"}


def callable_of(function):
    part = acl if function.part == "acl" else getattr(acl, function.part)
    return getattr(part, function.short)


def fitting(argument):
    """An argument of the right type that no function does anything with."""
    if argument.special:
        if argument.special.startswith("Callable"):
            return len
        if argument.special.startswith("bytes"):
            return b"12345678"
        if argument.special.startswith("str"):
            return ""
        return (1,) if argument.special.startswith("tuple") else 0
    return {"Text": "", "OptionalText": None, "List": [], "MallocConfig": {}, "StreamAttribute": {"failureMode": 0},
            "PhysicalProperties": {"location": {"id": 0, "type": 1}}, "LoadOptions": [], "LaunchConfig": [],
            "PlaceHolders": [], "UceList": [], "ServerPids": [], "EventHandle": bytes(64)}.get(argument.kind, 0)


def refused_arguments():
    for function in FUNCTIONS:
        for index, argument in enumerate(function.arguments):
            if argument.special not in ANYTHING and argument.kind != "Ignored":
                yield pytest.param(function, index, id=f"{function.full}-{index + 1}")


def numbers():
    for function in FUNCTIONS:
        for index, argument in enumerate(function.arguments):
            if argument.kind in ("Number", "Handle", "Buffer", "Source", "Word", "ShareableHandle") and argument.canonical not in ("float", "double"):
                yield pytest.param(function, index, id=f"{function.full}-{index + 1}")


@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_wrong_number_of_arguments_is_a_type_error(function):
    most = len(function.arguments)
    for count in {most + 1, function.least - 1} - {-1}:
        with pytest.raises(TypeError, match=rf"{function.full} takes .*not {count}$"):
            callable_of(function)(*[0] * count)


@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_keywords_are_refused(function):
    with pytest.raises(TypeError):
        callable_of(function)(surely_no_argument=0)


@pytest.mark.parametrize("function, index", refused_arguments())
def test_argument_of_a_wrong_type_is_named(function, index):
    arguments = [fitting(argument) for argument in function.arguments]
    arguments[index] = object()
    name = function.arguments[index].name
    with pytest.raises(TypeError, match=rf"{function.full}: argument {index + 1} \({name}\) must be .*, not object"):
        callable_of(function)(*arguments)


@pytest.mark.parametrize("function, index", numbers())
def test_number_out_of_range_is_named(function, index):
    for number in (1 << 64, -(1 << 63) - 1):
        arguments = [fitting(argument) for argument in function.arguments]
        arguments[index] = number
        with pytest.raises(OverflowError, match=rf"{function.full}: argument {index + 1} \(\w+\) is out of range: {number}"):
            callable_of(function)(*arguments)


# Functions that wait for a device or change it are called without one, in a separate process. What would end the
# process's use of the runtime comes last.
LAST = ["acl.rt.reset_device", "acl.rt.reset_device_force", "acl.finalize_reference", "acl.finalize"]
# Their answers are looked at where they are tested.
ELSEWHERE = {"acl.util.start_thread", "acl.util.stop_thread", "acl.util.numpy_to_ptr", "acl.util.numpy_contiguous_to_ptr",
             "acl.util.ptr_to_numpy", "acl.rt.get_group_info_detail", "acl.rt.allocator_create_desc"}


def shape_of(value):
    return [shape_of(item) for item in value] if isinstance(value, tuple) else type(value).__name__


@pytest.fixture(scope="module")
def answers():
    """The shape of the answer of each function, called with arguments of the right type."""
    calls = {}
    for function in sorted(FUNCTIONS, key=lambda f: LAST.index(f.full) if f.full in LAST else -1):
        if function.full not in ELSEWHERE:
            calls[function.full] = [fitting(argument) for argument in function.arguments]
    calls["acl.util.ptr_to_bytes"] = [0, 0]
    calls = {name: ["<len>" if argument is len else argument for argument in arguments] for name, arguments in calls.items()}
    program = f"""
import acl, json
acl.init()
acl.rt.set_device(0)
def shape_of(value):
    return [shape_of(item) for item in value] if isinstance(value, tuple) else type(value).__name__
shapes = {{}}
for name, arguments in {calls!r}.items():
    function = acl
    for part in name.split(".")[1:]:
        function = getattr(function, part)
    shapes[name] = shape_of(function(*[len if argument == "<len>" else argument for argument in arguments]))
print(json.dumps(shapes))
"""
    return json.loads(run_program(program).stdout.splitlines()[-1])


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f.full not in ELSEWHERE],
                         ids=[name for name in NAMES if name not in ELSEWHERE])
def test_answer_has_the_shape_of_the_table(function, answers):
    types = [python_module.return_type(function, item) for item in function.returns]
    possible = [{part.strip().split("[")[0].replace("None", "NoneType") for part in kind.split("|")} for kind in types]
    shape = answers[function.full]
    if not types:
        assert shape == "NoneType"
    elif len(types) == 1:
        assert shape in possible[0]
    else:
        assert isinstance(shape, list) and len(shape) == len(types)
        for found, wanted in zip(shape, possible):
            assert found in wanted


@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_help_shows_signature_arguments_and_answer(function):
    text = callable_of(function).__doc__
    names = [argument.name for argument in function.arguments]
    assert list(inspect.signature(callable_of(function)).parameters) == names
    assert f"returns" in text and python_module.returns_text(function) in text
    for name in names:
        assert f"\n  {name} " in text
    assert len(text.splitlines()[0]) > 10


@pytest.mark.parametrize("part", python_module.PARTS)
def test_stub_declares_exactly_the_functions_of_the_part(part):
    folder = os.path.dirname(acl.__file__)
    with open(os.path.join(folder, "__init__.pyi" if part == "acl" else f"{part}.pyi"), encoding="utf-8") as stub:
        declared = {node.name for node in ast.parse(stub.read()).body if isinstance(node, ast.FunctionDef)}
    module = acl if part == "acl" else getattr(acl, part)
    assert declared == {name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")}
    assert declared == {function.short for function in FUNCTIONS if function.part == part}


def test_parts_are_modules_that_can_be_imported():
    run_program("import acl.rt, acl.tdt, acl.util, acl.prof, acl.mdl, acl.media, acl.op; from acl.rt import malloc; assert acl.rt.malloc is malloc")


@pytest.mark.parametrize("part, name, sentence", [
    ("mdl", "load_from_file", "Canopy runs kernels, not models"),
    ("op", "execute_v2", "Canopy runs kernels: it has no library of single operators"),
    ("media", "dvpp_create_channel", "Canopy has no image and video processing"),
])
def test_what_is_no_part_of_canopy_says_so(part, name, sentence):
    module = getattr(acl, part)
    assert not hasattr(module, name)
    with pytest.raises(AttributeError, match=f"module 'acl.{part}' has no attribute '{name}': {sentence}"):
        getattr(module, name)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_function'$"):
        acl.rt.no_such_function
