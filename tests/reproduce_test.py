"""The verb reproduce from outside: what it writes, what it refuses, and that it goes on after a kill."""

import csv
import json
import random
import signal
import subprocess
import time
import unittest

from python_support import PROGRAM, ProgramTest

# A few seconds, in cells of a moment and of a second.
JOB = ["fig1", "fig2a"]


class ReproduceTest(ProgramTest):
    def results(self, folder="report"):
        return json.loads((self.folder / folder / "results.json").read_text())

    def journal(self, folder="report"):
        return self.folder / folder / "reproduce.journal"

    def start(self, *flags):
        child = subprocess.Popen([PROGRAM, "reproduce", *JOB, *flags], cwd=self.folder, env=self.environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def wait_for_plan(self, child):
        """The plan's last line comes before the first cell."""
        for line in child.stderr:
            if line.startswith("all "):
                return
        self.fail("there was no plan")


class OutcomeTest(ReproduceTest):
    def test_what_is_written(self):
        told = self.json("reproduce", "table1", "fig1", "--seed", "3")
        results = self.results()
        self.assertEqual(list(results), ["settings", "seed", "size", "stand_in", "table1", "fig1"])
        self.assertEqual((results["settings"], results["seed"], results["size"], results["stand_in"]),
                         ("text", 3, "quick", True))
        self.assertEqual(list(results["table1"][0]),
                         ["dataset", "nodes", "features", "classes", "radius", "diameter"])
        self.assertEqual(results["table1"][0]["dataset"], "citation")
        self.assertEqual(len(results["fig1"]), 2 * 3 * 9)
        self.assertEqual(list(results["fig1"][0]),
                         ["graph", "perturbation", "K", "gf", "ngf", "gf_std", "ngf_std", "realisations"])
        table = csv.DictReader((self.folder / "report/fig1.csv").read_text().splitlines())
        self.assertEqual([float(row["gf"]) for row in table], [row["gf"] for row in results["fig1"]])
        for name in ["table1.csv", "fig1.svg", "index.html", "provenance.json"]:
            self.assertTrue((self.folder / "report" / name).is_file(), name)
        self.assertFalse(self.journal().exists())
        provenance = json.loads((self.folder / "report/provenance.json").read_text())
        for key in ["version", "target", "threads", "machine", "seed", "settings", "seconds"]:
            self.assertIn(key, provenance)
        self.assertEqual(provenance["figures"]["fig1"]["cells"], 2 * 3 * 9)
        self.assertGreater(provenance["figures"]["fig1"]["estimate_seconds"], 0)
        self.assertEqual(told["report"], "report/index.html")
        self.assertTrue(told["stand_in"])

    def test_the_same_bytes_on_any_number_of_threads(self):
        for threads in "1", "2":
            self.succeed("reproduce", "fig1", "-o", threads, "--threads", threads)
        self.assertEqual((self.folder / "1/results.json").read_bytes(), (self.folder / "2/results.json").read_bytes())
        self.succeed("reproduce", "fig1", "-o", "other", "--seed", "2")
        self.assertNotEqual(self.results("1")["fig1"], self.results("other")["fig1"])

    def test_what_it_says(self):
        outcome = self.succeed("reproduce", "table1", "-o", "a/b")
        self.assertEqual(outcome.out, "Report: a/b/index.html\n")
        self.assertIn("builtin:citation stands in", outcome.err)
        self.assertIn("ngf data get planetoid:cora", outcome.err)
        self.assertRegex(outcome.err, r"\ntable1 +1 +0 s  the data sets\n")
        self.assertRegex(outcome.err, r"\ntable1 +done in ")
        self.assertEqual(self.succeed("reproduce", "table1", "--quiet").err, "")

    def test_wrong_usage(self):
        for flags, part in [(["fig9"], "fig9"), (["--quick", "--full"], "--quick"), (["--settings", "neither"], "neither"),
                            (["--seed", "-1"], "-1")]:
            outcome = self.ngf("reproduce", *flags)
            self.assertEqual((outcome.code, outcome.out), (2, ""), flags)
            self.assertIn(part, outcome.err)
            self.assertFalse((self.folder / "report").exists())

    def test_no_folder(self):
        self.write("file", "")
        self.assert_one_line(self.ngf("reproduce", "fig1", "-o", "file"), "file")
        self.assert_one_line(self.ngf("reproduce", "fig1", "-o", "file/deeper"), "file/deeper")


class ResumeTest(ReproduceTest):
    def cut(self, number):
        child = self.start()
        self.wait_for_plan(child)
        while self.journal().read_bytes().count(b"\n") < 4:
            self.assertIsNone(child.poll(), "it ended before the signal")
            time.sleep(0.002)
        child.send_signal(number)
        _, err = child.communicate()
        return child.returncode, err

    def test_interrupted(self):
        code, err = self.cut(signal.SIGINT)
        self.assertEqual(code, 130)
        self.assertRegex(err, r"ngf: \d+ of 70 cells are kept in report/reproduce.journal; --resume runs the others\n")
        self.assertFalse((self.folder / "report/results.json").exists())

    def test_unfinished_jobs_are_not_lost_by_mistake(self):
        self.cut(signal.SIGKILL)
        before = self.journal().read_bytes()
        for flags, part in [(JOB, "--resume"), (["fig1", "--resume"], "other settings"),
                            ([*JOB, "--resume", "--seed", "2"], "other settings"),
                            ([*JOB, "--resume", "--settings", "code"], "other settings")]:
            outcome = self.ngf("reproduce", "--quiet", *flags)
            self.assert_one_line(outcome, "report/reproduce.journal", part)
        self.assertEqual(self.journal().read_bytes(), before)

    def test_killed_four_times(self):
        """At random moments; the seed makes a failure come back."""
        moments = random.Random(7)
        inside = 0
        for _ in range(4):
            child = self.start("--resume")
            self.wait_for_plan(child)
            time.sleep(moments.uniform(0.02, 0.6))
            child.kill()
            child.communicate()
            # Between the plan and the report there is nothing but cells.
            inside += child.returncode == -signal.SIGKILL and not (self.folder / "report/results.json").exists()
        self.assertGreaterEqual(inside, 3)
        self.succeed("reproduce", *JOB, "--resume")
        self.assertFalse(self.journal().exists())
        self.succeed("reproduce", *JOB, "-o", "whole")
        self.assertEqual((self.folder / "report/results.json").read_bytes(),
                         (self.folder / "whole/results.json").read_bytes())


if __name__ == "__main__":
    unittest.main()
