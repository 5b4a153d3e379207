"""Several processes through mpi4py: each process compares what all of them find with what it finds alone."""

import shutil
import subprocess
import sys
import os

import pytest

pytest.importorskip("mpi4py")
if shutil.which("mpirun") is None:
    pytest.skip("no mpirun here", allow_module_level=True)

ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMP_NUM_THREADS": "1",
}

HEAD = """
import numpy as np
import ngf, ngf.mpi
from numpy.testing import assert_allclose, assert_array_equal
graphs = [ngf.as_graph("ba:nodes=120,m=2,seed=4"), ngf.as_graph("er:nodes=90,p=0.02,seed=2", directed=True),
          ngf.as_graph("builtin:karate"), ngf.as_graph(np.array([[0, 1], [1, 0]]))]
random = np.random.default_rng(1)
"""


def run_together(ranks, body):
    command = ["mpirun", "-n", str(ranks), sys.executable, "-m", "mpi4py", "-c", HEAD + body]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("body", [
    """
for graph in graphs:
    partition = ngf.mpi.Partition(graph, hops=3)
    assert_array_equal(ngf.shell_sizes(partition), ngf.shell_sizes(graph))
    assert_array_equal(ngf.hop_distances(partition), ngf.hop_distances(graph)[partition.nodes])
    assert sum(partition.comm.allgather(len(partition.nodes))) == graph.nodes
""",
    """
for graph in graphs:
    partition = ngf.mpi.Partition(graph, hops=2)
    x = random.normal(size=(graph.nodes, 3))
    g = random.normal(size=(graph.nodes, 3))
    groups = np.arange(graph.nodes) % 2
    for make in (lambda A: ngf.NeighborhoodFilter(A, [1, 0.5, 0.25], "symmetric"),
                 lambda A: ngf.NeighborhoodFilter(A, [1, 0.5, 0.25], "lmax", storage="dense"),
                 lambda A: ngf.NeighborhoodFilter(A, [[1, 0.5, 0.25], [2, 1, 0]], groups=groups),
                 lambda A: ngf.PolynomialFilter(A, [1, 0.5, 0.25], "adjacency-lmax")):
        alone, together = make(graph), make(partition)
        assert_allclose(partition.gather(together @ partition.own(x)), alone @ x, atol=1e-9)
        assert_allclose(partition.gather(together.T @ partition.own(x)), alone.T @ x, atol=1e-9)
        by_x, by_taps = together.gradients(partition.own(x), partition.own(g))
        expected_x, expected_taps = alone.gradients(x, g)
        assert_allclose(partition.gather(by_x), expected_x, atol=1e-9)
        assert_allclose(by_taps, expected_taps, atol=1e-8)
    y = ngf.NeighborhoodFilter(graph, [1, 0.5]) @ x
    assert_allclose(ngf.fit_taps(partition, partition.own(x), partition.own(y), taps=2).taps, [1, 0.5], atol=1e-8)
""",
    """
data = ngf.generate.citation_network(200)
train, validation, test = data.split
settings = dict(epochs=5, hidden=8, features=data.features)
fit = dict(validation=validation, validation_labels=data.labels[validation])
for model in ("ngcnn", "gcn", "mlp"):
    alone = ngf.NodeClassifier(data.graph, model=model, **settings).fit(train, data.labels[train], **fit)
    partition = ngf.mpi.Partition(data.graph, hops=2)
    together = ngf.NodeClassifier(partition, model=model, **settings).fit(train, data.labels[train], **fit)
    assert_allclose(together.history_[:, 0], alone.history_[:, 0], rtol=1e-4)
    assert_allclose(together.predict_proba(test), alone.predict_proba(test), atol=1e-3)
""",
], ids=["shells", "filters", "training"])
def test_same_answers(ranks, body):
    outcome = run_together(ranks, body)
    assert outcome.returncode == 0, outcome.stderr


def test_an_error_ends_all():
    outcome = run_together(2, """
partition = ngf.mpi.Partition(graphs[0])
H = ngf.NeighborhoodFilter(partition, [1, 1])
H.apply(partition.own(np.ones(120)) if partition.comm.rank == 0 else np.ones(3))
""")
    assert outcome.returncode != 0
    assert "X has 3 rows; this process has" in outcome.stderr


def test_rows_that_are_not_a_process_s_own():
    outcome = run_together(1, """
partition = ngf.mpi.Partition(graphs[0])
try:
    partition.gather(np.ones(7))
except ValueError as error:
    print(error)
""")
    assert outcome.stdout.strip() == "7 rows; this process has 120 nodes"


def test_the_first_process_keeps_the_journal(tmp_path):
    outcome = run_together(2, f"""
import pathlib
data = ngf.generate.citation_network(200)
train, validation, _ = data.split
deal = ngf.mpi.Partition(data.graph, hops=2)

def fit(journal):
    return ngf.NodeClassifier(deal, data.features, epochs=5, hidden=8, runs=3, journal=journal).fit(
        train, data.labels[train], validation=validation, validation_labels=data.labels[validation])

path = pathlib.Path({str(tmp_path / "fit.journal")!r})
assert_array_equal(fit(path).history_, fit(None).history_)
deal.comm.barrier()
assert not path.exists()
path = pathlib.Path({str(tmp_path / "thesis.txt")!r})
if deal.comm.rank == 0:
    path.write_text("1")
deal.comm.barrier()
try:
    fit(path)
except ngf.Error as error:
    assert "is no journal" in str(error)
    print("refused")
""")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.count("refused") == 2
