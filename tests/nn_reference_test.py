"""Ten steps of training from the same weights, against PyTorch.

The networks are written here once more, by dense matrices: powers of the shift, shells from hop
distances, the propagation of GCN. Ours is run by build/tests/train_steps, which takes weights and
data from one safetensors file and writes the weights after the steps into another.
"""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import numpy as np
from scipy.sparse import csgraph

from python_support import ROOT

try:
    import torch
except ImportError:
    torch = None

PROGRAM = os.environ.get("NGF_TRAIN_STEPS", str(ROOT / "build" / "tests" / "train_steps"))
NODES, FEATURES, CLASSES, HIDDEN, STEPS = 60, 20, 4, 16, 10


def write_safetensors(path, metadata, tensors):
    header, data = {"__metadata__": metadata}, b""
    for name, values in tensors.items():
        block = np.ascontiguousarray(values, dtype="<f4")
        offsets = [len(data), len(data) + block.nbytes]
        header[name] = {"dtype": "F32", "shape": list(block.shape), "data_offsets": offsets}
        data += block.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in header.items()
    }


def hop_matrices(adjacency, count):
    hops = csgraph.shortest_path(adjacency, unweighted=True)
    return [(hops == k).astype(float) for k in range(count)]


def symmetric(matrix):
    degree = matrix.sum(axis=1)
    root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return root[:, None] * matrix * root[None, :]


def operators(settings, adjacency):
    """The matrices that the taps multiply, and the taps."""
    hops = settings["hops"]
    if settings["model"] == "ngcnn":
        shells = hop_matrices(adjacency, hops + 1)
        if settings["normalization"] == "symmetric":
            return [symmetric(shell) for shell in shells]
        # A shell without pairs stays as it is.
        return [shell / (np.linalg.eigvalsh(shell).max() or 1) for shell in shells]
    if settings["model"] == "gcnn":
        shift = adjacency / np.linalg.eigvalsh(adjacency).max()
        return [np.linalg.matrix_power(shift, k) for k in range(hops + 1)]
    propagation = symmetric(adjacency + np.eye(NODES))
    return [np.linalg.matrix_power(propagation, hops if settings["model"] == "sgc" else 1)]


def bank_matrices(settings, adjacency):
    hops = settings["hops"]
    if settings["model"] == "gcnn":
        shift = adjacency / np.linalg.eigvalsh(adjacency).max()
        return [np.linalg.matrix_power(shift, k) for k in range(hops + 1)]
    return [np.eye(NODES)] + [symmetric(shell) for shell in hop_matrices(adjacency, hops + 1)[1:]]


def bank_shapes(settings):
    """Of each layer: the number of matrices and of inputs, and whether the input is normalised."""
    count = settings["layers"] + settings["pre"] + settings["post"]
    shapes = []
    for layer in range(count):
        plain = settings["pre"] and layer == 0 or settings["post"] and layer == count - 1
        inputs = FEATURES if layer == 0 else HIDDEN
        if settings["jump"] and layer == count - 1:
            inputs = HIDDEN * (count - 1)
        shapes.append((1 if plain else settings["hops"] + 1, inputs, settings["residual"] and layer > 0))
    return shapes


def bank_logits(settings, parameters, bank, x):
    shapes = bank_shapes(settings)
    states = []
    for layer, (matrices, inputs, norm) in enumerate(shapes):
        own = {name.split(".")[-1]: value for name, value in parameters.items() if name.startswith(f"layers.{layer}.")}
        last = layer == len(shapes) - 1
        u = torch.cat(states, dim=1) if last and settings["jump"] else states[-1] if states else x
        if norm:
            u = torch.nn.functional.layer_norm(u, (inputs,), own["norm_scale"], own["norm_shift"])
        z = sum(bank[k] @ u @ own["weight"][k * inputs:(k + 1) * inputs] for k in range(matrices)) + own["bias"]
        z = z if last else torch.relu(z)
        states.append(states[-1] + z if settings["residual"] and matrices > 1 else z)
    return states[-1]


def torch_steps(settings, weights, data, lr, decay):
    """Weights and losses after Adam's steps, in double precision."""
    make = bank_matrices if settings["bank"] else operators
    matrices = [torch.tensor(m) for m in make(settings, data["adjacency"])]
    fixed = 1.0 if settings["unit_taps"] or len(matrices) == 1 else 1 / len(matrices)
    parameters = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}
    layers = 0 if settings["bank"] else 1 if settings["model"] == "sgc" else settings["layers"]
    first = [value for name, value in parameters.items() if name == "layers.0.weight"]
    others = [value for name, value in parameters.items() if name != "layers.0.weight"]
    optimizer = torch.optim.Adam([{"params": first, "weight_decay": decay}, {"params": others}], lr)
    losses = []
    for _ in range(STEPS):
        x = torch.tensor(data["features"])
        for layer in range(layers):
            taps = parameters.get(f"layers.{layer}.taps", [fixed] * len(matrices))
            h = sum(tap * matrix for tap, matrix in zip(taps, matrices))
            x = h @ x @ parameters[f"layers.{layer}.weight"]
            x = x + parameters.get(f"layers.{layer}.bias", 0)
            x = torch.relu(x) if layer + 1 < layers else x
        if settings["bank"]:
            x = bank_logits(settings, parameters, matrices, x)
        nodes = data["train"]
        loss = torch.nn.functional.cross_entropy(x[nodes], torch.tensor(data["labels"][nodes]))
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {name: value.detach().numpy() for name, value in parameters.items()}, losses


def some_data(random):
    upper = np.triu(random.random((NODES, NODES)) < 0.05, 1)
    upper[np.arange(NODES - 1), np.arange(1, NODES)] = True  # a path joins all
    features = random.random((NODES, FEATURES)) * (random.random((NODES, FEATURES)) < 0.3)
    return {
        "adjacency": (upper | upper.T).astype(float),
        "edges": np.argwhere(upper),
        "features": features,
        "labels": random.integers(CLASSES, size=NODES),
        "train": np.arange(0, NODES, 2),
    }


def some_bank_weights(random, settings):
    weights = {}
    shapes = bank_shapes(settings)
    for layer, (matrices, inputs, norm) in enumerate(shapes):
        outputs = CLASSES if layer == len(shapes) - 1 else HIDDEN
        rows = matrices * inputs
        weights[f"layers.{layer}.weight"] = random.normal(size=(rows, outputs)) / np.sqrt(rows)
        weights[f"layers.{layer}.bias"] = random.normal(size=outputs) * 0.1
        if norm:
            weights[f"layers.{layer}.norm_scale"] = random.normal(size=inputs) * 0.1 + 1
            weights[f"layers.{layer}.norm_shift"] = random.normal(size=inputs) * 0.1
    return weights


def some_weights(random, settings):
    if settings["bank"]:
        return some_bank_weights(random, settings)
    widths = [FEATURES, CLASSES]
    if settings["model"] != "sgc":
        widths = [FEATURES] + [HIDDEN] * (settings["layers"] - 1) + [CLASSES]
    weights = {}
    for layer, (rows, cols) in enumerate(zip(widths, widths[1:])):
        weights[f"layers.{layer}.weight"] = random.normal(size=(rows, cols)) / np.sqrt(rows)
        if settings["bias"]:
            weights[f"layers.{layer}.bias"] = random.normal(size=cols) * 0.1
        if settings["learn_taps"]:
            count = settings["hops"] + 1
            weights[f"layers.{layer}.taps"] = np.full(count, 1 / count)
    return weights


def settings_of(model, **changes):
    settings = {
        "model": model, "hops": 2, "taps": [], "unit_taps": False, "learn_taps": False,
        "normalization": "symmetric", "shift": "adjacency-lmax", "min_paths": 1,
        "hidden": HIDDEN, "layers": 2, "bias": True, "skip": False, "normalize_features": False,
        "bank": False, "pre": False, "post": False, "residual": False, "jump": False,
    }
    return settings | changes


@unittest.skipIf(torch is None, "no PyTorch")
class TenSteps(unittest.TestCase):

    def check(self, settings, lr=0.01, decay=0.0):
        random = np.random.default_rng(1)
        data = some_data(random)
        weights = some_weights(random, settings)
        expected, expected_losses = torch_steps(settings, weights, data, lr, decay)
        found = self.ours(settings, weights, data, lr, decay)
        np.testing.assert_allclose(found.pop("losses"), expected_losses, atol=1e-4)
        self.assertLess(expected_losses[-1], expected_losses[0])
        self.assertEqual(found.keys(), expected.keys())
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, atol=1e-4, err_msg=name)
            self.assertGreater(np.abs(values - weights[name]).max(), 1e-3, "nothing was learned")

    def ours(self, settings, weights, data, lr, decay):
        metadata = {
            "format": "ngf-model", "settings": json.dumps(settings),
            "labels": json.dumps([str(c) for c in range(CLASSES)]),
            "steps": str(STEPS), "lr": str(lr), "weight_decay": str(decay),
        }
        named = {f"data.{name}": data[name] for name in ("edges", "features", "labels", "train")}
        with tempfile.TemporaryDirectory(prefix="ngf-test-") as folder:
            before, after = pathlib.Path(folder, "before"), pathlib.Path(folder, "after")
            write_safetensors(before, metadata, weights | named)
            subprocess.run([PROGRAM, before, after], check=True)
            return read_safetensors(after)

    def test_ngcnn(self):
        self.check(settings_of("ngcnn"), decay=5e-4)

    def test_ngcnn_of_the_paper(self):
        for hops in (1, 4, 9):
            self.check(settings_of("ngcnn", hops=hops, unit_taps=True, bias=False,
                                   normalization="lmax"))

    def test_gcnn_of_the_paper(self):
        for hops in (1, 4, 9):
            self.check(settings_of("gcnn", hops=hops, unit_taps=True, bias=False))

    def test_gcnn(self):
        self.check(settings_of("gcnn", layers=3), decay=5e-4)

    def test_gcn(self):
        self.check(settings_of("gcn"), decay=5e-4)

    def test_sgc(self):
        self.check(settings_of("sgc"), lr=0.2, decay=5e-4)

    def test_taps_learned(self):
        self.check(settings_of("ngcnn", learn_taps=True, hops=3))
        self.check(settings_of("gcnn", learn_taps=True, hops=3))

    def test_banks(self):
        for model in ("ngcnn", "gcnn"):
            for changes in ({}, {"post": True, "jump": True, "pre": True},
                            {"pre": True, "post": True, "residual": True, "hops": 3},
                            {"pre": True, "post": True, "residual": True, "jump": True}):
                with self.subTest(model=model, **changes):
                    self.check(settings_of(model, bank=True, **changes), decay=5e-4)


if __name__ == "__main__":
    unittest.main()
