#!/usr/bin/python3
"""The paper's node classification in PyTorch: a peer for ngf that shares no line with it.

    logits = H relu(H X Theta_1) Theta_2,   Theta_1: F x hidden,   Theta_2: hidden x classes

H is the polynomial filter (gf), the sum of S^k for k < K with S = A / lambda_max(A), or the neighbourhood
filter (ngf), the sum of A_k / lambda_max(A_k) with A_0 = I. Planetoid's public split, rows of X that sum to
1, A without self-loops, weights U(+-1/sqrt(F_in F_out)), Adam 0.01, 100 epochs, cross-entropy on the training nodes.
A run's result is its test accuracy after the epoch of best validation accuracy, the first of equals.

    train_peer.py accuracy --data DIR --dataset cora --taps 2,3,10 --filter gf,ngf --runs 10 --out FILE.json [--resume]
    train_peer.py speed    --data DIR [--dataset cora,citeseer] [--taps 3,10] [--hidden 512,64] [--runs 1,25]
    train_peer.py check    --data DIR [--dataset cora]

`accuracy` rewrites FILE.json after each finished (dataset, K, filter). `speed` prints a JSON list of
{name, seconds}, seconds an epoch, best of several in turns. `check` compares the logits and
gradients of every order of products with dense ones in double, whose H is found in another way.

The last layer is computed on nodes that are read; for the order of products see train_peer_filters.py. DIR holds the
folder planetoid. Threads: all processors, or $OMP_NUM_THREADS (with others at work, two threads can be many times
slower than one).

What to expect: for each K and filter, 10 runs take 40 to 90 seconds of one processor on Cora, one to three minutes on
Citeseer, and more on Pubmed.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time
import warnings

THREADS = int(os.environ.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0))))
# Before OpenBLAS is loaded; Debian's does not know recent processors and has one thread under torch.
if "avx512vl" in pathlib.Path("/proc/cpuinfo").read_text():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")
os.environ["OPENBLAS_NUM_THREADS"] = str(THREADS)

import numpy
import scipy.sparse.csgraph
import torch

from train_peer_filters import FirstLayer, NeighbourhoodFilter, Shells, SplitMatrix, make_filter, read_dataset

torch.set_num_threads(THREADS)
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
warnings.filterwarnings("ignore", category=DeprecationWarning, module="scipy|train_peer")

NAMES = ("cora", "citeseer", "pubmed")
FILTERS = ("gf", "ngf")
EPOCHS = 100
LEARNING_RATE = 0.01
TOLERANCE = 1e-4


# Networks: forward() gives logits of training nodes, nodes x runs x classes, and a function for those of other nodes


class CheapNetwork:
    """R runs side by side: Theta_1 is F x (R hidden), Theta_2 R x hidden x classes."""

    def __init__(self, graph_filter, dataset, order=None):
        self.first = FirstLayer(graph_filter, dataset, order)
        self.order = self.first.order
        self.rows = {part: torch.from_numpy(graph_filter.rows(getattr(dataset, part)))
                     for part in ("train", "validation", "test")}

    def join(self, weights):
        return torch.cat(weights, dim=1)

    def hidden(self, first, runs):
        out = torch.relu(self.first.product(first))
        return out.view(out.shape[0], runs, -1).transpose(0, 1)

    def forward(self, first, second):
        runs, _, classes = second.shape
        mapped = torch.bmm(self.hidden(first, runs), second)
        mapped = mapped.transpose(0, 1).reshape(mapped.shape[1], runs * classes)

        def logits(part, x):
            return (self.rows[part] @ x).view(-1, runs, classes)

        return logits("train", mapped), lambda part: logits(part, mapped.detach())


class StackedNetwork(CheapNetwork):
    """R runs one above the other: Theta_1 is R x F x hidden. H X has to be all dense."""

    def __init__(self, graph_filter, dataset):
        super().__init__(graph_filter, dataset, "once")
        self.features = torch.from_numpy(graph_filter.times(dataset.features.toarray().astype(numpy.float32)))

    def join(self, weights):
        return torch.stack(weights)

    def hidden(self, first, runs):
        return torch.relu(torch.bmm(self.features.expand(runs, -1, -1), first))


class SparseNetwork(CheapNetwork):
    """H as one sparse matrix of torch's, H (X Theta)."""

    def __init__(self, graph_filter, dataset):
        super().__init__(graph_filter, dataset, "each")
        features, matrix = SplitMatrix(dataset.features), SplitMatrix(graph_filter.sparse())
        self.first.product = lambda theta: matrix(features(theta))


class PlainNetwork:
    """The authors' order, one run: everything dense, from left to right, on all nodes, repeated in each epoch."""

    def __init__(self, matrix, dataset, dtype=torch.float32):
        self.matrix = torch.from_numpy(matrix).to(dtype)
        self.features = torch.from_numpy(dataset.features.toarray()).to(dtype)
        self.nodes = {part: torch.from_numpy(getattr(dataset, part)) for part in ("train", "validation", "test")}

    def join(self, weights):
        return weights[0]

    def forward(self, first, second):
        hidden = torch.relu(self.matrix @ self.features @ first)
        logits = (self.matrix @ hidden @ second[0]).unsqueeze(1)
        return logits[self.nodes["train"]], lambda part: logits.detach()[self.nodes[part]]


# Training


def uniform(generator, rows, columns):
    bound = (rows * columns) ** -0.5
    return (2.0 * torch.rand(rows, columns, generator=generator) - 1.0) * bound


def first_weights(network, dataset, hidden, seeds):
    first, second = [], []
    for seed in seeds:
        generator = torch.Generator().manual_seed(seed)
        first.append(uniform(generator, dataset.features.shape[1], hidden))
        second.append(uniform(generator, hidden, dataset.classes))
    return network.join(first).requires_grad_(), torch.stack(second).requires_grad_()


def loss_of(logits, labels):
    """The sum of the runs' losses, so that each run's gradient is its own."""
    nodes, runs, classes = logits.shape
    return runs * torch.nn.functional.cross_entropy(logits.reshape(-1, classes), labels.repeat_interleave(runs))


def accuracy(logits, labels):
    """Of each run, in percent."""
    return 100.0 * (logits.argmax(dim=2) == labels.unsqueeze(1)).double().mean(dim=0)


def train(network, dataset, hidden, seeds, epochs=EPOCHS):
    """Yields (epoch, validation, test) of all runs, best so far, after each epoch. One pass forward scores an epoch and
    is the start of the next."""
    labels = {part: torch.from_numpy(dataset.labels[getattr(dataset, part)])
              for part in ("train", "validation", "test")}
    weights = first_weights(network, dataset, hidden, seeds)
    optimizer = torch.optim.Adam(weights, lr=LEARNING_RATE)
    best_epoch = torch.zeros(len(seeds), dtype=torch.int64)
    validation, test = torch.full((len(seeds),), -1.0).double(), torch.zeros(len(seeds)).double()
    logits, read = network.forward(*weights)
    for epoch in range(1, epochs + 1):
        optimizer.zero_grad(set_to_none=True)
        loss_of(logits, labels["train"]).backward()
        optimizer.step()
        logits, read = network.forward(*weights)
        score = accuracy(read("validation"), labels["validation"])
        better = score > validation
        if better.any():
            validation = torch.where(better, score, validation)
            test = torch.where(better, accuracy(read("test"), labels["test"]), test)
            best_epoch[better] = epoch
        yield best_epoch, validation, test


# Modes


def run_cell(dataset, shells, kind, taps, runs, hidden):
    """The record of one (dataset, K, filter)."""
    start = time.perf_counter()
    network = CheapNetwork(make_filter(kind, dataset, shells, taps), dataset)
    prepared, cpu_start = time.perf_counter(), time.process_time()
    results = []
    for seed in range(runs):
        for result in train(network, dataset, hidden, [seed]):
            pass
        results.append([values.item() for values in result])
    seconds, cpu_seconds = time.perf_counter() - prepared, time.process_time() - cpu_start
    epochs, validation, test = zip(*results)
    return {
        "dataset": dataset.name, "taps": taps, "filter": kind, "runs": runs, "hidden": hidden,
        "mean": statistics.mean(test), "median": statistics.median(test), "std": statistics.pstdev(test),
        "test": test, "validation": validation, "best_epoch": epochs, "order": network.order, "threads": THREADS,
        "prepare_seconds": prepared - start, "seconds": seconds, "cpu_seconds": cpu_seconds,
        "seconds_per_epoch": seconds / (runs * EPOCHS),
    }


def json_lines(records):
    """A JSON list with one record per line."""
    return "[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n"


def write_whole(path, records):
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json_lines(records))
    partial.replace(path)


def read_records(arguments):
    if not arguments.out.exists():
        return []
    if not arguments.resume:
        sys.exit(f"train_peer: {arguments.out} exists; continue it with --resume, or name another file")
    return json.loads(arguments.out.read_text())


def accuracy_mode(arguments):
    if arguments.out is None:
        sys.exit("train_peer: accuracy needs --out FILE.json")
    records = read_records(arguments)
    key = ("dataset", "taps", "filter", "runs", "hidden")
    done = {tuple(record[name] for name in key) for record in records}
    runs, hidden = arguments.runs[0], arguments.hidden[0]
    for name in arguments.dataset:
        cells = [(taps, kind) for taps in arguments.taps for kind in arguments.filter
                 if (name, taps, kind, runs, hidden) not in done]
        if not cells:
            continue
        dataset = read_dataset(arguments.data, name)
        shells = None
        if any(kind == "ngf" for _, kind in cells):
            shells = Shells(dataset.adjacency, max(taps for taps, _ in cells) - 1)
        for taps, kind in cells:
            record = run_cell(dataset, shells, kind, taps, runs, hidden)
            records.append(record)
            write_whole(arguments.out, records)
            print(f"{name} K={taps} {kind}: {record['mean']:.2f} +- {record['std']:.2f}, {record['seconds']:.1f} s "
                  f"({record['cpu_seconds']:.1f} of processors), {record['order']}", flush=True)


def contenders(graph_filter, dataset, taps, runs):
    """(name, network, whether it trains all runs at once) of each order of products."""
    if runs == 1:
        yield "torch, authors' order", PlainNetwork(graph_filter.rows(slice(None)), dataset), True
    once, sparse = CheapNetwork(graph_filter, dataset, "once"), None
    if taps <= 3:
        sparse = SparseNetwork(graph_filter, dataset)
    if runs > 1:
        yield "torch, H X once, side by side", once, True
        yield "torch, H X once, bmm", StackedNetwork(graph_filter, dataset), True
        if sparse:
            yield "torch, sparse, side by side", sparse, True
    in_turn = ", one after another" if runs > 1 else ""
    yield "torch, H X once" + in_turn, once, False
    if sparse:
        yield "torch, sparse" + in_turn, sparse, False


def epoch_of(network, dataset, hidden, runs, at_once):
    """A function that trains all runs for one more epoch."""
    batches = [range(runs)] if at_once else [[seed] for seed in range(runs)]
    trainings = [train(network, dataset, hidden, seeds) for seeds in batches]

    def epoch():
        for training in trainings:
            next(training)

    return epoch


def best_in_turns(bodies, rounds):
    """The shortest time of each, after one that is not counted."""
    shortest = [float("inf")] * len(bodies)
    for turn in range(rounds + 1):
        for i, body in enumerate(bodies):
            start = time.perf_counter()
            body()
            if turn > 0:
                shortest[i] = min(shortest[i], time.perf_counter() - start)
    return shortest


def speed_mode(arguments):
    rows = []
    for name in arguments.dataset:
        dataset = read_dataset(arguments.data, name)
        shells = Shells(dataset.adjacency, max(arguments.taps) - 1)
        for taps in arguments.taps:
            graph_filter = NeighbourhoodFilter(shells, taps, dataset.largest)
            for runs in arguments.runs:
                peers = list(contenders(graph_filter, dataset, taps, runs))
                for hidden in arguments.hidden:
                    task = f"{name.capitalize()}, K={taps}, hidden {hidden}, {runs} run{'s' if runs > 1 else ''}"
                    epochs = [epoch_of(network, dataset, hidden, runs, at_once) for _, network, at_once in peers]
                    seconds = best_in_turns(epochs, arguments.rounds)
                    rows += [{"name": f"{task}: {peer[0]}", "seconds": s} for peer, s in zip(peers, seconds)]
    print(json_lines(rows), end="")


def plain_filter(kind, dataset, taps):
    """H in double, from SciPy's shortest paths, dense powers and dense eigenvalues."""
    adjacency = dataset.adjacency.toarray()
    if kind == "gf":
        shift = adjacency / numpy.linalg.eigvalsh(adjacency)[-1]
        return sum(numpy.linalg.matrix_power(shift, k) for k in range(taps))
    hops = scipy.sparse.csgraph.shortest_path(dataset.adjacency, method="D", unweighted=True)
    total = numpy.eye(len(hops))
    for k in range(1, taps):
        of_hop = (hops == k).astype(numpy.float64)
        total += of_hop / numpy.linalg.eigvalsh(of_hop)[-1]
    return total


def first_step(network, dataset, weights):
    """Logits of all parts and gradients of both weights, before any step."""
    weights = [w.detach().clone().requires_grad_() for w in weights]
    logits, read = network.forward(*weights)
    loss_of(logits, torch.from_numpy(dataset.labels[dataset.train])).backward()
    return [logits.detach(), read("validation"), read("test"), *(w.grad for w in weights)]


def off_by(values, expected):
    return max(((v - e).abs().max() / e.abs().max()).item() for v, e in zip(values, expected))


def check_network(task, network, dataset, plain, runs):
    """Each run of a network against the plain one."""
    seeds = range(runs)
    found = first_step(network, dataset, first_weights(network, dataset, 16, seeds))
    error = 0.0
    for run in seeds:
        weights = [w.double() for w in first_weights(plain, dataset, 16, [run])]
        expected = first_step(plain, dataset, weights)
        beside = found[3].dim() == 2
        first = found[3][:, 16 * run : 16 * (run + 1)] if beside else found[3][run]
        alone = [part[:, run : run + 1] for part in found[:3]] + [first, found[4][run : run + 1]]
        error = max(error, off_by(alone, expected))
    print(f"{task}: off by {error:.1e}", flush=True)
    return error <= TOLERANCE


def check_mode(arguments):
    good = True
    for name in arguments.dataset:
        dataset = read_dataset(arguments.data, name)
        shells = Shells(dataset.adjacency, max(arguments.taps) - 1)
        for taps in arguments.taps:
            for kind in arguments.filter:
                graph_filter = make_filter(kind, dataset, shells, taps)
                plain = PlainNetwork(plain_filter(kind, dataset, taps), dataset, torch.float64)
                networks = {order: CheapNetwork(graph_filter, dataset, order) for order in ("once", "each")}
                networks["stacked"] = StackedNetwork(graph_filter, dataset)
                if kind == "ngf":
                    networks["sparse"] = SparseNetwork(graph_filter, dataset)
                for order, network in networks.items():
                    task = f"{name}, K={taps}, {kind}, {order}"
                    good = check_network(task, network, dataset, plain, 2) and good
    if not good:
        sys.exit(f"train_peer: products differ by more than {TOLERANCE}")


def numbers(text):
    return [int(part) for part in text.split(",")]


def names_of(allowed):
    def names(text):
        parts = text.split(",")
        for part in parts:
            if part not in allowed:
                raise argparse.ArgumentTypeError(f"{part}: one of {', '.join(allowed)}")
        return parts

    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mode", choices=("accuracy", "speed", "check"))
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("NGF_DATA", "../shared/data"))
    parser.add_argument("--dataset", type=names_of(NAMES), default=["cora"])
    parser.add_argument("--taps", type=numbers, default=[3, 10])
    parser.add_argument("--filter", type=names_of(FILTERS), default=list(FILTERS))
    parser.add_argument("--hidden", type=numbers, help="512; 512,64 for speed")
    parser.add_argument("--runs", type=numbers, help="10; 1,25 for speed")
    parser.add_argument("--rounds", type=int, default=7, help="epochs of each that speed times")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--resume", action="store_true", help="keep what --out has")
    arguments = parser.parse_args()
    speed = arguments.mode == "speed"
    arguments.hidden = arguments.hidden or ([512, 64] if speed else [512])
    arguments.runs = arguments.runs or ([1, 25] if speed else [10])
    {"accuracy": accuracy_mode, "speed": speed_mode, "check": check_mode}[arguments.mode](arguments)


if __name__ == "__main__":
    main()
