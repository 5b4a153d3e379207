"""What the tests in Python share: the program, the folder of data sets, and one run of the former.

    NGF_PROGRAM   the program [build/ngf]
    NGF_DATA      the folder of data sets [../shared/data, beside the checkout]
"""

import dataclasses
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("NGF_PROGRAM", str(ROOT / "build" / "ngf"))
DATA = pathlib.Path(os.environ.get("NGF_DATA", ROOT.parent / "shared" / "data")).resolve()

needs_data = unittest.skipUnless(DATA.is_dir(), f"no data sets in {DATA}; NGF_DATA names them")


@dataclasses.dataclass
class Outcome:
    code: int  # minus the signal's number when one ended the program
    out: str
    err: str
    peak_bytes: int  # of resident memory


def run(command, **popen):
    """Runs a command to its end; `popen` is as for subprocess.Popen."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        popen = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err} | popen
        child = subprocess.Popen(command, **popen)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        # Names of files need not be UTF-8.
        return Outcome(child.returncode, out.read().decode(errors="surrogateescape"),
                       err.read().decode(errors="surrogateescape"), usage.ru_maxrss * 1024)


def limit_files_to(size):
    """For the child alone (preexec_fn): no file grows beyond that, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


class ProgramTest(unittest.TestCase):
    """Each test has a folder of its own, in which and on which the program runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ngf-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # No data sets of the user's come into play, but those that a test names.
        self.environment = {name: value for name, value in os.environ.items() if name != "NGF_DATA"}
        self.environment["HOME"] = str(self.folder / "home")
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")

    def ngf(self, *arguments, **popen):
        popen = {"cwd": self.folder, "env": self.environment} | popen
        return run([PROGRAM, *arguments], **popen)

    def succeed(self, *arguments, **popen):
        outcome = self.ngf(*arguments, **popen)
        self.assertEqual(outcome.code, 0, (arguments, outcome))
        return outcome

    def json(self, *arguments, **popen):
        """What the program prints with --json, which is one object and nothing else."""
        outcome = self.succeed(*arguments, "--json", **popen)
        value = json.loads(outcome.out)
        self.assertIsInstance(value, dict, arguments)
        return value

    def assert_one_line(self, outcome, *parts):
        """A failure tells its reason in one line on stderr, with these parts in it."""
        self.assertEqual((outcome.code, outcome.out), (1, ""), outcome)
        self.assertRegex(outcome.err, r"\Angf: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(str(part), outcome.err)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path
