"""Hops: distances of all pairs, and shells."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from . import _arguments as arguments
from . import _engine
from ._convert import as_dealt, as_graph, shell_options


def hop_distances(A, max_hops: int | None = None, *, directed: bool | None = None, dtype=None,
                  threads: int | None = None, memory=None) -> np.ndarray:
    """How many hops the shortest path from each node to each other has, N x N.

    One byte a pair (two, where hops pass 254). Pairs without a path, and those farther than
    ``max_hops``, have the largest number of the type: 255 or 65535. With a floating ``dtype`` they
    are infinite, as in SciPy's ``shortest_path(A, unweighted=True)``.

    >>> import numpy as np
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    >>> hop_distances(path)
    array([[  0,   1,   2, 255],
           [  1,   0,   1, 255],
           [  2,   1,   0, 255],
           [255, 255, 255,   0]], dtype=uint8)
    >>> hop_distances(path, dtype=float)[0]
    array([ 0.,  1.,  2., inf])
    """
    options = shell_options(arguments.hops(max_hops), storage="dense", threads=threads, memory=memory)
    graph, deal = as_dealt(A, directed=directed)
    if deal is not None:
        options.take_rows(*deal.rows)
    hops = _engine.hop_distances(graph, options) if graph.nodes else np.zeros((0, 0), np.uint8)
    if deal is not None:
        dealt, hops = hops, np.empty_like(hops)
        hops[:, deal.order] = dealt
    if dtype is None:
        return hops
    dtype = np.dtype(dtype)
    if dtype.kind not in "fiu":
        raise ValueError(f"dtype is {dtype}; hops are whole or floating numbers")
    farther = hops == np.iinfo(hops.dtype).max
    largest = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    if dtype.kind != "f" and hops.max(initial=0, where=~farther) >= largest:
        raise ValueError(f"hops up to {hops.max(where=~farther, initial=0)} do not fit into {dtype}")
    result = hops.astype(dtype)
    result[farther] = largest
    return result


def shells(A, hops: int, *, directed: bool | None = None, min_paths: int = 1, dtype=np.float64,
           threads: int | None = None, memory=None) -> list[sp.csr_array]:
    """The shells 0..hops as SciPy arrays: shell k has a 1 where two nodes are exactly k hops apart.

    With ``min_paths`` of 2 or 3, pairs at 2 hops or more count only where so many shortest paths join them.

    >>> [A.nnz for A in shells("builtin:karate", 3)]
    [34, 156, 530, 274]
    """
    return _shells(A, 0, arguments.hops(hops, "hops"), directed, min_paths, dtype, threads, memory)


def khop(A, k: int, *, directed: bool | None = None, min_paths: int = 1, dtype=np.float64,
         threads: int | None = None, memory=None) -> sp.csr_array:
    """The pairs that are exactly ``k`` hops apart, as a SciPy array.

    >>> khop("builtin:karate", 2).nnz
    530
    """
    k = arguments.hops(k, "k")
    return _shells(A, k, k, directed, min_paths, dtype, threads, memory)[0]


def _shells(A, first, last, directed, min_paths, dtype, threads, memory):
    if last == _engine.all_hops:
        raise ValueError("how many hops? see ngf.shell_sizes for how many there are")
    graph = as_graph(A, directed=directed)
    options = shell_options(last, min_paths=min_paths, threads=threads, memory=memory)
    shape = (graph.nodes, graph.nodes)
    return [sp.csr_array((np.ones(len(columns), dtype), columns, offsets), shape=shape)
            for offsets, columns in _engine.shells(graph, first, options)]


def shell_sizes(A, max_hops: int | None = None, *, directed: bool | None = None, min_paths: int = 1,
                threads: int | None = None, memory=None) -> np.ndarray:
    """How many ordered pairs are 0, 1, 2, ... hops apart.

    >>> shell_sizes("builtin:karate").tolist()
    [34, 156, 530, 274, 146, 16]
    """
    options = shell_options(arguments.hops(max_hops), min_paths=min_paths, threads=threads, memory=memory)
    graph, deal = as_dealt(A, directed=directed)
    if deal is None:
        return _engine.shell_sizes(graph, options)
    options.take_rows(*deal.rows)
    own = _engine.shell_sizes(graph, options)
    sizes = np.zeros(max(deal.comm.allgather(len(own))), own.dtype)
    sizes[:len(own)] = own
    return deal.comm.allreduce(sizes)
