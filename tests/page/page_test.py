# SPDX-License-Identifier: Apache-2.0
"""Opens pages of profiles that are known by construction in a headless browser and compares what they show with the
records: page_test.py WRITE_PAGE FOLDER"""
import json
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import unittest

from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By

import synthetic
from browser import Browser

WRITE_PAGE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
VIEW = "canopyPage.view.timeline"
HOSTILE = ["</script><script>window.hurt = 1</script>", "<img src=x onerror='window.hurt = 1'>", "\u202eesrever", "x" * 3000,
           "@PROFILE@", "a\x00b\nc\td", "&lt;b&gt; \"quoted\" 'name'", "核函数_加", b"broken \xff\xfe utf-8"]


def write(name, profile):
    path = FOLDER / f"{name}.html"
    profile.write(WRITE_PAGE, FOLDER / f"{name}.canopyprof", path)
    return path


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.driver = cls.browser.driver
        cls.profile = synthetic.known()
        cls.profile.line("lost", 1, 12)
        cls.path = write("known", cls.profile.end())

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.assertRegex(message["params"]["request"]["url"], "^(file|data|chrome)")

    def open(self, path=None):
        self.assertEqual(self.browser.open(path or self.path), "")

    def run_js(self, expression, *arguments):
        return self.browser.run(expression, *arguments)

    def text(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css).text

    def click(self, css):
        self.driver.find_element(By.CSS_SELECTOR, css).click()

    def fields(self):
        """Label and value of what the details show."""
        return self.run_js("Object.fromEntries([...document.querySelectorAll('#details dt')].map(label => "
                           "[label.textContent, label.nextSibling.textContent]))")

    def title(self):
        return self.text("#details h2")

    def indices(self):
        """What the page holds: kind, begin, duration and label of each record, in its order."""
        return self.run_js("(p => Array.from({length: p.count}, (_, i) => [p.kind[i], p.begin[i], p.duration[i], "
                           "p.texts[p.label(i)], p.stream[i], p.task[i]]))(canopyPage.profile)")

    def point_at(self, x, y):
        """Pointer actions that begin at a point of the window."""
        actions = ActionChains(self.driver, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(round(x), round(y))
        return actions

    def click_record(self, index):
        self.run_js(f"canopyPage.view.select({index})")
        self.run_js("canopyPage.view.select(-1)")
        self.browser.painted()
        point = self.run_js(f"canopyPage.pointOf({index})")
        actions = self.point_at(point["x"], point["y"])
        actions.w3c_actions.pointer_action.click()
        actions.perform()

    def find(self, kind, label=None, stream=None):
        """Places of records in the page."""
        return [place for place, record in enumerate(self.indices()) if record[0] == synthetic.KIND[kind]
                and (label is None or record[3] == label) and (stream is None or record[4] == stream)]

    def span(self):
        return self.run_js(f"[{VIEW}.from, {VIEW}.until]")

    # ---- what is there ----------------------------------------------------------------------------------------------

    def test_holds_every_record(self):
        self.open()
        names = {number: raw.decode() for raw, number in {**self.profile.names, **self.profile.marks}.items()}
        first = min(record["begin"] for record in self.profile.records)
        expected = sorted([synthetic.KIND[r["kind"]], r["begin"] - first, r["duration"],
                           names[r["object"] if r["kind"] == "mark" else r["name"]] if r["name"] else "", r["link"] >> 32,
                           r["link"] & 0xFFFFFFFF] for r in self.profile.records)
        self.assertEqual(sorted(self.indices()), expected)

    def test_names_rows_as_text_and_counts_their_records(self):
        self.open()
        labels = [label.text.replace("\n", " ") for label in self.driver.find_elements(By.CSS_SELECTOR, "#labels .name")]
        streams = [f"Stream {number}" for number in (1, 2, 3, 4)]
        for expected in ["training", "Workers busy of 4", "Memory in use", "Stream 1 priority 5", *streams[1:], "Graph nodes",
                         "Fused steps", "Host to device", "Device to host", "main", "Worker 0", "Worker 3"]:
            self.assertIn(expected, labels)
        counts = self.run_js(f"Object.fromEntries({VIEW}.rows.map(row => [row.label, row.records.length]))")
        for number, stream in enumerate(streams, 1):
            self.assertEqual(counts[stream], sum(r["kind"] == "task" and r["link"] >> 32 == number for r in self.profile.records))
        self.assertEqual(counts["main"], sum(r["kind"] == "call" for r in self.profile.records))
        self.assertEqual(counts["Graph nodes"], 24 * 6)
        header = self.text("header")
        for expected in ("train_step", "Device 0: Ascend910B4", f"{len(self.profile.records):,} records", "12 records lost", "18.5 ns"):
            self.assertIn(expected, header)

    def test_draws_no_overlapping_spans_in_a_lane(self):
        self.open()
        self.assertEqual(self.run_js(f"{VIEW}.rows.flatMap(row => row.lanes).filter(lane => lane.begin.some((begin, at) => "
                                     "at > 0 && begin < lane.end[at - 1])).length"), 0)

    def test_sums_of_the_pyramid_are_those_of_the_records(self):
        self.open()
        wrong = self.run_js(f"""(() => {{
            let wrong = 0;
            for (const lane of {VIEW}.rows.flatMap(row => row.lanes))
                for (let from = 0; from < lane.begin.length; from += 7)
                    for (let until = from + 1; until <= lane.begin.length; until += 31) {{
                        let sum = 0;
                        for (let at = from; at < until; ++at) sum += lane.end[at] - lane.begin[at];
                        const found = lane.over(from, until, {{}});
                        const longest = Math.max(...Array.from({{length: until - from}}, (_, at) => lane.end[from + at] - lane.begin[from + at]));
                        if (Math.abs(found.sum - sum) > 1e-6 || lane.end[found.longest] - lane.begin[found.longest] !== longest) ++wrong;
                    }}
            return wrong;
        }})()""")
        self.assertEqual(wrong, 0)

    # ---- clicking ---------------------------------------------------------------------------------------------------

    def test_click_shows_a_kernel_with_its_blocks_and_its_call(self):
        self.open()
        index = self.find("task", "matmul_tile")[3]
        record = self.indices()[index]
        self.click_record(index)
        self.assertEqual(self.title(), "matmul_tile")
        fields = self.fields()
        self.assertEqual(fields["Blocks"], "16")
        self.assertEqual(fields["Duration"], f"{record[2] / 1000:.3f} µs")
        self.assertEqual(fields["Row"], "Stream 2")
        self.assertEqual(fields["Ran on"], "4 workers")
        self.assertEqual(fields["Submitted by"], "aclrtLaunchKernelWithConfig on main")
        self.click("#details dd button.link")
        self.assertRegex(self.title(), "matmul_tile")
        self.assertEqual(self.fields()["What"], "block")

    def test_click_on_a_wait_leads_to_the_task_that_released_it(self):
        self.open()
        index = self.find("task", "", 2)[5]
        self.click_record(index)
        fields = self.fields()
        self.assertEqual((fields["What"], fields["Waits for"], fields["Released by"]), ("wait", "event or notify 77", "signal on stream 1"))
        self.driver.find_element(By.XPATH, "//aside//button[text()='signal on stream 1']").click()
        self.assertEqual((self.title(), self.fields()["Row"]), ("signal", "Stream 1"))

    def test_click_shows_a_copy_a_node_and_a_mark(self):
        self.open()
        copy = self.find("task", "", 1)[0]
        self.click_record(copy)
        self.assertEqual(self.fields()["Bandwidth"], f"{(4 << 20) / 40000:.1f} GB/s")
        self.assertEqual(self.fields()["Bytes"], "4,194,304 (4.00 MiB)")
        self.click_record(self.find("node", "layer_norm")[1])
        self.assertEqual(self.fields()["Place in graph"], "lane 1, position 1")
        self.assertEqual(self.fields()["Replay"], "layer graph")
        self.click_record(self.find("mark", "round 2")[0])
        self.assertEqual((self.title(), self.fields()["Domain"]), ("round 2", "training"))

    def test_kernel_of_one_block_lies_in_the_row_of_its_worker(self):
        profile = synthetic.Profile()
        profile.line("device", 0, 24, 48, 8, 2, 1 << 30, "Ascend910B4")
        profile.line("thread", 10, 5000, synthetic.WORKER, 0, "worker 0")
        profile.task(10, 1, 1, 1000, 5000, name="small", argument=1)
        profile.task(10, 1, 2, 7000, 3000, "wait", waits_for=4)
        self.open(write("one block", profile.end()))
        counts = self.run_js(f"Object.fromEntries({VIEW}.rows.map(row => [row.label, row.records.length]))")
        self.assertEqual((counts["Stream 1"], counts["Worker 0"]), (2, 1))
        self.assertIn("Workers busy", counts)
        self.click_record(self.find("task", "small")[0])
        self.assertEqual(self.fields()["Ran on"], "Worker 0")
        self.click_record(self.find("task", "")[0])
        self.assertEqual(self.fields()["Released by"], "the host, or nothing was waited for")

    def test_says_why_a_stream_was_idle(self):
        self.open()
        # Before the copy of round 1 the host was in aclrtMalloc; round 0 ended 30 µs before.
        copies = [i for i in self.find("task", "", 1) if self.indices()[i][2] == 40000]
        begin, length = self.indices()[copies[1]][1:3]
        self.run_js(f"{VIEW}.focus({begin}, {begin + length})")
        self.browser.painted()
        point = self.run_js(f"canopyPage.pointOf({copies[1]})")
        left = self.run_js(f"{VIEW}.boxOf({copies[1]}).width")
        actions = self.point_at(point["x"] - left * 0.6, point["y"])
        actions.w3c_actions.pointer_action.click()
        actions.perform()
        self.assertEqual(self.title(), "Why was stream 1 idle here?")
        reasons = self.text("#details .reasons")
        self.assertIn("the host submitted the next task", reasons)
        self.assertIn("aclrtMemcpyAsync", reasons)
        self.assertIn("aclrtMalloc for 30.0 µs", reasons)

    def test_rows_fold_and_unfold(self):
        self.open()
        rows = len(self.driver.find_elements(By.CSS_SELECTOR, "#labels .row"))
        self.click("#labels .fold")
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#labels .row")), rows - 1)
        self.run_js(f"canopyPage.view.select({self.find('node', 'softmax')[0]})")
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#labels .row")), rows)

    # ---- moving -----------------------------------------------------------------------------------------------------

    def press(self, *keys):
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def test_keys_zoom_pan_and_show_everything(self):
        self.open()
        whole = self.span()
        self.press("w", "w")
        zoomed = self.span()
        self.assertAlmostEqual((zoomed[1] - zoomed[0]) * 1.25 ** 2, whole[1] - whole[0], delta=1)
        self.press("d")
        moved = self.span()
        self.assertGreater(moved[0], zoomed[0])
        self.assertAlmostEqual(moved[1] - moved[0], zoomed[1] - zoomed[0], delta=1)
        self.press("a", "s", "-")
        self.press("0")
        self.assertEqual(self.span(), whole)
        index = self.find("task", "add_bias_relu")[0]
        self.run_js(f"canopyPage.view.select({index}, {{reveal: false}})")
        self.press("f")
        begin, length = self.indices()[index][1:3]
        self.assertTrue(self.span()[0] < begin and begin + length < self.span()[1] and self.span()[1] - self.span()[0] < 5 * length)
        self.press(".")
        self.assertEqual(self.fields()["What"], "wait")
        self.press("?")
        self.assertTrue(self.run_js("document.getElementById('keys').open"))
        self.press(Keys.ESCAPE)

    def test_wheel_zooms_at_the_pointer_and_drag_pans(self):
        self.open()
        canvas = self.driver.find_element(By.ID, "canvas")
        middle = ScrollOrigin.from_element(canvas, 200, 0)
        x = self.run_js(f"{VIEW}.width") / 2 + 200
        before, span = self.run_js(f"{VIEW}.timeAt({x})"), self.span()
        ActionChains(self.driver, duration=0).key_down(Keys.CONTROL).scroll_from_origin(middle, 0, -400).key_up(Keys.CONTROL).perform()
        self.browser.until(f"{VIEW}.until - {VIEW}.from < {(span[1] - span[0]) * 0.8}")
        self.assertAlmostEqual(self.run_js(f"{VIEW}.timeAt({x})"), before, delta=(span[1] - span[0]) / 300)
        span = self.span()
        ActionChains(self.driver, duration=0).move_to_element(canvas).click_and_hold().move_by_offset(-150, 0).release().perform()
        self.assertAlmostEqual(self.span()[0] - span[0], 150 / self.run_js(f"{VIEW}.width") * (span[1] - span[0]), delta=2)
        ActionChains(self.driver, duration=0).key_down(Keys.SHIFT).scroll_from_origin(middle, 0, 120).key_up(Keys.SHIFT).perform()
        self.browser.until(f"{VIEW}.from > {span[0] + 1}")

    def test_measures_between_the_edges_of_records(self):
        self.open()
        index = self.find("task", "matmul_tile")[0]
        self.run_js(f"canopyPage.view.select({index})")
        self.run_js(f"{VIEW}.focus({self.indices()[index][1]}, {sum(self.indices()[index][1:3])})")
        self.browser.painted()
        self.press("m")
        box = self.run_js(f"{VIEW}.boxOf({index})")
        frame = self.run_js("document.getElementById('canvas').getBoundingClientRect().toJSON()")
        y = frame["y"] + box["y"] + 5
        actions = self.point_at(frame["x"] + box["x"] + 2, y)
        actions.w3c_actions.pointer_action.pointer_down().move_to_location(round(frame["x"] + box["x"] + box["width"] - 2), round(y)).pointer_up()
        actions.perform()
        self.assertEqual(self.title(), "Measured")
        self.assertEqual(self.fields()["Duration"], "52.000 µs")
        self.assertIn("matmul_tile", self.text("#details"))
        self.press(Keys.ESCAPE)
        self.assertEqual(self.title(), "Details")

    def test_arrows_lead_from_calls_to_tasks_when_there_is_room(self):
        self.open()
        self.press("l")
        self.assertEqual(self.run_js("document.getElementById('launches').getAttribute('aria-pressed')"), "true")
        index = self.find("task", "matmul_tile")[0]
        self.run_js(f"{VIEW}.focus({self.indices()[index][1]}, {sum(self.indices()[index][1:3])}, 2)")
        self.browser.painted()
        pairs = self.run_js(f"{VIEW}.visibleLaunches()")
        records = self.indices()
        self.assertIn(index, [task for _, task in pairs])
        for call, task in pairs:
            self.assertEqual((records[call][0], records[task][0], records[call][4:]), (synthetic.KIND["call"], synthetic.KIND["task"], records[task][4:]))

    # ---- search and tables ------------------------------------------------------------------------------------------

    def test_search_counts_marks_and_visits_matches_in_time(self):
        self.open()
        self.press("/")
        self.press("MATMUL")
        expected = sum(r["name"] == self.profile.name("matmul_tile") for r in self.profile.records)
        self.assertEqual(self.text("#matches"), f"{expected} matches")
        self.press(Keys.ENTER)
        self.assertEqual((self.text("#matches"), self.title()), (f"1 of {expected}", "matmul_tile"))
        first = self.run_js(f"{VIEW}.selected")
        self.click("#next")
        self.assertEqual(self.text("#matches"), f"2 of {expected}")
        self.click("#previous")
        self.assertEqual(self.run_js(f"{VIEW}.selected"), first)
        self.click("#previous")
        self.assertEqual(self.text("#matches"), f"{expected} of {expected}")
        field = self.driver.find_element(By.ID, "search")
        field.clear()
        field.send_keys("no such name")
        self.assertEqual(self.text("#matches"), "no match")

    def test_table_of_kernels_has_their_sums_sorts_and_jumps(self):
        self.open()
        self.click("#tab-kernels")
        rows = lambda: [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in
                        self.driver.find_elements(By.CSS_SELECTOR, "#table tbody tr")]
        expected = {}
        for record in self.profile.records:
            if record["kind"] in ("task", "node") and record["object"] & 255 == 0:
                total, count = expected.get(record["name"], (0, 0))
                expected[record["name"]] = (total + record["duration"], count + 1)
        shown = {row[0]: row for row in rows()}
        for raw, number in self.profile.names.items():
            if number in expected:
                total, count = expected[number]
                row = shown[raw.decode()]
                self.assertEqual(row[3], str(count))
                unit, factor = ("ms", 1e6) if total >= 1e6 else ("µs", 1e3)
                self.assertEqual(row[1], f"{total / factor:.{3 - len(str(int(total / factor)))}f} {unit}")
        heads = self.driver.find_elements(By.CSS_SELECTOR, "#table th")
        for head, order in ((heads[3], "descending"), (heads[0], "ascending")):
            head.find_element(By.TAG_NAME, "button").click()
            self.assertEqual(head.get_attribute("aria-sort"), order)
        names = [row[0] for row in rows()]
        self.assertEqual(names, sorted(names))
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#table .spark")), len(names))
        self.driver.find_element(By.XPATH, "//td//button[text()='add_bias_relu']").click()
        self.assertEqual((self.title(), self.fields()["What"]), ("add_bias_relu", "vector kernel"))

    def test_other_tables_and_findings(self):
        self.open()
        self.click("#tab-calls")
        self.assertIn("aclrtSynchronizeStream", self.text("#table"))
        self.click("#tab-copies")
        self.assertIn("host to device", self.text("#table"))
        self.click("#tab-streams")
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#table tbody tr")), 4)
        self.click("#tab-facts")
        self.assertIn("train_step --rounds 24", self.text("#table"))
        self.click("#tab-findings")
        self.assertRegex(self.text("#table"), "(?i)stream 2 waited .* stream 1")
        whole = self.span()
        self.click("#table button.finding")
        self.assertLess(self.span()[1] - self.span()[0], (whole[1] - whole[0]) / 2)

    def test_light_and_dark(self):
        self.open()
        pixel = "Array.from(canopyPage.view.timeline.context.getImageData(5, 80, 1, 1).data.slice(0, 3))"
        colors = {}
        self.run_js(f"{VIEW}.show(1.0e6, 2.1e6)")
        self.run_js(f"canopyPage.view.select({self.find('task', 'matmul_tile')[7]}, {{reveal: false}})")
        for _ in range(2):
            self.browser.painted()
            style = self.run_js("document.documentElement.dataset.theme")
            colors[style] = self.run_js(pixel)
            self.driver.save_screenshot(str(FOLDER / f"page_{style}.png"))
            self.click("#theme")
        self.assertGreater(min(colors["light"]), 200)
        self.assertLess(max(colors["dark"]), 80)

    def test_is_usable_without_sight(self):
        self.open()
        unnamed = self.run_js("[...document.querySelectorAll('button, input, canvas:not([aria-hidden])')].filter(one => !one.textContent.trim() && "
                              "!one.getAttribute('aria-label')).map(one => one.outerHTML)")
        self.assertEqual(unnamed, [])
        self.click("#tab-kernels")
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.run_js("document.activeElement.id"), "tab-calls")

    # ---- what nobody wants ------------------------------------------------------------------------------------------

    def test_hostile_names_are_only_text(self):
        profile = synthetic.Profile()
        profile.line("fact", "program", HOSTILE[0])
        profile.line("fact", "arguments", HOSTILE[1])
        profile.line("device", 0, 1, 2, 1, 1, 1 << 30, HOSTILE[1])
        profile.line("thread", 1, 1, synthetic.HOST, 0, HOSTILE[0])
        for number, name in enumerate(HOSTILE):
            profile.task(1, 1, number + 1, 1000 * number, 900, name=name)
            profile.record(1, "mark", 1000 * number, 500, profile.name(name), profile.mark_text(name), 1)
            profile.call(1, 1000 * number, 100, name)
        path = write("hostile", profile.end())
        self.open(path)
        for tab in ("kernels", "calls", "facts"):
            self.click(f"#tab-{tab}")
        for number, name in enumerate(HOSTILE):
            shown = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
            index = next(i for i, record in enumerate(self.indices()) if record[0] == 2 and record[1] == 1000 * number)
            self.run_js(f"canopyPage.view.select({index})")
            self.browser.painted()
            self.assertEqual(self.run_js("document.querySelector('#details h2').textContent"), shown)
            self.assertEqual(self.run_js(f"canopyPage.view.search.set({json.dumps(shown)}) || canopyPage.view.search.count"), 3)
        self.assertIsNone(self.run_js("window.hurt"))
        self.assertEqual(self.run_js("document.querySelectorAll('img, iframe, script[src]').length"), 0)
        self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), self.run_js("window.innerWidth"))

    def test_empty_profile(self):
        self.open(write("empty", synthetic.Profile().end()))
        self.assertIn("0 records", self.text("header"))
        self.press("w", "d", "f", "m", Keys.ESCAPE)
        for tab in self.driver.find_elements(By.CSS_SELECTOR, "#tabs button"):
            tab.click()
        self.assertEqual(self.run_js(f"{VIEW}.rows.length"), 0)

    def test_damage_is_in_plain_sight(self):
        profile = synthetic.known(4)
        profile.write(WRITE_PAGE, FOLDER / "damaged.canopyprof", FOLDER / "damaged.html")  # never closed
        self.open(FOLDER / "damaged.html")
        self.assertIn("Incomplete: ", self.text("#chips .bad"))
        self.assertEqual(self.run_js("canopyPage.profile.count"), len(profile.records))

    def test_absurd_numbers(self):
        profile = synthetic.Profile()
        for number, begin in enumerate((0, 1, 1 << 62, (1 << 64) - 1)):
            profile.task(number, (1 << 32) - 1, (1 << 32) - 1, begin, (1 << 44) - 1, name="k", argument=(1 << 32) - 1, waits_for=(1 << 64) - 1)
            profile.record(7, "mark", begin, 5, 0, 1 << 31, (1 << 32) - 1, (1 << 64) - 1)
            profile.record(7, "memory", begin, 5, 0, (1 << 32) - 1, 0, (1 << 64) - 1)
            profile.record(7, "counter", begin, 5, 0, (1 << 32) - 1, 0, (1 << 64) - 1)
            profile.record(7, "call", begin, 5, 0, (1 << 32) - 1, (1 << 32) - 1, (1 << 64) - 1)
        self.open(write("absurd", profile.end()))
        for index in range(self.run_js("canopyPage.profile.count")):
            self.run_js(f"canopyPage.view.select({index})")
        self.press("f", "w", "w", "0")

    def test_many_records_cost_no_more_pixels(self):
        self.open(write("large", synthetic.large(40000)))
        self.assertEqual(self.run_js("[canopyPage.profile.count, canopyPage.profile.details.record.length]"), [32000, 8000])
        panned = self.driver.execute_async_script("canopyPage.pan(5).then(arguments[0])")
        self.assertEqual(panned["frames"], 5)
        self.assertEqual(sum(self.run_js(f"{VIEW}.rows.filter(row => row.thread || row.type === 'stream').map(row => row.records.length)")), 32000)


class WriterTest(unittest.TestCase):
    def write(self, page, limit=None):
        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        FOLDER.mkdir(parents=True, exist_ok=True)
        return subprocess.run([WRITE_PAGE, str(FOLDER / "writer.canopyprof"), str(page)], input="\n".join(synthetic.known(2).end().lines) + "\n",
                              text=True, capture_output=True, preexec_fn=limited, restore_signals=False)

    def test_only_its_owner_can_read_the_page(self):
        page = FOLDER / "writer.html"
        page.write_text("before")
        page.chmod(0o644)
        self.assertEqual(self.write(page).returncode, 0)
        self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o600)
        self.assertTrue(page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>"))

    def test_does_not_write_through_a_link(self):
        target, page = FOLDER / "target.txt", FOLDER / "link.html"
        target.write_text("precious")
        page.unlink(missing_ok=True)
        page.symlink_to(target)
        self.assertEqual(self.write(page).returncode, 0)
        self.assertEqual(target.read_text(), "precious")
        self.assertFalse(page.is_symlink())

    def test_missing_folder_and_folder_in_its_place(self):
        missing = self.write(FOLDER / "no such folder" / "page.html")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("No such file or directory", missing.stderr)
        self.assertIn("is not a file", self.write(FOLDER).stderr)

    def test_full_disk_leaves_no_page(self):
        page = FOLDER / "full.html"
        ran = self.write(page, limit=32 << 10)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("File too large", ran.stderr)
        self.assertFalse(page.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
