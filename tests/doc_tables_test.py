"""scripts/doc-tables writes what the results give, and the pages of the repository are what it writes."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = {"study": "a study", "command": "ngf", "machine": "a machine", "sample": "one run", "source": "measured",
          "columns": ["", "ngf"], "rows": [["Cora", "1.0"], ["Citeseer", ""]]}
PAGE = "Text.\n\n<!-- table: sample -->\n{}<!-- end -->\n\nMore.\n"
TABLE = "\n| | ngf |\n|---|---|\n| Cora | 1.0 |\n| Citeseer | |\n\n"


def doc_tables(root: pathlib.Path, *arguments) -> subprocess.CompletedProcess:
    return subprocess.run([root / "scripts/doc-tables", *arguments], capture_output=True, text=True)


class DocTablesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("docs/results", "scripts"):
            (self.root / name).mkdir(parents=True)
        for name in ("doc-tables", "doc_charts.py"):
            shutil.copy(ROOT / "scripts" / name, self.root / "scripts")
        self.page = self.root / "docs/page.md"
        self.page.write_text(PAGE.format(""))
        self.write("sample", RESULT)

    def write(self, name, result):
        (self.root / f"docs/results/{name}.json").write_text(json.dumps(result))

    def fails(self, *parts):
        done = doc_tables(self.root, "--check")
        self.assertEqual(done.returncode, 1)
        for part in parts:
            self.assertIn(part, done.stdout + done.stderr)

    def test_repository(self):
        done = doc_tables(ROOT, "--check")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_writes_what_check_accepts(self):
        self.fails("docs/page.md", "+| Cora | 1.0 |")
        self.assertEqual(doc_tables(self.root).returncode, 0)
        self.assertEqual(self.page.read_text(), PAGE.format(TABLE))
        self.assertEqual(doc_tables(self.root, "--check").returncode, 0)

    def test_a_changed_number_is_found(self):
        self.page.write_text(PAGE.format(TABLE.replace("1.0", "2.0")))
        self.fails("-| Cora | 2.0 |", "+| Cora | 1.0 |")

    def test_scores_are_summarised(self):
        rows = [{"labels": ["Cora"], "scores": [[0.5, 0.6, 0.7]]}, {"labels": ["Citeseer"], "scores": [[0.25]]},
                {"labels": ["Pubmed"], "scores": [[]]}]
        self.write("sample", {**RESULT, "rows": rows})
        self.assertEqual(doc_tables(self.root).returncode, 0)
        for line in ("| Cora | 60.0 ± 10.0 |", "| Citeseer | 25.0 |", "| Pubmed | |"):
            self.assertIn(line + "\n", self.page.read_text())

    def test_views_read_other_results(self):
        self.write("sample", {**RESULT, "columns": ["", "ngf", "SciPy"], "rows": [["Cora", "2 ms (3x)", "6 ms"]]})
        row = {"task": "hops", "result": "sample", "row": "Cora", "ngf": "ngf", "peer": "SciPy", "name": "SciPy"}
        self.write("speed", {**RESULT, "uses": ["sample"], "rows": [row]})
        self.page.write_text(PAGE.format("") + "<!-- table: speed -->\n<!-- end -->\n![](pictures/speed.svg)\n")
        self.assertEqual(doc_tables(self.root).returncode, 0)
        self.assertIn("| hops | 2 ms | SciPy, 6 ms | 3 |\n", self.page.read_text())
        chart = self.root / "docs/pictures/speed.svg"
        self.assertIn("3 times as long", chart.read_text())
        chart.write_text(chart.read_text().replace("3 times", "4 times"))
        self.fails("docs/pictures/speed.svg", "3 times as long")

    def test_a_chart_that_no_page_shows_is_found(self):
        self.write("hop-distances", {**RESULT, "columns": ["", "SciPy", "ngf, 1 thread", "ngf, 2 threads"],
                                     "rows": [["Cora", "2 s", "2 ms (1000x)", "1 ms (2000x)"]]})
        self.page.write_text(PAGE.format("") + "<!-- table: hop-distances -->\n<!-- end -->\n")
        self.fails("no page shows hop-distances.svg")

    def test_an_incomplete_result_is_found(self):
        self.write("sample", {key: value for key, value in RESULT.items() if key != "source"})
        self.fails("docs/results/sample.json: does not state source")
        self.write("sample", {key: value for key, value in RESULT.items() if key != "columns"})
        self.fails("docs/results/sample.json: has no 'columns'")

    def test_markers_that_fit_nothing_are_found(self):
        for text, message in {"<!-- table: sample -->\n": "no end",
                              "<!-- table: absent -->\n<!-- end -->": "absent.json",
                              "<!-- table: sample other -->\n<!-- end -->": "no view 'other'",
                              "<!-- table: sample -->\n<!-- table: sample -->\n<!-- end -->": "no end",
                              "no table": "no page has a table of sample"}.items():
            self.page.write_text(text)
            self.fails(message)


if __name__ == "__main__":
    unittest.main()
