"""Each room knows only what HACKING.md says: include lines point down, and the library speaks no flags."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# Comments and raw strings (style sheets, scripts) are passed over; the second group is a string literal.
LITERAL = re.compile(r'//[^\n]*|R"(\w*)\(.*?\)\1"|\'(?:[^\'\\\n]|\\.)+\'|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
FLAG = re.compile(r"--[a-z][a-z-]*")
# These rooms lie between io and the tasks that use both.
NOT_FOR_IO = {"src/shells/", "src/filter/", "src/sharding/", "src/nn/"}


def rooms(text: str) -> list[list[str]]:
    """The paths of each room in the table of rooms, from bottom to top."""
    table = text.split("## Rooms", 1)[1].split("Beside them:", 1)[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [re.findall(r"`([^`]+)`", cell) for cell in cells]


class Map:
    """Which room a file is in."""

    def __init__(self, of_rooms: list[list[str]]):
        self.level = {path: level for level, paths in enumerate(of_rooms) for path in paths}
        self.name = {level: paths[0] for level, paths in enumerate(of_rooms)}

    def level_of(self, path: str) -> int | None:
        """The longest path that the file is in, so that include/ngf/nn/ is not include/ngf/."""
        found = [known for known in self.level if path == known or (known.endswith("/") and path.startswith(known))]
        return self.level[max(found, key=len)] if found else None


def resolve(including: str, name: str, files: set[str]) -> str | None:
    """The file of the repository that an include line names, as the compiler finds it."""
    folder = including.rsplit("/", 1)[0]
    for candidate in (f"{folder}/{name}", f"src/{name}", f"include/{name}", name):
        if candidate in files:
            return candidate
    return None


def offences(of_rooms: list[list[str]], sources: dict[str, str]) -> list[str]:
    """What is wrong with the include lines of these files, by path."""
    rooms_of, files, found = Map(of_rooms), set(sources), []
    edges = {}
    for path, text in sorted(sources.items()):
        level = rooms_of.level_of(path)
        if level is None:
            found.append(f"{path} is in no room")
            continue
        targets = [resolve(path, name, files) for name in INCLUDE.findall(text)]
        edges[path] = [target for target in targets if target]
        for target in edges[path]:
            other = rooms_of.level_of(target)
            if other is None:
                continue
            beside = rooms_of.name[level] in NOT_FOR_IO and rooms_of.name[other] == "src/io/"
            if other > level or beside:
                found.append(f"{path} includes {target}, which is {'beside' if beside else 'above'} it")
    return found + cycles(edges)


def cycles(edges: dict[str, list[str]]) -> list[str]:
    """Files that include each other, each cycle once."""
    found, state = [], {}

    def visit(path: str, way: list[str]):
        state[path] = "open"
        for target in edges.get(path, []):
            if state.get(target) == "open":
                found.append("cycle: " + " -> ".join(way[way.index(target):] + [target]))
            elif target not in state:
                visit(target, way + [target])
        state[path] = "done"

    for path in sorted(edges):
        if path not in state:
            visit(path, [path])
    return found


def flags(sources: dict[str, str]) -> list[str]:
    """The flags of the command line that string literals of the library name."""
    return [f"{path} names {flag}" for path, text in sorted(sources.items()) if not path.startswith(("cli/", "mpi/"))
            for literal in LITERAL.finditer(text) for flag in FLAG.findall(literal[2] or "")]


def repository() -> dict[str, str]:
    folders = ["include", "src", "cli", "mpi", "python/bindings"]
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.?pp")]
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}


class LayersTest(unittest.TestCase):
    def setUp(self):
        self.rooms = rooms((ROOT / "HACKING.md").read_text())

    def test_no_include_points_up(self):
        self.assertEqual(offences(self.rooms, repository()), [])

    def test_the_library_names_no_flags(self):
        self.assertEqual(flags(repository()), [])

    def test_flags_are_found(self):
        sources = {
            "cli/a.cpp": 'fail("give --memory");',
            "src/b.cpp": """// "--json" and --quiet\n'"' i-- R"css({ "": var(--good) })css" "\\" --data " "a --lr" "--resume" """,
        }
        self.assertEqual(flags(sources), ["src/b.cpp names --data", "src/b.cpp names --lr", "src/b.cpp names --resume"])

    def test_the_table_has_every_room(self):
        named = {path for paths in self.rooms for path in paths}
        folders = {f"src/{folder.name}/" for folder in (ROOT / "src").iterdir() if folder.is_dir()}
        self.assertEqual(folders - named, set())

    def test_offences_are_found(self):
        of_rooms = [["src/base/"], ["src/io/"], ["src/shells/", "include/ngf/shells.hpp"], ["src/filter/"]]
        sources = {
            "src/base/a.hpp": '#include "shells/b.hpp"\n',
            "src/shells/b.hpp": '#include "ngf/shells.hpp"\n#include "base/a.hpp"\n',
            "src/filter/c.hpp": '#include "d.hpp"\n  #  include "io/e.hpp"\n',
            "src/filter/d.hpp": '#include "filter/c.hpp"\n#include <vector>\n',
            "src/io/e.hpp": '#include "base/a.hpp"\n',
            "include/ngf/shells.hpp": "",
            "src/else/f.hpp": "",
        }
        found = offences(of_rooms, sources)
        self.assertIn("src/base/a.hpp includes src/shells/b.hpp, which is above it", found)
        self.assertIn("src/filter/c.hpp includes src/io/e.hpp, which is beside it", found)
        self.assertIn("src/else/f.hpp is in no room", found)
        self.assertTrue(any(text.startswith("cycle:") and "src/filter/d.hpp" in text for text in found), found)
        self.assertTrue(any(text.startswith("cycle:") and "src/base/a.hpp" in text for text in found), found)
        self.assertEqual(len(found), 5, found)


if __name__ == "__main__":
    unittest.main()
