"""The console sessions of README.md and docs/ run and print what they show.

A line that begins with "$ " is a command, and the lines below it are its output, where "..." stands for any text.
The sessions of a page share an empty folder and run in order.
"""

import doctest
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("NGF_PROGRAM", ROOT / "build/ngf")).resolve()
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)


def commands(page: pathlib.Path):
    """Each command of a page, with the output that the page shows."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, output = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", step, re.DOTALL).groups()
            yield command.strip(), output


class ConsoleTest(unittest.TestCase):
    def test_pages(self):
        checker = doctest.OutputChecker()
        environment = {**os.environ, "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"}
        count = 0
        for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
            with tempfile.TemporaryDirectory() as folder:
                for command, expected in commands(page):
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    count += 1
                    with self.subTest(page=str(page.relative_to(ROOT)), command=command):
                        self.assertTrue(checker.check_output(expected, done.stdout, doctest.ELLIPSIS),
                                        f"expected:\n{expected}\nprinted:\n{done.stdout}")
        self.assertGreater(count, 0)


if __name__ == "__main__":
    unittest.main()
