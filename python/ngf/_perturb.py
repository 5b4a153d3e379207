"""Edges created and destroyed."""

from __future__ import annotations

from . import _arguments as arguments
from . import _engine
from ._convert import Graph, as_graph


def perturb(A, *, create: float = 0, destroy: float = 0, probability: bool = False, seed: int = 1,
            directed: bool | None = None) -> Graph:
    """The graph with some edges destroyed and others created, drawn evenly, the same for the same seed.

    ``create`` and ``destroy`` are percentages of the number of edges; with ``probability``, the probabilities of
    each pair and of each edge.

    >>> perturb("builtin:karate", create=10, seed=1)
    Graph(nodes=34, edges=86)
    """
    return _engine.perturb(as_graph(A, directed=directed), arguments.real(create, "create"),
                           arguments.real(destroy, "destroy"), bool(probability), arguments.seed(seed))
