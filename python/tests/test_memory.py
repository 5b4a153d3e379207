"""Arrays are shared where their layout allows it, and large ones take what they must and little more."""

import json

import pytest
from conftest import run_python

PEAK = """
import json, resource
import numpy as np, ngf

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
"""
# Resident memory at its highest, before and after; what was touched once counts. A small call comes first, so that
# threads and libraries have what they need.
FILTER = PEAK + """
H = ngf.NeighborhoodFilter(ngf.generate.grid(250, 400), [1, 0.5, 0.25])
X = np.ones((H.shape[0], 512), np.float32)
Y = np.zeros_like(X) if "out" in call else None
for small in [X[:, :2].copy(), X[:, 0].copy()]:
    H @ small, H.T @ small
before = peak()
result = eval(call)
extra = peak() - before - (0 if Y is not None else result.nbytes)
assert result.dtype == np.float32 and result.shape == X.shape
print(json.dumps([X.nbytes, extra]))
"""


@pytest.mark.parametrize("call", ["H @ X", "H.matmat(X)", "H.T @ X", "H.adjoint() @ X", "H.apply(X, transpose=True)",
                                  "H.apply(X, out=Y)", "H.apply(X[:, :512])"])
def test_signals_are_not_copied(call):
    size, extra = json.loads(run_python(FILTER, call=call))
    assert size > 200e6
    assert extra < 0.1 * size


def test_columns_of_signals_are_not_copied():
    """A slice of columns is read, and written, where it lies."""
    script = FILTER.replace("512), np.float32)", "1024), np.float32)[:, 256:768]")
    for call in ["H @ X", "H.apply(X, out=Y[:, :512])"]:
        size, extra = json.loads(run_python(script, call=call))
        assert extra < 0.1 * size


def test_hops_are_not_copied():
    """One byte a pair, once."""
    size, extra = json.loads(run_python(PEAK + """
graph = ngf.generate.grid(100, 120)
ngf.hop_distances(ngf.generate.grid(20, 20))
before = peak()
hops = ngf.hop_distances(graph)
print(json.dumps([hops.size, peak() - before]))
"""))
    assert size == 144e6
    assert extra < 1.4 * size


def test_nothing_is_left_behind():
    """The same work again and again takes no more memory."""
    early, late = json.loads(run_python(PEAK + """
graph = ngf.generate.grid(30, 30)
matrix = ngf.to_scipy(graph)
X = np.ones((900, 64))

def work():
    hops = ngf.hop_distances(matrix)
    H = ngf.NeighborhoodFilter(graph, [1, 0.5, 0.25])
    H.gradients(X, H @ X)
    views = [ngf.as_graph(matrix).targets for _ in range(10)]
    data = ngf.generate.citation_network(200)
    try:
        H @ X[:5]
    except ValueError:
        pass

for _ in range(20):
    work()
early = peak()
for _ in range(100):
    work()
print(json.dumps([early, peak()]))
"""))
    assert late - early < 20e6


def test_objects_are_not_leaked():
    """The bindings tell of what is left at the end of the program; there must be nothing to tell."""
    assert run_python("""
import subprocess, sys
script = '''
import numpy as np, ngf, ngf.torch, torch
H = ngf.NeighborhoodFilter("builtin:karate", [1, 2]).with_taps([3, 4])
H @ np.ones(34), H.gradients(np.ones(34), np.ones(34)), ngf.hop_distances("builtin:karate")
data = ngf.generate.citation_network(300)
data.graph.targets, data.splits
model = ngf.NodeClassifier(data, epochs=2, hidden=2).fit(data.split.train, data.labels[data.split.train])
conv = ngf.torch.NeighborhoodConv(3, 2, hops=1)
conv(torch.ones(4, 3), torch.tensor([[0, 1], [1, 0]])).sum().backward()
try:
    ngf.as_graph("nosuch.txt")
except ngf.Error:
    pass
'''
print(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stderr, end="")
""") == ""
