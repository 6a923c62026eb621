# SPDX-License-Identifier: Apache-2.0
"""The built page is that of the sources beside it: sources_test.py SOURCE_FOLDER. Needs no npm."""
import base64
import hashlib
import pathlib
import re
import sys
import unittest

FOLDER = pathlib.Path(sys.argv[1]) / "src/profile/page"
PAGE = (FOLDER / "page.html").read_text(encoding="utf-8")


class SourcesTest(unittest.TestCase):
    def test_page_names_the_hash_of_its_sources(self):
        digest = hashlib.sha256()
        for path in sorted(FOLDER.iterdir(), key=lambda path: path.name):
            if re.search(r"\.(js|css|mjs)$|^template\.html$|^package-lock\.json$", path.name):
                content = path.read_bytes()
                digest.update(f"{path.name} {len(content)}\n".encode() + content)
        self.assertIn(f"Sources: {digest.hexdigest()} ", PAGE, "scripts/build_page.sh builds it again")

    def test_policy_allows_its_own_script_and_style_only(self):
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', PAGE).group(1)
        self.assertTrue(policy.startswith("default-src 'none'; "))
        for tag, rule in (("script", "script-src"), ("style", "style-src")):
            content = re.findall(rf"<{tag}>(.*?)</{tag}>", PAGE, re.DOTALL)
            self.assertEqual(len(content), 1)
            digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
            self.assertIn(f"{rule} 'sha256-{digest}'", policy)

    def test_place_for_the_profile_is_there_once(self):
        self.assertEqual(PAGE.count("@PROFILE@"), 1)

    def test_lock_file_names_no_host(self):
        self.assertNotIn("resolved", (FOLDER / "package-lock.json").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
