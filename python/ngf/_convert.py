"""Conversion from Python's graphs, matrices and signals to the engine's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from . import _arguments as arguments
from . import _engine

Graph = _engine.Graph


def as_graph(A, *, directed: bool | None = None) -> Graph:
    """Convert an object to a graph. Entries that are 0 are not edges, and self-loops are dropped.

    Parameters
    ----------
    A : graph
        A ``Graph``, a SciPy sparse matrix or array, a NumPy array, a NetworkX graph, a PyG ``Data`` or ``edge_index``,
        the path of a file, or a name such as ``"planetoid:cora"`` or ``"er:nodes=100,p=0.1"``. The nodes of a NetworkX
        graph, if all are strings, become ``node_names``.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default a matrix is directed unless it is symmetric, a
        NetworkX graph is what it says, and a file is undirected.

    Returns
    -------
    Graph

    Raises
    ------
    ValueError
        If no graph can be made of ``A``.
    ngf.Error
        If the file cannot be read; the message names the file, the line and the value.

    >>> import numpy as np
    >>> as_graph(np.array([[0, 1], [1, 0]]))
    Graph(nodes=2, edges=1)
    """
    if hasattr(A, "place_of"):  # an ngf.mpi.Partition, where a process needs the whole
        return A.source
    if isinstance(A, Graph):
        if directed in (None, A.directed):
            return A
        return with_names(_engine.as_directed(A) if directed else _engine.symmetrize(A), A.node_names)
    if isinstance(A, (str, os.PathLike)):
        from ._data import load

        return load(A, directed=bool(directed)).graph
    if hasattr(A, "is_directed") and hasattr(A, "adj"):
        return _from_networkx(A, directed)
    if hasattr(A, "edge_index"):
        return _from_edge_index(A.edge_index, getattr(A, "num_nodes", None), directed)
    if _is_tensor(A):
        return _from_edge_index(A, None, directed)
    return _from_matrix(A, directed)


def with_names(graph: Graph, names) -> Graph:
    """The graph, called by these names or none."""
    if names is not None:
        graph.node_names = list(names)
    return graph


def as_partitioned(A, *, directed: bool | None = None):
    """The graph of ``A``, and the ``ngf.mpi.Partition`` if it is one."""
    if hasattr(A, "place_of"):
        return A.graph, A
    return as_graph(A, directed=directed), None


def from_edge_index(edge_index, num_nodes: int | None = None, *, directed: bool | None = None) -> Graph:
    """Convert an ``edge_index`` of PyG to a graph.

    Parameters
    ----------
    edge_index : array or tensor, 2 x E
        Sources and targets of the edges.
    num_nodes : int, optional
        Number of nodes, including isolated ones; by default the largest node plus 1.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the graph is directed unless all edges occur in
        both directions.

    Returns
    -------
    Graph

    Raises
    ------
    ValueError
        If ``edge_index`` is not 2 x E, or not of integers.

    >>> import numpy as np
    >>> from_edge_index(np.array([[0, 1], [1, 0]]), num_nodes=3)
    Graph(nodes=3, edges=1)
    """
    return _from_edge_index(edge_index, num_nodes, directed)


def to_scipy(graph: Graph) -> sp.csr_array:
    """Return the weighted adjacency matrix of a graph. The index arrays share the graph's memory.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    scipy.sparse.csr_array, N x N

    >>> to_scipy(as_graph("builtin:karate")).shape
    (34, 34)
    """
    values = graph.weights if graph.weighted else np.ones(graph.arcs)
    columns = graph.targets.view(np.int32) if graph.nodes <= 2**31 else graph.targets.astype(np.int64)
    offsets = graph.offsets.astype(np.int32 if graph.arcs < 2**31 else np.int64)
    return sp.csr_array((values, columns, offsets), shape=(graph.nodes, graph.nodes))


def _is_tensor(x) -> bool:
    return type(x).__module__.split(".")[0] == "torch"


def cpu_array(tensor, what: str) -> np.ndarray:
    """A tensor's numbers where they are. Only those in the machine's own memory can be read."""
    if tensor.device.type != "cpu":
        raise ValueError(f"{what} is on {tensor.device}; ngf works on the CPU: call .cpu() first")
    return tensor.detach().numpy()


def as_array(x, what: str) -> np.ndarray:
    """The numbers of a tensor or of anything that NumPy takes, where they are."""
    return cpu_array(x, what) if _is_tensor(x) else np.asarray(x)


def _from_edge_index(edge_index, num_nodes, directed) -> Graph:
    ends = as_array(edge_index, "edge_index")
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise ValueError(f"edge_index has the shape {ends.shape}; it must be 2 x E")
    if not np.issubdtype(ends.dtype, np.integer):
        raise ValueError(f"edge_index holds {ends.dtype}; it must hold whole numbers")
    if ends.dtype == np.uint64 and ends.size and ends.max() > np.iinfo(np.int64).max:
        raise ValueError(f"edge_index names node {ends.max()}, which no graph has")
    nodes = int(ends.max(initial=0)) + 1 if ends.size else 0
    if num_nodes is not None:
        nodes = arguments.whole(num_nodes, "num_nodes")
    return _from_entries(nodes, ends[0], ends[1], None, directed)


def _from_networkx(G, directed) -> Graph:
    import networkx as nx

    if len(G) == 0:
        return _from_matrix(np.zeros((0, 0)), G.is_directed() if directed is None else directed)
    weighted = any("weight" in data for _, _, data in G.edges(data=True))
    matrix = nx.to_scipy_sparse_array(G, weight="weight" if weighted else None, format="coo")
    graph = _from_matrix(matrix, G.is_directed() if directed is None else directed)
    return with_names(graph, G.nodes if all(isinstance(node, str) for node in G.nodes) else None)


def as_csr(A, what: str):
    """A SciPy matrix in CSR format. Its arrays are checked before, because SciPy's compiled code trusts them and crashes
    if they contradict each other, and after, because some formats have no arrays to check.
    """
    _check_sparse(A, what)
    rows = A.tocsr()
    _check_sparse(rows, what)
    return rows


def _check_sparse(A, what):
    if len(A.shape) != 2:
        raise ValueError(f"{what} has {len(A.shape)} dimensions; it must have 2")
    if A.format in ("csr", "csc", "bsr"):
        _check_compressed(A, what)
    elif A.format == "coo":
        _check_coordinates(A, what)
    elif A.format == "dia" and (A.data.ndim != 2 or A.offsets.ndim != 1 or len(A.offsets) != len(A.data)):
        raise ValueError(f"{what} is broken: {len(A.offsets)} offsets for diagonals of the shape {A.data.shape}")


def _check_compressed(A, what):
    block = A.blocksize if A.format == "bsr" else (1, 1)
    rows, columns = A.shape[0] // block[0], A.shape[1] // block[1]
    if A.format == "csc":
        rows, columns = columns, rows
    indptr, indices = A.indptr, A.indices
    for name, array in [("indptr", indptr), ("indices", indices)]:
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{what} is broken: its {name} must be a list of whole numbers")
    if len(indptr) != rows + 1:
        raise ValueError(f"{what} is broken: its indptr has {len(indptr)} entries, not {rows + 1}")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"{what} is broken: its indptr does not rise from 0")
    entries = min(len(indices), len(A.data))
    if indptr[-1] > entries:
        raise ValueError(f"{what} is broken: its indptr ends at {indptr[-1]}, after the {entries} entries")
    _check_indices(indices[:indptr[-1]], columns, "indices", what)


def _check_coordinates(A, what):
    if not len(A.row) == len(A.col) == len(A.data):
        raise ValueError(f"{what} is broken: it has {len(A.row)} rows, {len(A.col)} columns and {len(A.data)} values")
    _check_indices(A.row, A.shape[0], "row", what)
    _check_indices(A.col, A.shape[1], "col", what)


def _check_indices(indices, end, name, what):
    if indices.dtype.kind not in "iu":
        raise ValueError(f"{what} is broken: its {name} must be a list of whole numbers")
    if indices.size and (indices.min() < 0 or indices.max() >= end):
        wrong = indices.min() if indices.min() < 0 else indices.max()
        raise ValueError(f"{what} is broken: its {name} has {wrong}; expected 0 to {end - 1}")


def _from_matrix(A, directed) -> Graph:
    if sp.issparse(A):
        entries = as_csr(A, "the matrix").tocoo()  # what is listed twice adds up, as everywhere in SciPy
        entries.sum_duplicates()
        values = entries.data
    else:
        A = np.asarray(A)
        if A.dtype == object or A.dtype.kind in "USO":
            raise ValueError(f"no graph can be made of {type(A).__name__} of {A.dtype}")
        if A.ndim != 2:
            raise ValueError(f"a matrix of {A.ndim} dimensions is no graph; it must have 2")
        entries, values = None, None
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"the matrix is {A.shape[0]} x {A.shape[1]}; a graph's is square "
                         "(for an edge_index in NumPy: ngf.from_edge_index)")
    if entries is None:
        rows, columns = np.nonzero(A)
        values = A[rows, columns]
    else:
        rows, columns = entries.row, entries.col
        kept = values != 0
        if not kept.all():
            rows, columns, values = rows[kept], columns[kept], values[kept]
    if np.iscomplexobj(values):
        raise ValueError("edges have complex weights; they must be real")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("an entry of the matrix is NaN or infinite")
    weights = None if (values == 1).all() else np.ascontiguousarray(values, np.float64)
    return _from_entries(A.shape[0], rows, columns, weights, directed)


def _from_entries(nodes, rows, columns, weights, directed) -> Graph:
    index = np.int32 if rows.dtype == np.int32 and columns.dtype == np.int32 else np.int64
    return _engine.graph_from_entries(nodes, np.ascontiguousarray(rows, index),
                                      np.ascontiguousarray(columns, index), weights, directed, False)


def as_signals(x, what: str = "x") -> tuple[np.ndarray, bool]:
    """Signals as N x F of float32 or float64, and whether they had one dimension. Copies only where it must."""
    x = as_array(x, what)
    if x.ndim not in (1, 2):
        raise ValueError(f"{what} has {x.ndim} dimensions; signals have 1 or 2")
    if np.iscomplexobj(x) or x.dtype.kind not in "fiub":
        raise ValueError(f"{what} holds {x.dtype}; signals are real numbers")
    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64)
    flat = x.ndim == 1
    if flat:
        x = np.ascontiguousarray(x)[:, np.newaxis]
    elif not has_rows(x):
        x = np.ascontiguousarray(x)
    return x, flat


def has_rows(x: np.ndarray) -> bool:
    """Whether columns lie side by side, and rows behind each other, perhaps with gaps."""
    columns = x.shape[1] <= 1 or x.strides[1] == x.itemsize
    rows = x.shape[0] <= 1 or (x.strides[0] >= x.shape[1] * x.itemsize and x.strides[0] % x.itemsize == 0)
    return columns and rows


def as_matrix(x, what: str) -> np.ndarray:
    """Signals in double."""
    return np.ascontiguousarray(as_signals(x, what)[0], np.float64)


def check_finite(x: np.ndarray, what: str) -> None:
    """Refuses NaN and infinite values. A sum takes no memory, and is finite for all but the largest values."""
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(x.sum(dtype=np.float64)) or np.isfinite(x).all()
    if not finite:
        raise ValueError(f"{what} holds NaN or infinite values")


def shell_options(hops: int, *, min_paths: int = 1, storage: str = "auto", threads=None, memory=None):
    options = _engine.ShellOptions()
    options.hops = hops
    options.min_paths = arguments.whole(min_paths, "min_paths", 1, 3)
    options.storage = arguments.name(storage, "storage")
    options.threads = arguments.threads(threads)
    options.memory = arguments.memory(memory)
    return options


def _repr(graph: Graph) -> str:
    kind = "".join([", directed=True" if graph.directed else "", ", weighted=True" if graph.weighted else ""])
    return f"Graph(nodes={graph.nodes}, edges={graph.edges}{kind})"


def _reduce(graph: Graph):
    return _restore, (graph.offsets, graph.targets, graph.weights, graph.directed, graph.node_names)


def _restore(offsets, targets, weights, directed, names) -> Graph:
    return with_names(_engine.graph_from_arrays(offsets, targets, weights, directed), names)


#: Names of the nodes, a list of N str; None where nodes have no names.
Graph.node_names = None
Graph.__reduce__ = _reduce
Graph.__repr__ = _repr
Graph.__hash__ = lambda self: hash((self.nodes, self.arcs, self.directed, self.weighted))
Graph.__deepcopy__ = lambda self, memo: self
Graph.__copy__ = lambda self: self
