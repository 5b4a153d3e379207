#!/usr/bin/python3
"""The documentation as a site, in a real browser: every page is opened at the width of a desktop and of a phone.

    NGF_SITE   the folder of the site that scripts/docs builds [build/site]
"""

import os
import pathlib
import re
import shutil
import tempfile
import unittest
import urllib.parse

from browser_support import WIDTHS, needs_chromium, visit, visited

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = pathlib.Path(os.environ.get("NGF_SITE", ROOT / "build/site"))

# Examines the page it is in. Beside what a browser reports: content that ends right of the screen, unless it is in a
# box that scrolls, and Markdown, comments or LaTeX that are left in the text.
VISITOR = r"""
addEventListener("load", () => {
  const all = selector => [...document.querySelectorAll(selector)];
  const scrolls = element => element !== null && element !== document.body &&
      (["auto", "scroll"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  const named = element => `<${element.tagName.toLowerCase()}> ` +
      element.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
  const isWide = element => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 1 && !scrolls(element.parentElement);
  };
  const outermost = (element, _, others) => !others.includes(element.parentElement);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const raw = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent;
    if (/<!--|-->|\$[^$]+\$|\\(frac|sum|begin|left|hat|mathbf)\b|\]\(|```|\*\*\w|^\|/.test(text) &&
        walker.currentNode.parentElement.closest("code, pre, script, style") === null) raw.push(text.trim());
    if (text.includes("\\|") && walker.currentNode.parentElement.closest("pre, script") === null) raw.push(text.trim());
  }
  parent.postMessage({
    innerWidth,
    scrollWidth: document.documentElement.scrollWidth,
    wide: all("body *").filter(isWide).filter(outermost).map(named),
    small: all("[role=main] p, [role=main] td, [role=main] code")
        .filter(element => parseFloat(getComputedStyle(element).fontSize) < 11).map(named),
    broken: all("img").filter(image => !image.complete || image.naturalWidth === 0).map(image => image.src),
    resources: all("[src], link[href]").map(element => element.src || element.href)
        .concat(performance.getEntriesByType("resource").map(entry => entry.name)),
    links: all("a[href]").map(link => link.href),
    ids: all("[id]").map(element => element.id),
    equations: all(".equation img").length,
    raw,
  }, "*");
});"""


def equations(name):
    """The number of equations in the source of a page; each has a line of its own."""
    for path in (ROOT / "docs" / name, ROOT / "docs/site" / name):
        if path.exists():
            blocks = re.findall(r"^```math\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
            return sum(len(block.splitlines()) for block in blocks)
    return 0


def defects(site, found, console):
    """What is wrong with the pages that were visited, in lines."""
    root = site.as_uri() + "/"
    ids = {urllib.parse.urljoin(root, one["page"]): {"", "top", *one["ids"]} for one in found}
    for one in found:
        def wrong(what, one=one):
            return f"{one['page']} at {one['width']}: {what}"
        if one["innerWidth"] != one["width"]:
            yield wrong(f"is {one['innerWidth']} wide")
        if one["scrollWidth"] > one["width"]:
            yield wrong(f"scrolls sideways to {one['scrollWidth']}")
        for key, what in {"wide": "leaves the screen", "small": "is too small to read", "raw": "is not rendered",
                          "broken": "is a picture that does not load"}.items():
            yield from (wrong(f"{element} {what}") for element in one[key])
        yield from (wrong(f"{address} is a resource from elsewhere") for address in one["resources"]
                    if not address.startswith((root, "data:")))
        for link in one["links"]:
            page, _, anchor = link.partition("#")
            if not page.startswith("file:"):
                continue
            if not page.startswith(root) or not (site / urllib.parse.unquote(page.removeprefix(root))).is_file():
                yield wrong(f"{link} leads to no file of the site")
            elif anchor and urllib.parse.unquote(anchor) not in ids.get(page, ()):
                yield wrong(f"{link} leads to no place of the page")
        expected = equations(one["page"].removesuffix(".html") + ".md")
        if one["equations"] != expected:
            yield wrong(f"has {one['equations']} of {expected} equations")
    # A search box in a frame is no error.
    yield from (f"console: {line}" for line in console if "Blocked autofocusing" not in line)


def copied(site, folder, change=lambda text: text):
    """A copy of the site, every page with a visitor; `change` is applied to the first page."""
    copy = pathlib.Path(folder) / "site"
    shutil.copytree(site, copy)
    for path in copy.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        path.write_text(visited(change(text) if path.name == "index.html" else text, VISITOR), encoding="utf-8")
    return copy


@needs_chromium
@unittest.skipUnless((SITE / "index.html").exists(), f"no site in {SITE}; make docs builds it")
class SiteInABrowser(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ngf-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def test_every_page(self):
        site = copied(SITE, self.folder)
        pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
        self.assertGreater(len(pages), 25)
        found, console = visit(site, pages)
        self.assertEqual(len(found), len(WIDTHS) * len(pages))
        wrong = list(defects(site, found, console))
        self.assertEqual("\n".join(wrong), "")

    def test_defects_are_found(self):
        made = {'<a href="absent.html">x</a>': "absent.html leads to no file",
                '<a href="glossary.html#absent">x</a>': "glossary.html#absent leads to no place",
                '<img src="absent.png" alt="">': "absent.png is a picture that does not load",
                '<img src="http://ngf.invalid/a.png" alt="">': "http://ngf.invalid/a.png is a resource from elsewhere",
                "<script>undefined_name()</script>": "undefined_name is not defined",
                '<p style="width:5000px">long</p>': "<p> long leaves the screen",
                '<p style="font-size:5px">tiny</p>': "<p> tiny is too small",
                '<p class="equation"><img src="img/favicon.ico" alt=""></p>': "has 1 of 0 equations",
                r"<p>$\frac12$</p>": r"$\frac12$ is not rendered"}
        site = copied(SITE, self.folder,
                      lambda text: re.sub('<div role="main"[^>]*>', lambda main: main[0] + "".join(made), text))
        wrong = "\n".join(defects(site, *visit(site, ["index.html", "glossary.html"])))
        for what in made.values():
            self.assertIn(what, wrong)


if __name__ == "__main__":
    unittest.main()
