# SPDX-License-Identifier: Apache-2.0
"""What is written: metadata of kernels and of fused kernels, and the description that the image holds."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

import super_kernel


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def fusion(image):
    """The JSON inside a fused image."""
    with open(image, "rb") as file:
        data = file.read()
    start = data.index(b'{"kernels":')
    return json.JSONDecoder().raw_decode(data[start:].decode("latin-1"))[0]["kernels"][0]


def fuse(*entries, options="", **more):
    infos = {"op_list": list(entries), "super_kernel_options": options, **more}
    image = super_kernel.compile(infos, "fused")
    return image, read(os.path.splitext(image)[0] + ".json"), fusion(image)


def test_a_kernel_tells_what_a_launch_needs(kernels):
    entry = kernels("combine", 4)
    metadata = read(entry["json_path"])
    assert metadata["kernelName"] == "combine" and metadata["blockDim"] == 4
    assert metadata["binFileName"] + metadata["binFileSuffix"] == os.path.basename(entry["bin_path"])
    assert metadata["magic"] == "RT_DEV_BINARY_MAGIC_ELF_AIVEC" and metadata["coreType"] == "VectorCore"
    assert metadata["sha256"] == digest(entry["bin_path"]) and metadata["taskRation"] == "0:1"
    assert metadata["workspace"] == {"num": 1, "size": [8192], "type": [0]}
    assert metadata["parameters"] == [None] * 4


def test_a_kernel_tells_what_fusing_needs(kernels):
    entry = kernels("combine", split_mode=3)
    metadata = read(entry["json_path"])
    assert metadata["supportSuperKernel"] == 1 and metadata["split_mode"] == 3
    assert metadata["sub_operator_params"] == ["x", "y", "z", "workspace"]
    assert metadata["sub_operator_kernel_type"] == "KERNEL_TYPE_AIV_ONLY"
    function = metadata["sub_operator_kernel_name"]["dav-c220-vec"]
    assert function["func_name"] == "combine" and function["obj_files"] == entry["bin_path"]
    assert function["obj_files_split1"] == function["obj_files_split2"] == entry["bin_path"]
    assert metadata["sub_operator_early_start_set_flag"] is False and metadata["sub_op_with_sync_all"] is False
    assert read(kernels("total")["json_path"])["sub_op_with_sync_all"] is True
    assert "split_mode" not in read(kernels("scale")["json_path"])


@pytest.mark.parametrize("name, kind, magic, core", [
    ("scale", "AIV_ONLY", "RT_DEV_BINARY_MAGIC_ELF_AIVEC", "VectorCore"),
    ("scale_mix", "MIX_AIV_1_0", "RT_DEV_BINARY_MAGIC_ELF", "MIX"),
    ("triple", "AIC_ONLY", "RT_DEV_BINARY_MAGIC_ELF_AICUBE", "CubeCore"),
    ("triple_mix", "MIX_AIC_1_0", "RT_DEV_BINARY_MAGIC_ELF", "MIX"),
    ("mix_one", "MIX_AIC_1_1", "RT_DEV_BINARY_MAGIC_ELF", "MIX"),
    ("mix_two", "MIX_AIC_1_2", "RT_DEV_BINARY_MAGIC_ELF", "MIX"),
])
def test_kinds_of_kernels(kernels, name, kind, magic, core):
    metadata = read(kernels(name)["json_path"])
    assert metadata["sub_operator_kernel_type"] == "KERNEL_TYPE_" + kind
    assert metadata["magic"] == magic and metadata["coreType"] == core


def test_variants_by_tiling_key(kernels):
    metadata = read(kernels("times")["json_path"])
    variants = metadata["sub_operator_kernel_name"]["dynamic_func_names"]
    assert metadata["kernelName"] == "times"
    assert {key: variant["func_name"] for key, variant in variants.items()} == {
        "2": "times_2", "7": "times_7", "30": "times_30"}
    assert all(variant["kernel_type"] == "KERNEL_TYPE_AIV_ONLY" for variant in variants.values())


def test_directions_come_from_names_and_constants(tmp_path):
    source = tmp_path / "directions.asc"
    source.write_text('#include "kernel_operator.h"\n'
                      'extern "C" __global__ __vector__ void directions(__gm__ const float* a, GM_ADDR b_in__,\n'
                      '    GM_ADDR c_out_, GM_ADDR d, GM_ADDR workspace, uint32_t count, uint64_t number,\n'
                      '    __gm__ const float* __gm__ const* list) {}\n')
    entry = super_kernel.compile_kernel(str(source), "directions", folder=str(tmp_path))
    parameters = read(entry["json_path"])["canopy"]["parameters"]
    assert [(parameter["name"], parameter["access"]) for parameter in parameters] == [
        ("a", "in"), ("b_in__", "in"), ("c_out_", "out"), ("d", "unknown"), ("workspace", "inout"),
        ("count", "value"), ("number", "unknown"), ("list", "unknown")]


def test_a_kernel_that_knows_device_variables_tells_no_directions(tmp_path):
    source = tmp_path / "variables.asc"
    source.write_text('#include "kernel_operator.h"\n'
                      '__gm__ float shared_value;\n'
                      'extern "C" __global__ __vector__ void variables(__gm__ const float* a) { shared_value = a[0]; }\n')
    entry = super_kernel.compile_kernel(str(source), "variables", folder=str(tmp_path))
    assert read(entry["json_path"])["canopy"]["parameters"][0]["access"] == "unknown"


def test_the_golden_example(kernels):
    _, metadata, kernel = fuse(kernels("scale", 32), kernels("combine", 1), kernels("scale", 32))
    assert metadata["blockDim"] == 32 and metadata["taskRation"] == "0:1"
    steps = metadata["SuperkernelInfo"]["kernelList"]["aicore"]
    assert [step["arg_list"]["param_offset"] for step in steps] == [1, 4, 8]
    assert [step["blockDim"] for step in steps] == [32, 1, 32]
    assert kernel["slots"] == 11 and [step["slot"] for step in kernel["steps"]] == [1, 4, 8]
    assert [step["after"] for step in kernel["steps"]] == [[], [0], [1]]


def test_fused_metadata(kernels):
    image, metadata, _ = fuse(dict(kernels("scale"), stream_id=3, send_event_list=[7]),
                              dict(kernels("mix_two", 4), stream_id=3, recv_event_list=[8]))
    steps = metadata.pop("SuperkernelInfo")["kernelList"]["aicore"]
    assert metadata == {
        "binFileName": "fused", "binFileSuffix": ".o", "blockDim": 4, "coreType": "MIX", "intercoreSync": 1,
        "kernelName": "fused", "magic": "RT_DEV_BINARY_MAGIC_ELF", "memoryStamping": [], "opParaSize": 8,
        "parameters": [], "sha256": digest(image), "taskRation": "1:2", "optionalInputMode": "gen_placeholder",
        "optionalOutputMode": "gen_placeholder", "supportSuperKernel": 1}
    assert steps[0] == {
        "func_name": "scale", "split_mode": 4, "blockDim": 8, "sub_operator_kernel_type": "KERNEL_TYPE_AIV_ONLY",
        "sub_operator_early_start_set_flag": False, "sub_operator_early_start_wait_flag": False, "streamid": 3,
        "send_event_list": [7], "recv_event_list": [],
        "arg_list": {"param_offset": 1, "notify_param_offset": 4, "wait_param_offset": 5}}
    assert steps[1]["arg_list"] == {"param_offset": 5, "notify_param_offset": 8, "wait_param_offset": 8}


def test_feed_sync_all_asks_for_a_workspace(kernels):
    _, metadata, kernel = fuse(kernels("scale"), kernels("total", 2), options="feed-sync-all=1")
    assert metadata["workspace"] == {"num": 1, "size": [16384], "type": [0]}
    assert kernel["slots"] == 8 and kernel["options"]["feed-sync-all"] == "1"


def test_forced_core_numbers(kernels):
    _, metadata, _ = fuse(kernels("scale"), options="debug-aic-num=5:debug-aiv-num=10")
    assert metadata["blockDim"] == 5 and metadata["taskRation"] == "1:2"


def test_outer_events_become_locks(kernels):
    _, _, kernel = fuse(dict(kernels("scale"), stream_id=0, send_event_list=[100, 1]),
                        dict(kernels("triple"), stream_id=1, recv_event_list=[1, 101]),
                        options="stream-fusion=1")
    first, second = kernel["steps"]
    assert first["notify_slots"] == [4] and "wait_slots" not in first
    assert second["wait_slots"] == [10] and second["reset_slots"] == [10] and second["after"] == [0]


def test_dynamic_steps_choose(kernels):
    _, _, kernel = fuse(kernels("scale"), dict(kernels("times"), task_type="dynamic"))
    step = kernel["steps"][1]
    assert step["dynamic"] == {
        "key_slot": 7, "blocks_slot": 8, "wait_slot": 9,
        "choices": [{"key": 2, "part": 1, "kernel": "times_2"}, {"key": 7, "part": 1, "kernel": "times_7"},
                    {"key": 30, "part": 1, "kernel": "times_30"}]}
    assert step["reset_slots"] == [9]


def test_steps_are_in_an_order_in_which_they_can_run(kernels):
    _, _, kernel = fuse(dict(kernels("scale"), stream_id=0), dict(kernels("triple"), stream_id=1),
                        dict(kernels("triple"), stream_id=1, recv_event_list=[5]),
                        dict(kernels("scale"), stream_id=0, send_event_list=[5]),
                        dict(kernels("scale"), stream_id=0), options="stream-fusion=1")
    assert [step["number"] for step in kernel["steps"]] == [0, 1, 3, 2, 4]
    assert [step["after"] for step in kernel["steps"]] == [[], [], [0], [1, 2], [2]]
    assert [step["slot"] for step in kernel["steps"]] == [1, 4, 11, 7, 15]


def test_each_image_is_in_the_fused_one_once(kernels):
    image, _, kernel = fuse(kernels("scale"), kernels("triple"), kernels("scale"))
    assert [step["part"] for step in kernel["steps"]] == [0, 1, 0]
    parts = sum(os.path.getsize(kernels(name)["bin_path"]) for name in ("scale", "triple"))
    assert parts < os.path.getsize(image) < parts + 8192


def test_directions_and_temporaries_of_the_topology(kernels):
    _, _, kernel = fuse(dict(kernels("combine"), inputs=["a", "b"], outputs=["t"], workspaces=["w"]),
                        dict(kernels("scale"), inputs=["t"], outputs=["y"], workspaces=["w"]), temporaries=["t"])
    assert kernel["temporaries"] == [3, 5]
    first, second = kernel["steps"]
    assert (first["inputs"], first["outputs"]) == ([1, 2, 4], [3, 4])
    assert (second["inputs"], second["outputs"]) == ([5, 7], [6, 7])


def test_without_declarations_nothing_is_said_about_directions(kernels):
    _, _, kernel = fuse(kernels("scale"))
    assert "inputs" not in kernel["steps"][0] and "outputs" not in kernel["steps"][0]


def test_an_image_that_is_there_is_left_alone(kernels, kernel_meta):
    os.makedirs(kernel_meta)
    (kernel_meta / "fused.o").write_bytes(b"made before")
    assert super_kernel.compile({"op_list": []}, "fused") == str(kernel_meta / "fused.o")
    assert (kernel_meta / "fused.o").read_bytes() == b"made before" and os.listdir(kernel_meta) == ["fused.o"]


def test_names_and_folders_have_their_known_defaults(kernels, monkeypatch, tmp_path):
    monkeypatch.delenv("CANOPY_KERNEL_META")
    monkeypatch.chdir(tmp_path)
    image = super_kernel.compile({"op_list": [kernels("scale")]}, impl_mode="high_performance")
    assert image == str(tmp_path / "kernel_meta" / "ascendc_super_kernel_plus.o")
    assert sorted(os.listdir(tmp_path / "kernel_meta")) == [
        "ascendc_super_kernel_plus.json", "ascendc_super_kernel_plus.o"]


def test_entries_without_metadata_are_skipped(kernels):
    _, metadata, _ = fuse({"bin_path": "nothing"}, kernels("scale"))
    assert len(metadata["SuperkernelInfo"]["kernelList"]["aicore"]) == 1


def test_a_chip_without_control_address(kernels, monkeypatch, tmp_path):
    monkeypatch.setenv("CANOPY_CHIP", "Ascend950PR_9599")
    source = tmp_path / "newer.asc"
    source.write_text('#include "kernel_operator.h"\nextern "C" __global__ __vector__ void newer(GM_ADDR x) {}\n')
    entry = super_kernel.compile_kernel(str(source), "newer", folder=str(tmp_path))
    _, metadata, _ = fuse(entry, entry)
    steps = metadata["SuperkernelInfo"]["kernelList"]["aicore"]
    assert [step["arg_list"]["param_offset"] for step in steps] == [0, 1]


def test_the_same_input_gives_the_same_image(kernels, kernel_meta):
    image, _, _ = fuse(kernels("scale"), kernels("triple"))
    first = digest(image)
    os.remove(image)
    assert digest(fuse(kernels("scale"), kernels("triple"))[0]) == first


def run_module(*arguments):
    return subprocess.run([sys.executable, "-m", "super_kernel", *arguments], capture_output=True, text=True, check=False)


def test_the_command_line(kernels, tmp_path):
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps([kernels("scale"), kernels("scale")]))
    done = run_module(str(listed), "--name", "two", "--options", "feed-sync-all=1", "--folder", str(tmp_path / "out"))
    assert done.returncode == 0 and done.stdout.strip() == str(tmp_path / "out" / "two.o")
    assert read(tmp_path / "out" / "two.json")["workspace"]["size"] == [16384]
    bad = run_module(str(listed), "--name", "three", "--options", "nothing=1")
    assert bad.returncode == 1 and "EB0500" in bad.stderr
    assert run_module(str(tmp_path / "nowhere.json")).returncode == 2
    assert "--options" in run_module("--help").stdout
