#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom. ROOMS below is the map of the source tree.

Four rules: a file includes only what its folder may see; folders that form an order include downwards only; no two
units include each other, directly or through others (a unit is a header with the .cpp files that implement it); and
core makes no pointers from device addresses: it neither sees the header that does, nor casts their numbers.

    scripts/check_dependencies.py [--root FOLDER] [--tree]
"""
import argparse
import pathlib
import re
import sys

# Folder, what it holds, and what its files may include besides each other: prefixes of paths. A file belongs to the
# longest folder that holds it. Folders that are not listed may include anything.
WAIST = ("src/device/command.h", "src/device/command_place.h", "src/device/driver.h", "src/device/image.h", "src/device/fusion.h")
HEAP = ("src/device/heap_allocations.h", "src/device/heap_checker.h")
POINTERS = ("src/device/opaque_pointer.h",)  # makes pointers from device addresses
DEVICES = (*WAIST, *HEAP, "src/device/device.h", "src/device/host_ranges.h", "src/device/outside_signals.h", "src/device/trace.h", "src/device/fused_list.h", "src/device/fused_module.h")
WATCHING = ("src/watch/",)
RECORDING = ("src/profile/record.h", "src/record/")
CHECKING = ("src/check/", "src/device/launch_checker.h")
KERNEL_FORMAT = ("include/canopy/chips.h", "include/canopy/kernel_abi.h", "include/canopy/kernel_image.h",
                 "include/canopy/kernel_trace.h", "include/canopy/kernel_check.h", "include/canopy/fusion_profile.h")
ROOMS = {
    "include": ("the public interface", ("include/",)),
    "src/foundation": ("what runtime, dispatcher and canopy-cc share", (*KERNEL_FORMAT,)),
    "src/base": ("memory, threads, time and errors for the runtime", ("src/foundation/",)),
    "src/fmt_library": ("the formatting library, compiled once", ()),
    "src/profile": ("profiles: their files, and what is made from them", ("src/foundation/",)),
    "src/dump": ("dump files, and statistics of what they hold", ("src/foundation/",)),
    "src/record": ("recording what a process does, for profiles", ("src/foundation/", "src/base/", "src/profile/")),
    "src/check": ("the order that a chip keeps, and what breaks it", ("src/foundation/", *KERNEL_FORMAT)),
    "src/watch": ("what running processes tell about their devices", ("src/foundation/",)),
    "src/device": ("the waist: what a kind of device implements (driver.h), and what core sees of devices (device.h)",
                   ("src/foundation/", "src/base/", "src/check/", *KERNEL_FORMAT)),
    "src/device/execution": ("running code of programs on this process's threads, guarded against faults",
                             ("src/foundation/", "src/base/", *WAIST, *KERNEL_FORMAT)),
    "src/device/engine": ("streams, graphs and CPU kernels for every kind of device",
                          ("src/foundation/", "src/base/", *RECORDING, *WATCHING, *CHECKING, "src/device/execution/",
                           *DEVICES, *POINTERS, *KERNEL_FORMAT)),
    "src/device/null": ("the smallest kind of device: computes nothing",
                        ("src/foundation/", "src/base/", *WAIST, *HEAP, *POINTERS, *KERNEL_FORMAT)),
    "src/device/soft": ("the software NPU",
                        ("src/foundation/", "src/base/", *RECORDING, *CHECKING, "src/device/execution/",
                         "src/device/engine/", *WAIST, *HEAP, *POINTERS, *KERNEL_FORMAT)),
    "src/device/apart": ("the software NPU in a separate process",
                         ("src/foundation/", "src/base/", *CHECKING, "src/device/engine/",
                          "src/device/soft/services.h", *DEVICES, *POINTERS, *KERNEL_FORMAT)),
    "src/builtin": ("kernels of the runtime itself, compiled by canopy-cc",
                    ("src/foundation/", "toolchain/include/kernel_operator.h")),
    "src/core": ("the runtime above devices",
                 ("src/foundation/", "src/base/", "src/profile/", "src/dump/", "src/record/", *WATCHING, *CHECKING,
                  *DEVICES, "src/builtin/", "include/")),
    "src/api": ("the C functions of the interface",
                ("src/foundation/", "src/base/", "src/profile/", "src/dump/", "src/record/", *CHECKING, *DEVICES,
                 *POINTERS, "src/builtin/", "src/core/", "include/")),
    "src/dispatcher": ("inner runtimes on CPU cores", ("src/foundation/", "include/")),
    "toolchain": ("the kernel compiler, its headers, host libraries and the install tree",
                  ("include/", "toolchain/include/", "src/foundation/")),
    "toolchain/driver": ("canopy-cc", ("include/", "src/foundation/")),
    "toolchain/include/canopy_kernel": ("the kernel language", ("include/", "toolchain/include/")),
    "tools": ("canopy and canopy-graph",
              ("include/", "src/foundation/", "src/profile/", "src/dump/", "src/watch/", "src/check/",
               "toolchain/driver/source/lex.h")),
    "python": ("the Python modules", ("include/",)),
    "examples": ("programs to start from", ("include/", "toolchain/include/")),
    "bench": ("measurements beside rivals", ("include/", "toolchain/include/")),
    "bench/profile": ("measurements of what is made from profiles", ("src/foundation/", "src/profile/", "bench/harness/")),
    "bench/micro": ("measurements below the interface", ("src/foundation/", "src/base/")),
    "tests/conformance": ("tests of the interface, run on every device",
                          ("include/", "toolchain/include/", "tests/until.h", "tests/fifo.h")),
    "tests/interface": ("tests of the public headers", ("include/",)),
}
# Folders whose files may include anything, or that hold no C++.
FREE = {
    "tests/unit": "tests below the interface, by the folder they test",
    "tests/check": "tests of the model of a chip that launches are compared with",
    "tests/profile": "tests of what is made from profiles",
    "tests/language": "tests of the kernel language, compiled by canopy-cc",
    "tests/toolchain": "tests of canopy-cc",
    "tests/dispatcher": "tests of the dispatcher",
    "tests/share": "objects between processes, in several processes",
    "tests/dump": "dumps of failures, run again and read by others",
    "tests/queue": "queues between threads and processes, some of them killed",
    "tests/stress": "many threads and random graphs",
    "tests/fuzz": "changed inputs for every reader",
    "tests/programs": "whole programs",
    "tests/python": "tests of the Python modules",
    "tests/install": "tests of the install tree",
    "tests/packages": "the .deb and the wheel in an empty root",
    "tests/zoo": "programs in the styles of other people, built unmodified",
    "tests/scripts": "tests of scripts/",
    "tests/tiling": "tests of the host tiling library",
    "tests/doctor": "tests of canopy doctor",
    "tests/page": "the page of a profile, in a browser",
    "tests/watch": "canopy top and npu-smi, looking at a program with known figures",
    "tests/examples": "the examples, built and run",
    "scripts": "set-up, checks, pictures",
    "cmake": "how libraries and tests are declared",
    "packaging": "the Debian package and the wheel",
    "docs": "pages for users and developers; decisions/ has the reasons",
}
# Sub-folders from the bottom up; those of one level do not see each other. "" is the files of the folder itself.
ORDER = {
    "src/core": (
        {"base": "handles, error codes, the state of a thread"},
        {"check": "checking launches: what is found, and the end of a process that had findings"},
        {"process": "settings, devices, contexts, tables of handles"},
        {"share": "objects shared between processes: keys, connections, the porter"},
        {"stream": "streams, events, notifies, callbacks"},
        {"memory": "allocations, pools, copies, random numbers"},
        {"snapshot": "locking the process, saving its devices and bringing them back"},
        {"queue/shared": "queues and buffers in memory that processes share"},
        {"queue": "queues, buffers, routes, channels"},
        {"kernel": "binaries, functions, argument lists"},
        {"kernel/cpu": "CPU kernels"},
        {"kernel/program": "kernels that are part of the program or registered by it"},
        {"fusion": "fused lists of kernels"},
        {"launch": "launches, and those that fail"},
        {"dump": "dumps of launches and of failures, and running a failed block again"},
        {"graph": "graphs"},
        {"graph/capture": "recording streams into graphs"},
        {"profile": "profiling sessions, subscriptions, marks of programs"},
        {"lifecycle": "aclInit to aclFinalize, contexts, hooks of lower folders"},
    ),
    "src/device/engine": (
        {"code": "modules and traces", "cpu": "CPU kernels"},
        {"memory": "copies, fills and words in memory of any device"},
        {"stream": "queues, strands, fences, the scheduler"},
        {"graph": "graphs"},
        {"": "the device itself, deferred frees"},
    ),
    "src/device/soft": (
        {"code": "code of images", "product": "matrix products", "memory": "virtual memory"},
        {"launch": "launches and fused steps"},
        {"": "the driver and the services of kernels"},
    ),
    "toolchain/driver": (
        {"base": "running programs, complaints, times"},
        {"options": "the command line, and the install tree"},
        {"source": "reading and rewriting C++ with kernels"},
        {"compile": "compiling and linking with clang"},
        {"image": "metadata, embedding, fused images"},
        {"": "canopy-cc itself"},
    ),
    "toolchain/include/canopy_kernel": (
        {"target": "what the code runs on"},
        {"core": "tensors, queues, flags of a core"},
        {"copy": "copies between memories"},
        {"vector": "vector operations"},
        {"cube": "matrix operations"},
        {"simt": "SIMT kernels", "intrinsics": "instructions by name"},
        {"high_level": "softmax, norms, sorting and the like as one call", "registers": "register programming"},
        {"c_interface": "the C interface", "tensor_interface": "the tensor interface"},
    ),
}
SEARCH = ("src", "include", "include/pkg_inc", "toolchain/include", "toolchain/driver", "tests", "tests/conformance", "tests/unit", "bench")
WITHOUT_POINTERS = "src/core/"  # here device addresses stay addresses
POINTER_FROM_NUMBER = re.compile(r"(?:_cast<[^<>]*\*\s*>|\bopaque_of)\s*\([^;]*\bvalue\(\)")
FORBIDDEN_FOLDERS = {"common", "utils", "util", "helpers", "misc"}
# Two headers of the interface that programs may include in either order.
CYCLE_OF_THE_INTERFACE = {"include/acl/acl_rt", "include/acl/acl_rt_memory_soma"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
FIRST_ALONE = re.compile(r'#include "([^"]+)"\n\n')


def sources(root):
    for top in ("include", "src", "toolchain", "tools", "python", "examples", "bench", "tests"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".cpp", ".c") and path.is_file():
                yield path


def resolve(root, path, quoted, name):
    """The file of this repository that an include names; None when it is somebody else's."""
    folders = [path.parent] if quoted else []
    for folder in folders + [root / place for place in SEARCH]:
        candidate = folder / name
        if candidate.is_file():
            return candidate.resolve().relative_to(root).as_posix()
    return None


def longest(folders, name):
    """The longest of these folders that holds the file; None when there is none."""
    found = [folder for folder in folders if name.startswith(folder + "/")]
    return max(found, key=len) if found else None


def room(name):
    """The folder whose rule a file follows. A device that is not listed follows the rule of the software NPU."""
    folder = longest(ROOMS, name)
    if folder == "src/device" and name.count("/") > 2:
        return "src/device/soft"
    return folder


def place(name):
    """An ordered folder, and the sub-folder and level of a file in it; None when its folder has no order."""
    house = longest(ORDER, name)
    if house is None:
        return None
    inside = name[len(house) + 1:]
    best = None
    for level, folders in enumerate(ORDER[house]):
        for folder in folders:
            if (folder == "" and "/" not in inside) or (folder and inside.startswith(folder + "/")):
                if best is None or len(folder) > len(best[0]):
                    best = (folder, level)
    return (house, *best) if best else (house, None, None)


def check_rooms(name, targets):
    folder, here = room(name), place(name)
    if folder is None and name.startswith("src/"):
        yield f"{name}: its folder is not in the map"
    if here and here[1] is None:
        yield f"{name}: its folder is not in the order of {here[0]}/"
    for target in targets:
        if folder is not None and room(target) != folder and not target.startswith(ROOMS[folder][1]):
            yield (f"{name}: may not include {target} (files of {folder}/ see "
                   f"{', '.join(ROOMS[folder][1]) or 'nothing else'})")
        there = place(target)
        if not here or not there or here[0] != there[0] or here[1] is None or there[1] is None or here[1] == there[1]:
            continue
        if there[2] >= here[2]:
            yield f"{name}: upward include of {target} ({here[1] or here[0]} lies below {there[1] or there[0]})"


def check_pointers(name, text, includes):
    """Core does not reach the header that makes pointers, through others either, and does not make them itself."""
    if not name.startswith(WITHOUT_POINTERS):
        return
    for match in POINTER_FROM_NUMBER.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{name}:{line}: makes a pointer from the number of an address; use transfer and fill"
    trails, seen = [[target] for target in includes[name]], {name}
    while trails:
        trail = trails.pop(0)
        for target in includes.get(trail[-1], ()):
            if target in POINTERS:
                yield f"{name}: reaches {target} through {' -> '.join(trail)}"
            elif target not in seen:
                seen.add(target)
                trails.append(trail + [target])


def unit_of(name, targets, text):
    """A header's path without its suffix; for a .cpp file that of the header it implements: the one of the same name,
    else the one of its folder that it includes first, apart from the others."""
    stem, suffix = name.rsplit(".", 1)
    if suffix == "h" or stem + ".h" in targets:
        return stem
    alone = FIRST_ALONE.match(text[text.find("#include"):])
    same_folder = targets and targets[0].rpartition("/")[0] == name.rpartition("/")[0]
    if alone and same_folder and targets[0].endswith(alone.group(1)):
        return targets[0].rsplit(".", 1)[0]
    return stem


def components(graph):
    """Groups of nodes that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(group)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def shortest_cycle(graph, group):
    best = None
    for start in sorted(group):
        trails, seen = [[start]], {start}
        while trails:
            trail = trails.pop(0)
            if best and len(trail) >= len(best):
                break
            for target in sorted(graph[trail[-1]] & set(group)):
                if target == start:
                    best = trail + [start]
                    trails = []
                    break
                if target not in seen:
                    seen.add(target)
                    trails.append(trail + [target])
    return best


def check_cycles(includes, units):
    graph = {}
    for name, targets in includes.items():
        edges = graph.setdefault(units[name], set())
        edges.update(units.get(target, target) for target in targets)
        edges.discard(units[name])
    for group in components(graph):
        if set(group) != CYCLE_OF_THE_INTERFACE:
            yield f"cycle of {len(group)} units: " + " -> ".join(shortest_cycle(graph, group))


def tree():
    """A line for each folder, ordered folders with their sub-folders from the top down."""
    lines = []
    for folder, holds in [(folder, room[0]) for folder, room in ROOMS.items()] + list(FREE.items()):
        lines.append(f"{folder + '/':36}{holds}")
        for level in reversed(ORDER.get(folder, ())):
            lines += [f"    {name + '/':32}{holds}" for name, holds in level.items() if name]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--tree", action="store_true", help="print the folders with a line each")
    arguments = parser.parse_args()
    if arguments.tree:
        print(tree())
        return 0
    root = arguments.root.resolve()
    problems, texts, includes, units = [], {}, {}, {}
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        # Programs of the zoo name their folders as their authors would.
        if FORBIDDEN_FOLDERS & set(name.split("/")[:-1]) and not name.startswith("tests/zoo/"):
            problems.append(f"{name}: a folder for everything and nothing; give it the name of what it holds")
        text = texts[name] = path.read_text(encoding="utf-8")
        targets = [resolve(root, path, match.group(1) == '"', match.group(2)) for match in INCLUDE.finditer(text)]
        includes[name] = [target for target in targets if target is not None]
        units[name] = unit_of(name, includes[name], text)
        problems.extend(check_rooms(name, includes[name]))
    for name, text in texts.items():
        problems.extend(check_pointers(name, text, includes))
    problems.extend(check_cycles(includes, units))
    for problem in problems:
        print(problem)
    if problems:
        print(f"check_dependencies: {len(problems)} problems in {len(includes)} files", file=sys.stderr)
        return 1
    print(f"check_dependencies: {len(includes)} files keep the rule")
    return 0


if __name__ == "__main__":
    sys.exit(main())
