#!/usr/bin/python3
"""How fast hops of all pairs are from Python: ngf.hop_distances against SciPy's shortest_path.

SciPy has one thread; ngf is timed on one and on all. SciPy searches from some of the nodes where all would take
minutes, and its time is scaled up; those rows are compared before anything is timed. Matrices are SciPy's own, so that ngf's
time has the conversion in it.

Run with the package on the path: PYTHONPATH=build/python bench/python_bench.py
"""

import argparse
import sys
import time

import numpy as np
from scipy.sparse.csgraph import shortest_path

import bench_support
import ngf

MOST_SOURCES = 2708


def compare(name, data):
    A = ngf.to_scipy(ngf.load_dataset(f"planetoid:{name}", data=data).graph)
    nodes = A.shape[0]
    sources = np.arange(min(nodes, MOST_SOURCES))
    begun = time.perf_counter()
    expected = shortest_path(A, unweighted=True, indices=sources)
    scipy_seconds = (time.perf_counter() - begun) * nodes / len(sources)
    hops = ngf.hop_distances(A)[sources]
    found = np.where(hops == np.iinfo(hops.dtype).max, np.inf, hops)
    if not np.array_equal(found, expected):
        sys.exit(f"{name}: hops differ")
    note = "" if len(sources) == nodes else f" (from {len(sources)} nodes, scaled)"
    print(f"{name}: SciPy {scipy_seconds:.3g} s{note}")
    for threads in (1, None):
        seconds = bench_support.best(lambda: ngf.hop_distances(A, threads=threads), seconds=2.0)
        print(f"{name}: ngf, {'all threads' if threads is None else '1 thread'} {seconds * 1e3:.3g} ms, "
              f"{scipy_seconds / seconds:.0f}x SciPy")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["cora", "citeseer", "pubmed"])
    parser.add_argument("--data", default=str(bench_support.default_data_folder()))
    arguments = parser.parse_args()
    for name in arguments.names:
        compare(name, arguments.data)


if __name__ == "__main__":
    main()
