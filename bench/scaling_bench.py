#!/usr/bin/python3
"""How time, memory and pairs grow with the graph and with the processes: the tables of docs/scaling.md.

    scaling_bench.py BUILD OUT.csv shells|filter [SCALE ...]
    scaling_bench.py table OUT.csv

`shells` counts pairs up to 4 hops of R-MAT graphs of 2^SCALE nodes; `filter` applies a filter of 5 taps to 64 signals on Pubmed.
Each process has one thread. Rows are added to OUT.csv.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

COLUMNS = ("task", "ranks", "seconds", "wall", "pairs", "largest_share", "peak_bytes")
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
RANKS = (1, 2, 4)


def run(build, ranks, *arguments):
    """What the program says, with the seconds that all of it took."""
    # One process alone is no job of MPI's, and so says nothing of ranks.
    command = [str(build / "ngf"), *arguments, "--threads", "1", "--json", "--quiet"]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    command = ["/usr/bin/time", "-f", "%e %M", *command]
    done = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    wall, peak = done.stderr.split()[-2:]
    return json.loads(done.stdout), float(wall), int(peak) * 1024


def measure(build, task, ranks, *arguments):
    found, wall, peak = run(build, ranks, *arguments)
    shares = [rank["pairs"] for rank in found.get("ranks", [])]
    pairs = sum(found["pairs"]) if "pairs" in found else sum(shares)
    known = sum(shares) > 0  # nothing is held, nor counted, where filters stream
    return {
        "task": task,
        "ranks": ranks,
        "seconds": f"{found['seconds']:.3f}",
        "wall": f"{wall:.2f}",
        "pairs": pairs,
        "largest_share": f"{max(shares) / sum(shares):.3f}" if known else "",
        "peak_bytes": max((rank["peak_bytes"] for rank in found.get("ranks", [])), default=peak),
    }


def measure_shells(build, scale, ranks):
    graph = f"rmat:scale={scale},edge_factor=16"
    return measure(build, f"shells {graph} --hops 4", ranks, "shells", graph, "--hops", "4")


def measure_filter(build, storage, ranks):
    with tempfile.TemporaryDirectory() as folder:
        signal = pathlib.Path(folder) / "x.npy"
        np.save(signal, np.random.default_rng(1).normal(size=(19717, 64)))
        return measure(build, f"filter planetoid:pubmed, 5 taps, 64 signals, {storage}", ranks, "filter",
                       "planetoid:pubmed", "--signal", str(signal), "--taps", "1,.5,.2,.1,.1", "--storage", storage,
                       "-o", str(pathlib.Path(folder) / "y.npy"))


def print_table(rows):
    print("| task | ranks | seconds | speed-up | largest share of pairs | memory of a rank |")
    print("|---|---|---|---|---|---|")
    alone = {row["task"]: float(row["seconds"]) for row in rows if row["ranks"] == "1"}
    for row in rows:
        gain = alone[row["task"]] / float(row["seconds"])
        share = f"{100 * float(row['largest_share']):.0f} %" if row["largest_share"] else ""
        print(f"| {row['task']} | {row['ranks']} | {float(row['seconds']):.3g} | {gain:.2f} | {share} | "
              f"{int(row['peak_bytes']) / 1e6:.0f} MB |")


def main(arguments):
    if arguments[:1] == ["table"] and len(arguments) == 2:
        with open(arguments[1], newline="") as log:
            return print_table(list(csv.DictReader(log)))
    if len(arguments) < 3 or arguments[2] not in ("shells", "filter"):
        sys.exit(__doc__)
    build, path = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1])
    cases = [int(scale) for scale in arguments[3:] or range(12, 19, 2)]
    measured = measure_shells
    if arguments[2] == "filter":
        cases, measured = ["sparse", "dense", "stream"], measure_filter
    with path.open("a", newline="") as log:
        writer = csv.DictWriter(log, COLUMNS, lineterminator="\n")
        if log.tell() == 0:
            writer.writeheader()
        for case in cases:
            for ranks in RANKS:
                row = measured(build, case, ranks)
                writer.writerow(row)
                log.flush()
                print(*row.values(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
