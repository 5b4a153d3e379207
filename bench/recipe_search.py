#!/usr/bin/python3
"""The search behind `ngf train --recipe strong`: mean validation accuracy over a grid of settings.

    recipe_search.py BUILD OUT.csv DATASET [DATASET ...]

Test nodes are not looked at: the log holds validation accuracies alone. Cells that OUT.csv has are
not run again.
"""

import csv
import itertools
import json
import pathlib
import subprocess
import sys

HOPS = (2, 3)
DROPOUT = (0.5, 0.6, 0.7, 0.8)
WEIGHT_DECAY = ("5e-4", "1e-3", "2e-3")
RUNS = 5
# Other seeds than those that results are reported with.
FIRST_SEED = 1001
COLUMNS = ("dataset", "hops", "dropout", "weight_decay", "validation_mean", "validation_std", "runs")


def validation_scores(build, dataset, hops, dropout, weight_decay):
    """The best validation accuracy of each run."""
    command = [build / "ngf", "train", dataset, "--json", "--quiet", "--runs", RUNS, "--seed", FIRST_SEED]
    command += ["--hops", hops, "--dropout", dropout, "--weight-decay", weight_decay]
    output = subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE).stdout
    return [run["val_accuracy"] for run in json.loads(output)["runs"]]


def mean_and_spread(scores):
    mean = sum(scores) / len(scores)
    return mean, (sum((s - mean) ** 2 for s in scores) / (len(scores) - 1)) ** 0.5


def main(build, out, datasets):
    build, out = pathlib.Path(build), pathlib.Path(out)
    done = set()
    if out.exists():
        with out.open() as log:
            done = {tuple(row[name] for name in COLUMNS[:4]) for row in csv.DictReader(log)}
    else:
        out.write_text(",".join(COLUMNS) + "\n")
    for cell in itertools.product(datasets, HOPS, DROPOUT, WEIGHT_DECAY):
        if tuple(str(part) for part in cell) in done:
            continue
        mean, spread = mean_and_spread(validation_scores(build, *cell))
        with out.open("a") as log:
            log.write(",".join(map(str, cell)) + f",{mean:.4f},{spread:.4f},{RUNS}\n")
        print(*cell, f"{mean:.4f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
