"""Distributed shells, filters and training with MPI. Needs mpi4py; run ``mpirun -n 4 python -m mpi4py script.py``.

A ``Partition`` distributes the nodes of a graph over the ranks of a communicator. Pass it wherever a graph is expected.
Each rank then stores the rows of the nodes assigned to it: of shells, signals and results.

    partition = ngf.mpi.Partition("planetoid:pubmed", hops=4)
    H = ngf.NeighborhoodFilter(partition, taps=[1, 0.5, 0.25, 0.1, 0.05])
    y = H @ partition.own(x)         # the rows of this rank; all ranks call it
    all_rows = partition.gather(y)

``ngf.shell_sizes``, ``ngf.hop_distances``, both filters, ``ngf.fit_taps`` and ``ngf.NodeClassifier`` accept one. All
ranks call the same functions in the same order, with the same arguments except for rows.
"""

from __future__ import annotations

import numpy as np

try:
    from mpi4py import MPI
except ImportError as missing:  # pragma: no cover
    raise ImportError("ngf.mpi needs mpi4py: pip install mpi4py") from missing

from . import _arguments as arguments
from . import _engine
from ._convert import as_array, as_graph

__all__ = ["Partition"]

_copies: dict = {}


def _own_copy(comm):
    """A duplicate of the communicator for the engine alone, one per communicator."""
    handle = MPI._handleof(comm)
    if handle not in _copies:
        _copies[handle] = comm.Dup()
    return _copies[handle]


def _begin_gather(comm, everything, row_bytes, begins):
    """Start to gather the rows of all ranks into ``everything``; the returned function waits for them."""
    row = MPI.BYTE.Create_contiguous(row_bytes).Commit()
    counts = [end - begin for begin, end in zip(begins, begins[1:])]
    request = comm.Iallgatherv(MPI.IN_PLACE, [everything, counts, begins[:-1], row])

    def wait():
        request.Wait()
        row.Free()

    return wait


def _communicator(comm):
    """The operations that the engine needs from MPI."""

    def gather(everything, row_bytes, begins):
        return _begin_gather(comm, everything, row_bytes, begins)

    def exchange(sent, received, piece_bytes):
        piece = MPI.BYTE.Create_contiguous(piece_bytes).Commit()
        comm.Alltoall([sent, 1, piece], [received, 1, piece])
        piece.Free()

    def broadcast(content):
        most = 2**30
        for begin in range(0, len(content), most):
            comm.Bcast([content[begin:begin + most], MPI.BYTE], root=0)

    return _engine.Communicator(comm.rank, comm.size, gather, exchange, broadcast)


class Partition:
    """Distribution of the nodes of a graph over the ranks of a communicator, balanced by estimated work.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes, the same on all ranks.
    hops : int, default 4
        Approximate number of hops of the filters, to estimate the work.
    comm : mpi4py communicator, optional
        By default ``MPI.COMM_WORLD``.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.

    Attributes
    ----------
    nodes : numpy.ndarray
        The nodes of this rank.
    order : numpy.ndarray
        All nodes, in the order of the ranks.
    rows : tuple of int
        First and last row (exclusive) of this rank in that order.
    source : Graph
        The graph with its own node numbers.
    graph : Graph
        The graph with the nodes renumbered in the order of the ranks.

    Raises
    ------
    ValueError
        If no graph can be made of ``A``.

    >>> partition = Partition("builtin:karate", hops=2)
    >>> int(partition.comm.allreduce(len(partition.nodes)))
    34
    """

    def __init__(self, A, hops: int = 4, comm=None, *, directed: bool | None = None):
        self.comm = _own_copy(MPI.COMM_WORLD if comm is None else comm)
        self.source = as_graph(A, directed=directed)  #: the graph as it was given
        order, begins = _engine.arrange(self.source, self.comm.size, arguments.whole(hops, "hops", 0, 2**31))
        self.order = order  #: the nodes in the order of the partition
        self.graph = _engine.renumber(self.source, order)  #: with nodes in that order
        first, last = (int(begins[self.comm.rank + i]) for i in (0, 1))
        self.rows = (first, last)
        self.nodes = order[first:last]  #: those of this process
        self._begins = begins
        self._engine = _engine.Partition(_communicator(self.comm), order, begins)

    def own(self, x) -> np.ndarray:
        """Select the rows of this rank.

        Parameters
        ----------
        x : array, N or N x F
            One row per node of the graph.

        Returns
        -------
        numpy.ndarray
        """
        return as_array(x, "x")[self.nodes]

    def gather(self, own) -> np.ndarray:
        """Gather the rows of all ranks, in the order of the graph.

        Parameters
        ----------
        own : array
            The rows of this rank.

        Returns
        -------
        numpy.ndarray
            One row per node of the graph.

        Raises
        ------
        ValueError
            If ``own`` does not have one row per node of this rank.
        """
        own = np.ascontiguousarray(as_array(own, "own"))
        if own.shape[:1] != (len(self.nodes),):
            raise ValueError(f"{own.shape[0] if own.ndim else 0} rows; this process has {len(self.nodes)} nodes")
        sharded = np.empty((len(self.order), *own.shape[1:]), own.dtype)
        sharded[slice(*self.rows)] = own
        if sharded.size:
            _begin_gather(self.comm, sharded, sharded[:1].nbytes, self._begins.tolist())()
        result = np.empty_like(sharded)
        result[self.order] = sharded
        return result

    def place_of(self, nodes) -> np.ndarray:
        """Return the position of nodes in the order of the ranks.

        Parameters
        ----------
        nodes : array of int
            Nodes of the graph.

        Returns
        -------
        numpy.ndarray of int
        """
        places = np.empty(len(self.order), np.uint32)
        places[self.order] = np.arange(len(self.order), dtype=np.uint32)
        return places[nodes]

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"Partition({self.source!r}, process {self.comm.rank} of {self.comm.size}: {len(self.nodes)} nodes)"
