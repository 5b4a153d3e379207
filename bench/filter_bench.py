#!/usr/bin/python3
"""How fast neighbourhood filters are applied: ngf against Eigen, SciPy, torch and dense libraries.

Y = H X in float, with H = sum over k < K of h_k A_k on Cora, Citeseer and Pubmed, and X of F columns.
ngf has the shells and the taps; the others have H itself, as a sparse matrix or a dense one. Results
are compared, to 1e-5 of the largest value, before anything is timed.

Graphs are read from the folder of data sets; rows of missing ones are left out. So are libraries
that are not installed, and what would take minutes or gigabytes (the others on a large H that is mostly
full; notes say where).

What to expect: about ten minutes. Numbers are best of several runs, on all processors; torch is told
to use them, and OpenBLAS which kernels this processor has (Debian's does not know recent ones). SciPy has
one thread.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

THREADS = len(os.sched_getaffinity(0))
# Before OpenBLAS is loaded.
if "avx512vl" in pathlib.Path("/proc/cpuinfo").read_text():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(THREADS))

import numpy
import scipy.sparse

import bench_support

try:
    import torch
except ImportError:
    torch = None

GRAPHS = {"Cora": "ind.cora.graph", "Citeseer": "ind.citeseer.graph", "Pubmed": "ind.pubmed.graph"}
TAPS = (3, 5, 10)
WIDTHS = (1, 16, 64, 512)
# Entries of H, times columns, that SciPy and torch's sparse product are spared.
MOST_WORK = 5e9
# Entries of H that are worth holding: as many as filter_bench itself holds.
MOST_ENTRIES = 2e8


def hops_of(build, graph):
    """The hops of all pairs, one byte each, as ngf finds them; 255 where they are too many."""
    with tempfile.TemporaryDirectory(prefix="ngf-filter-bench-") as folder:
        file = pathlib.Path(folder) / "hops.npy"
        subprocess.run(
            [build / "ngf", "shells", graph, "--hops", str(max(TAPS) - 1), "--distances", "-o", file, "--quiet"],
            check=True, stdout=subprocess.DEVNULL,
        )
        return numpy.load(file)


def filter_matrix(hops, count):
    """H with the taps of filter_bench, or None where it is too large."""
    if numpy.count_nonzero(hops < count) > MOST_ENTRIES:
        return None
    taps = numpy.zeros(256, dtype=numpy.float32)
    taps[:count] = (-0.8) ** numpy.arange(count)
    rows = (scipy.sparse.csr_matrix(taps[hops[begin : begin + 500]]) for begin in range(0, len(hops), 500))
    return scipy.sparse.vstack(list(rows), format="csr")


def contenders(matrix, x):
    """(name, body) of each peer, whose body returns Y."""
    if matrix.nnz * x.shape[1] <= MOST_WORK:
        yield "SciPy", lambda: matrix @ x
    if torch is None:
        return
    torch.set_num_threads(THREADS)
    warnings.filterwarnings("ignore", "Sparse CSR tensor support")
    signals = torch.from_numpy(x)
    if matrix.nnz * x.shape[1] <= MOST_WORK:
        sparse = torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(numpy.int64)),
            torch.from_numpy(matrix.indices.astype(numpy.int64)),
            torch.from_numpy(matrix.data), size=matrix.shape,
        )
        yield "torch, sparse", lambda: (sparse @ signals).numpy()
    if matrix.nnz >= 0.05 * matrix.shape[0] ** 2:
        dense = torch.from_numpy(matrix.toarray())
        yield "torch, dense", lambda: (dense @ signals).numpy()


def add_peers(build, graph, name, rows):
    """SciPy's and torch's rows, each behind the other rows of its task."""
    hops = hops_of(build, graph)
    for count in TAPS:
        matrix = filter_matrix(hops, count)
        if matrix is None:
            continue
        step = max(1, matrix.shape[0] // 500)
        exact = matrix[::step].astype(numpy.float64)
        for width in WIDTHS:
            task = f"{name}, K={count}, F={width}"
            of_task = [i for i, row in enumerate(rows) if row["name"].startswith(task + ":")]
            ours = rows[of_task[0]]["seconds"]
            x = numpy.random.default_rng(1).standard_normal((matrix.shape[0], width), dtype=numpy.float32)
            expected = exact @ x.astype(numpy.float64)
            new = []
            for peer, body in contenders(matrix, x):
                error = abs(body()[::step] - expected).max() / abs(expected).max()
                if not error <= 1e-5:
                    sys.exit(f"filter_bench: {task}: {peer} is off by {error:.1e}")
                seconds = bench_support.best(body)
                new.append({"name": f"{task}: {peer}", "seconds": seconds, "ratio": seconds / ours,
                            "limit_fraction": 0.0, "note": ""})
            rows[of_task[-1] + 1 : of_task[-1] + 1] = new


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    bench_support.add_arguments(parser)
    arguments = parser.parse_args()
    data = bench_support.data_folder(arguments)
    paths = {name: data / "planetoid" / file for name, file in GRAPHS.items()}
    names = bench_support.names_there("filter_bench", arguments, paths)
    if not names:
        return
    result = bench_support.run_ngf("filter_bench", arguments, names)
    for name in names:
        add_peers(arguments.build, paths[name], name, result["rows"])
    rate = result["multiplication_rate"] / 1e9
    bench_support.print_result(arguments, result, f"{rate:.0f} GFLOP/s, reached on tiles in the caches in this run")


if __name__ == "__main__":
    main()
