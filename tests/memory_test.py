#!/usr/bin/python3
"""`--memory` is kept: the peak of resident memory is at most 1.1 times the budget plus a floor for
the program itself, or the program says in one line which budget is enough, and that budget is.

    memory_test.py [Quick|Slow]
"""

import re
import subprocess
import sys
import unittest

from python_support import DATA, PROGRAM, ProgramTest, needs_data, run

FLOOR = 24_000_000  # code, libraries and stacks; docs/promises.md names it
MOST_ADVICE = 2  # reading cannot tell what the stages after it need

# Peak memory is inherited from the process that starts a program, so a small one starts it.
MEASURE = """
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as peak:
    peak.write(str(usage.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"""

# What commands read. This process keeps small by leaving it to another one.
INPUTS = """
import numpy as np
random = np.random.default_rng(1)
np.save("wide.npy", random.normal(size=(34, 300000)))
np.save("sparse.npy", (random.random((4000, 4000)) < 0.001).astype(float))
full = random.random((1500, 1500))
np.save("full.npy", full + full.T)
np.save("one_way.npy", np.triu(full))
np.save("x1.npy", random.normal(size=(20000, 1)))
np.save("x16.npy", random.normal(size=(20000, 16)))
np.savetxt("x16.csv", random.normal(size=(20000, 16)), delimiter=",")
np.save("x64.npy", random.normal(size=(20000, 64)))
np.save("of_grid.npy", random.normal(size=(10000, 8)))
np.save("of_rmat.npy", random.normal(size=(32768, 8)))
names = random.integers(0, 200000, size=(500000, 2))
np.savetxt("names.edgelist", names, fmt="station-%d")
np.savez("edges.npz", edges=random.integers(0, 200000, size=(1500000, 2)),
         node_features=np.zeros((200000, 1), np.float32), node_labels=np.zeros(200000, np.int64))
"""

BA = "ba:nodes=20000,m=5"
GRID = "grid:rows=100,cols=100"

# Budgets in MB, and commands. Some budgets are enough, some are not.
QUICK = [
    (100, "filter builtin:karate --signal wide.npy --taps 1,.5 -o y.npy"),
    (60, "info sparse.npy"),
    (20, "info rmat.edgelist"),
    (60, f"filter {BA} --signal x16.npy --taps 1,1,1 -o y.npy"),
    (20, f"features {BA} --signal x16.npy --hops 2 -o y.npy"),
    (60, f"filter {BA} --signal x1.npy --fit x1.npy --hops 5"),
    (60, f"filter {BA} --signal x1.npy --taps 1,1,1 -o y.npy --pair-weights x16.npy --normalize symmetric"),
    (30, "train builtin:citation,nodes=4000 --runs 2 --epochs 3"),
    (30, f"denoise {GRID} --signal of_grid.npy -o y.npy --arch gf --stop epochs:2"),
]
SLOW = [
    # signals wider than the budget
    (100, "filter builtin:karate --signal wide.npy --taps 1,.5 -o y.csv --kind polynomial"),
    (100, "denoise builtin:karate --signal wide.npy -o y.npy --arch tikhonov"),
    (100, "denoise builtin:karate --signal wide.npy -o y.npy --arch median"),
    # every format
    (30, "info full.npy"),
    (30, "info one_way.npy"),
    (20, "convert edges.npz y.npz"),
    (20, "convert names.edgelist y.edgelist --quiet"),
    (40, "shells names.edgelist --hop 1 -o y.csv --quiet"),
    (10, "convert rmat.mtx y.npz"),
    (10, "convert rmat.graph y.edgelist"),
    (10, "convert rmat.npz y.mtx"),
    (20, "convert rmat.csv y.edgelist"),
    (10, "info rmat.edgelist --hops 3"),
    # shells in every storage
    (30, "shells rmat.edgelist --hops 2"),
    (30, "shells rmat.edgelist --hops 2 --storage sparse"),
    (30, "shells rmat.edgelist --hops 2 --storage dense"),
    (20, f"shells {GRID} --hops all"),
    (20, f"shells {GRID} --hops all --distances -o y.npy"),
    (20, f"shells {BA} --hops 2 --hop 2 -o y.npz"),
    # filters in every storage and width
    (60, f"filter {BA} --signal x64.npy --taps 1,1,1,1 -o y.npy --storage stream"),
    (60, f"filter {BA} --signal x64.npy --taps 1,1,1,1 -o y.npy --storage sparse"),
    (60, f"filter {BA} --signal x64.npy --taps 1,1,1,1 -o y.npy --storage dense"),
    (60, f"filter {BA} --signal x64.npy --taps 1,1,1,1 -o y.npy --normalize symmetric"),
    (60, f"filter {BA} --signal x16.npy --fit x16.npy --hops 2"),
    (20, f"filter {BA} --signal x16.csv --taps 1,1,1 -o y.csv"),
    (20, f"filter {BA} --signal x16.csv --taps 1,1,1 -o y.csv --kind polynomial"),
    (20, "filter rmat.edgelist --directed --signal of_rmat.npy --taps 1,1 -o y.npy"),
    (60, "filter rmat.mtx --signal of_rmat.npy --taps 1,1,1 -o y.npy"),
    # the other verbs
    (20, f"features {BA} --signal x64.npy --hops 3 -o y.npy"),
    (60, f"features {BA} --signal x64.npy --hops 3 --aggregate max --engine bits -o y.csv"),
    (20, "features builtin:citation,nodes=4000 --hops 4 -o y.npy"),
    (10, "perturb rmat.edgelist --create 5 --destroy 5 -o y.edgelist"),
    (30, f"robustness {BA} --taps 1,1,1 --create 5 --realisations 2"),
    (20, f"denoise {GRID} --signal of_grid.npy -o y.csv --arch tikhonov"),
    (30, f"denoise {GRID} --signal of_grid.npy -o y.csv --arch gcn --stop epochs:2"),
    (30, f"denoise {GRID} --signal of_grid.npy -o y.csv --arch ngf --stop epochs:2"),
    (40, "train builtin:citation,nodes=4000 --runs 20 --epochs 2"),
    (40, "train builtin:citation,nodes=4000 --model gcn --runs 2 --epochs 2"),
    (40, "train builtin:citation,nodes=4000 --model sgc --runs 2 --epochs 2"),
    (40, "train builtin:citation,nodes=4000 --model mlp --runs 2 --epochs 2"),
    (40, "train builtin:citation,nodes=4000 --hops 9 --storage dense --runs 2 --epochs 2"),
    (20, "predict model.safetensors builtin:citation,nodes=4000 -o y.csv"),
    (30, "reproduce table1 fig1 --runs 1 -o report"),
]
OF_DATA = [
    (30, "train planetoid:cora --runs 3 --epochs 3"),
    (60, "train planetoid:pubmed --hops 4 --runs 1 --epochs 2"),
    (60, "train planetoid:pubmed --model sgc --runs 2 --epochs 2"),
]


class MemoryTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.environment["NGF_DATA"] = str(DATA)
        subprocess.run([sys.executable, "-c", INPUTS], cwd=self.folder, check=True)
        self.succeed("convert", "rmat:scale=15,edge_factor=16", "rmat.edgelist")

    def with_budget(self, budget, command):
        """Runs a command, following its advice, and checks its peak each time."""
        for _ in range(1 + MOST_ADVICE):
            peak_file = self.folder / "peak.txt"
            outcome = self.measured(peak_file, *command.split(), "--memory", str(budget))
            peak = int(peak_file.read_text())
            self.assertLessEqual(peak, 1.1 * budget + FLOOR, (command, budget, outcome.err))
            if outcome.code == 0:
                return
            self.assert_one_line(outcome)
            advice = re.search(r"--memory (\d+)", outcome.err)
            self.assertTrue(advice, (command, outcome.err))
            self.assertGreater(int(advice[1]), budget, outcome.err)
            budget = int(advice[1])
        self.fail(f"{command}: its advice was followed {MOST_ADVICE} times: {outcome.err}")

    def measured(self, peak_file, *arguments):
        return run([sys.executable, "-S", "-c", MEASURE, str(peak_file), PROGRAM, *arguments],
                   cwd=self.folder, env=self.environment)

    def check(self, commands):
        for budget, command in commands:
            with self.subTest(command, budget=budget):
                self.with_budget(budget * 1_000_000, command)


class Quick(MemoryTest):
    def test_budgets_are_kept(self):
        self.check(QUICK)

    def test_a_pipe_without_end(self):
        peak_file = self.folder / "peak.txt"
        outcome = self.measured(peak_file, "info", "/dev/zero", "--memory", "50M")
        self.assert_one_line(outcome, "/dev/zero", "--memory")
        self.assertLessEqual(int(peak_file.read_text()), 55_000_000 + FLOOR)


class Slow(MemoryTest):
    def setUp(self):
        super().setUp()
        for name in ["rmat.mtx", "rmat.graph", "rmat.npz"]:
            self.succeed("convert", "rmat.edgelist", name)
        self.succeed("convert", "rmat:scale=10,edge_factor=16", "rmat.csv")
        self.succeed("train", "builtin:citation,nodes=4000", "--runs", "1", "--epochs", "2",
                     "-o", "model.safetensors")

    def test_every_verb_format_and_storage(self):
        self.check(SLOW)

    @needs_data
    def test_data_sets(self):
        self.check(OF_DATA)


if __name__ == "__main__":
    unittest.main()
