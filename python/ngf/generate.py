"""Graphs made to order: the same for the same seed, on every machine and any number of threads."""

from __future__ import annotations

from . import _engine
from ._convert import Graph
from ._data import Dataset, load_dataset

__all__ = ["barabasi_albert", "citation_network", "erdos_renyi", "grid", "karate_club", "rmat",
           "stochastic_block_model", "watts_strogatz"]


def _made(kind: str, **values):
    spec = kind + ":" + ",".join(f"{key}={value!r}" for key, value in values.items())
    return _engine.load(spec, False, False, False, [], 1, 0)[0]


def erdos_renyi(nodes: int, p: float, seed: int = 1) -> Graph:
    """Each pair of nodes is an edge with probability p.

    >>> erdos_renyi(10, 1.0)
    Graph(nodes=10, edges=45)
    """
    return _made("er", nodes=nodes, p=float(p), seed=seed).graph


def watts_strogatz(nodes: int, k: int = 4, beta: float = 0.1, seed: int = 1) -> Graph:
    """A small world: a ring of nodes joined to their k nearest, with edges rewired with probability beta.

    >>> watts_strogatz(20, k=4)
    Graph(nodes=20, edges=40)
    """
    return _made("ws", nodes=nodes, k=k, beta=float(beta), seed=seed).graph


def stochastic_block_model(nodes: int = 256, blocks: int = 8, p: float = 0.3, q: float = 0.0075, seed: int = 1) -> Graph:
    """Communities: pairs inside a block are edges with probability p, others with q.

    >>> stochastic_block_model(8, blocks=2, p=1, q=0)
    Graph(nodes=8, edges=12)
    """
    return _made("sbm", nodes=nodes, blocks=blocks, p=float(p), q=float(q), seed=seed).graph


def barabasi_albert(nodes: int, m: int = 3, seed: int = 1) -> Graph:
    """Preferential attachment: each new node joins m earlier ones.

    >>> barabasi_albert(10, m=1)
    Graph(nodes=10, edges=9)
    """
    return _made("ba", nodes=nodes, m=m, seed=seed).graph


def grid(rows: int, cols: int) -> Graph:
    """A rectangular lattice.

    >>> grid(3, 4)
    Graph(nodes=12, edges=17)
    """
    return _made("grid", rows=rows, cols=cols).graph


def rmat(scale: int, edge_factor: int = 16, seed: int = 1) -> Graph:
    """Graph500's Kronecker graph on 2^scale nodes.

    >>> rmat(6).nodes
    64
    """
    return _made("rmat", scale=scale, edge_factor=edge_factor, seed=seed).graph


def karate_club() -> Dataset:
    """Zachary's karate club, with the side that each member took.

    >>> karate_club().graph
    Graph(nodes=34, edges=78)
    """
    return load_dataset("builtin:karate")


def citation_network(nodes: int = 2708, seed: int = 1) -> Dataset:
    """A synthetic citation network that behaves like Cora: features, labels, a split.

    >>> citation_network(500)
    Dataset(nodes=500, edges=..., features=..., classes=7, splits=1)
    """
    return load_dataset(f"builtin:citation,nodes={nodes},seed={seed}")
