"""The program under mpirun: the answers of one process, and an end for all where one of them fails."""

import json
import os
import pathlib
import pty
import random
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np

from python_support import PROGRAM, ProgramTest, run

SPECS = {
    "social": "ba:nodes=300,m=2,seed=4",
    "sparse": "er:nodes=200,p=0.008,seed=2",
    "karate": "builtin:karate",
}
RANKS = (2, 3, 4)
# As root, with more ranks than cores, wherever tests run.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMP_NUM_THREADS": "1",
}


def mpirun(ranks):
    return [shutil.which("mpirun"), "-n", str(ranks)]


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun here")
class MpiTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.environment |= MPI_ENVIRONMENT

    def together(self, ranks, *arguments, **popen):
        popen = {"cwd": self.folder, "env": self.environment} | popen
        return run([*mpirun(ranks), PROGRAM, *arguments, "--threads", "1"], **popen)

    def json_together(self, ranks, *arguments):
        outcome = self.together(ranks, *arguments, "--json")
        self.assertEqual(outcome.code, 0, (arguments, outcome))
        return json.loads(outcome.out)

    def told(self, outcome):
        """The lines that are ours, among those of mpirun."""
        return [line for line in outcome.err.splitlines() if line.startswith("ngf:")]

    def signals(self, rows, columns=3):
        path = self.folder / "x.npy"
        np.save(path, np.random.default_rng(1).normal(size=(rows, columns)))
        return str(path)


class SameAnswers(MpiTest):
    def test_shells(self):
        for name, spec in SPECS.items():
            for directed in ([], ["--directed"]):
                alone = self.json("shells", spec, "--hops", "all", *directed)
                for ranks in RANKS:
                    found = self.json_together(ranks, "shells", spec, "--hops", "all", *directed)
                    self.assertEqual(found["pairs"], alone["pairs"], (name, ranks))
                    self.assertEqual(sum(rank["pairs"] for rank in found["ranks"]), sum(alone["pairs"]))
                    self.assertTrue(all(rank["peak_bytes"] > 0 for rank in found["ranks"]))

    def test_more_ranks_than_nodes(self):
        self.write("tiny.txt", "0 1\n1 2\n")
        found = self.json_together(5, "shells", "tiny.txt", "--hops", "all")
        self.assertEqual(found["pairs"], [3, 4, 2])
        self.assertEqual(len(found["ranks"]), 5)
        x = self.signals(3)
        self.succeed("filter", "tiny.txt", "--signal", x, "--taps", "1,2,3", "-o", "one.npy")
        self.assertEqual(self.together(5, "filter", "tiny.txt", "--signal", x, "--taps", "1,2,3", "-o", "y.npy").code, 0)
        np.testing.assert_allclose(np.load(self.folder / "y.npy"), np.load(self.folder / "one.npy"), rtol=1e-12)

    def test_stored_shells_shrink(self):
        alone = self.json("shells", SPECS["social"], "--hops", "4", "--storage", "dense")
        found = self.json_together(4, "shells", SPECS["social"], "--hops", "4", "--storage", "dense")
        self.assertEqual(found["pairs"], alone["pairs"])
        self.assertEqual(found["bytes"], alone["bytes"])
        self.assertLess(max(rank["bytes"] for rank in found["ranks"]), 0.35 * alone["bytes"])

    def test_written_shells(self):
        for spec in SPECS.values():
            self.succeed("shells", spec, "--hops", "3", "--distances", "-o", "one.npy")
            self.succeed("shells", spec, "--hops", "2", "--hop", "2", "-o", "one.npz")
            for ranks in RANKS:
                self.assertEqual(
                    self.together(ranks, "shells", spec, "--hops", "3", "--distances", "-o", "all.npy").code, 0)
                self.assertEqual((self.folder / "all.npy").read_bytes(), (self.folder / "one.npy").read_bytes())
                self.assertEqual(
                    self.together(ranks, "shells", spec, "--hops", "2", "--hop", "2", "-o", "all.npz").code, 0)
                one, several = np.load(self.folder / "one.npz"), np.load(self.folder / "all.npz")
                for key in one.files:
                    np.testing.assert_array_equal(one[key], several[key])

    def test_features(self):
        """Columns are summed in the order of the partition, so that sums differ by rounding."""
        x = self.signals(300, 20)
        for flags in [["--aggregate", "mean"], ["--aggregate", "sum"], ["--aggregate", "max"]]:
            command = ["features", SPECS["social"], "--signal", x, "--hops", "3", *flags]
            self.succeed(*command, "-o", "one.npy")
            one = np.load(self.folder / "one.npy")
            for ranks in RANKS:
                found = self.json_together(ranks, *command, "-o", "all.npy")
                self.assertEqual((len(found["ranks"]), found["columns"]), (ranks, 80))
                several = np.load(self.folder / "all.npy")
                self.assertEqual(several.dtype, np.float32)
                np.testing.assert_allclose(several, one, rtol=1e-5, atol=1e-4)
            self.assertEqual(self.together(2, *command, "-o", "all.csv").code, 0)
            np.testing.assert_allclose(np.loadtxt(self.folder / "all.csv", delimiter=","), one, rtol=1e-5, atol=1e-4)
        self.write("roads.csv", "from,to\nb,a\na,c\nc,d\nd,e\n")
        self.write("x.csv", "id,v\na,1\nb,2\nc,3\nd,4\ne,5\n")
        command = ["features", "roads.csv", "--signal", "x.csv", "--hops", "2"]
        self.assertEqual(self.together(2, *command, "-o", "all.csv").code, 0)
        self.assertEqual((self.folder / "all.csv").read_text(), self.succeed(*command).out)
        spec = "builtin:citation,nodes=200"
        self.succeed("features", spec, "--hops", "2", "-o", "one.npy")
        self.assertEqual(self.together(3, "features", spec, "--hops", "2", "-o", "all.npy").code, 0)
        np.testing.assert_allclose(np.load(self.folder / "all.npy"), np.load(self.folder / "one.npy"), rtol=1e-5)
        outcome = self.together(2, "features", SPECS["karate"], "--hops", "2", "-o", "none.npy")
        self.assertEqual((outcome.code, len(self.told(outcome))), (2, 1), outcome)

    def test_filters(self):
        x = self.signals(300)
        taps = self.folder / "taps.csv"
        np.savetxt(taps, np.random.default_rng(2).normal(size=(300, 3)), delimiter=",")
        cases = [["--taps", "1,.5,.25,.1", "--storage", storage] for storage in ("sparse", "dense", "stream", "auto")]
        cases += [["--taps", "1,.5,.25", "--normalize", kind] for kind in ("lmax", "symmetric", "row")]
        cases += [["--taps", "1,.5,.25", "--kind", "polynomial", "--shift", kind] for kind in ("adjacency-lmax", "gcn")]
        cases += [["--node-taps", str(taps)]]
        for flags in cases:
            self.succeed("filter", SPECS["social"], "--signal", x, *flags, "-o", "one.npy")
            found = self.json_together(3, "filter", SPECS["social"], "--signal", x, *flags, "-o", "all.npy")
            self.assertEqual(len(found["ranks"]), 3)
            one, several = np.load(self.folder / "one.npy"), np.load(self.folder / "all.npy")
            np.testing.assert_allclose(several, one, atol=1e-9 * np.abs(one).max(), err_msg=str(flags))
        self.assertEqual(self.together(2, "filter", SPECS["social"], "--signal", x, "--taps", "1,1", "-o", "y.csv").code, 0)
        self.assertEqual(np.loadtxt(self.folder / "y.csv", delimiter=",").shape, (300, 3))

    def test_fitted_taps(self):
        x = self.signals(300)
        self.succeed("filter", SPECS["social"], "--signal", x, "--taps", "1,.5,-.25", "-o", "y.npy")
        found = self.json_together(3, "filter", SPECS["social"], "--signal", x, "--fit", "y.npy", "--hops", "2")
        np.testing.assert_allclose(found["taps"], [1, 0.5, -0.25], atol=1e-8)

    def test_training(self):
        data = "builtin:citation,nodes=300,seed=3"
        flags = ["--runs", "2", "--epochs", "6", "--hidden", "8"]
        for model in ("ngcnn", "gcnn", "gcn", "sgc", "mlp"):
            alone = self.json("train", data, "--model", model, *flags)
            for ranks in (2, 3):
                found = self.json_together(ranks, "train", data, "--model", model, *flags)
                for one, several in zip(alone["runs"], found["runs"]):
                    self.assertAlmostEqual(one["test_accuracy"], several["test_accuracy"], delta=0.02, msg=model)

    def test_trained_model_and_resumed_runs(self):
        data = "builtin:citation,nodes=300,seed=3"
        flags = ["train", data, "--runs", "3", "--epochs", "5", "--hidden", "8", "-o", "m.safetensors"]
        found = self.json_together(2, *flags)
        self.assertEqual(len(found["runs"]), 3)
        self.succeed("predict", "m.safetensors", data, "-o", "labels.csv")
        self.assertFalse((self.folder / "m.safetensors.journal").exists())

    def test_robustness(self):
        flags = ["robustness", SPECS["karate"], "--taps", "1,1,1", "--create", "10", "--realisations", "7"]
        alone, found = self.json(*flags), self.json_together(3, *flags)
        self.assertAlmostEqual(alone["ngf"]["mean"], found["ngf"]["mean"], delta=1e-12)
        self.assertAlmostEqual(alone["gf"]["std"], found["gf"]["std"], delta=1e-12)

    def test_reproduce(self):
        self.succeed("reproduce", "table1", "fig1", "-o", "one", "--quiet")
        self.assertEqual(self.together(2, "reproduce", "table1", "fig1", "-o", "all", "--quiet").code, 0)
        self.assertEqual((self.folder / "all" / "results.json").read_bytes(),
                         (self.folder / "one" / "results.json").read_bytes())

    def test_info_and_verbs_of_one_process(self):
        found = self.json_together(2, "info", SPECS["social"], "--hops", "3")
        self.assertEqual(sum(rank["nodes"] for rank in found["ranks"]), 300)
        self.assertEqual(self.together(3, "convert", SPECS["karate"], "k.mtx").code, 0)
        self.assertTrue((self.folder / "k.mtx").exists())


class OneLine(MpiTest):
    def test_errors(self):
        cases = [
            (["shells", "nothere.txt", "--hops", "2"], 1, "nothere.txt"),
            (["shells", SPECS["social"], "--hopps", "2"], 2, "hop"),
            (["filter", SPECS["social"], "--signal", self.signals(5), "--taps", "1,1", "-o", "y.npy"], 1, "5 rows"),
            (["shells", "er:nodes=20000,p=0.001", "--hops", "4", "--storage", "dense", "--memory", "50M"], 1, "memory"),
            (["shells", SPECS["social"], "--hops", "2", "--distances", "-o", "no/such/d.npy"], 1, "d.npy"),
        ]
        for arguments, code, part in cases:
            outcome = self.together(3, *arguments)
            self.assertEqual(outcome.code, code, (arguments, outcome))
            lines = self.told(outcome)
            self.assertEqual(len(lines), 1, (arguments, outcome.err))
            self.assertIn(part, lines[0])
        self.assertFalse((self.folder / "y.npy").exists())

    def test_ranks_of_other_arguments(self):
        graph = SPECS["social"]
        for first, other in [
                (["shells", graph, "--hops", "3"], ["shells", graph, "--hops", "3", "--nosuch"]),
                (["shells", graph, "--hops", "3"], ["shells", graph, "--hops", "4"]),
                (["shells", graph, "--hops", "3", "--nosuch"], ["shells", graph, "--hops", "3"]),
                (["info", graph, "--hops", "3"], ["convert", graph, "out.txt"]),
                (["info", graph], ["--help"]),
                (["info", graph], []),
        ]:
            for before, after in [(first, other), (other, first)]:
                outcome = run([*mpirun(2), PROGRAM, *before, ":", "-n", "1", PROGRAM, *after],
                              cwd=self.folder, env=self.environment)
                self.assertEqual((outcome.code, outcome.out), (2, ""), (before, after, outcome))
                lines = self.told(outcome)
                self.assertEqual(len(lines), 1, (before, after, outcome.err))
                self.assertRegex(lines[0], r"ngf: rank 2 runs '.*', and rank 0 '.*'; all ranks need the same arguments")
        self.assertFalse((self.folder / "out.txt").exists())

    def test_help_is_printed_once(self):
        outcome = self.together(3, "shells", "--help")
        self.assertEqual(outcome.out.count("Usage:"), 1)


class Terminal(MpiTest):
    def test_progress_is_shown_where_mpirun_prints(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([*mpirun(2), PROGRAM, "shells", "er:nodes=200000,p=0.0001,seed=1", "--hops", "all"],
                                   cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            # On a slow machine reading the graph is shown too, before.
            while b"counting pairs [" not in shown:
                shown += os.read(ours, 4096)
        except OSError:
            pass
        process.terminate()
        process.wait(60)
        os.close(ours)
        self.assertIn(b"counting pairs [", shown)


class Killed(MpiTest):
    """kill -9 of any rank, at any moment: the job ends soon, and leaves nothing half done."""

    def start(self, *arguments):
        process = subprocess.Popen([*mpirun(3), PROGRAM, *arguments, "--threads", "1"], cwd=self.folder,
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def ranks_of(self, process):
        """Processes of the program, which mpirun has started, by rank."""
        found = {}
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        for child in children.split():
            try:
                environment = pathlib.Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            for entry in environment:
                if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(entry.split(b"=")[1])] = int(child)
        return found

    def test_at_any_moment(self):
        chance = random.Random(1)
        command = ["shells", "er:nodes=8000,p=0.002,seed=1", "--hops", "all", "--distances", "-o"]
        self.succeed(*command, "whole.npy")
        whole = (self.folder / "whole.npy").read_bytes()
        target = self.write("d.npy", "what was there")
        for rank in (0, 1, 2, 0, 1, 2):
            process = self.start(*command, "d.npy")
            for _ in range(400):
                if len(self.ranks_of(process)) == 3:
                    break
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.6))
            victim = self.ranks_of(process).get(rank)
            if victim is None:
                process.wait(60)
                continue
            begun = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            _, err = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - begun, 10)
            content = target.read_bytes()
            if content == whole:
                # It had done its work already; perhaps its ranks were on their way out.
                target = self.write("d.npy", "what was there")
                continue
            self.assertNotEqual(process.returncode, 0)
            self.assertTrue(content == b"what was there", err)

    def test_training_goes_on_where_it_was(self):
        flags = ["train", "builtin:citation,nodes=300,seed=3", "--runs", "12", "--batch", "2", "--epochs", "60",
                 "--hidden", "8", "-o", "m.safetensors", "--json"]
        process = self.start(*flags)
        journal = self.folder / "m.safetensors.journal"
        for _ in range(3000):
            if journal.exists() and journal.read_bytes().count(b"\n") >= 4:
                break
            time.sleep(0.01)
        os.kill(self.ranks_of(process)[1], signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertTrue(journal.exists())
        resumed = self.json_together(2, *flags[:-1], "--resume")
        alone = self.json(*flags[:-1])
        self.assertEqual(len(resumed["runs"]), 12)
        for one, several in zip(alone["runs"], resumed["runs"]):
            self.assertAlmostEqual(one["test_accuracy"], several["test_accuracy"], delta=0.05)

    def test_polite_end(self):
        process = self.start("shells", "er:nodes=300000,p=0.0001,seed=1", "--hops", "all")
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(len([line for line in err.splitlines() if line.startswith(b"ngf:")]), 1, err)


if __name__ == "__main__":
    unittest.main()
