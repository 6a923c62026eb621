#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the order of the source folders, as scripts/check_dependencies.py knows it, into docs/images/folders.svg, and
lists them in docs/architecture.md.

    scripts/draw_folders.py [--check]
"""
import argparse
import html
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_dependencies import ORDER, ROOMS, tree  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PICTURE, PAGE = DOCS / "images/folders.svg", DOCS / "architecture.md"
LIST = re.compile(r"(<!-- folders -->\n```\n).*?(```\n)", re.DOTALL)
WIDTH, MARGIN, LINE, GAP = 1040, 16, 22, 8
COLOURS = {"src/api": "#dbe9f6", "src/core": "#e3f1e1", "src/device": "#fff3d6", "src/base": "#eeeeee",
           "src/foundation": "#e0e0e0", "toolchain": "#f6e0e6", "src/dispatcher": "#ece2f5", "tools": "#ece2f5"}


class Drawing:
    def __init__(self):
        self.parts = []

    def text(self, x, y, words, style=""):
        self.parts.append(f'<text x="{x}" y="{y}" {style}>{html.escape(words)}</text>')

    def box(self, x, y, width, height, colour, title, note=""):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{colour}" '
                          'stroke="#777"/>')
        self.text(x + 8, y + 16, title, 'font-weight="bold"')
        if note:
            self.text(x + 8 + 7.6 * len(title) + 10, y + 16, note, 'fill="#555"')


def levels(house):
    """The levels of an ordered folder, the highest first, each as (name, what it holds)."""
    return [[(name, holds) for name, holds in level.items() if name] for level in reversed(ORDER[house])]


def stack(drawing, x, y, width, house, note):
    """One box per level inside the box of the folder; returns where it ends."""
    rows = [row for row in levels(house) if row]
    height = LINE + len(rows) * (LINE + 4) + GAP
    drawing.box(x, y, width, height, next(c for f, c in COLOURS.items() if house.startswith(f)), house, note)
    inside = y + LINE + 2
    for row in rows:
        each = (width - 2 * GAP - (len(row) - 1) * 6) / len(row)
        for index, (name, holds) in enumerate(row):
            drawing.box(round(x + GAP + index * (each + 6), 1), inside, round(each, 1), LINE, "#ffffff", name,
                        holds if len(row) == 1 or len(name + holds) * 7.2 < each - 20 else "")
        inside += LINE + 4
    return y + height


def picture():
    drawing = Drawing()
    left = 600
    right_x, right = MARGIN + left + 20, WIDTH - left - 2 * MARGIN - 20
    y = MARGIN
    drawing.box(MARGIN, y, WIDTH - 2 * MARGIN, 28, "#ffffff", "include", ROOMS["include"][0])
    top = y = y + 28 + GAP
    drawing.box(MARGIN, y, left, 28, COLOURS["src/api"], "src/api", ROOMS["src/api"][0])
    y = stack(drawing, MARGIN, y + 28 + GAP, left, "src/core", ROOMS["src/core"][0]) + GAP
    drawing.box(MARGIN, y, left, 28, COLOURS["src/device"], "src/device", "what core sees of devices, and the waist")
    y += 28 + GAP
    drawing.box(MARGIN, y, left, 28, COLOURS["src/device"], "src/device/apart", ROOMS["src/device/apart"][0])
    y = stack(drawing, MARGIN, y + 28 + GAP, left, "src/device/soft", ROOMS["src/device/soft"][0]) + GAP
    drawing.box(MARGIN, y, left, 28, COLOURS["src/device"], "src/device/null", ROOMS["src/device/null"][0])
    y = stack(drawing, MARGIN, y + 28 + GAP, left, "src/device/engine", ROOMS["src/device/engine"][0]) + GAP
    drawing.box(MARGIN, y, left, 28, COLOURS["src/device"], "src/device/execution", ROOMS["src/device/execution"][0])
    y += 28 + GAP
    drawing.box(MARGIN, y, left, 28, COLOURS["src/base"], "src/base", ROOMS["src/base"][0])
    beside = top
    for house in [house for house in ORDER if house.startswith("toolchain")]:
        beside = stack(drawing, right_x, beside, right, house, "") + GAP
    for folder in ("src/dispatcher", "tools"):
        drawing.box(right_x, beside, right, 28, COLOURS[folder], folder, ROOMS[folder][0])
        beside += 28 + GAP
    y = max(y + 28 + GAP, beside)
    drawing.box(MARGIN, y, WIDTH - 2 * MARGIN, 28, COLOURS["src/foundation"], "src/foundation",
                ROOMS["src/foundation"][0])
    height = y + 28 + MARGIN
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
                      f'height="{height}" font-family="monospace" font-size="12">',
                      '<rect width="100%" height="100%" fill="#fcfcfc"/>', *drawing.parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail when picture or list are not up to date")
    wanted = {PICTURE: picture(), PAGE: LIST.sub(lambda m: m.group(1) + tree() + "\n" + m.group(2),
                                                 PAGE.read_text(encoding="utf-8"))}
    if parser.parse_args().check:
        stale = [path.name for path, text in wanted.items()
                 if not path.is_file() or path.read_text(encoding="utf-8") != text]
        if stale:
            print(f"{', '.join(stale)}: not up to date with check_dependencies.py; run scripts/draw_folders.py",
                  file=sys.stderr)
        return 1 if stale else 0
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
