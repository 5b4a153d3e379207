"""The map of the rooms, HACKING.md, names what is there, and all of it.

    hacking_test.py [FILE]
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAP = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "HACKING.md"
ENDINGS = (".cpp", ".hpp", ".py", ".md", ".txt", ".json", ".cmake", ".yml", ".sh")


def named_paths():
    """What stands in backticks and looks like a path of the repository."""
    for text in re.findall(r"`([^`\n]+)`", MAP.read_text()):
        if re.fullmatch(r"[\w.*/-]+", text) and ("/" in text or text.endswith(ENDINGS)):
            yield text


class HackingTest(unittest.TestCase):
    def test_every_path_exists(self):
        paths = list(named_paths())
        self.assertGreater(len(paths), 10)
        for path in paths:
            # What a build makes is named too, and need not be there.
            if not path.startswith(("build", "../", "/")):
                self.assertTrue(any(ROOT.glob(path.rstrip("/"))), path)

    def test_every_room_is_named(self):
        named = [path.rstrip("/") + "/" for path in named_paths()]
        for place in (".", "src", "include/ngf"):
            for room in (ROOT / place).iterdir():
                # What git ignores is no room.
                if not room.is_dir() or room.name.startswith((".", "_", "build", "report", "data")):
                    continue
                room = f"{room.relative_to(ROOT)}/"
                self.assertTrue(any(path.startswith(room) for path in named), room)


if __name__ == "__main__":
    unittest.main()
