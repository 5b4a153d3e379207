#!/usr/bin/python3
"""How fast graph decoders are fitted: ngf against torch.

x^ = relu(H C) v on the 256 nodes of the paper's test case 1, C of 256 x 150, 1000 epochs of Adam, for one
signal and for 200. Both start from the same C, and their outputs after 20 epochs are compared before
anything is timed.

torch is tried in several forms, and the best one counts: autograd with its own Adam (plain and `foreach`),
and the gradient and Adam by hand on preallocated memory, without autograd, with H as a dense matrix or as a polynomial
of the sparse adjacency matrix; 200 signals side by side in one product, in batches of several sizes. OpenBLAS is told which kernels this processor has (Debian's does not
know recent ones) and how many threads to use.

What to expect: a minute or two on an idle machine. All but ngf's single signal are timed over fewer epochs and scaled.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

# Before OpenBLAS is loaded.
if "avx512vl" in pathlib.Path("/proc/cpuinfo").read_text():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")

import numpy
import torch

# That sparse matrices are new to it.
warnings.filterwarnings("ignore", message="Sparse CSR")

EPOCHS = 1000
CHECKED_EPOCHS = 20
FEATURES = 150
LR = 0.01


def fixed_v():
    v = torch.full((FEATURES,), FEATURES**-0.5)
    v[FEATURES // 2 :] *= -1
    return v


class Autograd:
    """The decoder as one would write it in torch; C holds signals side by side."""

    def __init__(self, h, y, start, **adam):
        self.h, self.y, self.v = h, y, fixed_v()
        self.c = start.repeat(1, y.shape[1]).clone().requires_grad_()
        self.optimizer = torch.optim.Adam([self.c], lr=LR, **adam)

    def outputs(self):
        return torch.relu(self.h @ self.c).view(self.h.shape[0], -1, FEATURES) @ self.v

    def epoch(self):
        self.optimizer.zero_grad()
        # The mean over nodes; the sum over signals, which do not know of each other.
        loss = ((self.outputs() - self.y) ** 2).mean(0).sum()
        loss.backward()
        self.optimizer.step()


class ByHand:
    """Gradient and Adam in place, on memory that is taken once."""

    def __init__(self, h, y, start):
        self.h, self.y, self.v = h, y, fixed_v()
        self.c = start.repeat(1, y.shape[1]).clone()
        self.z, self.g = torch.empty_like(self.c), torch.empty_like(self.c)
        self.m, self.s = torch.zeros_like(self.c), torch.zeros_like(self.c)
        self.steps = 0

    def shaped(self, matrix):
        return matrix.view(self.h.shape[0], -1, FEATURES)

    def multiply(self, b, out):
        """H b; H is its own transpose."""
        torch.mm(self.h, b, out=out)

    def outputs(self):
        self.multiply(self.c, self.z)
        self.z.clamp_(min=0)
        return self.shaped(self.z) @ self.v

    def epoch(self):
        self.steps += 1
        slope = (self.outputs() - self.y).mul_(2 / self.h.shape[0])
        # Where relu is open, its output is positive.
        self.z.sign_()
        self.shaped(self.z).mul_(slope.unsqueeze(2)).mul_(self.v)
        self.multiply(self.z, self.g)
        self.m.lerp_(self.g, 0.1)
        self.s.mul_(0.999).addcmul_(self.g, self.g, value=0.001)
        torch.sqrt(self.s, out=self.g)
        self.g.div_((1 - 0.999**self.steps) ** 0.5).add_(1e-8)
        self.c.addcdiv_(self.m, self.g, value=-LR / (1 - 0.9**self.steps))


class SparseByHand(ByHand):
    """The same with H as a polynomial of the sparse adjacency matrix, from the last tap inwards."""

    def __init__(self, h, y, start, adjacency, taps):
        super().__init__(h, y, start)
        self.adjacency, self.taps = adjacency, taps

    def multiply(self, b, out):
        torch.mul(b, self.taps[-1], out=out)
        for tap in self.taps[-2::-1]:
            torch.add(self.adjacency @ out, b, alpha=tap, out=out)


def forms(adjacency, taps):
    """Name, how to make it, whether torch must keep track of gradients, and batches of signals to try."""
    yield "torch, autograd", Autograd, True, [50]
    yield "torch, autograd, foreach", lambda h, y, c: Autograd(h, y, c, foreach=True), True, [50]
    yield "torch, by hand", ByHand, False, [10, 50, 200]
    for name, sparse in (("csr", adjacency.to_sparse_csr()), ("coo", adjacency.to_sparse_coo())):
        make = lambda h, y, c, sparse=sparse: SparseByHand(h, y, c, sparse, taps)
        yield f"torch, by hand, sparse {name}", make, False, [10, 50]


def run_epochs(make, h, y, start, epochs, batch):
    for begin in range(0, y.shape[1], batch):
        model = make(h, y[:, begin : begin + batch], start)
        for _ in range(epochs):
            model.epoch()


def check(make, name, h, y, start, expected):
    model = make(h, y[:, : expected.shape[1]], start)
    for _ in range(CHECKED_EPOCHS):
        model.epoch()
    found = model.outputs().detach()
    error = ((found - expected).norm() / expected.norm()).item()
    if not error <= 1e-3:
        sys.exit(f"denoise_bench: {name} is off by {error:.1e}")


def best(body, times):
    shortest = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        body()
        shortest = min(shortest, time.perf_counter() - begun)
    return shortest


def time_torch(folder, signals, times):
    """Prints a line of JSON for each form of torch, on the threads that the environment says."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    load = lambda name: torch.from_numpy(numpy.load(folder / name).astype(numpy.float32))
    h, y, start, expected = load("H.npy"), load("Y.npy"), load("C.npy"), load("X.npy")
    # Each epoch is like the other.
    epochs = 200 if signals == 1 else 5
    for name, make, autograd, batches in forms(load("A.npy"), load("taps.npy").flatten().tolist()):
        with torch.set_grad_enabled(autograd):
            check(make, name, h, y, start, expected)
            for batch in [1] if signals == 1 else batches:
                run = lambda: run_epochs(make, h, y[:, :signals], start, epochs, batch)
                label = name if signals == 1 else f"{name}, {batch} at once"
                print(json.dumps({"label": label, "seconds": best(run, times) * EPOCHS / epochs}), flush=True)


def rows_beside(folder, rows, times):
    """The rows of ngf, each with torch's after it. OpenBLAS counts threads when it is loaded, so torch has a process a row."""
    for row in rows:
        yield row
        task = row["name"].split(":")[0]
        signals, threads = task.split()[0], task.split(", ")[1].split()[0]
        peer = subprocess.run(
            [sys.executable, __file__, "--torch", folder, signals, "--times", str(times)], check=True, text=True,
            stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads})
        for line in peer.stdout.splitlines():
            seconds = json.loads(line)["seconds"]
            yield {"name": f"{task}: {json.loads(line)['label']}", "seconds": seconds, "ratio": seconds / row["seconds"],
                   "limit_fraction": row["limit_fraction"] * row["seconds"] / seconds, "note": ""}


def print_row(row):
    print(f"{row['name']:60} {row['seconds']:9.3f} {row['ratio']:7.2f}x {row['limit_fraction']:9.1%}  {row['note']}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "build")
    parser.add_argument("--times", type=int, default=3, help="how often each is timed; the best counts")
    parser.add_argument("--torch", nargs=2, metavar=("FOLDER", "SIGNALS"), help="time torch alone; rows as JSON")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.torch:
        time_torch(pathlib.Path(arguments.torch[0]), int(arguments.torch[1]), arguments.times)
        return
    program = arguments.build / "bench" / "denoise_bench"
    if not os.access(program, os.X_OK):
        sys.exit(f"denoise_bench: {program} is not there; build it, or name the folder with --build")
    with tempfile.TemporaryDirectory(prefix="ngf-denoise-bench-") as name:
        folder = pathlib.Path(name)
        output = subprocess.run([program, folder], check=True, stdout=subprocess.PIPE, text=True)
        result = json.loads(output.stdout)
        rows = rows_beside(folder, result["rows"], arguments.times)
        if arguments.json:
            print(json.dumps({**result, "rows": list(rows)}))
            return
        print(f"{'':60} {'s':>9} {'of ngf':>8} {'of limit':>9}")
        for row in rows:
            print_row(row)
    rates = ", ".join(f"{rate / 1e9:.0f} on {threads}" for threads, rate in result["multiplication_rate"].items())
    print(f"limit: GFLOP/s reached on tiles in the caches in this run, by threads: {rates}")


if __name__ == "__main__":
    main()
