#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The generator of operator projects: what it writes for a description, and what it refuses.

    operator_project_test.py GENERATOR
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GENERATOR = sys.argv.pop(1)


def parameter(name, types=(1, 0), kind="required", follows="", combines=False):
    return {"name": name, "kind": kind, "types": list(types), "formats": [2], "follows": follows, "combines": combines}


OPERATOR = {"name": "AddCustomV2", "inputs": [parameter("x"), parameter("y")], "outputs": [parameter("z", (), follows="x")],
            "attributes": [{"name": "alpha", "type": "float", "required": False}],
            "chips": [{"name": "ascend910b", "inputs": [], "outputs": []}, {"name": "ascend310p", "inputs": [], "outputs": []}]}
KEYS = {"operator": "AddCustomV2", "declared": [["datatype", "T", "C_DT_FLOAT16, C_DT_FLOAT"], ["uint", "N", 8, 2, 1, 0, 2, 9],
                                                ["bool", "B", 0, 1]],
        "selected": [["combination", ""], ["datatype", "T", "half"], ["uint", "N", 1, 9, 1], ["bool", "B", 0],
                     ["combination", ""], ["datatype", "T", "C_DT_FLOAT"], ["uint", "N", 0, 1, 0, 1], ["bool", "B", 1],
                     ["other", "tiling", "X"]]}


def description(**changes):
    operator = copy.deepcopy(OPERATOR)
    keys = changes.pop("keys", [])
    tilings = changes.pop("tilings", [])
    operator.update(changes)
    return {"operators": [operator], "tilings": tilings, "keys": keys}


class Generator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "add_custom_v2.cpp").write_text("")

    def run_it(self, what, entry, *options):
        (self.folder / "d.json").write_text(json.dumps(entry))
        return subprocess.run([sys.executable, GENERATOR, what, self.folder / "d.json", self.folder / "out", *options],
                              capture_output=True, text=True, check=False)

    def kernels(self, entry, *options):
        result = self.run_it("kernels", entry, f"--sources={self.folder}", *options)
        self.assertEqual(result.stderr, "")
        return {path.name: path.read_text() for path in (self.folder / "out").iterdir()}

    def refuses(self, text, entry, *options, what="calls"):
        result = self.run_it(what, entry, *options)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(text, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_calls_have_the_parameters_in_order(self):
        entry = description(inputs=[parameter("x", kind="dynamic"), parameter("y", kind="optional"), parameter("v")],
                            outputs=[parameter("v"), parameter("w")],
                            attributes=[{"name": "alpha", "type": "float", "required": False},
                                        {"name": "list", "type": "ints", "required": False},
                                        {"name": "name", "type": "string", "required": True}])
        self.assertEqual(self.run_it("calls", entry).stderr, "")
        header = (self.folder / "out" / "aclnn_add_custom_v2.h").read_text()
        self.assertIn("aclnnStatus aclnnAddCustomV2GetWorkspaceSize(\n    const aclTensorList* x,\n    const aclTensor* yOptional,\n"
                      "    const aclTensor* vRef,\n    double alpha,\n    const aclIntArray* listOptional,\n    const char* name,\n"
                      "    const aclTensor* wOut,\n    uint64_t* workspaceSize,\n    aclOpExecutor** executor);", header)
        source = (self.folder / "out" / "aclnn_add_custom_v2.cpp").read_text()
        self.assertIn("call.input(yOptional, false);", source)
        self.assertIn("call.output(vRef);\n    call.output(wOut);", source)

    def test_nothing_is_written_again_without_a_change(self):
        self.run_it("calls", description())
        before = {path: path.stat().st_mtime_ns for path in (self.folder / "out").iterdir()}
        self.run_it("calls", description())
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in (self.folder / "out").iterdir()})

    def test_there_is_a_kernel_for_each_chip_and_combination(self):
        files = self.kernels(description())
        self.assertEqual(sorted(files), ["add_custom_v2_2002_0.cpp", "add_custom_v2_2002_1.cpp", "add_custom_v2_2201_0.cpp",
                                         "add_custom_v2_2201_1.cpp", "kernels.txt"])
        self.assertIn("#define DTYPE_Z half\n#define ORIG_DTYPE_Z 1\n", files["add_custom_v2_2201_0.cpp"])
        self.assertIn("#define DTYPE_Z float\n", files["add_custom_v2_2201_1.cpp"])
        self.assertEqual(len(files["kernels.txt"].splitlines()), 4)

    def test_only_the_chips_of_the_build(self):
        files = self.kernels(description(), "--chips=Ascend910B3,ascend910_95")
        self.assertEqual(len(files["kernels.txt"].splitlines()), 2)

    def test_lists_of_types_combine(self):
        entry = description(inputs=[parameter("x"), parameter("y", (3, 9), combines=True)])
        self.assertEqual(len(self.kernels(entry, "--chips=ascend910b")["kernels.txt"].splitlines()), 4)

    def test_a_tiling_class_is_a_structure(self):
        inner = {"name": "Inner", "fields": [{"type": "float", "name": "f", "count": 3}]}
        cube = {"name": "TCubeTiling", "fields": []}
        tiling = {"name": "Outer", "fields": [{"type": "Inner", "name": "i", "count": 0, "structure": inner},
                                              {"type": "TCubeTiling", "name": "c", "count": 0, "structure": cube}]}
        files = self.kernels(description(tilings=[{"operator": "AddCustomV2", "class": tiling}]))
        self.assertIn("struct Inner {\n    float f[3];\n};\nstruct Outer {\n    Inner i;\n    AscendC::tiling::TCubeTiling c;\n};\n"
                      "using canopy_default_tiling = Outer;\n", files["add_custom_v2_2201_0.cpp"])

    def test_keys_select_instances(self):
        text = self.kernels(description(keys=[KEYS]))["add_custom_v2_2201_0.cpp"]
        for key, words in ((1 | 3 << 8, "half, 9, 0"), (1 | 1 << 8, "half, 1, 0"), (1 << 16, "float, 0, 1"),
                           (1 << 8 | 1 << 16, "float, 1, 1")):
            self.assertIn(f"case {key}ull:\n            return add_custom_v2_2201_0<{words}>(", text)
        self.assertEqual(text.count("case "), 4)

    def test_mistakes_are_reported(self):
        self.refuses("OP_ADD adds one", {"operators": [], "tilings": [], "keys": []})
        self.refuses("AddCustomV2: AICore() names no chip", description(chips=[]))
        self.refuses("the chip ascend42 is not known", description(), "--chips=ascend42")
        self.refuses("is defined for ascend910b, ascend310p, and built for ascend310b", description(), "--chips=ascend310b")
        self.refuses("y has no DataType", description(inputs=[parameter("x"), parameter("y", ())]))
        self.refuses("y has 3 types, another parameter has 4",
                     description(inputs=[parameter("x", (0, 1, 2, 3)), parameter("y", (0, 1, 2))]))
        self.refuses("the data type 13 cannot be used", description(inputs=[parameter("x", (13,)), parameter("y", (0,))]))
        self.refuses("the attribute a has no type", description(attributes=[{"name": "a", "type": "none", "required": True}]))
        self.refuses("there is no kernel source", description(name="Other"), f"--sources={self.folder}", what="kernels")
        wrong = copy.deepcopy(KEYS)
        wrong["selected"][2] = ["uint", "N", 1, 4]
        self.refuses("N is selected as 4, which is not declared", description(keys=[wrong]), f"--sources={self.folder}",
                     what="kernels")
        del wrong["selected"][2]
        self.refuses("a selection of template arguments lacks N", description(keys=[wrong]), f"--sources={self.folder}",
                     what="kernels")


if __name__ == "__main__":
    unittest.main()
