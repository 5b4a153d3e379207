"""The verbs train and predict from outside: what a script or a person at a terminal relies on."""

import csv
import json
import os
import pty
import signal
import struct
import subprocess
import time
import unittest
import xml.etree.ElementTree

import numpy as np

from python_support import PROGRAM, ProgramTest

SET = "builtin:citation,nodes=300,seed=3"
QUICK = ["--epochs", "8", "--hidden", "8"]
# Long enough to be caught in the middle, in batches that end one after another.
LONG = [SET, "--runs", "40", "--batch", "2", "--epochs", "60", "--hidden", "8"]
SVG = "{http://www.w3.org/2000/svg}"


def read_safetensors(path):
    """Tensors and metadata, by the `safetensors` package where there is one."""
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    try:
        from safetensors.numpy import load_file
    except ImportError:
        body = data[8 + length:]
        tensors = {}
        end = 0
        for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            assert entry["dtype"] == "F32" and entry["data_offsets"][0] == end, entry
            begin, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(body[begin:end], "<f4").reshape(entry["shape"])
        assert end == len(body) and (8 + length) % 8 == 0
        return tensors, metadata
    return load_file(path), metadata


def write_safetensors(path, tensors, metadata, dtype):
    """The same tensors as numbers of another kind, as Python's package would write them."""
    header, body = {"__metadata__": metadata}, b""
    for name, values in tensors.items():
        if dtype == "BF16":
            data = (values.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        else:
            data = values.astype({"F64": "<f8", "F16": "<f2"}[dtype]).tobytes()
        header[name] = {"dtype": dtype, "shape": list(values.shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


class TrainTest(ProgramTest):
    def test_plan(self):
        plan = self.json("train", SET, "--model", "ngcnn", "--normalize", "row", "--hops", "3", "--plan")
        self.assertEqual((plan["kind"], plan["model"], plan["hops"]), ("neighborhood", "ngcnn", 3))
        self.assertEqual(plan["columns"], plan["hidden"])
        self.assertNotEqual(plan["form"], "auto")
        for key in ("storage", "engine", "merged", "bytes", "flops", "bytes_of_run"):
            self.assertIn(key, plan)
        self.assertEqual(self.json("train", SET, *QUICK, "--model", "ngcnn", "--normalize", "row", "--hops", "3")
                         ["plan"]["storage"], plan["storage"])
        kinds = {model: self.json("train", SET, "--model", model, "--plan")["kind"] for model in ("gcnn", "gcn", "mlp")}
        self.assertEqual(kinds, {"gcnn": "polynomial", "gcn": "polynomial", "mlp": "none"})
        self.assertRegex(self.succeed("train", SET, "--plan").out, "storage +")

    def ngf(self, *arguments, **popen):
        # Such small networks gain nothing from threads, which wait for each other busily.
        if arguments[0] == "train" and len(arguments) > 1 and "--threads" not in arguments:
            arguments = (*arguments, "--threads", "1")
        return super().ngf(*arguments, **popen)

    def train(self, *flags, graph=SET, quick=QUICK):
        return self.json("train", graph, *quick, *flags)

    def binary_set(self, name="binary.npz", nodes=120, classes=2, features=6):
        """A data set with two splits, in the layout of the heterophilous collection."""
        random = np.random.default_rng(1)
        labels = np.arange(nodes) % classes
        edges = random.integers(0, nodes, (3 * nodes, 2))
        part = random.integers(0, 3, (2, nodes))
        np.savez(self.folder / name, edges=edges, node_labels=labels,
                 node_features=(random.random((nodes, features)) +
                                labels[:, None]).astype(np.float32),
                 train_masks=part == 0, val_masks=part == 1, test_masks=part == 2)
        return name

    def assert_usage(self, *arguments):
        outcome = self.ngf(*arguments)
        self.assertEqual((outcome.code, outcome.out), (2, ""), (arguments, outcome))
        self.assertRegex(outcome.err, r"\Angf: .+\n(?s:.*)--help", arguments)
        self.assertEqual(list(self.folder.iterdir()), [], arguments)

    def journals(self):
        return list(self.folder.rglob("*.journal"))


class ResultTest(TrainTest):
    def test_one_run_has_no_standard_deviation(self):
        self.assertIsNone(self.train("--runs", "1")["test_accuracy"]["std"])
        for runs, told in [("1", False), ("2", True)]:
            out = self.succeed("train", SET, "--epochs", "3", "--runs", runs).out
            self.assertEqual("standard deviation" in out, told, out)

    def test_json(self):
        value = self.train("--runs", "3", "--seed", "5")
        self.assertEqual([run["seed"] for run in value["runs"]], [5, 6, 7])
        for run in value["runs"]:
            self.assertEqual(set(run), {"seed", "test_accuracy", "val_accuracy", "best_epoch"})
            self.assertTrue(0 <= run["test_accuracy"] <= 1 and 0 <= run["val_accuracy"] <= 1)
            self.assertIn(run["best_epoch"], range(1, 9))
        scores = [run["test_accuracy"] for run in value["runs"]]
        expected = {"mean": np.mean(scores), "median": np.median(scores),
                    "std": np.std(scores, ddof=1)}
        self.assertEqual(set(value["test_accuracy"]), set(expected))
        for key, number in expected.items():
            self.assertAlmostEqual(value["test_accuracy"][key], number, places=12)
        self.assertEqual(value["metric"], "accuracy")
        np.testing.assert_allclose(value["taps"], [1 / 3] * 3)
        self.assertGreater(value["seconds"], 0)
        self.assertEqual((value["recipe"], value["split"], value["model"]),
                         ("strong", "public", "ngcnn"))

    def test_it_learns(self):
        value = self.json("train", SET, "--runs", "2", "--epochs", "100")
        classes = self.json("info", SET)["classes"]
        self.assertGreater(value["test_accuracy"]["mean"], 2 / classes)

    def test_a_run_is_a_function_of_its_seed(self):
        runs = self.train("--runs", "3", "--seed", "4")["runs"]
        for run in runs:
            self.assertEqual(self.train("--seed", str(run["seed"]))["runs"], [run])
        self.assertEqual(self.train("--runs", "3", "--seed", "4", "--threads", "2")["runs"], runs)
        self.assertEqual(self.train("--runs", "3", "--seed", "4", "--batch", "2")["runs"], runs)
        self.assertGreater(len({json.dumps({**run, "seed": 0}) for run in runs}), 1)

    def test_every_model(self):
        outcomes = [self.train("--model", model)["runs"][0]
                    for model in ["ngcnn", "gcnn", "gcn", "sgc", "mlp"]]
        self.assertGreater(len({json.dumps(run) for run in outcomes}), 3)

    def test_every_flag(self):
        base = self.weights()
        for flags in [["--hops", "1"], ["--taps", "1,0.5,0.25"], ["--learn-taps"],
                      ["--normalize", "row"], ["--normalize", "lmax"], ["--min-paths", "2"],
                      ["--model", "gcnn", "--shift", "laplacian"],
                      ["--layers", "3"], ["--no-bias"], ["--skip"], ["--raw-features"],
                      ["--dropout", "0"], ["--weight-decay", "0.1"], ["--decay-all-layers"],
                      ["--lr", "0.1"], ["--optimizer", "sgd"], ["--init", "paper"],
                      ["--split", "random:4"], ["--seed", "2"], ["--recipe", "paper"], ["--bank"]]:
            self.assertNotEqual(self.weights(*flags), base, flags)
        for flags in [["--storage", "sparse"], ["--batch", "1"], ["--metric", "accuracy"],
                      ["--bias"], ["--no-skip"], ["--normalize-features"],
                      ["--decay-first-layer"], ["--patience", "1000"], ["--threads", "2"],
                      ["--memory", "2G"], ["--recipe", "strong"], ["--quiet"]]:
            self.assertEqual(self.weights(*flags), base, flags)

    def weights(self, *flags, graph=SET):
        """What is learned in a few epochs, or how, to tell whether a flag does anything."""
        self.succeed("train", graph, "--epochs", "3", "--hidden", "8", "-o", "m.safetensors", *flags)
        return (self.folder / "m.safetensors").read_bytes()

    def test_epochs_and_patience(self):
        value = self.json("train", SET, "--epochs", "300", "--hidden", "8", "--patience", "3",
                          "--plot", "p.svg")
        self.assertLess(value["runs"][0]["best_epoch"], 297)
        self.assertEqual(self.json("train", SET, "--epochs", "1")["runs"][0]["best_epoch"], 1)

    def test_recipes(self):
        paper = self.json("train", SET, "--recipe", "paper", "--epochs", "2")
        self.assertEqual((paper["recipe"], paper["taps"]), ("paper", [1, 1, 1]))
        # A flag counts more than its recipe.
        value = self.json("train", SET, "--recipe", "paper", "--epochs", "2", "--taps", "0,1")
        self.assertEqual((value["hops"], value["taps"]), (1, [0, 1]))
        self.succeed("train", SET, "--recipe", "paper", "--epochs", "2", "--hidden", "7",
                     "-o", "m.safetensors")
        tensors, _ = read_safetensors(self.folder / "m.safetensors")
        self.assertEqual(tensors["layers.0.weight"].shape[1], 7)
        self.assertNotIn("layers.0.bias", tensors)

    def test_taps(self):
        self.assertEqual(self.train("--hops", "3")["taps"], [0.25] * 4)
        self.assertEqual(self.train("--taps", "1,2,3")["taps"], [1, 2, 3])
        self.assertEqual(self.json("train", "--taps", "1,2", SET, *QUICK)["taps"], [1, 2])
        self.assertEqual(self.train("--model", "mlp")["taps"], [])
        learned = self.train("--learn-taps", "--hops", "1", "--layers", "3")
        self.assertEqual([len(layer) for layer in learned["taps"]], [2, 2, 2])
        self.assertEqual(learned["runs"][0]["taps"], learned["taps"])
        started = self.train("--learn-taps", "--taps", "5,7", "--lr", "0.001",
                             quick=["--epochs", "1"])
        np.testing.assert_allclose(started["taps"], [[5, 7]] * 2, atol=0.01)

    def test_tap_groups(self):
        nodes = self.json("info", SET)["nodes"]
        np.save(self.folder / "groups.npy", np.arange(nodes) % 4)
        value = self.train("--learn-taps", "--hops", "1", "--tap-groups", "groups.npy")
        self.assertEqual([len(layer) for layer in value["taps"]], [8, 8])
        self.write("groups.csv", "0\n" * nodes)
        value = self.train("--taps", "1,2", "--tap-groups", "groups.csv")
        self.assertEqual(value["taps"], [1, 2])

    def test_banks(self):
        shapes = [["--bank"], ["--bank", "--pre"], ["--bank", "--post"], ["--bank", "--post", "--jump"],
                  ["--bank", "--pre", "--post", "--residual"], ["--bank", "--pre", "--post", "--residual", "--jump"]]
        for model in ["ngcnn", "gcnn"]:
            found = set()
            for flags in shapes:
                value = self.train("--model", model, *flags)
                self.assertNotIn("taps", value)
                self.succeed("train", SET, *QUICK, "--model", model, *flags, "-o", "m.safetensors")
                found.add((self.folder / "m.safetensors").read_bytes())
                scores = self.json("predict", "m.safetensors", SET, "--split", "public")
                self.assertAlmostEqual(scores["test_accuracy"], value["runs"][0]["test_accuracy"])
            self.assertEqual(len(found), len(shapes))
        tensors, _ = read_safetensors(self.folder / "m.safetensors")
        self.assertEqual(tensors["layers.1.weight"].shape, (3 * 8, 8))
        self.assertEqual(tensors["layers.1.norm_scale"].shape, (8,))
        self.assertIn("ngcnn bank, 2 hops", self.succeed("train", SET, *QUICK, "--bank").out)

    def test_tune(self):
        fixed = ["--hops", "1", "--normalize", "row", "--raw-features", "--dropout", "0.5"]
        value = self.json("train", SET, *QUICK, "--tune", "--runs", "2", *fixed)
        tuned = value["tuned"]
        # Taps, bank and jump, and residual blocks of two depths, by three weight decays.
        self.assertEqual(len(tuned["candidates"]), 15)
        self.assertEqual(tuned["chosen"], tuned["candidates"][0]["settings"])
        for flag in ["--hops 1", "--normalize row", "--raw-features", "--dropout 0.5"]:
            self.assertIn(flag, tuned["chosen"])
        again = self.json("train", SET, *QUICK, "--runs", "2", *tuned["chosen"].split())
        self.assertEqual(again["runs"], value["runs"])
        out = self.succeed("train", SET, *QUICK, "--tune", *fixed).out
        self.assertIn("15 settings, the best in validation", out)
        self.assertIn(tuned["chosen"], out)
        self.assertEqual(self.json("train", SET, *QUICK, "--tune", "--model", "mlp", "--dropout", "0.5")["model"], "mlp")

    def test_all_splits(self):
        name = self.binary_set(classes=3)
        value = self.json("train", name, *QUICK, "--split", "all", "--runs", "2")
        self.assertEqual(value["splits"], 2)
        means = []
        for index, split in enumerate(value["runs"]):
            alone = self.train("--split", str(index), "--runs", "2", graph=name)
            self.assertEqual(split["runs"], alone["runs"])
            means.append(alone["test_accuracy"]["mean"])
        self.assertAlmostEqual(value["test_accuracy"]["mean"], np.mean(means))
        self.assertIn("standard deviation over splits", self.succeed("train", name, *QUICK, "--split", "all").out)
        outcome = self.ngf("train", name, "--split", "all", "-o", "m.safetensors")
        self.assertEqual((outcome.code, "need one split" in outcome.err), (2, True))
        tuned = self.json("train", name, *QUICK, "--split", "all", "--tune", "--hops", "1", "--bank",
                          "--raw-features", "--dropout", "0.5")
        self.assertEqual(len(tuned["tuned"]["candidates"]), 6)

    def test_splits(self):
        name = self.binary_set(classes=3)
        first = self.train(graph=name)
        self.assertEqual(self.train("--split", "0", graph=name)["runs"], first["runs"])
        other = self.train("--split", "1", graph=name)
        self.assertNotEqual(other["nodes"], first["nodes"])
        drawn = self.train("--split", "random:7", graph=name)
        # 40 nodes of each class: a fifth for validation, a fifth for testing.
        self.assertEqual(drawn["nodes"], {"train": 72, "validation": 24, "test": 24})
        for split, reason in [("2", "0 to 1"), ("77", "0 to 1")]:
            outcome = self.ngf("train", name, *QUICK, "--split", split)
            self.assert_one_line(outcome, name, reason)

    def test_two_classes_are_scored_by_auc(self):
        name = self.binary_set()
        value = self.json("train", name, "--epochs", "60", "--raw-features", "--dropout", "0.5")
        self.assertEqual(value["metric"], "auc")
        self.assertEqual(set(value["runs"][0]), {"seed", "test_auc", "val_auc", "best_epoch"})
        self.assertGreater(value["test_auc"]["mean"], 0.8)
        self.assertNotIn("test_accuracy", value)
        self.assertIn("ROC AUC", self.succeed("train", name, *QUICK).out)
        value = self.train("--metric", "accuracy", graph=name)
        self.assertIn("test_accuracy", value)
        value = self.train("--metric", "macro_f1", graph=name)
        self.assertIn("test_macro_f1", value)

    def test_table(self):
        outcome = self.succeed("train", SET, *QUICK, "--runs", "2", "--learn-taps")
        for part in ["seed", "validation", "test accuracy: mean", "taps of layer 1", "trained in"]:
            self.assertIn(part, outcome.out)
        self.assertEqual(outcome.err, "")

    def test_plot(self):
        for runs in ["1", "4"]:
            self.assertEqual(self.train("--runs", runs, "--plot", "p.svg")["plot"], "p.svg")
            root = xml.etree.ElementTree.parse(self.folder / "p.svg").getroot()
            classes = [group.get("class") for group in root.iter(f"{SVG}g")]
            self.assertEqual(classes.count("chart"), 2)
            for i, count in enumerate([2, 1]):
                self.assertEqual(sum(f"series-{i}" in name.split() for name in classes), count)
            self.assertIn(SET, root.find(f"{SVG}title").text)
        # A name with everything that XML minds.
        self.write("a<&>\".npz", (self.folder / self.binary_set()).read_bytes())
        self.train("--plot", "p.svg", graph="a<&>\".npz")
        root = xml.etree.ElementTree.parse(self.folder / "p.svg").getroot()
        self.assertIn("a<&>\".npz", root.find(f"{SVG}title").text)

    def test_directed_and_largest_component(self):
        name = self.binary_set(nodes=400)
        arcs, edges = [self.weights("--normalize", "row", *flags, graph=name)
                       for flags in [["--directed"], []]]
        self.assertNotEqual(arcs, edges)
        whole = self.train("--split", "random:1", graph=name)
        part = self.train("--split", "random:1", "--largest-component", graph=name)
        self.assertLessEqual(sum(part["nodes"].values()), sum(whole["nodes"].values()))


class WrongTest(TrainTest):
    def test_usage(self):
        for arguments in [
                [], [SET, "more"], [SET, "--model", "cnn"], [SET, "--hops", "-1"],
                [SET, "--hops", "two"], [SET, "--hops", "all"], [SET, "--taps", "a"],
                [SET, "--taps", "1,nan"], [SET, "--taps", ","], [SET, "--weight-decay", "inf"],
                [SET, "--weight-decay", "nan"], [SET, "--dropout", "nan"], [SET, "--lr", "1e400"],
                [SET, "--taps", "1,1", "--hops", "3"],
                [SET, "--model", "gcn", "--taps", "1,1"], [SET, "--model", "mlp", "--learn-taps"],
                [SET, "--tap-groups", "g.csv"], [SET, "--normalize", "max"],
                [SET, "--shift", "left"], [SET, "--min-paths", "4"], [SET, "--storage", "disk"],
                [SET, "--bias", "--no-bias"], [SET, "--hidden", "0"], [SET, "--layers", "0"],
                [SET, "--dropout", "1"],
                [SET, "--dropout", "-0.1"], [SET, "--weight-decay", "-1"], [SET, "--lr", "0"],
                [SET, "--lr", "nan"], [SET, "--lr", "inf"], [SET, "--optimizer", "rms"], [SET, "--init", "zero"],
                [SET, "--epochs", "0"], [SET, "--patience", "-1"], [SET, "--metric", "loss"],
                [SET, "--batch", "0"], [SET, "--runs", "0"], [SET, "--runs", "many"],
                [SET, "--split", "private"], [SET, "--split", "random:"],
                [SET, "--split", "random:x"], [SET, "--split", "-1"], [SET, "--recipe", "weak"],
                [SET, "--pre"], [SET, "--bank", "--jump"], [SET, "--bank", "--pre", "--residual"],
                [SET, "--bank", "--model", "gcn"], [SET, "--bank", "--taps", "1,1"], [SET, "--bank", "--skip"],
                [SET, "-o"], [SET, "--plot"], [SET, "--seed", "-1"], [SET, "--threads", "0"]]:
            self.assert_usage("train", *arguments)
        for arguments in [[], ["m.safetensors"], ["m", SET, "more"], ["m", SET, "--split", "x"],
                          ["m", SET, "--storage", "disk"], ["m", SET, "-o"]]:
            self.assert_usage("predict", *arguments)

    def test_data_sets_that_teach_nothing(self):
        for graph, reason in [("builtin:karate", "split"), ("er:nodes=50,p=0.1", "labels"),
                              ("missing.npz", "missing.npz")]:
            self.assert_one_line(self.ngf("train", graph, *QUICK), graph, reason)
        # Labels, and a split to be drawn, but nothing to tell them by.
        self.assert_one_line(
            self.ngf("train", "builtin:karate", *QUICK, "--split", "random:1"), "features")
        self.assertEqual(self.journals(), [])

    def test_tap_groups(self):
        nodes = self.json("info", SET)["nodes"]
        for content, reason in [("0\n" * (nodes - 1), f"{nodes} nodes"), ("0,1\n" * nodes, "x 2"),
                                ("-1\n" + "0\n" * (nodes - 1), "row 0"),
                                ("0\n" * (nodes - 1) + "0.5\n", f"row {nodes - 1}"),
                                ("nan\n" * nodes, "row 0"), ("1e30\n" * nodes, "row 0")]:
            self.write("groups.csv", content)
            outcome = self.ngf("train", SET, *QUICK, "--learn-taps", "--tap-groups", "groups.csv")
            self.assert_one_line(outcome, "groups.csv", reason)
        self.write("groups.csv", "0\n" * (nodes - 1) + "1\n")
        self.assert_one_line(self.ngf("train", SET, *QUICK, "--hops", "2", "--taps", "1,2,3,4",
                                      "--tap-groups", "groups.csv"), "taps")

    def test_places_that_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        for flag in ["-o", "--plot"]:
            for place in ["folder", "missing/out"]:
                self.assert_one_line(self.ngf("train", SET, *QUICK, flag, place), place)
        self.assert_one_line(self.ngf("train", SET, *QUICK, "--plot", "p.png"), "p.png", ".svg")

    def test_memory(self):
        self.assert_one_line(self.ngf("train", SET, *QUICK, "--memory", "10k"), "memory")


class PredictTest(TrainTest):
    def trained(self, *flags, graph=SET):
        return self.train("-o", "m.safetensors", *flags, graph=graph)

    def table(self, path="labels.csv"):
        with open(self.folder / path, newline="") as file:
            return list(csv.DictReader(file))

    def test_model_file(self):
        value = self.trained("--runs", "3", "--learn-taps", "--skip")
        self.assertEqual(value["written"], "m.safetensors")
        tensors, metadata = read_safetensors(self.folder / "m.safetensors")
        info = self.json("info", SET)
        self.assertEqual(tensors["layers.0.weight"].shape, (info["features"], 8))
        self.assertEqual(tensors["layers.1.weight"].shape, (8, info["classes"]))
        self.assertEqual(tensors["layers.0.bias"].shape, (8,))
        for layer in range(2):
            np.testing.assert_array_equal(tensors[f"layers.{layer}.taps"].ravel(),
                                          np.float32(value["taps"][layer]))
        for text in metadata.values():
            self.assertIsInstance(text, str)
        self.assertEqual(self.journals(), [])

    def test_models_of_other_numbers(self):
        self.json("train", SET, "--epochs", "60", "-o", "m.safetensors")
        expected = self.json("predict", "m.safetensors", SET)["accuracy"]
        self.assertGreater(expected, 0.3)
        tensors, metadata = read_safetensors(self.folder / "m.safetensors")
        for dtype, rounding in [("F64", 0), ("F16", 0.03), ("BF16", 0.1)]:
            write_safetensors(self.folder / "other.safetensors", tensors, metadata, dtype)
            value = self.json("predict", "other.safetensors", SET)["accuracy"]
            self.assertLessEqual(abs(value - expected), rounding, dtype)

    def test_same_scores_as_in_training(self):
        for flags in [[], ["--model", "gcnn"], ["--model", "gcn"], ["--model", "sgc"],
                      ["--model", "mlp"], ["--learn-taps"], ["--skip", "--layers", "3"],
                      ["--min-paths", "2"], ["--recipe", "paper"], ["--raw-features"]]:
            runs = self.trained("--runs", "3", *flags)["runs"]
            best = max(runs, key=lambda run: run["val_accuracy"])
            value = self.json("predict", "m.safetensors", SET, "--split", "public")
            self.assertEqual(value["test_accuracy"], best["test_accuracy"], flags)
            self.assertEqual(value["val_accuracy"], best["val_accuracy"], flags)

    def test_table_of_labels(self):
        self.trained()
        value = self.json("predict", "m.safetensors", SET, "-o", "labels.csv")
        self.assertEqual(value["written"], "labels.csv")
        rows = self.table()
        self.assertEqual(list(rows[0]), ["node", "label", "probability"])
        self.assertEqual([int(row["node"]) for row in rows], list(range(value["nodes"])))
        classes = self.json("info", SET)["classes"]
        for row in rows:
            self.assertTrue(1 / classes - 1e-6 <= float(row["probability"]) <= 1)
        self.succeed("convert", SET, "set.npz")
        with np.load(self.folder / "set.npz") as data:
            key = "node_labels" if "node_labels" in data else "labels"
            truth = data[key]
        labels = np.array([int(row["label"]) for row in rows])
        known = truth >= 0
        self.assertEqual(value["labelled"], known.sum())
        self.assertAlmostEqual(value["accuracy"], (labels == truth)[known].mean(), places=12)
        again = self.folder / "again.csv"
        self.succeed("predict", "m.safetensors", SET, "-o", "again.csv", "--threads", "2")
        self.assertEqual(again.read_bytes(), (self.folder / "labels.csv").read_bytes())

    def test_changed_graph(self):
        self.trained()
        self.succeed("perturb", SET, "--create", "30", "--destroy", "10", "-o", "changed.npz")
        self.assertIn("accuracy", self.json("predict", "m.safetensors", "changed.npz",
                                            "-o", "changed.csv"))
        self.succeed("predict", "m.safetensors", SET, "-o", "labels.csv")
        self.assertNotEqual((self.folder / "changed.csv").read_bytes(),
                            (self.folder / "labels.csv").read_bytes())
        # Another graph of another size, with as many features.
        other = "builtin:citation,nodes=200,seed=8"
        if self.json("info", other)["features"] == self.json("info", SET)["features"]:
            self.json("predict", "m.safetensors", other, "-o", "labels.csv")
            self.assertEqual(len(self.table()), 200)

    def test_auc_of_two_classes(self):
        name = self.binary_set()
        run, = self.trained("--split", "1", graph=name)["runs"]
        value = self.json("predict", "m.safetensors", name, "--split", "1")
        self.assertAlmostEqual(value["test_auc"], run["test_auc"], places=6)
        self.assertIn("accuracy", value)

    def test_for_people(self):
        self.trained()
        err = self.succeed("predict", "m.safetensors", SET).err
        self.assertRegex(err, r"accuracy 0\.\d{4}")
        self.assertIn("with those that the model was trained on; --split", err)
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.*")), ["m.safetensors"])

    def test_labels_on_stdout(self):
        self.trained()
        self.succeed("predict", "m.safetensors", SET, "-o", "labels.csv")
        expected = (self.folder / "labels.csv").read_text()
        for flags in [[], ["-o", "-"]]:
            self.assertEqual(self.succeed("predict", "m.safetensors", SET, *flags).out, expected)
        outcome = self.ngf("predict", "m.safetensors", SET, "-o", "-", "--json")
        self.assertEqual((outcome.code, outcome.out), (2, ""))

    def test_training_nodes_are_not_scored(self):
        nodes = self.trained()["nodes"]
        self.succeed("predict", "m.safetensors", SET, "-o", "labels.csv")
        every = self.json("predict", "m.safetensors", SET)
        value = self.json("predict", "m.safetensors", SET, "--split", "public")
        self.assertEqual(every["scored"], every["labelled"])
        self.assertEqual(value["scored"], every["labelled"] - nodes["train"])
        right = round(every["accuracy"] * every["scored"]) - round(value["accuracy"] * value["scored"])
        self.assertTrue(0 <= right <= nodes["train"], right)
        err = self.succeed("predict", "m.safetensors", SET, "--split", "public").err
        self.assertIn(f"scores of the {value['scored']} labelled nodes outside the training nodes\n", err)

    def test_data_sets_that_do_not_fit(self):
        self.trained()
        name = self.binary_set()
        for graph, reason in [(name, "features"), ("builtin:karate", "features")]:
            outcome = self.ngf("predict", "m.safetensors", graph, "-o", "labels.csv")
            self.assert_one_line(outcome, graph, reason)
        self.trained(graph=name)
        many = self.binary_set("many.npz", classes=5)
        self.assert_one_line(self.ngf("predict", "m.safetensors", many), many, "classes")
        self.assertFalse((self.folder / "labels.csv").exists())
        outcome = self.ngf("predict", "m.safetensors", name, "--split", "9")
        self.assert_one_line(outcome, name, "0 to 1")

    def test_node_variant_taps_belong_to_their_nodes(self):
        nodes = self.json("info", SET)["nodes"]
        self.write("groups.csv", "".join(f"{u % 3}\n" for u in range(nodes)))
        value = self.trained("--learn-taps", "--tap-groups", "groups.csv")
        again = self.json("predict", "m.safetensors", SET, "--split", "public")
        self.assertEqual(again["test_accuracy"], value["runs"][0]["test_accuracy"])
        other = "builtin:citation,nodes=200,seed=8"
        outcome = self.ngf("predict", "m.safetensors", other)
        self.assertEqual(outcome.code, 1)
        self.assertRegex(outcome.err, r"\Angf: [^\n]+\n\Z")

    def test_files_that_are_no_models(self):
        self.trained()
        good = (self.folder / "m.safetensors").read_bytes()
        header = json.loads(good[8:8 + struct.unpack("<Q", good[:8])[0]])
        bare = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        for content in [b"", b"hello, world", good[:100], good[:-1], good + b"x",
                        struct.pack("<Q", 1 << 60) + b"{}", struct.pack("<Q", 2) + b"{}",
                        struct.pack("<Q", len(bare)) + bare + bytes(4),
                        good.replace(b"layers.0.weight", b"layers.0.height")]:
            self.write("bad.safetensors", content)
            self.assert_one_line(self.ngf("predict", "bad.safetensors", SET), "bad.safetensors")
        self.assertIn("__metadata__", header)
        self.assert_one_line(self.ngf("predict", "missing.safetensors", SET), "missing")


class ResumeTest(TrainTest):
    def start(self, *flags, job=LONG, stderr=subprocess.PIPE, **popen):
        child = subprocess.Popen([PROGRAM, "train", *job, *flags, "--threads", "1"],
                                 cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=stderr, **popen)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def wait_for_runs(self, child, count):
        """Waits until that many runs are finished."""
        while True:
            self.assertIsNone(child.poll(), "it ended before the signal")
            for journal in self.journals():
                lines = journal.read_bytes().count(b"\n")
                if lines > count:
                    return journal
            time.sleep(0.002)

    def cut(self, number, *flags, **popen):
        child = self.start(*flags, **popen)
        journal = self.wait_for_runs(child, 4)
        child.send_signal(number)
        out, err = child.communicate()
        self.assertEqual(out, b"")
        return child.returncode, journal, err.decode()

    def assert_resumes(self, *flags, job=LONG):
        """The rest is trained, and all is as if nothing had happened."""
        before = self.journals()[0].read_bytes().count(b"\n") - 1
        self.assertIn(before, range(4, 40))
        value = self.json("train", *job, *flags, "--resume")
        self.assertEqual(value["runs"], self.json("train", *LONG)["runs"])
        self.assertEqual(self.journals(), [])
        return value

    def test_killed(self):
        code, journal, _ = self.cut(signal.SIGKILL, "-o", "m.safetensors")
        self.assertEqual((code, journal), (-9, self.folder / "m.safetensors.journal"))
        # A line that was cut off does no harm.
        with open(journal, "ab") as file:
            file.write(b'{"key":"seed 40","piece":{"seed":40,"val')
        self.assert_resumes("-o", "m.safetensors", "--plot", "p.svg")
        resumed = (self.folder / "m.safetensors").read_bytes()
        curves = (self.folder / "p.svg").read_bytes()
        self.succeed("train", *LONG, "-o", "m.safetensors", "--plot", "p.svg")
        self.assertEqual((self.folder / "m.safetensors").read_bytes(), resumed)
        self.assertEqual((self.folder / "p.svg").read_bytes(), curves)

    def test_interrupted(self):
        code, journal, err = self.cut(signal.SIGINT)
        self.assertEqual(code, 130, err)
        self.assertTrue(journal.is_relative_to(self.folder / "cache"), journal)
        self.assertRegex(err, r"\Angf: \d+ of 40 runs are kept in .*\.journal; --resume .*\n"
                              r"ngf: interrupted\n\Z")
        self.assertIn(str(journal), err)
        # Neither the number of threads nor that of runs side by side, which is left out, matters.
        self.assert_resumes("--threads", "2", job=LONG[:3] + LONG[5:])

    def test_terminated(self):
        code, _, err = self.cut(signal.SIGTERM, "--quiet", "-o", "m.safetensors")
        self.assertEqual((code, err), (143, "ngf: interrupted\n"))
        self.assertFalse((self.folder / "m.safetensors").exists())
        self.assert_resumes("-o", "m.safetensors")

    def test_interrupted_without_stderr(self):
        """The messages are lost, and not written into the journal."""
        code, journal, _ = self.cut(signal.SIGINT, "-o", "m.safetensors", preexec_fn=lambda: os.close(2))
        self.assertEqual(code, 130)
        self.assertTrue(journal.read_bytes().startswith(b'{"ngf-journal":'))
        self.assert_resumes("-o", "m.safetensors")

    def test_other_settings(self):
        _, journal, _ = self.cut(signal.SIGKILL, "-o", "m.safetensors")
        kept = journal.read_bytes()
        for flags in [["--lr", "0.02"], ["--split", "random:1"], ["--hops", "1"]]:
            outcome = self.ngf("train", *LONG, "-o", "m.safetensors", "--resume", *flags)
            self.assert_one_line(outcome, "m.safetensors.journal", "remove")
        self.assertEqual(journal.read_bytes(), kept)
        # Without --resume it is another job.
        self.train("-o", "m.safetensors")
        self.assertEqual(self.journals(), [])

    def test_one_at_a_time(self):
        child = self.start("-o", "m.safetensors")
        self.wait_for_runs(child, 1)
        outcome = self.ngf("train", *LONG, "-o", "m.safetensors", "--resume")
        self.assert_one_line(outcome, "m.safetensors.journal", "another process")
        child.kill()

    def test_nothing_to_resume(self):
        self.assertEqual(self.train("--resume")["runs"], self.train()["runs"])
        self.assertEqual(self.journals(), [])

    def test_no_place_to_keep_runs(self):
        for name in ["HOME", "XDG_CACHE_HOME"]:
            del self.environment[name]
        self.assertEqual(self.succeed("train", SET, *QUICK).err, "")
        self.assert_one_line(self.ngf("train", SET, *QUICK, "--resume"), "-o")

    def test_live_line(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be opened here: {error}")
        self.addCleanup(os.close, ours)
        child = self.start(job=[SET, "--runs", "100000"], stderr=theirs)
        os.close(theirs)
        shown = b""
        while b"validation 0." not in shown:
            shown += os.read(ours, 1 << 16)
        child.kill()
        self.assertRegex(shown, rb"training \[.*\] \d+ %.*, loss \d+\.\d+, validation 0\.\d+")


if __name__ == "__main__":
    unittest.main()
