"""Filters as SciPy's linear operators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arguments as arguments
from . import _engine
from ._convert import as_dealt, as_matrix, as_signals, check_finite, has_rows, shell_options


def precision(dtype) -> np.dtype:
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype is {dtype}; filters work in float32 and float64")
    return dtype


def taps_arrays(taps, groups) -> tuple[np.ndarray, np.ndarray | None]:
    """A row of taps for each group, and the group of each node."""
    taps = np.ascontiguousarray(taps, np.float64)
    if taps.size == 0:
        raise ValueError("a filter has at least one tap")
    if not np.isfinite(taps).all():
        raise ValueError("taps must be finite numbers")
    if groups is None:
        if taps.ndim != 1:
            raise ValueError(f"taps have {taps.ndim} dimensions; one set of taps has 1, and one set a group needs groups")
        return taps[np.newaxis], None
    if taps.ndim != 2:
        raise ValueError("with groups, taps have a row for each group")
    groups = np.asarray(groups)
    if groups.ndim != 1 or groups.dtype.kind not in "iu" or (groups.size and groups.min() < 0):
        raise ValueError("groups must be whole numbers from 0 on, one for each node")
    if groups.size and groups.max() >= len(taps):
        raise ValueError(f"a node is of group {groups.max()}; there are taps for {len(taps)}, from 0 on")
    return taps, np.ascontiguousarray(groups, np.uint32)


def _dealt_groups(groups, deal):
    """Groups of nodes in the order of a deal."""
    if groups is None or deal is None or len(groups) != len(deal.order):
        return groups
    return np.ascontiguousarray(groups[deal.order])


class _Filter(LinearOperator):
    """What both filters have."""

    def __init__(self, engine, groups, dtype):
        self._engine = engine
        self._groups = groups
        super().__init__(dtype, (engine.rows, engine.rows))

    @property
    def taps(self) -> np.ndarray:
        """The taps: h_0, h_1, ..., or a row of them for each group of nodes. May be set."""
        taps = self._engine.taps
        taps.flags.writeable = False
        return taps if self._groups is not None else taps[0]

    @taps.setter
    def taps(self, taps):
        self._engine = self._engine.with_taps(*taps_arrays(taps, self._groups))

    def apply(self, X, *, transpose: bool = False, out: np.ndarray | None = None) -> np.ndarray:
        """H X, or H' X, in the precision of X. ``out`` may be given; it must not overlap X."""
        x, flat = as_signals(X, "X")
        if x.shape[0] != self.shape[0]:
            whose = "the graph" if self._engine.rows == self._engine.nodes else "this process"
            raise ValueError(f"X has {x.shape[0]} rows; {whose} has {self.shape[0]} nodes")
        check_finite(x, "X")
        y = np.empty(x.shape, x.dtype) if out is None else _output(out, X, x)
        self._engine.apply(x, y, transpose)
        if out is None:
            return y[:, 0] if flat else y
        if y.base is not out and y is not out:
            out[...] = y[:, 0] if flat else y
        return out

    def gradients(self, X, G) -> tuple[np.ndarray, np.ndarray]:
        """For a loss with the gradient G by H X: its gradients by X and by the taps, in one pass."""
        x, flat = as_signals(X, "X")
        g, _ = as_signals(G, "G")
        if g.shape != x.shape:
            raise ValueError(f"G has the shape {np.shape(G)}, and X {np.shape(X)}; they must be equal")
        check_finite(x, "X")
        check_finite(g, "G")
        if g.dtype != x.dtype:
            g = g.astype(x.dtype)
        by_x, by_taps = self._engine.gradients(x, g)
        return by_x[:, 0] if flat else by_x, by_taps if self._groups is not None else by_taps[0]

    def with_taps(self, taps):
        """The same filter with other taps; nothing is found again."""
        other = self.__class__.__new__(self.__class__)
        LinearOperator.__init__(other, self.dtype, self.shape)
        other.__dict__.update(self.__dict__)
        other.taps = taps
        return other

    def _matvec(self, x):
        return self.apply(np.reshape(x, -1))

    def _rmatvec(self, x):
        return self.apply(np.reshape(x, -1), transpose=True)

    def _matmat(self, X):
        return self.apply(X)

    def _rmatmat(self, X):
        return self.apply(X, transpose=True)

    def _transpose(self):
        return _Transposed(self)

    def _adjoint(self):
        return _Transposed(self)


class _Transposed(LinearOperator):
    """H', without the copies that SciPy would make to conjugate real numbers."""

    def __init__(self, filter):
        self._filter = filter
        super().__init__(filter.dtype, filter.shape)

    def _matvec(self, x):
        return self._filter._rmatvec(x)

    def _rmatvec(self, x):
        return self._filter._matvec(x)

    def _matmat(self, X):
        return self._filter._rmatmat(X)

    def _rmatmat(self, X):
        return self._filter._matmat(X)

    def _transpose(self):
        return self._filter

    def _adjoint(self):
        return self._filter


def _output(out, X, x):
    if not isinstance(out, np.ndarray) or out.shape != np.shape(X) or out.dtype != x.dtype:
        raise ValueError(f"out must be an array of the shape {np.shape(X)} and of {x.dtype}")
    y = out[:, np.newaxis] if out.ndim == 1 else out
    if not out.flags.writeable or _overlaps_itself(y):
        raise ValueError("out must be writable, with a place for each value")
    if np.shares_memory(out, x):
        raise ValueError("out must not overlap X")
    return y if has_rows(y) else np.empty(x.shape, x.dtype)


def _overlaps_itself(y: np.ndarray) -> bool:
    """Whether two values have the same place."""
    reach = y.itemsize
    for stride, size in sorted((abs(stride), size) for stride, size in zip(y.strides, y.shape) if size > 1):
        if stride < reach:
            return True
        reach += stride * (size - 1)
    return False


class NeighborhoodFilter(_Filter):
    """y = sum over k of h_k A_k x, with A_k the pairs of nodes that are exactly k hops apart.

    A SciPy ``LinearOperator``: ``H @ X``, ``H.T @ X``, ``H.adjoint()``. Signals are columns of X, N x F;
    float32 stays float32.

    ``normalize``: "none", "lmax" (by the shell's largest eigenvalue), "symmetric" or "row".
    ``groups``: by node, the row of ``taps`` that it has ("node-variant" filters). ``form``: the product form, where
    the fastest is not wanted; `docs/filters.md` lists them.

    >>> import numpy as np
    >>> H = NeighborhoodFilter("builtin:karate", taps=[0, 1])
    >>> (H @ np.ones(34)).astype(int)[:5]     # how many neighbours
    array([16,  9, 10,  6,  3])
    """

    def __init__(self, A, taps, normalize: str = "none", *, groups=None, directed: bool | None = None,
                 min_paths: int = 1, storage: str = "auto", form: str = "auto", dtype=np.float64,
                 threads: int | None = None, memory=None):
        dtype = precision(dtype)
        values, groups = taps_arrays(taps, groups)
        options = shell_options(values.shape[1] - 1, min_paths=min_paths, storage=storage, threads=threads,
                                memory=memory)
        graph, deal = as_dealt(A, directed=directed)
        groups = _dealt_groups(groups, deal)
        args = (graph, values, groups, arguments.name(normalize, "normalize"), options, dtype == np.float64,
                arguments.name(form, "form"))
        engine = (_engine.NeighborhoodFilter(*args) if deal is None
                  else _engine.ShardedNeighborhoodFilter(*args, deal._engine))
        super().__init__(engine, groups, dtype)

    def form(self, columns: int = 1, dtype=None) -> str:
        """The form that a product with signals of this number of columns takes."""
        dtype = self.dtype if dtype is None else precision(dtype)
        return self._engine.form(arguments.whole(columns, "columns", 1), dtype == np.float64)

    @property
    def storage(self) -> str:
        """How the shells are held: "sparse", "dense" or "stream"."""
        return self._engine.storage

    @property
    def nbytes(self) -> int:
        """Bytes of the shells."""
        return self._engine.bytes

    def largest_eigenvalue(self, k: int) -> float:
        """Of shell k, before it is normalised; of a directed graph, its largest singular value."""
        return self._engine.largest_value(arguments.whole(k, "k"))


class PolynomialFilter(_Filter):
    """y = sum over k of h_k S^k x, the classical graph filter.

    ``shift`` S: "adjacency", "adjacency-lmax", "laplacian", "normalized-laplacian" or "gcn".

    >>> import numpy as np
    >>> L = PolynomialFilter("builtin:karate", taps=[0, 1], shift="laplacian")
    >>> float(np.abs(L @ np.ones(34)).max())
    0.0
    """

    def __init__(self, A, taps, shift: str = "adjacency", *, groups=None, directed: bool | None = None,
                 dtype=np.float64, threads: int | None = None):
        dtype = precision(dtype)
        values, groups = taps_arrays(taps, groups)
        graph, deal = as_dealt(A, directed=directed)
        groups = _dealt_groups(groups, deal)
        args = (graph, values, groups, arguments.name(shift, "shift"), arguments.threads(threads))
        engine = (_engine.PolynomialFilter(*args) if deal is None
                  else _engine.ShardedPolynomialFilter(*args, deal._engine))
        super().__init__(engine, groups, dtype)


class FittedTaps(NamedTuple):
    """Taps by least squares: how sure they are, and what they leave of Y, |Y - H X|^2 / |Y|^2."""

    taps: np.ndarray
    standard_errors: np.ndarray
    residual: float


def fit_taps(A, X, Y, taps: int, *, filter: str = "neighborhood", normalize: str = "none",
             shift: str = "adjacency", directed: bool | None = None, threads: int | None = None,
             memory=None) -> FittedTaps:
    """The taps that take X to Y best: a diffusion on the graph, found from measurements.

    >>> import numpy as np
    >>> x = np.random.default_rng(1).normal(size=(34, 4))
    >>> y = NeighborhoodFilter("builtin:karate", [1, 0.5, -0.25]) @ x
    >>> fit_taps("builtin:karate", x, y, taps=3).taps.round(6)
    array([ 1.  ,  0.5 , -0.25])
    """
    ones = np.ones(arguments.whole(taps, "taps", 1, 1000))
    if filter == "neighborhood":
        operator = NeighborhoodFilter(A, ones, normalize, directed=directed, threads=threads, memory=memory)
    elif filter == "polynomial":
        operator = PolynomialFilter(A, ones, shift, directed=directed, threads=threads)
    else:
        raise ValueError(f'filter is "{filter}"; it must be "neighborhood" or "polynomial"')
    x, y = as_matrix(X, "X"), as_matrix(Y, "Y")
    check_finite(x, "X")
    check_finite(y, "Y")
    return FittedTaps(*operator._engine.fit(x, y))
