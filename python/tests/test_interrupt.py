"""Ctrl-C ends long work, and other threads go on while the engine works."""

import os
import signal
import subprocess
import threading
import time

import pytest
from conftest import python, python_environment, run_python, run_python_file

import ngf

# Generous, for a busy machine: work that cannot be ended takes longer still.
PATIENCE = 30
BEGIN = """
import os, signal, threading, time
import numpy as np, ngf
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
# One product of each would take hours.
POLYNOMIAL = """
graph = ngf.generate.rmat(13)
H = ngf.PolynomialFilter(graph, np.ones(10**6), "gcn")
X = np.ones((graph.nodes, 64), np.float32)
print("go", flush=True)
"""
GROUPS = POLYNOMIAL.replace("np.ones(10**6), ", "np.ones((2, 10**6)), ").replace(
    '"gcn"', '"gcn", groups=np.arange(graph.nodes) % 2')
LONG = {
    "hops": "graph = ngf.generate.rmat(14)\nprint('go', flush=True)\nwhile True: ngf.hop_distances(graph)",
    "sizes": "graph = ngf.generate.rmat(15)\nprint('go', flush=True)\nwhile True: ngf.shell_sizes(graph)",
    "shells": "graph = ngf.generate.rmat(13)\nprint('go', flush=True)\nwhile True: ngf.shells(graph, 3)",
    "filter": """
H = ngf.NeighborhoodFilter(ngf.generate.rmat(14), [1, 1, 1, 1], storage="stream")
print("go", flush=True)
while True: H @ np.ones((H.shape[0], 64), np.float32)""",
    "features": """
graph = ngf.generate.rmat(16)
print("go", flush=True)
while True: ngf.shell_features(graph, np.ones((graph.nodes, 64), np.float32), 3)""",
    "polynomial filter": POLYNOMIAL + "H @ X",
    "polynomial filter, transposed": POLYNOMIAL + "H.T @ X",
    "polynomial filter, gradients": POLYNOMIAL + "H.gradients(X, X)",
    "polynomial filter with groups": GROUPS + "H @ X",
    "polynomial filter with groups, gradients": GROUPS + "H.gradients(X, X)",
    "training": """
data = ngf.generate.citation_network()
print("go", flush=True)
ngf.NodeClassifier(data, epochs=10**6).fit(data.split.train, data.labels[data.split.train])""",
    "denoising": """
print("go", flush=True)
denoiser = ngf.Denoiser(ngf.generate.grid(30, 30), stop="epochs", epochs=10**7)
denoiser.fit_transform(np.random.default_rng(1).normal(size=(4, 900)))""",
    "figures": """
import tempfile
print("go", flush=True)
ngf.reproduce("fig2b", full=True, out=tempfile.mkdtemp())""",
}


@pytest.mark.parametrize("work", LONG)
def test_ctrl_c(work):
    child = subprocess.Popen(python(BEGIN + LONG[work]), env=python_environment(), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "go\n"
        time.sleep(1)
        assert child.poll() is None, child.stderr.read()
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == -signal.SIGINT and told.rstrip().endswith("KeyboardInterrupt")


# A signal comes in the middle of work that would not end by itself.
SOON = BEGIN + """
def soon():
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

def work():
    graph = ngf.generate.rmat(14)
    while True:
        ngf.shell_sizes(graph, threads=1)
"""


def test_work_goes_on_after_ctrl_c():
    run_python(SOON + """
for _ in range(2):
    soon()
    try:
        work()
    except KeyboardInterrupt:
        pass
    assert ngf.shell_sizes("builtin:karate").tolist() == [34, 156, 530, 274, 146, 16]
""")


def test_what_a_handler_raises_goes_up():
    run_python(SOON + """
def handler(*_):
    raise TimeoutError("enough")

signal.signal(signal.SIGINT, handler)
soon()
try:
    work()
except TimeoutError as error:
    assert str(error) == "enough"
""")


def test_a_handler_that_raises_nothing_does_not_end_the_work():
    run_python(SOON + """
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
soon()
graph = ngf.generate.rmat(12)
expected = ngf.shell_sizes(graph).tolist()
while not seen:
    assert ngf.shell_sizes(graph, threads=1).tolist() == expected
assert ngf.shell_sizes(graph).tolist() == expected
""")


def test_ctrl_c_does_not_concern_later_work():
    """While other threads still do work that does not listen: products with shells in memory."""
    run_python(SOON + """
H = ngf.NeighborhoodFilter(ngf.generate.rmat(13), [1, 1, 1], threads=1)
assert H.storage != "stream"
X = np.ones((H.shape[0], 32), np.float32)
done = threading.Event()

def other():
    while not done.is_set():
        H @ X

others = [threading.Thread(target=other) for _ in range(5)]
for thread in others:
    thread.start()
soon()
try:
    work()
except KeyboardInterrupt:
    pass
try:
    for _ in range(20):
        assert ngf.shell_sizes("builtin:karate").tolist() == [34, 156, 530, 274, 146, 16]
finally:
    done.set()
    for thread in others:
        thread.join()
""")


@pytest.mark.parametrize("work", [
    lambda: ngf.shell_sizes("rmat:scale=15", threads=1),
    lambda: ngf.NodeClassifier(ngf.generate.citation_network(1000), epochs=400, threads=1).fit(
        range(100), [0, 1] * 50),
], ids=["sizes", "training"])
def test_other_threads_go_on(work):
    """A thread wakes again and again while another is in the engine; held back, it would wake once or twice."""
    begun = threading.Event()
    woken = []

    def engine():
        begun.set()
        work()

    thread = threading.Thread(target=engine)
    thread.start()
    begun.wait()
    while thread.is_alive():
        time.sleep(0.005)
        woken.append(1)
    assert len(woken) > 5


def test_threads_side_by_side():
    """Filters of one graph, from several threads at once."""
    graph = ngf.generate.rmat(10)
    expected = ngf.hop_distances(graph, 3).sum()
    found = []
    threads = [threading.Thread(target=lambda: found.append(ngf.hop_distances(graph, 3).sum())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


# An alarm ends a process that hangs; a child does not inherit it.
FORKED = """
import multiprocessing, os, signal
import numpy as np, ngf
signal.alarm(120)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_of_a_process_with_threads():
    run_python(FORKED + """
graph = ngf.generate.rmat(10)
expected = ngf.shell_sizes(graph, threads=4).tolist()
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if ngf.shell_sizes(graph, threads=4).tolist() == expected else 1)
assert os.waitpid(child, 0)[1] == 0
assert ngf.shell_sizes(graph, threads=4).tolist() == expected
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("threads", [None, 4])
def test_a_pool_of_forked_processes(threads):
    """The parent's threads are at rest when it forks; children start their own."""
    run_python(FORKED + """
graph = ngf.generate.rmat(11)
X = np.random.default_rng(1).normal(size=(graph.nodes, 32))
filters = [ngf.NeighborhoodFilter(graph, [1, 0.5, 0.25], storage=storage, threads=threads)
           for storage in ["sparse", "dense", "stream"]]
filters.append(ngf.PolynomialFilter(graph, [1, 0.5, 0.25], threads=threads))
expected = [H.apply(X) for H in filters]

def apply(task):
    return filters[task % len(filters)].apply(X)

with multiprocessing.get_context("fork").Pool(2) as pool:
    for task, found in enumerate(pool.map_async(apply, range(16), chunksize=1).get(timeout=100)):
        assert (found == expected[task % len(filters)]).all()
for H, result in zip(filters, expected):
    assert (H.apply(X) == result).all()
""", threads=threads)


METHODS = [pytest.param("fork", marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")),
           "spawn"]


@pytest.mark.parametrize("method", METHODS)
def test_processes_that_get_a_graph(tmp_path, method):
    """The parent's threads have worked before, and work while the children do."""
    run_python_file(tmp_path, FORKED + """
def apply(graph, seed):
    X = np.random.default_rng(seed).normal(size=(graph.nodes, 8))
    return ngf.NeighborhoodFilter(graph, [1, 0.5, 0.25], threads=2).apply(X)

if __name__ == "__main__":
    graph = ngf.generate.rmat(10)
    expected = [apply(graph, seed) for seed in range(8)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.starmap_async(apply, [(graph, seed) for seed in range(8)], chunksize=1)
        again = apply(graph, 0)
        for result, wanted in zip(found.get(timeout=100), expected):
            assert (result == wanted).all()
    assert (again == expected[0]).all()
""", method=method)


@pytest.mark.parametrize("method", METHODS)
def test_two_workers_of_a_data_loader(tmp_path, method):
    pytest.importorskip("torch")
    run_python_file(tmp_path, FORKED + """
import torch

class Filtered(torch.utils.data.Dataset):
    def __init__(self, graph):
        self.graph = graph

    def __len__(self):
        return 12

    def __getitem__(self, seed):
        X = np.random.default_rng(seed).normal(size=(self.graph.nodes, 4))
        return torch.from_numpy(ngf.NeighborhoodFilter(self.graph, [1, 0.5], threads=2) @ X)

if __name__ == "__main__":
    data = Filtered(ngf.generate.rmat(9))
    expected = [data[seed] for seed in range(len(data))]
    loader = torch.utils.data.DataLoader(data, batch_size=3, num_workers=2, multiprocessing_context=method, timeout=100)
    assert torch.equal(torch.cat(list(loader)), torch.stack(expected))
""", method=method)
