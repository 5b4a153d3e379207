"""Neighbourhood graph filters: k-hop matrices of graphs, filters on them, node classification and denoising.

>>> import numpy as np, ngf
>>> A = ngf.generate.watts_strogatz(100, k=4, beta=0.1, seed=1)
>>> H = ngf.NeighborhoodFilter(A, taps=[1, 0.5, 0.25])
>>> x = np.ones(100)
>>> y = H @ x
>>> bool(np.all(y >= 1))
True
"""

from __future__ import annotations

from . import generate
from ._convert import Graph, as_graph, from_edge_index, to_scipy
from ._data import Dataset, load_dataset, read_graph, write_graph
from ._engine import Error, MemoryExceeded, __version__
from ._features import shell_features
from ._filters import FittedTaps, NeighborhoodFilter, PolynomialFilter, fit_taps
from ._perturb import perturb
from ._reproduce import reproduce
from ._shells import hop_distances, khop, shell_sizes, shells

__all__ = [
    "Dataset", "Denoiser", "Error", "FittedTaps", "Graph", "MemoryExceeded", "NeighborhoodFilter",
    "NodeClassifier", "PolynomialFilter", "ShellFeatures", "__version__", "as_graph", "fit_taps", "from_edge_index",
    "generate", "hop_distances", "khop", "load_dataset", "mpi", "perturb", "plot", "read_graph", "reproduce",
    "shell_features", "shell_sizes", "shells", "to_scipy", "torch", "write_graph",
]


def __getattr__(name: str):
    """Import what needs another package on first use."""
    import importlib

    if name in ("torch", "plot", "mpi"):
        return importlib.import_module(f".{name}", __name__)
    if name in ("NodeClassifier", "Denoiser"):
        return getattr(importlib.import_module("._estimators", __name__), name)
    if name == "ShellFeatures":
        return importlib.import_module("._transformers", __name__).ShellFeatures
    raise AttributeError(f"module 'ngf' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
