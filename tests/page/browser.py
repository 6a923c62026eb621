# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that opens pages from files, without a network."""
import shutil
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


class Browser:
    def __init__(self, width=1440, height=1000):
        self.folder = tempfile.TemporaryDirectory(prefix="canopy-page-", ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
                         f"--window-size={width},{height}", f"--user-data-dir={self.folder.name}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(120)

    def open(self, path, limit=60):
        """Opens a page and waits until it shows its profile; returns its problem, empty if there is none."""
        self.driver.get(f"file://{path}")
        self.until("canopyPage.ready || canopyPage.problem !== ''", limit)
        return self.run("canopyPage.problem")

    def run(self, expression, *arguments):
        return self.driver.execute_script(f"return {expression}", *arguments)

    def until(self, expression, limit=60):
        end = time.monotonic() + limit
        while not self.run(expression):
            if time.monotonic() > end:
                raise AssertionError(f"never became true: {expression}")
            time.sleep(0.02)

    def painted(self):
        """Waits until everything asked for is on the screen."""
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))")

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def close(self):
        self.driver.quit()
        self.folder.cleanup()
