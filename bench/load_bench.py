#!/usr/bin/python3
"""How fast a large graph is read: ngf against NumPy's loadtxt and SciPy's mmread.

An edge list of 10 million random pairs, and the same graph as Matrix Market, are written to a
folder that is removed afterwards. First ngf's counts are checked against NumPy's; then each reader
is timed, best of a few runs, from a warm page cache. NumPy and SciPy merely read the numbers; ngf
makes them a Graph: sorted, symmetric, without duplicates.

What to expect: about two minutes; at least 4x loadtxt, at least 10x mmread, and a peak memory of at
most 3x the finished graph.
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
import scipy.io


def write_lines(path, head, pairs):
    """Writes pairs as lines "u v" below `head`."""
    with open(path, "w") as file:
        file.write(head)
        for chunk in numpy.array_split(pairs, max(1, len(pairs) // 500_000)):
            file.write("\n".join(map("%d %d".__mod__, map(tuple, chunk.tolist()))))
            file.write("\n")


def expected_counts(pairs, nodes):
    """What a graph of these pairs must count, by NumPy."""
    distinct = pairs[pairs[:, 0] != pairs[:, 1]]
    low, high = distinct.min(axis=1), distinct.max(axis=1)
    edges = len(numpy.unique(low * nodes + high))
    return {
        "nodes": nodes,
        "edges": edges,
        "self_loops": len(pairs) - len(distinct),
        "duplicates": len(distinct) - edges,
    }


def best(runs, body):
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        body()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def read_sequentially(path):
    buffer = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def load(program, path):
    output = subprocess.run([program, path], check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def measure(program, path, expected, runs, others):
    """One row for ngf and one for each of the others, which are (name, body)."""
    first = load(program, path)
    found = {key: first[key] for key in expected}
    if found != expected:
        sys.exit(f"load_bench: {path.name}: ngf counts {found}, NumPy {expected}")
    loads = [load(program, path) for _ in range(runs)]
    seconds = min(run["seconds"] for run in loads)
    megabytes = path.stat().st_size / 1e6
    limit = megabytes / best(runs, lambda: read_sequentially(path))
    rows = [
        {
            "name": f"ngf, {path.name}",
            "seconds": seconds,
            "ratio": 1.0,
            "megabytes_a_second": megabytes / seconds,
            "limit_fraction": megabytes / seconds / limit,
            "peak_over_graph": max(run["peak_rss_bytes"] / run["graph_bytes"] for run in loads),
        }
    ]
    for name, body in others:
        theirs = best(max(1, runs // 2), body)
        rows.append(
            {
                "name": name,
                "seconds": theirs,
                "ratio": theirs / seconds,
                "megabytes_a_second": megabytes / theirs,
                "limit_fraction": megabytes / theirs / limit,
            }
        )
    return rows


def print_table(rows):
    print(f"{'reader':34} {'seconds':>8} {'ngf is':>8} {'MB/s':>7} {'of limit':>9} {'peak/graph':>11}")
    for row in rows:
        peak = f"{row['peak_over_graph']:.2f}" if "peak_over_graph" in row else ""
        print(
            f"{row['name']:34} {row['seconds']:8.3f} {row['ratio']:7.1f}x "
            f"{row['megabytes_a_second']:7.0f} {row['limit_fraction']:9.1%} {peak:>11}"
        )
    print("limit: reading the file from the page cache, one thread")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", help="folder that ngf was built in")
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    arguments = parser.parse_args()

    program = pathlib.Path(arguments.build) / "bench" / "load_bench"
    if not os.access(program, os.X_OK):
        sys.exit(f"load_bench: {program} is not there; build it, or name the folder with --build")
    random = numpy.random.default_rng(1)
    pairs = random.integers(0, arguments.nodes, size=(arguments.edges, 2), dtype=numpy.int64)
    # The last node occurs, so that the ids say how many nodes there are.
    pairs[0] = (0, arguments.nodes - 1)
    expected = expected_counts(pairs, arguments.nodes)

    with tempfile.TemporaryDirectory(prefix="ngf-load-bench-") as folder:
        edge_list = pathlib.Path(folder) / "edges.txt"
        write_lines(edge_list, "", pairs)
        matrix = pathlib.Path(folder) / "matrix.mtx"
        head = "%%MatrixMarket matrix coordinate pattern symmetric\n{0} {0} {1}\n"
        lower = numpy.stack([pairs.max(axis=1), pairs.min(axis=1)], axis=1) + 1
        write_lines(matrix, head.format(arguments.nodes, arguments.edges), lower)
        del pairs, lower
        rows = measure(
            program, edge_list, expected, arguments.runs,
            [
                ("numpy.loadtxt(dtype=int64)", lambda: numpy.loadtxt(edge_list, dtype=numpy.int64)),
                ("numpy.loadtxt", lambda: numpy.loadtxt(edge_list)),
            ],
        )
        rows += measure(
            program, matrix, expected, arguments.runs,
            [("scipy.io.mmread", lambda: scipy.io.mmread(matrix))],
        )
    if arguments.json:
        print(json.dumps({"rows": rows}))
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
