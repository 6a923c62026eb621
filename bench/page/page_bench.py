#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How long the page of a large profile takes to open, and how fast it moves, in headless Chromium:

    bench/page/page_bench.py [--build build/release] [--records 1000000]

The page is opened from a file with nothing cached; frames are those painted while the window moves over the whole run.
Needs the target write_page and the packages of `scripts/setup.sh test`."""
import argparse
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/page"))

import synthetic  # noqa: E402
from browser import Browser  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--records", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profile = synthetic.large(arguments.records)
        begin = time.monotonic()
        profile.write(arguments.build / "tests/page/write_page", folder / "p.canopyprof", folder / "p.html")
        written = time.monotonic() - begin
        size = (folder / "p.html").stat().st_size
        browser = Browser(1920, 1080)
        try:
            begin = time.monotonic()
            problem = browser.open(folder / "p.html")
            opened = time.monotonic() - begin
            if problem:
                sys.exit(f"page_bench: {problem}")
            times = browser.run("canopyPage.times")
            panned = browser.driver.execute_async_script("canopyPage.pan(120).then(arguments[0])")
        finally:
            browser.close()
    records = arguments.records
    print(f"records                   {records:,}")
    print(f"profile and page written  {written:.2f} s, from lines of text")
    print(f"page                      {size / 1e6:.1f} MB, {size / records:.1f} bytes a record")
    print(f"open                      {opened:.2f} s; of it in the script {times['shown'] / 1000:.2f} s"
          f" (reading {times['read'] / 1000:.2f} s, rows {times['rows'] / 1000:.2f} s)")
    print(f"moving                    {panned['frames'] / panned['milliseconds'] * 1000:.0f} frames/s,"
          f" {panned['paint'] / panned['frames']:.1f} ms to paint one")


if __name__ == "__main__":
    main()
