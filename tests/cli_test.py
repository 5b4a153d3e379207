"""The program from outside: what a script or a person at a terminal relies on."""

import csv
import io
import itertools
import json
import os
import pathlib
import pickle
import pty
import random
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
import unittest
import zipfile

import numpy as np
import scipy.io
import scipy.sparse

from python_support import DATA, PROGRAM, ProgramTest, limit_files_to, needs_data, run

GENERATED = [
    "builtin:karate", "builtin:citation,nodes=400", "sbm:nodes=300", "er:nodes=500,p=0.02",
    "ws:nodes=400", "ba:nodes=400", "grid:rows=15,cols=14", "rmat:scale=9"
]
SEEDED = [spec for spec in GENERATED if not spec.startswith(("builtin:karate", "grid"))]
ENDINGS = [".txt", ".csv", ".edgelist", ".mtx", ".graph", ".metis", ".npy", ".npz"]
FORMATS = ["edge-list", "matrix-market", "metis", "adjacency-csv", "adjacency-npy", "npz-scipy",
           "npz-edges", "npz-csr", "npz-ppnp"]
SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"
VERBS = [["info"], ["convert"], ["shells"], ["filter"], ["features"], ["robustness"], ["perturb"], ["train"], ["predict"], ["denoise"], ["reproduce"], ["bench"], ["data"], ["data", "list"], ["data", "get"],
         ["data", "path"], ["completion"]]


def edges_of(path, directed=False):
    """The edges of an edge list that the program has written."""
    pairs = (map(int, line.split()[:2]) for line in path.read_text().splitlines()
             if not line.startswith("#"))
    return {(u, v) if directed or u < v else (v, u) for u, v in pairs}


def named_edges_of(path):
    """The same for nodes with names, in the order of the file."""
    return [tuple(row[:2]) for row in csv.reader(
        (line for line in path.read_text().splitlines() if not line.startswith("#")),
        delimiter="," if path.suffix == ".csv" else " ")]


class UsageTest(ProgramTest):
    def assert_usage(self, *arguments):
        outcome = self.ngf(*arguments)
        self.assertEqual((outcome.code, outcome.out), (2, ""), (arguments, outcome))
        self.assertRegex(outcome.err, r"\Angf: .+\n(?s:.*)--help", arguments)
        self.assertEqual(list(self.folder.iterdir()), [], arguments)

    def test_help_is_everywhere(self):
        for verb in [[], *VERBS]:
            for flag in ["--help", "-h"]:
                outcome = self.succeed(*verb, flag)
                self.assertIn("Usage: " + " ".join(["ngf", *verb]), outcome.out)
                self.assertEqual(outcome.err, "")

    def test_wrong_words(self):
        for arguments in [[], ["nosuch"], ["--nosuch"], ["--json"], ["info"], ["info", "a", "b"],
                          ["info", "--nosuch", "builtin:karate"], ["convert", "builtin:karate"],
                          ["perturb", "builtin:karate"], ["perturb", "builtin:karate", "-o"],
                          ["bench", "nosuch"],
                          ["shells", "builtin:karate", "--hops", "2", "--distances"],
                          ["data"], ["data", "nosuch"], ["data", "get"], ["data", "list", "more"],
                          ["--json", "info", "builtin:karate"], ["completion"],
                          ["completion", "fish"]]:
            self.assert_usage(*arguments)

    def test_mistyped_words_get_a_suggestion(self):
        for words, suggestion in {
                "trian": "did you mean train?", "trian planetoid:cora --json": "did you mean train?",
                "inof builtin:karate": "did you mean info?", "data gett": "did you mean get?",
                "--vesion": "did you mean --version?",
                "train planetoid:cora --ephocs 3": "did you mean --epochs?",
                "train planetoid:cora --ephocs=3": "did you mean --epochs?",
                "denoise builtin:karate --signl x.csv": "did you mean --signal?",
                "data list --jsn": "did you mean --json?"}.items():
            outcome = self.ngf(*words.split())
            self.assertEqual((outcome.code, outcome.out), (2, ""), words)
            self.assertRegex(outcome.err, r"\Angf: [^\n]+: no such (verb|flag); [^\n]+\nTry: ngf [^\n]*--help\n\Z")
            self.assertIn(suggestion, outcome.err, words)
        for words in ["transmogrify", "info builtin:karate --transmogrify", "convert trian"]:
            self.assertNotIn("did you mean", self.ngf(*words.split()).err, words)

    def test_wrong_values(self):
        for flag, values in {
                "--threads": ["0", "-1", "two", "1.5", "100000"],
                "--memory": ["lots", "-1G", "4X", "", "1e30", "nan"],
                "--seed": ["-1", "1.5", "x", "18446744073709551616"],
                "--ids": ["text"],
                "--base": ["2", "-1", "x"],
                "--format": ["gml", "planetoid"],
        }.items():
            for value in values:
                self.assert_usage("info", "builtin:karate", flag, value)
        self.assert_usage("convert", "builtin:karate", "out", "--to", "gml")

    def test_wrong_values_of_perturb(self):
        for flags in [["--create", "-5"], ["--create", "many"], ["--destroy", "-0.1"],
                      ["--destroy", "100.5"], ["--probability", "--create", "1.5"],
                      ["--probability", "--destroy", "2"]]:
            self.assert_usage("perturb", "builtin:karate", "-o", "out.txt", *flags)

    def test_wrong_values_of_shells(self):
        for flags in [["--hops", "some"], ["--hops", "-1"], ["--hops", "1.5"],
                      ["--hops", "2", "--storage", "disk"], ["--hops", "2", "--engine", "steam"],
                      ["--hops", "2", "--min-paths", "0"], ["--hops", "2", "--min-paths", "4"]]:
            self.assert_usage("shells", "builtin:karate", *flags)

    def test_version(self):
        self.assertRegex(self.succeed("--version").out, r"\Angf \d+\.\d+\.\d+\n")
        value = self.json("--version")
        self.assertRegex(value["version"], r"\A\d+\.\d+\.\d+\Z")
        self.assertRegex(value["compiler"], r"(gcc|clang) \d+")
        self.assertGreater(value["threads"], 0)
        self.assertRegex(value["libraries"], r"OpenSSL \d+\.\d+")


class JsonTest(ProgramTest):
    def test_info(self):
        value = self.json("info", "builtin:karate")
        expected = {"nodes": 34, "edges": 78, "self_loops": 0, "duplicates": 0, "directed": False,
                    "components": 1, "classes": 2}
        self.assertEqual(value, value | expected)
        self.assertEqual(value["largest_component"],
                         {"nodes": 34, "edges": 78, "radius": 3, "diameter": 5})
        self.assertGreater(value["bfs"], 0)
        self.assertNotIn("features", value)
        self.assertGreater(self.json("info", "builtin:citation")["features"], 0)

    def test_convert_and_perturb(self):
        self.assertEqual(self.json("convert", "builtin:karate", "k.mtx")["written"], "k.mtx")
        value = self.json("perturb", "builtin:karate", "--create", "50", "-o", "p.txt")
        self.assertEqual((value["created"], value["destroyed"]), (39, 0))

    def test_warnings_go_to_stderr(self):
        self.write("wide.txt", "0 1 2.5 2001\n1 2 0.5 2002\n")
        for verb in [["info", "wide.txt"], ["convert", "wide.txt", "out.mtx"],
                     ["perturb", "wide.txt", "-o", "out.txt"]]:
            for flags in [[], ["--json"]]:
                loud = self.succeed(*verb, *flags)
                quiet = self.succeed(*verb, *flags, "--quiet")
                self.assertRegex(loud.err, r"\Angf: warning: wide\.txt: columns [^\n]+\n\Z")
                self.assertEqual((quiet.out, quiet.err), (loud.out, ""))

    def test_what_a_format_cannot_hold_is_told(self):
        outcome = self.succeed("convert", "builtin:citation,nodes=100", "out.mtx")
        self.assertRegex(outcome.err, r"\Angf: warning: out\.mtx: features[^\n]+\n\Z")
        self.assertEqual(self.succeed("convert", "builtin:citation,nodes=100", "out.npz").err, "")

    def test_errors_leave_stdout_empty_whatever_the_flags(self):
        for flags in [[], ["--json"], ["--quiet"], ["--json", "--quiet"]]:
            self.assert_one_line(self.ngf("info", "missing.txt", *flags), "missing.txt")

    def test_full_device(self):
        for command in [["info", "builtin:karate"], ["info", "builtin:karate", "--json"],
                        ["--version"], ["completion", "bash"]]:
            with open("/dev/full", "wb") as full:
                outcome = self.ngf(*command, stdout=full)
            self.assert_one_line(outcome, "standard output")


def npy(dtype, shape, body=b""):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body


def npz(**members):
    """The bytes of an .npz whose members are arrays, or bytes for those that are none."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            if not isinstance(member, bytes):
                content = io.BytesIO()
                np.save(content, member)
                member = content.getvalue()
            archive.writestr(name + ".npy", member)
    return file.getvalue()


def with_claimed_size(archive, size):
    """The archive with another size for its first member, in both places that tell it."""
    central = archive.index(b"PK\x01\x02")
    claim = struct.pack("<I", size)
    archive = archive[:central + 24] + claim + archive[central + 28:]
    return archive[:22] + claim + archive[26:]


class BadInputTest(ProgramTest):
    # More than any of these files justifies, less than what a trusting reader would take.
    MOST_BYTES = 400e6

    def refuse(self, name, content=None, *parts, flags=()):
        """The program must refuse the file, for whatever it is to be used."""
        if content is not None:
            self.write(name, content)
        before = sorted(self.folder.rglob("*"))
        for command in [["info", name], ["convert", name, "out.npz", "--id-map", "map.csv"],
                        ["perturb", name, "--create", "1", "-o", "out.txt"]]:
            outcome = self.ngf(*command, *flags)
            self.assert_one_line(outcome, name, *parts)
            self.assertLess(outcome.peak_bytes, self.MOST_BYTES, command)
            self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_missing(self):
        self.refuse("missing.txt", None, "No such file")
        self.refuse("no/folder/missing.npz", None, "No such file")

    def test_folder(self):
        (self.folder / "folder").mkdir()
        self.refuse("folder", None, "is a folder")

    def test_unreadable(self):
        path = self.write("secret.txt", "0 1\n")
        path.chmod(0)
        program, user = PROGRAM, {}
        if os.geteuid() == 0:
            # Nothing is unreadable to root, so nobody tries, with a copy within nobody's reach.
            program = shutil.copy(PROGRAM, self.folder)
            self.folder.chmod(0o755)
            user = {"user": 65534, "extra_groups": []}
        outcome = run([program, "info", "secret.txt"], cwd=self.folder, **user)
        self.assert_one_line(outcome, "secret.txt", "Permission denied")

    def test_empty(self):
        for ending in ENDINGS:
            self.refuse("empty" + ending, b"", "empty")
        self.refuse("comments.txt", "# nothing\n\n% at all\n")

    def test_noise(self):
        noise = random.Random(1).randbytes(100_000)
        for ending in ENDINGS:
            self.refuse("noise" + ending, b"\x00" + noise)
        for name in ["ind.noise.graph", "noise"]:
            self.refuse(name, noise)
        self.refuse("zipped.npz", b"PK\x03\x04" + noise)
        self.refuse("array.npy", b"\x93NUMPY\x01\x00" + noise)

    def test_truncated(self):
        self.succeed("convert", "er:nodes=60,p=0.1", "whole.txt")
        weighted = "".join(f"{line} {i + 2}\n" for i, line in
                           enumerate((self.folder / "whole.txt").read_text().splitlines()[1:]))
        self.write("weighted.txt", weighted)
        for source, form in itertools.product(["whole.txt", "weighted.txt"], FORMATS):
            if form == "edge-list":
                continue  # it does not say how long it is
            name = f"{form}-{source}"
            self.succeed("convert", source, name, "--to", form)
            content = (self.folder / name).read_bytes()
            for length in [1, len(content) // 7, len(content) // 2, len(content) * 6 // 7]:
                outcome = self.ngf("info", self.write("cut-" + name, content[:length]).name)
                self.assert_one_line(outcome, "cut-" + name)

    def test_truncated_edge_list(self):
        self.refuse("cut.txt", "0 1\n1 2\n2", "line 3")
        self.refuse("weight.txt", "0 1 0.5\n1 2 0.5\n2 0", "line 3")

    def test_promises_of_many_entries(self):
        many = 10**18
        banner = "%%MatrixMarket matrix coordinate pattern general\n"
        self.refuse("entries.mtx", f"{banner}3 3 {many}\n1 2\n", "line 2", many)
        self.refuse("nodes.mtx", f"{banner}{many} {many} 1\n1 2\n", "line 2", many)
        self.refuse("huge.mtx", f"{banner}4000000000 4000000000 1\n1 2\n", "line 2", 4000000000)
        self.refuse("nodes.graph", f"{many} 1\n2\n1\n", "line 1", many)
        self.refuse("edges.graph", f"2 {many}\n2\n1\n", "line 1", many)
        self.refuse("nodes.txt", f"# ngf edge list: nodes={many} base=0 directed=no\n0 1\n",
                    "line 1", many)
        self.refuse("huge.txt", "# ngf edge list: nodes=4000000000 base=0 directed=no\n0 1\n",
                    "line 1", 4000000000)
        self.refuse("rows.txt", "0 1\n1 4000000000\n", 4000000001, flags=["--ids", "rows"])
        self.refuse("table.npy", npy("<f8", (10**9, 10**9)))
        self.refuse("product.npy", npy("<f8", (2**32, 2**32)))
        self.refuse("negative.npy", npy("<f8", (-1, -1)))
        self.refuse("edges.npz", npz(edges=npy("<i8", (many, 2))))
        self.refuse("nodes.npz", npz(edges=np.array([[0, 1]]), num_nodes=np.int64(many)))
        self.refuse("shape.npz", npz(format=np.array(b"csr"), shape=np.array([many, many]),
                                     data=np.ones(1), indices=np.zeros(1, np.int32),
                                     indptr=np.array([0, 1])))
        self.refuse("features.npz", npz(edges=np.array([[0, 1]]),
                                        node_features=npy("<f4", (2, many))))

    def test_ids_that_are_none(self):
        for bad in ["-1", "1.5", "nan", "inf", "4294967296", "9" * 30, "0x1", "1e3", "a"]:
            self.refuse("ids.txt", f"0 1\n1 2\n2 {bad}\n", "line 3", bad)
            self.refuse("ids.csv", f"u,v\n0,1\n{bad},2\n", "line 3", bad)
            self.refuse("ids.mtx", f"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n"
                        f"1 2\n{bad} 1\n", "line 4", bad)
            self.refuse("ids.graph", f"3 2\n2 3\n1\n{bad}\n", "line 4", bad)

    def test_ids_out_of_range(self):
        banner = "%%MatrixMarket matrix coordinate pattern general\n"
        self.refuse("zero.mtx", f"{banner}3 3 1\n0 1\n", "line 3")
        self.refuse("four.mtx", f"{banner}3 3 1\n1 4\n", "line 3")
        self.refuse("four.graph", "3 1\n4\n\n\n", "line 2")
        self.refuse("base.txt", "0 1\n", "line 1", flags=["--base", "1"])
        self.refuse("ours.txt", "# ngf edge list: nodes=3 base=0 directed=no\n0 1\n1 3\n", "line 3")

    def test_ids_in_arrays(self):
        for bad in [-1, 2**32, 2**62]:
            self.refuse("ids.npz", npz(edges=np.array([[0, 1], [1, bad]])), bad)
        for bad in [0.5, np.nan]:
            self.refuse("float.npz", npz(edges=np.array([[0, 1], [1, bad]])))
        for indices, indptr in [([3], [0, 1, 1, 1]), ([-1], [0, 1, 1, 1]), ([0], [0, 2, 1, 1]),
                                ([0], [0, 1]), ([0], [0, 0, 0, 9]), ([0], [5, 1, 1, 1])]:
            self.refuse("csr.npz", npz(format=np.array(b"csr"), shape=np.array([3, 3]),
                                       data=np.ones(1), indices=np.array(indices, np.int32),
                                       indptr=np.array(indptr, np.int32)))

    def test_weights_that_are_none(self):
        for bad in ["nan", "inf", "x", "1.5.2"]:
            self.refuse("weights.txt", f"0 1 1\n1 2 {bad}\n", "line 2", bad)
            self.refuse("weights.csv", f"0,1,0,0\n1,0,0,0\n0,0,0,{bad}\n0,0,1,0\n", "line 3")
        self.refuse("weights.npy", npy("<f8", (2, 2), np.array([0, 1, np.nan, 0.0]).tobytes()))

    def test_tables_that_are_not_square(self):
        self.refuse("rows.csv", "0,1,0,0\n1,0,0,0\n0,0,0,1\n", "3 rows and 4 columns")
        self.refuse("ragged.csv", "0,1,0,0\n1,0,0\n0,0,0,1\n0,0,1,0\n")
        self.refuse("wide.npy", npy("<f8", (1, 2), bytes(16)))
        self.refuse("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n")

    def test_zip_bomb(self):
        zeros = bytes(1 << 24)
        # The least effort of deflate makes the bomb that is hardest to tell: 1 GB in 5 MB.
        with zipfile.ZipFile(self.folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED,
                             compresslevel=1) as archive:
            with archive.open("edges.npy", "w", force_zip64=True) as member:
                member.write(npy("<i8", (1 << 26, 2)))
                for _ in range(64):
                    member.write(zeros)
        self.refuse("bomb.npz", None, "zip bomb")

    def test_zip_entry_that_lies(self):
        honest = npz(edges=np.array([[0, 1], [1, 2]]))
        self.write("honest.npz", honest)
        self.assertEqual(self.json("info", "honest.npz")["edges"], 2)
        for size in [0, 10, 150, 161, 5000, 2**31, 2**32 - 2]:
            self.refuse("lies.npz", with_claimed_size(honest, size), "edges.npy")
        # This one says that the size is elsewhere, where there is none.
        self.refuse("lies.npz", with_claimed_size(honest, 2**32 - 1))
        damaged = bytearray(honest)
        damaged[honest.index(b"edges.npy") + 20] ^= 0xFF
        self.refuse("damaged.npz", bytes(damaged), "edges.npy")

    def test_pickle_that_names_a_function(self):
        hit = self.folder / "hit"
        command = f"touch {hit}".encode()
        evil = (b"\x80\x02cos\nsystem\nq\x00U" + bytes([len(command)]) + command +
                b"q\x01\x85q\x02Rq\x03.")
        for ending in ["x", "y", "tx", "ty", "allx", "ally", "graph"]:
            self.write(f"ind.evil.{ending}", evil)
        self.write("ind.evil.test.index", "0\n")
        outcome = self.ngf("info", "ind.evil.graph")
        self.assert_one_line(outcome, "ind.evil.", "os", "system")
        self.refuse("graph.pkl", evil, "pickle")
        self.assertFalse(hit.exists())
        # The test's own pickle would have worked, had it been trusted.
        pickle.loads(evil)
        self.assertTrue(hit.exists())

    @needs_data
    def test_any_part_of_a_data_set_may_be_bad(self):
        source = DATA / "planetoid"
        names = [path.name for path in source.glob("ind.cora.*")]
        self.assertEqual(len(names), 8)
        evil = b"\x80\x02cposix\nsystem\n(U\x04trueq\x00tR."
        for bad in names:
            for name in names:
                shutil.copyfile(source / name, self.folder / name)
            content = (source / bad).read_bytes()
            for wrong in [content[:len(content) // 2 + 1], b"", evil]:
                self.write(bad, wrong)
                outcome = self.ngf("info", "planetoid:cora", "--data", ".")
                self.assert_one_line(outcome, bad, "SHA-256", "ngf data get planetoid:cora")
                for flags in [["planetoid:cora", "--data", ".", "--lenient"], ["ind.cora.graph"]]:
                    outcome = self.ngf("info", *flags)
                    self.assert_one_line(outcome, "ind.cora.")
                    self.assertLess(outcome.peak_bytes, self.MOST_BYTES)

    def test_labels_that_are_not_credible(self):
        """One label of a small file must not take memory for as many classes."""
        edges = np.stack([np.arange(9), np.arange(1, 10)], axis=1)
        labels = np.arange(10) % 2
        masks = np.ones((1, 10), bool)
        arrays = {"edges": edges, "node_features": np.eye(10, dtype=np.float32), "train_masks": masks,
                  "val_masks": masks, "test_masks": masks}
        for wrong in [2**31 - 1, 65536, -2]:
            labels[3] = wrong
            np.savez_compressed(self.folder / "a.npz", node_labels=labels, **arrays)
            for verb in ["info", "train"]:
                outcome = self.ngf(verb, "a.npz", "--memory", "1G")
                self.assert_one_line(outcome, "a.npz: node_labels.npy: entry 3", str(wrong))
                self.assertLess(outcome.peak_bytes, self.MOST_BYTES)

    def test_lenient(self):
        for name, content, error in [
                ("a.graph", "3 3\n2\n1 3\n2\n", "line 1: promises 3 nodes and 3 edges"),
                ("b.graph", "% c\n3 1\n2\n1 3\n2\n", "line 2: promises 3 nodes and 1 edges"),
                ("c.graph", "3 2\n2 3\n1\n2\n", "line 2: node 1 lists 3"),
                ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n",
                 "line 2: promises 2 entries, but 1 follow"),
                ("a.txt", "# ngf edge list: edges=2 nodes=3 base=0 directed=no\n0 1\n",
                 "line 1: promises 2 edges, but 1 follow"),
                ("b.txt", "0 1 5\n1 0 6\n", "edge 0-1 has two weights, 6 and 5")]:
            self.write(name, content)
            self.assert_one_line(self.ngf("info", name), f"{name}: {error}", "--lenient ")
            for flags in [[], ["--json"]]:
                outcome = self.succeed("info", name, "--lenient", *flags)
                self.assertIn(f"{name}: {error}", outcome.err)
                self.assertEqual(outcome.err.count("\n"), 1)

    def test_every_cut_of_our_edge_list_is_noticed(self):
        self.succeed("convert", "builtin:karate", "k.txt")
        whole = (self.folder / "k.txt").read_bytes()
        for length in [97, 0, 10, 20, 30, 40, 50, 60, len(whole) // 2, len(whole) - 2, len(whole) - 1]:
            self.write("cut.txt", whole[:length])
            self.assert_one_line(self.ngf("info", "cut.txt"), "cut.txt")

    def test_memory_limit(self):
        self.assert_one_line(self.ngf("info", "rmat:scale=20", "--memory", "1M"), "memory")
        self.assert_one_line(self.ngf("info", "er:nodes=4000000000,p=1"), "memory")

    def test_memory_that_is_not_there(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

        outcome = self.ngf("convert", "grid:rows=3000,cols=3000", "out.txt", preexec_fn=limit)
        self.assert_one_line(outcome, "memory")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_made_graphs_that_cannot_be(self):
        for spec in ["er:nodes=10", "er:nodes=10,p=2", "er:nodes=-1,p=0", "er:nodes=x,p=0",
                     "er:nodes=10,p=nan", "sbm:blocks=0", "ws:nodes=4,k=3", "ba:nodes=3,m=3",
                     "grid:rows=1000000000000,cols=2", "rmat:scale=80", "builtin:nosuch",
                     "planetoid:nosuch", "grid:rows=2,rows=3", "grid:depth=2", "grid:rows"]:
            self.assert_one_line(self.ngf("info", spec), spec.partition(":")[0])

    def test_names_do_not_break_the_line(self):
        outcome = self.ngf("info", "two\nlines\x1b[31m.txt")
        self.assert_one_line(outcome, "two?lines?[31m.txt")


class OutputTest(ProgramTest):
    def commands(self, out):
        return [["convert", "builtin:karate", out], ["perturb", "builtin:karate", "-o", out],
                ["info", "builtin:karate", "--id-map", out]]

    def test_folder(self):
        (self.folder / "folder.npz").mkdir()
        for command in self.commands("folder.npz"):
            self.assert_one_line(self.ngf(*command), "folder.npz", "is a folder")
        self.assertEqual(list((self.folder / "folder.npz").iterdir()), [])

    def test_missing_folder(self):
        for command in self.commands("no/such/out.npz"):
            self.assert_one_line(self.ngf(*command), "no/such/out.npz")

    def test_unwritable_folder(self):
        closed = self.folder / "closed"
        closed.mkdir()
        closed.chmod(0o555)
        self.addCleanup(closed.chmod, 0o755)
        program, user = PROGRAM, {}
        if os.geteuid() == 0:
            program = shutil.copy(PROGRAM, self.folder)
            self.folder.chmod(0o755)
            user = {"user": 65534, "extra_groups": []}
        for command in self.commands("closed/out.npz"):
            outcome = run([program, *command], cwd=self.folder, **user)
            self.assert_one_line(outcome, "closed/out.npz", "Permission denied")

    def test_what_is_no_file_stays_what_it_is(self):
        pipe = self.folder / "pipe.txt"
        os.mkfifo(pipe)
        # Both ends are open here, so that neither side waits.
        ends = os.open(pipe, os.O_RDWR)
        self.addCleanup(os.close, ends)
        outcome = self.ngf("convert", "builtin:karate", "pipe.txt")
        self.assertIn(outcome.code, (0, 1))
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))

    def test_older_output_survives_a_failure(self):
        kept = self.write("out.graph", "1 0\n\n")
        outcome = self.ngf("convert", "er:nodes=20,p=0.2", "--directed", "out.graph")
        self.assert_one_line(outcome, "out.graph")
        self.assertEqual(kept.read_bytes(), b"1 0\n\n")
        self.assertEqual(list(self.folder.iterdir()), [kept])

    def test_a_file_may_be_converted_onto_itself(self):
        self.write("a.txt", "1 2\n2 3\n")
        self.succeed("convert", "a.txt", "a.txt")
        self.assertEqual(edges_of(self.folder / "a.txt"), {(0, 1), (1, 2)})


def closing(*descriptors):
    """For the child alone (preexec_fn): the descriptors are closed."""
    def close():
        for descriptor in descriptors:
            os.close(descriptor)
    return close


class StandardStreamsTest(ProgramTest):
    WARNS = ["convert", "builtin:citation,nodes=100", "out.txt", "--json"]

    def test_stderr_that_cannot_be_written(self):
        self.assertIn("warning", self.succeed(*self.WARNS).err)
        with open("/dev/full", "wb") as full:
            for popen in [{"preexec_fn": closing(2)}, {"stderr": full}]:
                self.assertIn("written", json.loads(self.succeed(*self.WARNS, **popen).out))
                self.assertEqual(self.ngf("info", "nofile", **popen).code, 1)
                self.assertEqual(self.ngf("nosuch", **popen).code, 2)
                self.assertEqual(self.ngf(**popen).code, 2)

    def test_stderr_that_nobody_reads(self):
        """The work goes on."""
        ours, theirs = os.pipe()
        os.close(ours)
        self.addCleanup(os.close, theirs)
        self.assertIn("written", json.loads(self.succeed(*self.WARNS, stderr=theirs).out))
        self.assertEqual(self.ngf("info", "nofile", stderr=theirs).code, 1)

    def test_stdout_that_cannot_be_written(self):
        commands = [["info", "builtin:karate"], ["--help"], ["info", "--help"], ["--version"], ["completion", "bash"]]
        with open("/dev/full", "wb") as full:
            for command in commands:
                for popen in [{"preexec_fn": closing(1)}, {"stdout": full}]:
                    self.assert_one_line(self.ngf(*command, **popen))

    def test_stdout_that_nobody_reads(self):
        """As of other programs, the end is silent."""
        ours, theirs = os.pipe()
        os.close(ours)
        self.addCleanup(os.close, theirs)
        outcome = self.ngf("info", "builtin:karate", stdout=theirs)
        self.assertEqual((outcome.code, outcome.err), (128 + signal.SIGPIPE, ""))

    def test_no_file_takes_the_place_of_a_closed_stream(self):
        for closed in [(0,), (1,), (2,), (0, 1, 2)]:
            outcome = self.ngf(*self.WARNS, preexec_fn=closing(*closed))
            self.assertEqual(outcome.code, 1 if 1 in closed else 0, closed)
            self.assertEqual(edges_of(self.folder / "out.txt"), self.plain_edges(), closed)

    def plain_edges(self):
        self.succeed("convert", "builtin:citation,nodes=100", "plain.txt")
        return edges_of(self.folder / "plain.txt")


class EarlyOutputTest(ProgramTest):
    def test_outputs_are_checked_before_anything_is_read(self):
        for command in [["convert", "GRAPH", "OUT"],
                        ["filter", "GRAPH", "--signal", "x.csv", "--taps", "1", "-o", "OUT"],
                        ["shells", "GRAPH", "--hops", "2", "--distances", "-o", "OUT"],
                        ["perturb", "GRAPH", "--create", "5", "-o", "OUT"],
                        ["denoise", "GRAPH", "--signal", "x.csv", "-o", "OUT"],
                        ["train", "GRAPH", "-o", "OUT"],
                        ["predict", "model", "GRAPH", "-o", "OUT"],
                        ["info", "GRAPH", "--id-map", "OUT"]]:
            names = {"GRAPH": "no-such-graph", "OUT": "no-such-folder/out.npy"}
            outcome = self.ngf(*(names.get(word, word) for word in command))
            self.assert_one_line(outcome, "no-such-folder/out.npy: cannot be written")


class DashTest(ProgramTest):
    """Data on standard input (-) and standard output (-o -, or no -o)."""

    GRAPH = "builtin:karate"

    def setUp(self):
        super().setUp()
        self.write("x.csv", "".join(f"{u},{u * u}\n" for u in range(34)))
        self.verbs = [["filter", self.GRAPH, "--signal", "x.csv", "--taps", "1,.5"],
                      ["denoise", self.GRAPH, "--signal", "x.csv", "--arch", "tikhonov"],
                      ["shells", self.GRAPH, "--hops", "2", "--hop", "2"]]

    def test_stdout_has_what_a_file_has(self):
        for verb in self.verbs:
            self.succeed(*verb, "-o", "y.csv")
            expected = (self.folder / "y.csv").read_text()
            for flags in [[], ["-o", "-"]]:
                outcome = self.succeed(*verb, *flags)
                self.assertEqual(outcome.out, expected, verb)
                self.assertNotEqual(outcome.err, "", verb)
                self.assertEqual(self.succeed(*verb, *flags, "--quiet").err, "", verb)
            self.assertFalse((self.folder / "-").exists())

    def test_a_file_on_stdout_is_continued(self):
        with open(self.folder / "all.txt", "w") as out:
            out.write("first\n")
            out.flush()
            self.succeed(*self.verbs[0], stdout=out)
        self.succeed(*self.verbs[0], "-o", "y.csv")
        self.assertEqual((self.folder / "all.txt").read_text(), "first\n" + (self.folder / "y.csv").read_text())

    def test_json_and_data_exclude_each_other(self):
        for verb in self.verbs:
            for flags in [[], ["-o", "-"]]:
                outcome = self.ngf(*verb, *flags, "--json")
                self.assertEqual((outcome.code, outcome.out), (2, ""), outcome)
                self.assertIn("name a file for the data: -o FILE", outcome.err)
            self.json(*verb, "-o", "y.csv")

    def test_terminal(self):
        self.succeed(*self.verbs[2], "-o", "edges.csv")
        edges = len((self.folder / "edges.csv").read_text().splitlines()) - 1
        for verb, rows in zip(self.verbs, [24, 24, edges - 10]):
            try:
                ours, theirs = pty.openpty()
            except OSError as error:
                self.skipTest(f"no terminal can be opened here: {error}")
            self.succeed(*verb, stdout=theirs)
            os.close(theirs)
            shown = b""
            while True:
                try:
                    shown += os.read(ours, 1 << 16)
                except OSError:  # all of it is read
                    break
            os.close(ours)
            lines = shown.decode().replace("\r\n", "\n").splitlines()
            self.assertEqual(len(lines), 12, shown)
            self.assertRegex(lines[-1], rf"\A\.\.\. {rows} more rows; write all with -o FILE")

    def test_stdin(self):
        self.succeed("convert", self.GRAPH, "k.txt")
        expected = self.succeed(*self.verbs[0]).out
        for graph, signal, name in [("-", "x.csv", "k.txt"), ("k.txt", "-", "x.csv")]:
            verb = ["filter", graph, "--signal", signal, "--taps", "1,.5"]
            with open(self.folder / name) as file:
                self.assertEqual(self.succeed(*verb, stdin=file).out, expected, name)
            with subprocess.Popen(["cat", self.folder / name], stdout=subprocess.PIPE) as cat:
                self.assertEqual(self.succeed(*verb, stdin=cat.stdout).out, expected, name)
        outcome = self.ngf("filter", "-", "--signal", "-", "--taps", "1")
        self.assertEqual(outcome.code, 1)
        with open(self.folder / "k.txt") as file:
            outcome = self.ngf("filter", "-", "--signal", "-", "--taps", "1", stdin=file)
        self.assertEqual((outcome.code, outcome.out), (2, ""))
        self.assertIn("standard input", outcome.err)

    def test_stdin_is_read_within_the_budget(self):
        with subprocess.Popen(["head", "-c", "300M", "/dev/zero"], stdout=subprocess.PIPE) as zeros:
            outcome = self.ngf("info", "-", "--memory", "100M", stdin=zeros.stdout)
        self.assert_one_line(outcome, "/dev/stdin", "memory")


class NearestNeighboursTest(ProgramTest):
    """`ngf convert points.csv graph --knn K`."""

    def points(self, ties):
        random.seed(3)
        return np.array([[round(random.uniform(-2, 2), 0 if ties else 12) for _ in range(3)] for _ in range(200)])

    def reference(self, points, k):
        squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        nearest = np.argsort(squares, axis=1, kind="stable")[:, :k]
        return {(min(u, v), max(u, v)) for u, row in enumerate(nearest) for v in row.tolist()}

    def test_equals_numpy(self):
        for ties, k in itertools.product([False, True], [1, 5, 30]):
            points = self.points(ties)
            plain = "".join(",".join(map(repr, row)) + "\n" for row in points.tolist())
            ids = "".join(f"s{u}," + ",".join(map(repr, row)) + "\n" for u, row in enumerate(points.tolist()))
            numbered = "".join(f"{999 - u}," + ",".join(map(repr, row)) + "\n" for u, row in enumerate(points.tolist()))
            node = {f"s{u}": u for u in range(len(points))} | {str(999 - u): u for u in range(len(points))}
            for text in [plain, "x,y,z\n" + plain, ids, "station,x,y,z\n" + ids, "id,x,y,z\n" + numbered]:
                self.write("points.csv", text)
                self.succeed("convert", "points.csv", "knn.txt", "--knn", str(k))
                edges = named_edges_of(self.folder / "knn.txt")
                if not text.startswith(("x", "-", "0", "1")):
                    edges = [(node[u], node[v]) for u, v in edges]
                self.assertEqual({(min(int(u), int(v)), max(int(u), int(v))) for u, v in edges},
                                 self.reference(points, k), (ties, k, text[:40]))
            np.save(self.folder / "points.npy", points)
            self.succeed("convert", "points.npy", "knn.txt", "--knn", str(k))
            self.assertEqual(edges_of(self.folder / "knn.txt"), self.reference(points, k))

    def test_refusals(self):
        self.write("few.csv", "0,0\n1,1\n2,2\n")
        self.assert_one_line(self.ngf("convert", "few.csv", "out.npz", "--knn", "3"), "few.csv", "k=3 of 3 points")
        self.write("gap.csv", "0,0\n1,\n2,2\n")
        self.assert_one_line(self.ngf("convert", "gap.csv", "out.npz", "--knn", "1"), "gap.csv", "point 1, coordinate 1 is nan")
        for flags in [["--knn", "0"], ["--knn", "-1"], ["--knn", "1", "--directed"]]:
            self.assertEqual(self.ngf("convert", "few.csv", "out.npz", *flags).code, 2, flags)
        self.assertFalse((self.folder / "out.npz").exists())


class NamesTest(ProgramTest):
    """Nodes with names, and tables of signals that call them by their names."""

    def setUp(self):
        super().setUp()
        #  P-1 - New York - P-3 - P-4
        self.write("roads.csv", 'from,to\nP-1,"New York"\n"New York",P-3\nP-3,P-4\n')
        self.filter = ["filter", "roads.csv", "--taps", "1,1"]

    def filtered(self, content, *flags):
        self.write("x.csv", content)
        return self.succeed(*self.filter, "--signal", "x.csv", *flags)

    def test_are_told_in_one_line(self):
        outcome = self.succeed("convert", "roads.csv", "out.txt")
        self.assertEqual(outcome.err, "ngf: roads.csv: ids are names: 4 nodes, numbered in the order of their first "
                                      "appearance\n")
        self.assertEqual(self.succeed("info", "roads.csv", "--quiet").err, "")
        self.assertEqual(self.succeed("info", "out.txt").err, "")

    def test_come_back_in_edge_lists(self):
        for name in ["out.txt", "out.csv"]:
            self.succeed("convert", "roads.csv", name)
            self.assertEqual(named_edges_of(self.folder / name),
                             [("P-1", "New York"), ("New York", "P-3"), ("P-3", "P-4")])
            self.succeed("convert", name, "again.csv")
            self.succeed("convert", "again.csv", "again" + name)
            self.assertEqual((self.folder / name).read_bytes(), (self.folder / ("again" + name)).read_bytes())
        self.succeed("convert", "roads.csv", "out.txt", "--id-map", "map.csv", "--largest-component")
        self.assertEqual((self.folder / "map.csv").read_text(), "node,name\n0,P-1\n1,New York\n2,P-3\n3,P-4\n")
        self.succeed("perturb", "roads.csv", "--destroy", "100", "-o", "none.csv")
        self.assertEqual(self.json("info", "none.csv")["nodes"], 4)

    def test_formats_without_room_warn(self):
        for command in [["convert", "roads.csv", "out.mtx"], ["shells", "roads.csv", "--hop", "2", "-o", "out.npz"]]:
            self.assertRegex(self.succeed(*command).err,
                             r"warning: out\.\w+: the names of the nodes are not written: [\w-]+ has no room for them\n")

    def test_shells_have_names(self):
        self.succeed("shells", "roads.csv", "--hop", "2", "-o", "shell.csv")
        self.assertEqual(named_edges_of(self.folder / "shell.csv"), [("P-1", "P-3"), ("New York", "P-4")])
        printed = self.succeed("shells", "roads.csv", "--hop", "2").out
        self.assertEqual(printed, (self.folder / "shell.csv").read_text())

    def test_ids_can_be_forced(self):
        self.write("bipartite.txt", "user1 55\nuser2 55\n")
        self.assert_one_line(self.ngf("info", "bipartite.txt"), "line 2", "'user2' is not a node id", "--ids names")
        self.assertEqual(self.json("info", "bipartite.txt", "--ids", "names")["nodes"], 3)
        for ids in ["rows", "compact"]:
            self.assert_one_line(self.ngf("info", "roads.csv", "--ids", ids), "line 2", "is not a node id")

    def test_rows_are_matched_by_name(self):
        signals = "station,v,\"w, in m\"\nP-4,4,40\nP-1,1,10\nNew York,2,20\nP-3,3,30\n"
        outcome = self.filtered(signals)
        self.assertEqual(outcome.out, "station,v,\"w, in m\"\nP-4,7,70\nP-1,3,30\nNew York,6,60\nP-3,9,90\n")
        self.assertIn("ngf: x.csv: rows are matched with nodes by their names\n", outcome.err)
        self.filtered(signals, "-o", "y.npy")  # in the order of the signals, too
        self.assertEqual(np.load(self.folder / "y.npy").tolist(), [[7, 70], [3, 30], [6, 60], [9, 90]])
        # Taps of nodes, signals to fit and clean signals are matched in the same way.
        self.write("taps.csv", "id,a,b\nP-1,1,0\nP-3,1,0\nP-4,0,0\nNew York,1,0\n")
        self.assertIn("P-4,0,0\nP-1,1,10", self.succeed("filter", "roads.csv", "--signal", "x.csv", "--node-taps",
                                                       "taps.csv").out)
        self.write("y.csv", "id,v,w\nP-1,2,20\nNew York,4,40\nP-3,6,60\nP-4,8,80\n")
        fit = self.json("filter", "roads.csv", "--signal", "x.csv", "--fit", "y.csv", "--hops", "0")
        self.assertAlmostEqual(fit["taps"][0], 2)

    def test_rows_that_are_times(self):
        times = "timestamp,P-4,P-1,New York,P-3\n2012-03-01 00:00,4,1,2,3\n2012-03-01 00:05,40,10,20,30\n"
        outcome = self.filtered(times)
        self.assertEqual(outcome.out, "timestamp,P-4,P-1,New York,P-3\n2012-03-01 00:00,7,3,6,9\n"
                                      "2012-03-01 00:05,70,30,60,90\n")
        self.assertIn("ngf: x.csv: 2 rows are times, 4 columns are nodes; transposed; columns are matched with nodes "
                      "by their names\n", outcome.err)
        self.write("x.csv", times.replace("40,10", "40,"))
        outcome = self.succeed("denoise", "roads.csv", "--signal", "x.csv", "--arch", "tikhonov")
        rows = [line.split(",") for line in outcome.out.splitlines()]
        self.assertEqual(rows[0], ["timestamp", "P-4", "P-1", "New York", "P-3"])
        self.assertEqual([row[0] for row in rows], ["timestamp", "2012-03-01 00:00", "2012-03-01 00:05"])
        self.assertTrue(np.isfinite(np.array([row[1:] for row in rows[1:]], float)).all())
        # Without names, columns are in the order of the nodes.
        self.write("x.csv", times)
        self.assertEqual(self.succeed("filter", "grid:rows=2,cols=2", "--signal", "x.csv", "--taps", "1").out, times)
        self.assert_one_line(self.ngf("filter", "grid:rows=1,cols=3", "--signal", "x.csv", "--taps", "1"),
                             "x.csv", "2 rows are times", "4 columns are nodes", "3 nodes")

    def test_a_header_may_have_the_names(self):
        self.assertEqual(self.filtered("P-3,P-1,P-4,New York\n3,1,4,2\n").out, "P-3,P-1,P-4,New York\n9,3,7,6\n")

    def test_numbers_of_sensors(self):
        """As METR-LA has them: the ids of the edges are sparse, and the readings are in another order."""
        self.write("roads.csv", "from,to,cost\n773869,767541,1\n767541,767542,2\n")
        speeds = ",773869,767541,767542\n2012-03-01 00:00:00,64.5,67.5,67\n"
        self.assertEqual(self.filtered(speeds).out, ",773869,767541,767542\n2012-03-01 00:00:00,132,199,134.5\n")
        self.write("x.csv", speeds.replace("767542", "767543"))
        self.assert_one_line(self.ngf(*self.filter, "--signal", "x.csv"), "column 3 is '767543'", "no node of the graph")

    def test_names_that_do_not_match(self):
        rows = ["P-1,1", "New York,2", "P-3,3", "P-4,4"]
        for wrong, message in [([*rows[:3], "P-9,4"], "row 4 is 'P-9', which is no node of the graph"),
                               (rows[:3], "has no row for the node 'P-4'"),
                               ([*rows, "P-5,5"], "row 5 is 'P-5'"),
                               ([*rows[:3], "P-1,4"], "row 4: a second one is called 'P-1'"),
                               (["a,1", "b,2", "c,3", "d,4"], "row 1 is 'a'")]:
            self.write("x.csv", "id,v\n" + "\n".join(wrong) + "\n")
            self.assert_one_line(self.ngf(*self.filter, "--signal", "x.csv", "--quiet"), "x.csv", message)

    def test_tables_without_names(self):
        """Rows are in the order of the nodes; a CSV of the result says whose they are."""
        bare, named = "1\n2\n3\n4\n", "node,value\nP-1,3\nNew York,6\nP-3,9\nP-4,7\n"
        outcome = self.filtered(bare)
        self.assertEqual(outcome.out, named)
        self.assertIn("rows have no names; they are taken in the order of the nodes", outcome.err)
        self.assertEqual(self.filtered("v\n" + bare).out, named.replace("value", "v"))
        self.assertEqual(self.filtered(named.replace("value", "v")).out.splitlines()[0], "node,v")
        self.assertEqual(self.filtered("1,2\n" * 4).out.splitlines()[0], "node,value_1,value_2")
        # Row numbers are ids, too.
        self.assertEqual(self.filtered("id,v\n3,4\n2,3\n1,2\n0,1\n").out, "id,v\n3,7\n2,9\n1,6\n0,3\n")

    def test_graphs_without_names(self):
        """Headers and ids come back; nothing is added."""
        for text in ["1\n2\n3\n4\n", "v\n1\n2\n3\n4\n", "station,v\na,1\nb,2\nc,3\nd,4\n",
                     "id,v\n7,1\n8,2\n9,3\n10,4\n"]:
            self.write("x.csv", text)
            outcome = self.succeed("filter", "grid:rows=2,cols=2", "--signal", "x.csv", "--taps", "1", "--quiet")
            self.assertEqual((outcome.out, outcome.err), (text, ""))

    def test_points_name_the_nodes(self):
        self.write("points.csv", "station,x,y\nNew York,0,0\nB,1,0\nC,1,1\n")
        self.succeed("convert", "points.csv", "near.csv", "--knn", "1")
        self.assertEqual(named_edges_of(self.folder / "near.csv"), [("New York", "B"), ("B", "C")])
        self.write("x.csv", "date,C,B,New York\n2020-01-01,3,2,1\n")
        self.assertEqual(self.succeed("filter", "near.csv", "--signal", "x.csv", "--taps", "1,1").out,
                         "date,C,B,New York\n2020-01-01,5,6,3\n")
        self.write("points.csv", "kind,x,y\na,0,0\na,1,0\nb,1,1\n")
        self.assertRegex(self.succeed("convert", "points.csv", "near.csv", "--knn", "1").err,
                         r"'a' is the id of several points, so nodes get no names\n")
        self.assertEqual(named_edges_of(self.folder / "near.csv"), [("0", "1"), ("1", "2")])


class HopsTest(ProgramTest):
    def test_shells_without_hops(self):
        for graph in ["builtin:karate", "grid:rows=9,cols=11"]:
            self.assertEqual(self.json("shells", graph)["pairs"], self.json("shells", graph, "--hops", "all")["pairs"])
        far = "grid:rows=2,cols=80"
        outcome = self.succeed("shells", far, "--json")
        self.assertEqual(json.loads(outcome.out)["pairs"], self.json("shells", far, "--hops", "32")["pairs"])
        self.assertRegex(outcome.err, r"\Angf: warning: pairs farther than 32 hops [^\n]+--hops all[^\n]+\n\Z")
        self.assertEqual(self.succeed("shells", "grid:rows=2,cols=32").err, "")  # the diameter is 32
        self.assertEqual(self.succeed("shells", far, "--hop", "3").out,
                         self.succeed("shells", far, "--hops", "3", "--hop", "3").out)


class FullDiskTest(ProgramTest):
    def test_every_format(self):
        for name in ["out.txt", "out.csv", "out.mtx", "out.graph", "out.npy", "out.npz"]:
            outcome = self.ngf("convert", "er:nodes=3000,p=0.02", name, preexec_fn=limit_files_to(50_000))
            self.assert_one_line(outcome, name, "File too large")
            self.assertEqual(list(self.folder.iterdir()), [], name)

    def test_signals(self):
        self.write("x.csv", "1\n" * 3000)
        outcome = self.ngf("filter", "er:nodes=3000,p=0.002", "--signal", "x.csv", "--taps", "1,1", "-o", "y.npy",
                           preexec_fn=limit_files_to(10_000))
        self.assert_one_line(outcome, "y.npy", "File too large")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.csv"])


class ReadingTest(ProgramTest):
    def nodes(self, text, *flags):
        self.write("list.txt", text)
        return self.json("info", "list.txt", *flags)["nodes"]

    def test_ids_are_rows_when_half_of_them_occur(self):
        self.assertEqual(self.nodes("0 1\n1 3\n"), 4)
        self.assertEqual(self.nodes("1 2\n2 4\n"), 4)
        self.assertEqual(self.nodes("0 3\n"), 4)
        self.assertEqual(self.nodes("1 4\n"), 4)
        self.assertEqual(self.nodes("0 4\n"), 2)
        self.assertEqual(self.nodes("1 5\n"), 2)
        self.assertEqual(self.nodes("2 3\n3 4\n"), 3)

    def test_ids_can_be_told(self):
        self.assertEqual(self.nodes("2 9\n", "--ids", "rows"), 9)
        self.assertEqual(self.nodes("2 9\n", "--ids", "rows", "--base", "0"), 10)
        self.assertEqual(self.nodes("2 9\n", "--base", "1"), 9)
        self.assertEqual(self.nodes("1 2\n2 3\n", "--base", "0"), 4)
        self.assertEqual(self.nodes("1 2\n2 4\n", "--ids", "compact"), 3)

    def test_id_map(self):
        self.write("list.txt", "30 10\n10 20\n70 80\n")
        self.json("info", "list.txt", "--id-map", "map.csv")
        self.assertEqual((self.folder / "map.csv").read_text(),
                         "node,id\n0,10\n1,20\n2,30\n3,70\n4,80\n")
        self.json("convert", "list.txt", "out.txt", "--largest-component", "--id-map", "map.csv")
        self.assertEqual((self.folder / "map.csv").read_text(), "node,id\n0,10\n1,20\n2,30\n")
        self.assertEqual(edges_of(self.folder / "out.txt"), {(0, 1), (0, 2)})

    def test_id_map_of_rows(self):
        for base in [0, 1]:
            self.write("list.txt", f"{base} {base + 1}\n{base + 3} {base + 2}\n{base} {base + 3}\n")
            self.json("info", "list.txt", "--id-map", "map.csv")
            self.assertEqual((self.folder / "map.csv").read_text().split(),
                             ["node,id", *(f"{node},{node + base}" for node in range(4))])

    def test_largest_component(self):
        self.write("list.txt", "0 1\n2 3\n3 4\n5 6\n")
        whole = self.json("info", "list.txt")
        self.assertEqual((whole["nodes"], whole["components"]), (7, 3))
        part = self.json("info", "list.txt", "--largest-component")
        self.assertEqual((part["nodes"], part["edges"], part["components"]), (3, 2, 1))
        self.assertEqual(part["largest_component"], whole["largest_component"])

    def test_directed(self):
        self.write("list.txt", "0 1\n1 0\n1 2\n2 2\n1 2\n")
        whole = self.json("info", "list.txt")
        self.assertEqual((whole["edges"], whole["self_loops"], whole["duplicates"]), (2, 1, 2))
        self.assertFalse(whole["directed"])
        arcs = self.json("info", "list.txt", "--directed")
        self.assertEqual((arcs["edges"], arcs["self_loops"], arcs["duplicates"]), (3, 1, 1))
        self.assertTrue(arcs["directed"])
        self.assertEqual(arcs["largest_component"],
                         {"nodes": 3, "edges": 3, "radius": 1, "diameter": 1})

    def test_self_loops_are_kept_where_asked_for(self):
        self.write("list.txt", "0 1\n1 1\n")
        self.succeed("convert", "list.txt", "without.txt")
        self.succeed("convert", "list.txt", "with.txt", "--keep-self-loops")
        self.assertEqual(edges_of(self.folder / "without.txt"), {(0, 1)})
        self.assertEqual(edges_of(self.folder / "with.txt"), {(0, 1), (1, 1)})

    def test_format_can_be_told(self):
        # Two nodes and one edge in METIS' words; an edge list otherwise.
        self.write("a.txt", "2 1\n2\n1\n")
        self.assertEqual(self.json("info", "a.txt", "--format", "metis")["nodes"], 2)
        self.assert_one_line(self.ngf("info", "a.txt", "--format", "npz-scipy"), "a.txt")
        self.assert_one_line(self.ngf("info", "a.txt", "--format", "matrix-market"), "a.txt")

    def test_pipes(self):
        self.succeed("convert", "er:nodes=500,p=0.02", "a.txt")
        self.succeed("convert", "a.txt", "a.npz")
        expected = self.json("info", "a.txt")
        for name in ["a.txt", "a.npz"]:
            with open(self.folder / name, "rb") as file:
                given = self.json("info", "/dev/stdin", stdin=file)
            with subprocess.Popen(["cat", self.folder / name], stdout=subprocess.PIPE) as cat:
                piped = self.json("info", "/dev/stdin", stdin=cat.stdout)
            substituted = run(["bash", "-c", '"$0" info --json <(cat "$1")', PROGRAM, name],
                              cwd=self.folder)
            self.assertEqual(substituted.code, 0, substituted)
            for value in [given, piped, json.loads(substituted.out)]:
                same = {"graph": value["graph"], "format": value["format"]}
                self.assertEqual(value, expected | same)

    def test_names_of_all_kinds(self):
        for name in [b"two words.txt", b"-dash.txt", "na\u00efve \u2603.txt".encode(),
                     b"latin \xe9.txt", b"quote'\".txt", b"line\nend.txt", b"sbm.txt",
                     b"a,b=c.txt"]:
            source = b"./" + name
            with open(os.path.join(os.fsencode(self.folder), name), "wb") as file:
                file.write(b"0 1\n1 2\n")
            outcome = self.succeed("info", source, "--json")
            outcome.out.encode()  # JSON is UTF-8 even when a name is not
            self.assertEqual(json.loads(outcome.out)["nodes"], 3)
            self.succeed("convert", source, source + b" copy.npz")
            self.assertEqual(self.json("info", source + b" copy.npz")["edges"], 2)


class SameResultTest(ProgramTest):
    def bytes_of(self, *arguments, out="out.npz"):
        self.succeed(*arguments)
        return (self.folder / out).read_bytes()

    def test_threads_do_not_matter(self):
        for spec in GENERATED:
            convert = ["convert", spec, "out.npz", "--seed", "7"]
            perturb = ["perturb", spec, "-o", "out.npz", "--seed", "7", "--create", "20",
                       "--destroy", "30"]
            flip = ["perturb", spec, "-o", "out.npz", "--seed", "7", "--create", "0.01",
                    "--destroy", "0.2", "--probability"]
            for command in [convert, perturb, flip]:
                one, two, three = (self.bytes_of(*command, "--threads", str(threads))
                                   for threads in (1, 2, 3))
                self.assertEqual(one, two, command)
                self.assertEqual(one, three, command)
            infos = [self.json("info", spec, "--threads", threads) for threads in "12"]
            self.assertEqual(infos[0], infos[1])

    def test_large_graphs_as_well(self):
        for spec in ["rmat:scale=15", "er:nodes=50000,p=0.0002", "ws:nodes=50000",
                     "ba:nodes=50000"]:
            one, two = (self.bytes_of("convert", spec, "out.txt", "--threads", threads,
                                      out="out.txt") for threads in "12")
            self.assertEqual(one, two, spec)

    def test_seeds_do(self):
        for spec in SEEDED:
            contents = {self.bytes_of("convert", spec, "out.npz", "--seed", seed)
                        for seed in ["0", "1", "2", "18446744073709551615"]}
            self.assertEqual(len(contents), 4, spec)
            told = self.bytes_of("convert", spec + ",seed=2", "out.npz")
            self.assertEqual(told, self.bytes_of("convert", spec, "out.npz", "--seed", "2"))
        for spec in GENERATED:
            contents = {self.bytes_of("perturb", spec, "-o", "out.npz", "--create", "10",
                                      "--destroy", "10", "--seed", seed) for seed in "123"}
            self.assertEqual(len(contents), 3, spec)


class ConvertTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("real.txt", "# ngf edge list: nodes=6 base=0 directed=no\n"
                   "0 1 0.5\n1 2 -3\n2 0 1e-300\n4 1 0.1\n")
        self.write("whole.txt", "0 1 7\n1 2 2\n4 1 1\n4 2 4294967296\n")
        self.write("plain.txt", "# ngf edge list: nodes=6 base=0 directed=no\n0 1\n1 2\n4 1\n")
        self.write("single.txt", "# ngf edge list: nodes=1 base=0 directed=no\n")
        self.write("arcs.txt", "0 1 2\n1 0 3\n1 2 4\n0 3 5\n")

    def converted(self, source, *flags):
        self.succeed("convert", source, "converted", *flags)
        return (self.folder / "converted").read_bytes()

    def test_every_pair_of_formats(self):
        for source, flags, formats in [
                ("whole.txt", [], FORMATS), ("plain.txt", [], FORMATS),
                ("single.txt", [], FORMATS), ("er:nodes=70,p=0.05", [], FORMATS),
                ("real.txt", [], set(FORMATS) - {"metis"}),
                ("arcs.txt", ["--directed"], set(FORMATS) - {"metis"}),
                ("plain.txt", ["--directed"], set(FORMATS) - {"metis"})]:
            direct = {form: self.converted(source, "--to", form, *flags) for form in formats}
            for form, content in direct.items():
                # Without its name, a short METIS file is an edge list to any reader.
                first = self.write("first.graph" if form == "metis" else "first", content).name
                for other in formats:
                    self.assertEqual(self.converted(first, "--to", other, *flags), direct[other],
                                     (source, form, other))

    def test_the_ending_names_the_format(self):
        for source in ["whole.txt", "plain.txt", "single.txt", "er:nodes=70,p=0.05"]:
            expected = self.converted(source)
            for ending in ENDINGS:
                self.succeed("convert", source, "copy" + ending)
                self.assertEqual(self.converted("copy" + ending), expected, (source, ending))

    def test_what_a_format_cannot_hold(self):
        for source, flags in [("real.txt", []), ("arcs.txt", ["--directed"])]:
            self.assert_one_line(self.ngf("convert", source, "out.graph", *flags), "out.graph")
        self.write("zero.txt", "0 1 0\n1 2 5\n")
        self.assert_one_line(self.ngf("convert", "zero.txt", "out.npy"), "out.npy", "weight 0")
        self.assert_one_line(self.ngf("convert", "grid:rows=200,cols=200", "out.npy"), "out.npy")
        self.assertEqual(list(self.folder.glob("*out*")), [])

    def test_node_data_round_trip(self):
        for spec in ["builtin:citation,nodes=300", "builtin:karate"]:
            self.succeed("convert", spec, "data.npz")
            expected = (self.folder / "data.npz").read_bytes()
            for form in ["npz-edges", "npz-csr", "npz-ppnp"]:
                self.succeed("convert", "data.npz", "other.npz", "--to", form)
                self.succeed("convert", "other.npz", "back.npz", "--to", "npz-edges")
                self.assertEqual((self.folder / "back.npz").read_bytes(), expected, (spec, form))
                facts = self.json("info", spec)
                self.assertEqual(self.json("info", "other.npz"),
                                 facts | {"graph": "other.npz", "format": form})

    def test_scipy_and_numpy_read_what_we_write(self):
        for source, weights in [("real.txt", [0.5, -3, 1e-300, 0.1]), ("plain.txt", [1, 1, 1])]:
            self.succeed("convert", source, "a.npz")
            self.succeed("convert", source, "a.npy")
            self.succeed("convert", source, "a.mtx")
            matrix = scipy.sparse.load_npz(self.folder / "a.npz")
            self.assertEqual(matrix.shape, (6, 6))
            self.assertEqual(sorted(scipy.sparse.triu(matrix).data), sorted(weights))
            self.assertEqual(abs(matrix - matrix.T).nnz, 0)
            self.assertTrue((np.load(self.folder / "a.npy") == matrix.toarray()).all())
            market = scipy.io.mmread(self.folder / "a.mtx")
            self.assertTrue((market.toarray() == matrix.toarray()).all())

    def test_we_read_what_scipy_and_numpy_write(self):
        matrix = scipy.sparse.random(40, 40, 0.1, random_state=1)
        both = matrix + matrix.T
        edges = scipy.sparse.triu(both, 1).nnz
        loops = np.count_nonzero(both.diagonal())
        for layout in ["csr", "csc", "coo"]:
            for compressed in [False, True]:
                scipy.sparse.save_npz(self.folder / "a.npz", both.asformat(layout), compressed)
                value = self.json("info", "a.npz")
                self.assertEqual((value["nodes"], value["edges"], value["self_loops"]),
                                 (40, edges, loops))
        np.save(self.folder / "a.npy", np.asfortranarray(both.toarray()))
        np.savetxt(self.folder / "a.csv", both.toarray(), delimiter=",")
        scipy.io.mmwrite(self.folder / "a.mtx", both)
        for name in ["a.npy", "a.csv", "a.mtx"]:
            self.assertEqual(self.json("info", name)["edges"], edges, name)


class PerturbTest(ProgramTest):
    def perturb(self, source, *flags):
        """The changes that the file shows, and those that the program tells of."""
        directed = "--directed" in flags
        self.succeed("convert", source, "before.txt", *(["--directed"] if directed else []))
        told = self.json("perturb", "before.txt", "-o", "after.txt", *flags)
        before = edges_of(self.folder / "before.txt", directed)
        after = edges_of(self.folder / "after.txt", directed)
        self.assertEqual(told["created"], len(after - before))
        self.assertEqual(told["destroyed"], len(before - after))
        self.assertEqual(told["edges"], len(after))
        self.assertFalse(any(u == v for u, v in after))
        return len(before), told["created"], told["destroyed"]

    def test_percentages(self):
        for create, destroy in itertools.product(["0", "5", "12.5", "100"], repeat=2):
            edges, created, destroyed = self.perturb("sbm:nodes=200", "--create", create,
                                                     "--destroy", destroy)
            self.assertEqual(created, int(float(create) / 100 * edges + 0.5))
            self.assertEqual(destroyed, int(float(destroy) / 100 * edges + 0.5))

    def test_arcs(self):
        edges, created, destroyed = self.perturb("er:nodes=100,p=0.1", "--directed",
                                                 "--create", "30", "--destroy", "20")
        self.assertEqual((created, destroyed), (int(.3 * edges + 0.5), int(.2 * edges + 0.5)))

    def test_probabilities(self):
        edges, created, destroyed = self.perturb("er:nodes=400,p=0.1", "--probability",
                                                 "--create", "0.05", "--destroy", "0.25")
        pairs = 400 * 399 // 2 - edges
        # Ten standard deviations; the seed is fixed.
        self.assertLess(abs(created - 0.05 * pairs), 10 * (0.05 * 0.95 * pairs)**0.5)
        self.assertLess(abs(destroyed - 0.25 * edges), 10 * (0.25 * 0.75 * edges)**0.5)
        self.assertEqual(self.perturb("er:nodes=50,p=0.1", "--probability", "--destroy", "1")[1:],
                         (0, self.json("info", "er:nodes=50,p=0.1")["edges"]))

    def test_nodes_and_their_data_stay(self):
        self.succeed("perturb", "builtin:citation,nodes=300", "--destroy", "100", "-o", "a.npz")
        value = self.json("info", "a.npz")
        before = self.json("info", "builtin:citation,nodes=300")
        self.assertEqual(value["edges"], 0)
        for key in ["nodes", "features", "classes", "splits"]:
            self.assertEqual(value[key], before[key])

    def test_more_than_there_is_room_for(self):
        outcome = self.ngf("perturb", "er:nodes=10,p=1", "--create", "10", "-o", "out.txt")
        self.assert_one_line(outcome)
        self.assertEqual(list(self.folder.iterdir()), [])


class ShellsTest(ProgramTest):
    def hops(self, name, directed=False):
        """The hops of all pairs by SciPy, as float, from a graph of the program."""
        self.succeed("convert", name, "adjacency.npz", "--to", "npz-scipy",
                     *(["--directed"] if directed else []), "--quiet")
        matrix = scipy.sparse.load_npz(self.folder / "adjacency.npz")
        return scipy.sparse.csgraph.shortest_path(matrix, unweighted=True, directed=directed)

    def test_sizes(self):
        hops = self.hops("er:nodes=300,p=0.012")
        expected = [int((hops == k).sum()) for k in range(int(hops[np.isfinite(hops)].max()) + 1)]
        value = self.json("shells", "er:nodes=300,p=0.012", "--hops", "all")
        self.assertEqual(value["pairs"], expected)
        self.assertEqual((value["nodes"], value["storage"], value["bytes"]), (300, "stream", 0))
        for storage in ["sparse", "dense"]:
            for engine in ["bits", "queue"]:
                value = self.json("shells", "er:nodes=300,p=0.012", "--hops", "3", "--storage",
                                  storage, "--engine", engine)
                self.assertEqual((value["pairs"], value["storage"]), (expected[:4], storage))
                self.assertGreater(value["bytes"], 0)
        # Lists take two bytes a pair, and four a row and hop.
        value = self.json("shells", "er:nodes=300,p=0.012", "--hops", "3", "--storage", "sparse")
        self.assertLessEqual(value["bytes"], 2 * sum(expected[:4]) + 4 * 300 * 4)

    def test_distances(self):
        for name, dtype in [("ws:nodes=300,k=4", np.uint8), ("grid:rows=1,cols=400", np.uint16)]:
            self.succeed("shells", name, "--hops", "all", "--distances", "-o", "d.npy")
            found = np.load(self.folder / "d.npy")
            self.assertEqual(found.dtype, dtype)
            np.testing.assert_array_equal(found, self.hops(name))
        self.succeed("shells", "ws:nodes=300,k=4", "--hops", "3", "--distances", "-o", "d.npy")
        hops = self.hops("ws:nodes=300,k=4")
        np.testing.assert_array_equal(np.load(self.folder / "d.npy"), np.where(hops > 3, 255, hops))

    def test_one_shell(self):
        hops = self.hops("rmat:scale=8", directed=False)
        for hop in [1, 2, 3, 9]:
            self.succeed("shells", "rmat:scale=8", "--hops", str(hop), "--hop", str(hop),
                         "-o", "a.npz")
            shell = scipy.sparse.load_npz(self.folder / "a.npz").toarray()
            np.testing.assert_array_equal(shell, hops == hop)

    def test_paths(self):
        adjacency = scipy.sparse.csr_matrix(self.hops("ba:nodes=200,m=2") == 1).astype(int)
        hops = self.hops("ba:nodes=200,m=2")
        two_walks = (adjacency @ adjacency).toarray()
        value = self.json("shells", "ba:nodes=200,m=2", "--hops", "2", "--min-paths", "2")
        self.assertEqual(value["pairs"][2], int(((hops == 2) & (two_walks >= 2)).sum()))

    def test_plan(self):
        value = self.json("info", "ws:nodes=3000,k=4", "--hops", "3")
        sizes = self.json("shells", "ws:nodes=3000,k=4", "--hops", "3")["pairs"]
        self.assertEqual([shell["hop"] for shell in value["shells"]], [0, 1, 2, 3])
        for shell, size in zip(value["shells"], sizes):
            self.assertAlmostEqual(shell["pairs"] / size, 1, delta=0.1)
        self.assertEqual({form["kind"] for form in value["storage"]}, {"sparse", "dense", "stream"})
        self.assertEqual(value["chosen"], "sparse")

    def test_plan_of_shells(self):
        plan = self.json("shells", "ws:nodes=3000,k=4", "--hops", "3", "--plan")
        self.assertEqual((plan["hops"], plan["storage"], plan["engine"]), (3, "sparse", "queue"))
        built = self.json("shells", "ws:nodes=3000,k=4", "--hops", "3", "--storage", "sparse")
        self.assertGreaterEqual(plan["bytes"], built["bytes"])
        text = self.succeed("shells", "ws:nodes=3000,k=4", "--hops", "all", "--distances", "--plan").out
        self.assertRegex(text, "storage +dense")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_does_not_fit_is_refused(self):
        outcome = self.ngf("shells", "ws:nodes=20000,k=4", "--hops", "all", "--distances",
                           "-o", "d.npy", "--memory", "200M")
        self.assert_one_line(outcome, "--memory")
        self.assertLess(outcome.peak_bytes, 100e6)
        needed = outcome.err.partition("--memory ")[2].strip()
        self.assertEqual(list(self.folder.iterdir()), [])
        outcome = self.succeed("shells", "ws:nodes=20000,k=4", "--hops", "all", "--distances",
                               "-o", "d.npy", "--memory", needed)
        self.assertLess(outcome.peak_bytes, 1.1 * int(needed))

    def test_one_shell_or_distances_are_stored(self):
        """Storage stream keeps no shells that could be written, and no error advises it."""
        graph = ["shells", "rmat:scale=13", "--memory", "30M", "-o"]
        for result in [["a.npz", "--hop", "3"], ["d.npy", "--distances"]]:
            outcome = self.ngf(*graph, *result)
            self.assert_one_line(outcome, "give --memory")
            self.assertNotIn("--storage", outcome.err)
        self.assert_one_line(self.ngf(*graph, "a.npz", "--hop", "3", "--storage", "stream"),
                             "leave --storage stream out")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_sizes_that_do_not_fit_are_refused(self):
        """Nothing is stored, but the walk itself takes memory."""
        command = ["shells", "ws:nodes=200000,k=4", "--hops", "2"]
        for storage in [[], ["--storage", "stream"]]:
            outcome = self.ngf(*command, *storage, "--memory", "60M")
            self.assert_one_line(outcome, "--memory")
            needed = outcome.err.partition("--memory ")[2].strip()
            outcome = self.succeed(*command, *storage, "--memory", needed)
            self.assertLess(outcome.peak_bytes, 1.1 * int(needed))
            self.assert_one_line(self.ngf(*command, *storage, "--memory", str(int(needed) // 2)), "--memory")

    def test_bench(self):
        small = "builtin:citation,nodes=200"
        for what, expected in [("shells", "all hops: ngf"), ("filter", "K=3, F=16: Eigen"),
                               ("train", "K=3, hidden 64, 25 runs: ngf")]:
            value = self.json("bench", what, small, "--seconds", "0.001")
            names = [row["name"] for row in value["rows"]]
            self.assertIn(f"{small}, {expected}", names)
            for row in value["rows"]:
                self.assertGreater(row["seconds"], 0)
                self.assertGreater(row["ratio"], 0)
                self.assertGreater(row["limit_fraction"], 0)

    def test_bench_costs_measures_constants_of_the_sources(self):
        costs = self.json("bench", "costs", "--seconds", "0.001")["costs"]
        self.assertTrue({"nn", "tasks", "experiments"} <= {cost["name"].split("::")[0] for cost in costs})
        for cost in costs:
            room, name = cost["name"].partition(",")[0].split("::")
            self.assertIn(f" {name} = ", (SOURCES / room / "costs.hpp").read_text())
            self.assertGreater(cost["in_use"], 0)
            self.assertGreaterEqual(cost["measured"], 0)


class FilterTest(ProgramTest):
    GRAPH = "ws:nodes=80,k=4"

    def setUp(self):
        super().setUp()
        self.x = np.random.default_rng(1).normal(size=(80, 3))
        np.save(self.folder / "x.npy", self.x)
        self.succeed("shells", self.GRAPH, "--hops", "all", "--distances", "-o", "hops.npy")
        self.hops = np.load(self.folder / "hops.npy")

    def filtered(self, *flags):
        self.succeed("filter", self.GRAPH, "--signal", "x.npy", "-o", "y.npy", *flags)
        return np.load(self.folder / "y.npy")

    def test_neighborhood(self):
        taps = [0.5, -1.0, 2.0, 0.25]
        shells = [(self.hops == k).astype(float) for k in range(4)]
        expected = sum(h * shell @ self.x for h, shell in zip(taps, shells))
        for storage in ["sparse", "dense", "stream"]:
            found = self.filtered("--taps", "0.5,-1,2,.25", "--storage", storage)
            np.testing.assert_allclose(found, expected, atol=1e-9)
        mean = [shell / np.maximum(shell.sum(axis=1, keepdims=True), 1) for shell in shells]
        np.testing.assert_allclose(
            self.filtered("--taps", "0.5,-1,2,.25", "--normalize", "row"),
            sum(h * shell @ self.x for h, shell in zip(taps, mean)), atol=1e-9)

    def pair_weights(self, embeddings, power):
        length = np.linalg.norm(embeddings, axis=1, keepdims=True)
        unit = embeddings / np.where(length > 0, length, 1)
        return np.maximum(unit @ unit.T, 0) ** power

    def test_pair_weights(self):
        embeddings = np.random.default_rng(3).normal(size=(80, 6))
        np.save(self.folder / "e.npy", embeddings)
        taps, flags = [0.5, -1.0, 2.0], ["--taps", "0.5,-1,2", "--pair-weights", "e.npy"]
        for power, normalize in [(1, "none"), (2, "row"), (0.5, "symmetric")]:
            shells = [(self.hops == k) * self.pair_weights(embeddings, power) for k in [1, 2]]
            if normalize == "row":
                shells = [shell / np.maximum(shell.sum(axis=1, keepdims=True), 1e-300) for shell in shells]
            if normalize == "symmetric":
                roots = [np.sqrt(np.maximum(shell.sum(axis=1), 1e-300)) for shell in shells]
                shells = [shell / np.outer(root, root) for shell, root in zip(shells, roots)]
            expected = taps[0] * self.x + sum(h * shell @ self.x for h, shell in zip(taps[1:], shells))
            found = self.filtered(*flags, "--pair-power", str(power), "--normalize", normalize)
            np.testing.assert_allclose(found, expected, atol=1e-5)
            found = self.filtered(*flags, "--pair-power", str(power), "--normalize", normalize, "--storage", "stream")
            np.testing.assert_allclose(found, expected, atol=1e-5)
        value = self.json("filter", self.GRAPH, "--signal", "x.npy", "-o", "y.npy", *flags)
        self.assertEqual((value["storage"], value["pair_power"]), ("sparse", 1))
        found = self.json("filter", self.GRAPH, "--signal", "x.npy", "--fit", "y.npy", "--hops", "2", *flags[2:])
        np.testing.assert_allclose(found["taps"], taps, atol=1e-5)

    def test_pair_weights_of_features(self):
        features = np.random.default_rng(4).poisson(0.5, (80, 12)).astype(float)
        features[7] = 0
        rows, columns = np.nonzero(self.hops == 1)
        np.savez(self.folder / "set.npz", adj_data=np.ones(len(rows)), adj_indices=columns,
                 adj_indptr=np.searchsorted(rows, np.arange(81)), adj_shape=(80, 80), attr_matrix=features)
        present = (features > 0).sum(axis=0)
        tf_idf = features / np.maximum(features.sum(axis=1, keepdims=True), 1) * np.log(80 / present)
        expected = ((self.hops == 1) * self.pair_weights(tf_idf, 1)) @ self.x
        outcome = self.succeed("filter", "set.npz", "--signal", "x.npy", "--taps", "0,1", "--pair-weights", "features",
                               "-o", "y.npy")
        np.testing.assert_allclose(np.load(self.folder / "y.npy"), expected, atol=1e-5)
        self.assertIn("1 of 80 nodes have an embedding of zeros", outcome.err)

    def test_plan_of_pair_weights(self):
        np.save(self.folder / "e.npy", np.ones((80, 2)))
        command = ["filter", self.GRAPH, "--taps", "1,1,1"]
        plain = self.json(*command, "--storage", "sparse", "--plan")
        plan = self.json(*command, "--pair-weights", "e.npy", "--plan")
        self.assertEqual(plan["bytes"], plain["bytes"] + plan["bytes_of_weights"])
        self.assertEqual((plan["storage"], plan["merged"]), ("sparse", 0))
        large = ["filter", "ws:nodes=4000,k=8", "--taps", "1,1,1,1", "--pair-weights", "large.npy", "--plan"]
        np.save(self.folder / "large.npy", np.ones((4000, 2)))
        for memory in ["5M", "7M"]:
            outcome = self.ngf(*large, "--memory", memory)
            self.assert_one_line(outcome, "a weight for each pair", "--memory")
            np.save(self.folder / "x.npy", np.ones((4000, 2)))
            needed = outcome.err.partition("--memory ")[2].strip()
            self.succeed(*large[:-1], "--signal", "x.npy", "-o", "y.npy", "--memory", needed)

    def test_wrong_pair_weights(self):
        np.save(self.folder / "e.npy", np.ones((80, 2)))
        np.save(self.folder / "short.npy", np.ones((79, 2)))
        bad = np.ones((80, 2))
        bad[3, 1] = np.nan
        np.save(self.folder / "nan.npy", bad)
        command = ["filter", self.GRAPH, "--signal", "x.npy", "--taps", "1,1", "-o", "y.npy", "--pair-weights"]
        self.assert_one_line(self.ngf(*command, "short.npy"), "short.npy", "79 rows", "80 nodes")
        self.assert_one_line(self.ngf(*command, "nan.npy"), "nan.npy", "row 3, column 1")
        self.assert_one_line(self.ngf(*command, "features"), self.GRAPH, "no features")
        self.assert_one_line(self.ngf(*command, "e.npy", "--storage", "dense"), "--storage sparse")
        for flags in [["--pair-power", "-1"], ["--kind", "polynomial"], ["--normalize", "lmax"]]:
            self.assertEqual(self.ngf(*command, "e.npy", *flags).code, 2, flags)
        self.assertFalse((self.folder / "y.npy").exists())

    def test_polynomial(self):
        a = (self.hops == 1).astype(float)
        s = a / np.linalg.eigvalsh(a).max()
        expected = self.x + 2 * s @ self.x + 3 * s @ s @ self.x
        np.testing.assert_allclose(
            self.filtered("--kind", "polynomial", "--shift", "adjacency-lmax", "--taps", "1,2,3"),
            expected, atol=1e-6)

    def test_taps_of_nodes(self):
        taps = np.random.default_rng(2).normal(size=(80, 3))
        np.save(self.folder / "taps.npy", taps)
        expected = sum(taps[:, [k]] * ((self.hops == k) @ self.x) for k in range(3))
        np.testing.assert_allclose(self.filtered("--node-taps", "taps.npy"), expected, atol=1e-9)

    def test_fit(self):
        for kind in ["neighborhood", "polynomial"]:
            self.filtered("--taps", "1,-0.5,0.25", "--kind", kind)
            value = self.json("filter", self.GRAPH, "--signal", "x.npy", "--fit", "y.npy",
                              "--hops", "2", "--kind", kind)
            np.testing.assert_allclose(value["taps"], [1, -0.5, 0.25], atol=1e-9)
            self.assertLess(value["residual"], 1e-20)

    def test_json(self):
        value = self.json("filter", self.GRAPH, "--signal", "x.npy", "--taps", "1,1", "-o", "y.csv")
        self.assertEqual(value["storage"], "sparse")
        self.assertEqual(value["flops"], 2 * 3 * float((self.hops <= 1).sum()))
        self.assertEqual(value["twins_merged"], 0)
        self.assertGreaterEqual(value["seconds"], 0)

    def test_merged_twins(self):
        star = self.folder / "star.el"
        star.write_text("".join(f"0 {leaf}\n" for leaf in range(1, 80)))
        results = []
        for merging, merged in [("never", 0), ("always", 78)]:
            value = self.json("filter", star, "--signal", "x.npy", "--taps", "1,0.5,0.25",
                              "--merge-twins", merging, "-o", "y.npy")
            self.assertEqual(value["twins_merged"], merged)
            results.append(np.load(self.folder / "y.npy"))
        np.testing.assert_allclose(results[0], results[1], atol=1e-12)

    def test_bad_signals(self):
        np.save(self.folder / "short.npy", self.x[:79])
        self.x[7, 2] = np.nan
        np.save(self.folder / "nan.npy", self.x)
        before = sorted(self.folder.iterdir())
        for name, told in [("short.npy", "79 rows"), ("nan.npy", "row 7, column 2"),
                           ("missing.npy", "missing.npy")]:
            outcome = self.ngf("filter", self.GRAPH, "--signal", name, "--taps", "1", "-o", "y.npy")
            self.assert_one_line(outcome, told)
        outcome = self.ngf("filter", self.GRAPH, "--signal", "x.npy", "--node-taps", "short.npy",
                           "-o", "y.npy")
        self.assert_one_line(outcome, "79 rows")
        outcome = self.ngf("filter", self.GRAPH, "--directed", "--signal", "x.npy", "--taps", "1,1",
                           "--kind", "polynomial", "--shift", "gcn", "-o", "y.npy")
        self.assert_one_line(outcome, "directed")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_numbers_that_are_not_finite(self):
        for taps in ["nan", "inf", "-inf", "1e400", "", ",", "1,", "1,,2", ",1", "1,nan", "1,1e400", "1 2", "1;2"]:
            outcome = self.ngf("filter", self.GRAPH, "--signal", "x.npy", "--taps", taps, "-o", "y.npy")
            self.assertEqual((outcome.code, outcome.out), (2, ""), (taps, outcome))
            self.assertRegex(outcome.err, r"\Angf: --taps: '.*' is not a finite number\n")
        for taps in ["+1,-.5,1e-300,2e-310", "0"]:
            self.filtered("--taps=" + taps)

    def test_results_that_are_not_finite(self):
        before = sorted(self.folder.iterdir())
        for flags in [[], ["--kind", "polynomial"], ["--normalize", "row"]]:
            outcome = self.ngf("filter", self.GRAPH, "--signal", "x.npy", "--taps", "1e308,1e308", "-o", "y.npy",
                               *flags)
            self.assert_one_line(outcome, "y.npy", "range of double precision")
        self.assertEqual(sorted(self.folder.iterdir()), before)
        np.save(self.folder / "large.npy", self.x * 1e200)
        outcome = self.ngf("filter", self.GRAPH, "--signal", "large.npy", "--fit", "large.npy", "--hops", "1")
        self.assert_one_line(outcome, "large.npy", "range of double precision")

    def test_bad_flags(self):
        for flags in [[], ["--taps", "1,x", "-o", "y.npy"], ["-o", "y.npy"],
                      ["--taps", "1", "--fit", "x.npy"], ["--fit", "x.npy"],
                      ["--taps", "1", "-o", "y.npy", "--kind", "other"],
                      ["--taps", "1", "-o", "y.npy", "--shift", "other"],
                      ["--taps", "1", "-o", "y.npy", "--normalize", "other"]]:
            outcome = self.ngf("filter", self.GRAPH, "--signal", "x.npy", *flags)
            self.assertEqual((outcome.code, outcome.out), (2, ""), (flags, outcome))


class RobustnessTest(ProgramTest):
    def matrices(self, name, taps):
        """Both filters as matrices, from the hops of all pairs."""
        self.succeed("shells", name, "--hops", "all", "--distances", "-o", "hops.npy",
                     "--seed", "4")
        hops = np.load(self.folder / "hops.npy")
        shift = (hops == 1).astype(float)
        return (sum(h * np.linalg.matrix_power(shift, k) for k, h in enumerate(taps)),
                sum(h * (hops == k) for k, h in enumerate(taps)), hops)

    def test_one_realisation(self):
        name = "ws:nodes=100,k=4"
        taps = [0.3, 0.8, 0.5, 0.9]
        gf, ngf, hops = self.matrices(name, taps)
        self.succeed("perturb", name, "--create", "10", "--destroy", "5", "-o", "changed.txt",
                     "--seed", "4")
        gf_changed, ngf_changed, hops_changed = self.matrices("changed.txt", taps)
        value = self.json("robustness", name, "--taps", "0.3,0.8,0.5,0.9", "--create", "10",
                          "--destroy", "5", "--realisations", "1", "--seed", "4")
        self.assertFalse(value["estimated"])
        for key, before, after in [("gf", gf, gf_changed), ("ngf", ngf, ngf_changed)]:
            expected = ((after - before) ** 2).sum() / (before ** 2).sum()
            self.assertAlmostEqual(value[key]["mean"], expected, places=9)
            self.assertIsNone(value[key]["std"])
        for shell in value["shells"]:
            before, after = hops == shell["hop"], hops_changed == shell["hop"]
            self.assertAlmostEqual(shell["change"], (before != after).sum() / before.sum(), places=9)

    def test_spread_is_that_of_several_graphs(self):
        flags = ["robustness", "builtin:karate", "--taps", "1,1", "--create", "10", "--realisations"]
        self.assertNotIn("+-", self.succeed(*flags, "1").out)
        self.assertEqual(self.succeed(*flags, "2").out.count("+-"), 2)

    def test_many_realisations(self):
        flags = ["--taps", "1,1,1,1,1", "--create", "10", "--realisations", "20"]
        exact = self.json("robustness", "ws:nodes=300,k=4", *flags)
        # Walks multiply with each created edge, distances do not.
        self.assertGreater(exact["gf"]["mean"], 0)
        self.assertGreater(exact["ngf"]["std"], 0)
        self.assertEqual(exact, self.json("robustness", "ws:nodes=300,k=4", *flags))
        self.assertTrue(self.json("robustness", "ws:nodes=3000,k=4", *flags[:4],
                                  "--realisations", "2")["estimated"])

    def test_bad_flags(self):
        for flags in [[], ["--taps", "1,1", "--realisations", "0"],
                      ["--taps", "1,1", "--create", "-1"], ["--taps", "1,1", "--shift", "none"],
                      ["--taps", "1,nan"], ["--taps", ""],
                      *(["--taps", "1,1", flag, value] for flag in ["--create", "--destroy"]
                        for value in ["nan", "inf", "1e400", ""]),
                      ["--taps", "1,1", "--probability", "--create", "2"]]:
            outcome = self.ngf("robustness", "builtin:karate", *flags)
            self.assertEqual((outcome.code, outcome.out), (2, ""), (flags, outcome))
        self.assert_one_line(self.ngf("robustness", "builtin:karate", "--taps", "1e308,1e308", "--create", "10"), "--taps")


class LongWorkTest(ProgramTest):
    # None of these is over before the signal comes: the first two have to search from each node.
    LONG = [["info", "ws:nodes=400000,k=2,beta=0"], ["info", "grid:rows=3001,cols=3000"],
            ["info", "rmat:scale=20,edge_factor=16"],
            ["shells", "ws:nodes=100000,k=4,beta=0.1", "--hops", "all"],
            ["shells", "ws:nodes=40000,k=4", "--hops", "all", "--distances", "-o", "out.npy"],
            ["perturb", "rmat:scale=20", "--create", "100", "--destroy", "50", "-o", "out.txt"]]

    def start(self, *arguments, stderr=subprocess.PIPE):
        child = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=self.environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr)
        self.addCleanup(child.kill)
        return child

    def wait_until(self, child, condition):
        while not condition():
            self.assertIsNone(child.poll(), "it ended before the signal")
            time.sleep(0.002)

    def computed(self, child, seconds):
        """True when the child has used that much of a processor's time."""
        fields = pathlib.Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") >= seconds


class InterruptTest(LongWorkTest):
    def assert_ends(self, child, code, left=()):
        out, err = child.communicate()
        self.assertEqual((child.returncode, out), (code, b""), err)
        self.assertIn(err, (b"", b"ngf: interrupted\n"))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), sorted(left))

    def test_computing(self):
        for command in self.LONG:
            child = self.start(*command)
            self.wait_until(child, lambda: self.computed(child, 0.3))
            child.send_signal(signal.SIGINT)
            self.assert_ends(child, 130)

    def test_polynomial_filter(self):
        """One product, which would take minutes."""
        self.write("x.csv", "1\n" * 250_000)
        child = self.start("filter", "grid:rows=500,cols=500", "--kind", "polynomial", "--shift", "gcn",
                           "--signal", "x.csv", "--taps", ",".join("1" * 60_000), "-o", "y.npy")
        self.wait_until(child, lambda: self.computed(child, 3))
        child.send_signal(signal.SIGINT)
        # Work that does not listen is ended without a message.
        self.assertEqual(child.communicate(), (b"", b"ngf: interrupted\n"))
        self.assertEqual(child.returncode, 130)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.csv"])

    def test_polite_kill(self):
        child = self.start(*self.LONG[0])
        self.wait_until(child, lambda: self.computed(child, 0.1))
        child.terminate()
        self.assert_ends(child, 143)

    def test_writing(self):
        self.write("out.mtx", "kept")
        for name in ["out.txt", "out.mtx", "out.graph", "out.npz"]:
            child = self.start("convert", "grid:rows=1500,cols=1500", name)
            self.wait_until(child, lambda: any(self.folder.glob(f".{name}.*")))
            child.send_signal(signal.SIGINT)
            self.assert_ends(child, 130, left=["out.mtx"])
        self.assertEqual((self.folder / "out.mtx").read_text(), "kept")

    def test_waiting_for_input(self):
        os.mkfifo(self.folder / "pipe")
        child = self.start("info", "pipe")
        self.wait_until(child, lambda: self.sleeps(child))
        child.send_signal(signal.SIGINT)
        self.assert_ends(child, 130, left=["pipe"])

    def sleeps(self, child):
        """True when the program is past its start and waits."""
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        return "State:\tS" in status and caught >> (signal.SIGTERM - 1) & 1


class ProgressTest(LongWorkTest):
    """A bar is drawn on a terminal alone."""

    def stderr_of(self, *flags):
        """What comes on a terminal until the program has computed for two seconds or drawn."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be opened here: {error}")
        self.addCleanup(os.close, ours)
        child = self.start(*self.LONG[0], *flags, stderr=theirs)
        os.close(theirs)
        os.set_blocking(ours, False)
        shown = b""

        def read():
            nonlocal shown
            try:
                shown += os.read(ours, 1 << 16)
            except BlockingIOError:
                pass
            return shown

        self.wait_until(child, lambda: read() or self.computed(child, 2))
        child.kill()
        child.communicate()
        return shown

    def test_bar(self):
        self.assertRegex(self.stderr_of(), rb"radius and diameter \[.*\] \d+ %")

    def test_no_bar_when_quiet(self):
        self.assertEqual(self.stderr_of("--quiet"), b"")


class Server:
    """The web server of fetch_server.py on the files of a folder."""

    def __init__(self, folder):
        self.folder = folder
        script = pathlib.Path(__file__).with_name("fetch_server.py")
        self.process = subprocess.Popen([sys.executable, script, folder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{port}"

    def requests(self):
        return (self.folder / "requests").read_text().splitlines()

    def stop(self):
        self.process.communicate()


class DataTest(ProgramTest):
    CORA = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"]

    def serve(self, link=True):
        folder = self.folder / "served"
        folder.mkdir()
        for ending in self.CORA:
            name = f"ind.cora.{ending}"
            if link:
                (folder / name).symlink_to(DATA / "planetoid" / name)
            else:
                (folder / name).write_text("something else\n")
        server = Server(folder)
        self.addCleanup(server.stop)
        return server

    def found(self, *flags, **popen):
        sets = self.json("data", "list", *flags, **popen)["sets"]
        return {entry["name"]: entry for entry in sets}

    def test_list_knows_what_is_missing(self):
        sets = self.found()
        self.assertEqual(sorted(sets), ["planetoid:citeseer", "planetoid:cora", "planetoid:pubmed"])
        self.assertFalse(any(entry["found"] for entry in sets.values()))
        for name in sets:
            self.assertIn(f"ngf data get {name}", self.succeed("data", "list").out)

    @needs_data
    def test_places_in_their_order(self):
        def place(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(DATA / "planetoid")
            return str(path)

        self.assert_one_line(self.ngf("info", "planetoid:cora"), "planetoid:cora", "ngf data get")
        self.assert_one_line(self.ngf("data", "path", "planetoid:cora"), "planetoid:cora")
        environment = self.environment | {"NGF_DATA": str(self.folder / "named")}
        # From the last place to the first: each new one takes precedence.
        for path, flags in [("cache/ngf/planetoid", []), ("data/planetoid", []),
                            ("named/planetoid", []), ("flag/planetoid", ["--data", "flag"])]:
            path = place(self.folder / path)
            self.assertEqual(self.found(*flags, env=environment)["planetoid:cora"]["path"], path)
            told = self.json("data", "path", "planetoid:cora", *flags, env=environment)["path"]
            self.assertTrue((self.folder / told).samefile(path))
            value = self.json("info", "planetoid:cora", *flags, env=environment)
            self.assertEqual(value["nodes"], 2708)
        # A folder that is the data set's own will do.
        self.assertEqual(self.json("info", "planetoid:cora", "--data", path)["classes"], 7)

    def test_path(self):
        self.assertEqual(self.succeed("data", "path").out, f"{self.folder}/cache/ngf\n")
        self.assertEqual(self.json("data", "path", "--data", "here"), {"path": "here"})
        bare = {"PATH": self.environment["PATH"]}
        self.assert_one_line(self.ngf("data", "path", env=bare), "--data")

    @needs_data
    def test_get(self):
        server = self.serve()
        value = self.json("data", "get", "planetoid:cora", "--from", server.url + "/plain")
        self.assertEqual(value["sets"][0]["name"], "planetoid:cora")
        cache = self.folder / "cache" / "ngf" / "planetoid"
        self.assertEqual(value["sets"][0]["path"], str(cache))
        self.assertEqual(sorted(path.name for path in cache.iterdir()),
                         sorted(f"ind.cora.{ending}" for ending in self.CORA))
        self.assertEqual(self.json("info", "planetoid:cora")["nodes"], 2708)
        before = server.requests()
        self.succeed("data", "get", "planetoid:cora", "--from", server.url + "/plain/")
        self.assertEqual(server.requests(), before)

    @needs_data
    def test_a_cut_connection_is_resumed(self):
        server = self.serve()
        command = ["data", "get", "planetoid:cora", "--data", "here", "--from", server.url + "/cut"]
        for ending in self.CORA:
            outcome = self.ngf(*command)
            self.assert_one_line(outcome, f"/cut/ind.cora.{ending}", "cut", "run it again")
            part = self.folder / "here" / "planetoid" / f"ind.cora.{ending}.part"
            half = (DATA / "planetoid" / f"ind.cora.{ending}").stat().st_size // 2
            self.assertEqual(part.stat().st_size, half)
        self.succeed(*command)
        self.assertIn(f"/cut/ind.cora.test.index bytes={half}-", server.requests())
        self.assertEqual(list(self.folder.rglob("*.part")), [])
        self.assertEqual(self.json("info", "planetoid:cora", "--data", "here")["nodes"], 2708)

    @needs_data
    def test_wrong_content(self):
        server = self.serve()
        for habit in ["wrong", "long"]:
            outcome = self.ngf("data", "get", "planetoid:cora", "--from", f"{server.url}/{habit}")
            self.assert_one_line(outcome, f"/{habit}/ind.cora.x")
            if habit == "wrong":
                self.assertIn("SHA-256", outcome.err)
        cache = self.folder / "cache" / "ngf" / "planetoid"
        self.assertEqual(list(cache.iterdir()), [])

    def test_other_files(self):
        server = self.serve(link=False)
        outcome = self.ngf("data", "get", "planetoid:cora", "--from", server.url + "/plain")
        self.assert_one_line(outcome, "/plain/ind.cora.x", "22119")

    def test_missing_files(self):
        server = self.serve(link=False)
        outcome = self.ngf("data", "get", "planetoid:cora", "--from", server.url + "/nowhere")
        self.assert_one_line(outcome, "/nowhere/ind.cora.x", "404")

    def test_no_server(self):
        server = self.serve(link=False)
        server.stop()
        outcome = self.ngf("data", "get", "planetoid:cora", "--from", server.url + "/plain")
        self.assert_one_line(outcome, server.url)

    def test_unknown_name(self):
        for action in ["get", "path"]:
            self.assert_one_line(self.ngf("data", action, "nosuch"), "nosuch", "planetoid:cora")

    def test_no_folder_to_put_it(self):
        self.write("file", "")
        outcome = self.ngf("data", "get", "planetoid:cora", "--data", "file",
                           "--from", "http://127.0.0.1:1/")
        self.assert_one_line(outcome, "file")


class CompletionTest(ProgramTest):
    def test_bash_accepts_the_script(self):
        self.write("ngf.bash", self.succeed("completion", "bash").out)
        outcome = run(["bash", "-n", self.folder / "ngf.bash"])
        self.assertEqual((outcome.code, outcome.err), (0, ""))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_accepts_the_script(self):
        self.write("_ngf", self.succeed("completion", "zsh").out)
        outcome = run(["zsh", "-n", self.folder / "_ngf"])
        self.assertEqual((outcome.code, outcome.err), (0, ""))

    def complete(self, *words):
        """What bash offers for the last of the words."""
        self.write("ngf.bash", self.succeed("completion", "bash").out)
        script = ('source ngf.bash; COMP_WORDS=(ngf "$@"); COMP_CWORD=$#; _ngf; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        outcome = run(["bash", "--norc", "-c", script, "bash", *words], cwd=self.folder)
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        return outcome.out.split("\n")[:-1]

    def test_verbs(self):
        verbs = {verb[0] for verb in VERBS}
        self.assertLessEqual(verbs | {"--version", "--help"}, set(self.complete("")))
        for verb in verbs:
            self.assertEqual(self.complete(verb[:-1]), [verb])
        self.assertEqual(self.complete("data", "li"), ["list"])

    def test_flags(self):
        self.assertEqual(self.complete("info", "--larg"), ["--largest-component"])
        self.assertEqual(self.complete("perturb", "builtin:karate", "--prob"), ["--probability"])
        self.assertEqual(self.complete("data", "get", "--fr"), ["--from"])
        self.assertNotIn("--create", self.complete("info", "--"))
        # Every flag that the help names is offered.
        for verb in VERBS:
            words = self.succeed(*verb, "--help").out.replace(",", " ").split()
            flags = {word for word in words if word.startswith("--") and word != "--"}
            self.assertLessEqual(flags, set(self.complete(*verb, "--")), verb)

    def test_graphs_and_files(self):
        self.write("sbm two words.txt", "0 1\n")
        self.assertEqual(self.complete("info", "sbm"), ["sbm:", "sbm two words.txt"])
        self.assertEqual(self.complete("info", "builtin:k"), ["builtin:karate"])


if __name__ == "__main__":
    unittest.main()
