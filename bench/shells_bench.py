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
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import scipy.sparse
import scipy.sparse.csgraph

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


def run_ngf(build, data, names):
    program = build / "bench" / "shells_bench"
    if not os.access(program, os.X_OK):
        sys.exit(f"shells_bench: {program} is not there; build it, or name the folder with --build")
    output = subprocess.run([program, data, *names], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(output.stdout)


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


def print_table(result):
    print(f"{'':44} {'ms':>12} {'of ngf':>9} {'of limit':>9}")
    for row in result["rows"]:
        limit = f"{row['limit_fraction']:9.1%}" if row["limit_fraction"] > 0 else " " * 9
        print(
            f"{row['name']:44} {row['seconds'] * 1e3:12.3f} {row['ratio']:8.2f}x {limit}  {row['note']}"
        )
    print(f"limit: writing the answer at {result['write_bandwidth'] / 1e9:.1f} GB/s, measured in this run")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="graphs; all where none is named")
    parser.add_argument("--build", type=pathlib.Path, default="build", help="folder that ngf was built in")
    parser.add_argument("--data", type=pathlib.Path, help="folder of data sets; $NGF_DATA, ../shared/data")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    arguments = parser.parse_args()
    data = arguments.data or pathlib.Path(os.environ.get("NGF_DATA", "../shared/data"))
    names = []
    for name, graph, _ in GRAPHS:
        if arguments.names and name not in arguments.names:
            continue
        if ":" in graph or path_of(data, graph).exists():
            names.append(name)
        else:
            print(f"shells_bench: {name} is left out: no {path_of(data, graph)}", file=sys.stderr)
    result = run_ngf(arguments.build, data, names)
    add_scipy(arguments.build, data, names, result["rows"])
    if arguments.json:
        print(json.dumps(result))
    else:
        print_table(result)


if __name__ == "__main__":
    main()
