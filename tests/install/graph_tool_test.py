#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs canopy-graph on traces as aclmdlRIDebugJsonPrint writes them, and on files that are not traces.

    graph_tool_test.py <canopy-graph> <folder to work in>
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

TOOL, WORK = sys.argv[1], pathlib.Path(sys.argv[2])
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'add<float, "x">&\n\x01</text>\\"é' + "\uffff" + "_very_long" * 20


class Trace:
    """A trace under construction: graphs with streams of tasks."""

    def __init__(self):
        self.events, self.graphs, self.flows = [], 0, 0

    def graph(self, name, streams, parent=None):
        self.graphs += 1
        facts = {"name": name, "graph": self.graphs, "state": "ready"}
        if parent:
            facts.update(dict(zip(("parent", "lane", "position"), parent)), runs="if the word is not 0")
        self.events.append({"ph": "M", "name": "process_name", "pid": self.graphs, "tid": 0, "args": facts})
        for lane, tasks in enumerate(streams):
            self.events.append({"ph": "M", "name": "thread_name", "pid": self.graphs, "tid": lane + 1,
                                "args": {"name": f"stream {lane + 10}", "lane": lane}})
            for position, (kind, label, details) in enumerate(tasks):
                self.events.append({"ph": "X", "name": label, "cat": kind, "pid": self.graphs, "tid": lane + 1,
                                    "ts": 100 * position, "dur": 90,
                                    "args": {"task": position, "kind": kind, **details, "lane": lane,
                                             "position": position}})
        return self.graphs

    def edge(self, graph, source, target, category="order"):
        self.flows += 1
        ends = {"from": dict(zip(("lane", "position"), source)), "to": dict(zip(("lane", "position"), target))}
        for phase, place in (("s", source), ("f", target)):
            self.events.append({"ph": phase, "name": "event 3", "cat": category, "id": self.flows, "pid": graph,
                                "tid": place[0] + 1, "ts": 100 * place[1], "args": ends})

    def text(self):
        return json.dumps({"otherData": {"format": "canopy-graph", "version": 1}, "traceEvents": self.events})


def kernel(name, **details):
    return ("kernel", name, {"kernel": name, "blocks": 8, **details})


def fork_and_join():
    trace = Trace()
    first = [("copy", "copy 4 KiB", {"bytes": 4096, "direction": "host to device"}), ("event record", "record event 3", {}),
             kernel("left"), ("event wait", "wait event 4", {}), kernel("sum", group=0), kernel(HOSTILE, group=0)]
    second = [("event wait", "wait event 3", {}), kernel("right", disabled=True), ("event record", "record event 4", {})]
    graph = trace.graph('graph 1 "fork"', [first, second])
    trace.edge(graph, (0, 1), (1, 0))
    trace.edge(graph, (1, 2), (0, 3))
    return trace


def conditions():
    trace = Trace()
    outer = trace.graph("graph 1", [[kernel("before"), ("condition", "if", {"word": "0x10"}), kernel("after")]])
    body = trace.graph("graph 2", [[kernel("chosen"), ("condition", "while", {})], [kernel("beside")]], (outer, 0, 1))
    trace.graph("graph 3", [[kernel("again")]], (body, 0, 1))
    trace.graph("graph 4", [[]], (outer, 0, 1))
    return trace


def run(*arguments, **options):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


class Drawing(unittest.TestCase):
    def draw(self, trace, *arguments):
        path = WORK / "trace.json"
        path.write_text(trace.text())
        done = run(path, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def boxes(self, picture):
        """By the first line of its tooltip: left, top, right, bottom."""
        found = {}
        for group in xml.etree.ElementTree.fromstring(picture).iter(SVG + "g"):
            box = group.find(SVG + "rect").attrib
            x, y, width, height = (float(box[name]) for name in ("x", "y", "width", "height"))
            found[group.find(SVG + "title").text.split("\n")[0]] = (x, y, x + width, y + height)
        return found

    def test_SvgPutsStreamsIntoColumnsAndTasksBelowWhatTheyWaitFor(self):
        boxes = self.boxes(self.draw(fork_and_join()))
        self.assertEqual(len(boxes), 9)
        for above, below in (("copy 4 KiB", "record event 3"), ("record event 3", "wait event 3"),
                             ("wait event 3", "right"), ("record event 4", "wait event 4"), ("left", "wait event 4")):
            self.assertLess(boxes[above][3], boxes[below][1], f"{above} above {below}")
        self.assertLess(boxes["left"][2], boxes["right"][0])

    def test_BoxesOfOneGraphDoNotOverlap(self):
        boxes = list(self.boxes(self.draw(fork_and_join())).values())
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                self.assertTrue(a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1])

    def test_EverythingLiesInsideThePicture(self):
        picture = self.draw(conditions())
        page = xml.etree.ElementTree.fromstring(picture).attrib
        for box in self.boxes(picture).values():
            self.assertTrue(0 <= box[0] and 0 <= box[1] and box[2] <= float(page["width"]) and box[3] <= float(page["height"]))

    def test_SubGraphsLieInsideTheirConditions(self):
        boxes = self.boxes(self.draw(conditions()))

        def inside(inner, outer):
            a, b = boxes[inner], boxes[outer]
            return b[0] < a[0] and b[1] < a[1] and a[2] < b[2] and a[3] < b[3]
        self.assertTrue(inside("chosen", "if") and inside("while", "if") and inside("again", "while"))
        self.assertFalse(inside("before", "if") or inside("after", "if"))
        self.assertLess(boxes["if"][3], boxes["after"][1])

    def test_LongNamesAreCutAndWholeInTheTooltip(self):
        root = xml.etree.ElementTree.fromstring(self.draw(fork_and_join()))
        titles = [element.text for element in root.iter(SVG + "title")]
        shown = [element.text for element in root.iter(SVG + "text")]
        self.assertTrue(any("_very_long" * 20 in text for text in titles))
        self.assertTrue(any(text.startswith("add<float") and text.endswith("…") for text in shown))
        self.assertFalse(any(len(text) > 80 for text in shown))

    def test_DisabledTasksAndGroupsAreMarked(self):
        picture = self.draw(fork_and_join())
        self.assertIn('class="box off"', picture)
        self.assertEqual(len(re.findall('class="group"', picture)), 1)

    def test_DotQuotesWhatNamesHold(self):
        text = self.draw(fork_and_join(), "--format", "dot")
        self.assertTrue(text.startswith("digraph canopy {") and text.endswith("}\n"))
        self.assertIn('label="add<float, \\"x\\">&', text)
        self.assertIn('g0s0t1 -> g0s1t0 [label="event 3"];', text)
        self.assertIn("g0s0t0 -> g0s0t1;", text)
        self.assertEqual(len(re.findall(r"(?<!\\)\"", text)) % 2, 0)

    def test_DotNestsSubGraphs(self):
        text = self.draw(conditions(), "--format=dot")
        self.assertRegex(text, r"(?s)subgraph cluster_g0 .*subgraph cluster_g1 .*subgraph cluster_g2 ")
        self.assertIn("lhead=cluster_g2", text)

    def test_StreamsThatStartEachOtherInACircleAreDrawn(self):
        trace = Trace()
        graph = trace.graph("graph 1", [[kernel("a"), kernel("b")], [kernel("c"), kernel("d")]])
        trace.edge(graph, (0, 1), (1, 0))
        trace.edge(graph, (1, 1), (0, 0))
        trace.edge(graph, (0, 1), (0, 0), "control")
        self.assertEqual(len(self.boxes(self.draw(trace))), 4)

    def test_AnEmptyGraphIsDrawn(self):
        trace = Trace()
        trace.graph("graph 1", [])
        self.assertIn("graph 1", self.draw(trace))

    def test_TheOutputIsWrittenInTheFormatOfItsName(self):
        trace, svg, dot = WORK / "in.json", WORK / "out.svg", WORK / "out.dot"
        trace.write_text(fork_and_join().text())
        self.assertEqual(run(trace, "-o", svg).returncode, 0)
        self.assertEqual(run("-", "--output", dot, input=trace.read_text()).returncode, 0)
        self.assertTrue(svg.read_text().startswith("<svg"))
        self.assertTrue(dot.read_text().startswith("digraph"))


class Refusing(unittest.TestCase):
    def refuse(self, content, words, *arguments):
        path = WORK / "bad.json"
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(content)
        done = run(path, *arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertTrue(done.stderr.startswith(f"canopy-graph: {path if not arguments else ''}"), done.stderr)
        self.assertIn(words, done.stderr)

    def test_MissingFile(self):
        self.refuse(None, "cannot be read: No such file or directory")

    def test_BrokenJson(self):
        whole = fork_and_join().text()
        self.refuse(whole[:len(whole) // 2], "is not valid JSON: error at byte")
        self.refuse("", "is not valid JSON")

    def test_TracesOfOthers(self):
        for content in ("[]", "{}", '"x"', '{"traceEvents": []}', '{"otherData": 3, "traceEvents": []}',
                        '{"otherData": {"format": 1}, "traceEvents": []}', '{"otherData": {"format": "canopy-graph"}}'):
            self.refuse(content, "not a graph written by aclmdlRIDebugJsonPrint")

    def test_AnotherVersion(self):
        self.refuse(fork_and_join().text().replace('"version": 1', '"version": 2'), "another version of Canopy (format 2")

    def test_DamagedTraces(self):
        self.refuse('{"otherData": {"format": "canopy-graph", "version": 1}, "traceEvents": []}', "contains no graph")
        trace = fork_and_join()
        trace.edge(1, (0, 0), (7, 0))
        self.refuse(trace.text(), "is damaged: an edge leads to a missing task")
        for number in range(len(fork_and_join().events)):
            for key in ("ph", "pid", "args", "name", "cat"):
                trace = fork_and_join()
                if trace.events[number].pop(key, None) is None or trace.events[number].get("ph") == "f":
                    continue
                if trace.events[number].get("ph") == "M" and key == "cat":
                    continue
                if key in ("name", "cat") and trace.events[number].get("ph") not in ("X", "s", "M"):
                    continue
                self.refuse(trace.text(), "is damaged")

    def test_OutputThatCannotBeWritten(self):
        self.refuse(fork_and_join().text(), "cannot be written: No such file or directory", "-o", WORK / "no" / "such.svg")

    def test_WrongArguments(self):
        for arguments in ([], ["x", "--format", "png"], ["x", "--unknown"]):
            self.assertNotEqual(run(*arguments).returncode, 0)
        self.assertIn("aclmdlRIDebugJsonPrint", run("--help").stdout)


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=1)
