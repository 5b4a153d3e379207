"""Random perturbation of edges."""

from __future__ import annotations

from . import _arguments as arguments
from . import _engine
from ._convert import Graph, as_graph, with_names


def perturb(A, *, create: float = 0, destroy: float = 0, probability: bool = False, seed: int = 1,
            directed: bool | None = None) -> Graph:
    """Create and destroy edges uniformly at random.

    Parameters
    ----------
    A : graph
        Anything that ``ngf.as_graph`` takes: a graph, a SciPy or NumPy matrix, a NetworkX graph, PyG data, or a file
        name.
    create : float, default 0
        Edges to create, in percent of the number of edges.
    destroy : float, default 0
        Edges to destroy, in percent of the number of edges.
    probability : bool, default False
        Read ``create`` and ``destroy`` as probabilities of each missing pair and of each edge instead.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.
    directed : bool, optional
        Keep (True) or drop (False) the directions of edges. By default the input decides.

    Returns
    -------
    Graph
        The perturbed graph. It may be disconnected.

    Raises
    ------
    ngf.Error
        If a parameter is out of range.

    >>> perturb("builtin:karate", create=10, seed=1)
    Graph(nodes=34, edges=86)
    """
    graph = as_graph(A, directed=directed)
    changed = _engine.perturb(graph, arguments.real(create, "create"), arguments.real(destroy, "destroy"),
                              bool(probability), arguments.seed(seed))
    return with_names(changed, graph.node_names)
