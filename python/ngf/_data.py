"""Data sets: graphs with features, labels and splits."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from . import _arguments as arguments
from . import _engine
from ._convert import Graph, as_graph


class Split(NamedTuple):
    """Which nodes a model learns from, is tuned on and is scored on."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


class Dataset:
    """A graph and what is known about its nodes.

    ``graph``; ``features``, N x F, an array, a SciPy array or None; ``labels``, -1 where unknown, or None;
    ``splits``. Arrays show the engine's own memory.
    """

    def __init__(self, engine):
        self.graph: Graph = engine.graph
        self.features = _features(engine)
        self.labels = engine.labels if len(engine.labels) else None
        self.splits = [Split(*parts) for parts in engine.splits]

    def __deepcopy__(self, memo):
        return self  # nothing in it changes

    @property
    def split(self) -> Split:
        """The first split."""
        if not self.splits:
            raise ValueError("the data set has no split")
        return self.splits[0]

    def __repr__(self):
        features = 0 if self.features is None else self.features.shape[1]
        classes = 0 if self.labels is None else len(np.unique(self.labels[self.labels >= 0]))
        return (f"Dataset(nodes={self.graph.nodes}, edges={self.graph.edges}, features={features}, "
                f"classes={classes}, splits={len(self.splits)})")


def _features(engine):
    features = engine.features
    if not isinstance(features, tuple):
        return features
    offsets, columns, values, width = features
    return sp.csr_array((values, columns, offsets), shape=(len(offsets) - 1, width))


def data_folders(data=None) -> list[Path]:
    """Where data sets that have a name are looked for."""
    named = [Path(folder) for folder in (data, os.environ.get("NGF_DATA")) if folder]
    return [*named, Path("data"), cache_folder()]


def cache_folder() -> Path:
    return Path(_engine.cache_folder(os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")))


def load(name, *, directed: bool = False, data=None, seed: int = 1, memory=None, lenient: bool = False) -> Dataset:
    engine, told = _engine.load(os.fspath(name), directed, False, arguments.flag(lenient, "lenient"), data_folders(data),
                                arguments.seed(seed), arguments.memory(memory))
    for text in told:
        warnings.warn(text, stacklevel=3)
    return Dataset(engine)


def load_dataset(name, *, directed: bool = False, data=None, seed: int = 1, download: bool = False,
                 memory=None, lenient: bool = False) -> Dataset:
    """A data set: the path of a file, or a name such as "planetoid:cora", "builtin:karate" or "sbm:nodes=256".

    Data sets of Planetoid are looked for in ``data``, in $NGF_DATA, in ./data and in the user's cache folder, to
    which ``download`` fetches what is missing. Their files are compared with known checksums.

    ``lenient`` reads a file that contradicts its own header or itself, or that has another checksum, with a warning
    instead of an error.

    >>> load_dataset("builtin:karate")
    Dataset(nodes=34, edges=78, features=0, classes=2, splits=0)
    """
    if download and str(name).startswith("planetoid:"):
        try:
            return load(name, directed=directed, data=data, seed=seed, memory=memory, lenient=lenient)
        except _engine.Error:
            _engine.fetch(str(name), Path(data) if data else cache_folder())
    return load(name, directed=directed, data=data, seed=seed, memory=memory, lenient=lenient)


def read_graph(path, *, directed: bool = False, memory=None, lenient: bool = False) -> Graph:
    """The graph of a file: an edge list of any dialect, Matrix Market, METIS, NPY, NPZ, ...

    ``lenient`` reads a file that contradicts its own header or itself with a warning instead of an error; of two
    weights for one edge it keeps the largest.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "path.txt"
    >>> _ = path.write_text("0 1\\n1 2\\n")
    >>> read_graph(path)
    Graph(nodes=3, edges=2)
    """
    return load(path, directed=directed, memory=memory, lenient=lenient).graph


def write_graph(path, A, *, directed: bool | None = None) -> None:
    """Writes a graph in the format of the name: .mtx, .graph, .npy, .npz, else an edge list."""
    for text in _engine.write_graph(Path(path), as_graph(A, directed=directed)):
        warnings.warn(text, stacklevel=2)
