"""Hop distances of all pairs, and shells."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from . import _arguments as arguments
from . import _engine
from ._convert import as_graph, as_partitioned, shell_options


def hop_distances(A, max_hops: int | None = None, *, directed: bool | None = None, dtype=None,
                  threads: int | None = None, memory=None) -> np.ndarray:
    """Compute the hop distance (unweighted shortest path length) between all pairs of nodes.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name. An ``ngf.mpi.Partition`` returns the rows of this process.
    max_hops : int, optional
        Largest distance to compute; by default all.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    dtype : NumPy dtype, optional
        Type of the result; by default uint8, or uint16 if a distance exceeds 254. The matrix has one or two bytes per
        pair.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Returns
    -------
    numpy.ndarray, N x N
        Unreachable pairs, and pairs farther than ``max_hops``, have the largest integer of the type (255 or 65535).
        With a floating ``dtype`` they are infinite, as in SciPy's ``shortest_path(A, unweighted=True)``.

    Raises
    ------
    ValueError
        If a distance does not fit into ``dtype``.
    ngf.MemoryExceeded
        If the result does not fit into ``memory``.

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
    graph, partition = as_partitioned(A, directed=directed)
    if partition is not None:
        options.take_rows(*partition.rows)
    hops = _engine.hop_distances(graph, options) if graph.nodes else np.zeros((0, 0), np.uint8)
    if partition is not None:
        sharded, hops = hops, np.empty_like(hops)
        hops[:, partition.order] = sharded
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
    """Compute the shells 0..hops: shell k has a 1 where two nodes are exactly k hops apart.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name.
    hops : int
        Largest hop distance, inclusive. ``ngf.shell_sizes`` shows how many there are.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    min_paths : int, default 1
        With 2 or 3, keep a pair at 2 or more hops only if it has at least this many shortest paths.
    dtype : NumPy dtype, default float64
        Type of the ones in the matrix.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Returns
    -------
    list of scipy.sparse.csr_array
        The hops + 1 shells, N x N.

    Raises
    ------
    ngf.MemoryExceeded
        If the result does not fit into ``memory``.

    >>> [A.nnz for A in shells("builtin:karate", 3)]
    [34, 156, 530, 274]
    """
    return _shells(A, 0, arguments.hops(hops, "hops"), directed, min_paths, dtype, threads, memory)


def khop(A, k: int, *, directed: bool | None = None, min_paths: int = 1, dtype=np.float64,
         threads: int | None = None, memory=None) -> sp.csr_array:
    """Compute one shell: the pairs that are exactly ``k`` hops apart.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name.
    k : int
        Hop distance.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    min_paths : int, default 1
        With 2 or 3, keep a pair at 2 or more hops only if it has at least this many shortest paths.
    dtype : NumPy dtype, default float64
        Type of the ones in the matrix.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Returns
    -------
    scipy.sparse.csr_array, N x N

    Raises
    ------
    ngf.MemoryExceeded
        If the result does not fit into ``memory``.

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
    """Count the ordered pairs that are 0, 1, 2, ... hops apart, without storing them.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name. An ``ngf.mpi.Partition`` counts with all processes.
    max_hops : int, optional
        Largest hop distance to count; by default all.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    min_paths : int, default 1
        With 2 or 3, keep a pair at 2 or more hops only if it has at least this many shortest paths.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Returns
    -------
    numpy.ndarray of int

    Raises
    ------
    ngf.MemoryExceeded
        If the result does not fit into ``memory``.

    >>> shell_sizes("builtin:karate").tolist()
    [34, 156, 530, 274, 146, 16]
    """
    options = shell_options(arguments.hops(max_hops), min_paths=min_paths, threads=threads, memory=memory)
    graph, partition = as_partitioned(A, directed=directed)
    if partition is None:
        return _engine.shell_sizes(graph, options)
    options.take_rows(*partition.rows)
    own = _engine.shell_sizes(graph, options)
    sizes = np.zeros(max(partition.comm.allgather(len(own))), own.dtype)
    sizes[:len(own)] = own
    return partition.comm.allreduce(sizes)
