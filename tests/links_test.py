"""Links between pages lead to files and headings that exist, with anchors that work on GitHub and on the site."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors of headings, where GitHub and MkDocs, which joins dashes, give the same one."""
    headings = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    found = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return {anchor for anchor in found if "--" not in anchor}


class LinksTest(unittest.TestCase):
    def test_links(self):
        pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
        count = 0
        for page in pages:
            for link in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
                if re.match(r"\w+:", link):
                    continue
                count += 1
                path, _, anchor = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                with self.subTest(page=str(page.relative_to(ROOT)), link=link):
                    self.assertTrue(target.exists(), "no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(target.read_text(encoding="utf-8")))
        self.assertGreater(count, 20)


if __name__ == "__main__":
    unittest.main()
