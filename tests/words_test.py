"""scripts/words finds the words of its glossary, and the repository has none of them."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def words(root: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([root / "scripts/words"], capture_output=True, text=True)


class WordsTest(unittest.TestCase):
    def test_repository(self):
        done = words(ROOT)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_each_kind_of_file(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {"README.md": "Nodes are\ndealt out. The key `stale` stays.\n",
                               "include/a.hpp": "int dealt;  // one byte a\n// pair\n",
                               "python/ngf/a.py": 'dealt = 1\n"""It foretells."""\n',
                               "cli/a.cpp": 'print("Step of the optimiser");\n',
                               "src/room/a.cpp": "// for whoever reads\n",
                               "mpi/a.hpp": "// a team\n",
                               "bench/a.py": "# the same bits\n",
                               "python/bindings/a.hpp": "// a row a node\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            (root / "scripts").mkdir()
            shutil.copy(ROOT / "scripts/words", root / "scripts")
            done = words(root)
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split(" -> ")[0] for line in done.stdout.splitlines()],
                         ["README.md:2: dealt", "bench/a.py:1: same bits", "cli/a.cpp:1: Step of the optimiser",
                          "include/a.hpp:1: one byte a pair", "mpi/a.hpp:1: team",
                          "python/bindings/a.hpp:1: row a node", "python/ngf/a.py:2: foretells",
                          "src/room/a.cpp:1: whoever"])


if __name__ == "__main__":
    unittest.main()
