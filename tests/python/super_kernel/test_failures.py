# SPDX-License-Identifier: Apache-2.0
"""What cannot be fused is refused, with the code and a text that names the reason, and leaves nothing behind."""

import os

import pytest

import super_kernel
from super_kernel import SuperKernelError


def refused(infos, text, kernel_meta, name="fused"):
    with pytest.raises(SuperKernelError) as problem:
        super_kernel.compile(infos, name)
    assert str(problem.value).startswith("EB0500: "), problem.value
    assert text in str(problem.value)
    assert not os.path.exists(kernel_meta) or os.listdir(kernel_meta) == []


def fuse(*entries, options=""):
    return {"op_list": list(entries), "super_kernel_options": options}


def test_an_empty_list(kernel_meta):
    refused(fuse(), "empty", kernel_meta)


def test_a_list_of_entries_that_are_all_skipped(kernels, kernel_meta):
    refused(fuse({"bin_path": kernels("scale")["bin_path"]}, {}), "empty", kernel_meta)


@pytest.mark.parametrize("infos", [{"op_list": None}, {"op_list": "scale"}, {}, {"op_list": [7]}, "scale", None])
def test_something_that_is_no_list(infos, kernel_meta):
    refused(infos, "EB0500", kernel_meta)


def test_the_first_kernel_receives(kernels, kernel_meta):
    refused(fuse(dict(kernels("scale"), recv_event_list=[1]), kernels("scale")), "first kernel", kernel_meta)


def test_the_last_kernel_sends(kernels, kernel_meta):
    refused(fuse(kernels("scale"), dict(kernels("scale"), send_event_list=[1])), "last kernel", kernel_meta)


def test_one_kernel_alone_can_have_no_events(kernels, kernel_meta):
    refused(fuse(dict(kernels("scale"), send_event_list=[1])), "last kernel", kernel_meta)
    refused(fuse(dict(kernels("scale"), recv_event_list=[1])), "first kernel", kernel_meta)


def test_one_kernel_sends_and_receives_the_same_event(kernels, kernel_meta):
    middle = dict(kernels("scale"), send_event_list=[3], recv_event_list=[3])
    refused(fuse(kernels("scale"), middle, kernels("scale")), "same event 3", kernel_meta)


def test_one_stream_sends_and_receives_the_same_event(kernels, kernel_meta):
    entries = [dict(kernels("scale"), stream_id=2) for _ in range(4)]
    entries[1]["send_event_list"] = [9]
    entries[2]["recv_event_list"] = [9]
    refused(fuse(*entries), "same event 9", kernel_meta)


def test_two_streams_without_stream_fusion(kernels, kernel_meta):
    refused(fuse(dict(kernels("scale"), stream_id=1), dict(kernels("triple"), stream_id=2)), "stream-fusion=1",
            kernel_meta)


@pytest.mark.parametrize("flag", ["sub_operator_early_start_set_flag", "sub_operator_early_start_wait_flag"])
def test_a_kernel_for_early_start_without_early_start(altered, kernels, flag, kernel_meta):
    refused(fuse(altered(**{flag: True}), kernels("scale"), options="early-start=0"), "early start", kernel_meta)
    os.rmdir(kernel_meta)
    super_kernel.compile(fuse(altered(**{flag: True}), kernels("scale")), "fused")


def test_a_dynamic_kernel_for_early_start(altered, kernels, kernel_meta):
    entry = altered("times", entry={"task_type": "dynamic"}, sub_operator_early_start_set_flag=True)
    refused(fuse(kernels("scale"), entry), "dynamic", kernel_meta)


def test_another_split_mode(kernels, kernel_meta):
    refused(fuse(kernels("scale", split_mode=2), kernels("scale")), "split_mode 2", kernel_meta)
    refused(fuse(kernels("scale", split_mode=4), options="split-mode=1"), "split_mode 4", kernel_meta)
    super_kernel.compile(fuse(kernels("scale", split_mode=2), options="split-mode=2"), "fused")


def test_an_object_without_kernels(altered, tmp_path, kernel_meta):
    entry = altered()
    for content in (b"", b"no object at all", b"\x7fELF" + bytes(200)):
        path = tmp_path / "empty.o"
        path.write_bytes(content)
        refused(fuse(dict(entry, bin_path=str(path))), ".text", kernel_meta)


def test_an_image_without_that_kernel(altered, kernels, kernel_meta):
    refused(fuse(dict(altered("scale"), bin_path=kernels("triple")["bin_path"])), "no kernel scale", kernel_meta)


def test_metadata_with_other_parameters_than_the_image(altered, kernel_meta):
    refused(fuse(altered("scale", sub_operator_params=["x", "y"])), "it takes 3", kernel_meta)


@pytest.mark.parametrize("kind", ["KERNEL_TYPE_MIX_AIC_1_5", "absent", "AiCore"])
def test_another_kernel_type(altered, kind, kernel_meta):
    refused(fuse(altered(sub_operator_kernel_type=kind)), "cannot be fused", kernel_meta)


@pytest.mark.parametrize("options", ["debug-aic-num=3:debug-aiv-num=4", "debug-aic-num=0:debug-aiv-num=0"])
def test_a_bad_ratio(kernels, options, kernel_meta):
    refused(fuse(kernels("scale"), options=options), "ratio", kernel_meta)


def test_metadata_that_cannot_be_read(altered, tmp_path, kernel_meta):
    entry = altered()
    refused(fuse(dict(entry, json_path=str(tmp_path / "nowhere.json"))), "nowhere.json", kernel_meta)
    for content in ("", "{", "[1]", "\xff"):
        path = tmp_path / "broken.json"
        path.write_bytes(content.encode("latin-1"))
        refused(fuse(dict(entry, json_path=str(path))), "broken.json", kernel_meta)


@pytest.mark.parametrize("blocks", [0, -1, "8", None, True])
def test_a_block_count_that_is_none(altered, blocks, kernel_meta):
    refused(fuse(altered(blockDim=blocks)), "blockDim", kernel_meta)


@pytest.mark.parametrize("changes", [
    {"task_type": "static"}, {"stream_id": "a"}, {"send_event_list": "7"}, {"send_event_list": [1.5]},
    {"task_type": "dynamic"}, {"arguments": ["x"]}, {"inputs": ["x"], "outputs": ["y"]}, {"arguments": "xyw"},
])
def test_entries_that_say_something_impossible(kernels, changes, kernel_meta):
    refused(fuse(dict(kernels("scale"), **changes), kernels("scale")), "op 0", kernel_meta)


def test_a_kernel_that_does_not_want_to_be_fused(altered, kernel_meta):
    refused(fuse(altered(supportSuperKernel=0)), "supportSuperKernel", kernel_meta)


@pytest.mark.parametrize("chip", ["Ascend310P3", "Ascend910A", "Ascend310B4", "nonsense"])
def test_other_chips(kernels, monkeypatch, chip, kernel_meta):
    infos = fuse(kernels("scale"))
    monkeypatch.setenv("SOC_VERSION", chip)
    refused(infos, chip, kernel_meta)


def test_kernels_for_different_architectures(kernels, kernel_meta, tmp_path):
    source = tmp_path / "other.asc"
    source.write_text('#include "kernel_operator.h"\n'
                      'extern "C" __global__ __vector__ void other(GM_ADDR x) {}\n')
    other = super_kernel.compile_kernel(str(source), "other", folder=str(tmp_path), options=["--npu-arch=dav-3510"])
    refused(fuse(kernels("scale"), other), "architectures", kernel_meta)


@pytest.mark.parametrize("name", ["", "a/b", "../x", None, "a b", 5])
def test_names_that_are_none(kernels, name, kernel_meta):
    refused(fuse(kernels("scale")), "name", kernel_meta, name)


@pytest.mark.parametrize("temporaries", [["z"], "t", [1]])
def test_temporaries_that_are_no_strings_of_the_topology(kernels, temporaries, kernel_meta):
    infos = fuse(dict(kernels("scale"), arguments=["x", "t", "w"]))
    infos["temporaries"] = temporaries
    refused(infos, "temporaries", kernel_meta)


def test_no_compiler(kernels, monkeypatch, kernel_meta):
    infos = fuse(kernels("scale"))
    monkeypatch.setenv("CANOPY_CC", "/nowhere/canopy-cc")
    refused(infos, "/nowhere/canopy-cc", kernel_meta)


def test_a_source_with_a_mistake(tmp_path):
    source = tmp_path / "wrong.asc"
    source.write_text('#include "kernel_operator.h"\nextern "C" __global__ __vector__ void wrong(GM_ADDR x) { y = 1; }\n')
    with pytest.raises(SuperKernelError, match="(?s)^EB0500.*wrong.asc:2.*'y'"):
        super_kernel.compile_kernel(str(source), "wrong", folder=str(tmp_path))
    with pytest.raises(SuperKernelError, match="^EB0500.*does not exist"):
        super_kernel.compile_kernel(str(tmp_path / "nowhere.asc"), "wrong")


def test_a_kernel_that_the_source_does_not_have(tmp_path):
    source = tmp_path / "two.asc"
    source.write_text('#include "kernel_operator.h"\n'
                      'extern "C" __global__ __vector__ void one(GM_ADDR x) {}\n'
                      'extern "C" __global__ __vector__ void other(GM_ADDR x) {}\n')
    with pytest.raises(SuperKernelError, match="(?s)^EB0500.*no kernel third.*one, other"):
        super_kernel.compile_kernel(str(source), "third", folder=str(tmp_path))
