#!/usr/bin/python3
"""How fast shells are found: ngf against a plain search, igraph, GraphBLAS and SciPy.

On citation networks, random graphs, a lattice, a power grid, a social network and a road network:
the hops of all pairs, and lists of a few hops. Results are compared before anything is timed.
Peers that need minutes for all pairs search from some of the nodes, and the row says so.

Graphs that are files are read from the folder of data sets; rows of missing ones are left out.

What to expect: about five minutes. Numbers are best of several runs, on all processors except where
a library has only one thread (igraph, SciPy).
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

import numpy
import scipy.sparse
import scipy.sparse.csgraph

import bench_support

# Name, what `ngf convert` reads, and how many sources SciPy searches from.
GRAPHS = [
    ("Cora", "planetoid/ind.cora.graph", 2708),
    ("Citeseer", "planetoid/ind.citeseer.graph", 3327),
    ("Pubmed", "planetoid/ind.pubmed.graph", 1000),
    ("ER 20000", "er:n=20000,p=0.0005,seed=1", 1000),
    ("grid 140x140", "grid:rows=140,cols=140", 1000),
    ("power", "networkit/power.graph", 2000),
    ("wiki-Vote", "networkit/wiki-Vote.txt", 2000),
    ("luxembourg", "luxembourg/luxembourg_osm.mtx", None),
]


def path_of(data, graph):
    return graph if ":" in graph else data / graph


def scipy_row(build, data, name, graph, count, our_seconds):
    """SciPy's hops from `count` nodes, scaled up to all."""
    with tempfile.TemporaryDirectory(prefix="ngf-shells-bench-") as folder:
        matrix_file = pathlib.Path(folder) / "graph.npz"
        subprocess.run(
            [build / "ngf", "convert", path_of(data, graph), matrix_file, "--to", "npz-scipy", "--quiet"],
            check=True, stdout=subprocess.DEVNULL,
        )
        matrix = scipy.sparse.load_npz(matrix_file).astype(numpy.float64)
    nodes = matrix.shape[0]
    count = min(count, nodes)
    start = time.perf_counter()
    scipy.sparse.csgraph.shortest_path(
        matrix, method="D", directed=True, unweighted=True, indices=numpy.arange(count)
    )
    seconds = (time.perf_counter() - start) * nodes / count
    return {
        "name": f"{name}, all hops: SciPy",
        "seconds": seconds,
        "ratio": seconds / our_seconds,
        "limit_fraction": 0.0,
        "note": "" if count == nodes else f"scaled up from {count} sources",
    }


def add_scipy(build, data, names, rows):
    """SciPy's rows, each behind the other rows of its graph's hops of all pairs."""
    for name, graph, count in GRAPHS:
        if name not in names or count is None:
            continue
        ours = next(row for row in rows if row["name"] == f"{name}, all hops: ngf")
        row = scipy_row(build, data, name, graph, count, ours["seconds"])
        last = max(i for i, other in enumerate(rows) if other["name"].startswith(f"{name}, all hops"))
        rows.insert(last + 1, row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    bench_support.add_arguments(parser)
    arguments = parser.parse_args()
    data = bench_support.data_folder(arguments)
    paths = {name: None if ":" in graph else data / graph for name, graph, _ in GRAPHS}
    names = bench_support.names_there("shells_bench", arguments, paths)
    result = bench_support.run_ngf("shells_bench", arguments, names)
    add_scipy(arguments.build, data, names, result["rows"])
    bandwidth = result["write_bandwidth"] / 1e9
    bench_support.print_result(arguments, result, f"writing the answer at {bandwidth:.1f} GB/s, measured in this run")


if __name__ == "__main__":
    main()
