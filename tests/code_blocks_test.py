"""Every block of code in README.md, HACKING.md and docs/ is run by a test, or a comment above it says why it is not:

    <!-- not run: REASON -->

This test runs the blocks of shell and Python. It looks up the verbs and flags of all commands, run or not, in --help.
"""

import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("NGF_PROGRAM", ROOT / "build/ngf")).resolve()
PACKAGE = PROGRAM.parent / "python"
PAGES = [ROOT / "README.md", ROOT / "HACKING.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>.+) -->\n)?```(?P<language>.*)\n(?P<text>(?:.*\n)*?)```$", re.M)
COMMAND = re.compile(r"(?:^|[\s/])ngf ([a-z]+)([^\n|>#]*)", re.M)
RUN_HERE = ("sh", "python")
NO_CODE = ("math", "text", "bibtex")
# What package_test.py compiles: the first block of a language on a page.
COMPILED = {("README.md", "cmake"), ("README.md", "cpp"), ("HACKING.md", "cpp"), ("docs/site/from-cpp.md", "cmake"),
            ("docs/site/from-cpp.md", "cpp"), ("docs/site/interrupting.md", "cpp")}

NODES = 12
RING = "".join(f"{node} {(node + 1) % NODES}\n" for node in range(NODES))


def blocks(text):
    """The blocks of a page; a fence that is not closed is an error."""
    found = list(BLOCK.finditer(text))
    if text.count("\n```") + text.startswith("```") != 2 * len(found):
        raise ValueError("a block of code has no end, or is indented")
    return found


def unaccounted(page, text):
    """The blocks of a page that no test runs and no comment explains, as lines."""
    seen = set()
    for block in blocks(text):
        language = block["language"]
        run = {"console": not page.startswith("HACKING"),  # console_test.py
               "pycon": page.startswith("docs/site/"),  # scripts/docs
               "cpp": (page, language) in COMPILED - seen, "cmake": (page, language) in COMPILED - seen}
        seen.add((page, language))
        accounted = language in RUN_HERE or language in NO_CODE or run.get(language, False)
        if not accounted and not block["reason"]:
            yield f"{page}:{text.count(chr(10), 0, block.start()) + 1}: a block of '{language}' is not run"
        if block["reason"] and run.get(language, False):
            yield f"{page}:{text.count(chr(10), 0, block.start()) + 1}: is run, although marked"


def to_run(language):
    """Pairs of a page and the text of a block."""
    for page in PAGES:
        for block in blocks(page.read_text(encoding="utf-8")):
            if block["language"] == language and not block["reason"]:
                yield page.relative_to(ROOT), block["text"]


@functools.cache
def help_of(*words):
    return subprocess.run([PROGRAM, *words, "--help"], capture_output=True, check=True, text=True).stdout


def is_verb(word, *words):
    """Whether the verb is listed by the program, or below another verb."""
    return re.search(rf"^  {re.escape(word)} ", help_of(*words).partition("\nSubcommands:")[2], re.M) is not None


def commands(text):
    """Verbs, and what follows them: in blocks of shell, in sessions, and in `code` in lines."""
    shell = [re.sub(r"\\\n\s*", "", block["text"]) for block in blocks(text) if block["language"] == "sh"]
    sessions = [block["text"] for block in blocks(text) if block["language"] in ("console", "text")]
    typed = re.findall(r"^\$ (.*)", "\n".join(sessions).replace("\\\n", ""), re.M)
    inline = [code.replace("\n", " ") for code in re.findall(r"`([^`]+)`", BLOCK.sub("", text))]
    return COMMAND.findall("\n".join(shell + typed + inline))


def mistakes(text):
    """Verbs and flags of the commands in a text that the program does not have."""
    for verb, rest in commands(text):
        if not is_verb(verb):
            yield f"no verb {verb}"
            continue
        words = [verb, *(word for word in rest.split()[:1] if is_verb(word, verb))]
        for flag in re.findall(r"(?<=\s)--?[a-z][\w-]*", rest):
            if not re.search(rf"(?<![\w-]){flag}(?![\w-])", help_of(*words)):
                yield f"ngf {' '.join(words)} has no {flag}"


class CodeBlocksTest(unittest.TestCase):
    def test_every_block_is_run_or_marked(self):
        found = [line for page in PAGES
                 for line in unaccounted(str(page.relative_to(ROOT)), page.read_text(encoding="utf-8"))]
        self.assertEqual("\n".join(found), "")

    def test_a_block_that_is_not_run_is_found(self):
        for text, accounted in {"```rust\nfn\n```\n": False, "<!-- not run: no compiler -->\n```rust\nfn\n```\n": True,
                                "```\nls\n```\n": False, "```sh\nls\n```\n": True, "```pycon\n>>> 1\n```\n": False,
                                "<!-- not run: slow -->\n```console\n$ ls\n```\n": False}.items():
            self.assertEqual(list(unaccounted("docs/page.md", text)) == [], accounted, text)
        with self.assertRaises(ValueError):
            blocks("```sh\nls\n")

    def test_commands(self):
        environment = {**os.environ, "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"}
        ran = 0
        for page, text in to_run("sh"):
            with self.subTest(page=str(page)), tempfile.TemporaryDirectory() as folder:
                self.write_inputs(pathlib.Path(folder), text)
                done = subprocess.run(["bash", "-e", "-c", text], cwd=folder, env=environment, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, done.stdout)
                ran += 1
        self.assertGreater(ran, 2)

    def write_inputs(self, folder, text):
        """A graph and signals under the names that the commands read."""
        for name in re.findall(r"[\w-]+\.(?:edgelist|txt)\b", text):
            (folder / name).write_text(RING)
        values = np.random.default_rng(1).normal(size=NODES)
        for name in re.findall(r"--(?:signal|clean) (\S+)", text):
            if name.endswith(".npy"):
                np.save(folder / name, values)
            else:
                np.savetxt(folder / name, values)

    @unittest.skipUnless(list(PACKAGE.glob("ngf/_engine*")), "the Python module is not built")
    def test_python(self):
        ran = 0
        for page, text in to_run("python"):
            with self.subTest(page=str(page)), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-B", "-c", text], cwd=folder, text=True,
                                      env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                # What a line prints is shown in a comment behind it.
                shown = re.findall(r"^print\(.*\) +# (.*)\n", text, re.M)
                self.assertEqual(done.stdout.splitlines(), shown)
                ran += 1
        self.assertGreater(ran, 1)

    def test_verbs_and_flags(self):
        count = 0
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            count += len(commands(text))
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertEqual(list(mistakes(text)), [])
        self.assertGreater(count, 60)

    def test_a_wrong_flag_is_found(self):
        for text in ("`ngf filter g --tips 1`", "```console\n$ ngf teapot g\n```\n",
                     "`build/ngf bench shells --taps 1`", "```sh\nngf filter g \\\n  --tips 1\n```\n"):
            self.assertEqual(len(list(mistakes(text))), 1, text)
        self.assertEqual(list(mistakes("`ngf bench shells g --seconds 1` and ngf does `ngf train g -o m | f --x`")), [])


if __name__ == "__main__":
    unittest.main()
