#!/usr/bin/python3
"""The report of `ngf reproduce` in a real browser, on results that were made up: Debian's chromium, without a window.

    NGF_PAGE_SAMPLE   the program that prints the page [build/tests/page_sample]
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from browser_support import needs_chromium, visit, visited

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = os.environ.get("NGF_PAGE_SAMPLE", str(ROOT / "build" / "tests" / "page_sample"))
FIGURES = ["table1", "fig1", "fig2a", "fig2b", "fig3a", "fig3b", "claims_norms", "claims_float_error", "claims_condition",
           "claims_shell_change", "claims_constant_taps", "claims_depth"]

# Runs in the page, uses it as a reader would, and tells the page around it what was found.
VISITOR = """{
const shown = element => getComputedStyle(element).display !== "none";
const chart = document.querySelector("#fig1 svg");
const line = chart.querySelector(".series-1");
const other = chart.querySelector(".series-0");
const key = chart.querySelector(".key-1");
const states = [shown(line)];
key.scrollIntoView({block: "center", behavior: "instant"});
const box = key.getBoundingClientRect();
const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
hit.dispatchEvent(new MouseEvent("click", {bubbles: true}));
states.push(shown(line));
const pressed = key.getAttribute("aria-pressed");
key.focus();
const focused = document.activeElement === key;
key.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true}));
states.push(shown(line));
key.dispatchEvent(new KeyboardEvent("keydown", {key: " ", bubbles: true, cancelable: true}));
states.push(shown(line));
const point = other.querySelector(".point");
point.dispatchEvent(new PointerEvent("pointermove", {bubbles: true}));
const tip = document.querySelector(".tip");
const root = document.documentElement;
parent.postMessage({
  innerWidth,
  states, pressed, focused,
  otherShown: shown(other),
  tip: tip.hidden ? null : tip.textContent,
  scrollWidth: root.scrollWidth,
  sections: [...document.querySelectorAll("section")].map(section => section.id),
  empty: [...document.querySelectorAll("section")]
      .filter(section => section.getBoundingClientRect().height < 100).map(section => section.id),
  links: [...document.querySelectorAll("nav a")].map(link => link.getAttribute("href"))
      .filter(target => !document.querySelector(target)),
  charts: [...document.querySelectorAll("figure svg")].map(svg => svg.getBoundingClientRect().width),
  lines: document.querySelectorAll(".series .line").length,
  resources: performance.getEntriesByType("resource").map(entry => entry.name),
  background: getComputedStyle(document.body).backgroundColor,
  chartPaper: getComputedStyle(document.querySelector(".paper")).fill,
}, "*");
}"""


def visit_page(page, *flags):
    """What the visitors found, the wide frame first, and what the browser's console says."""
    with tempfile.TemporaryDirectory(prefix="ngf-test-") as folder:
        (pathlib.Path(folder) / "page.html").write_text(visited(page, VISITOR), encoding="utf-8")
        return visit(folder, ["page.html"], *flags)


def brightness(colour):
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3


@needs_chromium
class PageInABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = subprocess.run([SAMPLE], capture_output=True, check=True, text=True).stdout
        cls.found, cls.console = visit_page(cls.page)

    def test_was_visited_wide_and_narrow(self):
        self.assertEqual([one["innerWidth"] for one in self.found], [1300, 390])

    def test_every_figure_is_there(self):
        for one in self.found:
            self.assertEqual(one["sections"], [*FIGURES, "provenance"])
            self.assertEqual(one["empty"], [])
            self.assertEqual(one["links"], [])
            self.assertEqual(len(one["charts"]), 29)
            self.assertGreater(min(one["charts"]), 300)
            self.assertGreater(one["lines"], 60)

    def test_console_is_silent(self):
        self.assertEqual(self.console, [])

    def test_no_request_leaves_the_page(self):
        for one in self.found:
            self.assertEqual(one["resources"], [])

    def test_a_request_would_be_noticed(self):
        picture = '<img src="http://ngf.invalid/picture.png" alt="">'
        _, console = visit_page(self.page.replace("<main>", "<main>" + picture))
        self.assertIn("Content Security Policy", "\n".join(console))

    def test_a_line_is_switched_by_click_and_by_keys(self):
        for one in self.found:
            self.assertEqual(one["states"], [True, False, True, False])
            self.assertEqual((one["pressed"], one["focused"], one["otherShown"]), ("false", True, True))

    def test_points_tell_their_values(self):
        for one in self.found:
            self.assertRegex(one["tip"], r"^GF: 2, 0\.05 \(0\.04 to 0\.06\)$")

    def test_nothing_scrolls_sideways(self):
        for one in self.found:
            self.assertLessEqual(one["scrollWidth"], one["width"])

    def test_light_and_dark(self):
        dark, console = visit_page(self.page, "--blink-settings=preferredColorScheme=0")
        self.assertEqual(console, [])
        for one in self.found:
            self.assertGreater(brightness(one["background"]), 240)
            self.assertGreater(brightness(one["chartPaper"]), 240)
        for one in dark:
            self.assertLess(brightness(one["background"]), 50)
            self.assertLess(brightness(one["chartPaper"]), 50)


if __name__ == "__main__":
    unittest.main()
