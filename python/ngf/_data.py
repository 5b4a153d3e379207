"""Data sets: graphs with features, labels and splits."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from . import _arguments as arguments
from . import _engine
from ._convert import Graph, as_graph, with_names


class Split(NamedTuple):
    """Node numbers of the training, validation and test sets.

    >>> Split(train=[0], validation=[1], test=[2]).test
    [2]
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


class Dataset:
    """A graph with features, labels and splits of its nodes. ``ngf.load_dataset`` returns it.

    Attributes
    ----------
    graph : Graph
    features : numpy.ndarray or scipy.sparse.csr_array, N x F, or None
    labels : numpy.ndarray of N integers, or None
        Classes 0, 1, 2, ...; -1 is an unknown label.
    splits : list of Split

    Arrays share the engine's memory.

    >>> load_dataset("builtin:karate").labels[:5]
    array([0, 0, 0, 0, 0], dtype=int32)
    """

    def __init__(self, engine):
        names = engine.names
        self.graph: Graph = with_names(
            engine.graph, None if names is None else [name.decode("utf-8", "surrogateescape") for name in names])
        self.features = _features(engine)
        self.labels = engine.labels if len(engine.labels) else None
        self.splits = [Split(*parts) for parts in engine.splits]

    def __deepcopy__(self, memo):
        return self  # nothing in it changes

    @property
    def split(self) -> Split:
        """The first split. Raises ValueError if there is none."""
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


def load(name, *, directed: bool = False, data=None, seed: int = 1, memory=None, lenient: bool = False,
         ids: str = "detect") -> Dataset:
    engine, told = _engine.load(os.fspath(name), directed, arguments.name(ids, "ids"),
                                arguments.flag(lenient, "lenient"), data_folders(data), arguments.seed(seed),
                                arguments.memory(memory))
    for text in told:
        warnings.warn(text, stacklevel=3)
    return Dataset(engine)


def load_dataset(name, *, directed: bool = False, data=None, seed: int = 1, download: bool = False,
                 memory=None, lenient: bool = False) -> Dataset:
    """Load a data set by name or from a file.

    Parameters
    ----------
    name : str or path
        A file, or a name such as "planetoid:cora", "builtin:karate" or "sbm:nodes=256".
    directed : bool, default False
        Keep the directions of edges.
    data : path, optional
        First folder to search for Planetoid data sets; then $NGF_DATA, ./data and the user's cache folder.
    seed : int, default 1
        Seed of synthetic graphs that name none.
    download : bool, default False
        Download missing Planetoid files to ``data`` or the cache folder, and verify their checksums.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.
    lenient : bool, default False
        Read a file that contradicts its header or itself with a warning instead of an error. The same for a wrong
        checksum.

    Returns
    -------
    Dataset

    Raises
    ------
    ngf.Error
        If the file cannot be read; the message names the file, the line and the value.

    >>> load_dataset("builtin:karate")
    Dataset(nodes=34, edges=78, features=0, classes=2, splits=0)
    """
    if download and str(name).startswith("planetoid:"):
        try:
            return load(name, directed=directed, data=data, seed=seed, memory=memory, lenient=lenient)
        except _engine.Error:
            _engine.fetch(str(name), Path(data) if data else cache_folder())
    return load(name, directed=directed, data=data, seed=seed, memory=memory, lenient=lenient)


def read_graph(path, *, directed: bool = False, memory=None, lenient: bool = False, ids: str = "detect") -> Graph:
    """Read a graph from a file. The content tells the format: edge list, Matrix Market, METIS, NPY, NPZ, ...

    The names of an edge list become ``graph.node_names``, in the order of the nodes.

    Parameters
    ----------
    path : str or path
        The file.
    directed : bool, default False
        Keep the directions of edges.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.
    lenient : bool, default False
        Read a file that contradicts its header or itself with a warning instead of an error. Of two weights of one
        edge, the largest is kept.
    ids : {"detect", "rows", "compact", "names"}, default "detect"
        What the ids of an edge list are: row numbers, numbers to renumber in increasing order, or names to number in
        the order of their first appearance. By default the content decides.

    Returns
    -------
    Graph

    Raises
    ------
    ngf.Error
        If the file cannot be read; the message names the file, the line and the value.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "path.txt"
    >>> _ = path.write_text("0 1\\n1 2\\n")
    >>> read_graph(path)
    Graph(nodes=3, edges=2)
    >>> _ = path.write_text("Anna Bo\\nBo Cleo\\n")
    >>> read_graph(path).node_names
    ['Anna', 'Bo', 'Cleo']
    """
    return load(path, directed=directed, memory=memory, lenient=lenient, ids=ids).graph


def _names_to_write(graph: Graph) -> list[bytes]:
    names = graph.node_names or []
    if not all(isinstance(name, str) for name in names):
        raise ValueError("node_names must be strings")
    if names and len(set(names)) != graph.nodes:
        raise ValueError(f"node_names has {len(set(names))} different names; the graph has {graph.nodes} nodes")
    if any(not name or re.search(r"[\x00-\x08\n-\x1f\x7f]", name) for name in names):
        raise ValueError("a name in node_names is empty or holds control characters")
    return [name.encode("utf-8", "surrogateescape") for name in names]


def write_graph(path, A, *, directed: bool | None = None) -> None:
    """Write a graph in the format of the file extension.

    Parameters
    ----------
    path : str or path
        .mtx (Matrix Market), .graph (METIS), .npy, .npz; any other extension is an edge list, which has the names of
        the nodes where the graph has ``node_names``.
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.

    Raises
    ------
    ngf.Error
        If the format cannot hold the graph, or the file cannot be written.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "karate.mtx"
    >>> write_graph(path, "builtin:karate")
    >>> read_graph(path)
    Graph(nodes=34, edges=78)
    """
    graph = as_graph(A, directed=directed)
    for text in _engine.write_graph(Path(path), graph, _names_to_write(graph)):
        warnings.warn(text, stacklevel=2)
