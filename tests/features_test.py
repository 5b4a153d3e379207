#!/usr/bin/python3
"""`ngf features`: its numbers against a plain search from each row, its outputs, and its end.

    features_test.py [Numbers|Names|Streams|Ends|Large]
"""

import collections
import os
import pty
import signal
import subprocess
import time
import unittest

import numpy as np
import scipy.sparse

from python_support import PROGRAM, ProgramTest

RMAT = "rmat:scale=18"
RMAT_ROWS = 1 << 18


def plain_shells(graph, source, hops):
    """The nodes at each hop from a breadth-first search."""
    found = {source: 0}
    queue = collections.deque([source])
    while queue:
        u = queue.popleft()
        if found[u] == hops:
            break
        for v in graph.indices[graph.indptr[u]:graph.indptr[u + 1]]:
            if v not in found:
                found[v] = found[u] + 1
                queue.append(v)
    nodes = np.array(list(found))
    at = np.array(list(found.values()))
    return [np.sort(nodes[at == k]) for k in range(hops + 1)]


def plain_row(graph, x, u, hops, aggregate):
    parts = [getattr(x[shell], aggregate)(axis=0) if len(shell) else np.zeros(x.shape[1])
             for shell in plain_shells(graph, u, hops)]
    return np.concatenate(parts)


class FeaturesTest(ProgramTest):
    def signals(self, rows, columns, name="x.npy"):
        x = np.random.default_rng(1).normal(size=(rows, columns))
        np.save(self.folder / name, x)
        return x

    def graph(self, spec, *flags):
        self.succeed("convert", spec, "graph.npz", *flags)
        return scipy.sparse.load_npz(self.folder / "graph.npz").tocsr()

    def check_rows(self, spec, x, hops, aggregate, found, rows, *flags):
        graph = self.graph(spec, *flags)
        expected = np.array([plain_row(graph, x, u, hops, aggregate) for u in rows])
        np.testing.assert_allclose(found[rows], expected, rtol=2e-6, atol=2e-5)


class Numbers(FeaturesTest):
    def test_every_aggregate(self):
        for spec in ["ba:nodes=300,m=2", "er:nodes=200,p=0.01", "rmat:scale=8", "grid:rows=9,cols=8"]:
            nodes = self.json("info", spec)["nodes"]
            x = self.signals(nodes, 5)
            for aggregate in ["mean", "sum", "max"]:
                for hops in [0, 1, 3]:
                    value = self.json("features", spec, "--signal", "x.npy", "--hops", str(hops),
                                      "--aggregate", aggregate, "-o", "f.npy")
                    found = np.load(self.folder / "f.npy")
                    self.assertEqual((found.dtype, found.shape), (np.float32, (nodes, 5 * (hops + 1))))
                    self.assertEqual((value["nodes"], value["columns"], value["aggregate"], value["written"]),
                                     (nodes, 5 * (hops + 1), aggregate, "f.npy"))
                    self.check_rows(spec, x, hops, aggregate, found, np.arange(nodes))

    def test_directed(self):
        x = self.signals(256, 2)
        self.succeed("convert", "rmat:scale=8", "arcs.mtx", "--directed")
        self.succeed("features", "arcs.mtx", "--directed", "--signal", "x.npy", "--hops", "2", "-o", "f.npy")
        self.check_rows("arcs.mtx", x, 2, "mean", np.load(self.folder / "f.npy"), np.arange(256), "--directed")

    def test_threads_engines_and_budgets_change_nothing(self):
        self.signals(4096, 48)
        self.succeed("features", "rmat:scale=12", "--signal", "x.npy", "--hops", "2", "-o", "one.npy")
        passes = []
        for flags in [["--threads", "1"], ["--threads", "2"], ["--engine", "bits"], ["--engine", "queue"],
                      ["--memory", "10M", "--threads", "1"]]:
            value = self.json("features", "rmat:scale=12", "--signal", "x.npy", "--hops", "2", "-o", "f.npy", *flags)
            passes.append(value["passes"])
            self.assertEqual((self.folder / "f.npy").read_bytes(), (self.folder / "one.npy").read_bytes(), flags)
        self.assertEqual(passes[:4], [1] * 4)
        self.assertGreater(passes[4], 1)


class Large(FeaturesTest):
    def test_a_large_graph_within_its_budget(self):
        """Hubs reach most of this graph in two hops; their shells are never held together."""
        x = self.signals(RMAT_ROWS, 32)
        graph = self.graph(RMAT)
        hubs = np.argsort(-np.diff(graph.indptr))[:5]
        rows = np.concatenate([hubs, np.random.default_rng(2).integers(0, RMAT_ROWS, 60)])
        outcome = self.succeed("features", RMAT, "--signal", "x.npy", "--hops", "2", "-o", "f.npy", "--memory", "4G")
        self.assertLess(outcome.peak_bytes, 1e9)
        found = np.load(self.folder / "f.npy", mmap_mode="r")
        expected = np.array([plain_row(graph, x, u, 2, "mean") for u in rows])
        np.testing.assert_allclose(found[rows], expected, rtol=2e-6, atol=2e-5)


class Names(FeaturesTest):
    """Signals are matched with nodes by name; features are in the order of the nodes."""

    ROWS = "P-1,1,2,3\nNew York,2,2,4\nP-3,3,3,1\nP-4,4,3,2\n"

    def setUp(self):
        super().setUp()
        #  P-1 - New York - P-3 - P-4
        self.write("roads.csv", 'from,to\nP-1,"New York"\n"New York",P-3\nP-3,P-4\n')

    def features(self, signals, *flags, graph="roads.csv"):
        self.write("x.csv", signals)
        return self.succeed("features", graph, "--signal", "x.csv", "--hops", "2", *flags)

    def test_rows_are_matched_by_name(self):
        signals = 'station,"w, in m"\nP-4,4\nP-1,1\nNew York,2\nP-3,3\n'
        expected = 'station,"w, in m","w, in m_mean_hop1","w, in m_mean_hop2"\n' + self.ROWS
        outcome = self.features(signals)
        self.assertEqual(outcome.out, expected)
        self.assertIn("ngf: x.csv: rows are matched with nodes by their names\n", outcome.err)
        self.features(signals, "-o", "f.csv")
        self.assertEqual((self.folder / "f.csv").read_text(), expected)
        self.features(signals, "-o", "f.npy")
        self.assertEqual(np.load(self.folder / "f.npy").tolist(), [[1, 2, 3], [2, 2, 4], [3, 3, 1], [4, 3, 2]])
        self.write("x.csv", signals.replace("P-4", "P-5"))
        self.assert_one_line(self.ngf("features", "roads.csv", "--signal", "x.csv", "--hops", "1", "--quiet"),
                             "row 1 is 'P-5'")

    def test_rows_that_are_times(self):
        times = "timestamp,P-4,P-1,New York,P-3\n12:00,4,1,2,3\n12:05,40,10,20,30\n"
        lines = self.features(times, "--aggregate", "max").out.splitlines()
        self.assertEqual(lines[0], "node,12:00,12:05,12:00_max_hop1,12:05_max_hop1,12:00_max_hop2,12:05_max_hop2")
        self.assertEqual(lines[1:], ["P-1,1,10,2,20,3,30", "New York,2,20,3,30,4,40", "P-3,3,30,4,40,1,10",
                                     "P-4,4,40,3,30,2,20"])

    def test_a_header_may_have_the_names(self):
        self.assertEqual(self.features("P-3,P-1,P-4,New York\n3,1,4,2\n").out,
                         "node,value,value_mean_hop1,value_mean_hop2\n" + self.ROWS)

    def test_tables_without_names(self):
        self.assertEqual(self.features("1\n2\n3\n4\n").out, "node,value,value_mean_hop1,value_mean_hop2\n" + self.ROWS)
        self.assertEqual(self.features("1,2\n" * 4).out.splitlines()[0],
                         "node,value_1,value_2,value_1_mean_hop1,value_2_mean_hop1,value_1_mean_hop2,value_2_mean_hop2")

    def test_numbers_of_sensors(self):
        """Rows of numbers have a header, so that the ids are read as ids again."""
        self.write("sensors.csv", "from,to\n773,541\n541,542\n")
        self.assertEqual(self.features(",773,541,542\n12:00,3,1,2\n", graph="sensors.csv").out,
                         "node,12:00,12:00_mean_hop1,12:00_mean_hop2\n541,1,2.5,0\n542,2,1,3\n773,3,1,2\n")

    def test_ranges_of_rows_keep_their_names(self):
        self.succeed("convert", "rmat:scale=12", "plain.csv")
        edges = np.loadtxt(self.folder / "plain.csv", delimiter=",", dtype=int)
        self.write("named.csv", "".join(f"n{u},n{v}\n" for u, v in edges))
        nodes = self.json("info", "named.csv")["nodes"]
        self.signals(nodes, 48)
        flags = ["features", "named.csv", "--signal", "x.npy", "--hops", "2", "--threads", "1"]
        self.succeed(*flags, "-o", "one.csv")
        value = self.json(*flags, "-o", "f.csv", "--memory", "8500K")
        self.assertGreater(value["passes"], 1)
        self.assertEqual((self.folder / "f.csv").read_bytes(), (self.folder / "one.csv").read_bytes())
        labels = [line.split(",")[0] for line in (self.folder / "f.csv").read_text().splitlines()]
        self.assertEqual(labels[1:], list(dict.fromkeys(f"n{u}" for u in edges.ravel())))


class Streams(FeaturesTest):
    PATH = "0 1\n1 2\n2 3\n"
    ROWS = "1,2,4\n2,2.5,8\n4,5,1\n8,4,2\n"

    def setUp(self):
        super().setUp()
        self.write("path.txt", self.PATH)
        self.write("x.csv", "1\n2\n4\n8\n")

    def test_csv_and_standard_streams(self):
        flags = ["features", "path.txt", "--hops", "2"]
        outcome = self.succeed(*flags, "--signal", "x.csv")
        self.assertEqual(outcome.out, self.ROWS)
        self.assertRegex(outcome.err, r"\Astandard output: 4 x 3, computed in .* s\n\Z")
        self.assertEqual(self.succeed(*flags, "--signal", "x.csv", "-o", "-", "--quiet").err, "")
        with open(self.folder / "x.csv") as x:
            self.assertEqual(self.succeed(*flags, "--signal", "-", stdin=x).out, self.ROWS)
        self.assertRegex(self.succeed(*flags, "--signal", "x.csv", "-o", "f.csv").out,
                         r"\Af.csv: 4 x 3, computed in .* s\n\Z")
        self.assertEqual((self.folder / "f.csv").read_text(), self.ROWS)

    def test_features_of_a_data_set(self):
        spec = "builtin:citation,nodes=200"
        for flags in [[], ["--signal", "features"]]:
            self.succeed("features", spec, "--hops", "1", "-o", "f.npy", *flags)
            found = np.load(self.folder / "f.npy")
        self.succeed("convert", spec, "data.npz")
        self.succeed("features", "data.npz", "--hops", "1", "-o", "again.npy")
        np.testing.assert_array_equal(np.load(self.folder / "again.npy"), found)
        own = found[:, :found.shape[1] // 2]
        np.save(self.folder / "own.npy", own)
        self.succeed("features", spec, "--signal", "own.npy", "--hops", "1", "-o", "again.npy")
        np.testing.assert_array_equal(np.load(self.folder / "again.npy"), found)

    def test_plan(self):
        plan = self.json("features", "path.txt", "--signal", "x.csv", "--hops", "2", "--plan")
        for key in ["storage", "engine", "merged", "form", "bytes", "flops", "columns", "passes"]:
            self.assertIn(key, plan)
        self.assertEqual((plan["storage"], plan["columns"], plan["passes"]), ("stream", 3, 1))
        self.assertIn("passes", self.succeed("features", "path.txt", "--signal", "x.csv", "--hops", "2", "--plan").out)

    def test_terminal(self):
        """The first rows alone are computed and shown."""
        self.write("x81.csv", "1\n" * 81)
        main, end = pty.openpty()
        outcome = self.ngf("features", "grid:rows=9,cols=9", "--signal", "x81.csv", "--hops", "1", stdout=end)
        os.close(end)
        text = os.read(main, 10000).decode()
        os.close(main)
        self.assertEqual(outcome.code, 0)
        self.assertIn("... 71 more rows", text)

    def test_mistakes(self):
        for flags, part in [(["--signal", "x.csv"], "--hops"), (["--signal", "x.csv", "--hops", "all"], "--hops"),
                            (["--hops", "1"], "no features"),
                            (["--signal", "x.csv", "--hops", "1", "--json"], "-o FILE"),
                            (["--signal", "x.csv", "--hops", "1", "--aggregate", "min"], "--aggregate")]:
            outcome = self.ngf("features", "path.txt", *flags)
            self.assertEqual((outcome.code, outcome.out), (2, ""), flags)
            self.assertIn(part, outcome.err)
        self.write("short.csv", "1\n2\n")
        self.write("huge.csv", "1e300\n" * 4)
        self.write("large.csv", "3e38\n" * 4)
        flags = ["features", "path.txt", "--hops", "1", "-o", "f.npy", "--signal"]
        self.assert_one_line(self.ngf(*flags, "short.csv"), "2 rows")
        self.assert_one_line(self.ngf(*flags, "huge.csv"), "huge.csv", "single precision")
        self.assert_one_line(self.ngf(*flags, "large.csv", "--aggregate", "sum"), "node 1", "scale")
        self.assert_one_line(self.ngf("features", "path.txt", "--signal", "x.csv", "--hops", "70000"), "65534")
        self.assert_one_line(self.ngf(*flags[:-2], "nosuch/f.npy", "--signal", "x.csv"), "nosuch")
        outcome = self.ngf("features", "path.txt", "--hops", "1", "-o", "f.txt", "--signal", "x.csv")
        self.assert_one_line(outcome, ".csv")
        self.assertFalse((self.folder / "f.npy").exists())


class Ends(FeaturesTest):
    def test_interrupt_leaves_nothing(self):
        self.signals(1 << 16, 8)
        self.write("f.npy", "kept")
        command = ["features", "rmat:scale=16", "--signal", "x.npy", "--hops", "3", "-o", "f.npy"]
        child = subprocess.Popen([PROGRAM, *command], cwd=self.folder, env=self.environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not any(self.folder.glob(".f.npy.*")):
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(), (b"", b"ngf: interrupted\n"))
        self.assertEqual(child.returncode, 130)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["f.npy", "x.npy"])
        self.assertEqual((self.folder / "f.npy").read_text(), "kept")

    def test_progress(self):
        """A bar with the time left, on a terminal."""
        self.signals(1 << 15, 32)
        main, end = pty.openpty()
        command = ["features", "rmat:scale=15", "--signal", "x.npy", "--hops", "3", "-o", "f.npy"]
        child = subprocess.Popen([PROGRAM, *command],
                                 cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=end)
        os.close(end)
        text = b""
        try:
            while piece := os.read(main, 10000):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(main)
        self.assertEqual(child.wait(), 0)
        self.assertRegex(text, rb"computing features \[.*\] \d+ %.* left")


if __name__ == "__main__":
    unittest.main()
