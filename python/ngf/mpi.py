"""Several processes on one graph, by MPI. Needs mpi4py; start them with ``mpirun -n 4 python -m mpi4py script.py``.

A ``Deal`` deals the nodes of a graph to the processes, and stands for the graph wherever one is asked for. Each process
then holds the rows of its own nodes: of shells, of signals and of what becomes of them.

    deal = ngf.mpi.Deal("planetoid:pubmed", hops=4)
    H = ngf.NeighborhoodFilter(deal, taps=[1, 0.5, 0.25, 0.1, 0.05])
    y = H @ deal.own(x)              # this process's rows; all processes call it
    all_rows = deal.gather(y)

``ngf.shell_sizes``, ``ngf.hop_distances`` (whose rows are this process's), both filters, ``ngf.fit_taps`` and
``ngf.NodeClassifier`` take one. All processes call the same functions in the same order, with the same arguments but for
rows.
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

__all__ = ["Deal"]

_copies: dict = {}


def _own_copy(comm):
    """A communicator for the engine alone, one for each that it is given."""
    handle = MPI._handleof(comm)
    if handle not in _copies:
        _copies[handle] = comm.Dup()
    return _copies[handle]


def _begin_gather(comm, everything, row_bytes, begins):
    """Each process has its own rows of ``everything``, and all of them after the call of what is returned."""
    row = MPI.BYTE.Create_contiguous(row_bytes).Commit()
    counts = [end - begin for begin, end in zip(begins, begins[1:])]
    request = comm.Iallgatherv(MPI.IN_PLACE, [everything, counts, begins[:-1], row])

    def wait():
        request.Wait()
        row.Free()

    return wait


def _team(comm):
    """What the engine asks of MPI."""

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


class Deal:
    """The nodes of a graph, dealt to the processes of a communicator by the work that they are.

    A : anything that ``ngf.as_graph`` takes, the same in all processes
    hops : how far filters will reach, about: work is estimated by it
    comm : a communicator of mpi4py; all processes by default

    >>> deal = Deal("builtin:karate", hops=2)
    >>> int(deal.comm.allreduce(len(deal.nodes)))
    34
    """

    def __init__(self, A, hops: int = 4, comm=None, *, directed: bool | None = None):
        self.comm = _own_copy(MPI.COMM_WORLD if comm is None else comm)
        self.source = as_graph(A, directed=directed)  #: the graph as it was given
        order, begins = _engine.arrange(self.source, self.comm.size, arguments.whole(hops, "hops", 0, 2**31))
        self.order = order  #: the nodes in the order of the deal
        self.graph = _engine.renumber(self.source, order)  #: with nodes in that order
        first, last = (int(begins[self.comm.rank + i]) for i in (0, 1))
        self.rows = (first, last)
        self.nodes = order[first:last]  #: those of this process
        self._begins = begins
        self._engine = _engine.Partition(_team(self.comm), order, begins)

    def own(self, x) -> np.ndarray:
        """This process's rows of what has a row for each node of the graph."""
        return as_array(x, "x")[self.nodes]

    def gather(self, own) -> np.ndarray:
        """The rows of all nodes, in the order of the graph, from each process's own."""
        own = np.ascontiguousarray(as_array(own, "own"))
        if own.shape[:1] != (len(self.nodes),):
            raise ValueError(f"{own.shape[0] if own.ndim else 0} rows; this process has {len(self.nodes)} nodes")
        dealt = np.empty((len(self.order), *own.shape[1:]), own.dtype)
        dealt[slice(*self.rows)] = own
        if dealt.size:
            _begin_gather(self.comm, dealt, dealt[:1].nbytes, self._begins.tolist())()
        result = np.empty_like(dealt)
        result[self.order] = dealt
        return result

    def place_of(self, nodes) -> np.ndarray:
        """The numbers that nodes of the graph have in the order of the deal."""
        places = np.empty(len(self.order), np.uint32)
        places[self.order] = np.arange(len(self.order), dtype=np.uint32)
        return places[nodes]

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"Deal({self.source!r}, process {self.comm.rank} of {self.comm.size}: {len(self.nodes)} nodes)"
