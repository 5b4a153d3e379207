#!/usr/bin/python3
"""The accuracy tables of docs/training.md: graphs with created edges, and the heterophilous sets.

    train_tables.py BUILD OUT.csv created|heterophilous [DATASET ...]
    train_tables.py results OUT.csv

A row of OUT.csv is one job of `ngf train`; jobs that it has are not run again. `results` writes the
scores to docs/results/spurious-edges.json and heterophily.json, from which scripts/doc-tables makes
the tables.
"""

import collections
import csv
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

import bench_support

COLUMNS = ("table", "dataset", "case", "model", "metric", "scores")
MODELS = {
    "ngcnn": ["--model", "ngcnn"],
    "ngcnn, 2 paths": ["--model", "ngcnn", "--min-paths", "2"],
    "gcnn": ["--model", "gcnn"],
    "gcn": ["--model", "gcn"],
    "sgc": ["--model", "sgc"],
    "mlp": ["--model", "mlp"],
}
CREATED = {
    "datasets": ("cora", "citeseer", "pubmed"),
    "models": ("ngcnn", "ngcnn, 2 paths", "gcnn", "gcn"),
    "percents": (0, 25, 50),
    "graphs": 5,
    "runs": 4,
}
# A perturbed graph is a file, for which the recipe does not know its data set.
OF_DATASET = {"pubmed": ["--hops", "3", "--dropout", "0.6", "--weight-decay", "5e-4"]}
HETEROPHILOUS = {
    "datasets": (
        "actor", "chameleon", "chameleon_filtered", "cornell", "minesweeper", "squirrel", "squirrel_filtered",
        "texas", "tolokers", "wisconsin",
    ),
    "models": ("ngcnn", "gcnn", "gcn", "sgc", "mlp"),
    "splits": 10,
}


FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs/results"
SPREAD = "mean ± sample standard deviation"
RESULTS = {
    "created": {"file": "spurious-edges", "sample": f"5 perturbed graphs with 4 runs each; 0 %: 4 runs; {SPREAD}"},
    "heterophilous": {"file": "heterophily", "sample": f"10 splits, one run each; {SPREAD}"},
}
METRICS = {"auc": "ROC AUC"}


def ngf(build, *arguments):
    command = [str(build / "ngf"), *map(str, arguments), "--threads", "1"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def train(build, dataset, model, *arguments):
    """The metric, and the test score of each run."""
    found = json.loads(ngf(build, "train", dataset, *MODELS[model], *arguments, "--json", "--quiet"))
    metric = found["metric"]
    return metric, [run["test_" + metric] for run in found["runs"]]


class Log:
    """Rows of finished jobs."""

    def __init__(self, path):
        self.path = path
        self.rows = list(csv.DictReader(path.open())) if path.exists() else []

    def has(self, *key):
        return any(tuple(row[name] for name in COLUMNS[:4]) == key for row in self.rows)

    def add(self, key, metric, scores):
        row = dict(zip(COLUMNS, (*key, metric, " ".join(f"{score:.4f}" for score in scores))))
        with self.path.open("a", newline="") as log:
            writer = csv.DictWriter(log, COLUMNS, lineterminator="\n")
            if log.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append(row)
        print(*key, f"{statistics.mean(scores):.4f}", flush=True)


def train_on_perturbed(build, log, dataset, percent, seed):
    keys = {model: ("created", dataset, f"{percent} % graph {seed}", model) for model in CREATED["models"]}
    missing = [model for model, key in keys.items() if not log.has(*key)]
    if not missing:
        return
    flags = ["--runs", CREATED["runs"], *OF_DATASET.get(dataset, [])]
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder) / "graph.npz"
        ngf(build, "perturb", f"planetoid:{dataset}", "--create", percent, "--seed", seed, "-o", graph)
        for model in missing:
            log.add(keys[model], *train(build, graph, model, *flags))


def run_created(build, log, datasets):
    for dataset in datasets or CREATED["datasets"]:
        for seed in range(1, CREATED["graphs"] + 1):
            # There is one graph without created edges.
            for percent in CREATED["percents"] if seed == 1 else CREATED["percents"][1:]:
                train_on_perturbed(build, log, dataset, percent, seed)


def run_heterophilous(build, log, datasets):
    folder = bench_support.default_data_folder() / "heterophilous"
    for dataset in datasets or HETEROPHILOUS["datasets"]:
        for model in HETEROPHILOUS["models"]:
            for split in range(HETEROPHILOUS["splits"]):
                key = ("heterophilous", dataset, f"split {split}", model)
                if not log.has(*key):
                    log.add(key, *train(build, folder / f"{dataset}.npz", model, "--split", split))


def scores_by_line(log, name):
    """The scores of each model, by the label of the line of the table that they belong to."""
    lines = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in log.rows:
        if row["table"] != name:
            continue
        case = row["case"].split(" graph")[0].split("split")[0]
        metric = "" if row["metric"] == "accuracy" else f"({METRICS.get(row['metric'], row['metric'])})"
        label = " ".join(part for part in (row["dataset"], case, metric) if part)
        lines[label][row["model"]] += [float(score) for score in row["scores"].split()]
    return lines


def write_results(log):
    for name, result in RESULTS.items():
        lines = scores_by_line(log, name)
        if not lines:
            continue
        path = FOLDER / f"{result['file']}.json"
        models = (CREATED if name == "created" else HETEROPHILOUS)["models"]
        rows = [{"labels": [label], "scores": [scores[model] for model in models]} for label, scores in lines.items()]
        kept = json.loads(path.read_text(encoding="utf-8"))
        stated = {**kept, "machine": platform.processor() or platform.machine(), "sample": result["sample"], "source": "measured"}
        del stated["rows"]
        head = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in stated.items()]
        body = ",\n".join(f"    {json.dumps(row)}" for row in rows)
        path.write_text("{\n" + ",\n".join([*head, f'  "rows": [\n{body}\n  ]']) + "\n}\n", encoding="utf-8")


def main(arguments):
    if arguments[:1] == ["results"] and len(arguments) == 2:
        return write_results(Log(pathlib.Path(arguments[1])))
    if len(arguments) < 3 or arguments[2] not in ("created", "heterophilous"):
        sys.exit(__doc__)
    run = run_created if arguments[2] == "created" else run_heterophilous
    return run(pathlib.Path(arguments[0]), Log(pathlib.Path(arguments[1])), arguments[3:])


if __name__ == "__main__":
    main(sys.argv[1:])
