#!/usr/bin/python3
"""Epochs of networks with banks: ngf against PyTorch and PyTorch Geometric, two threads each.

    bank_bench.py [--build DIR] [--data DIR] [--json] [NAME ...]

An epoch is a training step with dropout and a pass that scores all nodes. The peers are the same network on
torch.sparse matrices of the shells, and TAGConv (Du et al., 2017), which has powers in the place of shells. First, the
trained weights of ngf are given to the torch.sparse network, whose probabilities must be the same.
"""

import argparse
import json
import pathlib
import struct
import sys
import tempfile
import time

import bench_support
import numpy as np
import scipy.sparse as sp

SETS = {
    "chameleon_filtered": "heterophilous/chameleon_filtered.npz",
    "Cora": "planetoid/ind.cora.graph",
    "minesweeper": "heterophilous/minesweeper.npz",
}
HOPS, HIDDEN, DROPOUT, THREADS = 2, 64, 0.5, 2


def symmetric(matrix):
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return sp.diags(root) @ matrix @ sp.diags(root)


def sparse_tensor(torch, matrix):
    matrix = matrix.tocsr().astype(np.float32)
    return torch.sparse_csr_tensor(torch.from_numpy(matrix.indptr.astype(np.int64)),
                                   torch.from_numpy(matrix.indices.astype(np.int64)),
                                   torch.from_numpy(matrix.data), size=matrix.shape)


def peers_of(torch, ngf, data, features):
    """The two networks, by name: pre, a bank, a bank, post, as ours."""

    shells = [sparse_tensor(torch, symmetric(shell)) for shell in ngf.shells(data.graph, HOPS)[1:]]

    class Bank(torch.nn.Module):

        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn((HOPS + 1) * HIDDEN, HIDDEN) * 0.05)
            self.bias = torch.nn.Parameter(torch.zeros(HIDDEN))

        def forward(self, x):
            z = x @ self.weight[:HIDDEN]
            for k, shell in enumerate(shells):
                z = z + shell @ (x @ self.weight[(k + 1) * HIDDEN:(k + 2) * HIDDEN])
            return z + self.bias

    class SparseLinear(torch.nn.Linear):
        """Of features that are mostly 0: dropout of the others, and a sparse product."""

        def __init__(self):
            super().__init__(features.shape[1], HIDDEN)
            coo = sp.coo_matrix(features)
            self.places = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
            self.values = torch.from_numpy(coo.data.copy())

        def forward(self, _):
            values = torch.nn.functional.dropout(self.values, DROPOUT, self.training)
            x = torch.sparse_coo_tensor(self.places, values, features.shape)
            return torch.sparse.mm(x, self.weight.T) + self.bias

    class DenseLinear(torch.nn.Linear):

        def __init__(self):
            super().__init__(features.shape[1], HIDDEN)

        def forward(self, x):
            return super().forward(torch.nn.functional.dropout(x, DROPOUT, self.training))

    mostly_zero = np.count_nonzero(features) < 0.1 * features.size

    class Network(torch.nn.Module):

        def __init__(self, make_bank):
            super().__init__()
            self.pre = SparseLinear() if mostly_zero else DenseLinear()
            self.banks = torch.nn.ModuleList([make_bank(), make_bank()])
            self.post = torch.nn.Linear(HIDDEN, int(data.labels.max()) + 1)

        def forward(self, x):
            drop = lambda t: torch.nn.functional.dropout(t, DROPOUT, self.training)
            x = torch.relu(self.pre(x))
            for bank in self.banks:
                x = torch.relu(bank(drop(x)))
            return self.post(drop(x))

    result = {"torch.sparse": Network(Bank)}
    try:
        from torch_geometric.nn import TAGConv
    except ImportError:
        print("bank_bench: TAGConv is left out: no torch_geometric", file=sys.stderr)
        return result
    coo = sp.coo_matrix(ngf.shells(data.graph, 1)[1])
    edges = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))

    class Tag(torch.nn.Module):

        def __init__(self):
            super().__init__()
            self.conv = TAGConv(HIDDEN, HIDDEN, K=HOPS)

        def forward(self, x):
            return self.conv(x, edges)

    result["TAGConv"] = Network(Tag)
    return result


def ours(ngf, data, epochs):
    return ngf.NodeClassifier(data, bank=True, pre=True, post=True, hops=HOPS, hidden=HIDDEN, layers=2,
                              dropout=DROPOUT, epochs=epochs, normalize_features=False, normalize="symmetric",
                              threads=THREADS)


def epoch_of_ours(ngf, data, train, validation):
    """Seconds per epoch, from two runs of `fit`, so that what is done once does not count."""

    def seconds(epochs):
        begun = time.perf_counter()
        ours(ngf, data, epochs).fit(train, data.labels[train], validation=validation)
        return time.perf_counter() - begun

    return min((seconds(120) - seconds(20)) / 100 for _ in range(3))


def epoch_of_peer(torch, network, x, labels, train):
    optimizer = torch.optim.Adam(network.parameters(), 0.01, weight_decay=5e-4)

    def epoch():
        network.train()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(x)[train], labels[train]).backward()
        optimizer.step()
        network.eval()
        with torch.no_grad():
            network(x).argmax(dim=1)

    return bench_support.best(epoch)


def read_safetensors(path):
    content = path.read_bytes()
    size, = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    values = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        values[name] = np.frombuffer(content[begin:end], "<f4").reshape(entry["shape"]).copy()
    return values


def check(torch, network, classifier, x, nodes):
    """The trained weights in PyTorch's network must give the same probabilities."""
    with tempfile.TemporaryDirectory(prefix="ngf-bench-") as folder:
        path = pathlib.Path(folder, "m.safetensors")
        classifier.save(path)
        weights = {name: torch.from_numpy(value) for name, value in read_safetensors(path).items()}
    with torch.no_grad():
        for layer, own in [(0, network.pre), (3, network.post)]:
            own.weight.copy_(weights[f"layers.{layer}.weight"].T)
            own.bias.copy_(weights[f"layers.{layer}.bias"] if f"layers.{layer}.bias" in weights else 0)
        for layer, bank in enumerate(network.banks):
            bank.weight.copy_(weights[f"layers.{layer + 1}.weight"])
            bank.bias.copy_(weights[f"layers.{layer + 1}.bias"])
        network.eval()
        found = torch.softmax(network(x), dim=1).numpy()
    expected = classifier.predict_proba(nodes)
    if np.abs(found - expected).max() > 1e-4:
        sys.exit(f"bank_bench: probabilities differ by {np.abs(found - expected).max()}")


def rows_of(torch, ngf, name, path):
    data = ngf.load_dataset(str(path))
    features = data.features
    dense = np.asarray(features.todense() if sp.issparse(features) else features, dtype=np.float32)
    x, labels = torch.from_numpy(dense.copy()), torch.from_numpy(np.asarray(data.labels, dtype=np.int64))
    train, validation, _ = data.split if data.split is not None else data.splits[0]
    networks = peers_of(torch, ngf, data, dense)
    trained = ours(ngf, data, 5).fit(train, data.labels[train], validation=validation)
    check(torch, networks["torch.sparse"], trained, x, np.arange(len(labels)))
    base = epoch_of_ours(ngf, data, train, validation)
    rows = [{"name": f"{name}: ngf", "seconds": base, "ratio": 1.0, "limit_fraction": 0, "note": ""}]
    for peer, network in networks.items():
        seconds = epoch_of_peer(torch, network, x, labels, torch.from_numpy(np.asarray(train, dtype=np.int64)))
        rows.append({"name": f"{name}: {peer}", "seconds": seconds, "ratio": seconds / base, "limit_fraction": 0,
                     "note": ""})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    bench_support.add_arguments(parser)
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.build / "python"))
    import ngf
    import torch
    torch.set_num_threads(THREADS)
    folder = bench_support.data_folder(arguments)
    paths = {name: folder / path for name, path in SETS.items()}
    result = {"rows": []}
    for name in bench_support.names_there("bank_bench", arguments, paths):
        result["rows"] += rows_of(torch, ngf, name, paths[name])
    bench_support.print_result(arguments, result, "not counted; epochs are compared")


if __name__ == "__main__":
    main()
