# SPDX-License-Identifier: Apache-2.0
"""canopy-cc --metadata and --fuse from the command line: what they need and what they refuse."""

import copy
import json
import os
import subprocess

import pytest

import super_kernel


def run(*arguments):
    return subprocess.run([super_kernel.find_compiler(), *map(str, arguments)], capture_output=True, text=True,
                          check=False)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "one.asc"
    path.write_text('#include "kernel_operator.h"\nextern "C" __global__ __vector__ void one(GM_ADDR x) {}\n')
    return path


@pytest.mark.parametrize("flag", ["--block-dim=0", "--block-dim=x", "--block-dim=65536", "--block-dim=", "--split-mode=65",
                                  "--workspace=12,x", "--workspace=-1"])
def test_numbers_out_of_their_range(source, tmp_path, flag):
    done = run("--image", "--metadata", flag, source, "-o", tmp_path / "one.o")
    assert done.returncode == 2 and flag.split("=")[0] in done.stderr and not (tmp_path / "one.o").exists()


def test_metadata_needs_an_image(source, tmp_path):
    done = run("-c", "--metadata", source, "-o", tmp_path / "one.o")
    assert done.returncode == 2 and "--image" in done.stderr


def test_metadata_never_replace_the_image(source, tmp_path):
    done = run("--image", "--metadata", source, "-o", tmp_path / "one.json")
    assert done.returncode == 1 and "same file" in done.stderr


def test_several_kernels_must_be_told_apart(tmp_path):
    path = tmp_path / "two.asc"
    path.write_text('#include "kernel_operator.h"\nextern "C" __global__ __vector__ void one(GM_ADDR x) {}\n'
                    'extern "C" __global__ __vector__ void two(GM_ADDR x) {}\n')
    done = run("--image", "--metadata", path, "-o", tmp_path / "two.o")
    assert done.returncode == 1 and "one, two" in done.stderr
    assert run("--image", "--metadata=two", path, "-o", tmp_path / "two.o").returncode == 0
    assert json.loads((tmp_path / "two.json").read_text())["kernelName"] == "two"


def test_variants_must_take_the_same_arguments(tmp_path):
    path = tmp_path / "variants.asc"
    path.write_text('#include "kernel_operator.h"\nextern "C" __global__ __vector__ void k_1(GM_ADDR x) {}\n'
                    'extern "C" __global__ __vector__ void k_2(GM_ADDR x, GM_ADDR y) {}\n')
    done = run("--image", "--metadata", path, "-o", tmp_path / "k.o")
    assert done.returncode == 1 and "k_1" in done.stderr and "k_2" in done.stderr


def test_a_parameter_of_several_words_has_several_slots(tmp_path):
    path = tmp_path / "wide.asc"
    path.write_text('#include "kernel_operator.h"\nstruct Wide { uint64_t a, b, c; };\n'
                    'extern "C" __global__ __vector__ void wide(GM_ADDR x, Wide w, uint32_t n) {}\n')
    assert run("--image", "--metadata", path, "-o", tmp_path / "wide.o").returncode == 0
    metadata = json.loads((tmp_path / "wide.json").read_text())
    assert metadata["sub_operator_params"] == ["x", "w", "w_1", "w_2", "n"]
    assert metadata["canopy"]["arguments_size"] == 40


def description(image):
    return {"images": [image], "kernels": [{
        "name": "fused", "blocks": 8, "cube": 0, "vector": 1, "slots": 7, "options": {}, "temporaries": [],
        "steps": [{"number": 0, "part": 0, "kernel": "scale", "blocks": 8, "slot": 1, "slots": 3, "stream": 0},
                  {"number": 1, "part": 0, "kernel": "scale", "blocks": 8, "slot": 4, "slots": 3, "stream": 0,
                   "after": [0]}]}]}


def fuse(tmp_path, content):
    path = tmp_path / "description.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return run("--fuse", path, "-o", tmp_path / "fused.o")


def test_a_description_becomes_an_image(kernels, tmp_path):
    assert fuse(tmp_path, description(kernels("scale")["bin_path"])).returncode == 0
    assert (tmp_path / "fused.o").read_bytes()[:4] == b"\x7fELF"


KERNEL = ("kernels", 0)
STEP = ("kernels", 0, "steps", 1)
WRONG = [
    (("images",), [], "images"), (("images",), ["/nowhere.o"], "/nowhere.o"), (("images",), [5], "cannot read"),
    (("kernels",), [], "no kernels"), (("kernels",), 5, "no kernels"),
    ((*KERNEL, "name"), "", "name"), ((*KERNEL, "slots"), 6, "slots"), ((*KERNEL, "slots"), -1, "slots"),
    ((*KERNEL, "slots"), 1 << 20, "slots"), ((*KERNEL, "blocks"), 0, "no block"), ((*KERNEL, "cube"), 2, "cube"),
    ((*KERNEL, "steps"), [], "no steps"), ((*KERNEL, "temporaries"), [7], "temporaries"),
    ((*STEP, "part"), 1, "part 1"), ((*STEP, "kernel"), "other", "no kernel other"), ((*STEP, "slots"), 2, "it takes 3"),
    ((*STEP, "slot"), 5, "is past"), ((*STEP, "blocks"), 0, "no block"), ((*STEP, "after"), [1], "not come before"),
    ((*STEP, "inputs"), [7], "inputs"), ((*STEP, "wait_slots"), 3, "wait_slots"),
    ((*STEP, "dynamic"), {"key_slot": 0, "blocks_slot": 0, "wait_slot": 9, "choices": []}, "wait_slot"),
    ((*STEP, "dynamic"), {"key_slot": 0, "blocks_slot": 0, "wait_slot": 0, "choices": []}, "choose"),
]


@pytest.mark.parametrize("path, value, text", WRONG)
def test_a_description_that_fits_nothing(kernels, tmp_path, path, value, text):
    content = copy.deepcopy(description(kernels("scale")["bin_path"]))
    place = content
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    done = fuse(tmp_path, content)
    assert done.returncode == 1 and text in done.stderr, done.stderr
    assert not (tmp_path / "fused.o").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "5", '{"images": 1}'])
def test_something_that_is_no_description(tmp_path, content):
    assert fuse(tmp_path, content).returncode == 1


def test_command_lines_that_make_no_sense(tmp_path):
    assert run("--fuse", tmp_path / "nowhere.json", "-o", tmp_path / "x.o").returncode == 1
    assert run("--fuse", tmp_path / "nowhere.json").returncode == 2
    assert run("--fuse", "a.json", "b.asc", "-o", tmp_path / "x.o").returncode == 2
    assert "--fuse" in run("--help").stdout and "--metadata" in run("--help").stdout


def test_a_file_that_is_no_image(kernels, tmp_path):
    with open(kernels("scale")["bin_path"], "rb") as file:
        data = file.read()
    for content in (b"", data[:60], data[:200], b"\x7fELF" + bytes(60), os.urandom(4096)):
        broken = tmp_path / "broken.o"
        broken.write_bytes(content)
        done = fuse(tmp_path, description(str(broken)))
        assert done.returncode == 1 and "not a kernel image" in done.stderr
