#!/usr/bin/env python3
"""Networks on graphs with randomly added edges: pair weights, and the same knowledge of features given to others.

    pair_study.py [--build DIR] [--out FILE.json] [DATASET ...]

Each network is trained with the recipe "strong" on 5 perturbed graphs per level, 4 runs each (seeds 1 to 4); at 0 % on
the one graph. The baselines get cleaned or weighted edges, so that all see the features of both ends of an edge:

    Jaccard   edges whose ends have no feature in common are removed (GCN-Jaccard: Wu et al., IJCAI 2019)
    cosine    edges are weighted by the cosine of TF-IDF features, divided by the mean, so that the self-loops of GCN
              count as much as an average edge

Prints the means, and with --out writes the rows of docs/results/pair-weights.json.
"""

import argparse
import json
import pathlib
import statistics
import sys
import warnings

import numpy as np
import scipy.sparse as sp

LEVELS = (0, 25, 50, 100)
GRAPHS, RUNS = 5, 4
NETWORKS = {
    "ngcnn, pair weights": ("graph", {"model": "ngcnn", "pair_weights": "features"}),
    "..., power 0.5": ("graph", {"model": "ngcnn", "pair_weights": "features", "pair_power": 0.5}),
    "..., power 2": ("graph", {"model": "ngcnn", "pair_weights": "features", "pair_power": 2.0}),
    "ngcnn": ("graph", {"model": "ngcnn"}),
    "ngcnn, `--min-paths 2`": ("graph", {"model": "ngcnn", "min_paths": 2}),
    "gcn": ("graph", {"model": "gcn"}),
    "gcnn": ("graph", {"model": "gcnn"}),
    "gcn, Jaccard": ("jaccard", {"model": "gcn"}),
    "gcnn, Jaccard": ("jaccard", {"model": "gcnn"}),
    "gcn, cosine": ("cosine", {"model": "gcn"}),
    "gcnn, cosine": ("cosine", {"model": "gcnn"}),
    "mlp": ("graph", {"model": "mlp"}),
}


def divided(rows, by):
    return sp.diags(1 / np.maximum(np.asarray(by).ravel(), 1e-12)) @ rows


def unit_rows(features):
    """Rows of TF-IDF features, of length 1."""
    found = np.maximum(np.asarray((features != 0).sum(axis=0)).ravel(), 1)
    rows = divided(features, abs(features).sum(axis=1)) @ sp.diags(np.log(features.shape[0] / found))
    return sp.csr_matrix(divided(rows, np.sqrt(rows.multiply(rows).sum(axis=1))))


def cleaned(ngf, graph, features):
    """The graph without edges whose ends share no feature, and with edges weighted by the cosine."""
    edges = sp.coo_matrix(ngf.shells(graph, 1)[1])
    has = sp.csr_matrix((features != 0).astype(float))
    shared = np.asarray(has[edges.row].multiply(has[edges.col]).sum(axis=1)).ravel() > 0
    rows = unit_rows(features)
    cosine = np.asarray(rows[edges.row].multiply(rows[edges.col]).sum(axis=1)).ravel()
    weights = np.maximum(cosine / cosine.mean(), 1e-6)
    jaccard = sp.csr_matrix((np.ones(shared.sum()), (edges.row[shared], edges.col[shared])), shape=edges.shape)
    weighted = sp.csr_matrix((weights, (edges.row, edges.col)), shape=edges.shape)
    return {"graph": graph, "jaccard": ngf.as_graph(jaccard), "cosine": ngf.as_graph(weighted)}


def accuracies(ngf, data, graph, arguments):
    train, validation, test = data.split
    for seed in range(1, RUNS + 1):
        model = ngf.NodeClassifier(graph, data.features, random_state=seed, **arguments)
        model.fit(train, data.labels[train], validation=validation, validation_labels=data.labels[validation])
        yield round(float((model.predict(test) == data.labels[test]).mean()), 4)


def row_of(ngf, data, level):
    scores = {name: [] for name in NETWORKS}
    for seed in range(1, GRAPHS + 1 if level > 0 else 2):
        graphs = cleaned(ngf, ngf.perturb(data.graph, create=level, seed=seed), sp.csr_matrix(data.features))
        for name, (edges, arguments) in NETWORKS.items():
            scores[name] += accuracies(ngf, data, graphs[edges], arguments)
    return list(scores.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("datasets", nargs="*", default=["cora", "citeseer"])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--out", type=pathlib.Path, help="write the rows as JSON")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.build / "python"))
    import ngf
    warnings.filterwarnings("ignore", "some nodes|.* have an embedding of zeros")
    rows = []
    for name in arguments.datasets:
        data = ngf.load_dataset(f"planetoid:{name}")
        for level in LEVELS:
            scores = row_of(ngf, data, level)
            rows.append({"labels": [f"{name} {level} %"], "scores": scores})
            means = (f"{network} {statistics.mean(own):.1%}" for network, own in zip(NETWORKS, scores))
            print(f"{name} {level} %:", "; ".join(means), flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps({"columns": ["added edges", *NETWORKS], "rows": rows}))


if __name__ == "__main__":
    main()
