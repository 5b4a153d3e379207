#!/usr/bin/python3
"""Epochs of the paper's networks: ngf against PyTorch, on the citation networks.

    train_bench.py [--build DIR] [--data DIR] [--json] [NAME ...]

Results are checked first: runs of a batch against the same alone (train_bench), and PyTorch's orders of
products against each other (train_peer.py check; that they train alike is what the tests compare).
"""

import argparse
import json
import pathlib
import subprocess
import sys

import bench_support

NAMES = ("Cora", "Citeseer", "Pubmed")


def peer(arguments, *words):
    """What train_peer.py prints."""
    script = pathlib.Path(__file__).with_name("train_peer.py")
    command = [sys.executable, "-B", script, *words, "--data", bench_support.data_folder(arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def add_peers(rows, of_peers):
    """PyTorch's rows, each behind ours of the same task."""
    for row in of_peers:
        task = row["name"].partition(":")[0]
        places = [i for i, other in enumerate(rows) if other["name"].startswith(task + ":")]
        if not places:
            continue
        ratio = row["seconds"] / rows[places[0]]["seconds"]
        rows.insert(places[-1] + 1, {**row, "ratio": ratio, "limit_fraction": 0, "note": ""})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    bench_support.add_arguments(parser)
    arguments = parser.parse_args()
    folder = bench_support.data_folder(arguments) / "planetoid"
    paths = {name: folder / f"ind.{name.lower()}.graph" for name in NAMES}
    names = bench_support.names_there("train_bench", arguments, paths)
    if not names:
        return
    result = bench_support.run_ngf("train_bench", arguments, names)
    for name in names:
        # Matrices of all pairs, which the authors' order takes, do not fit for the largest.
        if name == "Pubmed":
            continue
        peer(arguments, "check", "--dataset", name.lower(), "--taps", "3")
        add_peers(result["rows"], json.loads(peer(arguments, "speed", "--dataset", name.lower())))
    bench_support.print_result(arguments, result, f"{result['multiplication_rate'] / 1e9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
