"""Damaged journals and models: the result is that without damage, or one line names the file; never another result.

    fault_test.py Quick      some faults of each kind
    fault_test.py Thorough   200 faults
"""

import json
import pathlib
import random
import unittest

from python_support import ProgramTest, limit_files_to

SET = "builtin:citation,nodes=300,seed=3"
TRAIN = ["train", SET, "--runs", "6", "--epochs", "6", "--hidden", "16", "--threads", "1", "-o", "m.safetensors"]
REPRODUCE = ["reproduce", "fig1", "--threads", "1", "-o", "report"]
MODEL = pathlib.Path("m.safetensors")
TRAIN_JOURNAL = pathlib.Path("m.safetensors.journal")
REPRODUCE_JOURNAL = pathlib.Path("report/reproduce.journal")
# Journals have fewer bytes, models and pictures more: with files limited to this, jobs fail when all runs are kept.
AT_THE_END = 20_000


def damaged(content, chance):
    """The same with some bits flipped, or cut off somewhere."""
    if chance.random() < 0.25:
        return content[:chance.randrange(len(content))]
    result = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 10])):
        result[chance.randrange(len(result))] ^= 1 << chance.randrange(8)
    return bytes(result)


class Faults(ProgramTest):
    faults = {"train": 0, "reproduce": 0, "predict": 0}

    def survive(self, name, verb, path, prepare, result):
        """Runs `verb` on damaged copies of the file. `prepare` makes the folder as it was; `result` is what counts.

        Returns how many faults left the result as it is, and how many were told.
        """
        whole = (self.folder / path).read_bytes()
        outcome = self.succeed(*verb)
        expected = result(outcome)
        same, refused = 0, 0
        for seed in range(self.faults[name]):
            with self.subTest(name, seed=seed):
                prepare()
                (self.folder / path).write_bytes(damaged(whole, random.Random(f"{name} {seed}")))
                outcome = self.ngf(*verb)
                if outcome.code == 0:
                    same += 1
                    self.assertEqual(result(outcome), expected, outcome.err)
                    told = [line for line in outcome.err.splitlines(True) if line.startswith("ngf:")]
                    self.assertRegex("".join(told), rf"\A(ngf: warning: {path}: \d+ damaged record.*\n)?\Z")
                else:
                    refused += 1
                    self.assert_one_line(outcome, path)
                    self.assertNotIn("json", outcome.err)
        return same, refused

    def read(self, path):
        return (self.folder / path).read_bytes()

    def test_train(self):
        self.assert_one_line(self.ngf(*TRAIN, preexec_fn=limit_files_to(AT_THE_END)), MODEL)
        self.assertEqual(self.read(TRAIN_JOURNAL).count(b"\n"), 7)

        def prepare():
            (self.folder / MODEL).unlink(missing_ok=True)

        def result(outcome):
            self.assertFalse((self.folder / TRAIN_JOURNAL).exists())
            return json.loads(outcome.out)["runs"], self.read(MODEL)

        same, _ = self.survive("train", [*TRAIN, "--resume", "--json"], TRAIN_JOURNAL, prepare, result)
        self.assertGreater(same, 0)

    def test_reproduce(self):
        self.assert_one_line(self.ngf(*REPRODUCE, "--quiet", preexec_fn=limit_files_to(AT_THE_END)), "report/")
        self.assertEqual(self.read(REPRODUCE_JOURNAL).count(b"\n"), 55)

        def prepare():
            for file in (self.folder / "report").iterdir():
                file.unlink()

        def result(outcome):
            self.assertFalse((self.folder / REPRODUCE_JOURNAL).exists())
            return self.read("report/results.json")

        same, _ = self.survive("reproduce", [*REPRODUCE, "--resume", "--json"], REPRODUCE_JOURNAL, prepare, result)
        self.assertGreater(same, 0)

    def test_predict(self):
        self.succeed(*TRAIN)

        def prepare():
            (self.folder / "labels.csv").unlink(missing_ok=True)

        def result(outcome):
            return json.loads(outcome.out)["accuracy"], self.read("labels.csv")

        verb = ["predict", str(MODEL), SET, "-o", "labels.csv", "--json"]
        _, refused = self.survive("predict", verb, MODEL, prepare, result)
        self.assertGreater(refused, 0)


class Quick(Faults):
    faults = {"train": 9, "reproduce": 6, "predict": 9}


class Thorough(Faults):
    faults = {"train": 70, "reproduce": 60, "predict": 70}


del Faults, ProgramTest

if __name__ == "__main__":
    unittest.main()
