"""Graph filters as SciPy linear operators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arguments as arguments
from . import _engine
from ._convert import as_matrix, as_partitioned, as_signals, check_finite, has_rows, shell_options
from ._pairs import embeddings_of, is_features, power_of, with_features


def precision(dtype) -> np.dtype:
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype is {dtype}; filters work in float32 and float64")
    return dtype


def taps_arrays(taps, groups) -> tuple[np.ndarray, np.ndarray | None]:
    """One row of taps per group, and the group of each node."""
    taps = np.ascontiguousarray(taps, np.float64)
    if taps.size == 0:
        raise ValueError("a filter has at least one tap")
    if not np.isfinite(taps).all():
        raise ValueError("taps must be finite numbers")
    if groups is None:
        if taps.ndim != 1:
            raise ValueError(f"taps have {taps.ndim} dimensions; one set of taps has 1, and one set per group needs groups")
        return taps[np.newaxis], None
    if taps.ndim != 2:
        raise ValueError("with groups, taps have a row for each group")
    groups = np.asarray(groups)
    if groups.ndim != 1 or groups.dtype.kind not in "iu" or (groups.size and groups.min() < 0):
        raise ValueError("groups must be whole numbers from 0 on, one for each node")
    if groups.size and groups.max() >= len(taps):
        raise ValueError(f"a node is of group {groups.max()}; there are taps for {len(taps)}, from 0 on")
    return taps, np.ascontiguousarray(groups, np.uint32)


def _sharded_groups(groups, partition):
    """Groups of nodes in the order of a partition."""
    if groups is None or partition is None or len(groups) != len(partition.order):
        return groups
    return np.ascontiguousarray(groups[partition.order])


class _Filter(LinearOperator):
    """What both kinds of filters share."""

    def __init__(self, engine, groups, dtype):
        self._engine = engine
        self._groups = groups
        super().__init__(dtype, (engine.rows, engine.rows))

    @property
    def taps(self) -> np.ndarray:
        """The taps h_0, h_1, ..., or one row of them per group of nodes. Assign to change them."""
        taps = self._engine.taps
        taps.flags.writeable = False
        return taps if self._groups is not None else taps[0]

    @taps.setter
    def taps(self, taps):
        self._engine = self._engine.with_taps(*taps_arrays(taps, self._groups))

    def apply(self, X, *, transpose: bool = False, out: np.ndarray | None = None) -> np.ndarray:
        """Compute H X, or H' X.

        Parameters
        ----------
        X : array, N or N x F
            Signals. float32 is computed in float32, everything else in float64.
        transpose : bool, default False
            Apply the transpose H'.
        out : numpy.ndarray, optional
            Array to write the result to. It must not overlap ``X``.

        Returns
        -------
        numpy.ndarray
            In the shape of ``X``.

        Raises
        ------
        ValueError
            If ``X`` has another number of rows, or values that are not finite, or ``out`` does not fit.
        """
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
        """Compute the gradients of a loss by X and by the taps, in one pass over the graph.

        Parameters
        ----------
        X : array, N or N x F
            Input of the filter.
        G : array
            Gradient of the loss by H X, in the shape of ``X``.

        Returns
        -------
        tuple of numpy.ndarray
            The gradient by X, and the gradient by the taps.

        Raises
        ------
        ValueError
            If the shapes differ, or a value is not finite.
        """
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
        """Return the same filter with other taps. The shells are shared, not computed again.

        Parameters
        ----------
        taps : array
            In the shape of ``taps`` of the filter.

        Returns
        -------
        NeighborhoodFilter or PolynomialFilter
        """
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
    """H', without the copies that SciPy makes to conjugate real numbers."""

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
    """Whether two elements share memory."""
    reach = y.itemsize
    for stride, size in sorted((abs(stride), size) for stride, size in zip(y.strides, y.shape) if size > 1):
        if stride < reach:
            return True
        reach += stride * (size - 1)
    return False


class NeighborhoodFilter(_Filter):
    """Neighbourhood graph filter y = sum over k of h_k A_k x, where A_k is the shell of hop k.

    A SciPy ``LinearOperator``: ``H @ X``, ``H.T @ X``, ``H.adjoint()``. Signals are the columns of X, N x F.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name, or an ``ngf.mpi.Partition``.
    taps : array of K float
        h_0, h_1, ..., one per hop.
    normalize : str, default "none"
        Normalisation of each shell: "none", "lmax" (by its largest eigenvalue), "symmetric" or "row".
    groups : array of N int, optional
        Group of each node, for node-variant filters; then ``taps`` has one row per group.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    min_paths : int, default 1
        With 2 or 3, keep a pair at 2 or more hops only if it has at least this many shortest paths.
    pair_weights : array or SciPy matrix, N x D, or "features", optional
        Embeddings of the nodes. Each pair (u, v) of a shell is weighted by ``max(0, cos(e_u, e_v)) ** pair_power``, before
        the shell is normalised. "features" are those of the data set ``A``, an ``ngf.Dataset`` or the name of one,
        after TF-IDF. Not for storage "dense", ``normalize="lmax"`` and partitions.
    pair_power : float, default 1.0
        Power of the cosine, 0 or more.
    storage : str, default "auto"
        Memory format of the shells: "sparse" (lists), "dense" (one byte per pair), "stream" (not stored) or "auto".
    form : str, default "auto"
        Product form, to override the automatic choice; docs/filters.md lists them.
    dtype : NumPy dtype, default float64
        float32 or float64: the precision that the plan expects, and that SciPy's solvers use.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Raises
    ------
    ValueError
        If an argument is out of range.
    ngf.MemoryExceeded
        If the shells do not fit into ``memory``.

    >>> import numpy as np
    >>> H = NeighborhoodFilter("builtin:karate", taps=[0, 1])
    >>> (H @ np.ones(34)).astype(int)[:5]     # the number of neighbours
    array([16,  9, 10,  6,  3])
    """

    def __init__(self, A, taps, normalize: str = "none", *, groups=None, directed: bool | None = None,
                 min_paths: int = 1, pair_weights=None, pair_power: float = 1.0, storage: str = "auto",
                 form: str = "auto", dtype=np.float64, threads: int | None = None, memory=None):
        dtype = precision(dtype)
        values, groups = taps_arrays(taps, groups)
        A, features = with_features(A, directed) if is_features(pair_weights) else (A, None)
        options = shell_options(values.shape[1] - 1, min_paths=min_paths, storage=storage, threads=threads,
                                memory=memory)
        graph, partition = as_partitioned(A, directed=directed)
        groups = _sharded_groups(groups, partition)
        args = (graph, values, groups, arguments.name(normalize, "normalize"), options, dtype == np.float64,
                arguments.name(form, "form"))
        if pair_weights is not None:
            if partition is not None:
                raise ValueError("pair_weights are not for partitions; give the graph")
            rows = pair_weights if features is None else features
            embeddings = embeddings_of(rows, graph.nodes, features is not None)
            engine = _engine.PairFilter(*args, embeddings, power_of(pair_power))
        elif partition is None:
            engine = _engine.NeighborhoodFilter(*args)
        else:
            engine = _engine.ShardedNeighborhoodFilter(*args, partition._engine)
        super().__init__(engine, groups, dtype)

    def form(self, columns: int = 1, dtype=None) -> str:
        """Return the name of the product form for signals of a given width.

        Parameters
        ----------
        columns : int, default 1
            Number of columns of X.
        dtype : NumPy dtype, optional
            Precision of X; by default that of the filter.

        Returns
        -------
        str
        """
        dtype = self.dtype if dtype is None else precision(dtype)
        return self._engine.form(arguments.whole(columns, "columns", 1), dtype == np.float64)

    @property
    def storage(self) -> str:
        """Memory format of the shells: "sparse", "dense" or "stream"."""
        return self._engine.storage

    @property
    def nbytes(self) -> int:
        """Bytes of the shells, and of the weights of their pairs."""
        return self._engine.bytes

    def largest_eigenvalue(self, k: int) -> float:
        """Return the largest eigenvalue of a shell before normalisation; in a directed graph, its largest singular value.

        Parameters
        ----------
        k : int
            Hop of the shell.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If pairs have weights.
        """
        if isinstance(self._engine, _engine.PairFilter):
            raise ValueError("the largest eigenvalue of a shell is not known with pair_weights")
        return self._engine.largest_value(arguments.whole(k, "k"))


class PolynomialFilter(_Filter):
    """Polynomial graph filter y = sum over k of h_k S^k x, the classical graph filter.

    A SciPy ``LinearOperator``, as ``NeighborhoodFilter``.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name, or an ``ngf.mpi.Partition``.
    taps : array of K float
        h_0, h_1, ..., one per power.
    shift : str, default "adjacency"
        Graph shift operator S: "adjacency", "adjacency-lmax", "laplacian", "normalized-laplacian" or "gcn".
    groups : array of N int, optional
        Group of each node, for node-variant filters; then ``taps`` has one row per group.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    dtype : NumPy dtype, default float64
        float32 or float64: the precision that SciPy's solvers use.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.

    Raises
    ------
    ValueError
        If an argument is out of range, or the shift needs an undirected graph.

    >>> import numpy as np
    >>> L = PolynomialFilter("builtin:karate", taps=[0, 1], shift="laplacian")
    >>> float(np.abs(L @ np.ones(34)).max())
    0.0
    """

    def __init__(self, A, taps, shift: str = "adjacency", *, groups=None, directed: bool | None = None,
                 dtype=np.float64, threads: int | None = None):
        dtype = precision(dtype)
        values, groups = taps_arrays(taps, groups)
        graph, partition = as_partitioned(A, directed=directed)
        groups = _sharded_groups(groups, partition)
        args = (graph, values, groups, arguments.name(shift, "shift"), arguments.threads(threads))
        engine = (_engine.PolynomialFilter(*args) if partition is None
                  else _engine.ShardedPolynomialFilter(*args, partition._engine))
        super().__init__(engine, groups, dtype)


class FittedTaps(NamedTuple):
    """Result of ``ngf.fit_taps``.

    Attributes
    ----------
    taps : numpy.ndarray
        Least-squares estimate.
    standard_errors : numpy.ndarray
        Standard error of each tap.
    residual : float
        |Y - H X|^2 / |Y|^2.
    """

    taps: np.ndarray
    standard_errors: np.ndarray
    residual: float


def fit_taps(A, X, Y, taps: int, *, filter: str = "neighborhood", normalize: str = "none",
             shift: str = "adjacency", directed: bool | None = None, threads: int | None = None,
             memory=None) -> FittedTaps:
    """Fit the taps of a filter to signals: the least-squares solution of Y = H X.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name.
    X : array, N or N x F
        Input signals.
    Y : array
        Output signals, in the shape of ``X``.
    taps : int
        Number of taps to fit.
    filter : str, default "neighborhood"
        "neighborhood" or "polynomial".
    normalize : str, default "none"
        Normalisation of the shells, as in ``NeighborhoodFilter``.
    shift : str, default "adjacency"
        Graph shift operator, as in ``PolynomialFilter``.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Returns
    -------
    FittedTaps

    Raises
    ------
    ValueError
        If the shapes differ, or a value is not finite.

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
