"""Charts with matplotlib. Each function draws into ``ax``, or into new axes, and returns them."""

from __future__ import annotations

import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError as missing:  # pragma: no cover
    raise ImportError("ngf.plot needs matplotlib: pip install matplotlib") from missing

from ._convert import as_graph, to_scipy
from ._shells import shell_sizes

__all__ = ["filter_taps", "layout", "shells", "signal", "training"]


def _axes(ax):
    return ax if ax is not None else plt.subplots(layout="constrained")[1]


def shells(A, max_hops: int | None = None, *, ax=None, directed: bool | None = None):
    """Draw the number of pairs at each hop distance as bars.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name.
    max_hops : int, optional
        Largest hop distance; by default all.
    ax : matplotlib Axes, optional
        Axes to draw into; by default new ones.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.

    Returns
    -------
    matplotlib Axes

    >>> shells("builtin:karate").get_xlabel()
    'hops k'
    """
    ax = _axes(ax)
    sizes = shell_sizes(A, max_hops, directed=directed)
    ax.bar(np.arange(len(sizes)), sizes)
    ax.set(xlabel="hops k", ylabel="ordered pairs", title="Shells")
    ax.set_xticks(np.arange(len(sizes)) if len(sizes) <= 20 else np.linspace(0, len(sizes) - 1, 10).astype(int))
    return ax


def filter_taps(filter, *, ax=None, label: str | None = None):
    """Draw the taps h_k of a filter.

    Parameters
    ----------
    filter : filter or array
        A filter, or its taps.
    ax : matplotlib Axes, optional
        Axes to draw into; by default new ones.
    label : str, optional
        Legend entry.

    Returns
    -------
    matplotlib Axes

    >>> filter_taps([1, 0.5, 0.25]).get_ylabel()
    'tap h_k'
    """
    ax = _axes(ax)
    taps = np.atleast_2d(np.asarray(getattr(filter, "taps", filter), float))
    for group, own in enumerate(taps):
        name = label if len(taps) == 1 else f"group {group}"
        ax.plot(np.arange(len(own)), own, "o-", label=name)
    ax.axhline(0, color="gray", linewidth=0.8)
    ax.set(xlabel="k", ylabel="tap h_k", title="Taps")
    ax.set_xticks(np.arange(taps.shape[1]))
    if label is not None or len(taps) > 1:
        ax.legend()
    return ax


def training(model, *, ax=None):
    """Draw the loss and the training and validation scores by epoch.

    Parameters
    ----------
    model : NodeClassifier
        A fitted model, or its ``history_``.
    ax : matplotlib Axes, optional
        Axes to draw into; by default new ones.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the model is not fitted.

    >>> training([[2.0, 0.1, 0.1], [1.5, 0.6, 0.5]]).get_xlabel()
    'epoch'
    """
    history = getattr(model, "history_", model)
    if hasattr(history, "fit"):
        raise ValueError("the model has learned nothing yet: call fit first")
    ax = _axes(ax)
    history = np.asarray(history)
    epochs = np.arange(1, len(history) + 1)
    ax.plot(epochs, history[:, 1], label="training")
    ax.plot(epochs, history[:, 2], label="validation")
    best = getattr(model, "best_epoch_", None)
    if best:
        ax.axvline(best, color="gray", linestyle="--", linewidth=0.8, label="kept")
    ax.set(xlabel="epoch", ylabel="score", title="Training")
    loss = ax.twinx()
    loss.plot(epochs, history[:, 0], color="gray", alpha=0.6, label="loss")
    loss.set_ylabel("loss")
    handles = ax.get_legend_handles_labels()[0] + loss.get_legend_handles_labels()[0]
    ax.legend(handles=handles, loc="center right")
    return ax


def layout(A, *, seed: int = 1, directed: bool | None = None) -> np.ndarray:
    """Compute positions of the nodes for drawing: a spectral layout of the largest component, other nodes below it.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.

    Returns
    -------
    numpy.ndarray, N x 2

    >>> layout("builtin:karate").shape
    (34, 2)
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    graph = as_graph(A, directed=directed)
    matrix = to_scipy(graph)
    matrix = sp.csr_array(matrix + matrix.T)
    _, component = connected_components(matrix, directed=False)
    main = np.flatnonzero(component == np.bincount(component).argmax()) if graph.nodes else np.zeros(0, int)
    places = np.zeros((graph.nodes, 2))
    places[main] = _modes(matrix[main][:, main], seed)
    others = np.setdiff1d(np.arange(graph.nodes), main)
    if len(others):
        (left, low), (right, high) = places[main].min(axis=0), places[main].max(axis=0)
        places[others, 0] = np.linspace(left, right, len(others))
        places[others, 1] = low - 0.2 * max(high - low, right - left, 1e-9)
    return places


def _modes(matrix, seed: int) -> np.ndarray:
    """The two smoothest non-constant eigenvectors of the normalised Laplacian of a connected graph; a circle for a small
    one.
    """
    import scipy.sparse as sp
    from scipy.sparse.linalg import eigsh

    nodes = matrix.shape[0]
    if nodes < 5:
        angles = np.linspace(0, 2 * np.pi, nodes, endpoint=False)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    scale = 1 / np.sqrt(np.asarray(abs(matrix).sum(axis=1)).ravel())
    shift = sp.identity(nodes) + sp.diags(scale) @ matrix @ sp.diags(scale)
    start = np.random.default_rng(seed).normal(size=nodes)
    _, modes = eigsh(shift, k=3, which="LA", v0=start)
    return modes[:, 1::-1] * scale[:, np.newaxis]


def signal(A, x, *, positions: np.ndarray | None = None, ax=None, directed: bool | None = None, cmap: str = "viridis",
           vmin: float | None = None, vmax: float | None = None, size: float = 30, label: str | None = None):
    """Draw a signal as colours of the nodes. Nodes without a value (NaN) are empty circles.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name.
    x : array of N float
        The signal.
    positions : array, N x 2, optional
        Positions of the nodes; by default those of ``layout``.
    ax : matplotlib Axes, optional
        Axes to draw into; by default new ones.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.
    cmap : str, default "viridis"
        Colour map.
    vmin : float, optional
        Value of the first colour; by default the minimum of ``x``.
    vmax : float, optional
        Value of the last colour; by default the maximum of ``x``.
    size : float, default 30
        Size of the nodes, in square points.
    label : str, optional
        Label of the colour bar.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If ``x`` or ``positions`` do not fit the graph.

    >>> signal("builtin:karate", range(34)).get_aspect()
    1.0
    """
    from matplotlib.collections import LineCollection

    graph = as_graph(A, directed=directed)
    x = np.asarray(x, float).ravel()
    if len(x) != graph.nodes:
        raise ValueError(f"x has {len(x)} values; the graph has {graph.nodes} nodes")
    places = layout(graph) if positions is None else np.asarray(positions, float)
    if places.shape != (graph.nodes, 2):
        raise ValueError(f"positions have the shape {places.shape}; they must be {graph.nodes} x 2")
    ax = _axes(ax)
    entries = to_scipy(graph).tocoo()
    once = entries.row < entries.col if not graph.directed else slice(None)
    lines = np.stack([places[entries.row[once]], places[entries.col[once]]], axis=1)
    ax.add_collection(LineCollection(lines, colors="lightgray", linewidths=0.6, zorder=1))
    known = np.isfinite(x)
    if not known.all():
        ax.scatter(*places[~known].T, s=size, facecolors="none", edgecolors="gray", zorder=2)
    if known.any():
        drawn = ax.scatter(*places[known].T, c=x[known], s=size, cmap=cmap, vmin=vmin, vmax=vmax, zorder=2)
        ax.figure.colorbar(drawn, ax=ax, label=label)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()
    return ax
