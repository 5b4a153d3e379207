"""Synthetic graphs: the same graph for the same seed, on every machine and for every number of threads."""

from __future__ import annotations

from . import _engine
from ._convert import Graph, as_matrix
from ._data import Dataset, load_dataset

__all__ = ["barabasi_albert", "citation_network", "erdos_renyi", "grid", "karate_club", "knn", "rmat",
           "stochastic_block_model", "watts_strogatz"]


def _made(kind: str, **values):
    spec = kind + ":" + ",".join(f"{key}={value!r}" for key, value in values.items())
    return _engine.load(spec, False, "detect", False, [], 1, 0)[0]


def erdos_renyi(nodes: int, p: float, seed: int = 1) -> Graph:
    """Generate an Erdős–Rényi random graph.

    Parameters
    ----------
    nodes : int
        Number of nodes.
    p : float
        Probability of each edge, from 0 to 1.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.

    Returns
    -------
    Graph

    Raises
    ------
    ngf.Error
        If a parameter is out of range.

    >>> erdos_renyi(10, 1.0)
    Graph(nodes=10, edges=45)
    """
    return _made("er", nodes=nodes, p=float(p), seed=seed).graph


def watts_strogatz(nodes: int, k: int = 4, beta: float = 0.1, seed: int = 1) -> Graph:
    """Generate a Watts–Strogatz small world: a ring lattice with randomly rewired edges.

    Parameters
    ----------
    nodes : int
        Number of nodes.
    k : int, default 4
        Number of nearest neighbours of each node in the ring.
    beta : float, default 0.1
        Probability of rewiring each edge.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.

    Returns
    -------
    Graph

    Raises
    ------
    ngf.Error
        If a parameter is out of range.

    >>> watts_strogatz(20, k=4)
    Graph(nodes=20, edges=40)
    """
    return _made("ws", nodes=nodes, k=k, beta=float(beta), seed=seed).graph


def stochastic_block_model(nodes: int = 256, blocks: int = 8, p: float = 0.3, q: float = 0.0075, seed: int = 1) -> Graph:
    """Generate a stochastic block model: communities of equal size.

    Parameters
    ----------
    nodes : int, default 256
        Number of nodes.
    blocks : int, default 8
        Number of communities; each is a range of nodes.
    p : float, default 0.3
        Probability of an edge inside a community.
    q : float, default 0.0075
        Probability of an edge between communities.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.

    Returns
    -------
    Graph

    Raises
    ------
    ngf.Error
        If a parameter is out of range.

    >>> stochastic_block_model(8, blocks=2, p=1, q=0)
    Graph(nodes=8, edges=12)
    """
    return _made("sbm", nodes=nodes, blocks=blocks, p=float(p), q=float(q), seed=seed).graph


def barabasi_albert(nodes: int, m: int = 3, seed: int = 1) -> Graph:
    """Generate a Barabási–Albert graph by preferential attachment.

    Parameters
    ----------
    nodes : int
        Number of nodes.
    m : int, default 3
        Number of edges from each new node to earlier nodes.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.

    Returns
    -------
    Graph

    Raises
    ------
    ngf.Error
        If a parameter is out of range.

    >>> barabasi_albert(10, m=1)
    Graph(nodes=10, edges=9)
    """
    return _made("ba", nodes=nodes, m=m, seed=seed).graph


def grid(rows: int, cols: int) -> Graph:
    """Generate a rectangular lattice.

    Parameters
    ----------
    rows : int
        Number of rows of nodes.
    cols : int
        Number of columns of nodes.

    Returns
    -------
    Graph

    Raises
    ------
    ngf.Error
        If a parameter is out of range.

    >>> grid(3, 4)
    Graph(nodes=12, edges=17)
    """
    return _made("grid", rows=rows, cols=cols).graph


def knn(points, k: int) -> Graph:
    """Join each point to its k nearest points (Euclidean distance; the symmetric union).

    Parameters
    ----------
    points : array of shape (nodes, coordinates)
        Coordinates of the points, one row per node.
    k : int
        Number of nearest neighbours, from 1 to the number of points - 1. Of points at equal
        distance, those with smaller numbers are nearer.

    Returns
    -------
    Graph
        The edge u-v exists if v is one of the k points nearest to u, or u one of those nearest
        to v.

    Raises
    ------
    ngf.Error
        If k is out of range, or a coordinate is not finite.

    >>> knn([[0, 0], [1, 0], [1, 1], [5, 5]], k=1)
    Graph(nodes=4, edges=3)
    """
    return _engine.knn_graph(as_matrix(points, "points"), k)


def rmat(scale: int, edge_factor: int = 16, seed: int = 1) -> Graph:
    """Generate the R-MAT (Kronecker) graph of the Graph500 benchmark.

    Parameters
    ----------
    scale : int
        The graph has 2 ** scale nodes.
    edge_factor : int, default 16
        Number of edges per node, before duplicates are removed.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.

    Returns
    -------
    Graph

    Raises
    ------
    ngf.Error
        If a parameter is out of range.

    >>> rmat(6).nodes
    64
    """
    return _made("rmat", scale=scale, edge_factor=edge_factor, seed=seed).graph


def karate_club() -> Dataset:
    """Return Zachary's karate club, with the side that each member took as label.

    Returns
    -------
    Dataset

    >>> karate_club().graph
    Graph(nodes=34, edges=78)
    """
    return load_dataset("builtin:karate")


def citation_network(nodes: int = 2708, seed: int = 1) -> Dataset:
    """Generate a synthetic citation network similar to Cora, with features, labels and a split.

    Parameters
    ----------
    nodes : int, default 2708
        Number of nodes.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.

    Returns
    -------
    Dataset

    Raises
    ------
    ngf.Error
        If a parameter is out of range.

    >>> citation_network(500)
    Dataset(nodes=500, edges=..., features=..., classes=7, splits=1)
    """
    return load_dataset(f"builtin:citation,nodes={nodes},seed={seed}")
