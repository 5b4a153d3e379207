"""`ngf VERB --help` describes every verb, every positional argument and every flag in a few words."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("NGF_PROGRAM", ROOT / "build/ngf")
# What CLI11 prints before a description: names, a type, bounds, a default, and other flags.
ENTRY = re.compile(r"^  (?P<name>-\S+|[A-Z]+)(?P<rest>.*)$")
COLUMN = 30


def help_of(*words: str) -> str:
    return subprocess.run([PROGRAM, *words, "--help"], check=True, capture_output=True, text=True).stdout


def verbs_of(text: str) -> dict[str, str]:
    _, _, listed = text.partition("\nSubcommands:\n")
    return {match[1]: match[2].strip() for match in re.finditer(r"^  (\S+)(.*)$", listed, re.MULTILINE)}


def descriptions(text: str) -> dict[str, str]:
    """The description of each argument: beside its name, or where that is long, in the lines below."""
    found, name = {}, None
    for line in text.partition("\nSubcommands:\n")[0].splitlines():
        entry = ENTRY.match(line)
        if entry:
            name = entry["name"]
            found[name] = line[COLUMN:].strip() if len(line) > COLUMN and line[COLUMN - 1] == " " else ""
        elif name and line.startswith(" " * COLUMN):
            found[name] += line.strip()
        else:
            name = None
    return found


class HelpTest(unittest.TestCase):
    def check(self, *words: str):
        text = help_of(*words)
        arguments = descriptions(text)
        self.assertIn("-h,--help", arguments)
        for name, description in arguments.items():
            with self.subTest(verb=" ".join(words), argument=name):
                self.assertGreaterEqual(len(description.split()), 2, "no description")
        for verb, description in verbs_of(text).items():
            with self.subTest(verb=verb):
                self.assertGreaterEqual(len(description.split()), 3, "no description")
            self.check(*words, verb)

    def test_every_argument_is_described(self):
        self.check()

    def test_the_check_can_fail(self):
        text = f"Options:\n  -h,--help{'':19}Print this help\n  --bare{'':22}\n  --long TEXT:{{a,b,c,d,e,f,g}}\n"
        self.assertEqual(descriptions(text), {"-h,--help": "Print this help", "--bare": "", "--long": ""})


if __name__ == "__main__":
    unittest.main()
