"""Features of nodes for models that know no graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from . import _arguments as arguments
from . import _engine
from ._convert import as_csr, as_graph, as_signals, check_finite, shell_options
from ._data import Dataset


def shell_features(graph, X, hops: int, aggregate: str = "mean", *, directed: bool | None = None, min_paths: int = 1,
                   memory=None, threads: int | None = None) -> np.ndarray:
    """Aggregate signals over the shells of each node: [X, shell 1, ..., shell H].

    Shells are found, used and dropped row by row, so that memory follows the size of the result and not that of the
    shells.

    Parameters
    ----------
    graph : graph or Dataset
        Anything that ``ngf.as_graph`` takes, or a ``Dataset``.
    X : array or SciPy matrix, N or N x F, or None
        Signals of all nodes; with None, the features of the ``Dataset``.
    hops : int
        Number of hops H.
    aggregate : str, default "mean"
        What becomes of the signals of a shell: "mean", "sum" or "max". An empty shell has 0.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    min_paths : int, default 1
        With 2 or 3, keep a pair at 2 or more hops only if it has at least this many shortest paths.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.

    Returns
    -------
    numpy.ndarray of float32, N x (H + 1) F
        The columns of hop 0, which are those of X, then those of hop 1, and so on.

    Raises
    ------
    ValueError
        If the signals do not fit the graph, or a value is not finite in single precision.
    ngf.MemoryExceeded
        If the result does not fit into ``memory``.

    >>> import numpy as np
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> shell_features(path, [2.0, 4.0, 8.0], hops=2)
    array([[2., 4., 8.],
           [4., 5., 0.],
           [8., 4., 2.]], dtype=float32)
    """
    graph, X = graph_and_features(graph, X, directed)
    x = as_singles(X, "X", graph.nodes)
    options = shell_options(arguments.whole(hops, "hops", 0, 2**16 - 2), min_paths=min_paths, threads=threads,
                            memory=memory)
    return _engine.shell_features(graph, x, arguments.name(aggregate, "aggregate"), options)


def graph_and_features(graph, features, directed=None):
    """The graph, and the features: those given, or those of a Dataset."""
    if isinstance(graph, Dataset):
        return as_graph(graph.graph, directed=directed), graph.features if features is None else features
    return as_graph(graph, directed=directed), features


def as_singles(X, what: str, nodes: int) -> np.ndarray:
    """Signals of all nodes in float32."""
    if X is None:
        raise ValueError(f"{what} is None, and the graph has no features; give an array, N x F")
    x = as_csr(X, what).toarray() if sp.issparse(X) else X
    x, _ = as_signals(x, what)
    if x.shape[0] != nodes:
        raise ValueError(f"{what} has {x.shape[0]} rows; the graph has {nodes} nodes")
    check_finite(x, what)
    with np.errstate(over="ignore"):
        x = np.ascontiguousarray(x, np.float32)
    if not np.isfinite(x).all():
        raise ValueError(f"{what} exceeds the range of float32; scale it")
    return x
